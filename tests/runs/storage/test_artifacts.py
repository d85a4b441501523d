from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.errors import RunError
from engine.runs.storage.artifacts import Artifacts
from tests.support.fake_runs import Words, words


@dataclass(frozen=True)
class Scoring:
    idf: str = "none"


@dataclass(frozen=True)
class Settings:
    models: tuple[str, ...]
    layer: int | None = None
    scoring: Scoring = field(default_factory=Scoring)


@dataclass(frozen=True)
class Result:
    settings: Settings
    table: pd.DataFrame
    empty: pd.DataFrame
    vectors: np.ndarray
    similarity: dict[str, np.ndarray]
    score: float
    tokenizers: dict[str, str]
    notices: tuple[str, ...] = ()
    none: dict[str, np.ndarray] = field(default_factory=dict)
    signature: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class NewerResult:
    settings: Settings
    table: pd.DataFrame


TABLE = pd.DataFrame(
    {
        "text": ["文", "", '😀\n"ﾊﾝｶｸ"'],
        "n": [1, 2, 3],
        "x": [0.5, np.nan, -np.inf],
        "special": [True, False, True],
        "rank": pd.array([1, None, 2], dtype="Int64"),
        "side": pd.Categorical(["a", "b", "a"]),
        "start": np.array([-1, 0, 2], dtype=np.int32),
    },
    index=pd.Index([3, 5, 9], name="row"),
)
RESULT = Result(
    Settings(("builtin/a", "b"), 2, Scoring("wiki")),
    TABLE,
    pd.DataFrame([], columns=["model", "row", "reason"]),
    np.arange(6, dtype=np.float32).reshape(2, 3),
    {"builtin/a": np.array([0.25, np.nan], dtype=np.float32), "file": np.zeros((0, 2)), "日本": np.array([True])},
    float("nan"),
    {"a": "f00"},
    ("2 rows repeat.",),
    {},
    {"seed": 0, "b": [None, {"c": float("inf")}]},
)


def assert_same(one: Result, other: Result) -> None:
    assert one.settings == other.settings and one.notices == other.notices and one.tokenizers == other.tokenizers
    assert one.signature == other.signature and one.none == other.none
    pd.testing.assert_frame_equal(one.table, other.table)
    pd.testing.assert_frame_equal(one.empty, other.empty)
    assert np.isnan(one.score) and np.isnan(other.score)
    assert list(one.similarity) == list(other.similarity)
    pairs = zip([one.vectors, *one.similarity.values()], [other.vectors, *other.similarity.values()], strict=True)
    for array, same in pairs:
        assert array.dtype == same.dtype
        np.testing.assert_array_equal(array, same)


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    return Artifacts(tmp_path)


def test_a_result_comes_back_equal_in_every_field(artifacts: Artifacts) -> None:
    assert not artifacts.has_result("r1")
    artifacts.save_result("r1", RESULT)
    assert artifacts.has_result("r1")
    assert_same(artifacts.load_result("r1", Result), RESULT)


def test_loaded_arrays_and_tables_are_the_callers_own(artifacts: Artifacts) -> None:
    artifacts.save_result("r1", RESULT)
    loaded = artifacts.load_result("r1", Result)
    loaded.vectors[0, 0] = 9
    loaded.table.loc[3, "n"] = 9
    assert_same(artifacts.load_result("r1", Result), RESULT)


def test_a_result_replaces_the_former_one(artifacts: Artifacts) -> None:
    artifacts.save_result("r1", RESULT)
    other = replace(RESULT, vectors=RESULT.vectors + 1)
    artifacts.save_result("r1", other)
    assert_same(artifacts.load_result("r1", Result), other)


def test_arrays_beyond_the_size_of_a_plain_zip_are_kept(artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zipfile.ZIP64_LIMIT", 1000)  # 2 GiB
    large = replace(RESULT, vectors=np.ones((50, 20), np.float32))
    artifacts.save_result("r1", large)
    assert_same(artifacts.load_result("r1", Result), large)


@pytest.mark.parametrize("name", ["record.json", "table.parquet", "arrays.npz"])
@pytest.mark.parametrize("damage", ["flipped", "cut", "gone", "emptied"])
def test_damage_is_noticed_and_said(artifacts: Artifacts, tmp_path: Path, name: str, damage: str) -> None:
    artifacts.save_result("r1", RESULT)
    path = tmp_path / "results/r1" / name
    raw = path.read_bytes()
    middle = len(raw) // 2
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(
            {
                "flipped": raw[:middle] + bytes([raw[middle] ^ 1]) + raw[middle + 1 :],
                "cut": raw[:middle],
                "emptied": b"",
            }[damage]
        )
    with pytest.raises(RunError, match=r"result of run r1.*(damaged|missing)"):
        artifacts.load_result("r1", Result)


def test_a_changed_number_in_the_record_is_noticed(artifacts: Artifacts, tmp_path: Path) -> None:
    artifacts.save_result("r1", RESULT)
    path = tmp_path / "results/r1/record.json"
    text = path.read_text(encoding="utf-8")
    assert '"layer": 2' in text
    path.write_text(text.replace('"layer": 2', '"layer": 3'), encoding="utf-8")
    with pytest.raises(RunError, match="damaged"):
        artifacts.load_result("r1", Result)


def test_a_result_of_another_version_is_said(artifacts: Artifacts) -> None:
    artifacts.save_result("r1", RESULT)
    with pytest.raises(RunError, match=r"another version.*'empty'"):
        artifacts.load_result("r1", NewerResult)
    artifacts.save_result("r2", NewerResult(RESULT.settings, TABLE))
    with pytest.raises(RunError, match=r"another version.*lack 'empty'"):
        artifacts.load_result("r2", Result)


@pytest.mark.parametrize(
    ("field_name", "value"),
    [
        ("vectors", np.array([object()])),
        ("signature", {"a": {1, 2}}),
        ("tokenizers", {1: "a"}),
        ("similarity", {("a", 1): np.zeros(2)}),
    ],
)
def test_what_cannot_be_kept_is_a_type_error_that_names_the_field(
    artifacts: Artifacts,
    tmp_path: Path,
    field_name: str,
    value: object,
) -> None:
    with pytest.raises(TypeError, match=field_name):
        artifacts.save_result("r1", replace(RESULT, **{field_name: value}))  # type: ignore[arg-type]
    assert list((tmp_path / "results").iterdir()) == []


def test_a_result_is_never_half_there(artifacts: Artifacts) -> None:
    """Somebody who reads all the time while results are replaced finds the old one, the new one, or none."""
    results = [replace(RESULT, vectors=np.full((50, 50), value, dtype=np.float32), score=value) for value in (1.0, 2.0)]
    done = threading.Event()
    bad: list[str] = []

    def read() -> None:
        while not done.is_set():
            try:
                loaded = artifacts.load_result("r1", Result)
                if set(loaded.vectors.ravel()) != {loaded.score}:
                    bad.append("mixed")
            except RunError as error:
                if "missing" not in str(error) and "not as it was written" not in str(error):
                    bad.append(str(error))

    thread = threading.Thread(target=read)
    thread.start()
    for i in range(30):
        artifacts.save_result("r1", results[i % 2])
    done.set()
    thread.join()
    assert bad == []


def test_a_full_disk_is_said_and_leaves_nothing(artifacts: Artifacts, tmp_path: Path) -> None:
    (tmp_path / "results").rename(tmp_path / "elsewhere")
    (tmp_path / "results").write_text("a file where the folder should be")  # an OSError, as a full disk is
    with pytest.raises(RunError, match=r"Nothing can be written to .*results.*Free some space"):
        artifacts.save_result("r1", RESULT)


@pytest.mark.parametrize("name", ["../r1", "a/b", "", ".", "..", "a\0b", "r1\n"])
def test_no_id_leads_out_of_the_folder(artifacts: Artifacts, name: str) -> None:
    with pytest.raises(RunError, match="is not the id"):
        artifacts.load_result(name, Result)
    with pytest.raises(RunError, match="is not the id"):
        artifacts.delete_result(name)


def test_a_deleted_result_is_gone(artifacts: Artifacts, tmp_path: Path) -> None:
    artifacts.save_result("r1", RESULT)
    artifacts.delete_result("r1")
    artifacts.delete_result("r1")
    assert list((tmp_path / "results").iterdir()) == []
    with pytest.raises(RunError, match="not on the disk"):
        artifacts.load_result("r1", Result)


def test_a_dataset_comes_back_under_the_name_that_asks(artifacts: Artifacts, tmp_path: Path) -> None:
    dataset = words(3, notices=("2 rows repeat.",))
    content_hash = artifacts.save_dataset(dataset)
    assert artifacts.save_dataset(replace(dataset, name="copy.csv")) == content_hash
    assert len(list((tmp_path / "datasets").iterdir())) == 1
    loaded = artifacts.load_dataset(Words, content_hash, "copy.csv", ["n"])
    assert loaded == replace(dataset, name="copy.csv", notices=("n",))
    artifacts.delete_dataset(content_hash)
    with pytest.raises(RunError, match=r"'words\.csv' is no longer on the disk"):
        artifacts.load_dataset(Words, content_hash, "words.csv")


def test_a_damaged_dataset_is_noticed(artifacts: Artifacts, tmp_path: Path) -> None:
    content_hash = artifacts.save_dataset(words(3))
    (path,) = (tmp_path / "datasets").iterdir()
    raw = path.read_bytes()
    for damaged in (raw[:-20], b"", b"PAR1"):
        path.write_bytes(damaged)
        with pytest.raises(RunError, match="damaged"):
            artifacts.load_dataset(Words, content_hash, "words.csv")
    words(4).to_frame().to_parquet(path)  # sound, but of another content
    with pytest.raises(RunError, match="not what was submitted"):
        artifacts.load_dataset(Words, content_hash, "words.csv")


def damaged_copies(raw: bytes) -> list[bytes]:
    middle = len(raw) // 2
    return [raw[:-20], b"", b"PAR1", raw[:middle] + bytes(64) + raw[middle + 64 :], b"\0" * len(raw)]


def test_a_damaged_dataset_is_repaired_by_submitting_it_again(artifacts: Artifacts, tmp_path: Path) -> None:
    dataset = words(300)
    content_hash = artifacts.save_dataset(dataset)
    (path,) = (tmp_path / "datasets").iterdir()
    raw = path.read_bytes()
    other = tmp_path / "other.parquet"
    words(4).to_frame().to_parquet(other)  # sound, but of another content
    for damaged in (*damaged_copies(raw), other.read_bytes()):
        path.write_bytes(damaged)
        assert artifacts.save_dataset(dataset) == content_hash
        assert artifacts.load_dataset(Words, content_hash, "words.csv") == dataset
    assert len(list((tmp_path / "datasets").iterdir())) == 1


def test_a_sound_dataset_that_is_written_otherwise_stays(artifacts: Artifacts, tmp_path: Path) -> None:
    dataset = words(3)
    content_hash = artifacts.save_dataset(dataset)
    (path,) = (tmp_path / "datasets").iterdir()
    dataset.to_frame().to_parquet(path, compression="zstd")  # as another version of pyarrow may write it
    written = path.read_bytes()
    artifacts.save_dataset(dataset)
    assert path.read_bytes() == written and artifacts.load_dataset(Words, content_hash, "words.csv") == dataset


def test_what_refuses_the_size_refuses_before_anything_is_written(artifacts: Artifacts, tmp_path: Path) -> None:
    sizes: list[int] = []

    def refuse(n_bytes: int) -> None:
        sizes.append(n_bytes)
        raise RunError("no room")

    with pytest.raises(RunError, match="no room"):
        artifacts.save_dataset(words(3), refuse)
    with pytest.raises(RunError, match="no room"):
        artifacts.save_result("r1", RESULT, b"entry", refuse)
    assert not list((tmp_path / "datasets").iterdir()) and not list((tmp_path / "results").iterdir())
    artifacts.save_dataset(words(3))
    artifacts.save_result("r1", RESULT, b"entry")
    assert sizes == [artifacts.dataset_bytes(Words, words(3).content_hash), artifacts.result_bytes("r1")]


def test_a_dataset_that_is_in_use_by_the_time_it_would_go_comes_back(artifacts: Artifacts) -> None:
    content_hash = artifacts.save_dataset(words(3))
    n_bytes = artifacts.dataset_bytes(Words, content_hash)
    seen: list[bool] = []

    def in_use() -> bool:
        seen.append(artifacts.has_dataset(Words, content_hash))
        return True

    assert artifacts.delete_dataset(content_hash, in_use) == 0
    assert seen == [False]  # put aside before the question, so that who submits it now writes it again
    assert artifacts.load_dataset(Words, content_hash, "words.csv") == words(3)
    assert artifacts.delete_dataset(content_hash, lambda: False) == n_bytes > 0
    assert not artifacts.has_dataset(Words, content_hash)


def test_only_old_temporary_files_are_removed(artifacts: Artifacts, tmp_path: Path) -> None:
    """Results and datasets stay whatever the list of runs holds; only what crashes left half written goes."""
    artifacts.save_dataset(words(2))
    artifacts.save_result("old", RESULT)
    for name, folder in (("old-half", "results"), ("young-half", "results")):
        (tmp_path / folder / f".tmp-{name}").mkdir()
    for name in ("old-half", "young-half"):
        (tmp_path / "datasets" / f".tmp-{name}").write_bytes(b"")
    two_days_ago = time.time() - 2 * 24 * 3600
    for path in (*(tmp_path / "results").iterdir(), *(tmp_path / "datasets").iterdir()):
        if "young" not in path.name:
            os.utime(path, (two_days_ago, two_days_ago))
    artifacts.remove_temporary_files()
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == [".tmp-young-half", "old"]
    assert sorted(path.name for path in (tmp_path / "datasets").iterdir()) == [
        ".tmp-young-half",
        f"Words-{words(2).content_hash}.parquet",
    ]
