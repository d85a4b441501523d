"""Rate together: several people give scores to the same pairs of a run, blind to each other."""

import streamlit as st

from dashboard import pages
from dashboard.rating.results import results
from dashboard.shared import run_actions, session, wording
from dashboard.shared.run_links import run_link
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import EngineError
from engine.runs.ratings.access import RatingAccess
from engine.runs.ratings.questions import PREFERENCE, SIZES, is_turned, items_to_rate, texts
from engine.runs.storage.run_record import RunRecord
from engine.translation import tr, tr_n

DEFAULT_SIZE = 20


def _shown_size(n: int) -> int:
    """How many of n pairs to rate: chosen, or of the address; it is in the link that raters share."""
    sizes = [*(size for size in SIZES if size < n), min(n, SIZES[-1])]
    linked = st.query_params.get("pairs", "")
    first = int(linked) if linked.isdecimal() and int(linked) in sizes else min(DEFAULT_SIZE, sizes[-1])
    if linked and linked != str(first):
        st.caption(tr("The link asks for a number of pairs that is not offered: ignored."))
    size = st.segmented_control(tr("Pairs to rate"), sizes, default=first, required=True, key="rating-pairs")
    if linked != str(size):
        st.query_params["pairs"] = str(size)
    return int(size)


def _rate(access: RatingAccess, run_id: str, item: int, score: float) -> None:
    st.session_state.pop("rating-again", None)
    try:
        access.rate(run_id, item, score)
    except EngineError as error:
        st.session_state["rating-error"] = error


def _again(item: int) -> None:
    st.session_state["rating-again"] = item


def _rating(access: RatingAccess, run: RunRecord, dataset: SentencePairs | MinimalPairs, items: list[int]) -> None:
    """Draw the pair whose turn it is, and the answers; the results once all are rated."""
    question, mine = access.question(run.id), access.mine(run.id)
    rated = [item for item in items if item in mine]
    st.progress(len(rated) / len(items), text=tr("{rated:,} of {n:,} rated", rated=len(rated), n=len(items)))
    again = st.session_state.get("rating-again")
    waiting = [item for item in items if item not in mine]
    item = again if again in items else waiting[0] if waiting else None
    if item is None:
        results(access, run, dataset, items)
        return
    first, second = texts(dataset, item)
    turned = is_turned(access.runs.viewer.id, dataset.content_hash, item)
    shown = (second, first) if turned else (first, second)
    st.markdown(f"**{tr(question.text)}**")  # untranslated
    with st.container(border=True, key="rating-pair"):
        for number, text in enumerate(shown, start=1):
            st.markdown(f":gray[{number}] {wording.verbatim(text)}")  # untranslated
    with st.container(horizontal=True, gap="small"):
        for position, (score, answer) in enumerate(question.answers.items()):
            # Of a preference 1 … 5 are pressed, of a similarity the scores themselves.
            pressed = position + 1 if question.name == PREFERENCE else int(score)
            kept = -score if turned and question.name == PREFERENCE else score
            st.button(tr(answer), key=f"rating-answer-{position}", shortcut=str(pressed), on_click=_rate,
                      args=(access, run.id, item, kept), type="primary" if mine.get(item) == kept else "secondary")
    before = items[:items.index(item)]
    if before and before[-1] in mine:
        st.button(tr("Previous pair"), key="rating-previous", type="tertiary", icon=":material/undo:",
                  shortcut="Backspace", on_click=_again, args=(before[-1],))


def _page() -> None:
    run_id = st.query_params.get("run", "")
    access = RatingAccess(session.access())
    run = access.runs.get(run_id)
    if run is None:
        run_actions.unknown_run(run_id)
        return
    access.question(run_id)
    dataset = access.runs.dataset(run_id)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
        run_link(run, run.name)
        items = items_to_rate(dataset, SIZES[-1])
        items = items[:_shown_size(len(items))]
    if (error := st.session_state.pop("rating-error", None)) is not None:
        wording.show_error(error)
    _rating(access, run, dataset, items)
    st.caption(" ".join((
        tr("Send the address of this page: everybody rates the same pairs, with the keys that stand on the buttons, "
           "and sees others' scores when their own are complete."),
        tr("Share the run with the team first.") if session.hosted() and not run.shared else "",
        tr_n("{n} person has begun.", "{n:,} people have begun.", access.n_raters(run_id)))))


pages.heading("rating")
try:
    _page()
except EngineError as error:
    wording.show_error(error)
