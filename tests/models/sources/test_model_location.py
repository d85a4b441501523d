"""Names to directories. The hub's own client runs for real: on a cache on disk, and against a small local server."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.models.sources import cards
from engine.models.sources.model_location import LocatedModel, locate
from engine.models.sources.names import split_revision
from engine.models.sources.paper_cards import PAPER_CARDS
from tests.support.fake_hub import COMMIT, ROOT, FakeHub, environment, put_in_cache
from tests.support.layouts import papers as paper_layouts

SMALL_FILES = {"config.json": b'{"model_type": "bert"}', "vocab.txt": b"[PAD]\n", "README.md": b"# a card\n"}

SCRIPT = """
import json, sys, time
from engine.errors import EngineError
time.sleep = lambda seconds: None  # the hub's client waits for seconds before it tries again
from engine.models.sources.model_location import locate
answers = []
for arguments in json.loads(sys.argv[1]):
    reports, here = [], lambda path: str(path.relative_to(found.root))
    try:
        found = locate(*arguments, report=lambda done, total, what: reports.append([done, total, what]))
        answer = {"path": str(found.path), "source": found.source, "revision": found.revision,
                  "fingerprint": found.fingerprint, "root": str(found.root), "pinned": found.pinned_revision,
                  "recipe": str(found.recipe),
                  "files": sorted(here(path) for path in found.root.rglob("*") if path.is_file())}
    except EngineError as error:
        answer = {"error": str(error)}
    answers.append({**answer, "reports": reports, "torch": "torch" in sys.modules})
print(json.dumps(answers))
"""


def locate_apart(
    home: Path, *calls: tuple[str, ...], endpoint: str = "http://127.0.0.1:9", offline: bool = False
) -> list[dict]:
    """What `locate` answers to each call, in one process of its own."""
    variables = environment(home, endpoint=endpoint, offline=offline)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(calls)],
        env=variables,
        cwd=ROOT,
        text=True,
        capture_output=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture
def hub(request: pytest.FixtureRequest) -> Iterator[FakeHub]:
    server = FakeHub({**SMALL_FILES, **request.param})
    yield server
    server.shutdown()
    server.server_close()


def test_a_directory_is_found_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert locate(str(tmp_path)) == LocatedModel(str(tmp_path), "directory", tmp_path.resolve())


def test_the_home_directory_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    with pytest.raises(ModelError, match=r"model holds no config\.json"):
        locate("~/model")
    (tmp_path / "model" / "config.json").write_text("{}")
    assert locate("~/model").path == (tmp_path / "model").resolve()


def test_a_card_before_a_directory_says_by_which_recipe_it_is_read(tmp_path: Path) -> None:
    folder = paper_layouts.japanese_bert(tmp_path / "nict@2020", widen=True)
    found = locate(f"paper/nict={folder}")
    assert (found.source, found.path, found.card) == ("directory", folder, "paper/nict")
    assert found.recipe == PAPER_CARDS["paper/nict"].recipe
    assert found.address == f"paper/nict={folder}" and locate(found.address).fingerprint == found.fingerprint
    assert found.fingerprint != locate(str(folder)).fingerprint != locate(f"paper/tohoku-univ={folder}").fingerprint
    assert split_revision(f"paper/nict={folder}") == (f"paper/nict={folder}", None)


def test_a_file_beside_the_weights_says_it_too(tmp_path: Path) -> None:
    folder = paper_layouts.japanese_bert(tmp_path / "nict", widen=True)
    plain = locate(str(folder)).fingerprint
    (folder / "hakari.json").write_text('{"card": "paper/nict"}')
    found = locate(str(folder))
    assert found.recipe == PAPER_CARDS["paper/nict"].recipe and found.fingerprint != plain
    assert found.address == str(folder)


def test_a_directory_whose_name_looks_like_a_card_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lr=0.1", "paper/nict=mine"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.json").write_text("{}")
        assert locate(str(tmp_path / name)).card is None
    monkeypatch.chdir(tmp_path)
    assert locate("paper/nict=mine") == LocatedModel("paper/nict=mine", "directory", tmp_path / "paper" / "nict=mine")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "paper/kyoto-univ",
            r"paper/kyoto-univ is not on the Hugging Face Hub: it needs the unpacked Japanese_L-12.*"
            r"Name it paper/kyoto-univ=DIRECTORY, with your directory \(from https://nlp\.ist",
        ),
        ("paper/kyoto", r"no card 'paper/kyoto'\. The cards are paper/kyoto-univ, paper/mecab"),
        ("paper/kyoto=/x", "no card 'paper/kyoto'"),
        ("paper/nict=/no/such/place", "There is no directory '/no/such/place', and it is no Hugging Face id"),
        ("paper/nict=", "is not on the Hugging Face Hub"),
        ("paper/nict=builtin/bert-mini-ja", "is built in and needs no card"),
        ("kyoto=/no/such/place", "There is no directory 'kyoto=/no/such/place'"),
        ("run/step1=owner/name", "'run/step1' in 'run/step1=owner/name' is no card, and a label has no \"/\" in it"),
        ("/no/lr=0.1", "There is no directory '/no/lr=0.1'"),
    ],
)
def test_a_card_that_leads_nowhere_says_what_would(name: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        locate(name)


def test_another_word_before_a_directory_is_no_card(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no card 'kyoto'\. The cards are"):
        locate(f"kyoto={tmp_path}")


def test_a_card_alone_is_its_model_of_the_hub(tmp_path: Path) -> None:
    calls = (("paper/tohoku-univ",), ("paper/nict=someone/small-bert",))
    alone, other = locate_apart(tmp_path, *calls, offline=True)
    assert "There is no directory 'cl-tohoku/bert-base-japanese'" in alone["error"]
    put_in_cache(tmp_path, {**SMALL_FILES, "model.safetensors": b"weights"})
    [found] = locate_apart(tmp_path, calls[1], offline=True)
    assert "cannot be reached" in other["error"]
    assert found["source"] == "hub" and found["fingerprint"] != COMMIT  # the recipe is part of it


@pytest.mark.parametrize(
    "name",
    [
        "./no/such/model",
        "/no/such/model",
        "models/of/mine",
        "",
        "a b",
        "owner/",
        "~nobody-of-that-name/model",
        "x" * 5000,
        "a\0b",
    ],
)
def test_what_looks_like_a_path_that_is_not_there_is_said_to_be_none(name: str) -> None:
    with pytest.raises(ModelError, match=r"There is no directory .*builtin/bert-mini-ja"):
        locate(name)


def test_a_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(ModelError, match="is a file; a model is the directory"):
        locate(str(tmp_path / "model.safetensors"))


def test_an_unknown_built_in_model_lists_those_there_are() -> None:
    with pytest.raises(ModelError, match=r"builtin/bert-large.*builtin/bert-mini-ja, .*builtin/gpt2-mini-ja"):
        locate("builtin/bert-large")


def test_a_built_in_model_is_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "FOLDER", tmp_path)
    with pytest.raises(ModelError, match="missing from this installation"):
        locate("builtin/bert-mini-ja")
    (tmp_path / "bert-mini-ja").mkdir()
    (tmp_path / "bert-mini-ja" / "config.json").write_text("{}")
    assert locate("builtin/bert-mini-ja") == LocatedModel("builtin/bert-mini-ja", "built-in", tmp_path / "bert-mini-ja")


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


@pytest.mark.parametrize(
    "hub",
    [
        {
            "model.safetensors": b"s" * 300_000,
            "pytorch_model.bin": b"b" * 300_000,
            "tf_model.h5": b"t" * 10,
            "model.fp16.safetensors": b"x" * 10,
            "modeling_own.py": b"raise SystemExit",
        }
    ],
    indirect=True,
)
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
    asked = hub.n_requests
    [again] = locate_apart(tmp_path, ("someone/small-bert", COMMIT), endpoint=hub.endpoint)
    assert again["path"] == found["path"] and hub.n_requests == asked
    [again] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert hub.n_requests > asked and len(hub.fetched) == 3


@pytest.mark.parametrize("hub", [{"pytorch_model.bin": b"b" * 100, "tf_model.h5": b"t"}], indirect=True)
def test_pickled_weights_are_fetched_where_there_are_no_others(hub: FakeHub, tmp_path: Path) -> None:
    [found] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert found["files"] == ["config.json", "pytorch_model.bin", "vocab.txt"]


@pytest.mark.parametrize("hub", [{"pytorch_model.bin": b"b" * 100}], indirect=True)
def test_a_shared_instance_fetches_no_pickled_weights(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAKARI_ALLOWED_EMAILS", "ann@lab.example")
    [refused] = locate_apart(tmp_path, ("someone/small-bert",), endpoint=hub.endpoint)
    assert "reads safetensors" in refused["error"] and hub.fetched == []


@pytest.mark.parametrize("hub", [{"tf_model.h5": b"t"}], indirect=True)
def test_what_the_hub_does_not_have_is_said(hub: FakeHub, tmp_path: Path) -> None:
    calls = (("someone/small-bert",), ("someone/small-bert", "v9"), ("someone/large-bert",))
    no_weights, no_revision, no_model = locate_apart(tmp_path, *calls, endpoint=hub.endpoint)
    assert "neither model.safetensors nor pytorch_model.bin, only tf_model.h5" in no_weights["error"]
    assert "has no revision 'v9'" in no_revision["error"]
    assert "There is no model 'someone/large-bert' on the Hugging Face Hub" in no_model["error"]
