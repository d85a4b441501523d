"""Word segmentation by Juman++ through rhoknp, where its program is installed; it comes in no Python package."""

from __future__ import annotations

import shutil
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from engine.errors import ModelError, RunError
from engine.language.pieces import pieces
from engine.messages.message import Message
from engine.version import library_version

PROGRAM = "jumanpp"
INSTALL_ADVICE = Message(
    "Build it from github.com/ku-nlp/jumanpp (version 2) so that `jumanpp` is on the PATH; it "
    "comes in no Python package."
)
# Juman++ reads at most 4,096 bytes at once, and a character has up to four.
PIECE_CHARACTERS = 1_000
TIMEOUT_SECONDS = 60

_FULL_WIDTH = str.maketrans(' "', "\u3000”")
_lock = threading.Lock()


def surfaces(text: str) -> list[str]:
    """The words of `text` in order, by Juman++; white space between them is dropped, and " is replaced by ”.

    text: no white space but single spaces, no NUL and no surrogates (see `segmenters.word_spans`). Raises ModelError
    when Juman++ is not installed, RunError when it stops or returns other characters than its input.
    """
    words: list[str] = []
    with _lock:
        analyser = _analyser(program())
        for piece in pieces(text, PIECE_CHARACTERS):
            # Spaces and quotation marks are part of Juman++'s output format, and its versions escape such characters of
            # the text differently; their full-width forms are words of its dictionary.
            escaped = piece.translate(_FULL_WIDTH)
            if not escaped.strip():
                continue
            try:
                morphemes = analyser.apply_to_sentence(escaped, timeout=TIMEOUT_SECONDS).morphemes
            except (RuntimeError, TimeoutError, ValueError, OSError) as error:
                raise RunError(
                    Message("Juman++ stopped while it read {piece!r}: {error}.", piece=piece[:40], error=error)
                ) from error
            piece_words = [surface for morpheme in morphemes if (surface := "".join(morpheme.surf.split()))]
            if sum(map(len, piece_words)) != len("".join(piece.split())):
                raise RunError(
                    Message(
                        "Juman++ returned other characters than its input: {piece_words!r} for {piece!r}.",
                        piece_words=" ".join(piece_words)[:80],
                        piece=piece[:40],
                    )
                )
            words += piece_words
    return words


def program() -> Path:
    """The path of the program. Raises ModelError when it is not installed."""
    executable = shutil.which(PROGRAM)
    if executable is None:
        raise ModelError(Message("Juman++ is not installed. {INSTALL_ADVICE}", INSTALL_ADVICE=INSTALL_ADVICE))
    return Path(executable).resolve()


def identity() -> str:
    """The versions of rhoknp and of Juman++ with its dictionary."""
    return Message(
        "rhoknp {library_version}, {state}",
        library_version=library_version("rhoknp"),
        state=_version(program(), state()),
    )


def state() -> str:
    """The path, size and time of the program, which change when Juman++ does, without starting it."""
    stat = program().stat()
    return f"{program()} {stat.st_size}:{stat.st_mtime_ns}"


@lru_cache(maxsize=1)
def _version(executable: Path, _state: str) -> str:
    try:
        return " ".join(_analyser(executable).get_version().split())
    except (RuntimeError, OSError) as error:
        raise ModelError(
            Message(
                "Juman++ ({executable}) does not start: {error}. {INSTALL_ADVICE}",
                executable=executable,
                error=error,
                INSTALL_ADVICE=INSTALL_ADVICE,
            )
        ) from error


@lru_cache(maxsize=1)
def _analyser(executable: Path) -> Any:
    from rhoknp import Jumanpp

    # rhoknp only logs a failure of its own check, and regards a process that is about to end as available.
    analyser = Jumanpp(executable=str(executable), skip_sanity_check=True)
    try:
        analyser.apply_to_sentence("", timeout=TIMEOUT_SECONDS)
    except (RuntimeError, TimeoutError, ValueError, OSError) as error:
        raise ModelError(
            Message(
                "Juman++ ({executable}) does not start: {error}. {INSTALL_ADVICE}",
                executable=executable,
                error=error,
                INSTALL_ADVICE=INSTALL_ADVICE,
            )
        ) from error
    return analyser
