"""The two sides of a comparison: run, model and how each is shown, as the address and the widgets have them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dashboard.faces import FACES
from dashboard.runs.comparing import distinct, value_in_words
from dashboard.shared import run_view, session
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.headlines import run_title
from dashboard.shared.inputs.compared import ChosenSide, SideChoices
from dashboard.shared.theme import shortened
from dashboard.shared.wording import model_name, stamp, verbatim
from engine.datasets.minimal_pairs.kinds import STEREOTYPES
from engine.evaluations.comparison.finding import corrected, finding, main_measure
from engine.evaluations.comparison.records import (
    KINDS,
    Comparison,
    Side,
    scored_models,
)
from engine.evaluations.shared.finding import spoken
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import mark, tr
from engine.messages.message import Message, together
from engine.options import option, options_of
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search

LISTED = 100
OF_TWO_MODELS = ("clusters", "classification", "fill-mask", "minimal-pairs")  # whose finding compares models
LEFT, RIGHT = mark("Left"), mark("Right")
RUNS = {"a": mark("Run on the left"), "b": mark("Run on the right")}  # by the letter of the address


@dataclass(frozen=True)
class Chosen:
    """What names a side in the address, beside how it is shown."""

    run: str = option("", "The run.")  # untranslated
    model: str = option("", "The model of the run.")  # untranslated


def address_view() -> PageAddress:
    """The choices of both sides in the address of the page."""
    return PageAddress("compare", "sides", anchor="a-run")


class SideInput:
    """The widgets of one side, `letter` "a" or "b"; the same letter begins its names in the address."""

    def __init__(self, letter: str, address: PageAddress) -> None:
        self.choices, self.address = SideChoices(letter, address), address
        # A choice that another kind of run has does not apply to the run shown.
        self._own(Chosen)
        for compared in [face.compared for face in FACES.values() if face.compared is not None]:
            self._own(*compared.records)

    def run(self, runs: Sequence[RunRecord], default: RunRecord, kinds: Collection[str] = KINDS) -> RunRecord:
        """The chosen run, at first that of the address, else `default`, which is one of `runs`.

        kinds: of which a run may be that the address alone names.
        """
        by_id = {run.id: run for run in runs}
        declared = self.choices.declared(options_of(Chosen)["run"])
        linked = st.query_params.get(f"{self.choices.letter}-run")
        if linked and linked not in by_id:
            found = session.access().get(linked)
            if found is not None and found.state == "done" and found.kind in kinds:
                by_id[found.id] = found
        first = self.address.first(declared, default.id, offered=by_id)
        # Streamlit knows an option by its label, and two runs of one file may begin in one minute.
        labels = dict(
            zip(
                by_id,
                distinct([f"{run_title(run)} · {stamp(run.created)}" for run in by_id.values()]),
                strict=True,
            )
        )
        chosen = st.selectbox(
            tr(RUNS[self.choices.letter]),
            list(by_id),
            index=list(by_id).index(first),
            key=self.choices.key("run"),
            format_func=labels.__getitem__,
        )
        self.address.keep(declared, chosen, None)
        return by_id[chosen]

    def side(self, run: RunRecord, default_model: str | None = None) -> ChosenSide:
        """The side of a run: its model and how it is shown. Raises EngineError for a result that cannot be opened."""
        result = run_view.load_result(run.id)
        models = scored_models(result)
        base = default_model if default_model in models else models[0]
        declared = self.choices.declared(options_of(Chosen)["model"])
        model = self.address.first(declared, base, offered=models)
        if len(models) > 1:
            model = str(
                st.pills(
                    tr("Model"),
                    models,
                    default=model,
                    required=True,
                    format_func=model_name,
                    key=self.choices.key("model", run.id, str(base)),
                )
            )
        else:
            st.caption(verbatim(shortened(model, models)))
        self.address.keep(declared, model, None)
        compared = FACES[run.kind].compared
        if compared is None:
            return ChosenSide(run, Side("", result, model), {})
        view = compared.choose(self.choices, run.id, result, model)
        return ChosenSide(run, Side("", result, model, view), compared.in_words(view))

    def _own(self, *records: type[Any]) -> None:
        self.address.own(
            self.choices.declared(declared) for record in records for declared in options_of(record).values()
        )


def comparable_runs() -> list[RunRecord]:
    """The viewer's own finished runs that can be compared, the newest first."""
    runs = session.access().mine(Search(states=("done",), limit=LISTED))
    return [run for run in runs if run.kind in KINDS]


def named(first: ChosenSide, second: ChosenSide) -> tuple[ChosenSide, ChosenSide]:
    """Both sides with a name for figures and tables: left or right, and in what they differ."""
    names = []
    for place, own, other in ((tr(LEFT), first, second), (tr(RIGHT), second, first)):
        parts = [shortened(own.side.model, (other.side.model,))] if own.side.model != other.side.model else []
        parts += [
            _told(own.run.kind, name, value) for name, value in own.shown.items() if other.shown.get(name) != value
        ]
        if own.run.id != other.run.id and not parts:
            parts = [run_title(own.run) if run_title(own.run) != run_title(other.run) else stamp(own.run.created)]
        names.append(tr("{place}: {what}", place=place, what=tr(", ").join(parts)) if parts else place)
    one, two = (
        replace(chosen, side=replace(chosen.side, name=name))
        for chosen, name in zip((first, second), names, strict=True)
    )
    return one, two


def _told(kind: str, name: str, value: str) -> str:
    """A choice of a side, in the reader's language."""
    compared = FACES[kind].compared
    told = compared.told.get(name) if compared else None
    return f"{tr(name)} {told(value) if told else value_in_words(kind, name, value)}"


def spoken_names(first: ChosenSide, second: ChosenSide) -> tuple[str, str]:
    """What a sentence calls two named sides: their models where these differ, else left and right, and in what."""
    models = first.side.model, second.side.model
    if models[0] != models[1]:
        names = spoken(models)
        return names[models[0]], names[models[1]]
    return first.side.name, second.side.name


def ranks_models(sides: tuple[ChosenSide, ChosenSide]) -> bool:
    """Whether the data of the sides have a better end: none of the two sentences of a stereotype is the right one."""
    return all(getattr(side.side.result, "data_kind", None) is not STEREOTYPES for side in sides)


def found_by(sides: tuple[ChosenSide, ChosenSide], comparison: Comparison) -> Message:
    """What the comparison found: of the two models of a run, shown alike, what the page of the run says."""
    first, second = sides
    kind, result = first.run.kind, first.side.result
    is_the_runs = (
        kind in OF_TWO_MODELS
        and first.run.id == second.run.id
        and first.side.shown == second.side.shown
        and {first.side.model, second.side.model} == set(scored_models(result))
    )
    if not is_the_runs:
        return finding(kind, comparison, spoken_names(first, second), ranks=ranks_models(sides))
    shown = () if first.side.shown is None else (first.side.shown,)
    further = corrected(comparison, measure := main_measure(kind, comparison))
    number = comparison.numbers[(comparison.numbers["measure"] == measure).to_numpy()].iloc[0]
    if (number["difference"] > 0) if CARDS[measure].better == "lower" else (number["difference"] < 0):
        further = [*further, Message("The table has left − right, the difference with the other sign.")]
    return together(" ", [*FACES[kind].found(result, *shown).parts, *further])
