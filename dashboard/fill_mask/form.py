"""The source of masked sentences: given with their words, or built from sentences with domains or from reviews."""

from __future__ import annotations

import streamlit as st

from dashboard.fill_mask.face import FORM
from dashboard.shared.inputs import inputs, settings
from dashboard.shared.inputs.inputs import DatasetForm
from dashboard.shared.inputs.presets import Start
from dashboard.shared.inputs.uploads import read_upload
from dashboard.shared.theme import list_height
from dashboard.shared.wording import show_error, verbatim
from engine.datasets import sample_data
from engine.datasets.formats.archives import SUFFIXES as ARCHIVES
from engine.datasets.labelled import domain_sentences, webis
from engine.datasets.labelled.domain_sentences import DomainSentences
from engine.datasets.masked.masked_building import Building, NounOccurrences, build, find_nouns
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.errors import EngineError
from engine.evaluations.fill_mask.records import Settings
from engine.messages.languages import mark, tr, tr_n, translated
from engine.messages.message import list_of
from engine.options import option_of, options_of

BUILDING_OPTIONS = options_of(Building)
OF_SENTENCES = DatasetForm(
    f"{FORM.kind}-sentences",
    domain_sentences,
    sample_data.domain_sentences,
    mark("Sentences of three domains, written for this project."),
    "とても面白い本だった。\t読書\n朝から雨が降っている。\t天気",
    is_addressed=False,  # the address is that of the data whose words are given
)
SOURCES = {"ready": mark("Given in the data"), "build": mark("Frequent nouns"), "webis": "Webis-CLS-10"}
SOURCES_HELP = mark("""**Given in the data**: each row names its word. **Frequent nouns**: sentences with a domain; the
most frequent nouns of each domain are masked, in sentences drawn for each. **Webis-CLS-10**: the same from the product
reviews of the paper, as published.""")
KEPT = 2  # for each session: the words of a large file take a while to find


def masked_sentences_input() -> MaskedSentences | None:
    """The dataset that the widgets describe, or None while there is none; what cannot be used is explained."""
    source = st.segmented_control(
        tr("Words to mask"),
        list(SOURCES),
        format_func=lambda name: tr(SOURCES[name]),
        default="ready",
        required=True,
        key="fill-mask-words",
        persist_state="session",
        help=tr(SOURCES_HELP),
    )
    if source == "ready":
        dataset: MaskedSentences | None = inputs.dataset_input(FORM)
        return dataset
    try:
        sentences = inputs.dataset_input(OF_SENTENCES) if source == "build" else _reviews()
        return None if sentences is None else _built(sentences)
    except EngineError as error:
        show_error(error)
        return None


def fill_mask_settings(models: tuple[str, ...], start: Start) -> Settings:
    """Draws the choices, at first those of `start`, and returns them with `models` as the settings of a run."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        with st.popover(tr("Advanced options"), icon=":material/tune:", key="fill-mask-settings"):
            normalize = settings.pills(
                tr("Normalise sentences and words first"), option_of(Settings, "normalize"), **start.at("normalize")
            )
            precision = settings.list_of(
                tr("Numeric precision"), option_of(Settings, "precision"), **start.at("precision")
            )
        chosen = Settings(models=models, normalize=normalize, precision=precision)
        settings.in_a_line(chosen, {"normalize": tr("Normalisation"), "precision": tr("Numeric precision")})
    return chosen


def _built(sentences: DomainSentences) -> MaskedSentences:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        n_nouns = settings.number(tr("Nouns per domain"), BUILDING_OPTIONS["n_nouns"], key="fill-mask-nouns", width=150)
        n_sentences = settings.number(
            tr("Sentences per noun"), BUILDING_OPTIONS["n_sentences"], key="fill-mask-sentences", width=150
        )
        seed = settings.number(tr("Seed"), BUILDING_OPTIONS["seed"], key="fill-mask-seed", width=110)
        typed = settings.typed_words(
            tr("Use these nouns instead"),
            BUILDING_OPTIONS["nouns"],
            width=260,
            key="fill-mask-nouns-typed",
            placeholder="本、人、著者",
        )
    with st.spinner(tr("Looking for nouns …")):
        nouns = _nouns_of(sentences.content_hash, sentences)
    dataset = build(nouns, n_nouns=n_nouns, n_sentences=n_sentences, seed=seed, nouns=typed)
    for notice in dataset.notices[len(sentences.notices) :]:
        st.caption(f":material/info: {verbatim(translated(notice))}")  # untranslated
    with st.popover(
        tr("Preview of the {n:,} masked sentences", n=dataset.n),
        key="fill-mask-built",
        on_change="rerun",
        type="tertiary",
        icon=":material/table_rows:",
    ) as preview:
        if preview.open:
            st.dataframe(
                dataset.to_frame(),
                hide_index=True,
                height=list_height(dataset.n, 260),
                width=640,
                column_order=["domain", "label", "text"],
                placeholder="–",
                alt=tr("The masked sentences that were built"),
                column_config={"domain": tr("Domain"), "label": tr("Word"), "text": tr("Sentence")},
            )
    return dataset


def _reviews() -> DomainSentences | None:
    # The unlabeled reviews are too many for a page; the command line reads them.
    split = settings.segments(tr("Split"), option_of(webis.Reviews, "split"), key="fill-mask-split", but=("unlabeled",))
    suffixes = [suffix.lstrip(".") for suffix in (*webis.SUFFIXES, *ARCHIVES)]
    upload = st.file_uploader(tr("Reviews"), type=suffixes, key="fill-mask-reviews", label_visibility="collapsed")
    if upload is None:
        st.caption(
            tr(
                "Webis-CLS-10 as published: a zip or tar.gz with …/jp/books/test.review, …/jp/dvd/test.review "
                "and so on, or one .review file."
            )
        )
        return None
    with st.spinner(tr("Reading the reviews …")):
        sentences = read_upload(webis.read_reviews, upload.file_id, upload.getvalue, name=upload.name, split=split)
    domains = translated(list_of(dict.fromkeys(sentences.domains)))
    st.caption(
        verbatim(
            tr_n(
                "{n} sentence; domains: {domains}.",
                "{n:,} sentences; domains: {domains}.",
                sentences.n,
                domains=domains,
            )
        )
    )
    for notice in sentences.notices:
        st.caption(f":material/info: {verbatim(translated(notice))}")  # untranslated
    return sentences


@st.cache_resource(max_entries=KEPT, scope="session", show_spinner=False)
def _nouns_of(content_hash: str, _sentences: DomainSentences) -> NounOccurrences:
    """The nouns of a dataset, found once: another number or seed only draws anew."""
    return find_nouns(_sentences)
