"""Data read by name from a hub on loopback: once over the network, by their commit, and then from the cache."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine.datasets.formats.files import read_table
from engine.datasets.hub.fetching import _listed
from engine.datasets.hub.names import HubName
from engine.errors import InputError
from tests.support.fake_hub import COMMIT, FakeHub, environment

READ = """
import json, os, sys
from pathlib import Path
from engine.datasets import reader_process
from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.files import read_pairs
from engine.errors import EngineError
for kind, name, variables in json.loads(sys.argv[1]):
    os.environ.update(variables)
    try:
        if kind == "pairs":
            dataset = reader_process.read(read_pairs, [("x", Path(name))])
            said = {"name": dataset.name, "n": dataset.n, "format": dataset.format, "good": list(dataset.acceptable),
                    "fields": {k: list(v) for k, v in dataset.fields.items()}, "notices": dataset.notices,
                    "original": dataset.originals[0], "hash": dataset.content_hash}
        else:
            table = reader_process.read(read_table, Path(name))
            said = {"name": table.name, "frame": table.frame.to_dict("list"), "index": list(table.frame.index),
                    "notices": table.notices}
    except EngineError as error:
        said = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(said, ensure_ascii=False))
    for variable in variables:
        del os.environ[variable]
"""


def parquet(**columns: list[Any]) -> bytes:
    pq.write_table(pa.table(columns), sink := io.BytesIO())
    return sink.getvalue()


def pairs_of(uid: str) -> bytes:
    return parquet(
        sentence_good=[f"A {uid} sleeps.", "Cats sleep."],
        sentence_bad=[f"A {uid} sleep.", "Cats sleeps."],
        UID=[uid, uid],
        pairID=[0, 1],
        lexically_identical=[True, None],
    )


BLIMP = {
    "README.md": b"---\nlicense: cc-by-4.0\n---\n",
    "cat/train-00000-of-00001.parquet": pairs_of("cat"),
    "dog/train-00000-of-00001.parquet": pairs_of("dog"),
}
SCORED = {
    "README.md": b"---\nconfigs:\n- config_name: all\n  data_files:\n  - split: test\n    path: two/*.csv\n---\n",
    "two/one.csv": "sentence1,sentence2,score\n雨だ,雪だ,1\n".encode(),
    "two/two.csv": "sentence1,sentence2,score\n犬だ,猫だ,2\n鳥だ,魚だ,3\n".encode(),
}
CARD: dict[str, object] = {
    "configs": [{"config_name": "all", "data_files": [{"split": "test", "path": "two/*.csv"}]}],
}


@pytest.fixture(scope="module")
def hub() -> Iterator[FakeHub]:
    hub = FakeHub({}, datasets={"some/blimp": BLIMP, "some/scored": SCORED}, cards={"some/scored": CARD})
    yield hub
    hub.shutdown()
    hub.server_close()


def read(home: Path, *steps: tuple[str, str, dict[str, str]], **how: Any) -> list[dict[str, Any]]:
    """What a process of its own reads, step by step: kind, name and further variables of the environment."""
    run = subprocess.run(
        [sys.executable, "-c", READ, json.dumps(steps)],
        env=environment(home, **how),
        capture_output=True,
        text=True,
        check=False,
    )
    said = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(said) == len(steps), run.stderr
    return said


def test_data_are_read_by_commit_and_again_without_a_hub(hub: FakeHub, tmp_path: Path) -> None:
    hub.fetched.clear()
    (first,) = read(tmp_path, ("pairs", "hub:some/blimp:cat", {}), endpoint=hub.endpoint)
    assert first["name"] == f"hub:some/blimp:cat@{COMMIT}" and (first["n"], first["format"]) == (2, "BLiMP")
    assert first["good"] == ["A cat sleeps.", "Cats sleep."]
    assert json.loads(first["original"])["lexically_identical"] is True
    assert hub.fetched == ["cat/train-00000-of-00001.parquet"]
    said = f"Read from the Hugging Face Hub: hub:some/blimp:cat@{COMMIT}, cat/train-00000-of-00001.parquet."
    assert said in first["notices"]
    names = ("hub:some/blimp:cat", first["name"], "hub:some/blimp:*")
    again, by_commit, both = read(tmp_path, *(("pairs", name, {}) for name in names))  # nobody listens
    assert again["hash"] == by_commit["hash"] == first["hash"] and again["notices"] == first["notices"]
    # One of two configurations was fetched: it is not taken for both.
    assert "is not in the cache, and the Hugging Face Hub cannot be reached" in both["error"]


@pytest.mark.parametrize(("revision", "asked"), [("v9", "v9"), ("", None)])
def test_the_files_listed_are_those_of_the_revision(revision: str, asked: str | None) -> None:
    listed = SimpleNamespace(card_data=None, siblings=[SimpleNamespace(rfilename="cat/train.parquet")])
    by_revision = {asked: listed}
    api = SimpleNamespace(dataset_info=lambda repository, revision, **_: by_revision[revision])
    assert _listed(HubName("some/blimp", revision=revision), api) == (listed, {}, revision or "main")


def test_several_files_and_what_is_refused(hub: FakeHub, tmp_path: Path) -> None:
    hub.fetched.clear()
    cat = "hub:some/blimp:cat"
    *refused, both, scored = read(
        tmp_path,
        ("pairs", "hub:some/absent", {}),
        ("pairs", "hub:some/blimp:cat@v9", {}),
        ("pairs", cat, {"HAKARI_MAX_UPLOAD_MB": "0.001"}),
        ("pairs", cat, {"HAKARI_DOWNLOADS_GB": "0.0000001"}),
        ("pairs", cat, {"HAKARI_ALLOWED_DATASETS": "other/*"}),
        ("pairs", "hub:some/blimp:*", {}),
        ("table", "hub:some/scored", {}),
        endpoint=hub.endpoint,
    )
    messages = (
        "There is no data set 'some/absent'",
        "some/blimp has no revision 'v9'",
        "is too large",
        "Ask the administrator to make room",
        "is not among those of this instance",
    )
    for answer, message in zip(refused, messages, strict=True):
        assert message in answer["error"]
    assert both["n"] == 4 and both["fields"]["config"] == ["cat", "cat", "dog", "dog"]
    assert scored["frame"]["score"] == ["1", "2", "3"] and scored["index"] == [1, 2, 3]
    assert list(scored["frame"]) == ["sentence1", "sentence2", "score"]
    assert sorted(hub.fetched) == sorted([*list(BLIMP)[1:], *list(SCORED)[1:]])
    (offline,) = read(tmp_path, ("table", "hub:some/scored", {}), offline=True)
    assert offline["frame"] == scored["frame"]


def test_a_file_of_parquet_is_read_wherever_it_lies() -> None:
    table = read_table(parquet(text=["雨だ。", None], n=[1.5, float("nan")], tags=[["a", "b"], []]), "own.parquet")
    assert table.frame.to_dict("list") == {"text": ["雨だ。", ""], "n": ["1.5", ""], "tags": ['["a", "b"]', "[]"]}
    with pytest.raises(InputError, match=r"own\.parquet is no file of Parquet"):
        read_table(b"text,label\na,b\n", "own.parquet")
