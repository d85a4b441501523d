"""Numbers with their nouns, for messages."""

from __future__ import annotations

from engine.translation import mark

# What messages of the engine count, in both numbers.
COUNTED = (
    mark("{n:,} article"), mark("{n:,} articles"), mark("{n:,} apostrophe"), mark("{n:,} apostrophes"),
    mark("{n:,} character"), mark("{n:,} characters"), mark("{n:,} column"), mark("{n:,} columns"),
    mark("{n:,} cluster"), mark("{n:,} clusters"),
    mark("{n:,} common noun"), mark("{n:,} common nouns"), mark("{n:,} dataset"), mark("{n:,} datasets"),
    mark("{n:,} document"), mark("{n:,} documents"), mark("{n:,} domain"), mark("{n:,} domains"),
    mark("{n:,} dimension"), mark("{n:,} dimensions"),
    mark("{n:,} element"), mark("{n:,} elements"), mark("{n:,} entry"), mark("{n:,} entries"),
    mark("{n:,} field"), mark("{n:,} fields"), mark("{n:,} file"), mark("{n:,} files"),
    mark("{n:,} item"), mark("{n:,} items"), mark("{n:,} line"), mark("{n:,} lines"),
    mark("{n:,} pair"), mark("{n:,} pairs"), mark("{n:,} result"), mark("{n:,} results"),
    mark("{n:,} review"), mark("{n:,} reviews"), mark("{n:,} row"), mark("{n:,} rows"),
    mark("{n:,} run"), mark("{n:,} runs"), mark("{n:,} sentence"), mark("{n:,} sentences"),
    mark("{n:,} text file"), mark("{n:,} text files"), mark("{n:,} unknown token"), mark("{n:,} unknown tokens"),
    mark("{n:,} choice"), mark("{n:,} choices"), mark("{n:,} prompt"), mark("{n:,} prompts"),
    mark("{n:,} sign-in"), mark("{n:,} sign-ins"), mark("{n:,} token"), mark("{n:,} tokens"),
    mark("{n:,} value"), mark("{n:,} values"), mark("{n:,} version"), mark("{n:,} versions"),
    mark("{n:,} word"), mark("{n:,} words"),
)


def count(n: int, noun: str) -> str:
    """A number and its noun, in the plural unless there is one: `noun` takes an s or, after a consonant, -ies.

    >>> count(1, "row"), count(40_000, "row"), count(2, "entry")
    ('1 row', '40,000 rows', '2 entries')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"
