"""Widgets that choose a dataset (sample, file or pasted text) and the models to evaluate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import streamlit as st

from dashboard.shared.address import form_address
from dashboard.shared.inputs import sample_language
from dashboard.shared.inputs.columns import column_choice, field_list
from dashboard.shared.inputs.entity_predictions import with_predictions
from dashboard.shared.inputs.kept import keep_popover, kept_input, kept_type
from dashboard.shared.inputs.livedoor import livedoor_input
from dashboard.shared.inputs.minimal_pairs import layout_notes, mapping_input
from dashboard.shared.inputs.pasted import pasted_table
from dashboard.shared.inputs.settings import follow
from dashboard.shared.inputs.uploads import (
    encoding_popover,
    encoding_popover_of_unread,
    read_upload,
    reading_of,
    sheet_choice,
    sheet_choice_of_unread,
)
from dashboard.shared.theme import list_height
from dashboard.shared.wording import show_error, verbatim
from engine.datasets import sample_data, sentence_pairs
from engine.datasets.formats import files
from engine.datasets.formats.archives import SUFFIXES as ARCHIVES
from engine.datasets.formats.archives import is_archive
from engine.datasets.hub.catalogue import of_kind
from engine.datasets.hub.names import FORM, parsed
from engine.datasets.labelled import labelled_sentences
from engine.datasets.labelled.outside_vectors import without_vectors
from engine.datasets.minimal_pairs import pairs
from engine.errors import EngineError, InputError
from engine.messages.languages import mark, sentences, tr, tr_n, translated
from engine.models.sources.cards import built_in_models, first_built_in

SOURCES = {
    "sample": mark("Sample"),
    "upload": mark("My file"),
    "paste": mark("Pasted text"),
    "hub": mark("Hugging Face"),
    "kept": mark("Kept"),
}
SUFFIXES = ("csv", "tsv", "txt", "jsonl", "json", "parquet", "xlsx", "gz")
MODELS_HELP = mark(
    "A built-in model, a Hugging Face id (`owner/name`, or `owner/name@revision`), a directory on "
    "the machine Hakari runs on, in Hugging Face layout, a GGUF file (its path, or `owner/name:file.gguf`), "
    "or CARD=DIRECTORY (see Models). `LABEL=MODEL` "
    "gives it a short name for figures and tables, such as `BERT v3=owner/name`. Type it and press "
    "Enter."
)
SERVED_HELP = mark("A model behind a server is `endpoint/name`.")
FILE_FORMATS = mark("CSV, TSV, JSONL, Parquet or Excel; text in UTF-8, UTF-16, CP932 and others.")
LIVEDOOR = mark("The livedoor corpus is read as it is published, as zip or tar.gz.")
TABLES_KEPT = 2  # for each session: an uploaded table can be large


@dataclass(frozen=True)
class FurtherSample:
    """A sample of another kind than that which the page opens on; nothing is evaluated before somebody asks.

    label: of the choice. sample: in a language of the samples.
    """

    label: str
    sample: Callable[[str], Any]
    about: str


@dataclass(frozen=True)
class DatasetForm:
    """What the dataset widgets of a page need: the module that reads the data, the sample, English texts.

    kind: that of the runs, with which the keys of the widgets begin. sample: in a language of the samples. sample_label:
    what it is called beside `further_samples`, each by its name in the address.
    """

    kind: str
    module: ModuleType
    sample: Callable[[str], Any]
    about_sample: str
    example: str
    archive: Callable[[str, Any], Any] | None = None  # kind and uploaded archive -> dataset, where archives are read
    # Draws an uploader of its own, for several files at once; kind and whether bad rows are left out -> dataset.
    files: Callable[[str, bool], Any | None] | None = None
    is_addressed: bool = True  # whether the address has its choices: of one form of a page
    sample_label: str = ""
    further_samples: Mapping[str, FurtherSample] = field(default_factory=dict)


def labelled_form(kind: str) -> DatasetForm:
    """The form of labelled sentences."""
    return DatasetForm(
        kind,
        labelled_sentences,
        sample_data.labelled_sentences,
        mark("Sentences of nine topics, written for this project."),
        "昨日の試合は延長戦で決まった\tスポーツ\n新しい電話は画面が大きい\t技術",
        livedoor_input,
    )


def dataset_input(form: DatasetForm) -> Any | None:
    """The dataset that the widgets of a form describe, or None while there is none.

    Draws the choice of source and what it needs; the error of an unusable file or text is shown below it.
    """
    kind = form.kind
    dataset_type = kept_type(kind)
    sources = [source for source in SOURCES if source != "kept" or dataset_type is not None]
    if form.is_addressed:
        sample_language.open_asked(kind)
        form_address.opened(kind, sources, form.further_samples, **sample_language.on_show(kind))
    dataset = _of_source(form, sources, dataset_type)
    if form.is_addressed:
        form_address.written(kind, **sample_language.on_show(kind))
    return dataset


def _of_source(form: DatasetForm, sources: Sequence[str], dataset_type: type[Any] | None) -> Any | None:
    kind = form.kind
    source = st.segmented_control(
        tr("Sentences"),
        sources,
        format_func=lambda name: tr(SOURCES[name]),
        default="sample",
        required=True,
        key=form_address.source_key(kind),
        persist_state="session",
    )
    if source == "sample":
        return _sample(form)
    if source == "kept" and dataset_type is not None:
        dataset = kept_input(kind, dataset_type)
        if dataset is not None:
            _preview(dataset, kind)
        return dataset
    skipping = skips_bad_rows(kind)
    try:
        dataset = {"upload": _uploaded, "hub": from_hub, "paste": _pasted}[str(source)](form, skipping)
        has_bad_rows = dataset is not None and bool(dataset.left_out)
    except EngineError as error:
        show_error(error)
        dataset, has_bad_rows = None, not skipping and isinstance(error, InputError) and bool(error.rows)
    if has_bad_rows or skipping:
        skip_bad_rows_box(kind)
    return dataset


def skip_bad_rows_box(kind: str) -> None:
    """Draw the choice that `skips_bad_rows` reads."""
    st.checkbox(
        tr("Leave out rows that cannot be used"),
        key=f"{kind}-skip-bad-rows",
        persist_state="session",
        help=tr("They are listed with the result, each with its reason. Row numbers stay those of the file."),
    )


def skips_bad_rows(kind: str) -> bool:
    """Whether the viewer chose to leave out the rows of a file that cannot be used."""
    return bool(st.session_state.get(f"{kind}-skip-bad-rows"))


def models_input(
    kind: str,
    *architectures: str,
    label: str = mark("Models"),
    offered: Sequence[str] = (),
    served: Sequence[str] = (),
    ranks: bool = True,
    texts: Sequence[str] = (),
) -> tuple[str, ...]:
    """The chosen models: built-in names of the given kinds ("masked", "causal", "encoder"), ids, directories.

    By default all built-in models that fit are chosen; where the page `ranks` no models, the first of each kind. They
    are those of the language of `texts`, the data, and of the page while there are none. Those of the kinds `offered`,
    and the endpoints `served`, can be chosen too.
    """
    language = sample_language.of_texts(texts) or sample_language.of_page(kind)
    choices = list(dict.fromkeys((*_of_language_first(language, *architectures, *offered), *served)))
    key = f"{kind}-models"
    chosen = st.multiselect(
        tr(label),
        choices,
        default=follow(key, _usual_models(language, architectures, ranks)),
        accept_new_options=True,
        # A path or an id that is typed is that model: not all whose names have its letters somewhere in this order.
        filter_mode="contains",
        select_all=False,
        key=key,
        persist_state="session",
        placeholder=tr("Choose, or type and press Enter"),
        help=sentences(tr(MODELS_HELP), tr(SERVED_HELP) if served else ""),
    )
    return tuple(dict.fromkeys(name.strip() for name in chosen if name.strip()))


def _usual_models(language: str, architectures: Sequence[str], ranks: bool) -> list[str]:
    built_in = built_in_models(*architectures, language=language)
    return list(built_in if ranks else first_built_in(*architectures, language=language))


def _of_language_first(language: str, *architectures: str) -> tuple[str, ...]:
    """The built-in models of these kinds, those of the language before the others."""
    return (*built_in_models(*architectures, language=language), *built_in_models(*architectures))


def _sample(form: DatasetForm) -> Any:
    if not form.further_samples:
        dataset, about = form.sample(sample_language.choice(form.kind)), form.about_sample
    else:
        with st.container(horizontal=True, gap="small"):
            name = st.segmented_control(
                tr("Sample"),
                ["", *form.further_samples],
                format_func=lambda name: tr(form.further_samples[name].label if name else form.sample_label),
                default="",
                required=True,
                key=form_address.sample_key(form.kind),
                persist_state="session",
                label_visibility="collapsed",
            )
            language = sample_language.choice(form.kind)
        further = form.further_samples.get(str(name))
        dataset = (further.sample if further else form.sample)(language)
        about = further.about if further else form.about_sample
    st.caption(sentences(tr(about), tr_n("{n} row.", "{n:,} rows.", dataset.n)))
    _preview(dataset, form.kind)
    return dataset


def _uploaded(form: DatasetForm, skip_bad_rows: bool) -> Any | None:
    kind = form.kind
    if form.files is not None:
        dataset = form.files(kind, skip_bad_rows)
        if dataset is not None:
            _preview(dataset, kind, may_be_kept=True)
        return dataset
    archives = [suffix.lstrip(".") for suffix in ARCHIVES] if form.archive else []
    layouts = sentences(tr(FILE_FORMATS), tr(LIVEDOOR) if form.archive else "")
    upload = st.file_uploader(
        tr("File"),
        type=[*SUFFIXES, *archives],
        key=f"{kind}-file",
        label_visibility="collapsed",
        help=sentences(layouts, tr("The first row names the columns.")),
    )
    if upload is None:
        st.caption(sentences(tr("A table with these columns: {columns}.", columns=field_list(form.module)), layouts))
        return None
    if form.archive and is_archive(upload.name):
        dataset = form.archive(kind, upload)
        _preview(dataset, kind, may_be_kept=True)
        return dataset
    table = uploaded_table(kind, upload, skip_bad_rows, form.module)
    # With another sheet or first row the columns are others, and chosen anew.
    file_id = upload.file_id + "".join(
        value
        for name, value in reading_of(kind, upload.file_id).items()
        if name in ("sheet", "header") and value != "detect"
    )
    if form.module is sentence_pairs:
        joined = with_predictions(kind, file_id, table, skip_bad_rows)
        if joined is None:
            return None
        table, file_id = joined
    columns = column_choice(kind, file_id, form.module, table)
    if columns is None:
        encoding_popover(kind, upload.file_id, [upload.name], [table])
        return None
    reading = tuple(reading_of(kind, upload.file_id).items())
    with st.spinner(tr("Checking the rows …")):
        dataset = _dataset(kind, file_id, tuple(sorted(columns.items())), skip_bad_rows, reading, table, form.module)
    _preview(
        dataset, kind, may_be_kept=True, beside=lambda: encoding_popover(kind, upload.file_id, [upload.name], [table])
    )
    return dataset


def from_hub(form: DatasetForm, skip_bad_rows: bool) -> Any | None:
    """The dataset of a name of the Hugging Face Hub that is chosen or typed; None while there is none."""
    kind = form.kind
    name = st.selectbox(
        tr("Data set of the Hugging Face Hub"),
        [known.hub for known in of_kind(kind)],
        index=None,
        accept_new_options=True,
        key=form_address.hub_key(kind),
        persist_state="session",
        placeholder=FORM,
        label_visibility="collapsed",
        help=tr(
            "`{form}`: CONFIG and SPLIT can be left out where there is one, and `*` stands for all configurations. "
            "*Data sets* lists benchmarks with licence and size.",
            form=FORM,
        ),
    )
    if not name:
        st.caption(tr("A name such as `{example}`: choose one, or type it and press Enter.", example=FORM))
        return None
    name = str(parsed(str(name)))
    table = read_upload(
        files.table_of_hub, name, bytes, name=name, skip_bad_rows=skip_bad_rows, judge=form.module.from_table
    )
    columns: Any = (
        mapping_input(kind, name, [table]) if form.module is pairs else column_choice(kind, name, form.module, table)
    )
    if columns is None:
        return None
    with st.spinner(tr("Checking the rows …")):
        dataset = _dataset(kind, name, tuple(sorted(columns.items())), skip_bad_rows, (), table, form.module)
    for note in layout_notes(dataset) if isinstance(dataset, pairs.MinimalPairs) else ():
        st.caption(note)
    _preview(dataset, kind, may_be_kept=True)
    return dataset


def _pasted(form: DatasetForm, skip_bad_rows: bool) -> Any | None:
    kind = form.kind
    # A form, because otherwise Enter in an input method and every loss of focus would rerun the page.
    with st.form(f"{kind}-paste", border=False):
        layout = tr("One row a line, fields separated by a tab or a comma: {fields}.", fields=field_list(form.module))
        text = st.text_area(
            tr("Text"), key=f"{kind}-text", height=180, placeholder=form.example, persist_state="session", help=layout
        )
        st.form_submit_button(tr("Use this text"), key=f"{kind}-use")
    if not text.strip():
        st.caption(layout)
        return None
    table, text_id = pasted_table(text, skip_bad_rows, form.module)
    dataset = _dataset(kind, text_id, (), skip_bad_rows, (), table, form.module)
    _preview(dataset, kind, may_be_kept=True)
    return dataset


def _preview(dataset: Any, kind: str, *, may_be_kept: bool = False, beside: Callable[[], None] | None = None) -> None:
    for notice in dataset.notices:
        st.caption(f":material/info: {verbatim(translated(notice))}")  # untranslated
    with st.container(horizontal=True, gap="small"):
        with st.popover(
            tr_n("See the row", "See the {n:,} rows", dataset.n),
            key=f"{kind}-preview",
            on_change="rerun",
            type="tertiary",
            icon=":material/table_rows:",
        ) as preview:
            if preview.open:
                st.dataframe(
                    without_vectors(dataset.to_frame()),
                    hide_index=True,
                    height=list_height(dataset.n, 260),
                    width=640,
                    placeholder="–",
                    alt=tr("The rows of the dataset"),
                )
        if may_be_kept and kept_type(kind) is not None:
            keep_popover(kind, dataset)
        if beside is not None:
            beside()


def uploaded_table(kind: str, upload: Any, skip_bad_rows: bool, module: ModuleType) -> files.Table:
    """An uploaded file as a table, with the choice of its sheet; of one that cannot be read, also of its encoding.

    Raises InputError.
    """
    try:
        table = read_upload(
            files.read_table,
            upload.file_id,
            upload.getvalue,
            name=upload.name,
            skip_bad_rows=skip_bad_rows,
            judge=module.from_table,
            **reading_of(kind, upload.file_id),
        )
    except InputError:
        encoding_popover_of_unread(kind, upload.file_id, [upload])
        sheet_choice_of_unread(kind, upload.file_id, [upload])
        raise
    sheet_choice(kind, upload.file_id, table.sheets)
    return table


@st.cache_resource(max_entries=TABLES_KEPT, scope="session", show_spinner=False)
def _dataset(
    kind: str,
    file_id: str,
    columns: Sequence[tuple[str, str | tuple[str, ...] | None]],
    skip_bad_rows: bool,
    reading: Sequence[tuple[str, str]],
    _table: files.Table,
    _module: ModuleType,
) -> Any:
    """`reading` and `skip_bad_rows` are part of the key: with others the table is another one."""
    return _module.from_table(_table, dict(columns) or None, skip_bad_rows=skip_bad_rows)
