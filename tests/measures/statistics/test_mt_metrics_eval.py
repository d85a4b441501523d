"""System ranking against the algorithms and numbers of mt-metrics-eval (pce.py, tau_optimization.py), on WMT 2022."""

from __future__ import annotations

import csv
import sys
from itertools import combinations

import numpy as np
import pytest

from engine.measures.statistics.system_ranking import pairwise_p_values, system_agreement
from engine.measures.statistics.tie_calibration import tie_calibrated_accuracy
from engine.measures.surface import surface_scores
from tests.support.shared_data import shared_data

NAN = np.nan
# Japanese to English, 14 systems and 140 segments that people scored of all of them: SPA and acc_eq as the loops below
# give them, with sacrebleu 2.6.0.
GOLDEN = {"sentbleu": (0.743692, 0.507928), "chrf": (0.740890, 0.527237)}


@pytest.fixture(scope="module")
def wmt() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Human z-scores and the scores of each metric, all (14, 140).

    Of segments with a human score for every system; of those with one reference, the first.
    """
    folder = shared_data("wmt22_ja_en")
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    with (folder / "human.tsv").open(encoding="utf-8", newline="") as file:
        z = {(row["system"], row["segment"]): float(row["z"]) for row in csv.DictReader(file, delimiter="\t")}
    with (folder / "segments.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    systems = [name for name in rows[0] if name not in {"segment", "source", "reference"}]
    judged: dict[str, dict[str, str]] = {}
    for row in rows:
        if all((name, row["segment"]) in z for name in systems):
            judged.setdefault(row["reference"], row)
    chosen = list(judged.values())
    human = np.array([[z[name, row["segment"]] for row in chosen] for name in systems])
    flat = surface_scores([(row[name], row["reference"]) for name in systems for row in chosen], "13a")
    return human, {metric: values.reshape(human.shape) for metric, values in flat.items()}


def plain_p_values(scores: np.ndarray) -> list[float]:
    """The algorithm of pce.py: one draw of signs for all pairs of systems, sums in single precision."""
    signs = np.rint(np.random.default_rng(4).random((1000, scores.shape[1]), dtype=np.float32)) * 2 - 1
    single = scores.astype(np.float32)
    resampled, totals = signs @ single.T, single.sum(axis=1)
    return [
        float(np.mean(resampled[:, i] - resampled[:, j] >= totals[i] - totals[j]))
        for i, j in combinations(range(len(scores)), 2)
    ]


def walked_thresholds(human: np.ndarray, metric: np.ndarray) -> tuple[float, float]:
    """tau_optimization.py with acc23, all pairs: from the smallest gap on one pair after the other becomes a tie."""
    right: dict[int, list[bool]] = {}
    gaps: list[tuple[float, int, int, bool]] = []
    for segment, (golds, values) in enumerate(zip(human.T, metric.T, strict=True)):
        known = [i for i in range(len(golds)) if not np.isnan(golds[i] + values[i])]
        for i, j in combinations(known, 2):
            of_segment = right.setdefault(segment, [])
            gaps.append((abs(values[i] - values[j]), segment, len(of_segment), bool(golds[i] == golds[j])))
            of_segment.append(bool(np.sign(golds[i] - golds[j]) == np.sign(values[i] - values[j])))

    best, threshold = np.mean([np.mean(of_segment) for of_segment in right.values()]), 0.0
    accuracy, ordered = best, sorted(gaps)
    for place, (gap, segment, pair, tied) in enumerate(ordered):
        accuracy += (tied - right[segment][pair]) / len(right[segment]) / len(right)
        last = place + 1 == len(ordered) or ordered[place + 1][0] > gap
        if last and accuracy > best + 1e-12:
            best, threshold = accuracy, gap
    return float(best), float(threshold)


@pytest.mark.parametrize("metric", GOLDEN)
def test_soft_pairwise_accuracy_on_wmt(wmt: tuple[np.ndarray, dict[str, np.ndarray]], metric: str) -> None:
    human, values = wmt[0], wmt[1][metric]
    assert human.shape == values.shape == (14, 140)
    expected = 1 - np.mean(np.abs(np.subtract(plain_p_values(human), plain_p_values(values))))
    found = system_agreement(human, values).soft_pairwise_accuracy
    assert found == pytest.approx(expected, abs=1e-9)
    assert found == pytest.approx(GOLDEN[metric][0], abs=5e-7)
    for scores in (human, values):
        np.testing.assert_allclose(pairwise_p_values(scores), plain_p_values(scores), atol=1e-12)


@pytest.mark.parametrize("metric", ["sentbleu", "chrf"])
def test_the_error_of_soft_pairwise_accuracy_is_its_spread_over_seeds(
    wmt: tuple[np.ndarray, dict[str, np.ndarray]], metric: str
) -> None:
    human, metrics = wmt
    drawn = [system_agreement(human, metrics[metric], seed=seed) for seed in range(60)]
    spread = np.std([agreement.soft_pairwise_accuracy for agreement in drawn], ddof=1)
    # 60 draws know a standard deviation to about 9%.
    assert drawn[0].soft_pairwise_error == pytest.approx(spread, rel=0.3)


@pytest.mark.parametrize("metric", GOLDEN)
def test_tie_calibration_on_wmt(wmt: tuple[np.ndarray, dict[str, np.ndarray]], metric: str) -> None:
    human, values = wmt[0], wmt[1][metric]
    accuracy, threshold = walked_thresholds(human, values)
    found = tie_calibrated_accuracy(human, values)
    assert found.accuracy == pytest.approx(accuracy, abs=1e-12) and found.threshold == threshold
    assert found.accuracy == pytest.approx(GOLDEN[metric][1], abs=5e-7)
    assert (found.n_segments, found.n_pairs) == (140, 140 * 91)


def test_tie_calibration_on_wmt_without_some_scores(wmt: tuple[np.ndarray, dict[str, np.ndarray]]) -> None:
    human, values = wmt[0], wmt[1]["chrf"]
    missing = np.where(np.random.default_rng(0).random(human.shape) < 0.3, NAN, human)
    accuracy, threshold = walked_thresholds(missing, values)
    found = tie_calibrated_accuracy(missing, values)
    assert found.accuracy == pytest.approx(accuracy, abs=1e-12) and found.threshold == threshold


# tau_optimization_test.py of mt-metrics-eval: rows are segments there, None is missing.
@pytest.mark.parametrize(
    ("metric", "human", "accuracy", "threshold"),
    [
        ([[0, 2, 6, 8]], [[1, 2, 3, 4]], 1.0, 0),
        ([[0, 2, 6, 8]], [[1, 1, 1, 4]], 4 / 6, 4),
        (
            [[0, 5, 2, 3, 2], [NAN, 2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 4, 1], [NAN] * 5],
            [[1, 5, 2, 1, 1], [4, 2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, NAN, 3, 2], [NAN] * 5],
            0.4916666666666668,
            1,
        ),
    ],
)
def test_tie_calibration_has_the_numbers_of_the_authors_tests(
    metric: list[list[float]], human: list[list[float]], accuracy: float, threshold: float
) -> None:
    found = tie_calibrated_accuracy(np.transpose(human), np.transpose(metric))
    assert found.accuracy == pytest.approx(accuracy, abs=1e-15) and found.threshold == threshold
