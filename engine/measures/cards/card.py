"""A measure card: what a reader needs to know of one measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Better = Literal["lower", "higher", "neither"]


@dataclass(frozen=True)
class MeasureCard:
    """What a reader needs to know of one measure; `unit` is "" for a pure number.

    undefined: said where it is NaN, "" for a measure that always has a value or whose result brings a reason of its
    own. function: "module:function" of what computes it, for a measure that workers compute by its card. digits: the
    decimals that mean something in print; None where the size of the values decides.
    """

    key: str
    name: str
    symbol: str
    formula: str
    range: str
    unit: str
    better: Better
    question: str
    source: str
    undefined: str = ""
    function: str = ""
    digits: int | None = 3
