"""What a confined process is told before its first chunk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Setup:
    """readable: what it may read. folder: its own, to write to. code: the packages of the model's code.

    classes: the module and the class by Auto class. config_directory: of config.json. memory_bytes: what it may take
    beyond the libraries.
    """

    name: str
    readable: tuple[Path, ...]
    folder: Path
    code: Path
    classes: Mapping[str, tuple[str, str]]
    config_directory: Path
    memory_bytes: int
