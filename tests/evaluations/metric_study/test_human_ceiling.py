"""The human ceiling of a metric study: whose scores it is of, its table, what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dashboard.metric_study.labels import ceiling
from engine.datasets import sample_data
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import InputError
from engine.evaluations.metric_study.evaluate import evaluate
from engine.evaluations.metric_study.records import Result, Settings
from engine.evaluations.metric_study.tables import tables
from engine.measures.statistics.annotators import human_ceiling
from engine.runs.storage.packing import pack, unpack
from tests.stored_runs.directories import repacked
from tests.support.session_fake import SessionFake


@pytest.fixture(scope="module")
def pairs() -> SentencePairs:
    """The sample with its three annotators, and one more in a column without a role."""
    sample = sample_data.scored_pairs()
    fourth = ["" if index % 7 == 0 else str(index % 5) for index in range(sample.n)]
    return replace(sample, further={"D": tuple(fourth), "words": ("good",) + ("bad",) * (sample.n - 1)})


def study(dataset: SentencePairs, **settings: Any) -> Result:
    return evaluate(Settings(("m/a",), idfs=("none",), pooling="none", **settings), dataset, SessionFake())


def test_all_annotators_are_held_against_each_other(pairs: SentencePairs) -> None:
    table = study(pairs).human_ceiling
    ceiling = human_ceiling(pairs.human)
    assert table["annotator"].tolist() == [*pairs.human, ""]
    np.testing.assert_array_equal(
        table["pearson"], [*(one.pearson.value for one in ceiling.annotators), ceiling.pearson]
    )
    assert table["kendall"].iloc[-1] == ceiling.kendall and table["n"].tolist() == [60, 60, 58, 60]
    assert table["ci_low"].notna().tolist() == [True, True, True, False]


def test_annotators_can_be_named_and_need_no_role(pairs: SentencePairs) -> None:
    first = next(iter(pairs.human))
    result = study(pairs, annotators=(f"human:{first}", "D"))
    table = tables(result)["human_ceiling"]
    n_missing = -(-pairs.n // 7)
    assert table["annotator"].tolist() == [first, "D", ""]
    assert table["missing"].tolist() == [n_missing] * 3 and table["n"].tolist() == [pairs.n - n_missing] * 3
    # of two annotators each is the other's others
    assert table["pearson"].iloc[0] == pytest.approx(table["pearson"].iloc[1])
    assert "D" not in result.annotators["annotator"].tolist()


def test_one_column_of_human_scores_has_no_ceiling(pairs: SentencePairs) -> None:
    name, scores = next(iter(pairs.human.items()))
    assert study(replace(pairs, human={name: scores})).human_ceiling.empty


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("D",), "at least two annotators; got D"),
        (("D", "nobody"), "no further column 'nobody'"),
        (("D", "words"), r"that is not a number[\s\S]*row 1: 'words' holds 'good'\n  row 2: 'words' holds 'bad'"),
    ],
)
def test_annotators_that_cannot_be_are_refused(pairs: SentencePairs, names: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        study(pairs, annotators=names)


def test_a_result_stored_before_there_was_a_ceiling_is_read(pairs: SentencePairs) -> None:
    result = study(pairs)
    files = repacked(pack(result), {"human_ceiling": None}, "0.2.0")
    earlier = unpack(Result, files.__getitem__, "The result of run r1")
    assert earlier.human_ceiling.empty and ceiling(earlier) is None and len(result.human_ceiling)
    assert tables(earlier)["human_ceiling"].empty
