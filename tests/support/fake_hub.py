"""A fake Hugging Face hub: its cache on disk, and a small server with its protocol."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

COMMIT = "0123456789abcdef0123456789abcdef01234567"
# The token of a test; a real one of whoever runs the tests is never sent.
TOKEN_VARIABLE = "TEST_HUB_TOKEN"
ROOT = Path(__file__).parents[2]


def environment(home: Path, *, endpoint: str = "http://127.0.0.1:9", offline: bool = False) -> dict[str, str]:
    """For a process whose hub client caches in `home`; by default nobody listens at the endpoint.

    The client reads its settings when it is imported, so each case needs a process of its own.
    """
    variables = {
        **os.environ,
        "HF_HOME": str(home),
        "HF_ENDPOINT": endpoint,
        "HF_HUB_OFFLINE": str(int(offline)),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "PYTHONPATH": str(ROOT),
    }
    for name in ("HF_HUB_CACHE", "HF_TOKEN", "http_proxy", "HTTP_PROXY"):
        variables.pop(name, None)
    if token := os.environ.get(TOKEN_VARIABLE):
        variables["HF_TOKEN"] = token
    return variables


def put_in_cache(home: Path, files: dict[str, bytes], *, commit: str = COMMIT, branch: str = "main") -> Path:
    """A model in the hub cache's own layout: blobs, a snapshot of links to them, and what the branch stands for."""
    repository = home / "hub" / "models--someone--small-bert"
    snapshot = repository / "snapshots" / commit
    for folder in (repository / "blobs", repository / "refs", snapshot):
        folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        blob = repository / "blobs" / sha256(content).hexdigest()
        blob.write_bytes(content)
        (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
        (snapshot / name).symlink_to(os.path.relpath(blob, (snapshot / name).parent))
    (repository / "refs" / branch).write_text(commit)
    return snapshot


REPOSITORY = "someone/small-bert"
# What a hub answers to a token ("" for none) and a path where it refuses: status, error code and message.
Refusal = Callable[[str, str], tuple[int, str, str] | None]


class FakeHub(ThreadingHTTPServer):
    """A hub with one model, or more, and data sets with what their cards say; it records downloads, and answers 404 to
    all other requests.
    """

    def __init__(
        self,
        files: dict[str, bytes],
        others: dict[str, dict[str, bytes]] | None = None,
        refusal: Refusal = lambda *_: None,
        datasets: dict[str, dict[str, bytes]] | None = None,
        cards: dict[str, dict[str, object]] | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.files_by_repository = {REPOSITORY: files, **(others or {})}
        self.datasets, self.cards = datasets or {}, cards or {}
        self.refusal, self.fetched, self.n_requests = refusal, [], 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def files(self) -> dict[str, bytes]:
        """Those of its first model."""
        return self.files_by_repository[REPOSITORY]

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    server: FakeHub

    def do_GET(self) -> None:
        self.server.n_requests += 1
        path = self.path.split("?")[0]
        for name, files in self.server.datasets.items():
            if path.startswith((f"/api/datasets/{name}", f"/datasets/{name}/resolve/")):
                self._answer_of_data(path, name, files)
                return
        repository = next(
            (
                name
                for name in self.server.files_by_repository
                if path.startswith((f"/api/models/{name}", f"/{name}/resolve/"))
            ),
            None,
        )
        refusal = self.server.refusal(self.headers.get("Authorization", "").removeprefix("Bearer "), path)
        if repository is None:
            self._send_error(404, "RepoNotFound")
            return
        if refusal is not None:
            self._send_error(*refusal)
            return
        files, api = self.server.files_by_repository[repository], f"/api/models/{repository}"
        if path in (api, f"{api}/revision/main", f"{api}/revision/{COMMIT}"):
            listed = [{"rfilename": name} for name in files]
            self._send_json({"id": repository, "sha": COMMIT, "siblings": listed})
        elif path == f"{api}/tree/{COMMIT}":
            self._send_json(
                [
                    {"type": "file", "path": name, "size": len(content), "oid": sha256(content).hexdigest()}
                    for name, content in files.items()
                ]
            )
        elif path.startswith(f"/{repository}/resolve/{COMMIT}/"):
            name = unquote(path.partition(f"/resolve/{COMMIT}/")[2])
            if self.command == "GET":
                self.server.fetched.append(name)
            self._send(files[name], {"ETag": f'"{sha256(files[name]).hexdigest()}"', "X-Repo-Commit": COMMIT})
        else:
            self._send_error(404, "RevisionNotFound")

    def _answer_of_data(self, path: str, name: str, files: dict[str, bytes]) -> None:
        api = f"/api/datasets/{name}"
        if path in (api, f"{api}/revision/main", f"{api}/revision/{COMMIT}"):
            listed = [{"rfilename": file, "size": len(content)} for file, content in files.items()]
            card = self.server.cards.get(name)
            said = {"id": name, "sha": COMMIT, "siblings": listed, **({"cardData": card} if card else {})}
            self._send_json(said)
        elif path.startswith(f"/datasets/{name}/resolve/{COMMIT}/"):
            file = unquote(path.partition(f"/resolve/{COMMIT}/")[2])
            if self.command == "GET":
                self.server.fetched.append(file)
            self._send(files[file], {"ETag": f'"{sha256(files[file]).hexdigest()}"', "X-Repo-Commit": COMMIT})
        elif path == f"{api}/tree/{COMMIT}":
            self._send_json(
                [
                    {"type": "file", "path": file, "size": len(content), "oid": sha256(content).hexdigest()}
                    for file, content in files.items()
                ]
            )
        else:
            self._send_error(404, "RevisionNotFound")

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send_json(self, answer: object) -> None:
        self._send(json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _send_error(self, status: int, code: str, message: str = "") -> None:
        self.send_response(status)
        for name, value in (("X-Error-Code", code), ("X-Error-Message", message)):
            if value:
                self.send_header(name, value)
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
