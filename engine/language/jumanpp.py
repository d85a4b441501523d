"""Juman++ through rhoknp, where its program is installed; it comes in no Python package."""

from __future__ import annotations

import shutil
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from engine.errors import ModelError, RunError
from engine.language.pieces import pieces
from engine.version import library_version

PROGRAM = "jumanpp"
INSTALL = ("Build it from github.com/ku-nlp/jumanpp (version 2) so that `jumanpp` is on the PATH; it comes in no "
           "Python package.")
# Juman++ takes 4,096 bytes at once, and a character has up to four.
PIECE_CHARACTERS = 1_000
SECONDS = 60

_FULL_WIDTH = str.maketrans(' "', "\u3000”")
_lock = threading.Lock()


def surfaces(text: str) -> list[str]:
    """The words of `text` in order, as Juman++ cuts it; white space between them is dropped, and " is given as ”.

    text: no white space but single spaces, no NUL and no surrogates (see `segmenters.word_spans`). Raises ModelError
    when Juman++ is not installed, RunError when it stops or gives back other characters than it was given.
    """
    words: list[str] = []
    with _lock:
        analyser = _analyser(program())
        for piece in pieces(text, PIECE_CHARACTERS):
            # In Juman++'s output spaces and quotation marks mean something, and how such characters of the text are
            # escaped differs between its versions; their full-width forms are words of its dictionary.
            given = piece.translate(_FULL_WIDTH)
            if not given.strip():
                continue
            try:
                morphemes = analyser.apply_to_sentence(given, timeout=SECONDS).morphemes
            except (RuntimeError, TimeoutError, ValueError, OSError) as error:
                raise RunError(f"Juman++ stopped while it read {piece[:40]!r}: {error}.") from error
            found = [surface for morpheme in morphemes if (surface := "".join(morpheme.surf.split()))]
            if sum(map(len, found)) != len("".join(piece.split())):
                raise RunError(f"Juman++ gave back other characters than it was given: {' '.join(found)[:80]!r} for "
                               f"{piece[:40]!r}.")
            words += found
    return words


def program() -> Path:
    """The program. Raises ModelError when it is not installed."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise ModelError(f"Juman++ is not installed. {INSTALL}")
    return Path(found).resolve()


def identity() -> str:
    """rhoknp and Juman++ with its dictionary, in words that change when any of them does."""
    return f"rhoknp {library_version('rhoknp')}, {_version(program(), state())}"


def state() -> str:
    """What can be said of Juman++ at a glance, without starting it."""
    stat = program().stat()
    return f"{program()} {stat.st_size}:{stat.st_mtime_ns}"


@lru_cache(maxsize=1)
def _version(where: Path, _state: str) -> str:
    try:
        return " ".join(_analyser(where).get_version().split())
    except (RuntimeError, OSError) as error:
        raise ModelError(f"Juman++ ({where}) does not start: {error}. {INSTALL}") from error


@lru_cache(maxsize=1)
def _analyser(where: Path) -> Any:
    from rhoknp import Jumanpp

    # rhoknp only logs when its own first question fails, and a process that is about to end still counts as available.
    analyser = Jumanpp(executable=str(where), skip_sanity_check=True)
    try:
        analyser.apply_to_sentence("", timeout=SECONDS)
    except (RuntimeError, TimeoutError, ValueError, OSError) as error:
        raise ModelError(f"Juman++ ({where}) does not start: {error}. {INSTALL}") from error
    return analyser
