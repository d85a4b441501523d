"""Numbers with their nouns, for messages."""

from __future__ import annotations


def count(n: int, noun: str) -> str:
    """A number and its noun, in the plural unless there is one: `noun` takes an s or, after a consonant, -ies.

    >>> count(1, "row"), count(40_000, "row"), count(2, "entry")
    ('1 row', '40,000 rows', '2 entries')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"
