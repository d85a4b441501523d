"""A list of readings that no link can hold: it is put into a run with the same data, whose link holds it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard.shared import session
from dashboard.shared.address.texts import name_of
from dashboard.shared.wording import show_error
from engine.errors import EngineError
from engine.evaluations.alignment.records import Result, Scoring
from engine.messages.languages import tr
from engine.options import options_of

KIND = "alignment"
# An address with a longer list would not pass every proxy: a character of it takes nine.
MOST_CHARACTERS = 700


def fits_link(readings: str, result: Result) -> bool:
    """Whether a link to a result can say that it is shown with this list: it is short, or the run's own."""
    return len(readings) <= MOST_CHARACTERS or readings == result.settings.scoring.readings


def offer_run(run_id: str, scoring: Scoring) -> None:
    """Draw why a result is not shown with the list of this scoring, and the button that has a run hold it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            ":orange[:material/link_off:] "
            + tr(
                "The custom readings are too long for a link ({n:,} characters of at most {most}), so the scores are "
                "without them. A run holds them, and the model is not asked again.",
                n=len(scoring.readings),
                most=MOST_CHARACTERS,
            ),
            width="stretch",
        )
        if st.button(tr("Run with this list"), key=f"{KIND}-run-with-list", icon=":material/balance:"):
            _run_with(run_id, scoring)


def _run_with(run_id: str, scoring: Scoring) -> None:
    """Submit the run again with this scoring, and go to it; what is shown beside the scoring stays."""
    access = session.access()
    try:
        known = access.get(run_id)
        settings = replace(access.settings(run_id), scoring=scoring)
        submission = access.submit(KIND, settings, access.dataset(run_id), known.name if known else None)
    except EngineError as error:
        show_error(error)
        return
    names = {"run", *map(name_of, options_of(Scoring).values())}
    others = {name: st.query_params.get_all(name) for name in st.query_params if name not in names}
    st.query_params.from_dict(others | {"run": [submission.run_id]})
    st.rerun()
