"""Names of files that are downloaded: in ASCII, and the same in every language. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

NOT_ALPHANUMERIC = re.compile("[^a-z0-9]+")
UNNAMED = "figure"  # a file whose caption has no letter of ASCII


def plain_name(caption: str) -> str:
    """The English of a caption in small letters of ASCII, for the name of a file: the same for every reader.

    >>> plain_name("Map of the sentences, models/日本語モデル"), plain_name("図")
    ('map-of-the-sentences-models', 'figure')
    """
    return NOT_ALPHANUMERIC.sub("-", caption.lower()).strip("-") or UNNAMED


def file_names(captions: Iterable[str]) -> dict[str, str]:
    """`plain_name` of each caption; equal ones are numbered.

    >>> file_names(["図 甲", "図 乙", "Scores"])
    {'図 甲': 'figure', '図 乙': 'figure-2', 'Scores': 'scores'}
    """
    names: dict[str, str] = {}
    for caption in captions:
        name = plain_name(caption)
        number = next(n for n in itertools.count(1) if (f"{name}-{n}" if n > 1 else name) not in names.values())
        names[caption] = f"{name}-{number}" if number > 1 else name
    return names


def of_name(name: str, otherwise: str) -> str:
    """A name that a user gave, for a file: what is not of ASCII, or parts folders, is left out or `_`.

    >>> of_name("a/b (version 2)", "data"), of_name("文の対", "data"), of_name("日本語 v2.1", "data")
    ('a_b (version 2)', 'data', 'v2.1')
    """
    kept = "".join(letter if letter.isalnum() or letter in "-_. ()" else "_" for letter in name if letter.isascii())
    return kept.strip(" _-") or otherwise
