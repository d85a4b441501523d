"""Names to directories. The hub's own client runs for real: on a cache on disk, and against a small local server."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.models import cards
from engine.models.locating import Located, locate

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SMALL_FILES = {"config.json": b'{"model_type": "bert"}', "vocab.txt": b"[PAD]\n", "README.md": b"# a card\n"}
ROOT = Path(__file__).parents[1]

# The client reads its settings when it is imported, so each case has a process of its own.
SCRIPT = """
import json, sys
from engine.errors import ModelError
from engine.models.locating import locate
answers = []
for arguments in json.loads(sys.argv[1]):
    reports = []
    try:
        found = locate(*arguments, report=lambda done, total, what: reports.append([done, total, what]))
        answer = {"path": str(found.path), "source": found.source, "revision": found.revision,
                  "fingerprint": found.fingerprint, "files": sorted(path.name for path in found.path.iterdir())}
    except ModelError as error:
        answer = {"error": str(error)}
    answers.append({**answer, "reports": reports, "torch": "torch" in sys.modules})
print(json.dumps(answers))
"""


def locate_apart(
    home: Path, *calls: tuple[str, ...], endpoint: str = "http://127.0.0.1:9", offline: bool = False
) -> list[dict]:
    """What `locate` answers to each call, in one process of its own; by default nobody listens at the endpoint."""
    environment = {**os.environ, "HF_HOME": str(home), "HF_ENDPOINT": endpoint, "HF_HUB_OFFLINE": str(int(offline)),
                   "HF_HUB_DISABLE_TELEMETRY": "1", "PYTHONPATH": str(ROOT)}
    for name in ("HF_HUB_CACHE", "HF_TOKEN", "http_proxy", "HTTP_PROXY"):
        environment.pop(name, None)
    done = subprocess.run([sys.executable, "-c", SCRIPT, json.dumps(calls)], env=environment, cwd=ROOT, text=True,
                          capture_output=True, timeout=60, check=True)
    return json.loads(done.stdout)


def put_in_cache(home: Path, files: dict[str, bytes], *, commit: str = COMMIT, branch: str = "main") -> Path:
    """A model in the hub cache's own layout: blobs, a snapshot of links to them, and what the branch stands for."""
    repository = home / "hub" / "models--someone--small-bert"
    snapshot = repository / "snapshots" / commit
    for folder in (repository / "blobs", repository / "refs", snapshot):
        folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        blob = repository / "blobs" / sha256(content).hexdigest()
        blob.write_bytes(content)
        (snapshot / name).symlink_to(os.path.relpath(blob, snapshot))
    (repository / "refs" / branch).write_text(commit)
    return snapshot


class FakeHub(ThreadingHTTPServer):
    """A hub with one model; it notes what is fetched, and answers 404 to all else."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.files, self.fetched, self.asked = files, [], 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    server: FakeHub

    def do_GET(self) -> None:
        self.server.asked += 1
        path = self.path.split("?")[0]
        files, api = self.server.files, "/api/models/someone/small-bert"
        if path in (api, f"{api}/revision/main", f"{api}/revision/{COMMIT}"):
            listed = [{"rfilename": name} for name in files]
            self._send_json({"id": "someone/small-bert", "sha": COMMIT, "siblings": listed})
        elif path == f"{api}/tree/{COMMIT}":
            self._send_json([{"type": "file", "path": name, "size": len(content), "oid": sha256(content).hexdigest()}
                             for name, content in files.items()])
        elif path.startswith(api):
            self._send_error("RevisionNotFound")
        elif path.startswith(f"/someone/small-bert/resolve/{COMMIT}/"):
            name = path.rsplit("/", 1)[-1]
            if self.command == "GET":
                self.server.fetched.append(name)
            self._send(files[name], {"ETag": f'"{sha256(files[name]).hexdigest()}"', "X-Repo-Commit": COMMIT})
        else:
            self._send_error("RepoNotFound")

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send_json(self, answer: object) -> None:
        self._send(json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _send_error(self, code: str) -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(200)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(request: pytest.FixtureRequest) -> Iterator[FakeHub]:
    server = FakeHub({**SMALL_FILES, **request.param})
    yield server
    server.shutdown()
    server.server_close()


def test_a_directory_is_found_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert locate(str(tmp_path)) == Located(str(tmp_path), "directory", tmp_path.resolve())


def test_the_home_directory_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    with pytest.raises(ModelError, match=r"model holds no config\.json"):
        locate("~/model")
    (tmp_path / "model" / "config.json").write_text("{}")
    assert locate("~/model").path == (tmp_path / "model").resolve()


@pytest.mark.parametrize("name", ["./no/such/model", "/no/such/model", "models/of/mine", "", "a b", "owner/"])
def test_what_looks_like_a_path_that_is_not_there_is_said_to_be_none(name: str) -> None:
    with pytest.raises(ModelError, match=r"There is no directory .*builtin/bert-mini-ja"):
        locate(name)


def test_a_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(ModelError, match="is a file; a model is the directory"):
        locate(str(tmp_path / "model.safetensors"))


def test_an_unknown_built_in_model_lists_those_there_are() -> None:
    with pytest.raises(ModelError, match=r"builtin/bert-large.*builtin/bert-mini-ja, builtin/gpt2-mini-ja"):
        locate("builtin/bert-large")


def test_a_built_in_model_is_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "FOLDER", tmp_path)
    with pytest.raises(ModelError, match="missing from this installation"):
        locate("builtin/bert-mini-ja")
    (tmp_path / "bert-mini-ja").mkdir()
    (tmp_path / "bert-mini-ja" / "config.json").write_text("{}")
    assert locate("builtin/bert-mini-ja") == Located("builtin/bert-mini-ja", "built-in", tmp_path / "bert-mini-ja")


def test_an_id_and_revision_resolve_in_the_cache_without_network(tmp_path: Path) -> None:
    other = "f" * 40
    snapshot = put_in_cache(tmp_path, {**SMALL_FILES, "model.safetensors": b"weights"})
    put_in_cache(tmp_path, {**SMALL_FILES, "model.safetensors": b"older"}, commit=other, branch="v1")

    found, tagged = locate_apart(tmp_path, ("someone/small-bert",), ("someone/small-bert", "v1"), offline=True)
    assert (found["path"], found["fingerprint"]) == (str(snapshot), COMMIT)
    assert (found["source"], found["revision"], found["torch"]) == ("hub", None, False)
    assert (tagged["fingerprint"], tagged["revision"]) == (other, "v1")
    # A branch is asked for, and taken from the cache when nobody answers.
    found, pinned = locate_apart(tmp_path, ("someone/small-bert",), ("someone/small-bert", other))
    assert (found["fingerprint"], pinned["fingerprint"]) == (COMMIT, other)


def test_no_network_and_no_copy_is_said_with_what_would_do(tmp_path: Path) -> None:
    put_in_cache(tmp_path, SMALL_FILES)  # a download that broke off before the weights
    calls = (("someone/small-bert",), ("someone/other",), ("bert-base", COMMIT))
    for offline in (True, False):
        for call, answer in zip(calls, locate_apart(tmp_path, *calls, offline=offline), strict=True):
            assert f"There is no directory '{call[0]}'" in answer["error"]
            assert "cannot be reached" in answer["error"] and "builtin/bert-mini-ja" in answer["error"]


@pytest.mark.parametrize("hub", [{
    "model.safetensors": b"s" * 300_000, "pytorch_model.bin": b"b" * 300_000, "tf_model.h5": b"t" * 10,
    "model.fp16.safetensors": b"x" * 10, "modeling_own.py": b"raise SystemExit",
}], indirect=True)
def test_of_the_weights_only_safetensors_are_fetched_and_progress_is_told(hub: FakeHub, tmp_path: Path) -> None:
    [found] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert found["files"] == ["config.json", "model.safetensors", "vocab.txt"]
    assert sorted(hub.fetched) == found["files"]
    assert found["fingerprint"] == COMMIT and str(tmp_path) in found["path"]
    done, total, what = found["reports"][-1]
    size = 300_000 + len(SMALL_FILES["config.json"]) + len(SMALL_FILES["vocab.txt"])
    assert (done, total, what) == (size, size, "downloading someone/small-bert")
    assert all(0 <= one[0] <= one[1] for one in found["reports"])

    # The second time nothing is fetched, and for a commit the hub is not even asked.
    asked = hub.asked
    [again] = locate_apart(tmp_path, ("someone/small-bert", COMMIT), endpoint=hub.endpoint)
    assert again["path"] == found["path"] and hub.asked == asked
    [again] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert hub.asked > asked and len(hub.fetched) == 3


@pytest.mark.parametrize("hub", [{"pytorch_model.bin": b"b" * 100, "tf_model.h5": b"t"}], indirect=True)
def test_pickled_weights_are_fetched_where_there_are_no_others(hub: FakeHub, tmp_path: Path) -> None:
    [found] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert found["files"] == ["config.json", "pytorch_model.bin", "vocab.txt"]


@pytest.mark.parametrize("hub", [{"tf_model.h5": b"t"}], indirect=True)
def test_what_the_hub_does_not_have_is_said(hub: FakeHub, tmp_path: Path) -> None:
    calls = (("someone/small-bert",), ("someone/small-bert", "v9"), ("someone/large-bert",))
    no_weights, no_revision, no_model = locate_apart(tmp_path, *calls, endpoint=hub.endpoint)
    assert "neither model.safetensors nor pytorch_model.bin, only tf_model.h5" in no_weights["error"]
    assert "has no revision 'v9'" in no_revision["error"]
    assert "There is no model 'someone/large-bert' on the Hugging Face Hub" in no_model["error"]
