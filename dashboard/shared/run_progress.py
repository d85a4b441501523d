"""A queued or running run on a page: its steps, speed and time left, redrawn until it has ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.shared import drawing_turns, session
from dashboard.shared.column_heads import heads
from dashboard.shared.face import AnyFace
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.headlines import dataset_title, in_a_line, run_title
from dashboard.shared.wording import duration, show_error, verbatim
from engine.errors import EngineError
from engine.messages.languages import tr, translated
from engine.runs.access.access import RunAccess
from engine.runs.storage.run_record import RunRecord

ACTIVE = ("queued", "running")
POLL_SECONDS = 0.7
# A run that has just begun is looked at more often: most are over in a few seconds. One that waits for others is looked
# at less often: every look of everybody who waits takes time from the pages of the others.
FIRST_POLL_SECONDS, FIRST_SECONDS = 0.25, 6.0
QUEUED_POLL_SECONDS = 2.0
# So long a page waits for a run that was just submitted, before it draws its progress.
PATIENCE_SECONDS, LOOK_SECONDS = 0.8, 0.03
SLOW = 10  # items a second, below which the speed has a decimal
SHOWN_ROWS, RESULTS_KEPT = 8, 8
# What a page shows of the result of the first rows: a table, or a figure.
FirstRows = Callable[[Any], pd.DataFrame | go.Figure]


def awaited(view: RunRecord) -> RunRecord | None:
    """A run in its present state; one that was submitted a moment ago has until PATIENCE_SECONDS to end."""
    now = time.time()
    end = view.created.timestamp() + PATIENCE_SECONDS
    present: RunRecord | None = view
    if not now < end <= now + PATIENCE_SECONDS or view.state not in ACTIVE:
        return present
    with st.spinner(tr("Evaluating …")), drawing_turns.waiting():
        while present is not None and present.state in ACTIVE and time.time() < end:
            time.sleep(LOOK_SECONDS)
            present = session.access().get(view.id)
    return present


def watch(view: RunRecord, face: AnyFace, shown: FirstRows | None = None) -> None:
    """Draw the progress of a run, and what is `shown` of its first rows, redrawn at intervals until it has ended."""
    interval = _interval(view)
    st.fragment(_watched, run_every=interval)(view.id, interval, face, shown)


def _interval(view: RunRecord) -> float:
    """Seconds from one look at a run to the next."""
    if _age(view) < FIRST_SECONDS:
        return FIRST_POLL_SECONDS
    return QUEUED_POLL_SECONDS if view.state == "queued" else POLL_SECONDS


def _watched(run_id: str, interval: float, face: AnyFace, shown: FirstRows | None) -> None:
    with drawing_turns.turn(session.viewer().id):
        _draw_watched(run_id, interval, face, shown)


def _draw_watched(run_id: str, interval: float, face: AnyFace, shown: FirstRows | None) -> None:
    view = still_active(run_id)
    if view is None:
        return
    if _interval(view) != interval:
        st.rerun()  # from now on at other intervals
    with st.container(border=True):
        st.markdown(" :gray[·] ".join([f"**{verbatim(run_title(view))}**", *map(verbatim, facts_of(view))]))
        progress(view)
        st.caption(tr("You can leave this page: the run continues, and its address brings you back."))
        if session.access().may_change(view) and st.button(tr("Cancel"), key="run-cancel", icon=":material/close:"):
            session.access().cancel(run_id)
    if shown is not None:
        _first_rows(view, face, shown)


def _first_rows(view: RunRecord, face: AnyFace, shown: FirstRows) -> None:
    """Draw the result of the first rows, once it is there."""
    try:
        result = _of_first_rows(view.id, face, session.access())
    except EngineError:  # not there yet, or the run ends at this moment
        return
    model, some = result.settings.models[0], shown(result)
    st.markdown(
        tr(
            "**First rows** :gray[preliminary, under {model}: {numbers}]",
            model=verbatim(model),
            numbers=verbatim(in_a_line(face.headlines(result), under=model)),
        )
    )
    alt = tr("The first rows of the run, while the others are computed")
    if isinstance(some, go.Figure):
        draw_figure(some, key=f"first-rows-{view.id}", alt=alt, data=False)
    else:
        some = some.head(SHOWN_ROWS)
        st.dataframe(some, hide_index=True, column_config=heads(map(str, some.columns)), placeholder="–", alt=alt)


@st.cache_resource(max_entries=RESULTS_KEPT, show_spinner=False)
def _of_first_rows(run_id: str, _face: AnyFace, _access: RunAccess) -> Any:
    return _access.first_rows(run_id, _face.evaluation.result_type)


def still_active(run_id: str) -> RunRecord | None:
    """The run of a progress fragment while it is queued or running; None where an error was drawn instead.

    Once the run has ended or was deleted the whole page is redrawn.
    """
    try:
        view = session.access().get(run_id)
    except EngineError as error:
        show_error(error)
        return None
    if view is None or view.state not in ACTIVE:
        st.rerun()
    return view


def progress(view: RunRecord) -> None:
    """Draw the progress bar of a queued or running run: what is done and to come, the speed and the time left."""
    share = min(1.0, view.done / view.total) if view.total and view.state == "running" else 0.0
    st.progress(share, text=verbatim(progress_text(view)))


def progress_text(view: RunRecord) -> str:
    """The step of a run, which of its models that is, its items done and to come, their speed and the time left."""
    if view.state == "queued":
        return tr("Waiting for its turn")
    parts = [translated(view.label) if view.label else tr("Starting")]
    models = view.settings.get("models") or ()
    of_model = [number for number, model in enumerate(models, start=1) if view.label.endswith(f": {model}")]
    if of_model and len(models) > 1:
        parts.append(tr("model {number} of {n}", number=of_model[0], n=len(models)))
    if view.total:
        parts.append(tr("{done:,} of {total:,}", done=view.done, total=view.total))
    if view.per_second:
        speed = f"{view.per_second:,.0f}" if view.per_second >= SLOW else f"{view.per_second:.1f}"
        parts.append(tr("{speed} per second", speed=speed))
    if view.eta_seconds is not None:
        left = duration(view.eta_seconds)
        is_last = not of_model or of_model[0] == len(models)
        parts.append(
            tr("about {duration} left", duration=left)
            if is_last
            else tr("about {duration} left for this model", duration=left)
        )
    return " · ".join(parts)


def facts_of(view: RunRecord) -> list[str]:
    """What to show beside a run's name: the dataset, unless the name holds it."""
    return [] if view.dataset_name in view.name else [dataset_title(view)]


def _age(view: RunRecord) -> float:
    """Seconds since a run was submitted."""
    return time.time() - view.created.timestamp()
