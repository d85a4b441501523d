"""Versions of libraries are found whatever happens to the path meanwhile."""

from __future__ import annotations

import sys
import threading
from importlib.metadata import version

from engine.version import ABSENT, library_version


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
