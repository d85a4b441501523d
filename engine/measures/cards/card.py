"""A measure card: what a reader needs to know of one measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Better = Literal["lower", "higher", "neither"]


@dataclass(frozen=True)
class MeasureCard:
    """What a reader needs to know of one measure; `unit` is "" for a pure number."""

    key: str
    name: str
    symbol: str
    formula: str
    range: str
    unit: str
    better: Better
    question: str
    source: str
