"""Where masked sentences come from: given with their words, or built from sentences with domains or from reviews."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.shared.inputs import inputs
from dashboard.shared.wording import show_error, verbatim
from engine.datasets.formats.archives import SUFFIXES as ARCHIVES
from engine.datasets.labelled import webis
from engine.datasets.labelled.domain_sentences import DomainSentences
from engine.datasets.masked.masked_building import N_NOUNS, N_SENTENCES, FoundNouns, build, find_nouns
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.errors import EngineError
from engine.language.normalize import STEPS
from engine.language.quantities import count

KIND, BUILDING = "fill-mask", "fill-mask-sentences"
SOURCES = {"ready": "Given in the data", "build": "Frequent nouns", "webis": "Webis-CLS-10"}
SOURCES_HELP = """**Given in the data**: each row says its word. **Frequent nouns**: sentences with a domain; the
most frequent nouns of each domain are masked, in sentences drawn for each. **Webis-CLS-10**: the same from the product
reviews of the paper, as published."""
KEPT = 2  # for each session: the words of a large file take a while to find


def masked_sentences_input() -> MaskedSentences | None:
    """The dataset that the widgets describe, or None while there is none; what cannot be used is explained."""
    source = st.segmented_control("Words to mask", list(SOURCES), format_func=SOURCES.__getitem__, default="ready",
                                  required=True, key="fill-mask-words", persist_state="session", help=SOURCES_HELP)
    if source == "ready":
        dataset: MaskedSentences | None = inputs.dataset_input(KIND)
        return dataset
    try:
        sentences = inputs.dataset_input(BUILDING) if source == "build" else _reviews()
        return None if sentences is None else _built(sentences)
    except EngineError as error:
        show_error(error)
        return None


def normalize_input() -> tuple[str, ...]:
    """The steps that sentences and words go through first."""
    return tuple(st.pills(
        "Normalise sentences and words first", STEPS, selection_mode="multi", key="fill-mask-normalize",
        persist_state="session", help="nfkc: ＣＤ becomes CD. lower: CD becomes cd, for models that know small letters "
        "only. The paper needed both."))


def _built(sentences: DomainSentences) -> MaskedSentences:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        n_nouns = st.number_input("Nouns per domain", 1, value=N_NOUNS, step=1, key="fill-mask-nouns", width=150,
                                  persist_state="session", help="The most frequent common nouns (名詞-一般, by MeCab "
                                  "with the IPA dictionary).")
        n_sentences = st.number_input("Sentences per noun", 1, value=N_SENTENCES, step=1, key="fill-mask-sentences",
                                      width=150, persist_state="session", help="Drawn among those that hold the noun; "
                                      "its first occurrence is masked.")
        seed = st.number_input("Seed", 0, value=0, step=1, key="fill-mask-seed", width=110, persist_state="session")
        typed = st.text_input("These nouns instead", key="fill-mask-nouns-typed", width=260, persist_state="session",
                              placeholder="本、人、著者", help="Separated by commas; masked in every domain.")
    nouns = tuple(dict.fromkeys(word.strip() for word in typed.replace("、", ",").replace("，", ",").split(",")
                                if word.strip()))
    dataset = build(_nouns_of(sentences.content_hash, sentences), n_nouns=n_nouns, n_sentences=n_sentences, seed=seed,
                    nouns=nouns)
    for notice in dataset.notices[len(sentences.notices):]:
        st.caption(f":material/info: {verbatim(notice)}")
    with st.popover(f"See the {dataset.n:,} masked sentences", key="fill-mask-built", on_change="rerun",
                    type="tertiary", icon=":material/table_rows:") as preview:
        if preview.open:
            st.dataframe(dataset.to_frame(), hide_index=True, height=260, width=640, column_order=[
                "domain", "label", "text"], placeholder="–", alt="The masked sentences that were built")
    return dataset


def _reviews() -> DomainSentences | None:
    # The unlabeled reviews are too many for a page; the command line reads them.
    split = st.segmented_control("Split", webis.SPLITS[:2], default="test", required=True, key="fill-mask-split",
                                 persist_state="session", help="Which reviews of the Japanese part; the paper used the "
                                 "test data.")
    suffixes = [suffix.lstrip(".") for suffix in (*webis.SUFFIXES, *ARCHIVES)]
    upload = st.file_uploader("Reviews", type=suffixes, key="fill-mask-reviews", label_visibility="collapsed",
                              help="Webis-CLS-10 as published: a zip or tar.gz with …/jp/books/test.review and so on, "
                              "or one .review file.")
    if upload is None:
        st.caption("A zip or tar.gz with …/jp/books/test.review, …/jp/dvd/test.review and so on, or one .review file.")
        return None
    sentences = _read(upload.file_id, upload.name, split, upload)
    domains = ", ".join(dict.fromkeys(sentences.domains))
    st.caption(f"{count(sentences.n, 'sentence')}; domains: {verbatim(domains)}.")
    for notice in sentences.notices:
        st.caption(f":material/info: {verbatim(notice)}")
    return sentences


@st.cache_resource(max_entries=KEPT, scope="session", show_spinner="Reading the reviews …")
def _read(file_id: str, name: str, split: str, _upload: Any) -> DomainSentences:
    """Uploaded reviews. `file_id` is new with every upload, so it stands for the content."""
    return webis.read_reviews(_upload.getvalue(), name, split=split)


@st.cache_resource(max_entries=KEPT, scope="session", show_spinner="Looking for nouns …")
def _nouns_of(content_hash: str, _sentences: DomainSentences) -> FoundNouns:
    """The nouns of a dataset, found once: another number or seed only draws anew."""
    return find_nouns(_sentences)
