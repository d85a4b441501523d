"""The finding of a result: a sentence for each branch, in both languages, that agrees with the tests it is made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.evaluations.catalog import CLUSTERS, EVALUATIONS, MINIMAL_PAIRS
from engine.evaluations.comparison.compare import compare
from engine.evaluations.comparison.finding import finding as of_comparison
from engine.evaluations.comparison.records import Side
from engine.evaluations.minimal_pairs import comparison, views
from engine.evaluations.minimal_pairs.kinds.pair_findings import _other_order
from engine.evaluations.minimal_pairs.records import PairScoring, PairView
from engine.evaluations.shared.finding import (
    FEWEST,
    Contest,
    Contrast,
    Standing,
    contrasts_of,
    finding_of,
    p_value,
    spoken,
)
from engine.evaluations.shared.vectors.sentence_vectors import vector_notices
from engine.measures.cards.card import Better
from engine.measures.statistics.paired_tests import mcnemar
from engine.messages.languages import in_language, translated
from engine.messages.message import Message, of_text
from tests.support.cluster_results import result_of
from tests.support.minimal_results import synthetic

APART = Contrast(0.10, 0.03, 0.17, 0.004, 1, is_separable=True)
ALIKE = Contrast(0.02, -0.05, 0.09, 0.61, 1, is_separable=False)


def contest(
    values: Sequence[float], contrasts: Sequence[Contrast], n: int = 100, better: Better = "higher", **others: object
) -> Contest:
    """Models a, b, c … with these values; contrasts: of the first with each of the others."""
    names = "abcdef"[: len(values)]
    return Contest(
        Message("mean accuracy"),
        better,
        n,
        "pair",
        [Standing(name, value, value - 0.05, value + 0.05) for name, value in zip(names, values, strict=True)],
        {(names[0], name): contrast for name, contrast in zip(names[1:], contrasts, strict=False)},
        **others,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("given", "english", "japanese"),
    [
        (contest([0.8], []), "a: mean accuracy 80.0% [75.0, 85.0] over 100 pairs.", "aの平均正解率は80.0%"),
        (
            contest([0.8, 0.7], [APART]),
            "a is better than b: mean accuracy 80.0% [75.0, 85.0] against 70.0% over 100 pairs, difference "
            "+10.0 points [+3.0, +17.0], p = 0.004.",
            "aはbより有意に優れています",
        ),
        (
            contest([0.7, 0.72], [ALIKE.turned()]),
            "b and a are not distinguishable: mean accuracy 72.0% [67.0, 77.0] against 70.0% over 100 pairs, difference "
            "+2.0 points [−5.0, +9.0], p = 0.610.",
            "bとaの差は有意ではありません",
        ),
        (
            contest([0.8, 0.7, 0.6], [APART, APART]),
            "a is better than each of the other 2 models: mean accuracy 80.0% [75.0, 85.0] over 100 pairs; next is b",
            "aはほかの2モデルのいずれよりも有意に優れています",
        ),
        (
            contest([0.8, 0.79, 0.6], [ALIKE, APART]),
            "a leads, but is not distinguishable from b: mean accuracy 80.0% [75.0, 85.0] over 100 pairs, difference from b",
            "bとの差は有意ではありません",
        ),
        (
            # a wider interval can hide the difference from the worse of two
            contest([0.8, 0.7, 0.69], [APART, ALIKE]),
            "but is not distinguishable from c: mean accuracy 80.0% [75.0, 85.0] over 100 pairs, difference from c",
            "cとの差は有意ではありません",
        ),
        (contest([0.8, 0.8], [ALIKE]), "a, b tie: mean accuracy 80.0% each, over 100 pairs.", "a、bは同点です"),
        (contest([math.nan, math.nan], []), "No model has a value: mean accuracy is undefined.", "定義されません"),
        (contest([0.8, math.nan], []), "over 100 pairs. Undefined for b.", "bでは定義されません。"),
        (
            contest([1.0, 0.0], [APART], n=FEWEST - 1),
            "5 pairs: too few to tell models apart, at least 6 are needed. a 100.0%, b 0.0%.",
            "少なすぎます",
        ),
        (
            contest([0.8, 0.7], []),
            "a has the highest mean accuracy, 80.0% [75.0, 85.0], before b with 70.0%, over 100 pairs; the difference "
            "was not tested.",
            "差は検定していません",
        ),
        (
            contest([3.25, 4.5], [replace(APART, difference=-1.25, low=-2, high=-0.5, p=math.nan)], better="lower")
            and replace(
                contest([3.25, 4.5], [replace(APART, difference=-1.25, low=-2, high=-0.5, p=math.nan)], better="lower"),
                is_share=False,
                digits=2,
            ),
            "a is better than b: mean accuracy 3.25 [3.20, 3.30] against 4.50 over 100 pairs, difference −1.25 [−2.00, "
            "−0.50].",
            "差 −1.25 [−2.00, −0.50]",
        ),
        (contest([0.8, 0.7], [APART], better="neither"), "a is above b: mean accuracy", "有意に高い値です"),
        (contest([0.8, 0.7], [APART], n_left_out=3), "p = 0.004. Left out: 3 rows.", "除外: 3行。"),
        (
            contest([0.8, 0.7], [replace(APART, p=0.00001, n_tests=3)]),
            "[+3.0, +17.0], p < 0.001, Holm over 3 tests.",
            "p < 0.001、3検定のホルム法による補正",
        ),
    ],
)
def test_each_branch_is_a_sentence_in_both_languages(given: Contest, english: str, japanese: str) -> None:
    found = finding_of(given)
    assert english in found
    shown = found.in_language("ja")
    assert japanese in shown and not any(word in shown for word in ("distinguishable", "better", "difference"))


@pytest.mark.parametrize(
    ("contrast", "shown"),
    [
        (Contrast(0.1, 0.03, 0.17, 0.06, 3), "difference +10.0 points, p = 0.060, Holm over 3 tests."),
        (Contrast(0.1, -0.01, 0.21, 0.049, is_separable=True), "difference +10.0 points, p = 0.049."),
        (Contrast(0.1, -0.01, 0.21, 0.06), "difference +10.0 points [−1.0, +21.0], p = 0.060."),
        (Contrast(0.1, 0.03, 0.17, is_separable=True), "difference +10.0 points [+3.0, +17.0]."),
    ],
)
def test_an_interval_that_contradicts_its_test_is_not_shown_beside_it(contrast: Contrast, shown: str) -> None:
    assert str(finding_of(contest([0.8, 0.7], [contrast]))).endswith(shown)


def test_five_pairs_can_never_be_significant_and_six_can() -> None:
    right, wrong = np.ones(FEWEST, dtype=bool), np.zeros(FEWEST, dtype=bool)
    assert mcnemar(right[1:], wrong[1:]).p_value > 0.05 >= mcnemar(right, wrong).p_value


def test_a_finding_survives_being_stored_as_text() -> None:
    from engine.messages.message import as_text

    found = finding_of(contest([0.8, 0.7], [APART]))
    again = of_text(as_text(found))
    assert again == found and again.in_language("ja") == found.in_language("ja")  # type: ignore[attr-defined]


def test_models_are_called_by_the_last_part_of_their_paths_where_that_tells_them_apart() -> None:
    assert spoken(["/srv/a/ours", "/srv/b/theirs"]) == {"/srv/a/ours": "ours", "/srv/b/theirs": "theirs"}
    same = ["/srv/a/ours", "/srv/b/ours"]
    assert spoken(same) == dict(zip(same, same, strict=True))
    labelled = ["builtin/bert-mini-ja", "bert-mini-ja=builtin/gpt2-mini-ja"]
    assert list(spoken(labelled).values()) == ["builtin/bert-mini-ja", "bert-mini-ja"]
    assert p_value(0.05) == "p = 0.050"


@pytest.mark.parametrize("seed", range(4))
def test_the_finding_of_minimal_pairs_says_what_its_tables_say(seed: int) -> None:
    random = np.random.default_rng(seed)
    result = synthetic(
        int(random.choice([3, 40, 400])), models=("m", "n", "o")[: int(random.integers(1, 4))], seed=seed
    )
    shown = PairView(str(random.choice(["LP", "PenLP", "MeanLP"])), PairScoring(subset="all pairs"))
    found = MINIMAL_PAIRS.finding(result, shown) if MINIMAL_PAIRS.finding else ""
    ranking = comparison.ranking(result, shown.normalization)
    best = ranking.iloc[0]
    assert f"{best['accuracy']:.1%}" in found
    tests = contrasts_of(comparison.comparisons(result, shown.normalization), "p_holm")
    if len(ranking) > 1 and best["n"] >= FEWEST:
        of_best = [test for models, test in tests.items() if best["model"] in models]
        says_better = "better than" in found
        assert says_better == all(test.is_separable for test in of_best)
        assert ("not distinguishable" in found or " tie: " in found) != says_better
    summary = views.summary(result, (shown.normalization,)).set_index(["model", "stratum"])["accuracy"]
    if "Length misleads" in found:
        model = (
            found.split("Length misleads ")[1]
            .split(":")[0]
            .removesuffix(" strongly")
            .split(", ")[-1]
            .removesuffix(" for example")
        )
        assert f"right in {summary[model, 'A<U']:.1%}" in found and f"in {summary[model, 'A>U']:.1%}" in found


def test_a_model_that_is_always_right_is_said_to_be() -> None:
    result = synthetic(40, models=("m",))
    pairs = result.pairs.assign(acceptable_log_likelihood=-1.0, unacceptable_log_likelihood=-9.0, identical=False)
    found = EVALUATIONS["minimal-pairs"].finding(replace(result, pairs=pairs))  # type: ignore[misc]
    assert "m: accuracy by LP 100.0%" in found and "Every pair is decided right by m" in found


def test_the_finding_of_clusters_names_who_is_not_ranked_and_who_separates_nothing() -> None:
    result = result_of(models=("owner/first", "owner/second"))
    assert "owner/first is better than owner/second: dispersion score M_m" in CLUSTERS.finding(result)  # type: ignore[misc]
    tied = result_of(separable=False)
    tied = replace(tied, comparisons=tied.comparisons.assign(separable=False))
    assert "owner/first and owner/second are not distinguishable" in CLUSTERS.finding(tied)  # type: ignore[misc]
    no_better = replace(result, null=result.null.assign(p_value=0.4))
    assert "No evidence that the classes are apart" in CLUSTERS.finding(no_better)  # type: ignore[misc]
    one_rank = result.models.assign(rank=pd.array([1, None], dtype="Int64"))
    found = CLUSTERS.finding(replace(result, models=one_rank))  # type: ignore[misc]
    assert found.startswith("owner/first: dispersion score M_m") and "Not ranked" in found and "owner/second" in found


def test_a_comparison_has_the_words_of_the_page_and_the_numbers_of_its_table() -> None:
    result = synthetic(400, models=("m", "n"))
    found = compare("minimal-pairs", Side("Left: m", result, "m"), Side("Right: n", result, "n"))
    said = of_comparison("minimal-pairs", found, ("m", "n"))
    row = found.numbers.iloc[0]
    better = "better than" if row["p_value"] < 0.05 else "not distinguishable"
    assert better in said and f"{row['first']:.1%}" in said and f"{row['second']:.1%}" in said
    assert ("tie" in said) == (row["first"] == row["second"])
    # whichever is better, with the sign of the table beside it
    assert f"(left − right) {100 * row['difference']:+.1f} points".replace("-", "−") in said
    turned = compare("minimal-pairs", Side("Left: n", result, "n"), Side("Right: m", result, "m"))
    assert f"(left − right) {-100 * row['difference']:+.1f}".replace("-", "−") in of_comparison(
        "minimal-pairs", turned, ("n", "m")
    )
    undefined = replace(found, numbers=found.numbers.assign(first=np.nan, second=np.nan, reason="No pair is left."))
    said = of_comparison("minimal-pairs", undefined, ("m", "n"))
    assert said == "No model has a value: accuracy is undefined. No pair is left."


def test_numbers_do_not_contradict_the_sentence_that_they_stand_in() -> None:
    """p just below 0.05 is not shown as 0.05, nor an end that is no 0 as 0 where 0 is left out."""
    assert [p_value(p) for p in (0.0496, 0.05, 0.0494)] == ["p < 0.05", "p = 0.050", "p = 0.049"]
    close = Contrast(0.0009, 0.0002, 0.0016, 0.012, 1, is_separable=True)
    assert "difference +0.09 points [+0.02, +0.16], p = 0.012" in finding_of(contest([0.8009, 0.8], [close]))
    alike = replace(close, low=-0.0002, is_separable=False, p=0.4)
    assert "difference +0.1 points [0.0, +0.2], p = 0.400" in finding_of(contest([0.8009, 0.8], [alike]))


def test_a_model_is_not_ahead_by_what_the_numbers_do_not_show() -> None:
    """The second model is right in 10,001 of 20,000 pairs of equal length, the best in 10,000."""
    n = {"A<U": 20_000, "A=U": 20_000, "A>U": 20_000}
    accuracies = {("a", name): (of, 0.5) for name, of in n.items()} | {("b", name): (of, 0.4) for name, of in n.items()}
    names = {"a": "a", "b": "b"}
    ahead = accuracies | {("b", "A=U"): (20_000, 10_001 / 20_000)}
    assert _other_order(ahead, "a", "b", names) == []
    (told,) = _other_order(accuracies | {("b", "A=U"): (20_000, 0.501)}, "a", "b", names)
    assert "b is ahead, 50.1% against 50.0%" in told


def test_the_ways_of_vectors_are_told_in_the_readers_language() -> None:
    described = {"a": Message("{n} dimensions", n=256), "b": Message("as published ({description})", description="x")}
    (notice,) = vector_notices(described)
    assert "(a: 256 dimensions; b: as published (x))" in notice
    with in_language("ja"):
        assert "a: 256次元、b: 公開時" in translated(notice)
