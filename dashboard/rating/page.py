"""Rate together: several people give scores to the same pairs or sentences of a run, blind to each other."""

import streamlit as st

from dashboard import pages
from dashboard.rating.results import results
from dashboard.shared import run_actions, session, wording
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.headlines import run_title
from dashboard.shared.run_links import run_link
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import EngineError
from engine.evaluations.shared.evaluation import ACCEPTABILITY, PREFERENCE
from engine.messages.languages import sentences, tr, tr_n
from engine.options import Option
from engine.runs.ratings.access import RatingAccess
from engine.runs.ratings.questions import (
    QUESTIONS,
    SIZES,
    Question,
    is_turned,
    items_to_rate,
    kind_of_rows,
    next_sentence,
    questions_about,
    sentences_to_rate,
    texts,
)
from engine.runs.storage.run_record import RunRecord

DEFAULT_SIZE = 20
QUESTION = Option("The question that is asked.", name="question")  # untranslated
PAIRS = Option("How many pairs to rate.", name="pairs", kind=int)  # untranslated


def _asked(address: PageAddress, names: tuple[str, ...]) -> str:
    """The question that is asked: chosen, or of the address; without one there the first."""
    name = address.first(QUESTION, names[0], offered=names)
    if len(names) > 1:
        name = st.segmented_control(
            tr("Question"),
            names,
            default=name,
            required=True,
            key=address.key("question"),
            format_func=lambda name: tr(QUESTIONS[name].title),
        )
    address.keep(QUESTION, name, names[0])
    return str(name)


def _shown_size(address: PageAddress, n: int, label: str) -> int:
    """How many of n pairs to rate: chosen, or of the address, which raters share; without one there the same for all."""
    sizes = [*(size for size in SIZES if size < n), min(n, SIZES[-1])]
    usual = min(DEFAULT_SIZE, sizes[-1])
    first = address.first(PAIRS, usual, offered=sizes)
    size = int(st.segmented_control(label, sizes, default=first, required=True, key=address.key("pairs")))
    address.keep(PAIRS, size, usual)
    return size


def _rate(access: RatingAccess, run_id: str, item: int, score: float, question: str) -> None:
    st.session_state.pop("rating-again", None)
    try:
        access.rate(run_id, item, score, question)
    except EngineError as error:
        st.session_state["rating-error"] = error


def _again(*item: str | int) -> None:
    st.session_state["rating-again"] = item


def _pair(dataset: SentencePairs | MinimalPairs, item: int, turned: bool) -> None:
    with st.container(border=True, key="rating-pair"):
        shown = texts(dataset, item)
        for number, text in enumerate(reversed(shown) if turned else shown, start=1):
            st.markdown(f":gray[{number}] {wording.verbatim(text)}")  # untranslated


def _answers(
    access: RatingAccess, run: RunRecord, question: Question, item: int, before: float | None, turned: bool
) -> None:
    """Draw a button for each score; of a turned pair the preferences count for the other sentence."""
    with st.container(horizontal=True, gap="small", key="rating-answers"):
        for position, (score, answer) in enumerate(question.answers.items()):
            # Of a preference 1 … 5 are pressed, of a similarity and of acceptability the scores themselves.
            pressed = position + 1 if question.name == PREFERENCE else int(score)
            kept = -score if turned else score
            label = "" if answer == str(pressed) else tr(answer)  # the key stands on the button in any case
            # Other buttons for each item: a key that is held down rates none that was not seen.
            st.button(
                label,
                key=f"rating-answer-{position}-{item}",
                shortcut=str(pressed),
                on_click=_rate,
                args=(access, run.id, item, kept, question.name),
                type="primary" if before == kept else "secondary",
            )


def _rating(
    access: RatingAccess, run: RunRecord, dataset: SentencePairs | MinimalPairs, question: Question, pairs: list[int]
) -> None:
    """Draw the pair or sentence whose turn it is, and the answers; the results once all are rated."""
    mine = access.mine(run.id, question.name)
    single = dataset if isinstance(dataset, MinimalPairs) and question.name == ACCEPTABILITY else None
    items = pairs if single is None else sentences_to_rate(single, pairs, access.runs.viewer.id)
    waiting = (
        next((item for item in items if item not in mine), None)
        if single is None
        else next_sentence(single, pairs, items, list(mine))
    )
    rated = [item for item in items if item in mine]
    st.progress(
        len(rated) / len(items),
        text=tr("{rated:,} of {n:,} sentences rated", rated=len(rated), n=len(items))
        if single is not None
        else tr("{rated:,} of {n:,} rated", rated=len(rated), n=len(items)),
    )
    *of, again = st.session_state.get("rating-again", (None,))
    item = again if of == [run.id, question.name] and again in items else waiting
    if item is None:
        results(access, run, dataset, question, pairs, items)
        return
    turned = question.name == PREFERENCE and is_turned(access.runs.viewer.id, dataset.content_hash, item)
    st.markdown(f"**{tr(question.text)}**")  # untranslated
    if single is not None:
        with st.container(border=True, key="rating-pair"):
            st.markdown(wording.verbatim(single.sentences[item]))
    else:
        _pair(dataset, item, turned)
    _answers(access, run, question, item, mine.get(item), turned)
    before = [other for other in items[: items.index(item)] if other in mine]
    if before:
        st.button(
            tr("Previous pair") if single is None else tr("Previous sentence"),
            key="rating-previous",
            type="tertiary",
            icon=":material/undo:",
            shortcut="Backspace",
            on_click=_again,
            args=(run.id, question.name, before[-1]),
        )


def _must_be_shared(access: RatingAccess, run: RunRecord) -> bool:
    """Whether nobody else may read the run; that of a sample everybody may."""
    return session.hosted() and not run.shared and access.runs.may_change(run)


def _page() -> None:
    run_id = st.query_params.get("run", "")
    refused = st.session_state.pop("rating-error", None)  # of the run just rated, which may be gone
    access = RatingAccess(session.access())
    run = access.runs.get(run_id)
    if run is None:
        run_actions.unknown_run(run_id)
        return
    access.question(run_id)
    dataset = access.runs.dataset(run_id)
    address = PageAddress("rating", run_id, anchor="pairs")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
        run_link(run, run_title(run))
        question = QUESTIONS[_asked(address, questions_about(run.kind, dataset))]
        items = items_to_rate(
            dataset,
            _shown_size(address, len(items_to_rate(dataset, SIZES[-1])), tr(kind_of_rows(dataset).to_rate)),
        )
    address.notices()
    address.write()
    if refused is not None:
        wording.show_error(refused)
    _rating(access, run, dataset, question, items)
    st.caption(
        sentences(
            tr(
                "Send the address of this page: everybody rates the same sentences, each in an order of their own, with the "
                "keys shown on the buttons, and sees others' scores when their own are complete."
            )
            if question.name == ACCEPTABILITY
            else tr(
                "Send the address of this page: everybody rates the same pairs, with the keys shown on the buttons, "
                "and sees others' scores when their own are complete."
            ),
            tr("Share the run with the team first.") if _must_be_shared(access, run) else "",
            tr_n("{n} person has begun.", "{n:,} people have begun.", access.n_raters(run_id, question.name)),
        )
    )


pages.heading("rating")
try:
    _page()
except EngineError as error:
    wording.show_error(error)
