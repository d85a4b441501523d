"""A number by which a card describes a model under an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

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
