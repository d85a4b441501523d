"""A side of a comparison, as each evaluation asks for it: the widgets of one side, and an item under it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import plotly.graph_objects as go

from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.address.texts import name_of
from dashboard.shared.exports.print.files import Drawing
from engine.evaluations.comparison.records import Side, SideView
from engine.options import Option, options_of
from engine.runs.storage.run_record import RunRecord

Drawn = tuple[dict[str, go.Figure], dict[str, Drawing]]


@dataclass(frozen=True)
class ChosenSide:
    """A side, the run that it is of, and what is shown of it in words."""

    run: RunRecord
    side: Side
    shown: Mapping[str, str]


@dataclass(frozen=True)
class SideChoices:
    """The choices of one side, `letter` "a" or "b"; the same letter begins their names in the address."""

    letter: str
    address: PageAddress

    def first(self, declared: Option, base: Any, offered: Any = None) -> Any:
        """What a choice is set to at first."""
        return self.address.first(self.declared(declared), base, offered=offered)

    def keep(self, chosen: Any, base: Any, but: Sequence[str] = ()) -> None:
        """Write the choices of a record to the URL where they are others than `base`."""
        for name, declared in options_of(type(chosen)).items():
            if name not in but:
                self.address.keep(self.declared(declared), getattr(chosen, name), getattr(base, name))

    def ignore(self, declared: Option, why: str) -> None:
        """Have it said that the address's value of a choice is not used."""
        self.address.ignore(name_of(self.declared(declared)), why)

    def declared(self, declared: Option) -> Option:
        """A choice under its name in the address."""
        return replace(declared, name=f"{self.letter}_{declared.name}")

    def key(self, *parts: str) -> str:
        """The key of a widget."""
        return "-".join(["compare", self.letter, *parts, self.address.place])


def in_words(view: SideView) -> dict[str, str]:
    """The choices of a view by name."""
    values = {name: value for name, value in asdict(view).items() if name != "scoring"}
    values |= asdict(view.scoring) if hasattr(view, "scoring") else {}
    return words_of(values)


def words_of(values: Mapping[str, Any]) -> dict[str, str]:
    """Choices by name, those that are not made left out."""
    return {name.replace("_", " "): str(value) for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class ComparedSide:
    """How the results of an evaluation are shown in a comparison, where that is chosen.

    records: what is chosen. choose: draws the choices; run id, result, model -> what is shown. item: draws an item of a
    side by its row, with the signature. outcomes: the names of outcomes, where they are not classes of the data.
    told: how a reader sees the value of a choice, by its name, where the declared labels do not say it.
    """

    records: Sequence[type[Any]]
    choose: Callable[[SideChoices, str, Any, str], SideView]
    in_words: Callable[[Any], dict[str, str]] = in_words
    item: Callable[[ChosenSide, int, Mapping[str, Any]], Drawn] | None = None
    outcomes: Mapping[str, str] = field(default_factory=dict)
    told: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
