"""Strata and accuracies: by hand, on the paper's counts, against scikit-learn, by their properties, and in time."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score
from tokenizers import BertWordPieceTokenizer

from engine.errors import InputError
from engine.measures.minimal_pairs.acceptability import decisions
from engine.measures.minimal_pairs.length_bias import (
    STRATA,
    DifferenceAccuracy,
    StratumAccuracy,
    accuracy_by_difference,
    accuracy_by_stratum,
    strata,
)
from engine.measures.statistics.intervals import wilson_interval
from tests.measures.minimal_pairs.normalized import normalized
from tests.support.shared_data import shared_data

pairs = st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.integers(1, 6), st.integers(1, 6)), max_size=30)

# Ueda et al. 2024, table 2: A=U, A>U, A<U, and the size of the dataset.
TABLE_2 = [
    ("CrowS-Pairs, GPT-2", (997, 282, 229), 1508),
    ("CrowS-Pairs, BERT", (1021, 283, 204), 1508),
    ("JBLiMP, GPT-2", (147, 65, 119), 331),
    ("JBLiMP, BERT", (208, 58, 65), 331),
    ("French CrowS-Pairs, BERT", (855, 495, 326), 1676),
]


def columns(rows: list[tuple[int, int, int]]) -> tuple[list[int], list[int], list[int]]:
    return tuple(list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])  # type: ignore[return-value]


def test_by_hand() -> None:
    # pair   A U  decision      A=U: pairs 1, 2, 3: 1 right, 1 tie, 1 wrong -> 1/3
    #  1     4 4   right        A>U: pairs 4, 5: 1 right -> 1/2
    #  2     4 4   tie          A<U: pair 6: right -> 1
    #  3     5 5   wrong        all: 3 right of 6 -> 1/2, one tie
    #  4     6 4   wrong
    #  5     5 4   right
    #  6     3 5   right
    decided, a, u = [1, 0, -1, -1, 1, 1], [4, 4, 5, 6, 5, 3], [4, 4, 5, 4, 4, 5]
    assert strata(a, u).tolist() == ["A=U", "A=U", "A=U", "A>U", "A>U", "A<U"]
    found = accuracy_by_stratum(decided, a, u)
    assert [(one.stratum, one.n, one.n_correct, one.n_tied, one.accuracy) for one in found] == [
        ("all", 6, 3, 1, 0.5),
        ("A=U", 3, 1, 1, 1 / 3),
        ("A>U", 2, 1, 0, 0.5),
        ("A<U", 1, 1, 0, 1.0),
    ]
    assert [(one.ci_low, one.ci_high) for one in found] == [
        wilson_interval(k, n) for k, n in ((3, 6), (1, 3), (1, 2), (1, 1))
    ]
    by_difference = accuracy_by_difference(decided, a, u)
    assert [(one.difference, one.n, one.n_correct, one.n_tied, one.accuracy) for one in by_difference] == [
        (-2, 1, 1, 0, 1.0),
        (0, 3, 1, 1, 1 / 3),
        (1, 1, 1, 0, 1.0),
        (2, 1, 0, 0, 0.0),
    ]
    assert (by_difference[1].ci_low, by_difference[1].ci_high) == wilson_interval(1, 3)


@pytest.mark.parametrize(("name", "counts", "n"), TABLE_2, ids=lambda value: value if isinstance(value, str) else "")
def test_the_papers_table_2(name: str, counts: tuple[int, int, int], n: int) -> None:
    # token counts that fall as the table says; the three strata must part the whole dataset, as they do in print
    a = np.repeat([7, 9, 7], counts)
    u = np.repeat([7, 7, 9], counts)
    assert [one.n for one in accuracy_by_stratum(np.ones(a.size), a, u)] == [n, *counts]


def test_french_crows_pairs_fall_into_the_papers_strata() -> None:
    vocabulary = shared_data("tokenizers", "bert-base-multilingual-cased", "vocab.txt")
    with shared_data("crows_pairs_fr", "crows_french.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    tokenizer = BertWordPieceTokenizer(str(vocabulary), lowercase=False)
    counts = [
        [len(encoding.ids) for encoding in tokenizer.encode_batch([row[side] for row in rows])]
        for side in ("sent_more", "sent_less")
    ]
    shares = {stratum: float((strata(*counts) == stratum).mean()) for stratum in STRATA[1:]}
    # Table 2, multilingual BERT: 855, 495, 326 of 1,676. The file at hand has 1,463 of those rows, hence two points.
    printed = {"A=U": 855 / 1676, "A>U": 495 / 1676, "A<U": 326 / 1676}
    assert shares == pytest.approx(printed, abs=0.02)


@settings(max_examples=80)
@given(rows=pairs)
def test_strata_part_the_pairs_and_differences_refine_them(rows: list[tuple[int, int, int]]) -> None:
    decided, a, u = columns(rows)
    by_stratum = {one.stratum: one for one in accuracy_by_stratum(decided, a, u)}
    assert tuple(by_stratum) == STRATA
    by_difference = accuracy_by_difference(decided, a, u)
    assert [one.difference for one in by_difference] == sorted({x - y for x, y in zip(a, u, strict=True)})
    for field in ("n", "n_correct", "n_tied"):
        assert getattr(by_stratum["all"], field) == sum(getattr(by_stratum[name], field) for name in STRATA[1:])
        for name, sign in (("A=U", 0), ("A>U", 1), ("A<U", -1)):
            assert getattr(by_stratum[name], field) == sum(
                getattr(other, field) for other in by_difference if np.sign(other.difference) == sign
            )
    records: list[StratumAccuracy | DifferenceAccuracy] = [*by_stratum.values(), *by_difference]
    for one in records:
        if one.n:
            assert 0 <= one.ci_low <= one.accuracy <= one.ci_high <= 1
        else:
            assert all(math.isnan(value) for value in (one.accuracy, one.ci_low, one.ci_high))
    if rows:
        # a tie is not correct: scikit-learn's accuracy against "always right"
        assert by_stratum["all"].accuracy == pytest.approx(accuracy_score(np.ones(len(rows)), decided), rel=1e-15)


@settings(max_examples=40)
@given(rows=pairs, seed=st.integers(0, 100))
def test_order_does_not_matter_and_exchanged_sides_exchange_strata(rows: list[tuple[int, int, int]], seed: int) -> None:
    decided, a, u = columns(rows)
    mixed = columns([rows[index] for index in np.random.default_rng(seed).permutation(len(rows))])
    assert repr(accuracy_by_stratum(*mixed)) == repr(accuracy_by_stratum(decided, a, u))  # repr: nan equals nan
    assert repr(accuracy_by_difference(*mixed)) == repr(accuracy_by_difference(decided, a, u))
    plain, turned = (accuracy_by_stratum(decided, *sides) for sides in ((a, u), (u, a)))
    for mine, theirs in ((0, 0), (1, 1), (2, 3), (3, 2)):
        assert (plain[mine].n, plain[mine].n_correct) == (turned[theirs].n, turned[theirs].n_correct)


def test_in_equal_lengths_every_normalization_has_one_accuracy() -> None:
    random = np.random.default_rng(6)
    a, u = (random.integers(3, 9, 500) for _ in range(2))
    sums = [-random.gamma(4.0, 1.0, 500) * lengths for lengths in (a, u)]
    accuracies = {}
    for which in ("LP", "MeanLP", "PenLP"):
        decided = decisions(normalized(sums[0], a, which), normalized(sums[1], u, which), np.zeros(500, dtype=bool))
        accuracies[which] = {one.stratum: one.accuracy for one in accuracy_by_stratum(decided, a, u)}
    assert accuracies["LP"]["A=U"] == accuracies["MeanLP"]["A=U"] == accuracies["PenLP"]["A=U"]
    # sums favour the shorter sentence, means do not
    assert accuracies["LP"]["A<U"] > accuracies["MeanLP"]["A<U"]
    assert accuracies["LP"]["A>U"] < accuracies["MeanLP"]["A>U"]


def test_tails_are_merged_inwards_by_hand() -> None:
    # differences -3 (1 pair), -1 (2), 0 (1), 1 (4), 2 (1), 5 (1); at least 2 pairs each:
    #   below 0: -3 alone is 1, so it joins -1: 3 pairs; above: 5 and 2 together are 2 pairs, named +2; 1 has its own
    a = [1, 3, 3, 4, 5, 5, 5, 5, 6, 9]
    decided = [1, 1, -1, 0, 1, 1, -1, -1, -1, 1]
    found = accuracy_by_difference(decided, a, [4] * 10, least=2)
    assert [(one.difference, one.n, one.n_correct, one.n_tied, one.merged) for one in found] == [
        (-1, 3, 2, 0, True),
        (0, 1, 0, 1, False),
        (1, 4, 2, 0, False),
        (2, 2, 1, 0, True),
    ]
    # a side that never holds enough is one record; 0 stays by itself
    all_in_one = accuracy_by_difference(decided, a, [4] * 10, least=99)
    assert [(one.difference, one.n, one.merged) for one in all_in_one] == [(-1, 3, True), (0, 1, False), (1, 6, True)]
    with pytest.raises(InputError, match="got 0"):
        accuracy_by_difference([1], [3], [3], least=0)


@settings(max_examples=60)
@given(rows=pairs, least=st.integers(1, 9))
def test_merging_keeps_every_pair_on_its_side(rows: list[tuple[int, int, int]], least: int) -> None:
    decided, a, u = columns(rows)
    plain, merged = (accuracy_by_difference(decided, a, u, least=number) for number in (1, least))
    assert not any(one.merged for one in plain)
    for sign in (-1, 0, 1):
        for field in ("n", "n_correct", "n_tied"):
            assert sum(getattr(one, field) for one in merged if np.sign(one.difference) == sign) == sum(
                getattr(one, field) for one in plain if np.sign(one.difference) == sign
            )
        side = [one for one in merged if np.sign(one.difference) == sign]
        assert all(one.n >= least for one in side if one.merged) or len(side) == 1


def test_no_pairs() -> None:
    assert [one.n for one in accuracy_by_stratum([], [], [])] == [0] * 4
    assert accuracy_by_difference([], [], []) == [] and strata([], []).tolist() == []


def test_what_does_not_fit_is_refused() -> None:
    for measure in (accuracy_by_stratum, accuracy_by_difference):
        with pytest.raises(InputError, match="got 2 pairs and 1 decisions"):
            measure([1], [3, 3], [3, 3])
        with pytest.raises(InputError, match=r"1 \(right\), 0 \(tie\) or -1 \(wrong\)"):
            measure([2], [3], [3])
        with pytest.raises(InputError, match="got 2 and 1"):
            measure([1, 1], [3, 3], [3])
