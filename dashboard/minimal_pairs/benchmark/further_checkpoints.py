"""Checkpoints of the trainings of a run that other runs of the same data have: one press makes a run of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.shared import run_view, session
from dashboard.shared.wording import verbatim
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.shared.checkpoints import checkpoint_of, further_of
from engine.messages.languages import tr, tr_n, translated
from engine.messages.message import list_of
from engine.models.sources.names import shown_name
from engine.runs.storage.searching import Search

KIND = "minimal-pairs"
SECONDS_KEPT = 20  # of what other runs have


def further_checkpoints(run_id: str, result: Result) -> tuple[str, ...]:
    """The models of other finished runs of these data and settings that are further checkpoints, by step."""
    if not any(map(checkpoint_of, result.settings.models)):
        return ()
    return _further(run_id, session.access().viewer.id)


def join_button(run_id: str, result: Result, further: Sequence[str]) -> None:
    """Draw the button that submits a run of all checkpoints, which are in the cache; goes to its link."""
    label = tr_n("Join with {n} checkpoint of other runs", "Join with {n} checkpoints of other runs", len(further))
    if st.button(
        label,
        key=f"minimal-join-checkpoints-{run_id}",
        icon=":material/merge:",
        type="tertiary",
        help=tr(
            "Runs these data with {models} as well, as other runs of the same data and settings have them. What is "
            "scored already is taken from the cache.",
            models=verbatim(translated(list_of(map(shown_name, further)))),
        ),
    ):
        settings = replace(result.settings, models=(*result.settings.models, *further))
        run_view.submit(KIND, settings, session.access().dataset(run_id))


@st.cache_data(ttl=SECONDS_KEPT, max_entries=64, show_spinner=False)
def _further(run_id: str, viewer: str) -> tuple[str, ...]:
    """viewer: who sees which runs, for the cache."""
    access = session.access()
    own = access.get(run_id)
    if own is None:
        return ()
    search = Search(kind=own.kind, states=("done",), dataset_hash=own.dataset_hash)
    alike = [run for run in access.mine(search) if _but_models(run.settings) == _but_models(own.settings)]
    return further_of(own.settings["models"], [model for run in alike for model in run.settings["models"]])


def _but_models(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name != "models"}
