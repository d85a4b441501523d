"""How sure an accuracy, or a difference of two, is over clusters of pairs, and what a reader must know of the interval.

One estimator for every table: `share_over` for an accuracy, `shares_over` for those of many cells, `macro_over` for a
macro average, `tested_over` for two accuracies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.evaluations.shared.declared_tables import Column
from engine.evaluations.shared.few_clusters import FEW, note_of
from engine.language.quantities import count
from engine.measures.statistics.clustered import (
    FEW_CLUSTERS,
    FEWEST_CLUSTERS,
    clustered_difference,
    clustered_share,
    detectable_difference,
    mean_share,
)
from engine.measures.statistics.intervals import wilson_interval
from engine.measures.statistics.paired_tests import holm, mcnemar
from engine.messages.message import Message

SIGNIFICANT = 0.05
ONE_CLUSTER = Message("one cluster: for it alone")
TOO_FEW_VALUES, FEW_VALUES = Message("too few values"), Message("few values: a rough interval")
NO_SPREAD = Message("no spread between clusters")

CLUSTERED_BY = Column(
    "clustered_by",
    "text",
    'the column whose values are the clusters of pairs; "" where the pairs are taken as independent',
)
N_CLUSTERS = Column("n_clusters", "integer", "clusters of pairs", "clusters of pairs")
NOTE = Column(
    "note",
    "text",
    Message(
        "what the interval rests on, or why there is none: no interval below "
        '{FEWEST_CLUSTERS} clusters, a rough one below {FEW_CLUSTERS}; "" where there '
        "is nothing to say",
        FEWEST_CLUSTERS=FEWEST_CLUSTERS,
        FEW_CLUSTERS=FEW_CLUSTERS,
    ),
)
OVER = (CLUSTERED_BY, N_CLUSTERS, NOTE)
ACCURACY_INTERVAL = Message(
    "Wilson's, or Korn and Graubard's over clusters where a column of them is named; NaN for too few"
)
MACRO_NOTE = Column(
    "macro_note", "text", "the same of the macro average, whose clusters are the values of the last level"
)


def cluster_codes(values: pd.Series) -> NDArray[np.intp]:
    """The number of the cluster of each pair, int (n_pairs,), from texts; a pair without one is a cluster of its own.

    >>> cluster_codes(pd.Series(["t1", "t2", "t1", "", ""])).tolist()
    [0, 1, 0, 2, 3]
    """
    codes = pd.factorize(values.replace("", None))[0]
    return np.where(codes < 0, codes.max(initial=-1) + np.cumsum(codes < 0), codes)


def share_over(right: NDArray[np.bool_], clusters: NDArray[np.intp] | None) -> dict[str, object]:
    """Accuracy, interval, `n_clusters`, `design_effect` and `note`; without clusters, or in one, Wilson's interval.

    right, clusters: (n_pairs,). One cluster says nothing of others: what remains is how sure its own accuracy is.
    """
    n, n_correct = right.size, int(right.sum())
    low, high = wilson_interval(n_correct, n)
    found = {
        "accuracy": n_correct / n if n else np.nan,
        "ci_low": low,
        "ci_high": high,
        "n_clusters": n,
        "design_effect": np.nan,
        "note": "",
    }
    if clusters is None or not n:
        return found
    over = clustered_share(right, clusters)
    if over.n_clusters == 1:
        return found | {"n_clusters": 1, "note": ONE_CLUSTER}
    return found | {
        "ci_low": over.ci_low,
        "ci_high": over.ci_high,
        "n_clusters": over.n_clusters,
        "design_effect": over.design_effect,
        "note": note_of(over.n_clusters),
    }


def shares_over(
    right: NDArray[np.bool_],
    cells: NDArray[np.intp],
    n_cells: int,
    clusters: NDArray[np.intp] | None,
    clustered_by: str,
) -> dict[str, Any]:
    """`share_over` of the pairs of each cell, as columns (n_cells,) with those of OVER; a cell without pairs has none.

    right, clusters: (n_pairs,). cells: (n_pairs,) from 0, or a whole number of times as many where a pair is in several
    cells: first one cell of each pair, then the next of each.
    """
    times = cells.size // right.size if right.size else 1
    outcome = np.tile(right, times)
    n, n_correct = (np.bincount(cells[chosen], minlength=n_cells) for chosen in (slice(None), outcome))
    low, high = wilson_interval(n_correct, n)
    found: dict[str, Any] = {
        "ci_low": np.asarray(low),
        "ci_high": np.asarray(high),
        "n_clusters": n,
        "note": np.full(n_cells, "", dtype=object),
        "clustered_by": clustered_by,
    }
    if clusters is None:
        return found
    members = np.split(np.argsort(cells, kind="stable"), np.cumsum(n)[:-1])[:n_cells]
    every = np.tile(clusters, times)
    over = [share_over(outcome[cell], every[cell]) for cell in members]
    return found | {
        name: np.array([share[name] for share in over], dtype=found[name].dtype)
        for name in ("ci_low", "ci_high", "n_clusters", "note")
    }


def macro_over(right: NDArray[np.bool_], groups: NDArray[np.intp]) -> dict[str, object]:
    """The mean of the accuracies of groups of pairs, its interval and its note, as columns of a table by levels."""
    means = mean_share(right, groups)
    return {
        "n_groups": means.n_groups,
        "macro_accuracy": means.mean,
        "macro_low": means.ci_low,
        "macro_high": means.ci_high,
        "macro_note": note_of(means.n_groups, TOO_FEW_VALUES, FEW_VALUES),
    }


def tested_over(
    first: NDArray[np.bool_], second: NDArray[np.bool_], clusters: NDArray[np.intp] | None
) -> dict[str, object]:
    """Two accuracies on the same pairs: McNemar's test, over clusters Student's; and what these pairs can show."""
    test = mcnemar(first, second)
    over = clustered_difference(first, second, np.arange(first.size) if clusters is None else clusters)
    low, high, p = (
        (test.ci_low, test.ci_high, test.p_value) if clusters is None else (over.ci_low, over.ci_high, over.p_value)
    )
    note = "" if clusters is None else note_of(over.n_clusters) or (NO_SPREAD if np.isnan(low) else "")
    if note == FEW and np.isnan(low):
        note = NO_SPREAD
    return {
        "n": test.n,
        "n_only_first": test.n_only_first,
        "n_only_second": test.n_only_second,
        "difference": test.difference,
        "ci_low": low,
        "ci_high": high,
        "p_value": p,
        "p_holm": np.nan,
        "separable": False,
        "n_clusters": over.n_clusters,
        "detectable": detectable_difference(over.standard_error, over.n_clusters, largest=1.0),
        "note": note,
    }


def corrected(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """P-values (n_tests,) corrected together by Holm's method; an undefined one stays so, but is counted."""
    return np.where(np.isnan(p), np.nan, holm(np.nan_to_num(p, nan=1.0)))


def few_clusters(numbers: pd.DataFrame) -> str:
    """What a reader must know of tables over few clusters, from rows with `clustered_by` and `n_clusters`; "" for many.

    >>> few_clusters(pd.DataFrame({"clustered_by": ["UID"], "n_clusters": [12]}))
    'UID parts the pairs into 12 clusters: with fewer than 20 intervals and tests are rough.'
    """
    over = numbers[(numbers["clustered_by"] != "").to_numpy()]
    n = int(over["n_clusters"].min()) if len(over) else FEW_CLUSTERS
    if n >= FEW_CLUSTERS:
        return ""
    column = over["clustered_by"].iloc[0]
    if n == 1:
        return Message(
            "{column} has one value in these pairs: intervals are for it alone, and models are not compared over it.",
            column=column,
        )
    if n < FEWEST_CLUSTERS:
        return Message(
            "{column} parts the pairs into {n}: fewer than {FEWEST_CLUSTERS} have no interval and no test.",
            column=column,
            n=count(n, "cluster"),
            FEWEST_CLUSTERS=FEWEST_CLUSTERS,
        )
    return Message(
        "{column} parts the pairs into {n}: with fewer than {FEW_CLUSTERS} intervals and tests are rough.",
        column=column,
        n=count(n, "cluster"),
        FEW_CLUSTERS=FEW_CLUSTERS,
    )


def unnamed_clusters(values: pd.Series, clustered_by: str) -> str:
    """What a reader must know of pairs that the column of clusters says nothing of; "" where it has a value for each.

    >>> unnamed_clusters(pd.Series(["t1", "", "t1"]), "UID")
    'UID is empty in 1 of 3 pairs: each of them is a cluster of its own.'
    """
    n = int((values == "").sum())
    return (
        Message(
            "{clustered_by} is empty in {n:,} of {values:,} pairs: each of them is a cluster of its own.",
            clustered_by=clustered_by,
            n=n,
            values=len(values),
        )
        if n
        else ""
    )
