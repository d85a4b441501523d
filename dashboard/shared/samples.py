"""The built-in models on the built-in samples: real runs that pages open on.

`python -m dashboard.prepare_samples` evaluates all of them when Hakari is set up; the home page submits those that it
shows, where that was not done. They belong to no user, and are the same for every visitor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import streamlit as st

from dashboard.shared import session
from dashboard.shared.face import AnyFace, SampleRun
from engine.runs.queue import RunQueue
from engine.runs.run_key import run_key
from engine.runs.storage.json_codec import to_json_value
from engine.runs.storage.run_record import RunRecord

OWNER = "samples"  # lists of runs do not show them


def submit(runs: RunQueue, face: AnyFace, sample: SampleRun) -> str:
    """Submit the run of a sample; its id. Raises EngineError when the queue does not take it."""
    return runs.submit(face.kind, sample.settings(), face.evaluation.sample(), owner=OWNER, name=sample.name).run_id


@st.cache_resource(show_spinner=False)
def run_ids(_faces: Iterable[AnyFace]) -> dict[str, str]:
    """Kind -> id of the sample's run of each face that the home page shows; most are in the store already.

    They are submitted once per server process. Raises EngineError when the queue does not take them.
    """
    return {
        face.kind: submit(session.engine().runs, face, face.sample)
        for face in _faces
        if face.home is not None and face.sample is not None
    }


def finished(face: AnyFace) -> str | None:
    """The id of the run of a sample; None where there is none, or not yet. Nothing is submitted."""
    if face.sample is None:
        return None
    engine = session.engine()
    runs = engine.store.runs_with_key(OWNER, _key(face.kind, face, face.sample))
    return next(
        (run.id for run in runs if run.state == "done" and run.deleted is None and engine.artifacts.has_result(run.id)),
        None,
    )


@st.cache_resource(show_spinner=False)
def _key(kind: str, _face: AnyFace, _sample: SampleRun) -> str:
    return run_key(kind, to_json_value(_sample.settings()), _face.evaluation.sample().content_hash)


def views(run_ids: Mapping[str, str]) -> dict[str, RunRecord]:
    """Kind -> its sample run in its present state; one that was deleted meanwhile is left out."""
    view_by_kind = {kind: session.engine().runs.get(run_id) for kind, run_id in run_ids.items()}
    return {kind: view for kind, view in view_by_kind.items() if view is not None}
