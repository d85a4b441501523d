"""What a lesson is made of: steps, each with an idea, a place to look at and a question with an answer to check. Pure.

A step is posed from results: its texts and its right answer hold the numbers of the moment, and none is written down.
All texts are plain, in the reader's language; whoever shows them escapes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pandas as pd

from engine.runs.storage.run_record import RunRecord

READERS = ""  # the language of a step's sample that is the reader's

Given: TypeAlias = str | float | None
Results: TypeAlias = Mapping[str, Any]  # kind -> the result of the sample's run


@dataclass(frozen=True)
class Choice:
    """An answer that is chosen. options: key -> text. right: the keys that are right, more than one where they tie."""

    options: Mapping[str, str]
    right: frozenset[str]

    def is_right(self, given: Given) -> bool:
        """Whether the key of a right option was chosen."""
        return given in self.right


@dataclass(frozen=True)
class Number:
    """An answer that is read off a page or computed by hand.

    tolerance: how far from `value` is right, in the same unit. digits: decimals that the field takes; 0 for a count.
    unit: "" where there is none.
    """

    value: float
    tolerance: float
    digits: int = 0
    unit: str = ""

    def is_right(self, given: Given) -> bool:
        """Whether a number within the tolerance was given; the last binary digit of a decimal does not count."""
        return isinstance(given, float | int) and math.isfinite(self.value) and abs(given - self.value) <= self._bound

    @property
    def _bound(self) -> float:
        return self.tolerance + 1e-9 * max(1.0, abs(self.value))


@dataclass(frozen=True)
class OwnRun:
    """A finished run of the reader's. `result` opens it; it may raise EngineError."""

    run: RunRecord
    settings: Any
    dataset: Any
    result: Callable[[], Any]


@dataclass(frozen=True)
class Deed:
    """Something to do: a run of the reader's own.

    done: what the reader's finished runs of `kind`, the newest first, show; "" where none is what was asked for.
    """

    kind: str
    done: Callable[[Sequence[OwnRun]], str]


Answer: TypeAlias = Choice | Number | Deed


@dataclass(frozen=True)
class Look:
    """Where to look or what to do: the page of a kind of run. query: its choices, beside the run of the sample."""

    kind: str
    query: Mapping[str, str | Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Posed:
    """A step with the numbers of the results.

    hint: after a wrong answer. explanation: after the right one; "" for a deed, which explains itself. look: None where
    the step is done by hand. table: numbers that the question is about.
    """

    text: str
    question: str
    answer: Answer
    hint: str
    explanation: str = ""
    look: Look | None = None
    table: pd.DataFrame | None = None


@dataclass(frozen=True)
class Step:
    """One idea. kinds: the evaluations whose samples it needs. language: of these samples, READERS for the reader's."""

    name: str
    title: str
    pose: Callable[[Results], Posed]
    kinds: tuple[str, ...] = ()
    language: str = READERS


@dataclass(frozen=True)
class Lesson:
    """A lesson of some half an hour. learned: what one can do after it."""

    name: str
    title: str
    learned: str
    icon: str
    steps: tuple[Step, ...]
