"""Entities in a metric study: a method whose score is 1 or 0, the table of systems, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import InputError
from engine.evaluations.metric_study.entities import accepted_forms
from engine.evaluations.metric_study.evaluate import evaluate
from engine.evaluations.metric_study.records import Result, Settings
from engine.evaluations.metric_study.tables import tables
from engine.measures.statistics.intervals import wilson_interval
from engine.runs.storage.packing import pack, unpack
from tests.stored_runs.directories import repacked
from tests.support.session_fake import SessionFake

NAN = np.nan
CANDIDATES = ("斉藤が来た", "尾崎が来た", "渡辺が来た", "斎藤が来た", "おざきが来た", "誰かが来た")
FORMS = ("斉藤|斎藤", '["尾崎", "小崎"]', "")


def pairs(**further: tuple[str, ...]) -> SentencePairs:
    columns = {"system": ("good",) * 3 + ("bad",) * 3, "names": FORMS * 2, **further}
    return SentencePairs(
        "made up",
        ("斉藤が来る", "尾崎が来る", "人が来る") * 2,
        CANDIDATES,
        ("",) * 6,
        {"annotator": (5.0, 4.0, 3.0, 5.0, 1.0, 2.0)},
        tuple(range(1, 7)),
        further=columns,
    )


def study(dataset: SentencePairs, **settings: Any) -> Result:
    return evaluate(Settings(("m/a",), idfs=("none",), pooling="none", **settings), dataset, SessionFake())


def test_the_score_is_1_or_0_and_the_table_counts_it_by_system() -> None:
    result = study(pairs(), entity_column="names")
    line = result.correlations[result.correlations["kind"] == "entity"]
    assert line["model"].tolist() == ["entity_accuracy"] and line["n"].tolist() == [4]
    np.testing.assert_array_equal(result.scores[line.index[0]], [1, 1, NAN, 1, 0, NAN])
    # z-scores are linear in the one annotator's scores 5, 4, 5, 1: hits 1, 1, 1, 0.
    assert line["pearson"].iloc[0] == pytest.approx(np.corrcoef([5, 4, 5, 1], [1, 1, 1, 0])[0, 1])
    table = tables(result)["entity_accuracy"]
    assert table[["system", "n", "n_right", "accuracy"]].to_numpy().tolist() == [
        ["good", 2, 2, 1.0],
        ["bad", 2, 1, 0.5],
        ["", 4, 3, 0.75],
    ]
    ends = [wilson_interval(right, n) for right, n in ((2, 2), (1, 2), (3, 4))]
    np.testing.assert_array_equal(table[["ci_low", "ci_high"]], np.array(ends, dtype=np.float64))
    assert "entity" in result.system_agreement["kind"].tolist()


def test_without_systems_there_is_one_line_and_without_the_column_none() -> None:
    one = pairs(system=("", "") * 3)
    assert study(one, entity_column="names").entity_accuracy["system"].tolist() == [""]
    without = study(pairs())
    assert without.entity_accuracy.empty and "entity" not in without.correlations["kind"].tolist()
    files = repacked(pack(without), {"entity_accuracy": None}, "0.2.0")
    assert unpack(Result, files.__getitem__, "The result of run r1").entity_accuracy.empty


@pytest.mark.parametrize("cell", ["[1, 2]", "[", '["東京", ""]', "東京||", "|", "{}|", "[" * 100_000])
def test_a_cell_that_is_no_list_of_forms_is_refused(cell: str) -> None:
    assert accepted_forms(cell) is None


def test_what_cannot_be_is_refused_with_every_row() -> None:
    with pytest.raises(InputError, match="2 of 6 rows have no list of accepted forms in 'names'") as error:
        study(pairs(names=("東京", "東京|", "", "東京", "[", "")), entity_column="names")
    assert [bad.row for bad in error.value.rows] == [2, 5] and "'東京|'" in error.value.rows[0].reason
    assert not error.value.can_skip
    with pytest.raises(InputError, match="names no entity"):
        study(pairs(names=("", " ") * 3), entity_column="names")
    with pytest.raises(InputError, match="no further column 'entity'"):
        study(pairs(), entity_column="entity")
