"""The parts of a sentence of the methods paragraph, before a language words them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Choice:
    """A part that each language has a word for: `name` of the words of `group`."""

    group: str
    name: str


@dataclass(frozen=True)
class Data:
    """A part that names a dataset: a sample in each language by its name there, any other as it is called."""

    name: str


@dataclass(frozen=True)
class Phrase:
    """A part that is a text of the catalogues."""

    text: str


@dataclass(frozen=True)
class Names:
    """A part that is a list, joined as the language does."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class Models:
    """A part that says which models a sentence is of, by name; none where it is of all."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Cited:
    """A part that cites works by their keys."""

    keys: tuple[str, ...]


@dataclass(frozen=True)
class Named:
    """A model: its name without its label, its revision, the key of its entry, and its label; "" for none."""

    name: str
    revision: str
    key: str
    label: str = ""


@dataclass(frozen=True)
class Statement:
    """A sentence by its name in the languages, with its parts."""

    name: str
    parts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Paragraph:
    """The methods paragraph: what the items are called in it, and its sentences from the signature of a run, to which
    that is added as "items".

    items_of: data set -> what they are called, where that is not always the same; None for `items`.
    """

    items: str
    statements: Callable[[Mapping[str, Any]], Iterator[Statement]]
    items_of: Callable[[Any], str] | None = None
