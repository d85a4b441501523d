"""The built-in models on the built-in samples: real runs that pages open on.

`python -m dashboard.prepare_samples` evaluates all of them when Hakari is set up; the home page submits those that it
shows, where that was not done. They belong to no user, and are the same for every visitor of one language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import streamlit as st

from dashboard.shared import session
from dashboard.shared.face import AnyFace, SampleRun
from dashboard.shared.inputs import sample_language
from dashboard.shared.wording import verbatim
from engine.datasets import sample_data
from engine.errors import EngineError
from engine.messages.languages import mark, tr, translated
from engine.runs.queue import RunQueue
from engine.runs.run_key import run_key
from engine.runs.storage.json_codec import to_json_value
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search

IN_LANGUAGE = {"en": mark("Sample in English"), "ja": mark("Sample in Japanese")}
OWNER = "samples"  # lists of runs do not show them
EARLIER = 8  # runs of a sample by earlier code that are looked through


def submit(runs: RunQueue, face: AnyFace, sample: SampleRun, language: str = "ja") -> str:
    """Submit the run of a sample; its id. Raises EngineError when the queue does not take it."""
    settings, dataset = sample.settings(language), face.evaluation.sample(language)
    return runs.submit(face.kind, settings, dataset, owner=OWNER, name=sample.name).run_id


def run_ids(faces: Iterable[AnyFace]) -> dict[str, str]:
    """Kind -> id of the sample's run of each face that the home page shows, in the reader's language.

    Most are in the store already; others are submitted once per server process. Raises EngineError when the queue does
    not take them.
    """
    return _run_ids(sample_language.usual(), faces)


@st.cache_resource(show_spinner=False)
def _run_ids(language: str, _faces: Iterable[AnyFace]) -> dict[str, str]:
    return {
        face.kind: submit(session.engine().runs, face, face.sample, language)
        for face in _faces
        if face.home is not None and face.sample is not None
    }


def forget() -> None:
    """Look for the runs of the home page anew."""
    _run_ids.clear()


def finished(face: AnyFace) -> str | None:
    """The id of the run of a sample; None where there is none, or not yet. Nothing is submitted.

    It is the sample in the language that is chosen, or else the reader's; where that is not evaluated, another.
    """
    if face.sample is None:
        return None
    chosen = sample_language.of_page(face.kind)
    others = [] if sample_language.is_chosen(face.kind) else [name for name in sample_data.LANGUAGES if name != chosen]
    return next((run_id for name in (chosen, *others) if (run_id := finished_in(face, name)) is not None), None)


def finished_in(face: AnyFace, language: str) -> str | None:
    """The id of the run of a sample in a language; None where there is none, or not yet.

    Where the code has changed since the last one, that one: the same data under the same models (`is_current`).
    """
    if face.sample is None:
        return None
    engine, (key, dataset_hash, models) = session.engine(), _identity(face.kind, language, face, face.sample)
    current = [run for run in engine.store.runs_with_key(OWNER, key) if run.state == "done" and run.deleted is None]
    search = Search(owner=OWNER, kind=face.kind, states=("done",), dataset_hash=dataset_hash, limit=EARLIER)
    earlier = () if current else (run for run in engine.store.search(search) if run.models == models)
    return next((run.id for run in (*current, *earlier) if engine.artifacts.has_result(run.id)), None)


def is_current(face: AnyFace, run_id: str) -> bool:
    """Whether the run of a sample is one of the present code and settings."""
    run = session.engine().runs.get(run_id)
    if run is None or face.sample is None:
        return False
    return run.key in {_identity(face.kind, name, face, face.sample)[0] for name in sample_data.LANGUAGES}


def again(face: AnyFace, run_id: str) -> None:
    """Draw the button that evaluates a sample anew whose run is of an earlier state of the code."""
    st.button(
        tr("Evaluate it again"),
        key=f"{face.kind}-sample-again",
        type="tertiary",
        icon=":material/refresh:",
        on_click=_evaluate,
        args=(face, _language_of(face, run_id)),
    )


def other_language(face: AnyFace, run_id: str) -> None:
    """Draw the button that shows the sample in the other language; where it is not evaluated yet, it is then.

    run_id: of the sample that is shown.
    """
    shown = _language_of(face, run_id)
    other = next(name for name in sample_data.LANGUAGES if name != shown)
    st.button(
        tr(IN_LANGUAGE[other]),
        key=f"{face.kind}-sample-{other}",
        type="tertiary",
        icon=":material/translate:",
        help=tr("The sample and the built-in models in the other language"),
        on_click=_show_in,
        args=(face, other),
    )


def _show_in(face: AnyFace, language: str) -> None:
    sample_language.choose(face.kind, language)
    if finished_in(face, language) is None:
        _evaluate(face, language)


def _evaluate(face: AnyFace, language: str) -> None:
    """Submit the sample in a language, and go to its run."""
    if face.sample is None:
        return
    try:
        st.query_params.from_dict({"run": submit(session.engine().runs, face, face.sample, language)})
    except EngineError as error:
        st.toast(verbatim(translated(str(error))), icon=":material/error:")


def _language_of(face: AnyFace, run_id: str) -> str:
    """The language of the sample that a run is of; "" for none."""
    return next((name for name in sample_data.LANGUAGES if finished_in(face, name) == run_id), "")


@st.cache_resource(show_spinner=False)
def _identity(kind: str, language: str, _face: AnyFace, _sample: SampleRun) -> tuple[str, str, tuple[str, ...]]:
    """The key of the run of a sample, the hash of its data, and its models."""
    settings, dataset_hash = _sample.settings(language), _face.evaluation.sample(language).content_hash
    return run_key(kind, to_json_value(settings), dataset_hash), dataset_hash, tuple(settings.models)


def views(run_ids: Mapping[str, str]) -> dict[str, RunRecord]:
    """Kind -> its sample run in its present state; one that was deleted meanwhile is left out."""
    view_by_kind = {kind: session.engine().runs.get(run_id) for kind, run_id in run_ids.items()}
    return {kind: view for kind, view in view_by_kind.items() if view is not None}


def done(faces: Mapping[str, AnyFace]) -> list[RunRecord]:
    """The finished runs of the samples that the home page shows; while one is evaluated, that of an earlier state of the code.

    faces: by kind. Raises EngineError as `run_ids`.
    """
    found = views(run_ids(faces.values()))
    ids = {kind: run.id if run.state == "done" else finished(faces[kind]) for kind, run in found.items()}
    return list(views({kind: run_id for kind, run_id in ids.items() if run_id is not None}).values())
