"""Widgets to plain values: a dataset (sample, file or pasted text) and the models to weigh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import streamlit as st

from dashboard.wording import show_error, verbatim
from engine.datasets import files, labelled_sentences, minimal_pairs, sample_data, sentence_pairs
from engine.errors import EngineError
from engine.models.cards import BUILT_IN

SOURCES = {"sample": "Sample", "upload": "My file", "paste": "Pasted text"}
SUFFIXES = ("csv", "tsv", "txt", "jsonl", "json", "xlsx")
NO_COLUMN = "(none)"
TABLES_KEPT = 2  # for each session: an uploaded table can be large


@dataclass(frozen=True)
class DatasetForm:
    """What the dataset widgets of one kind of run need: the module that reads it, the sample, words."""

    module: ModuleType
    sample: Callable[[], Any]
    about_sample: str
    example: str


FORMS: dict[str, DatasetForm] = {
    "clusters": DatasetForm(
        labelled_sentences, sample_data.labelled_sentences,
        "Sentences of nine topics, written for this project.",
        "昨日の試合は延長戦で決まった\tスポーツ\n新しい電話は画面が大きい\t技術",
    ),
    "bertscore": DatasetForm(
        sentence_pairs, sample_data.sentence_pairs,
        "Pairs that say the same, swap a name, spell it otherwise or change the meaning, written for this project.",
        "斉藤さんは今、最高の環境にいる。\t尾崎は良い場所にいる。",
    ),
    "minimal-pairs": DatasetForm(
        minimal_pairs, sample_data.minimal_pairs,
        "Pairs of one acceptable and one unacceptable sentence, written for this project.",
        "猫が魚を食べた。\t猫が魚に食べた。",
    ),
}


def dataset_input(kind: str) -> Any | None:
    """The dataset that the widgets of a kind of run describe, or None while there is none.

    Draws the choice of source and what it needs; an unusable file or text is explained where it was given.
    """
    source = st.segmented_control("Sentences", list(SOURCES), format_func=SOURCES.__getitem__, default="sample",
                                  required=True, key=f"{kind}-source", persist_state="session")
    try:
        if source == "upload":
            return _uploaded(kind)
        if source == "paste":
            return _pasted(kind)
        return _sample(kind)
    except EngineError as error:
        show_error(error)
        return None


def models_input(kind: str, *architectures: str, label: str = "Models") -> tuple[str, ...]:
    """The chosen models: built-in names of the given kinds ("masked", "causal", "encoder"), ids, directories.

    All built-in models that fit are chosen at first.
    """
    built_in = [name for name, card in BUILT_IN.items() if not architectures or card.kind in architectures]
    chosen = st.multiselect(
        label, built_in, default=built_in, accept_new_options=True, key=f"{kind}-models", persist_state="session",
        placeholder="Choose, or type and press Enter",
        help="A built-in model, a Hugging Face id (`owner/name`, or `owner/name@revision`), or a directory on the "
             "machine Hakari runs on, in Hugging Face layout. Type it and press Enter.",
    )
    return tuple(dict.fromkeys(name.strip() for name in chosen if name.strip()))


def _sample(kind: str) -> Any:
    form = FORMS[kind]
    dataset = form.sample()
    st.caption(f"{form.about_sample} {dataset.n} rows.")
    _preview(dataset, kind)
    return dataset


def _uploaded(kind: str) -> Any | None:
    form = FORMS[kind]
    upload = st.file_uploader(
        "File", type=list(SUFFIXES), key=f"{kind}-file", label_visibility="collapsed",
        help="CSV, TSV, JSONL or Excel; UTF-8, UTF-16 or CP932. The first row names the columns.",
    )
    if upload is None:
        st.caption(f"A table with {_needed(form.module)}. CSV, TSV, JSONL or Excel; UTF-8, UTF-16 or CP932.")
        return None
    table = _table(upload.file_id, upload.name, upload)
    columns = _column_choice(kind, upload.file_id, form.module, table)
    if columns is None:
        return None
    dataset = _dataset(kind, upload.file_id, tuple(sorted(columns.items())), table)
    _preview(dataset, kind)
    return dataset


def _pasted(kind: str) -> Any | None:
    form = FORMS[kind]
    # A form, because an input method's Enter and every loss of focus would run the page again.
    with st.form(f"{kind}-paste", border=False):
        text = st.text_area("Text", key=f"{kind}-text", height=180, placeholder=form.example, persist_state="session",
                            help=f"One row a line, fields separated by a tab or a comma: {_needed(form.module)}.")
        st.form_submit_button("Use this text", key=f"{kind}-use")
    if not text.strip():
        st.caption(f"One row a line, fields separated by a tab or a comma: {_needed(form.module)}.")
        return None
    table = files.paste_table(text, [role for role, *_ in form.module.ROLES][:_fields(text, form.module)])
    dataset = form.module.from_table(table)
    _preview(dataset, kind)
    return dataset


def _column_choice(kind: str, file_id: str, module: ModuleType, table: files.Table) -> dict[str, str | None] | None:
    """Which column holds what, as guessed and then as the reader corrects it; None while a needed one is missing."""
    guessed = module.guess_columns(table)
    names = [str(name) for name in table.frame.columns]
    chosen: dict[str, str | None] = {}
    for slot, (role, required, description) in zip(st.columns(len(module.ROLES)), module.ROLES, strict=True):
        guess = guessed.get(role)
        # A guess may be two columns to be joined, which is no column of the file.
        choices = [*names, *([guess] if guess and guess not in names else [])]
        options = choices if required else [NO_COLUMN, *choices]
        name = slot.selectbox(
            role.capitalize() if required else f"{role.capitalize()} (optional)", options,
            index=options.index(guess) if guess in options else (None if required else 0),
            key=f"{kind}-column-{role}-{file_id}", placeholder="Choose a column", help=verbatim(description),
        )
        chosen[role] = None if name == NO_COLUMN else name
    missing = [role for role, required, _ in module.ROLES if required and chosen[role] is None]
    if missing:
        st.warning(f"Which column holds the {' and the '.join(missing)}? The file has: {verbatim(', '.join(names))}.",
                   icon=":material/help:")
        return None
    return chosen


def _preview(dataset: Any, kind: str) -> None:
    for notice in dataset.notices:
        st.caption(f":material/info: {verbatim(notice)}")
    with st.popover(f"See the {dataset.n:,} rows", key=f"{kind}-preview", on_change="rerun", type="tertiary",
                    icon=":material/table_rows:") as preview:
        if preview.open:
            st.dataframe(dataset.to_frame(), hide_index=True, height=260, width=640,
                         alt="The rows of the dataset")


def _needed(module: ModuleType) -> str:
    needed = [role if required else f"{role} (optional)" for role, required, _ in module.ROLES]
    return ", ".join(needed)


def _fields(text: str, module: ModuleType) -> int:
    """How many of the roles the pasted lines hold, told by the first: optional ones may be left out at the end."""
    first = next(line for line in text.splitlines() if line.strip())
    n_given = first.count("\t" if "\t" in first else ",") + 1
    n_required = sum(1 for _, required, _ in module.ROLES if required)
    return min(max(n_given, n_required), len(module.ROLES))


@st.cache_resource(max_entries=TABLES_KEPT, scope="session", show_spinner="Reading the file …")
def _table(file_id: str, name: str, _upload: Any) -> files.Table:
    """An uploaded file as a table. `file_id` is new with every upload, so it stands for the content."""
    return files.read_table(_upload.getvalue(), name)


@st.cache_resource(max_entries=TABLES_KEPT, scope="session", show_spinner="Checking the rows …")
def _dataset(kind: str, file_id: str, columns: Sequence[tuple[str, str | None]], _table: files.Table) -> Any:
    return FORMS[kind].module.from_table(_table, dict(columns))
