"""Suppression of transformers' progress bars, advice and warnings; the engine reports what matters itself."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from transformers.utils import logging

MESSAGE_CHARACTERS = 300


@contextmanager
def silence_transformers() -> Iterator[None]:
    """Inside, transformers prints nothing; afterwards its settings are restored."""
    verbosity, had_progress_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        if had_progress_bars:
            logging.enable_progress_bar()


def one_line_message(error: Exception) -> str:
    """The message of a library's error on one line, truncated to MESSAGE_CHARACTERS."""
    message = " ".join(str(error).split()) or type(error).__name__
    return message if len(message) <= MESSAGE_CHARACTERS else message[:MESSAGE_CHARACTERS] + "…"
