"""The model of a card and the runs that it is made of, as the address and the widgets have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import streamlit as st

from dashboard import pages
from dashboard.runs.comparing import distinct
from dashboard.shared import session
from dashboard.shared.address.view import View
from engine.evaluations.model_card.card import KINDS
from engine.models.sources.cards import built_in_models
from engine.options import option, options_of
from engine.runs.card_runs import runs_of
from engine.runs.storage.run_record import RunRecord
from engine.translation import tr

PARTS = ("others", "length", "readings", "map", "checks")


@dataclass(frozen=True)
class Shown:
    """What the page shows, as its address has it."""

    model: str = option("", "The model.")  # untranslated
    runs: tuple[str, ...] = option(
        (), "The runs of the card; the newest of each evaluation where none is named.")  # untranslated
    part: str = option(PARTS[0], "The part of the card that is open.", choices=PARTS)  # untranslated


MODEL, RUNS, PART = options_of(Shown).values()


def chosen_model(address: View) -> str:
    """Draws the choice of the model, at first that of the address; any name may be typed."""
    access = session.access()
    evaluated = [model for team in (False, True) for model in access.facets(team=team).models]
    first = str(address.first(MODEL, built_in_models()[0]))
    offered = list(dict.fromkeys((*built_in_models(), *evaluated, first)))
    model = st.selectbox(tr("Model"), offered, index=offered.index(first), accept_new_options=True,
                         key=address.key("model"), help=tr(
                             "Built-in, or evaluated so far. Type any other: a Hugging Face id, a directory, or "
                             "`LABEL=MODEL`."))
    model = str(model or first).strip()
    address.keep(MODEL, model, None)
    return model


def chosen_runs(model: str, address: View) -> list[RunRecord]:
    """Draws the choice of the runs, where there are any: at first the newest of each evaluation, or the address's."""
    finished = runs_of(session.access(), model)
    if not finished:
        return []
    by_id = {run.id: run for run in finished}
    base = newest(finished)
    first = tuple(address.first(RUNS, base, offered=by_id))
    labels = dict(zip(by_id, distinct([_label(run) for run in by_id.values()]), strict=True))
    # Another list of runs is another widget: it begins at the newest ones again.
    content = sha256("".join((model, *by_id)).encode()).hexdigest()[:8]
    with st.popover(tr("Runs of the card"), type="tertiary", icon=":material/checklist:", key="model-card-runs-open"):
        chosen = st.multiselect(tr("Runs of the card"), list(by_id), default=first,
                                key=f"{address.key('runs')}-{content}", format_func=labels.__getitem__,
                                help=tr("At first the newest of each evaluation."))
    address.keep(RUNS, tuple(chosen), base)
    return sorted((by_id[run_id] for run_id in chosen), key=lambda run: KINDS.index(run.kind))


def newest(runs: Sequence[RunRecord]) -> tuple[str, ...]:
    """The first run of each kind, in the order of the card.

    `runs` are the newest first.
    """
    first = {run.kind: run.id for run in reversed(runs)}
    return tuple(first[kind] for kind in KINDS if kind in first)


def evaluation_title(kind: str) -> str:
    """The title of the page of a kind of run."""
    return tr(pages.card(pages.PAGE_BY_KIND[kind]).title)


def _label(run: RunRecord) -> str:
    time = tr("{time:%d %b %H:%M}", time=run.created.astimezone())
    return f"{evaluation_title(run.kind)} · {run.dataset_name} · {time}"  # untranslated; a list shows no Markdown
