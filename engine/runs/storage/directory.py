"""The data directory: where it is, and that it can be written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from engine.errors import InputError, reason_of
from engine.messages.message import Message
from engine.processes import private_folders

DIRECTORY_VARIABLE = "HAKARI_DATA_DIR"
READING = "reading"
DEFAULT_DIRECTORY = Path(".local/share/hakari")  # below the home directory


def data_directory(path: Path | None = None) -> Path:
    """`path`, or HAKARI_DATA_DIR, or the default; made where it is missing. InputError when it cannot be written."""
    return writable_directory(path or _default_directory())


def writable_directory(path: Path) -> Path:
    """The absolute path of a directory, made where it is missing. InputError when it cannot be made or written."""
    path = path.expanduser().absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise _not_writable(path, error) from error
    return path


def keep_private_folders(data_dir: Path) -> None:
    """Keep uploads that are being read below the data directory, and remove what killed processes left there."""
    try:
        private_folders.keep_below(data_dir / READING)
    except OSError as error:
        raise _not_writable(data_dir, error) from error


def _not_writable(path: Path, error: OSError) -> InputError:
    return InputError(
        Message(
            "Cannot write to {path}: {error}. Name a directory that you may write to "
            "({DIRECTORY_VARIABLE}=/some/where), or correct its permissions.",
            path=path,
            error=reason_of(error),
            DIRECTORY_VARIABLE=DIRECTORY_VARIABLE,
        )
    )


def _default_directory() -> Path:
    value = os.environ.get(DIRECTORY_VARIABLE, "").strip()
    return Path(value) if value else Path.home() / DEFAULT_DIRECTORY
