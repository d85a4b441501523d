"""Ranges of ranks of a table: its own columns first, then its comparisons, its groups, and the bare ranks."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.evaluations.clusters.records import RANKS
from engine.evaluations.shared.rank_ranges import apart, range_columns, ranges_of, says_who_differs

# The sample of Clusters: a differs from all others, b from e alone.
MODELS = pd.DataFrame({"model": list("abcde"), "rank": [1, 2, 3, 4, 5], "rank_group": [1, 2, 2, 2, 3]})
PAIRS = [(one, other) for index, one in enumerate("abcde") for other in "abcde"[index + 1 :]]
COMPARISONS = pd.DataFrame(PAIRS, columns=["model", "other"]).assign(
    separable=[pair[0] == "a" or pair == ("b", "e") for pair in PAIRS]
)
RANGES = [(1, 1), (2, 4), (2, 5), (2, 5), (3, 5)]


def test_the_columns_of_a_table_come_first() -> None:
    stored = MODELS.assign(**range_columns(RANGES))
    assert ranges_of(stored) == RANGES == ranges_of(stored, COMPARISONS.assign(separable=False))
    columns = range_columns([(1, 1), None])
    assert columns["rank_last"].dtype == "Int64" and columns["rank_last"].isna().tolist() == [False, True]
    assert set(columns) <= set(RANKS)


def test_a_table_of_an_earlier_version_has_the_ranges_of_its_comparisons() -> None:
    assert ranges_of(MODELS, COMPARISONS) == RANGES
    missing = MODELS.assign(**range_columns([None] * 5))
    assert ranges_of(missing, COMPARISONS) == RANGES
    shuffled = MODELS.iloc[[4, 0, 2, 1, 3]]
    assert ranges_of(shuffled, COMPARISONS) == [RANGES[index] for index in (4, 0, 2, 1, 3)]


@pytest.mark.parametrize("comparisons", [None, COMPARISONS.head(0), COMPARISONS.assign(separable=pd.NA)])
def test_without_comparisons_the_groups_or_the_ranks_are_shown(comparisons: pd.DataFrame | None) -> None:
    assert not says_who_differs(comparisons)
    assert ranges_of(MODELS, comparisons) == [(1, 1), (2, 4), (2, 4), (2, 4), (5, 5)]
    assert ranges_of(MODELS.drop(columns="rank_group"), comparisons) == [(rank, rank) for rank in range(1, 6)]


def test_a_model_without_a_rank_has_no_range() -> None:
    unranked = MODELS.assign(rank=pd.array([None, 1, 2, 3, 4], dtype="Int64"))
    assert ranges_of(unranked, COMPARISONS) == [None, (1, 3), (1, 4), (1, 4), (2, 4)]
    assert ranges_of(unranked.assign(**range_columns(RANGES)))[0] is None


def test_the_columns_of_one_of_several_evaluations_have_its_name() -> None:
    table = pd.DataFrame({"rank x": [1, 2], "rank y": [2, 1], **range_columns([(1, 2), (1, 2)], of=" y")})
    assert ranges_of(table, of=" x") == [(1, 1), (2, 2)] and ranges_of(table, of=" y") == [(1, 2), (1, 2)]


def test_comparisons_of_other_models_are_left_out() -> None:
    assert apart(pd.Series(["e", "z", "b"]), COMPARISONS).tolist() == [
        [False, False, True],
        [False, False, False],
        [True, False, False],
    ]
