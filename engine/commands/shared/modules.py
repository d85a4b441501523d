"""The commands by name: the module of each is imported when it is asked for.

What a command needs takes seconds to import, and whoever types one, or asks for help, needs that of no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from engine import commands

PACKAGE = commands.__name__
# Those that do what a run does, by its kind.
EVALUATING = ("clusters", "classification", "fill-mask", "alignment", "metric-study", "minimal-pairs")
OTHERS = (
    "agreement",
    "compare",
    "card",
    "model-map",
    "dictionary",
    "pretrain",
    "name-study",
    "clean",
    "adopt",
    "move-database",
    "members",
)


class Commands(Mapping[str, ModuleType]):
    """Name -> module of `engine.commands`, imported by the look-up."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __getitem__(self, name: str) -> ModuleType:
        """Import the module of a command. Raises KeyError for another name."""
        if name not in self._names:
            raise KeyError(name)
        return import_module(_module(name))

    def __iter__(self) -> Iterator[str]:
        """The names, in the order of the help."""
        return iter(self._names)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._names)


def summary(name: str) -> str:
    """What a command does: the first line of its module after the colon. Nothing is imported for it."""
    spec = find_spec(_module(name))
    if spec is None or spec.origin is None:
        raise KeyError(name)
    with Path(spec.origin).open(encoding="utf-8") as source:
        return source.readline().strip().strip('"').partition(": ")[2]


def _module(name: str) -> str:
    return f"{PACKAGE}.{name.replace('-', '_')}"
