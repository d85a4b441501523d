"""The model of a card and the runs that it is made of, as the address and the widgets have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import streamlit as st

from dashboard.faces import FACES
from dashboard.runs.comparing import distinct
from dashboard.shared import session
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.headlines import dataset_title
from dashboard.shared.inputs import sample_language
from dashboard.shared.wording import stamp
from engine.evaluations.model_card.card import KINDS
from engine.messages.languages import tr
from engine.models.sources.cards import built_in_models, first_built_in
from engine.options import option, options_of
from engine.runs.card_runs import default_runs, holds, runs_of
from engine.runs.computing import SAMPLES_ID
from engine.runs.storage.run_record import RunRecord

PARTS = ("others", "length", "readings", "map", "checks")


@dataclass(frozen=True)
class CardChoices:
    """What the page shows, as written in its URL."""

    model: str = option("", "The model.")  # untranslated
    runs: tuple[str, ...] = option(
        (),
        "The runs of the card; those over the samples where none is named.",  # untranslated
    )
    part: str = option(PARTS[0], "The part of the card that is open.", choices=PARTS)  # untranslated


MODEL, RUNS, PART = options_of(CardChoices).values()


@dataclass(frozen=True)
class ChosenRuns:
    """The runs of a card. unfinished: those that the address names and that have no result (yet).

    n_others: further finished runs of the model, which are not chosen. missing: ids in the address without such a run.
    """

    finished: tuple[RunRecord, ...]
    unfinished: tuple[RunRecord, ...] = ()
    n_others: int = 0
    missing: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[RunRecord, ...]:
        """Both."""
        return (*self.finished, *self.unfinished)


def chosen_model(address: PageAddress) -> str:
    """Draws the choice of the model, at first that of the address; any name may be typed."""
    access = session.access()
    evaluated = [model for team in (False, True) for model in access.facets(team=team).models]
    first = str(address.first(MODEL, first_built_in("masked", language=sample_language.usual())[0]))
    offered = list(dict.fromkeys((*built_in_models(), *evaluated, first)))
    model = st.selectbox(
        tr("Model"),
        offered,
        index=offered.index(first),
        accept_new_options=True,
        key=address.key("model"),
        help=tr("Built-in, or evaluated so far. Type any other: a Hugging Face id, a directory, or `LABEL=MODEL`."),
    )
    model = str(model or first).strip()
    address.keep(MODEL, model, None)
    return model


def chosen_runs(model: str, address: PageAddress) -> ChosenRuns:
    """Draws the choice of the runs, where there are any: at first the address's, without any those of the samples."""
    access = session.access()
    named = dict.fromkeys(address.first(RUNS, ()))
    linked = {run_id: run for run_id in named if (run := access.get(run_id)) is not None and holds(run, model)}
    unfinished = tuple(run for run in linked.values() if run.state != "done")
    by_id = {run.id: run for run in (*runs_of(access, model), *linked.values()) if run.state == "done"}
    first = tuple(run_id for run_id in linked if run_id in by_id)
    if not linked:
        first = tuple(run.id for run in default_runs(access, list(by_id.values())))
    chosen = _drawn_choice(model, by_id, first, address) if by_id else []
    # Also the default: another viewer's is another.
    address.keep(RUNS, (*chosen, *(run.id for run in unfinished)), None)
    runs = sorted((by_id[run_id] for run_id in chosen), key=lambda run: KINDS.index(run.kind))
    missing = tuple(run_id for run_id in named if run_id not in linked)
    return ChosenRuns(tuple(runs), unfinished, len(by_id) - len(runs), missing)


def show_runs(model: str, runs: Sequence[RunRecord], submitted: Mapping[str, str]) -> None:
    """Go to the card of the runs that were submitted, kind -> id, and of `runs` of other kinds."""
    others = [run.id for run in runs if run.kind not in submitted]
    st.query_params.from_dict({MODEL.name: model, RUNS.name: [*others, *submitted.values()]})
    st.rerun()


def evaluation_title(kind: str) -> str:
    """The title of the page of a kind of run."""
    return tr(FACES[kind].page.title)


def _drawn_choice(model: str, by_id: Mapping[str, RunRecord], first: Sequence[str], address: PageAddress) -> list[str]:
    owners = session.access().owner_names({run.owner for run in by_id.values()})
    labels = dict(zip(by_id, distinct([_label(run, owners[run.owner]) for run in by_id.values()]), strict=True))
    # Another list of runs is another widget: it begins at the first choice again.
    content = sha256("".join((model, *by_id)).encode()).hexdigest()[:8]
    with st.popover(tr("Runs of the card"), type="tertiary", icon=":material/checklist:", key="model-card-runs-open"):
        return st.multiselect(
            tr("Runs of the card"),
            list(by_id),
            default=first,
            key=f"{address.key('runs')}-{content}",
            format_func=labels.__getitem__,
            help=tr(
                "At first those over the samples: the prepared ones, else your newest. Runs on "
                "other data, and those of others, are on the card once you choose them."
            ),
        )


def _label(run: RunRecord, owner: str) -> str:
    time = stamp(run.created)
    size = "" if run.n_rows is None else f" (n = {run.n_rows:,})"
    is_of_another = run.owner != SAMPLES_ID and not session.access().may_change(run)
    whose = f" · {owner}" if is_of_another else ""
    # A list shows no Markdown.
    return f"{evaluation_title(run.kind)} · {dataset_title(run)}{size} · {time}{whose}"  # untranslated
