"""The challenge's numbers of a result, each beside the one that Hakari counts from the same scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs.babylm.tasks import EVEN, Item, Part, parts_of
from engine.evaluations.minimal_pairs.judgements import SIDES
from engine.evaluations.minimal_pairs.records import MARKED, Result
from engine.evaluations.minimal_pairs.regions import of_region, regions_of
from engine.evaluations.minimal_pairs.views import by_model
from engine.evaluations.shared.common_columns import MODEL, interval
from engine.evaluations.shared.declared_tables import Column, Table, measured, returns
from engine.measures.statistics.correlations.correlation import spearman
from engine.measures.statistics.intervals import wilson_interval
from engine.messages.message import Message

Scores = NDArray[np.float64]
# The splits of entity tracking, whose subsets are averaged first.
SPLITS = ("regular", "ambiref", "move_contents")
WHOLE_SENTENCES, COMPLETIONS = "sentence", "completion"

BABYLM = Table(
    "babylm",
    Message("A row for each task of the BabyLM challenge under each model: the challenge's number beside ours."),
    (
        MODEL,
        Column("task", "text", "the task, as the challenge names it"),
        Column("folder", "text", "the folder of its data"),
        Column(
            "scored",
            "text",
            Message(
                "{whole}, or {part}: what follows the context, given the context",
                whole=WHOLE_SENTENCES,
                part=COMPLETIONS,
            ),
        ),
        Column("n", "integer", "items that the model scored with all their options", "items"),
        Column("n_unscored", "integer", "items that it did not", "items"),
        Column("n_subsets", "integer", "subsets of the task", "subsets"),
        Column(
            "challenge",
            "number",
            "as the challenge counts: the mean of the accuracies of the subsets, a tie is right; of wug_adj and wug_past "
            "Spearman's correlation of the probability of the first form with the share of people who choose it",
            better="higher",
            digits=3,
        ),
        Column(
            "n_correct",
            "integer",
            "items whose right option has a higher score than all others; of wug_adj and wug_past the form that more "
            "people choose",
            "items",
            "higher",
        ),
        Column("n_tied", "integer", "items in which another option has the score of the right one", "items"),
        measured("accuracy", meaning="n_correct / n: over all items, a tie is not right"),
        *interval(Message("Wilson's")),
    ),
    only_with_rows=True,
    since="0.3.0",
)


@returns(BABYLM)
def babylm(result: Result, dataset: MinimalPairs) -> pd.DataFrame:
    """The tasks of the challenge in the data of a result, by log-likelihoods without normalisation; no row for none."""
    parts = parts_of(dataset)
    rows = [
        {
            "model": model,
            "task": part.task,
            "folder": part.folder,
            "scored": COMPLETIONS if part.of_completions else WHOLE_SENTENCES,
            "n_subsets": len(part.uids),
            **_counted(part, option_scores(part, sums)),
        }
        for model, sums in (sums_by_model(result, dataset) if parts else {}).items()
        for part in parts
    ]
    return BABYLM.frame_of_records(rows)


def sums_by_model(result: Result, dataset: MinimalPairs) -> dict[str, dict[bool, Scores]]:
    """Of each model the log-likelihoods of both sentences of every pair, nan where there is none: (n_pairs, 2).

    By whether what follows the context is scored alone.
    """
    marked = of_region(result, MARKED) if MARKED in regions_of(result) else None
    found = {model: {False: _sums(pairs, dataset.n)} for model, pairs in by_model(result)}
    for model, pairs in by_model(marked) if marked else ():
        found[model][True] = _sums(pairs, dataset.n)
    empty = np.full((dataset.n, 2), np.nan)
    return {model: {True: empty} | of_model for model, of_model in found.items()}


def option_scores(part: Part, sums: Mapping[bool, Scores]) -> Scores:
    """The log-likelihood of each option of every item of a part: (n_items, most_options).

    Of an option that an item does not have -inf, of one without a score nan. In float32, as the challenge holds them.
    """
    of_part = sums[part.of_completions].astype(np.float32).astype(np.float64)
    pairs, sides = np.moveaxis(part.places, -1, 0)
    return np.where(pairs < 0, -np.inf, of_part[pairs, sides])


def chosen(scores: Scores) -> NDArray[np.int64]:
    """The option of each item that the challenge takes as predicted: the first of those with the highest score.

    >>> chosen(np.array([[-2.0, -1.0, -1.0], [-1.0, -1.0, -np.inf]])).tolist()
    [1, 0]
    """
    return np.asarray(np.argmax(scores, axis=1), dtype=np.int64)


def probability_of_first(scores: Scores) -> NDArray[np.float32]:
    """The softmax of the first option over all of each item, in the steps and the precision of the challenge.

    What it writes may differ in the last digit of float32, as that of two of its machines may: torch's exponential
    function is not the same on all of them.

    >>> probability_of_first(np.array([[-1.0, -1.0]])).tolist()
    [0.5]
    """
    of_items = scores.astype(np.float32)
    less = of_items - of_items.max(axis=1, keepdims=True)
    exponentials = np.exp(less.astype(np.float64)).astype(np.float32)
    return np.asarray(exponentials[:, 0] * (np.float32(1) / exponentials.sum(axis=1, dtype=np.float32)))


def is_scored(scores: Scores) -> NDArray[np.bool_]:
    """Whether each item has a score of all its options."""
    return ~np.asarray(np.isnan(scores).any(axis=1))


def _sums(pairs: pd.DataFrame, n: int) -> Scores:
    sums = np.full((n, 2), np.nan)
    sums[pairs["item"].to_numpy()] = pairs[[f"{side}_log_likelihood" for side in SIDES]].to_numpy(dtype=np.float64)
    return sums


def _counted(part: Part, scores: Scores) -> dict[str, object]:
    there = is_scored(scores)
    items = [part.items[place] for place in np.flatnonzero(there)]
    scores, n = scores[there], int(there.sum())
    # Of two forms the right one is that which more people choose.
    right = np.array([int(item.ratio is not None and item.ratio < EVEN) for item in items], dtype=np.int64)
    every = np.arange(n)
    own, others = scores[every, right], scores.copy()
    others[every, right] = -np.inf
    best_of_others = others.max(axis=1, initial=-np.inf)
    n_correct = int((own > best_of_others).sum())
    low, high = wilson_interval(n_correct, n)
    return {
        "n": n,
        "n_unscored": len(part.items) - n,
        "challenge": _correlation(items, scores) if part.is_ratio else _macro_accuracy(items, scores),
        "n_correct": n_correct,
        "n_tied": int((own == best_of_others).sum()),
        "accuracy": n_correct / n if n else np.nan,
        "ci_low": low,
        "ci_high": high,
    }


def _correlation(items: Sequence[Item], scores: Scores) -> float:
    ratios = [np.nan if item.ratio is None else item.ratio for item in items]
    return spearman(probability_of_first(scores).astype(np.float64), ratios).value if items else np.nan


def _macro_accuracy(items: Sequence[Item], scores: Scores) -> float:
    if not items:
        return np.nan
    frame = pd.DataFrame({"uid": [item.uid for item in items], "right": chosen(scores) == 0})
    accuracies = frame.groupby("uid", sort=False)["right"].mean()
    splits = [accuracies[accuracies.index.str.startswith(split)] for split in SPLITS]
    of_splits = [float(of_split.mean()) for of_split in splits if len(of_split)]
    is_split = sum(map(len, splits)) == len(accuracies)
    return float(np.mean(of_splits)) if is_split else float(accuracies.mean())
