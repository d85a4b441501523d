"""The ensemble of prompted predictions, worked by hand, and the scores that read their own fields."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import InputError
from engine.measures.minimal_pairs.acceptability import decisions
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS, PROMPTED, Sentences
from engine.measures.minimal_pairs.prompted import votes

# Five predictions of six pairs: on their own scales, and with ties in the last three pairs.
ACCEPTABLE = [
    [-10.0, -10.0, -10.0, -5.0, -5.0, -5.0],
    [-20.0, -20.0, -22.0, -20.0, -20.0, -5.0],
    [-30.0, -32.0, -32.0, -32.0, -30.0, -5.0],
    [0.5, 0.1, 0.1, 0.1, 0.1, -5.0],
    [0.5, 0.1, 0.1, 0.5, 0.2, -5.0],
]
UNACCEPTABLE = [
    [-11.0, -11.0, -11.0, -5.0, -5.0, -5.0],
    [-21.0, -21.0, -21.0, -21.0, -20.0, -5.0],
    [-31.0, -31.0, -31.0, -31.0, -30.0, -5.0],
    [0.2, 0.2, 0.2, 0.2, 0.1, -5.0],
    [0.2, 0.2, 0.2, 0.2, 0.1, -5.0],
]


def test_the_majority_of_five_by_hand() -> None:
    acceptable, unacceptable = votes(ACCEPTABLE, UNACCEPTABLE)
    assert acceptable.tolist() == [5, 2, 1, 2, 1, 0] and unacceptable.tolist() == [0, 3, 4, 2, 0, 0]
    # Two for each and a tie is a tie; one for it and four ties is right; five ties are a tie.
    assert decisions(acceptable, unacceptable, [False] * 6).tolist() == [1, -1, -1, 0, 1, 0]


def test_without_ties_it_is_three_of_five_and_one_prediction_is_itself() -> None:
    random = np.random.default_rng(0)
    first, second = random.normal(size=(2, 5, 400))
    acceptable, unacceptable = votes(first, second)
    assert ((acceptable > unacceptable) == ((first > second).sum(axis=0) >= 3)).all()
    assert (acceptable + unacceptable == 5).all()
    one, other = votes(first[:1], second[:1])
    np.testing.assert_array_equal(one > other, first[0] > second[0])
    # Exchanged sentences, another order and another scale of a prediction change nothing else.
    for again in (votes(second, first)[::-1], votes(first[::-1], second[::-1]), votes(first * 7 + 3, second * 7 + 3)):
        np.testing.assert_array_equal(again, (acceptable, unacceptable))


def test_an_even_number_may_tie_and_none_is_zero() -> None:
    acceptable, unacceptable = votes([[1.0, 1.0], [0.0, 3.0]], [[0.0, 0.0], [1.0, 2.0]])
    assert decisions(acceptable, unacceptable, [False, False]).tolist() == [0, 1]
    assert [side.tolist() for side in votes(np.empty((0, 2)), np.empty((0, 2)))] == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([[1.0]], [[np.nan]], "no score"),
        ([[1.0]], [[1.0, 2.0]], "two scores of each pair"),
        ([1.0], [1.0], "two scores"),
    ],
)
def test_what_is_no_prediction_is_refused(first: list[object], second: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        votes(first, second)


def test_prompted_scores_are_their_field_whatever_the_log_likelihood() -> None:
    fields = {"in_template": [-3.0, -4.0], "yes_no": [0.5, -0.5], "votes": [3.0, 2.0]}
    by_need = {record.needs[0]: record for record in NORMALIZATIONS.values() if record.is_prompted}
    assert tuple(by_need) == PROMPTED
    for need, record in by_need.items():
        assert record.scores(Sentences([-1.0, -9.0], [2, 3], **fields)).tolist() == fields[need]
        assert record.of_whole_sentences and not record.is_bounded and not record.by_tokens
        assert np.isnan(record.scores(Sentences([-1.0, -9.0], [2, 0], **fields))).tolist() == [False, True]
        with pytest.raises(InputError, match="with prompts"):
            record.scores(Sentences([-1.0], [2]))
