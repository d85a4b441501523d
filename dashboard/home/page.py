"""Home: what this is, the built-in models on the samples, and one's recent runs."""

import streamlit as st

from dashboard import pages
from dashboard.home import samples
from dashboard.shared import run_list, run_view, wording
from dashboard.shared.headlines import HEADLINES
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError

RECENT = 8
ABOUT = """Hakari (秤, a pair of scales) evaluates pretrained language models as they are, without fine-tuning
them, on sentences you choose. Two small Japanese models are built in; any model in Hugging Face format can be
compared with them."""
MEASURED = {
    "clusters": "Dispersion score M_m, mean-pooled vectors",
    "alignment": "Mean F1 by category of pairs",
    "minimal-pairs": "Accuracy by log-likelihood, 95 % interval",
}

st.title("Hakari", anchor=False)
st.markdown(ABOUT)

st.subheader("The built-in models on the sample sentences", anchor=False)
try:
    run_ids = samples.run_ids()
except EngineError as error:
    show_error(error)
    run_ids = {}
pending = any(view.state in run_view.ACTIVE for view in samples.views(run_ids).values())


@st.fragment(run_every=run_view.POLL_SECONDS if pending else None)
def sample_cards() -> None:
    """A card for each page with the sample's headline numbers; while one is still running, its progress."""
    views = samples.views(run_ids)
    if pending and not any(view.state in run_view.ACTIVE for view in views.values()):
        st.rerun()
    with st.grid(3, min_column_width=270, row_height="content"):
        for kind, view in views.items():
            with st.container(border=True, height="stretch"):
                page = pages.card(pages.PAGE_BY_KIND[kind])
                st.markdown(f"**{page.title}**  \n:gray[{page.question}]")
                if view.state == "done":
                    _numbers(kind, view.id)
                elif view.state in run_view.ACTIVE:
                    run_view.progress(view)
                else:
                    st.warning(verbatim(view.message) or "This run was stopped.", icon=":material/error:")
                    if st.button("Try again", key=f"sample-again-{kind}", icon=":material/refresh:"):
                        samples.run_ids.clear()
                        st.rerun()
                st.space("stretch")
                run_view.run_link(view, "See the result" if view.state == "done" else "Open the page")


def _numbers(kind: str, run_id: str) -> None:
    try:
        headlines = HEADLINES[kind](run_view.load_result(run_id))
    except EngineError as error:
        show_error(error)
        return
    st.caption(f":small[{verbatim(MEASURED[kind])}]", help=wording.measure_help(headlines[0].measure))
    with st.grid(2, min_column_width=120, gap="small"):
        for headline in headlines:
            st.metric(verbatim(headline.label), headline.value, verbatim(headline.note), delta_color="off",
                      delta_arrow="off")


sample_cards()

st.subheader("Your recent runs", anchor=False)
recent = run_list.recent(RECENT)
for view in recent:
    run_list.run_row(view)
if recent:
    st.page_link(pages.path("runs"), label="All runs", icon=":material/history:")
else:
    st.caption("None yet. Each page starts from a sample, a file of yours or pasted sentences.")
