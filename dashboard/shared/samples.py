"""The built-in models on the built-in samples: real runs that pages open on.

`python -m dashboard.prepare_samples` evaluates all of them when Hakari is set up; the home page submits those that it
shows, where that was not done. They are nobody's own runs, and the same for every visitor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard.shared import session
from dashboard.shared.inputs.inputs import FORMS
from engine.evaluations.alignment import records as alignment
from engine.evaluations.classification import records as classification
from engine.evaluations.clusters import records as clusters
from engine.evaluations.fill_mask import records as fill_mask
from engine.evaluations.metric_study import records as metric_study
from engine.evaluations.minimal_pairs import records as minimal_pairs
from engine.models.sources.cards import built_in_models, first_built_in
from engine.runs.run_key import run_key
from engine.runs.storage.json_codec import to_json_value
from engine.runs.storage.run_record import RunRecord

OWNER = "samples"  # lists of runs do not show them
ON_HOME = ("clusters", "minimal-pairs")


@dataclass(frozen=True)
class SampleRun:
    """The run of a page's sample: its kind, its name and its settings."""

    kind: str
    name: str
    settings: Callable[[], Any]


# All built-in models where a page ranks models; elsewhere one of each kind, which takes less time and shows as much.
SAMPLE_RUNS = (
    # The mean over tokens, because a causal model has no CLS token to compare by. PCA, because the first UMAP of a
    # process takes longer than all the rest.
    SampleRun("clusters", "Sample: clusters",  # untranslated
              lambda: clusters.Settings(built_in_models("masked", "causal"), pooling="mean-without-special",
                                        projection="pca")),
    SampleRun("alignment", "Sample: alignment",  # untranslated
              lambda: alignment.Settings(first_built_in("masked"))),
    SampleRun("minimal-pairs", "Sample: minimal pairs",  # untranslated
              lambda: minimal_pairs.Settings(first_built_in("masked", "causal"))),
    SampleRun("classification", "Sample: classification",  # untranslated
              lambda: classification.Settings(built_in_models("masked"))),
    SampleRun("fill-mask", "Sample: fill-mask",  # untranslated
              lambda: fill_mask.Settings(built_in_models("masked"))),
    SampleRun("metric-study", "Sample: metric study",  # untranslated
              lambda: metric_study.Settings(first_built_in("masked"))),
)


@st.cache_resource(show_spinner=False)
def run_ids() -> dict[str, str]:
    """Kind -> id of its sample run, submitted once per server process; most are in the store already.

    Raises EngineError when the queue does not take them.
    """
    return {
        sample.kind: session.engine().runs.submit(sample.kind, sample.settings(), FORMS[sample.kind].sample(),
                                                  owner=OWNER, name=sample.name).run_id
        for sample in SAMPLE_RUNS if sample.kind in ON_HOME
    }


def finished(kind: str) -> str | None:
    """The id of the run of a kind's sample; None where there is none, or not yet. Nothing is submitted."""
    if all(sample.kind != kind for sample in SAMPLE_RUNS):
        return None
    engine = session.engine()
    runs = engine.store.runs_with_key(OWNER, _key(kind))
    return next((run.id for run in runs if run.state == "done" and run.deleted is None
                 and engine.artifacts.has_result(run.id)), None)


@st.cache_resource(show_spinner=False)
def _key(kind: str) -> str:
    settings = next(sample.settings() for sample in SAMPLE_RUNS if sample.kind == kind)
    return run_key(kind, to_json_value(settings), FORMS[kind].sample().content_hash)


def views(run_ids: Mapping[str, str]) -> dict[str, RunRecord]:
    """Kind -> its sample run in its present state; one that was deleted meanwhile is left out."""
    view_by_kind = {kind: session.engine().runs.get(run_id) for kind, run_id in run_ids.items()}
    return {kind: view for kind, view in view_by_kind.items() if view is not None}
