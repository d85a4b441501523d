"""Own code of models: the setting, what a directory brings along, and what is fetched of a hub."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from engine.errors import InputError, ModelError
from engine.models.sources.model_location import locate
from engine.models.sources.own_code.code_files import (
    are_complete,
    digest,
    entry_of,
    needs_own_tokenizer,
    python_files,
    references,
    what_would_do,
)
from engine.models.sources.own_code.trusted import VARIABLE, trusted_code
from engine.processes.confinement.kernel import missing
from tests.inference.own_code import own_models
from tests.support import tiny_models
from tests.support.fake_hub import COMMIT, REPOSITORY, FakeHub, environment

HASH = "ab" * 32


def test_entries_name_one_state_each(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    setting = f" org/name@{COMMIT.upper()}, bert@{COMMIT} ,{link}@sha256:{HASH},"
    expected = {f"org/name@{COMMIT}", f"bert@{COMMIT}", f"{tmp_path}@sha256:{HASH}"}
    assert trusted_code({VARIABLE: setting}) == expected
    assert trusted_code({}) == trusted_code({VARIABLE: " , "}) == frozenset()


@pytest.mark.parametrize(
    "entry", ["org/name", "org/name@main", "org/name@v1.0", f"org/name@{COMMIT[:39]}", "*", f"org/*@{COMMIT}"]
)
def test_no_branch_no_tag_no_pattern(entry: str) -> None:
    with pytest.raises(InputError, match=r"not the code of one commit.*OWNER/NAME@COMMIT with the 40 hexadecimal"):
        trusted_code({VARIABLE: entry})


@pytest.mark.parametrize(
    "entry", ["/srv/model", f"/srv/model@{COMMIT}", f"models/x@sha256:{HASH}", f"~/x@sha256:{HASH}"]
)
def test_no_directory_without_its_hash(entry: str) -> None:
    with pytest.raises(InputError, match=r"@sha256:HASH|OWNER/NAME@COMMIT"):
        trusted_code({VARIABLE: entry})


def test_a_setting_that_cannot_be_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.runs.computing import open_computing

    monkeypatch.setenv(VARIABLE, "org/name@main")
    with pytest.raises(InputError, match="HAKARI_TRUST_REMOTE_CODE names 'org/name@main'"):
        open_computing(tmp_path)


def written(folder: Path, **files: Any) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        path = folder / (f"{name}.json" if isinstance(content, dict) else f"{name}.py")
        path.write_text(json.dumps(content) if isinstance(content, dict) else content)
    return folder


def test_references_are_those_that_have_a_part_in_the_numbers(tmp_path: Path) -> None:
    config = {
        "auto_map": {
            "AutoConfig": "configuration_own.OwnConfig",
            "AutoModel": "org/other--modeling_own.OwnModel",
            "AutoModelForSequenceClassification": "modeling_own.OwnClassifier",
        }
    }
    tokenizer = {"auto_map": {"AutoTokenizer": ["tokenization_own.Slow", "tokenization_own.Fast"]}}
    folder = written(tmp_path / "model", config=config, tokenizer_config=tokenizer)
    assert [(each.auto_class, each.repository, each.module, each.name) for each in references(folder)] == [
        ("AutoConfig", "", "configuration_own", "OwnConfig"),
        ("AutoModel", "org/other", "modeling_own", "OwnModel"),
        ("AutoTokenizer", "", "tokenization_own", "Fast"),
    ]
    assert needs_own_tokenizer(folder)
    written(folder, tokenizer={"model": {}})
    assert not needs_own_tokenizer(folder)
    assert what_would_do(folder).endswith(f"{VARIABLE} to {folder}@sha256:{digest({})}, org/other@COMMIT.")


@pytest.mark.parametrize("reference", ["../evil.Own", "os.path.join", "Own", "a b.Own", 3, "/abs--m.C d", "m.C.D"])
def test_a_reference_that_leads_elsewhere_is_refused(reference: Any, tmp_path: Path) -> None:
    folder = written(tmp_path / "model", config={"auto_map": {"AutoModel": reference}})
    with pytest.raises(ModelError, match=r"that is MODULE\.CLASS, or OWNER/NAME--MODULE\.CLASS"):
        references(folder)


def test_a_model_that_is_not_allowed_is_not_looked_at_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bert = tiny_models.bert(tmp_path / "bert")
    own_models.change(bert / "config.json", auto_map={"AutoModel": "a.b.BertModel"})
    monkeypatch.setenv(VARIABLE, f"org/name@{COMMIT}")
    assert locate(str(bert)).own_code is None
    monkeypatch.setenv(VARIABLE, entry_of(bert))
    with pytest.raises(ModelError, match=r"that is MODULE\.CLASS"):
        locate(str(bert))


def test_the_hash_is_over_names_and_contents_of_python_files(tmp_path: Path) -> None:
    folder = written(tmp_path / "model", config={}, b="x = 1", a="y = 2")
    # By hand: a line for each file in the order of names, its name, a tab and the SHA-256 of its content
    lines = f"a.py\t{sha256(b'y = 2').hexdigest()}\nb.py\t{sha256(b'x = 1').hexdigest()}\n"
    entry = f"{folder}@sha256:{sha256(lines.encode()).hexdigest()}"
    assert entry_of(folder) == entry
    (folder / "README.md").write_text("no code")
    assert entry_of(folder) == entry
    (folder / "b.py").rename(folder / "c.py")
    assert entry_of(folder) != entry
    assert list(python_files(folder)) == ["a.py", "c.py"]


def test_what_is_imported_from_beside_is_needed_too(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "model", a="from .b import x\nfrom torch import nn", b="from . import c\nfrom .a import y"
    )
    assert not are_complete(folder, ["a"])
    written(folder, c="")
    assert are_complete(folder, ["a"])


def test_the_fingerprint_is_that_of_the_code_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = own_models.masked(tiny_models.bert(tmp_path / "plain"), tmp_path / "own")
    before = locate(str(own))
    assert before.own_code is None
    monkeypatch.setenv(VARIABLE, entry_of(own))
    allowed = locate(str(own))
    assert allowed.own_code is not None and allowed.fingerprint != before.fingerprint
    assert allowed.tokenizer_fingerprint == before.tokenizer_fingerprint  # its tokenizer is no code
    (own / "modeling_own.py").write_text((own / "modeling_own.py").read_text() + "\n# changed\n")
    assert locate(str(own)).own_code is None
    monkeypatch.setenv(VARIABLE, entry_of(own))
    assert locate(str(own)).fingerprint not in (before.fingerprint, allowed.fingerprint)


APART = """
import json, sys
from pathlib import Path
from engine.errors import EngineError
from engine.models.sources.model_location import locate
try:
    located = locate({name!r}, {revision!r})
    found = {{"files": sorted(path.name for path in located.path.iterdir()), "fingerprint": located.fingerprint}}
    if located.own_code:
        found["entries"] = located.own_code.entries
        found["classes"] = located.own_code.classes
        if {run!r}:
            from engine.inference.own_code.process import Bounds, ConfinedProcess
            process = ConfinedProcess(located, located.own_code, [Path({data!r})], Bounds())
            request = {{"model": located.address, "revision": located.pinned_revision, "items": [""], "settings": {{}}}}
            found["facts"] = process.compute("describe", request)[0]
            process.end()
except EngineError as error:
    found = {{"error": str(error)}}
print(json.dumps(found))
"""


def located_apart(
    home: Path, endpoint: str, setting: str, *, run: bool = False, revision: str | None = None
) -> dict[str, Any]:
    """What `locate` finds in a process of its own, whose hub is at `endpoint`."""
    code = APART.format(name=REPOSITORY, revision=revision, run=run, data=str(home))  # the cache is in it
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment(home, endpoint=endpoint), VARIABLE: setting, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        cwd=home,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    """Of a model on the hub, whose masked class is in another repository."""
    folder = tmp_path_factory.mktemp("hub")
    own = own_models.masked(tiny_models.bert(folder / "plain"), folder / "own")
    config = json.loads((own / "config.json").read_text())
    config["auto_map"]["AutoModelForMaskedLM"] = "someone/code--modeling_own.OwnBertForMaskedLM"
    (own / "config.json").write_text(json.dumps(config))
    by_name = {path.name: path.read_bytes() for path in own.iterdir()}
    code = {name: content for name, content in by_name.items() if name.endswith(".py")}
    # A module that imports the configuration of the model would find another class than the registered one
    code["configuration_own.py"] = by_name["configuration_own.py"]
    return {REPOSITORY: {**by_name, "folder/more.py": b"x"}, "someone/code": {**code, "README.md": b"x"}}


@pytest.fixture
def hub(files: dict[str, dict[str, bytes]]) -> Iterator[FakeHub]:
    hub = FakeHub(files[REPOSITORY], others={"someone/code": files["someone/code"]})
    yield hub
    hub.shutdown()
    hub.server_close()


def test_code_is_fetched_from_the_hub_only_where_it_is_allowed(hub: FakeHub, tmp_path: Path) -> None:
    for setting in ("", f"{REPOSITORY}@{'f' * 40}, someone/code@{COMMIT}", f"{REPOSITORY}@{COMMIT}"):
        found = located_apart(tmp_path, hub.endpoint, setting)
        assert "entries" not in found and not [name for name in hub.fetched if name.endswith(".py")]
        assert found["fingerprint"] == COMMIT
    setting = f"{REPOSITORY}@{COMMIT}, someone/code@{COMMIT}"
    found = located_apart(tmp_path, hub.endpoint, setting)
    assert found["entries"] == [f"{REPOSITORY}@{COMMIT}", f"someone/code@{COMMIT}"]
    assert ["AutoModelForMaskedLM", 1, "modeling_own", "OwnBertForMaskedLM"] in found["classes"]
    fetched = sorted(name for name in hub.fetched if name.endswith(".py"))
    assert fetched == ["configuration_own.py"] * 2 + ["modeling_own.py"] * 2  # and nothing of the folder
    assert found["fingerprint"] != COMMIT
    asked = hub.n_requests  # a commit that is in the cache is not asked for again
    assert located_apart(tmp_path, hub.endpoint, setting, revision=COMMIT) == found
    assert hub.n_requests == asked


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_a_model_of_the_hub_runs_from_its_cache_without_network(hub: FakeHub, tmp_path: Path) -> None:
    setting = f"{REPOSITORY}@{COMMIT}, someone/code@{COMMIT}"
    found = located_apart(tmp_path, hub.endpoint, setting, run=True)
    assert found.get("facts"), found
    assert found["facts"]["own_code"] == f"{REPOSITORY}@{COMMIT}, someone/code@{COMMIT}"
    assert (found["facts"]["kind"], found["facts"]["architecture"]) == ("masked", "OwnBertForMaskedLM")
    assert found["facts"]["fingerprint"] == found["fingerprint"]
