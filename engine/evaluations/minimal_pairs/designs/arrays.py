"""Surprisals of sentences in conditions as arrays by suite, and means of many groups at once."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.formulas import Region
from engine.measures.statistics.intervals import CONFIDENCE


def by_suite(table: pd.DataFrame) -> dict[tuple[str, str], tuple[list[str], list[int], dict[Region, np.ndarray]]]:
    """By model and suite of `surprisals` its items as they come, the row of the first sentence of each, and by region
    the surprisal of each item, nan where it lacks the condition.
    """
    codes, words = zip(*(pd.factorize(table[name]) for name in ("model", "suite", "item", "condition")), strict=True)
    models, suites, item_names, condition_names = (list(map(str, several)) for several in words)
    group = codes[0] * len(suites) + codes[1]
    order = np.argsort(group, kind="stable")
    region, row, bits = (table[name].to_numpy() for name in ("region", "row", "surprisal"))
    scored = {}
    for own in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        places, items = pd.factorize(codes[2][own])  # of each line its item, by first appearance
        firsts = np.full(len(items), len(own))
        np.minimum.at(firsts, places, np.arange(len(own)))
        kinds, kind = np.unique(region[own] * len(condition_names) + codes[3][own], return_inverse=True)
        wide = np.full((len(kinds), len(items)), np.nan)
        wide[kind, places] = bits[own]
        names = [divmod(int(cell), len(condition_names)) for cell in kinds]
        model, suite = divmod(int(group[own[0]]), len(suites))
        scored[models[model], suites[suite]] = (
            [item_names[item] for item in items],
            row[own[firsts]].tolist(),
            {
                (number, condition_names[condition]): values
                for (number, condition), values in zip(names, wide, strict=True)
            },
        )
    return scored


def mean_with_interval(values: np.ndarray) -> tuple[float, float, float]:
    """The mean of values (size,) and its 95% interval by Student's t; nan for no value, and the ends for one.

    >>> [round(value, 3) for value in mean_with_interval(np.array([1.0, 2.0, 3.0]))]  # 2 ± 4.303 / √3
    [2.0, -0.484, 4.484]
    """
    mean, low, high = means_with_intervals(values[None, :])
    return float(mean[0]), float(low[0]), float(high[0])


def means_with_intervals(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`mean_with_interval` of each row of values (n, size), each float64 (n,)."""
    n, size = values.shape
    undefined = np.full(n, np.nan)
    if size < 2:
        return (values[:, 0] if size else undefined), undefined, undefined
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(size)
    reach = _quantile(size) * error
    return mean, mean - reach, mean + reach


@cache
def _quantile(size: int) -> float:
    """How many standard errors the interval of a mean of that many values reaches to each side."""
    from scipy.special import stdtrit  # a moment to import, and only here

    return float(stdtrit(size - 1, (1 + CONFIDENCE) / 2))
