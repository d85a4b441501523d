"""What the runs of the classification check add up to: by model, class, pair of classes and sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from engine.evaluations.classification.records import CLASSES, COMPARISONS, CONFUSION
from engine.evaluations.shared.rank_ranges import apart, range_columns
from engine.measures.classification import confusion_counts, majority_baseline
from engine.measures.statistics.intervals import wilson_interval
from engine.measures.statistics.paired_difference import paired_difference
from engine.measures.statistics.rank_groups import rank_groups, rank_ranges


@dataclass(frozen=True)
class Outcome:
    """One run on one model's vectors: which sentences were the test (n_kept,), and what was said of them (n_test,)."""

    model: str
    seed: int
    test: np.ndarray
    predicted: np.ndarray
    train_accuracy: float


def model_table(runs: pd.DataFrame, labels: Sequence[str], splits: Sequence[np.ndarray]) -> pd.DataFrame:
    """`Result.models`: minimum, maximum and mean accuracy of each model over its runs.

    The interval is that of one run's test sentences: more runs on them take off the chance of the training, and add
    no sentences.
    """
    by_model = runs.groupby("model", sort=False)["accuracy"]
    n_test = int(splits[0].sum())
    baselines = [
        majority_baseline(
            *[
                [label for label, is_test in zip(labels, split, strict=True) if is_test == part]
                for part in (False, True)
            ]
        )
        for split in splits
    ]
    # By the answers that are right in all runs, which are whole numbers: means of shares differ in their last digit
    # where these are equal, and then one of two models would rank above the other.
    means = by_model.agg(lambda shares: np.rint(shares * n_test).sum() / (len(shares) * n_test))
    low, high = wilson_interval(means.to_numpy() * n_test, np.full(len(means), n_test))
    table = pd.DataFrame(
        {
            "model": list(means.index),
            "n_train": len(labels) - n_test,
            "n_test": n_test,
            "accuracy_min": by_model.min().to_numpy(),
            "accuracy_max": by_model.max().to_numpy(),
            "accuracy_mean": means.to_numpy(),
            "ci_low": low,
            "ci_high": high,
            "baseline": float(np.mean(baselines)),
        }
    )
    table["rank"] = table["accuracy_mean"].rank(method="min", ascending=False).astype("Int64")
    table["n_classes"] = len(set(labels))
    return table


def confusion_table(outcomes: Sequence[Outcome], codes: np.ndarray, classes: Sequence[str]) -> pd.DataFrame:
    """`Result.confusion`: how often each class was called what, over all runs; only what ever happened."""
    rows = [
        (model, classes[true], classes[predicted], int(counts[true, predicted]))
        for model, counts in _counts(outcomes, codes, len(classes)).items()
        for true, predicted in zip(*np.nonzero(counts), strict=True)
    ]
    return CONFUSION.frame(rows)


def class_table(outcomes: Sequence[Outcome], codes: np.ndarray, classes: Sequence[str]) -> pd.DataFrame:
    """`Result.classes`: each class's own accuracy over all runs."""
    # Each class is tested, and as many of it in every run, whichever they are.
    n_test, n_all = np.bincount(codes[outcomes[0].test]), np.bincount(codes)
    rows = []
    for model, counts in _counts(outcomes, codes, len(classes)).items():
        asked, right = counts.sum(axis=1), counts.diagonal()
        rows += [
            (
                model,
                label,
                int(n_all[i] - n_test[i]),
                int(n_test[i]),
                int(asked[i]),
                int(right[i]),
                float(right[i] / asked[i]),
            )
            for i, label in enumerate(classes)
        ]
    return CLASSES.frame(rows)


def sentence_table(
    outcomes: Sequence[Outcome], codes: np.ndarray, classes: Sequence[str], rows: Sequence[int], texts: Sequence[str]
) -> pd.DataFrame:
    """`Result.sentences`: each sentence that was ever tested, how often it was right, and what it was called most."""
    tables = []
    for model in dict.fromkeys(outcome.model for outcome in outcomes):
        own = [outcome for outcome in outcomes if outcome.model == model]
        sentences = np.concatenate([np.flatnonzero(outcome.test) for outcome in own])  # (n_asked,), over the runs
        predicted = np.concatenate([outcome.predicted for outcome in own])
        answers = pd.DataFrame({"sentence": sentences, "predicted": predicted, "right": predicted == codes[sentences]})
        by_sentence = answers.groupby("sentence")
        # The smallest of the classes predicted most often, where several are.
        most = (
            answers.groupby(["sentence", "predicted"])
            .size()
            .reset_index(name="n")
            .sort_values(["sentence", "n", "predicted"], ascending=[True, False, True])
            .drop_duplicates("sentence")
        )
        tested = most["sentence"].to_numpy()
        tables.append(
            pd.DataFrame(
                {
                    "model": model,
                    "row": [rows[i] for i in tested],
                    "text": [texts[i] for i in tested],
                    "class": [classes[codes[i]] for i in tested],
                    "n_asked": by_sentence.size().to_numpy(),
                    "n_correct": by_sentence["right"].sum().to_numpy(),
                    "predicted": [classes[i] for i in most["predicted"]],
                }
            )
        )
    return pd.concat(tables, ignore_index=True)


def comparison_table(outcomes: Sequence[Outcome], codes: np.ndarray, models: Sequence[str]) -> pd.DataFrame:
    """`Result.comparisons`: each pair of models once, compared answer by answer."""
    answers = {
        model: np.concatenate(
            [outcome.predicted == codes[outcome.test] for outcome in outcomes if outcome.model == model]
        )
        for model in models
    }
    # Every model was asked the same, in the same order.
    own = [outcome for outcome in outcomes if outcome.model == models[0]]
    items = np.concatenate([np.flatnonzero(outcome.test) for outcome in own])
    runs = np.concatenate([np.full(int(outcome.test.sum()), outcome.seed) for outcome in own])
    rows = []
    for first, second in combinations(models, 2):
        comparison = paired_difference(answers[first], answers[second], items, runs)
        rows.append((first, second, comparison.difference, comparison.ci_low, comparison.ci_high, comparison.separable))
    return COMPARISONS.frame(rows)


def grouped(models: pd.DataFrame, comparisons: pd.DataFrame) -> pd.DataFrame:
    """`Result.models` with the columns rank_group, rank_first and rank_last, from the comparisons of every two models."""
    differ = apart(models["model"], comparisons)
    return models.assign(
        rank_group=rank_groups(-models["accuracy_mean"].to_numpy(), differ),
        **range_columns(rank_ranges(models["rank"].to_numpy(dtype=np.float64), differ)),
    )


def _counts(outcomes: Sequence[Outcome], codes: np.ndarray, n_classes: int) -> dict[str, np.ndarray]:
    """By model the confusion matrix (n_classes, n_classes), summed over its runs."""
    counts: dict[str, np.ndarray] = {}
    for outcome in outcomes:
        confusion = confusion_counts(codes[outcome.test], outcome.predicted, n_classes)
        counts[outcome.model] = counts[outcome.model] + confusion if outcome.model in counts else confusion
    return counts
