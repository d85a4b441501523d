"""The form of a model card: which evaluations are run on which data, and the progress of these runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import streamlit as st

from dashboard.model_card.choice import evaluation_title, unfinished
from dashboard.models.inspection import SENTENCE, Inspection, inspected
from dashboard.shared import run_progress, session
from dashboard.shared.inputs.kept import kept_type, label, opened
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError
from engine.evaluations.model_card.card import KINDS
from engine.models.sources.endpoint_names import is_endpoint
from engine.models.sources.names import without_label
from engine.runs.card_runs import card_tasks
from engine.runs.storage.kept import KeptDataset
from engine.runs.storage.run_record import RunRecord
from engine.translation import tr

SAMPLE = ""


def evaluate_form(model: str, done: Sequence[str]) -> None:
    """Draw what evaluates the model; done: the evaluations of the card so far, which are not chosen at first."""
    with st.container(border=True) if not done else st.expander(tr("Evaluate"), icon=":material/balance:"):
        kinds = st.pills(tr("Evaluations"), KINDS, selection_mode="multi", format_func=evaluation_title,
                         key="model-card-kinds", help=tr("None chosen: all that fit the model."))
        datasets = {kind: chosen for kind in kinds if (chosen := _data(kind)) is not None}
        if st.button(tr("Evaluate"), type="primary", key="model-card-submit", icon=":material/balance:",
                     disabled=not model):
            try:
                _submit(model, kinds, datasets)
            except EngineError as error:
                show_error(error)


def checked(model: str) -> Inspection | None:
    """The inspection of a model in this session, None where there is none."""
    inspection: Inspection | None = st.session_state.get(_key(model))
    return inspection


def check(model: str) -> Inspection:
    """Load and check a model, with its progress; kept for the session. Raises EngineError."""
    inspection = inspected(model, SENTENCE, loads=not is_endpoint(without_label(model)))
    st.session_state[_key(model)] = inspection
    return inspection


def watch(runs: Sequence[RunRecord]) -> None:
    """Draw the progress of runs, redrawn at intervals until one of them has ended."""
    st.fragment(_watched, run_every=run_progress.POLL_SECONDS)([run.id for run in runs])


def _watched(run_ids: Sequence[str]) -> None:
    try:
        views = [session.access().get(run_id) for run_id in run_ids]
    except EngineError as error:
        show_error(error)
        return
    active = [view for view in views if view is not None and view.state in run_progress.ACTIVE]
    if len(active) < len(run_ids):
        st.rerun()
    with st.container(border=True):
        for view in active:
            st.markdown(f"**{verbatim(view.name)}**")
            run_progress.progress(view)
        if st.button(tr("Cancel all"), key="model-card-cancel", icon=":material/close:"):
            for view in active:
                session.access().cancel(view.id)


def _data(kind: str) -> Any | None:
    """The kept data set that is chosen for an evaluation; None for the sample, and where none is kept."""
    dataset_type = kept_type(kind)
    known: list[KeptDataset] = session.datasets().readable(dataset_type) if dataset_type is not None else []
    if not known:
        return None
    by_id = {data.id: data for data in known}
    chosen = st.selectbox(
        tr("Data for {evaluation}", evaluation=evaluation_title(kind)), [SAMPLE, *by_id],
        format_func=lambda set_id: label(by_id[set_id]) if set_id else tr("Sample"), key=f"model-card-data-{kind}")
    return opened(by_id[chosen], by_id[chosen].newest.number) if chosen else None


def _submit(model: str, kinds: Sequence[str], datasets: dict[str, Any]) -> None:
    """Submit the evaluations as runs of the viewer, and go to the card with its newest runs."""
    access = session.access()
    facts = check(model).facts
    of_engine = session.engine().gateway.session(f"card-{uuid4().hex}", owner=session.viewer().id)
    for task in card_tasks(model, facts, of_engine, tuple(kinds), datasets):
        access.submit(task.kind, task.settings, task.dataset)
    st.query_params.from_dict({"model": model})
    st.rerun()


def progress_of(model: str) -> None:
    """Draw the runs of a model that go on, if any."""
    if runs := unfinished(model):
        watch(runs)


def _key(model: str) -> str:
    return f"model-card-checked {model}"  # untranslated
