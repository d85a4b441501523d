"""The form of a model card: which evaluations are run on which data, and the progress of these runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import streamlit as st

from dashboard.model_card.choice import ChosenRuns, evaluation_title, show_runs
from dashboard.models.inspection import SENTENCES, Inspection, inspected
from dashboard.shared import run_progress, session
from dashboard.shared.inputs.kept import kept_type, label, opened
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError
from engine.evaluations.model_card.card import KINDS
from engine.messages.languages import tr, translated
from engine.models.sources.endpoint_names import is_endpoint
from engine.models.sources.names import without_label
from engine.runs.card_runs import card_job, card_tasks
from engine.runs.storage.kept import KeptDataset
from engine.runs.storage.run_record import RunRecord

SAMPLE = ""
STATE_ICONS = {
    "queued": ":material/schedule:",
    "running": ":material/play_arrow:",
    "done": ":material/check:",
    "failed": ":material/error:",
    "cancelled": ":material/close:",
}


def evaluate_form(model: str, shown: ChosenRuns) -> None:
    """Draw what evaluates the model; shown: the runs of the card so far."""
    with st.container(border=True) if not shown.finished else st.expander(tr("Evaluate"), icon=":material/balance:"):
        kinds = st.pills(
            tr("Evaluations"),
            KINDS,
            selection_mode="multi",
            format_func=evaluation_title,
            key="model-card-kinds",
            help=tr("None chosen: all that fit the model."),
        )
        datasets = {kind: chosen for kind in kinds if (chosen := _data(kind)) is not None}
        if st.button(
            tr("Evaluate"), type="primary", key="model-card-submit", icon=":material/balance:", disabled=not model
        ):
            try:
                _submit(model, kinds, datasets, shown)
            except EngineError as error:
                show_error(error)


def checked(model: str) -> Inspection | None:
    """The inspection of a model in this session, None where there is none."""
    inspection: Inspection | None = st.session_state.get(_key(model))
    return inspection


def check(model: str) -> Inspection:
    """Load and check a model, with its progress; kept for the session. Raises EngineError."""
    inspection = inspected(model, SENTENCES["ja"], loads=not is_endpoint(without_label(model)))
    st.session_state[_key(model)] = inspection
    return inspection


def _watched(run_ids: Sequence[str], n_active: int) -> None:
    """Draw the runs of a job as one; once one of them has ended the whole page is drawn again."""
    try:
        views = [view for run_id in run_ids if (view := session.access().get(run_id)) is not None]
    except EngineError as error:
        show_error(error)
        return
    active = [view for view in views if view.state in run_progress.ACTIVE]
    if len(active) != n_active:
        st.rerun()
    ended = len(views) - len(active)
    now = next((view for view in active if view.state == "running"), active[0])
    with st.container(border=True):
        st.progress(
            ended / len(views),
            text=verbatim(
                " · ".join(
                    (
                        tr("{ended:,} of {n:,} evaluations have ended", ended=ended, n=len(views)),
                        evaluation_title(now.kind),
                        run_progress.progress_text(now),
                    )
                )
            ),
        )
        st.caption(
            "&ensp;".join(
                f"{STATE_ICONS[view.state]} {evaluation_title(view.kind)}"  # untranslated
                for view in views
            )
        )
        own = [view for view in active if session.access().may_change(view)]
        if own and st.button(tr("Cancel"), key="model-card-cancel", icon=":material/close:"):
            for view in own:
                session.access().cancel(view.id)


def _failed(model: str, run: RunRecord, shown: ChosenRuns) -> None:
    """Draw why an evaluation failed, and what runs it again."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.error(
            tr(
                "{evaluation} failed. {message}",
                evaluation=f"**{evaluation_title(run.kind)}**",
                message=verbatim(translated(run.message)),
            ),
            icon=":material/error:",
        )
        if st.button(tr("Run again"), key=f"model-card-again-{run.id}", icon=":material/refresh:"):
            access = session.access()
            try:
                again = access.submit(run.kind, access.settings(run.id), access.dataset(run.id), run.name)
            except EngineError as error:
                show_error(error)
                return
            show_runs(model, shown.all, {run.kind: again.run_id})


def _data(kind: str) -> Any | None:
    """The kept data set that is chosen for an evaluation; None for the sample, and where none is kept."""
    dataset_type = kept_type(kind)
    known: list[KeptDataset] = session.datasets().readable(dataset_type) if dataset_type is not None else []
    if not known:
        return None
    by_id = {data.id: data for data in known}
    chosen = st.selectbox(
        tr("Data for {evaluation}", evaluation=evaluation_title(kind)),
        [SAMPLE, *by_id],
        format_func=lambda set_id: label(by_id[set_id]) if set_id else tr("Sample"),
        key=f"model-card-data-{kind}",
    )
    return opened(by_id[chosen], by_id[chosen].newest.number) if chosen else None


def _submit(model: str, kinds: Sequence[str], datasets: dict[str, Any], shown: ChosenRuns) -> None:
    """Submit the evaluations as runs of the viewer, and go to the card of them and of the other runs that it shows."""
    access = session.access()
    facts = check(model).facts
    of_engine = session.engine().gateway.session(f"card-{uuid4().hex}", owner=session.viewer().id)
    show_runs(
        model,
        shown.all,
        {
            task.kind: access.submit(task.kind, task.settings, task.dataset).run_id
            for task in card_tasks(model, facts, of_engine, tuple(kinds), datasets)
        },
    )


def progress_of(model: str, shown: ChosenRuns) -> None:
    """Draw the runs of a model that go on as one job, and the evaluations that failed, if any."""
    job = card_job(session.access(), model, [run.id for run in shown.unfinished])
    if active := job.active:
        st.fragment(_watched, run_every=run_progress.POLL_SECONDS)([run.id for run in job.runs], len(active))
    for run in job.failed:
        _failed(model, run, shown)


def _key(model: str) -> str:
    return f"model-card-checked {model}"  # untranslated
