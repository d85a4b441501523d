"""Writing to the disk: files that are brought to it before they are named, sizes, and error messages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import RunError, reason_of
from engine.messages.message import Message


def file_size(path: Path) -> int:
    """Bytes of a file; 0 when it is not there."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def folder_size(folder: Path) -> int:
    """Bytes of the files directly in a folder; 0 when it is not there."""
    try:
        return sum(map(file_size, folder.iterdir()))
    except FileNotFoundError:
        return 0


@contextmanager
def full_disk_explained(folder: Path) -> Iterator[None]:
    """Raise RunError, with what would do, for what the system cannot write below `folder`."""
    try:
        yield
    except OSError as error:
        raise RunError(
            Message(
                "Nothing can be written to {folder}: {error}. Free some space there, or mend its "
                "permissions, and start the run again.",
                folder=folder,
                error=reason_of(error),
            )
        ) from error


def write_to_disk(path: Path, content: bytes) -> None:
    """Write a file and bring it to the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Bring a rename to the disk; where a folder cannot be opened (Windows) the system does it in time."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
