"""What the card of a model takes from the result of a run: the numbers that describe the model, and a table of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine.measures.cards.card import Better


@dataclass(frozen=True)
class Headline:
    """One number; `shown` is how the two sides of a comparison under it are shown.

    better: which end is. is_compared: whether it is held against other models item by item. rows: those of the data
    that it is over, where the evaluation knows them; models are ranked over the same items only. is_ranked: whether the
    run itself ranks the model.
    """

    measure: str
    value: float
    n: int
    items: str
    ci_low: float = np.nan
    ci_high: float = np.nan
    setting: str = ""
    better: Better = "neither"
    reason: str = ""
    is_compared: bool = True
    shown: Any = None
    rows: frozenset[int] = frozenset()
    is_ranked: bool = True

    def is_over_the_items_of(self, other: Headline) -> bool:
        """Whether both numbers are over the same items, as far as the evaluation tells."""
        return self.n == other.n and self.rows == other.rows


@dataclass(frozen=True)
class OnCard:
    """One evaluation on the card of a model.

    headlines: (result, model) -> the numbers of a model, as many and in the same order for every model; one that the
    run has no value of is NaN, and says why. task: (signature of the run, model) -> what the Hub calls the task
    (https://huggingface.co/tasks); task_name: for readers. details: (result, model) -> the rows of another table
    of the card, under the name of the table; none where the evaluation has no such table.
    """

    headlines: Callable[[Any, str], list[Headline]]
    task: Callable[[Mapping[str, Any], str], str]
    task_name: str
    details: Callable[[Any, str], dict[str, list[dict[str, Any]]]] = lambda result, model: {}


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table by the names of its columns."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
