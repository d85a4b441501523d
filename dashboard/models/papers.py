"""The models of the papers: all of them in a table, and the card of one."""

from __future__ import annotations

from urllib.parse import quote

import pandas as pd
import streamlit as st

from dashboard.shared.wording import verbatim
from engine.language import segmenters
from engine.messages.languages import mark, tr, translated
from engine.models.sources.cards import PLACEHOLDER, PaperCard
from engine.models.sources.paper_cards import CLUSTERS, PAPER_CARDS
from engine.models.sources.recipes import description

ALL = mark("All papers")
NOT_STATED = mark("not stated")
KINDS = {"masked": mark("masked"), "causal": mark("causal")}


def papers_models() -> None:
    """Draw the table, for one paper or all, and below it the chosen card."""
    papers = list(dict.fromkeys(paper for card in PAPER_CARDS.values() for paper, _ in card.labels))
    paper = st.selectbox(
        tr("Paper"),
        [ALL, *papers],
        key="models-paper",
        bind="query-params",
        format_func=lambda name: tr(ALL) if name == ALL else name,
    )
    cards = [card for card in PAPER_CARDS.values() if paper == ALL or paper in dict(card.labels)]
    st.dataframe(
        pd.DataFrame([_row(card, paper) for card in cards]),
        hide_index=True,
        placeholder="–",
        alt=tr("Models of the papers"),
        column_config={
            "label": tr("Label in the paper"),
            "type": st.column_config.TextColumn(
                tr("Name to enter"), help=tr("{placeholder} stands for a directory of yours.", placeholder=PLACEHOLDER)
            ),
            "from": tr("Source"),
            "kind": tr("Kind"),
            "language": tr("Language"),
            "tokenizer": tr("Tokenizer"),
            "vocabulary": tr("Vocabulary"),
            "corpus": tr("Corpus"),
            "paper": tr("Paper"),
        },
    )
    chosen = st.selectbox(
        tr("Model card"),
        [card.name for card in cards],
        key=f"models-card-{paper}",
        bind="query-params",
        format_func=lambda name: f"{_label(PAPER_CARDS[name], paper)} ({name})",
    )
    if chosen is not None:
        _card(PAPER_CARDS[chosen])


def _row(card: PaperCard, paper: str) -> dict[str, str | None]:
    return {
        "label": _label(card, paper),
        "type": card.model_name,
        "from": "Hugging Face" if card.hub else tr("your directory"),  # untranslated
        "kind": tr(KINDS[card.kind]),
        "language": translated(card.language),
        "tokenizer": translated(card.tokenizer),
        "vocabulary": card.vocabulary_size,
        "corpus": card.corpus and translated(card.corpus),
        "paper": " · ".join(title for title, _ in card.labels),
    }


def _label(card: PaperCard, paper: str) -> str:
    return dict(card.labels).get(paper) or card.labels[0][1]


def _card(card: PaperCard) -> None:
    with st.container(border=True, key="models-paper-card"):
        st.markdown(" · ".join(f"**{verbatim(label)}** :gray[{verbatim(paper)}]" for paper, label in card.labels))
        st.code(card.model_name, language=None)
        if card.hub:
            st.markdown(
                tr(
                    "Fetched from Hugging Face: `{name}`, as it is there now; the paper names no revision.",
                    name=card.hub,
                )
            )
        else:
            st.markdown(tr("Needs {files}.", files=_with_code(translated(str(card.needs)))))
        if card.recipe is not None:
            tokens = tr("Tokens as published: {recipe}.", recipe=verbatim(translated(description(card.recipe))))
            st.markdown(f":material/format_list_numbered: {tokens}")  # untranslated
            missing = card.recipe.segmenter and segmenters.missing(card.recipe.segmenter)
            if missing:
                st.markdown(f":orange[:material/build:] {verbatim(translated(missing))}")  # untranslated
        if card.note:
            st.markdown(verbatim(translated(card.note)))
        facts = {
            tr("Publisher"): card.publisher,
            tr("Tokenizer"): card.tokenizer,
            tr("Corpus"): card.corpus,
            tr("Vocabulary"): card.vocabulary_size,
            tr("Size"): card.model_size,
            tr("Whole word masking"): card.whole_word_masking,
            tr("Longest training input"): card.max_seq_length,
        }
        # What the clustering paper's table lists as "No Info" is shown as not stated; other papers have no such table.
        listed = {name: value for name, value in facts.items() if value or CLUSTERS in dict(card.labels)}
        st.caption(
            verbatim(
                " · ".join(
                    f"{name}: {translated(value) if value else tr(NOT_STATED)}" for name, value in listed.items()
                )
            )
        )
        st.caption(f"[{verbatim(card.url.removeprefix('https://'))}]({quote(card.url, safe=':/?&=%')})")


def _with_code(text: str) -> str:
    """Text in which only `code` is marked up."""
    return "`".join(part if number % 2 else verbatim(part) for number, part in enumerate(text.split("`")))
