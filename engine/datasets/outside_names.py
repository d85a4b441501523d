"""What a model is called whose scores or vectors are from a file. Read by what locates models: nothing imports pandas."""

from __future__ import annotations

import re
import unicodedata

# Before the name of the model, as settings name it.
PREFIX, VECTORS_PREFIX = "scores/", "vectors/"
_NOT_IN_FILE_NAMES = re.compile(r"[^\w.-]+", re.ASCII)


def is_from_file(model: str) -> bool:
    """Whether the name of a model, without its label, is that of scores or vectors from a file.

    >>> is_from_file("scores/gpt-4"), is_from_file("vectors/e5"), is_from_file("owner/scores")
    (True, True, False)
    """
    return model.startswith((PREFIX, VECTORS_PREFIX))


def has_vectors(model: str) -> bool:
    """Whether the name of a model, without its label, is that of vectors from a file.

    >>> has_vectors("vectors/e5"), has_vectors("scores/gpt-4")
    (True, False)
    """
    return model.startswith(VECTORS_PREFIX)


def printable(name: str) -> str:
    """A name without "=", which would end a label, and without characters that cannot be seen.

    >>> printable("a=b\\n")
    'a-b-'
    """
    return "".join("-" if char == "=" or unicodedata.category(char)[0] == "C" else char for char in name).strip() or "?"


def file_stem(name: str, otherwise: str) -> str:
    """The name of a model as a part of the name of a file.

    >>> file_stem("text-embedding 3/large", "vectors"), file_stem("秤", "vectors")
    ('text-embedding-3-large', 'vectors')
    """
    return _NOT_IN_FILE_NAMES.sub("-", name).strip("-.") or otherwise
