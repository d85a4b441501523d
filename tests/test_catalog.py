"""Every card is complete, and says the direction that the measure itself shows."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from engine.measures.acceptability import NORMALIZATIONS, decisions, normalized
from engine.measures.agreement import wilson_interval
from engine.measures.catalog import CARDS, MeasureCard
from engine.measures.dispersion import Dispersion, dispersion
from engine.measures.idf import IdfDictionary
from engine.measures.length_bias import accuracy_by_stratum
from engine.measures.matching import PRF, bertscore, best_matches
from engine.measures.reading_penalty import agreement, penalized, penalty

EXPECTED = {
    "in_class_dispersion", "out_of_class_dispersion", "dispersion_score", "precision", "recall", "f1", "idf",
    "agreement", "precision_penalty", "recall_penalty", "penalized_precision", "penalized_recall", "penalized_f1",
    "log_likelihood", "mean_log_likelihood", "penalized_log_likelihood", "log_likelihood_per_character", "accuracy",
}
FLAGS = np.zeros(2, dtype=bool)
TIGHT: Dispersion = dispersion([[0, 0], [0, 1], [9, 0], [9, 1]], list("aabb"))
LOOSE: Dispersion = dispersion([[0, 0], [0, 8], [2, 0], [2, 8]], list("aabb"))
ALIKE, UNLIKE = (bertscore(best_matches(matrix, FLAGS, FLAGS), [1, 1], [1, 1])
                 for matrix in ([[0.9, 0.1], [0.1, 0.8]], [[0.3, 0.1], [0.1, 0.2]]))
NAME_KEPT, NAME_LOST = (penalized(PRF(0.8, 0.8, 0.8), factor, factor) for factor in (1.0, 0.5))

# key -> the measure where all is well, the measure where it is not
WELL_AND_BADLY = {
    "in_class_dispersion": (TIGHT.in_class, LOOSE.in_class),
    "out_of_class_dispersion": (TIGHT.out_of_class, LOOSE.out_of_class),
    "dispersion_score": (TIGHT.score, LOOSE.score),
    "precision": (ALIKE.precision, UNLIKE.precision),
    "recall": (ALIKE.recall, UNLIKE.recall),
    "f1": (ALIKE.f1, UNLIKE.f1),
    "agreement": (agreement("さいとう", "さいとう").value, agreement("さいとう", "おざき").value),
    "precision_penalty": (penalty([True], ["か"], ["か"], [True]).value, penalty([True], ["か"], ["き"], [True]).value),
    "recall_penalty": (penalty([False], ["か"], ["き"], [True]).value, penalty([True], ["か"], ["き"], [True]).value),
    "penalized_precision": (NAME_KEPT.precision, NAME_LOST.precision),
    "penalized_recall": (NAME_KEPT.recall, NAME_LOST.recall),
    "penalized_f1": (NAME_KEPT.f1, NAME_LOST.f1),
    "accuracy": tuple(accuracy_by_stratum(decided, [1, 1], [1, 1])[0].accuracy for decided in ([1, 1], [1, -1])),
    **{key: tuple(normalized([-2.0, -9.0], [3, 3], which, n_characters=[5, 5]))
       for key, which in zip(("log_likelihood", "mean_log_likelihood", "penalized_log_likelihood",
                              "log_likelihood_per_character"), NORMALIZATIONS, strict=True)},
}


def test_the_cards_are_all_there() -> None:
    assert set(CARDS) == EXPECTED


@pytest.mark.parametrize("key", sorted(CARDS))
def test_a_card_is_complete(key: str) -> None:
    card = CARDS[key]
    assert card.key == key
    for field in dataclasses.fields(MeasureCard):
        value = getattr(card, field.name)
        assert value == value.strip()
        assert value or field.name == "unit", f"{key} has no {field.name}"
    assert card.better in ("lower", "higher", "neither")
    assert card.question.count("?") >= 1
    assert card.range[0] in "[("


def test_names_and_symbols_are_told_apart() -> None:
    for field in ("name", "symbol", "formula", "question"):
        assert len({getattr(card, field) for card in CARDS.values()}) == len(CARDS)


@pytest.mark.parametrize("key", sorted(EXPECTED - {"idf"}))
def test_a_card_says_the_direction_the_measure_shows(key: str) -> None:
    well, badly = WELL_AND_BADLY[key]
    assert CARDS[key].better == ("higher" if well > badly else "lower")


def test_idf_has_no_better_end_and_the_range_it_says() -> None:
    card, dictionary = CARDS["idf"], IdfDictionary("n", 9, {"a": 9}, "t", "u")
    assert card.better == "neither" and card.range == "[0, log(N + 1)]"
    assert dictionary.idf(["a", "unseen"], [False, False]).tolist() == pytest.approx([0.0, np.log(10)])


def test_cards_cannot_be_written_to() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        CARDS["f1"].better = "lower"  # type: ignore[misc]


def test_a_tie_is_in_the_accuracys_denominator_as_its_card_says() -> None:
    tied = decisions([-1.0], [-1.0], [False])
    assert accuracy_by_stratum(tied, [1], [1])[0].accuracy == 0.0 and "tie" in CARDS["accuracy"].formula
    assert wilson_interval(0, 1)[0] == 0.0
