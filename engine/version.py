"""Versions: the project's own, and those of the libraries its numbers depend on. Part of every signature.

The project's version follows semantic versioning (https://semver.org) and is raised together with CHANGELOG.md. A
stored run carries it, so that a later version knows which columns the run cannot have.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import Distribution

VERSION = "0.3.0"
# Runs stored by it do not name their version.
FIRST_VERSION = "0.1.0"
ABSENT = "absent"


def precedes(version: str, other: str) -> bool:
    """Whether a version (three numbers) is older than another.

    >>> precedes("0.9.0", "0.10.0"), precedes("1.0.0", "1.0.0")
    (True, False)
    """
    first, second = (tuple(map(int, numbers.split("."))) for numbers in (version, other))
    return first < second


@cache
def library_version(name: str) -> str:
    """The installed version of a distribution, without importing it; "absent" where there is none.

    It is looked for along a copy of the path: Streamlit inserts a folder into `sys.path` round each run of a
    script, and a search that is under way in another thread would skip the folder behind it.

    >>> library_version("no-such-library")
    'absent'
    """
    distribution = next(iter(Distribution.discover(name=name, path=list(sys.path))), None)
    return distribution.version if distribution else ABSENT
