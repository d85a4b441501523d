"""Home: an alignment of two sentences to try, a map and a length bias of the samples, and one's recent runs."""

import streamlit as st

from dashboard import pages
from dashboard.faces import FACES
from dashboard.home.figures import sample_card
from dashboard.home.pair import pair_demonstration
from dashboard.shared import run_list, run_progress, samples
from dashboard.shared.wording import show_error
from engine.errors import EngineError
from engine.messages.languages import tr

RECENT = 2

pages.heading("home")
try:
    run_ids = samples.run_ids(FACES.values())
except EngineError as error:
    show_error(error)
    run_ids = {}
pending = any(view.state in run_progress.ACTIVE for view in samples.views(run_ids).values())


@st.fragment(run_every=run_progress.POLL_SECONDS if pending else None)
def sample_cards() -> None:
    """The figures of the samples; while one is still being evaluated, its progress."""
    views = samples.views(run_ids)
    if pending and not any(view.state in run_progress.ACTIVE for view in views.values()):
        st.rerun()
    for kind, view in views.items():
        if (home := FACES[kind].home) is not None:
            sample_card(FACES[kind], home, view)


left, right = st.columns([3, 2], gap="small")
with left:
    with st.container(border=True):
        title, question = tr("Alignment"), tr("Which tokens of two sentences match?")
        st.markdown(f"**{title}** :gray[{question}]")  # untranslated
        pair_demonstration()
    if recent := run_list.recent(RECENT):
        st.markdown(f"**{tr('Past evaluations')}**")
        for view in recent:
            run_list.run_row(view)
        st.page_link(pages.path("runs"), label=tr("All runs"), icon=":material/history:")
with right:
    sample_cards()
