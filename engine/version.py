"""Versions: the engine's own, and those of the libraries its numbers depend on. Part of every signature."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import Distribution

VERSION = "0.1.0"
ABSENT = "absent"


@cache
def library_version(name: str) -> str:
    """The installed version of a distribution, without importing it; "absent" where there is none.

    It is looked for along a copy of the path: Streamlit inserts a folder into `sys.path` round each run of a
    script, and a search that is under way in another thread would skip the folder behind it.

    >>> library_version("no-such-library")
    'absent'
    """
    found = next(iter(Distribution.discover(name=name, path=list(sys.path))), None)
    return found.version if found else ABSENT
