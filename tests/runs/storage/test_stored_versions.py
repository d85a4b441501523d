"""What an earlier version stored opens: columns and tables that came later are missing values, and said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path

import pandas as pd
import pytest

from engine.errors import RunError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared.declared_tables import MESSAGE, Column, Table, declared, tables_of
from engine.messages.message import Message
from engine.runs.storage import packing
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.packing import RECORD, pack, unpack
from engine.version import VERSION
from tests.stored_runs import directories as stored_runs

MODEL = Column("model", "text", "the model")
SCORES = Table(
    "scores",
    "A row for each model.",
    (
        MODEL,
        Column("rank", "integer", "its rank", since="0.3.0"),
        Column("score", "number", "its score"),
        Column("human:<name>", "number", "the score of an annotator"),
        Column("apart", "boolean", "whether it is apart", since="0.3.0"),
        Column("dunn", "number", "an index", since="0.2.0"),
        Column("note", "text", "a note", since="0.3.0"),
    ),
)
LATER = Table("later", "A row for each model.", (MODEL, Column("n", "integer", "a count")), since="0.3.0")


@dataclass(frozen=True)
class Result:
    scores: pd.DataFrame = field(metadata=declared(SCORES))
    later: pd.DataFrame = field(metadata=declared(LATER))
    notices: tuple[str, ...] = ()


FULL = pd.DataFrame(
    {
        "model": ["a", "b"],
        "rank": [1, 2],
        "score": [0.5, 0.25],
        "human:x": [1.0, 2.0],
        "apart": [True, False],
        "dunn": [0.1, 0.2],
        "note": ["", "tied"],
    }
)
RESULT = Result(FULL, LATER.frame([("a", 3)]), ("2 rows repeat.",))
NEW = ["rank", "apart", "note"]


@pytest.fixture(autouse=True)
def version_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "VERSION", "0.3.0")


def opened(tables: Mapping[str, pd.DataFrame | None], version: str | None) -> Result:
    files = stored_runs.repacked(pack(RESULT), tables, version)
    return unpack(Result, files.__getitem__, "The result of run r1")


def test_a_text_of_a_column_of_messages_is_read_as_the_sentence_that_it_was() -> None:
    """Versions before kept the English text alone."""
    reasons = Table("reasons", "A row for each model.", (MODEL, Column("reason", "text", "why", dtype=MESSAGE)))
    of_type = make_dataclass(
        "Reasons", [("reasons", pd.DataFrame, field(metadata=declared(reasons))), ("notices", tuple[str, ...], ())]
    )
    stored = pd.DataFrame({"model": ["a", "b"], "reason": ["Share the run with the team first.", ""]})
    files = stored_runs.repacked(pack(of_type(stored)), {"reasons": stored}, "0.2.0")
    read = unpack(of_type, files.__getitem__, "It").reasons["reason"].tolist()
    assert read == stored["reason"].tolist() and isinstance(read[0], Message)


def test_a_record_names_the_version_that_wrote_it() -> None:
    files = pack(RESULT)
    assert json.loads(files[RECORD])["version"] == "0.3.0"
    pd.testing.assert_frame_equal(unpack(Result, files.__getitem__, "It").scores, FULL)


def test_later_columns_are_missing_values_in_their_place_and_said() -> None:
    result = opened({"scores": FULL.drop(columns=NEW)}, "0.2.0")
    assert list(result.scores.columns) == list(FULL.columns)
    assert result.scores[NEW].isna().all(axis=None)
    assert [str(result.scores[name].dtype) for name in NEW] == ["Int64", "boolean", "str"]
    pd.testing.assert_frame_equal(result.scores.drop(columns=NEW), FULL.drop(columns=NEW))
    assert result.notices == (
        "2 rows repeat.",
        f"Stored by version 0.2.0, before the columns {', '.join(map(repr, NEW))} of the table "
        "'scores' existed; run again to fill it.",
    )


def test_a_later_table_is_empty_and_said() -> None:
    result = opened({"later": None}, "0.2.5")
    assert len(result.later) == 0
    assert {name: str(dtype) for name, dtype in result.later.dtypes.items()} == {"model": "str", "n": "int64"}
    assert result.notices[1:] == ("Stored by version 0.2.5, before the table 'later' existed; run again to fill it.",)


@pytest.mark.parametrize(
    ("tables", "version", "message"),
    [
        (
            {"scores": FULL.drop(columns="rank")},
            "0.3.0",
            r"damaged: it lacks the column 'rank' of its table 'scores'\.",
        ),
        ({"scores": FULL.drop(columns=["dunn", "note"])}, "0.2.0", "damaged: it lacks the column 'dunn' of its table"),
        ({"later": None}, "0.3.0", r"damaged: it lacks the table 'later'\."),
        ({"scores": FULL.drop(columns="score")}, "0.10.0", "written by a newer version of Hakari; update to see it"),
    ],
)
def test_what_its_version_had_is_damage(
    tables: dict[str, pd.DataFrame | None], version: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "VERSION", "0.4.0")
    with pytest.raises(RunError, match=f"The result of run r1 .*{message}"):
        opened(tables, version)


def test_a_run_of_a_version_in_development_may_lack_what_came_to_it_later() -> None:
    result = opened({"scores": FULL.drop(columns=NEW), "later": None}, "0.3.0")
    assert result.scores[NEW].isna().all(axis=None) and len(result.later) == 0
    (notice,) = result.notices[1:]
    assert notice.startswith("Stored by version 0.3.0, before the columns") and "run again to fill it" in notice
    with pytest.raises(RunError, match=r"damaged: it lacks the column 'dunn' of its table 'scores'\."):
        opened({"scores": FULL.drop(columns="dunn")}, "0.3.0")


def test_the_first_version_does_not_name_itself_and_may_lack_anything() -> None:
    result = opened({"scores": FULL.drop(columns="score"), "later": None}, None)
    assert result.scores["score"].isna().all() and len(result.later) == 0
    assert all(notice.startswith("Stored by version 0.1.0 or earlier, before the ") for notice in result.notices[1:])


def test_columns_of_a_later_version_stay() -> None:
    later = FULL.assign(median=[1, 2])
    pd.testing.assert_frame_equal(opened({"scores": later}, "0.4.0").scores, later)
    both = opened({"scores": later.drop(columns="rank")}, "0.2.0").scores
    assert list(both.columns) == [*FULL.columns, "median"]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FULL.drop(columns="score"), "lacks the columns: score"),
        (FULL.assign(extra=1), "has columns that are not declared: extra"),
        (FULL.assign(rank=[0.5, 1.5]), r"has columns of another type: rank \(integer, not float64\)"),
    ],
)
def test_a_table_that_is_not_as_declared_is_not_stored(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(TypeError, match=f"The table 'scores' {message}"):
        pack(Result(frame, LATER.frame()))


def test_columns_are_stored_in_the_declared_order() -> None:
    files = pack(Result(FULL[reversed(FULL.columns)], LATER.frame()))
    assert list(unpack(Result, files.__getitem__, "It").scores.columns) == list(FULL.columns)


@pytest.mark.parametrize("version", stored_runs.VERSIONS)
def test_every_stored_run_loads_as_its_kind_is_declared(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "VERSION", VERSION)
    artifacts = Artifacts(stored_runs.copied(version, tmp_path / "data"))
    for run_id, kind in stored_runs.kinds(version).items():
        result = artifacts.load_result(run_id, EVALUATIONS[kind].result_type)
        said = " ".join(notice for notice in result.notices if notice.startswith("Stored by version"))
        later = stored_runs.later_columns(kind, version)
        assert all(repr(name) in said for name in later) and bool(said) == bool(later)
        for name, table in tables_of(EVALUATIONS[kind].result_type).items():
            pd.testing.assert_frame_equal(table.arranged(getattr(result, name)), getattr(result, name))


def test_a_setting_that_has_another_name_today_is_read_as_what_it_is_now(tmp_path: Path) -> None:
    artifacts = Artifacts(stored_runs.copied("0.1.0", tmp_path / "data"))
    result_type = EVALUATIONS["minimal-pairs"].result_type
    results = [
        artifacts.load_result(run_id, result_type)
        for run_id, kind in stored_runs.kinds("0.1.0").items()
        if kind == "minimal-pairs"
    ]
    assert results and {result.settings.prefix for result in results} == {"bos"}  # stored as "bos": true


@pytest.mark.parametrize("version", stored_runs.VERSIONS)
def test_every_column_of_every_kind_may_be_missing_from_a_stored_run(version: str, tmp_path: Path) -> None:
    artifacts = Artifacts(stored_runs.copied(version, tmp_path / "data"))
    for run_id, kind in stored_runs.kinds(version).items():
        result = artifacts.load_result(run_id, EVALUATIONS[kind].result_type)
        for name, table in tables_of(EVALUATIONS[kind].result_type).items():
            frame = getattr(result, name)
            for header in table.headers:
                completed, missing = table.completed(frame.drop(columns=header))
                assert [column.name for column in missing] == [header]
                assert completed[header].isna().all() and table[header].fits(completed[header])
                assert list(completed.columns) == list(frame.columns)
