"""Every card is complete, and says the direction that the measure itself shows."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from engine.datasets.minimal_pairs.formulas import parsed
from engine.evaluations.agreement.benchmark import held_against
from engine.evaluations.agreement.benchmark_files import read_benchmark
from engine.measures.bertscore import PRF, BestMatches, bertscore, best_matches
from engine.measures.cards.catalog import CARDS, MeasureCard
from engine.measures.classification import accuracy as right_classes
from engine.measures.clusters.dispersion import Dispersion, dispersion
from engine.measures.clusters.label_permutation import label_permutation
from engine.measures.clusters.repeated_clustering import minibatch_v_measure
from engine.measures.clusters.validity_inputs import validity_inputs
from engine.measures.entity_accuracy import entity_hits
from engine.measures.idf import IdfDictionary
from engine.measures.mask_probability import word_probability
from engine.measures.minimal_pairs.acceptability import decisions
from engine.measures.minimal_pairs.judged_sentences import (
    brier_score,
    calibration_error,
    matthews_correlation,
    reliability,
)
from engine.measures.minimal_pairs.length_bias import accuracy_by_stratum
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.measures.minimal_pairs.prompted import votes
from engine.measures.name_agreement import matched_names
from engine.measures.reading_penalty import agreement, penalized, sentence_penalties, token_agreements
from engine.measures.reading_times import gain
from engine.measures.rescaling import rescaled
from engine.measures.running_text import bits_per, perplexity
from engine.measures.statistics.annotators import annotator_agreement, human_ceiling
from engine.measures.statistics.correlations.correlation import kendall, pearson, spearman
from engine.measures.statistics.inter_rater import krippendorff_alpha
from engine.measures.statistics.intervals import wilson_interval
from engine.measures.statistics.ranked_area import area_with_interval
from engine.measures.statistics.system_ranking import system_agreement
from engine.measures.statistics.tie_calibration import tie_calibrated_accuracy
from engine.measures.surface import chrf, sentence_bleu
from engine.measures.vector_cosine import vector_cosines
from engine.models.scoring.vector_operations import measure_function
from tests.measures.minimal_pairs.normalized import normalized

MAY_BE_EMPTY = ("unit", "undefined", "function")
TIGHT: Dispersion = dispersion([[0, 0], [0, 1], [9, 0], [9, 1]], list("aabb"))
LOOSE: Dispersion = dispersion([[0, 0], [0, 8], [2, 0], [2, 8]], list("aabb"))
ROWS = [[0.0, 1.0], [0.0, 1.5], [1.0, 2.0], [0.5, 1.0], [9.0, 1.2], [9.5, 2.0], [10.0, 1.0], [9.0, 1.0]]
# Two pairs of two tokens each, the first alike: index 0 is the pair where all is well.
SCORES = bertscore(best_matches([0.9, 0.1, 0.1, 0.8, 0.3, 0.1, 0.1, 0.2], [2] * 4, [False] * 8), [2] * 4, [1] * 8)
AFTER = penalized(PRF(*np.full((3, 2), 0.8)), [1.0, 1.0, 0.5, 0.5])
NAMES = token_agreements(["か", "か"], ["か", "き"], [True, True])
NAME_KEPT, NAME_LOST = sentence_penalties(NAMES.value, [True, True], [1, 1])
SYSTEMS = np.array([[3.0, 4.0, 5.0, 6.0], [2.0, 3.5, 4.0, 5.0], [1.0, 2.0, 2.0, 3.0]])  # three, the first the best
# Of four sentences the first two have the higher scores: they are those judged acceptable, or not all of them are.
JUDGED_SCORES, JUDGED = [-1.0, -2.0, -3.0, -4.0], ([True, True, False, False], [True, False, True, False])

PREDICTOR = np.arange(24.0) % 7
NOISE = np.random.default_rng(0).normal(size=24)
READ_IN = (10 * PREDICTOR + NOISE, NOISE)  # reading times that follow surprisal, and that do not
# key -> the measure where all is well, the measure where it is not
WELL_AND_BADLY = {
    "in_class_dispersion": (TIGHT.in_class, LOOSE.in_class),
    "out_of_class_dispersion": (TIGHT.out_of_class, LOOSE.out_of_class),
    "dispersion_score": (TIGHT.score, LOOSE.score),
    "in_class_variance": (TIGHT.in_class_variance, LOOSE.in_class_variance),
    "out_of_class_variance": (TIGHT.out_of_class_variance, LOOSE.out_of_class_variance),
    "permutation_p_value": tuple(
        label_permutation(ROWS, labels, n_permutations=99).p_value for labels in ("aaaabbbb", "abababab")
    ),
    # the indices that the worker computes by their card
    **{
        card.key: tuple(
            measure_function(card.function)(validity_inputs(ROWS, labels)) for labels in ("aaaabbbb", "abababab")
        )
        for card in CARDS.values()
        if card.function and card.better != "neither"
    },
    "v_measure_minibatch": tuple(minibatch_v_measure(ROWS, labels) for labels in ("aaaabbbb", "abababab")),
    **{key: tuple(getattr(SCORES, key)) for key in ("precision", "recall", "f1")},
    "agreement": (agreement("さいとう", "さいとう").value, agreement("さいとう", "おざき").value),
    "name_similarity": tuple(
        matched_names(
            BestMatches(np.zeros(2, dtype=np.int64), np.full(2, 0.5)), [True, True], [0, 0], [1.0, 0.0]
        ).similarity
    ),
    **dict.fromkeys(("precision_penalty", "recall_penalty"), (NAME_KEPT, NAME_LOST)),
    **{f"penalized_{key}": tuple(getattr(AFTER, key)) for key in ("precision", "recall", "f1")},
    "mask_probability": (word_probability([-0.1, -0.2]), word_probability([-0.1, -9.0])),
    "accuracy": tuple(accuracy_by_stratum(decided, [1, 1], [1, 1])[0].accuracy for decided in ([1, 1], [1, -1])),
    **{
        key: (measure([1, 2, 3, 4], [1, 2, 4, 3]).value, measure([1, 2, 3, 4], [4, 2, 3, 1]).value)
        for key, measure in (("pearson", pearson), ("spearman", spearman), ("kendall", kendall))
    },
    **{
        key: tuple(right_classes(["a", "b"], said) for said in (["a", "b"], ["b", "b"]))
        for key in ("classification_accuracy", "nearest_own_centroid")
    },
    "annotator_agreement": tuple(
        annotator_agreement({"a": [1, 2, 3], "b": other}).mean for other in ([1, 2, 4], [2, 1, 2])
    ),
    "rescaled_bertscore": tuple(rescaled(SCORES.f1, 0.5)),
    "krippendorff_alpha": tuple(
        krippendorff_alpha([[0, 1, 2, 2], other]).value for other in ([0, 1, 2, 1], [2, 1, 0, 0])
    ),
    "entity_accuracy": tuple(entity_hits(["京都", "東京"], [["京都"]] * 2)),
    "human_ceiling": tuple(human_ceiling({"a": [1, 2, 3], "b": other}).pearson for other in ([1, 2, 4], [2, 1, 2])),
    **{
        key: tuple(getattr(system_agreement(SYSTEMS, metric), key) for metric in (SYSTEMS, SYSTEMS[::-1]))
        for key in ("pairwise_accuracy", "soft_pairwise_accuracy")
    },
    "tie_calibrated_accuracy": tuple(
        tie_calibrated_accuracy(SYSTEMS, metric).accuracy for metric in (SYSTEMS, SYSTEMS[::-1])
    ),
    "region_log_likelihood": (np.log([0.9, 0.8]).sum(), np.log([0.1, 0.8]).sum()),
    "judgement_auc": tuple(area_with_interval(JUDGED_SCORES, judged).value for judged in JUDGED),
    "judgement_mcc": tuple(matthews_correlation(JUDGED[0], judged)[0] for judged in JUDGED),
    "judgement_accuracy": tuple(right_classes(JUDGED[0], judged) for judged in JUDGED),
    "prediction_accuracy": tuple(parsed("(1;%a%) < 2").holds({(1, "a"): np.array([1.0, 3.0])})),
    "prediction_effect": tuple(parsed("2 - (1;%a%)").effect({(1, "a"): np.array([1.0, 3.0])})),
    **{
        key: tuple(getattr(gain(times, PREDICTOR, [], np.repeat(np.arange(6), 4)), name) for times in READ_IN)
        for key, name in (("reading_gain", "delta"), ("reading_share", "share"))
    },
    "acquisition_correlation": tuple(pearson([16, 20, 24], ages).value for ages in ([5, 6, 7], [7, 5, 6])),
    "brier_score": tuple(brier_score([0.9, 0.8, 0.2, 0.1], judged) for judged in JUDGED),
    "calibration_error": tuple(calibration_error(reliability([0.9, 0.8, 0.2, 0.1], judged)) for judged in JUDGED),
    "perplexity": tuple(perplexity([-2.0, -9.0], [3, 3])),
    **dict.fromkeys(("bits_per_byte", "bits_per_character"), tuple(bits_per([-2.0, -9.0], [3, 3]))),
    "sentbleu": tuple(sentence_bleu([["猫が鳴いた。"]] * 2, ["猫が鳴いた。", "犬が走る。"])),
    "chrf": tuple(chrf([["猫が鳴いた。"]] * 2, ["猫が鳴いた。", "犬が走る。"])),
    "benchmark_score": tuple(
        held_against(read_benchmark([("t.csv", b"model,accuracy,recall\nwell,0.9,0.8\nbadly,0.2,0.1\n")]), [model])
        .models["score"]
        .item()
        for model in ("well", "badly")
    ),
    "vector_cosine": tuple(vector_cosines([[1.0, 2.0]] * 2, [[1.0, 2.1], [2.0, 1.0]])),
    **{
        score.card: tuple(
            normalized(
                [-2.0, -9.0],
                [3, 3],
                which,
                characters=[5, 5],
                bytes=[5, 5],
                unigrams=[-4.0, -4.0],
                beta=0.5,
                gamma=1.0,
                boundaries=[-0.5, -0.5],
                words=[2, 2],
                in_template=[-2.0, -9.0],
                yes_no=[1.5, -0.5],
                votes=[side.item() for side in votes([[-2.0], [1.5], [-3.0]], [[-9.0], [-0.5], [-1.0]])],
            )
        )
        for which, score in NORMALIZATIONS.items()
    },
}


def test_every_direction_has_its_evidence() -> None:
    assert set(WELL_AND_BADLY) == {key for key, card in CARDS.items() if card.better != "neither"}


@pytest.mark.parametrize("key", sorted(CARDS))
def test_a_card_is_complete(key: str) -> None:
    card = CARDS[key]
    assert card.key == key
    for field in dataclasses.fields(MeasureCard):
        value = getattr(card, field.name)
        if field.name == "digits":
            assert value is None or 0 <= value <= 4
            continue
        assert value == value.strip()
        assert value or field.name in MAY_BE_EMPTY, f"{key} has no {field.name}"
    assert card.better in ("lower", "higher", "neither")
    assert card.question.count("?") >= 1
    assert card.range[0] in "[("


def test_names_and_symbols_are_told_apart() -> None:
    for field in ("name", "symbol", "formula", "question"):
        assert len({getattr(card, field) for card in CARDS.values()}) == len(CARDS)


@pytest.mark.parametrize("key", sorted(key for key in CARDS if CARDS[key].better != "neither"))
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
