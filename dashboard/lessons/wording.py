"""Numbers and lists in the texts of the lessons. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Iterable

from engine.messages.languages import translated
from engine.messages.message import list_of


def listed(parts: Iterable[str]) -> str:
    """Parts of a sentence one after the other."""
    return translated(list_of(parts))


def interval(low: float | str, high: float | str, form: str = "") -> str:
    """A 95% interval as texts show it.

    >>> interval(0.75, 0.8125, ".2f"), interval("1", "2")
    ('[0.75, 0.81]', '[1, 2]')
    """
    first, last = (end if isinstance(end, str) else format(end, form) for end in (low, high))
    return f"[{first}, {last}]"


def quantity(probability: float) -> str:
    """A probability as a page shows it, in per cent with three digits that count.

    >>> quantity(0.00714), quantity(0.0000312), quantity(0.042)
    ('0.714%', '0.00312%', '4.20%')
    """
    return f"{f'{100 * probability:#.3g}'.removesuffix('.')}%"
