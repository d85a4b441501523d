"""The items that two sides share, and the rows of a comparison's tables."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.evaluations.comparison.records import ITEMS
from engine.measures.statistics.paired_bootstrap import grouped_differences, paired_bootstrap
from engine.measures.statistics.paired_tests import mcnemar
from engine.measures.statistics.sign_flip import MOST_GROUPS, sign_flip_test
from engine.messages.message import Message, named

BOOTSTRAP, MCNEMAR, WILLIAMS = Message("paired bootstrap"), Message("McNemar, exact"), named("Williams")
SIGN_FLIPS = Message("sign flips, exact")  # in place of the bootstrap, for which items up to MOST_GROUPS are too few
TEXTS = ["text", "other_text"]


@dataclass(frozen=True)
class Number:
    """A row of `records.NUMBERS` before the p-values are corrected."""

    measure: str
    items: str
    n: int
    first: float
    second: float
    difference: float
    ci_low: float = np.nan
    ci_high: float = np.nan
    test: str = ""
    p_value: float = np.nan
    reason: str = ""


@dataclass(frozen=True)
class CommonItems:
    """The items that both sides have, in the order of the first: columns of `records.ITEMS`, as far as known.

    A column that both have besides the texts ends in _first and _second.
    """

    table: pd.DataFrame
    n_only_first: int
    n_only_second: int


def common_items(first: pd.DataFrame, second: pd.DataFrame) -> CommonItems:
    """Match the items of two sides by their texts; the same text twice is matched in the order of the files.

    first, second: columns row and text, and as they have them other_text, category and further ones. Raises InputError
    where no item is on both sides.
    """
    sides = []
    for side in (first, second):
        side = side.assign(**{name: side.get(name, "") for name in (*TEXTS, "category")})
        sides.append(side.assign(occurrence=side.groupby(TEXTS, sort=False).cumcount()))
    table = sides[0].merge(
        sides[1].rename(columns={"row": "other_row"}).drop(columns="category"),
        on=[*TEXTS, "occurrence"],
        how="inner",
        suffixes=("_first", "_second"),
    )
    if table.empty:
        raise InputError(
            Message(
                "The two sides have no sentence in common. Compare runs of the same data, or of data that overlaps."
            )
        )
    return CommonItems(table, len(first) - len(table), len(second) - len(table))


@dataclass(frozen=True)
class Differences:
    """What the comparison of one kind finds: its numbers, its items (`changed_most_first`) and their scale."""

    common: CommonItems
    numbers: Sequence[Number]
    items: pd.DataFrame
    scale: str
    notices: tuple[str, ...] = ()


def mean_difference(
    measure: str, items: str, first: np.ndarray, second: np.ndarray, groups: Sequence[Hashable] | None = None
) -> Number:
    """The means of two columns (n,) of the same items, their difference, and the test of it.

    Up to MOST_GROUPS independent items: the exact test by sign flips; beyond, the paired bootstrap.
    """
    is_small = len(grouped_differences(first, second, groups).sums) <= MOST_GROUPS
    test = sign_flip_test(first, second, groups) if is_small else paired_bootstrap(first, second, groups)
    one, other = _means(first, second)
    return Number(
        measure,
        items,
        test.n,
        one,
        other,
        test.difference,
        test.ci_low,
        test.ci_high,
        SIGN_FLIPS if is_small else BOOTSTRAP,
        test.p_value,
        test.reason,
    )


def means_apart(measure: str, items: str, first: np.ndarray, second: np.ndarray, reason: str) -> Number:
    """The means of two columns (n,) of the same items that are on different scales: no difference, for the reason."""
    n = int((~(np.isnan(first) | np.isnan(second))).sum())
    return Number(measure, items, n, *_means(first, second), np.nan, reason=reason)


def share_difference(measure: str, items: str, first: np.ndarray, second: np.ndarray) -> Number:
    """The shares of True in two bool columns (n,) of the same items, their difference, and McNemar's test of it."""
    test = mcnemar(first, second)
    one, other = (float(side.mean()) if test.n else np.nan for side in (first, second))
    return Number(
        measure,
        items,
        test.n,
        one,
        other,
        test.difference,
        test.ci_low,
        test.ci_high,
        MCNEMAR,
        test.p_value if test.n else np.nan,
        "" if test.n else Message("no such item on both sides"),
    )


def _means(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """The means of two columns (n,) over the items that have both numbers; NaN where none has."""
    complete = ~(np.isnan(first) | np.isnan(second))
    one, other = (float(side[complete].mean()) if complete.any() else np.nan for side in (first, second))
    return one, other


def changed_most_first(table: pd.DataFrame) -> pd.DataFrame:
    """The table `records.ITEMS` of a frame with its columns: items decided differently first, then by the difference.

    Outcomes that are not there are ""; items without a difference come last.
    """
    outcomes = {name: table.get(name, "") for name in ("first_outcome", "second_outcome")}
    table = table.assign(**outcomes)
    table = table.assign(changed=(table["first_outcome"] != table["second_outcome"]).to_numpy(dtype=bool))
    size = table["difference"].abs().fillna(-1).to_numpy()
    return ITEMS.selected(table.iloc[np.lexsort((-size, ~table["changed"].to_numpy()))]).reset_index(drop=True)
