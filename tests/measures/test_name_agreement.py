"""Names by reading: by hand, by properties, and beside the cosine that it replaces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.bertscore import BestMatches, bertscore
from engine.measures.name_agreement import (
    LEAST_SHARE,
    NAME_WEIGHT,
    best_agreement,
    matched_names,
    name_weights,
    ratios,
    verdict,
)
from engine.measures.reading_penalty import agreement

readings = st.lists(st.text("さいとうおざき", min_size=1, max_size=5), min_size=1, max_size=3)


def test_several_readings_by_hand() -> None:
    # さちこ / ゆきこ and ゆきえ: さちこ→ゆきえ 3 of 3, ゆきこ→ゆきえ 1 of 3, so M = 2/3 with the second reading
    found = best_agreement(["さちこ", "ゆきこ"], ["ゆきえ"])
    assert found.agreement.value == pytest.approx(2 / 3) and (found.own, found.other) == (1, 0)
    with pytest.raises(InputError, match="at least one reading"):
        best_agreement([], ["あ"])


@given(readings, readings)
def test_it_is_symmetric_bounded_and_never_below_one_reading(own: list[str], other: list[str]) -> None:
    found = best_agreement(own, other)
    assert found.agreement.value == best_agreement(other, own).agreement.value
    assert found.agreement == agreement(own[found.own], other[found.other])
    assert agreement(own[0], other[0]).value <= found.agreement.value <= 1
    assert (found.agreement.value == 1) == bool(set(own) & set(other))


def test_one_pair_by_hand() -> None:
    # reference 斉藤 は, candidate 佐藤 は; cosines: 斉藤 - 佐藤 0.9, は - は 0.8.
    # さいとう and さとう: 1 of 4, M = 0.75.
    by_vector = BestMatches(np.array([0, 1, 0, 1]), np.array([0.9, 0.8, 0.9, 0.8]))
    compared = np.array([True, False, True, False])
    by_name = matched_names(by_vector, compared, [0, 0, 0, 0], [0.75, np.nan, 0.75, np.nan])
    assert by_name.similarity.tolist() == [0.5625, 0.8, 0.5625, 0.8]
    score = bertscore(by_name, [2, 2], name_weights(np.ones(4), compared, compared, [2, 2]))
    # the name weighs 3 of 4: (3 * 0.5625 + 0.8) / 4 = 0.621875
    assert score.recall[0] == score.precision[0] == score.f1[0] == pytest.approx(0.621875)
    before = bertscore(by_vector, [2, 2], np.ones(4))  # (0.9 + 0.8) / 2 = 0.85
    assert ratios(score, before) == pytest.approx([0.621875 / 0.85] * 2)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8))
def test_equal_names_never_lower_a_score_and_others_stay(tokens: list[tuple[bool, float, float]]) -> None:
    compared, cosine, m = (np.array(column) for column in zip(*tokens, strict=True))
    by_vector = BestMatches(np.zeros(len(m), dtype=np.int64), cosine)
    same = matched_names(by_vector, compared, np.zeros(len(m)), np.ones(len(m)))
    assert (same.similarity >= cosine).all()
    some = matched_names(by_vector, compared, np.zeros(len(m)), m)
    assert (some.similarity[~compared] == cosine[~compared]).all() and (some.similarity <= same.similarity).all()
    numbers = np.zeros(len(m), dtype=bool)
    assert (name_weights(cosine, compared, numbers, [len(m)])[compared] == NAME_WEIGHT * cosine[compared]).all()


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.floats(0.1, 5)), min_size=1, max_size=20))
def test_names_have_half_of_the_weight_of_their_sentence_at_least(tokens: list[tuple[bool, bool, float]]) -> None:
    compared, proper, weights = (np.array(column) for column in zip(*tokens, strict=True))
    raised = name_weights(weights, compared, proper, [len(tokens)])
    named = compared & proper
    assert (raised[~compared] == weights[~compared]).all()
    assert (raised[compared] >= NAME_WEIGHT * weights[compared] * (1 - 1e-12)).all()
    assert not named.any() or raised[named].sum() >= LEAST_SHARE * raised.sum() * (1 - 1e-12)


def test_what_does_not_go_together() -> None:
    with pytest.raises(InputError, match="need as many weights"):
        name_weights([1.0], [True], [True], [2])
    with pytest.raises(InputError, match="2 tokens need as many"):
        matched_names(BestMatches(np.zeros(2, dtype=np.int64), np.ones(2)), [True], [0, 0], [1.0, 1.0])


def test_the_verdict_on_two_names() -> None:
    assert [verdict(m) for m in (1.0, 0.9, 0.89, 0.71, 0.7, 0.0)] == [
        "same name",
        "same name",
        "unsure",
        "unsure",
        "another name",
        "another name",
    ]
