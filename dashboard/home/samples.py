"""The built-in models on the built-in samples: three real runs, submitted at the first visit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard.shared import session
from dashboard.shared.inputs.inputs import FORMS
from engine.evaluations.alignment import records as alignment
from engine.evaluations.clusters import records as clusters
from engine.evaluations.minimal_pairs import records as minimal_pairs
from engine.models.sources.cards import BUILT_IN
from engine.runs.storage.run_record import RunRecord

# No user's own: the list of recent runs does not show them, and they are the same for every visitor.
OWNER = "samples"


def _built_in(*kinds: str) -> tuple[str, ...]:
    return tuple(name for name, card in BUILT_IN.items() if card.kind in kinds)


@dataclass(frozen=True)
class SampleRun:
    """A run that the home page shows: its kind, its name and its settings."""

    kind: str
    name: str
    settings: Callable[[], Any]


SAMPLE_RUNS = (
    # The mean over tokens, because a causal model has no CLS token to compare by. PCA, because the first UMAP of a
    # process takes longer than all the rest, and the home page shows no map.
    SampleRun("clusters", "Samples: clusters",
              lambda: clusters.Settings(_built_in("masked", "causal"), pooling="mean-without-special",
                                        projection="pca")),
    SampleRun("alignment", "Samples: alignment", lambda: alignment.Settings(
        _built_in("masked"), scoring=alignment.Scoring(idf="references", penalty="reading"))),
    SampleRun("minimal-pairs", "Samples: minimal pairs",
              lambda: minimal_pairs.Settings(_built_in("masked", "causal"))),
)


@st.cache_resource(show_spinner=False)
def run_ids() -> dict[str, str]:
    """Kind -> id of its sample run, submitted once per server process; most are in the store already.

    Raises EngineError when the queue does not take them.
    """
    return {
        sample.kind: session.engine().runs.submit(sample.kind, sample.settings(), FORMS[sample.kind].sample(),
                                                  owner=OWNER, name=sample.name).run_id
        for sample in SAMPLE_RUNS
    }


def views(run_ids: Mapping[str, str]) -> dict[str, RunRecord]:
    """Kind -> its sample run in its present state; one that was deleted meanwhile is left out."""
    view_by_kind = {kind: session.engine().runs.get(run_id) for kind, run_id in run_ids.items()}
    return {kind: view for kind, view in view_by_kind.items() if view is not None}
