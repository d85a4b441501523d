"""What the lessons are held against: the results of the samples, and the reader's own finished runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

import streamlit as st

from dashboard.faces import FACES
from dashboard.lessons.records import Lesson, OwnRun, Results, Step
from dashboard.shared import run_progress, run_view, samples, session
from dashboard.shared.inputs import sample_language
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError
from engine.messages.languages import tr, translated
from engine.messages.message import list_of
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search

OWN_LOOKED_AT = 12  # the newest of the reader's runs of a kind
SUBMITTED = "lessons-submitted"  # in the session: (kind, language) -> run of a sample

RunIds = Mapping[tuple[str, str], str | None]  # (kind, language) -> the finished run of the sample


def run_ids(lesson: Lesson) -> RunIds:
    """The finished runs of the samples that a lesson needs; None where there is none yet. Nothing is submitted."""
    wanted = {(kind, language_of(step)) for step in lesson.steps for kind in step.kinds}
    return {(kind, language): samples.finished_in(FACES[kind], language) for kind, language in wanted}


def language_of(step: Step) -> str:
    """The language of the samples of a step."""
    return step.language or sample_language.usual()


def ids_of(step: Step, found: RunIds) -> tuple[str | None, ...]:
    """The runs that a step is posed from, in the order of its kinds."""
    return tuple(found[kind, language_of(step)] for kind in step.kinds)


def results_of(step: Step, found: RunIds) -> Results:
    """The results that a step is posed from. Raises EngineError where one cannot be opened."""
    ids = zip(step.kinds, ids_of(step, found), strict=True)
    return {kind: run_view.load_result(run_id) for kind, run_id in ids if run_id is not None}


def own_runs(kind: str) -> list[OwnRun]:
    """The reader's newest finished runs of a kind; those whose data or settings are gone are left out."""
    access = session.access()
    runs = []
    for run in access.mine(Search(kind=kind, states=("done",), limit=OWN_LOOKED_AT)):
        with suppress(EngineError):
            settings, dataset = access.settings(run.id), access.dataset(run.id)
            runs.append(OwnRun(run, settings, dataset, partial(run_view.load_result, run.id)))
    return runs


def offer_samples(step: Step, found: RunIds) -> None:
    """Draw which samples of a step are not evaluated yet, with what evaluates them, or their progress."""
    language = language_of(step)
    lacking = [kind for kind in step.kinds if found[kind, language] is None]
    submitted = {kind: run for kind in lacking if (run := _submitted(kind, language)) is not None}
    for kind, run in submitted.items():
        if run.state in run_progress.ACTIVE:
            run_progress.watch(run, FACES[kind])
        elif run.state != "done":
            st.error(
                tr("This run failed. {message}", message=verbatim(translated(run.message or ""))),
                icon=":material/error:",
            )
    if any(run.state in run_progress.ACTIVE for run in submitted.values()):
        return
    titles = translated(list_of(tr(FACES[kind].page.title) for kind in lacking))
    st.info(
        tr("This step needs the result of a sample that is not evaluated yet: {titles}.", titles=titles),
        icon=":material/hourglass_empty:",
    )
    st.button(
        tr("Evaluate the sample"),
        key="lessons-evaluate",
        type="primary",
        icon=":material/balance:",
        on_click=_evaluate,
        args=(lacking, language),
    )


def _evaluate(kinds: Sequence[str], language: str) -> None:
    known = st.session_state.setdefault(SUBMITTED, {})
    for kind in kinds:
        if (sample := FACES[kind].sample) is None:
            continue
        try:
            known[kind, language] = samples.submit(session.engine().runs, FACES[kind], sample, language)
        except EngineError as error:
            show_error(error)


def _submitted(kind: str, language: str) -> RunRecord | None:
    run_id = st.session_state.get(SUBMITTED, {}).get((kind, language))
    run = session.engine().runs.get(run_id) if run_id else None
    return None if run is None else run_progress.awaited(run)
