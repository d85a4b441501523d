"""Numbers with their nouns, for messages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from engine.messages.message import Message

# What messages of the engine count.
NOUNS = (
    "article",
    "apostrophe",
    "character",
    "column",
    "cluster",
    "common noun",
    "dataset",
    "document",
    "domain",
    "dimension",
    "element",
    "entry",
    "field",
    "file",
    "item",
    "line",
    "pair",
    "result",
    "review",
    "row",
    "run",
    "sentence",
    "test sentence",
    "text file",
    "unknown token",
    "choice",
    "prompt",
    "prediction",
    "comment",
    "rating",
    "sign-in",
    "task",
    "text",
    "token",
    "type",
    "value",
    "version",
    "word",
)


def templates(noun: str) -> tuple[str, str]:
    """For one, and for any other number: `noun` takes an s or, after a consonant, -ies.

    >>> templates("entry")
    ('{n:,} entry', '{n:,} entries')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
    return f"{{n:,}} {noun}", f"{{n:,}} {plural}"


@lru_cache(10_000)
def count(n: int, noun: str) -> Message:
    """A number and its noun.

    >>> count(1, "row"), count(40_000, "row"), count(2, "entry")
    ('1 row', '40,000 rows', '2 entries')
    """
    return Message(templates(noun)[n != 1], n=n)


def decimals(values: Iterable[float]) -> int:
    """The number of decimals that show the smallest of `values` with four digits: 2 at least, 6 at most.

    >>> decimals([240131.79, 337.83]), decimals([0.0123])
    (2, 5)
    """
    sizes = [abs(value) for value in values if value == value and value not in (0, float("inf"), float("-inf"))]
    if not sizes:
        return 2
    leading = int(f"{min(sizes):e}".split("e")[1])
    return min(6, max(2, 3 - leading))
