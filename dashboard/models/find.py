"""Looking for a model by a part of its name; a chosen one goes to the form below, which opens and checks it."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.models.memory import size
from dashboard.shared import session
from dashboard.shared.wording import verbatim
from engine.errors import EngineError, ModelError
from engine.messages.languages import mark, tr, tr_n, translated
from engine.models.sources.hub.families import GROUPS, families_named
from engine.models.sources.hub.search import LISTED, Match, on_hub, on_this_machine
from engine.runs.access.pretraining import PretrainingAccess

MATCHES = "models-find-matches"
SOURCES = {
    "built-in": mark("built in"),
    "paper": mark("card of the papers"),
    "directory": mark("this machine"),
    "cache": mark("downloaded"),
    "hub": mark("Hugging Face Hub"),
}
KINDS = {"masked": mark("masked"), "causal": mark("causal"), "encoder": mark("encoder")}


def find_model(name_key: str) -> None:
    """Draw the search; `name_key`: the key of the widget that takes the name of the chosen model."""
    with st.form("models-find", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input(
            tr("Look for a model"),
            key="models-find-query",
            max_chars=100,
            placeholder=tr("a part of its name, such as bert"),
        )
        hub = st.toggle(
            tr("Hugging Face Hub"),
            True,
            key="models-find-hub",
            help=tr(
                "Asks the hub, too, for its {n} most downloaded models of that name. What you type is sent there.",
                n=LISTED,
            ),
        )
        submitted = st.form_submit_button(tr("Search"), icon=":material/search:", key="models-find-submit")
    if submitted:
        st.session_state.pop("models-find-table", None)
        st.session_state[MATCHES] = (query, *_matches(query, hub=hub))
    if (found := st.session_state.get(MATCHES)) is None:
        return
    query, matches, problem = found
    _show_families(query)
    if problem is not None:
        st.info(verbatim(translated(str(problem))), icon=":material/cloud_off:")
    if not matches:
        st.info(tr("No model of that name may be used here."), icon=":material/search_off:")
        return
    st.caption(
        tr_n("{n} model. Choose it to inspect it below.", "{n:,} models. Choose one to inspect it below.", len(matches))
    )
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "name": match.name,
                    "source": tr(SOURCES[match.source]),
                    "kind": tr(KINDS[match.kind]) if match.kind else None,
                    "parameters": match.n_parameters,
                    "size": size(match.n_bytes) if match.n_bytes else None,
                    "memory": size(match.memory) if match.memory else None,
                    "license": match.license or None,
                }
                for match in matches
            ]
        ),
        hide_index=True,
        placeholder="–",
        height=min(320, 36 * (len(matches) + 1)),
        alt=tr("Models that were found"),
        key="models-find-table",
        selection_mode="single-row",
        on_select=lambda: _choose(name_key),
        column_config={
            "name": tr("Model"),
            "source": tr("Where"),
            "kind": tr("Kind"),
            "parameters": st.column_config.NumberColumn(tr("Parameters"), format="compact"),
            "size": tr("Size"),
            "memory": st.column_config.TextColumn(
                tr("Memory"), help=tr("What it takes at least on a CPU, as estimated before it is loaded.")
            ),
            "license": tr("Licence"),
        },
    )


def _show_families(query: str) -> None:
    """As what the families of that name are read, or why they are refused, before anything is downloaded."""
    if not (families := families_named(query)):
        return
    st.caption(tr("Families of that name, as they are read here:"))
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "family": family.name,
                    "group": translated(GROUPS[family.group]),
                    "outcome": translated(family.outcome),
                    "example": family.example or None,
                }
                for family in families
            ]
        ),
        hide_index=True,
        placeholder="–",
        alt=tr("Families of models and as what they are read"),
        key="models-find-families",
        column_config={
            "family": tr("Family"),
            "group": tr("Models for"),
            "outcome": st.column_config.TextColumn(tr("Read as"), width="large"),
            "example": tr("For example"),
        },
    )


def _matches(query: str, *, hub: bool) -> tuple[list[Match], EngineError | None]:
    engine = session.engine()
    allowed = engine.configuration.models.models
    jobs = PretrainingAccess(session.access(), engine.pretraining).mine()
    pretrained = [job.model for job in jobs if job.state == "done"]
    with st.spinner(tr("Searching …")):
        matches = on_this_machine(query, allowed, pretrained)
        if not hub or not query.strip():
            return matches, None
        try:
            here = {match.name for match in matches}
            return [*matches, *(match for match in on_hub(query, allowed) if match.name not in here)], None
        except ModelError as error:
            return matches, error


def _choose(name_key: str) -> None:
    rows = st.session_state["models-find-table"]["selection"]["rows"]
    matches = st.session_state[MATCHES][1]
    if rows and rows[0] < len(matches):
        st.session_state[name_key] = matches[rows[0]].name
