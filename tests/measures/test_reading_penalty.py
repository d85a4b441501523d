"""The reading penalty: by hand, on the paper's own example, against a textbook edit distance, by its properties."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.language.readings.by_pykakasi import reading
from engine.measures.bertscore import PRF
from engine.measures.reading_penalty import (
    TokenAgreements,
    agreement,
    joined_agreements,
    penalized,
    read_once,
    sentence_penalties,
    token_agreements,
)
from tests.measures import oracles
from tests.measures.oracles import textbook_distance

kana = st.text("あいうえおかー", max_size=8)
sentences = st.lists(st.tuples(st.booleans(), kana, kana, st.booleans()), max_size=8)
Tokens = list[tuple[bool, str, str, bool]]  # penalised, reading, reading of the match, scored


@dataclass(frozen=True)
class ReadingPenalty:
    """What the measures say of one sentence."""

    agreements: np.ndarray
    distances: np.ndarray
    value: float


def penalty(
    penalised: Sequence[bool], readings: Sequence[str], matches: Sequence[str], scored: Sequence[bool]
) -> ReadingPenalty:
    return of_sentence(token_agreements(readings, matches, np.logical_and(penalised, scored)), scored)


def joined_penalty(
    penalised: Sequence[bool], readings: Sequence[str], matches: Sequence[str], scored: Sequence[bool]
) -> ReadingPenalty:
    chosen = np.logical_and(penalised, scored)
    return of_sentence(joined_agreements(readings, matches, chosen, [len(readings)]), scored)


def of_sentence(tokens: TokenAgreements, scored: Sequence[bool]) -> ReadingPenalty:
    value = sentence_penalties(tokens.value, scored, [len(scored)]).item()
    return ReadingPenalty(np.where(scored, tokens.value, np.nan), tokens.distance, value)


PENALTIES: list[Callable[..., ReadingPenalty]] = [penalty, joined_penalty]


def pair_score(precision: float, recall: float, f1: float = math.nan) -> PRF:
    return PRF(np.array([precision]), np.array([recall]), np.array([f1]))


@pytest.mark.parametrize(
    ("a", "b", "distance", "value"),
    [
        ("さいとう", "さいとう", 0, 1.0),
        ("さいとう", "さとう", 1, 1 - 1 / 4),  # い deleted, of four
        # さいとう -> おざき: no kana in common, so three replaced and one deleted, of four
        ("さいとう", "おざき", 4, 0.0),
        ("たなか", "なかた", 2, 1 - 2 / 3),  # た deleted in front, た inserted after
        ("か", "かー", 1, 0.5),
        ("", "さ", 1, 0.0),
        ("", "", 0, 1.0),  # 0/0 by definition
    ],
)
def test_agreement_by_hand(a: str, b: str, distance: int, value: float) -> None:
    found = agreement(a, b)
    assert (found.distance, found.longest) == (distance, max(len(a), len(b)))
    assert found.value == pytest.approx(value, rel=1e-15)


def test_a_published_edit_distance() -> None:
    # the standard example of the literature: kitten -> sitting takes 3
    assert agreement("kitten", "sitting").distance == 3 and agreement("kitten", "sitting").value == 1 - 3 / 7


@settings(max_examples=150)
@given(a=kana, b=kana, c=kana)
def test_agreement_is_the_textbook_distance_symmetric_and_bounded(a: str, b: str, c: str) -> None:
    found = agreement(a, b)
    assert found.distance == textbook_distance(a, b)
    assert found == agreement(b, a)
    assert 0 <= found.value <= 1 and (found.value == 1) == (a == b)
    assert found.distance <= agreement(a, c).distance + agreement(c, b).distance


def test_penalty_by_hand() -> None:
    # [CLS] 斉藤 さん は 東京 [SEP]; low-frequency: 斉藤 (matched with 佐藤), 東京 (with 京都)
    # 斉藤 さいとう / さとう: distance 1 of 4, M = 0.75.  東京 とうきょう / きょうと: と, う deleted, と appended:
    # distance 3 of 5, M = 0.4.  さん and は: M = 1.  The special tokens count in nothing.
    # mean = (0.75 + 1 + 1 + 0.4) / 4 = 0.7875
    found = penalty(
        [True, True, False, False, True, False],
        ["", "さいとう", "さん", "は", "とうきょう", ""],
        ["", "さとう", "さん", "は", "きょうと", ""],
        [False, True, True, True, True, False],
    )
    np.testing.assert_allclose(found.agreements, [np.nan, 0.75, 1, 1, 0.4, np.nan], rtol=1e-15)
    np.testing.assert_array_equal(found.distances, [np.nan, 1, np.nan, np.nan, 3, np.nan])
    assert found.value == pytest.approx(0.7875, rel=1e-15)


def test_joined_penalty_by_hand() -> None:
    # joined: さいとうとうきょう against さとうきょうと; い deleted, とう deleted (or as dear), と appended: 4 of 9
    # M = 5/9 for both low-frequency tokens; mean = (5/9 + 1 + 1 + 5/9) / 4 = 7/9
    assert textbook_distance("さいとうとうきょう", "さとうきょうと") == 4
    found = joined_penalty(
        [True, True, False, False, True, False],
        ["", "さいとう", "さん", "は", "とうきょう", ""],
        ["", "さとう", "さん", "は", "きょうと", ""],
        [False, True, True, True, True, False],
    )
    np.testing.assert_allclose(found.agreements, [np.nan, 5 / 9, 1, 1, 5 / 9, np.nan], rtol=1e-15)
    np.testing.assert_array_equal(found.distances, [np.nan, 4, np.nan, np.nan, 4, np.nan])
    assert found.value == pytest.approx(7 / 9, rel=1e-15)


def test_the_papers_example_saito_and_ozaki() -> None:
    # Section 5, first example: 斉藤さんは… against 尾崎は…, base 0.514, penalised 0.492. The factor, 0.957, is that of
    # one token without agreement among about 23; the tokens themselves are not printed.
    assert agreement(reading("斉藤"), reading("尾崎")).value == 0.0
    one_in_23 = penalty(np.arange(23) == 0, ["さいとう"] * 23, ["おざき"] * 23, np.ones(23, dtype=bool)).value
    scaled = penalized(pair_score(0.514, 0.514), [one_in_23, one_in_23])
    assert scaled.f1.item() == pytest.approx(0.492, abs=0.0005)  # printed to three decimals


@pytest.mark.parametrize("variant", ["斎藤", "さいとう", "サイトウ", "ｻｲﾄｳ", "##斎藤", "▁サイトウ"])
def test_another_spelling_costs_nothing(variant: str) -> None:
    assert penalty([True], [reading("斉藤")], [reading(variant)], [True]).value == 1.0


@pytest.mark.parametrize("measure", PENALTIES)
@settings(max_examples=100)
@given(tokens=sentences)
def test_properties_of_both(measure: Callable[..., ReadingPenalty], tokens: list[tuple[bool, str, str, bool]]) -> None:
    rare, own, other, scored = (list(column) for column in zip(*tokens, strict=True)) if tokens else ([], [], [], [])
    found = measure(rare, own, other, scored)
    if not any(scored):
        assert math.isnan(found.value)
        return
    assert 0 <= found.value <= 1
    assert found.value == pytest.approx(float(np.nanmean(found.agreements)), rel=1e-12)
    assert np.isnan(found.agreements).tolist() == [not one for one in scored]
    # readings the other way round: the distance is symmetric
    assert measure(rare, other, own, scored).value == found.value
    # no low-frequency token, or every match read alike: no penalty
    assert measure([False] * len(tokens), own, other, scored).value == 1.0
    assert measure(rare, own, own, scored).value == 1.0


@settings(max_examples=50)
@given(tokens=sentences.filter(lambda tokens: any(token[3] for token in tokens)), seed=st.integers(0, 100))
def test_the_order_of_tokens_does_not_change_the_penalty_per_token(
    tokens: list[tuple[bool, str, str, bool]], seed: int
) -> None:
    mixed = [tokens[index] for index in np.random.default_rng(seed).permutation(len(tokens))]
    values = [penalty(*map(list, zip(*some, strict=True))).value for some in (tokens, mixed)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)  # sums in another order


def test_one_rare_token_gives_both_pairings_the_same() -> None:
    arguments = ([False, True], ["は", "さいとう"], ["は", "さとう"], [True, True])
    assert penalty(*arguments).value == joined_penalty(*arguments).value == (1 + 0.75) / 2


def test_joining_forgives_another_segmentation() -> None:
    arguments = ([True, True], ["さい", "とう"], ["さ", "いとう"], [True, True])
    assert joined_penalty(*arguments).value == 1.0
    assert penalty(*arguments).value == pytest.approx((0.5 + 2 / 3) / 2, rel=1e-15)


def test_a_match_without_reading_agrees_in_nothing() -> None:
    assert penalty([True], ["さいとう"], [""], [True]).value == 0.0


def test_penalized_by_hand() -> None:
    # P' = 0.8 * 0.5 = 0.4, R' = 0.6 * 1 = 0.6, F' = 2 * 0.24 / 1.0 = 0.48
    after = penalized(pair_score(0.8, 0.6), [1.0, 0.5])
    assert [*after.precision, *after.recall, *after.f1] == pytest.approx([0.4, 0.6, 0.48], rel=1e-15)


def test_readings_without_anything_in_common_leave_no_score() -> None:
    assert penalized(pair_score(0.8, 0.8), [0.0, 0.0]).f1.tolist() == [0.0]


def test_penalized_leaves_what_is_undefined_undefined() -> None:
    after = penalized(pair_score(0.8, math.nan), [1.0, 0.5])
    assert after.precision == 0.4 and math.isnan(after.recall[0]) and math.isnan(after.f1[0])
    assert math.isnan(penalized(pair_score(0.8, 0.8), [1.0, math.nan]).precision[0])


@settings(max_examples=100)
@given(batch=st.lists(sentences, max_size=5))
def test_all_sentences_at_once_equal_each_by_plain_loops(batch: list[Tokens]) -> None:
    lengths = [len(tokens) for tokens in batch]
    flat = [token for tokens in batch for token in tokens]
    rare, own, other, scored = (list(column) for column in zip(*flat, strict=True)) if flat else ([], [], [], [])
    chosen = np.logical_and(rare, scored)
    for got, oracle in (
        (token_agreements(own, other, chosen), oracles.penalty),
        (joined_agreements(own, other, chosen, lengths), oracles.joined_penalty),
    ):
        apart = [
            oracle(*([token[0] and token[3] for token in tokens], *([token[i] for token in tokens] for i in (1, 2, 3))))
            for tokens in batch
        ]
        np.testing.assert_array_equal(got.value, [value for one in apart for value in one.agreements])
        np.testing.assert_array_equal(got.distance, [value for one in apart for value in one.distances])
        np.testing.assert_allclose(
            sentence_penalties(got.value, scored, lengths), [one.value for one in apart], rtol=1e-12
        )  # sums in another order


def test_read_once_by_hand() -> None:
    # the second piece of word 0 says nothing more, nor does the third, which comes after an unpenalised neighbour;
    # the next sentence begins anew
    readings = np.array(["a", "a", "x", "a", "b", "b"], dtype=object)
    penalised = [True, True, False, True, True, True]
    assert read_once(readings, [0, 0, 7, 0, 0, 1], penalised, [4, 2]).tolist() == ["a", "", "x", "", "b", "b"]
    assert readings[1] == "a"  # not written to


@settings(max_examples=60)
@given(batch=st.lists(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=6), max_size=4))
def test_read_once_equals_a_plain_loop(batch: list[list[tuple[int, bool]]]) -> None:
    words, penalised = ([token[i] for tokens in batch for token in tokens] for i in (0, 1))
    readings = [f"r{i}" for i in range(len(words))]
    expected, start = [], 0
    for tokens in batch:
        part = slice(start, start := start + len(tokens))
        expected += oracles.read_once(readings[part], words[part], penalised[part])
    assert read_once(readings, words, penalised, [len(tokens) for tokens in batch]).tolist() == expected


def test_columns_of_different_length_are_refused() -> None:
    two = [True, True]
    for refused in (
        lambda: token_agreements(["か"], ["か", "か"], two),
        lambda: joined_agreements(["か"], ["か", "か"], two, [2]),
        lambda: read_once(["か"], [0, 0], two, [2]),
    ):
        with pytest.raises(InputError, match=r"got \(1, 2, 2\)"):
            refused()
    for lengths in ([3], [1]):
        for refused in (
            lambda n: joined_agreements(["か"] * 2, ["か"] * 2, two, n),
            lambda n: read_once(["か"] * 2, [0, 0], two, n),
            lambda n: sentence_penalties([1.0, 1.0], two, n),
        ):
            with pytest.raises(InputError, match=f"Sentences of {lengths[0]} tokens need as many"):
                refused(lengths)
    with pytest.raises(InputError, match="1 pairs need two penalties each; got 1"):
        penalized(pair_score(0.8, 0.8), [1.0])
