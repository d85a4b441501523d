"""Where a command writes: asked before anything is computed."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from engine.messages.message import Message


def folder(text: str) -> Path:
    """The folder of `--out`, which need not exist yet. Raises ArgumentTypeError where none can be made or written to."""
    path = Path(text)
    standing = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not standing.is_dir():
        raise argparse.ArgumentTypeError(
            Message("{path} is a file, where a folder is needed; name another one", path=standing)
        )
    if not os.access(standing, os.W_OK | os.X_OK):
        raise argparse.ArgumentTypeError(
            Message("nothing can be written into the folder {path}; name another one", path=standing)
        )
    return path


def file(text: str) -> Path:
    """The file of `--out`, which is replaced if it exists. Raises ArgumentTypeError where none can be written."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(
            Message("{path} is a folder, where a file is needed; name a file in it", path=path)
        )
    folder(str(path.parent))
    return path
