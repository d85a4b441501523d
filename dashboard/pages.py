"""The pages of the dashboard: which there are, what each answers, and where a run of a kind is shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import streamlit as st

from dashboard import language
from dashboard.streamlit_internals import Container
from engine.evaluations.catalog import EVALUATIONS
from engine.messages.languages import mark, tr


@dataclass(frozen=True)
class PageCard:
    """One page: its folder, its title and icon, the question it answers; whether the menu names it."""

    name: str
    title: str
    icon: str
    question: str
    in_menu: bool = True


SECTIONS: dict[str, tuple[PageCard, ...]] = {
    "": (
        PageCard(
            "home",
            mark("Home"),
            ":material/balance:",
            mark("How can a language model be evaluated without fine-tuning it?"),
        ),
    ),
    mark("Evaluate a model"): (
        PageCard(
            "clusters",
            mark("Clusters"),
            ":material/bubble_chart:",
            mark("How far do a model's sentence vectors keep labelled sentences apart?"),
        ),
        PageCard(
            "fill_mask",
            mark("Fill-mask"),
            ":material/text_fields:",
            mark("How probable does a model find a masked word, and what does it predict instead?"),
        ),
        PageCard(
            "classification",
            mark("Classification"),
            ":material/category_search:",
            mark("Can a small network classify sentences by a model's vectors?"),
        ),
        PageCard(
            "agreement",
            mark("Agreement"),
            ":material/join_inner:",
            mark("Do the evaluations agree about the models?"),
        ),
        PageCard(
            "alignment",
            mark("Alignment"),
            ":material/compare_arrows:",
            mark("Which token of one sentence matches which of the other, and what do different readings cost?"),
        ),
        PageCard(
            "metric_study",
            mark("Metric study"),
            ":material/grid_on:",
            mark("Which model, dictionary and penalty correlate best with human scores?"),
        ),
        PageCard(
            "minimal_pairs",
            mark("Minimal pairs"),
            ":material/rule:",
            mark("Does the model prefer the acceptable sentence, or only the shorter one?"),
        ),
    ),
    mark("Look up"): (
        PageCard(
            "models",
            mark("Models"),
            ":material/deployed_code:",
            mark("Which models are there, and how good are the built-in ones?"),
        ),
        PageCard(
            "model_card",
            mark("Model card"),
            ":material/id_card:",
            mark("What do all evaluations say of one model, beside the models evaluated so far?"),
            in_menu=False,
        ),
        PageCard(
            "dictionary",
            mark("Dictionaries"),
            ":material/menu_book:",
            mark("Which tokens are rare, and in which corpus?"),
        ),
        PageCard(
            "compare",
            mark("Compare"),
            ":material/compare:",
            mark("In what do two runs, two models or two settings differ, and is it more than chance?"),
        ),
        PageCard(
            "rating",
            mark("Rate together"),
            ":material/reviews:",
            mark("What do people say of the pairs, and do they agree?"),
            in_menu=False,
        ),
        PageCard(
            "lessons",
            mark("Lessons"),
            ":material/school:",
            mark("How are the results of the samples read, step by step?"),
            in_menu=False,
        ),
        PageCard("runs", mark("Runs"), ":material/history:", mark("What was evaluated so far?")),
        PageCard(
            "datasets",
            mark("Data sets"),
            ":material/inventory_2:",
            mark("Which data are kept, and which runs used them?"),
        ),
    ),
}
# Addresses that pages had before; links to them still lead to the page.
FORMER_ADDRESSES = {"corpora": "dictionary"}


def card(name: str) -> PageCard:
    """The page called `name`."""
    return next(page for pages in SECTIONS.values() for page in pages if page.name == name)


def name_of(kind: str) -> str:
    """The name of the page of a kind of run."""
    return kind.replace("-", "_")


def of_kind(kind: str) -> PageCard | None:
    """The page of a kind of run; None for one of another version."""
    return card(name_of(kind)) if kind in EVALUATIONS else None


def path(name: str) -> str:
    """The file of a page as `st.page_link` and `st.switch_page` want it: relative to app.py."""
    return f"{name}/page.py"


def navigation() -> dict[str, list[st.Page]]:
    """The menu: sections with their pages; hidden in it, pages that others lead to, and former addresses."""
    menu = {
        tr(section): [
            st.Page(
                path(page.name),
                title=tr(page.title),
                icon=page.icon,
                help=tr(page.question),
                url_path=page.name,
                default=page.name == "home",
                visibility="visible" if page.in_menu else "hidden",
            )
            for page in pages
        ]
        for section, pages in SECTIONS.items()
    }
    menu[""] += [
        st.Page(partial(_redirect, name), title=tr(card(name).title), url_path=former, visibility="hidden")
        for former, name in FORMER_ADDRESSES.items()
    ]
    return menu


def _redirect(name: str) -> None:
    """Go from a former address to the present page, with the same query."""
    st.switch_page(path(name), query_params={key: st.query_params.get_all(key) for key in st.query_params})


def heading(name: str) -> Container:
    """Title of a page with the choice of the language beside it, and, under it, its question in one sentence.

    The home page is called after the dashboard. What holds the question is returned: data of another kind ask another one
    (`ask`).
    """
    page = card(name)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title("Hakari" if name == "home" else tr(page.title), anchor=False, width="content")  # untranslated
        language.switch()
    place = st.empty()
    ask(place, page.question)
    return place


def ask(place: Container, question: str) -> None:
    """Put a question into its place under the title."""
    place.markdown(f":gray[{tr(question)}]")  # untranslated
