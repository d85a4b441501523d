"""A stratified sample: sizes by hand, every sentence as likely as another of its class, and what cannot be drawn."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import InputError
from engine.measures.clusters.stratified_sample import stratified_sample


def test_each_class_has_its_share_and_the_largest_remainders_the_rest() -> None:
    # 7 of 10: 4.2 of six, 2.1 of three, 0.7 of one: 4, 2 and 0, and the last goes to the largest remainder
    class_of = np.array([5, 3, 3, 5, 3, 3, 9, 3, 5, 3])
    drawn = stratified_sample(class_of, 7, seed=4)
    assert (np.diff(drawn) > 0).all()
    assert {name: int((class_of[drawn] == name).sum()) for name in (3, 5, 9)} == {3: 4, 5: 2, 9: 1}
    # 1 of two classes of one size: of equal remainders the first
    assert stratified_sample([1, 1, 0, 0], 1).tolist()[0] in (2, 3)
    assert stratified_sample([1, 0, 1], 3).tolist() == [0, 1, 2]


def test_the_seed_draws_each_sentence_of_a_class_as_often() -> None:
    class_of = np.repeat([0, 1], [8, 4])
    counts = sum(np.isin(np.arange(12), stratified_sample(class_of, 6, seed=seed)).astype(int) for seed in range(600))
    # 600 draws of a half: 300 ± 12.2; 4.5 deviations
    assert np.abs(np.asarray(counts) - 300).max() < 55
    np.testing.assert_array_equal(stratified_sample(class_of, 6, seed=3), stratified_sample(class_of, 6, seed=3))


@pytest.mark.parametrize("n", [0, 4])
def test_no_sample_is_drawn_of_more_sentences_than_there_are(n: int) -> None:
    with pytest.raises(InputError, match=f"A sample of {n} sentences cannot be drawn from 3"):
        stratified_sample([0, 0, 1], n)
