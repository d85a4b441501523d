"""The version of the project, which the changelog follows, and those of the libraries, whatever happens to the path."""

from __future__ import annotations

import re
import sys
import threading
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import pytest

from engine.version import ABSENT, FIRST_VERSION, VERSION, library_version, precedes

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"


def test_the_changelog_begins_with_the_version_of_today_and_goes_back_to_the_first() -> None:
    versions = re.findall(
        r"^## (\d+\.\d+\.\d+) \((?:\d{4}-\d{2}-\d{2}|unreleased)\)$",
        CHANGELOG.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert versions[0] == VERSION and versions[-1] == FIRST_VERSION
    assert all(precedes(earlier, later) for later, earlier in pairwise(versions))


@pytest.mark.parametrize(("first", "other"), [("0.1.0", "0.2.0"), ("0.9.9", "0.10.0"), ("1.2.3", "2.0.0")])
def test_versions_are_compared_by_number(first: str, other: str) -> None:
    assert precedes(first, other) and not precedes(other, first) and not precedes(first, first)


def test_versions_are_those_of_the_installed_distributions() -> None:
    assert library_version("numpy") == version("numpy")
    assert library_version("no-such-library") == ABSENT


def test_a_path_that_changes_meanwhile_hides_no_library() -> None:
    # What Streamlit does round each run of a script, in another thread, all the time.
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            sys.path.insert(0, "/nowhere")
            sys.path.remove("/nowhere")

    thread = threading.Thread(target=disturb, daemon=True)
    thread.start()
    try:
        for _ in range(300):
            library_version.cache_clear()
            assert library_version("numpy") != ABSENT
    finally:
        stop.set()
        thread.join()
