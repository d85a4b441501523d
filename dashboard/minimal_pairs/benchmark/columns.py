"""The columns of a minimal-pairs run by which its pairs are grouped, and those that name clusters of pairs."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.wording import verbatim
from engine.datasets.minimal_pairs.items import ITEM
from engine.datasets.minimal_pairs.judged import PREFERENCE
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs.judgements import PUBLISHED
from engine.evaluations.minimal_pairs.levels import template_column
from engine.evaluations.minimal_pairs.records import CATEGORY, Result
from engine.evaluations.minimal_pairs.views import field_names
from engine.messages.languages import mark, sentences, tr

_WORDS = {"source": mark("file")}


def columns_of(result: Result) -> tuple[str, ...]:
    """The columns to group the pairs by: `views.field_names`, and the file where there are several.

    The first is the page's own choice; the item, of which there are many, is so only where there is no other.
    """
    several = result.items["source"].nunique() > 1
    names = (*field_names(result), *(("source",) if several and "source" not in field_names(result) else ()))
    return tuple(sorted(names, key=lambda name: name == ITEM))


def own_column(result: Result) -> str:
    """What groups the pairs where no column is chosen: the category, and of data without one the first column."""
    columns = columns_of(result)
    return CATEGORY if result.items[CATEGORY].nunique() > 1 or not columns else columns[0]


def column_word(name: str) -> str:
    """What a reader sees of a column: its name; of the file a word."""
    return tr(_WORDS[name]) if name in _WORDS else name


def judgement_columns(result: Result, dataset: MinimalPairs) -> tuple[str, ...]:
    """The columns of the data that hold the human judgements of a result: of its settings, else those known by name."""
    if result.settings.ratings:
        return result.settings.ratings
    of_sentences = next((names for names in PUBLISHED if set(names) <= dataset.further.keys()), ())
    return (*of_sentences, *(name for name in dataset.further if name.startswith(PREFERENCE)))


def clusters_input(columns: tuple[str, ...], first: str, key: str) -> str:
    """Draw the choice of the column whose values are the clusters of pairs, "" for independent pairs; return it."""
    template = template_column(columns)
    words = {"": tr("independent pairs")}
    words |= {
        name: tr("clusters: {column}", column=column_word(name))
        for name in dict.fromkeys([*filter(None, [template]), *columns])
    }
    return str(
        st.selectbox(
            tr("Intervals over"),
            words,
            index=list(words).index(first),
            format_func=words.__getitem__,
            key=key,
            width=165,
            help=sentences(
                tr(
                    "Pairs made from one template resemble each other; taken as independent they make intervals too "
                    "narrow. It is assumed that the clusters are independent of each other and a sample of those that "
                    "could have been made; a few dozen are needed."
                ),
                tr("Here {column} names what the pairs were made from.", column=verbatim(template)) if template else "",
            ),
        )
    )
