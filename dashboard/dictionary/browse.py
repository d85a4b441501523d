"""One idf dictionary: its low-frequency threshold, and its entries, searchable."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.dictionary import tables as dictionary_tables
from dashboard.dictionary.build import UNIT
from dashboard.dictionary.charts import idf_histogram
from dashboard.shared import dictionaries, session, wording
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.dictionaries import AvailableDictionary
from dashboard.shared.exports.figure_downloads import figure_downloads
from dashboard.shared.exports.file_names import of_name
from dashboard.shared.exports.signing import csv_bytes
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.inputs import sample_language
from dashboard.shared.inputs.settings import label_of
from dashboard.shared.theme import list_height
from dashboard.shared.wording import verbatim
from engine.errors import EngineError
from engine.evaluations.shared.dictionaries import BUILT_IN, WORD_LEVEL, tokenizer_name
from engine.evaluations.shared.idf_files import idf_bytes
from engine.measures.idf import LOWER_PART, IdfDictionary
from engine.messages.languages import mark, sentences, tr
from engine.models.sources.cards import BUILT_IN_PREFIX, language_of
from engine.options import Option, option, options_of

ROWS_LISTED = 1000
HISTOGRAM = mark("Entries by idf, with the threshold")
TABLES_KEPT = 6
BY = {"share": mark("Share of entries"), "value": "idf"}
ABOUT = {
    "novel": mark("229 Japanese novels and stories out of copyright (Aozora Bunko)."),
    "wiki": mark("Articles of the Japanese Wikipedia, some sentences of each."),
    "novel-words": mark("The novels of the dictionary novel, counted in words."),
    "wiki-words": mark("The articles of the dictionary wiki, counted in words."),
}
# Where the tokenizer is that of a model of another language: the corpus of the same name is another one.
ABOUT_ENGLISH = {"novel": mark("The chapters of 33 English novels of the public domain (Standard Ebooks).")}
TOKENS_TO_FIND = {"ja": "斎, ##藤, 東京 …", "en": "the, ##ing, London …"}  # untranslated


@dataclass(frozen=True)
class Browsed:
    """What is shown of one dictionary, as written in the page's URL."""

    dictionary: str = option("", "The dictionary.")  # untranslated
    threshold_by: str = option("share", "What gives the threshold.", choices=BY)  # untranslated
    share: float = option(LOWER_PART, "Share of the entries below the threshold.", least=0, most=1)  # untranslated
    threshold: float = option(0.0, "The idf above which an entry is low-frequency.", least=0)  # untranslated
    find: str = option("", "Text that the listed entries contain.")  # untranslated
    low: bool = option(False, "Whether only low-frequency entries are listed.")  # untranslated


OPTIONS = options_of(Browsed)
BROWSED = OPTIONS["dictionary"]


def choose(
    options: Sequence[AvailableDictionary],
    declared: Option,
    address: PageAddress,
    *,
    key: str,
    title: str,
    default: str = "",
) -> AvailableDictionary:
    """A choice among dictionaries, by default the one whose `choice` is `default`, else one of the samples' language.

    The address names any but `default`: the language may be another one where a link is opened.
    """
    by_name = {_address_name(entry): entry for entry in options}
    own = next((name for name, entry in by_name.items() if entry.choice == default), "")
    first = address.first(declared, own or _of_readers_language(by_name), offered=by_name)
    entry = st.selectbox(
        title,
        list(by_name.values()),
        index=list(by_name).index(first),
        format_func=lambda entry: entry.label,
        key=address.key(key),
        width=420,
    )
    address.keep(declared, _address_name(entry), own)
    return entry


def _of_readers_language(by_name: Mapping[str, AvailableDictionary]) -> str:
    """The first built-in dictionary of the language of the samples, else the first one."""
    wanted = sample_language.usual()
    of_language = (
        name
        for name, entry in by_name.items()
        if not entry.run_id and not entry.of_words and _language(entry.model) == wanted
    )
    return next(of_language, next(iter(by_name)))


def _language(model: str) -> str:
    """The language of the built-in model that a dictionary was counted with."""
    return language_of(f"{BUILT_IN_PREFIX}{model.removeprefix(BUILT_IN_PREFIX)}")


def _address_name(entry: AvailableDictionary) -> str:
    """What a dictionary is called in an address: a built-in corpus was counted with several tokenizers."""
    return entry.choice if entry.run_id else f"{entry.choice}@{entry.model}"


def browse(entry: AvailableDictionary, address: PageAddress) -> None:
    """Facts, threshold, histogram and entries of a dictionary, and its file. Raises EngineError."""
    dictionary = dictionaries.dictionary(entry)
    with st.spinner(tr("Opening the dictionary …")):
        frame = entries(str(entry.path), entry.path.stat().st_mtime_ns, dictionary)
    if frame.empty:
        st.info(tr("This dictionary has no entries: its corpus had no token."), icon=":material/menu_book:")
        _files(entry, dictionary, frame, {})
        return
    language = _language(entry.model)
    about = (ABOUT_ENGLISH if language == "en" else ABOUT).get(entry.choice, "")
    st.caption(sentences(tr(about), _unit(entry.unit)))
    threshold = _threshold(dictionary, float(frame["idf"].max()), address)
    low = frame["idf"] > threshold
    with st.grid(5, min_column_width=130):
        st.metric(
            tr("Documents"),
            f"{dictionary.n_documents:,}",
            border=True,
            help=tr("Unit: {unit}", unit=verbatim(unit_name(entry.unit))),
        )
        st.metric(tr("Entries"), f"{len(frame):,}", border=True, help=tr("Distinct tokens that occur in the corpus."))
        st.metric(
            tr("Tokens"),
            f"{dictionary.n_tokens:,}" if dictionary.n_tokens else tr("not counted"),
            border=True,
            help=tr("Tokens of the running text; needed for unigram probabilities (SLOR)."),
        )
        st.metric(tr("Threshold"), f"{threshold:.2f}", border=True, help=wording.measure_help("idf"))
        st.metric(
            tr("Low-frequency"),
            f"{int(low.sum()):,}",
            border=True,
            help=tr(
                "Entries whose idf equals the threshold are not low-frequency, so there can be fewer than "
                "the chosen share says."
            ),
        )
    figure = idf_histogram(frame["idf"].to_numpy(), threshold)
    draw_figure(figure, key="corpora-histogram", config={"displayModeBar": False}, alt=tr(HISTOGRAM))
    _table(frame.assign(low_frequency=low), address, TOKENS_TO_FIND[language])
    _files(entry, dictionary, frame, {HISTOGRAM: figure})


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner=False)
def entries(path: str, modified: int, _dictionary: IdfDictionary) -> pd.DataFrame:
    """The entries of the dictionary at `path`, shared by all sessions and never changed."""
    return dictionary_tables.entries(_dictionary)


def _unit(unit: str) -> str:
    return tr("A document is {unit}.", unit=unit_name(unit)) if unit in UNIT.choices else ""


def unit_name(unit: str) -> str:
    """What a document of a dictionary is, in words; an unknown unit as it is."""
    return label_of(UNIT, unit) if unit in UNIT.choices else unit


def _threshold(dictionary: IdfDictionary, greatest: float, address: PageAddress) -> float:
    """Draw the choice of the threshold, by a share of the entries or an idf; returns it as an idf."""
    by_option, share_option, value_option = (OPTIONS[name] for name in ("threshold_by", "share", "threshold"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = st.segmented_control(
            tr("Threshold by"),
            list(BY),
            format_func=lambda by: tr(BY[by]),
            required=True,
            default=address.first(by_option, by_option.default),
            key=address.key("by"),
            persist_state="session",
        )
        address.keep(by_option, by, by_option.default)
        if by == "value":
            own, most = dictionary.threshold(LOWER_PART), math.ceil(greatest * 10) / 10
            first = address.first(replace(value_option, most=most), own)
            value = st.slider(tr("Low-frequency threshold (idf)"), 0.0, most, first, 0.05, key=address.key("value"))
            address.keep(value_option, value, own)
            return float(value)
        share = st.slider(
            tr("Share of entries below the threshold"),
            0.0,
            1.0,
            address.first(share_option, LOWER_PART),
            0.01,
            format="percent",
            key=address.key("share"),
            persist_state="session",
        )
        address.keep(share_option, share, LOWER_PART)
    return dictionary.threshold(share)


def _table(frame: pd.DataFrame, address: PageAddress, to_find: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input(
            tr("Find a token"),
            address.first(OPTIONS["find"], ""),
            key=address.key("query"),
            type="search",
            live="300ms",
            width=320,
            placeholder=to_find,
            persist_state="session",
        )
        only_low = st.toggle(
            tr("Only low-frequency"),
            address.first(OPTIONS["low"], False),
            key=address.key("low"),
            persist_state="session",
        )
    address.keep(OPTIONS["find"], query, "")
    address.keep(OPTIONS["low"], only_low, False)
    shown = dictionary_tables.search_entries(frame, query, only_low)
    st.dataframe(
        shown.head(ROWS_LISTED),
        hide_index=True,
        height=list_height(min(len(shown), ROWS_LISTED), 420),
        placeholder="–",
        alt=tr("Entries of the dictionary"),
        column_config={
            "piece": tr("Token"),
            "documents": st.column_config.NumberColumn(tr("Documents"), format="localized"),
            "occurrences": st.column_config.NumberColumn(tr("Occurrences"), format="localized"),
            "idf": wording.number_column("idf", 3),
            "low_frequency": st.column_config.CheckboxColumn(tr("Low-frequency")),
        },
    )
    numbers = {"matching": len(shown), "total": len(frame)}
    st.caption(
        tr(
            "Listed: the first {n:,} of {matching:,} that match, of {total:,} entries, sorted by number of documents.",
            n=ROWS_LISTED,
            **numbers,
        )
        if len(shown) > ROWS_LISTED
        else tr("Listed: {matching:,} that match, of {total:,} entries, sorted by number of documents.", **numbers)
    )


def signature_of(dictionary: IdfDictionary) -> dict[str, Any]:
    """All that determines the numbers of a dictionary."""
    return {
        "dictionary": dictionary.name,
        "fingerprint": dictionary.fingerprint,
        "unit": dictionary.unit,
        "tokenizer": dictionary.tokenizer,
        "documents": dictionary.n_documents,
    }


def _files(
    entry: AvailableDictionary, dictionary: IdfDictionary, frame: pd.DataFrame, figures: Mapping[str, go.Figure]
) -> None:
    """Draw downloads, and for the viewer's own dictionary a button that deletes it."""
    signature = signature_of(dictionary)
    name = of_name(entry.name, "dictionary").replace(" ", "-")
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            tr("Dictionary"),
            lambda: idf_bytes(dictionary),
            file_name=f"{name}.json.gz",
            mime="application/gzip",
            key="corpora-download",
            on_click="ignore",
            icon=":material/download:",
            help=tr("For the command line (--idf FILE), or to upload again."),
        )
        st.download_button(
            "entries.csv",  # untranslated
            lambda: csv_bytes(frame, signature),
            file_name=f"{name}.csv",
            mime="text/csv",
            key="corpora-csv",
            on_click="ignore",
            icon=":material/download:",
        )
        if figures:
            figure_downloads(figures, signature)
        if entry.own:
            with st.popover(tr("Delete"), icon=":material/delete:", key="corpora-delete", type="tertiary"):
                st.caption(tr("Results that were scored with it stay, but cannot be scored with it again."))
                if session.access().bin_days:
                    st.caption(tr("Its run can be restored from the bin of Runs."))
                if st.button(tr("Delete this dictionary"), key="corpora-delete-yes", type="primary"):
                    _delete(entry)
    st.caption(
        tr(
            ":small[{label} · tokenizer {tokenizer} · content {content}]",
            label=verbatim(entry.label),
            tokenizer=verbatim(tokenizer_name(dictionary.tokenizer)),
            content=dictionary.fingerprint[:12],
        )
    )


def _delete(entry: AvailableDictionary) -> None:
    try:
        dictionaries.delete(entry)
    except EngineError as error:
        wording.show_error(error)
        return
    if entry.choice not in (*BUILT_IN, *WORD_LEVEL):
        st.query_params.pop("run", None)
    st.rerun()
