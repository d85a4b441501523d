"""transformers without its progress bars, advice and warnings: what matters of them we say ourselves."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from transformers.utils import logging

MESSAGE_CHARACTERS = 300


@contextmanager
def quiet() -> Iterator[None]:
    """Within it, transformers prints nothing; afterwards it does what it did before."""
    verbosity, had_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        if had_bars:
            logging.enable_progress_bar()


def in_one_line(error: Exception) -> str:
    """The message of a library's error on one line, cut when it is a long one."""
    words = " ".join(str(error).split()) or type(error).__name__
    return words if len(words) <= MESSAGE_CHARACTERS else words[:MESSAGE_CHARACTERS] + "…"
