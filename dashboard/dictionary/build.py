"""A dictionary of one's own: from texts that are uploaded or pasted, or a dictionary that was downloaded before."""

from __future__ import annotations

import io
from typing import IO

import streamlit as st

from dashboard.shared import run_view, session
from dashboard.shared.inputs import settings as inputs
from dashboard.shared.wording import show_error
from engine.datasets.corpora.corpus import TEXT_SUFFIXES
from engine.datasets.formats.archives import SUFFIXES as ARCHIVES
from engine.errors import EngineError, InputError
from engine.evaluations.catalog import DICTIONARY
from engine.evaluations.dictionary.evaluate import check_name
from engine.evaluations.dictionary.records import MAX_NAME_CHARACTERS, PASTED, Settings
from engine.messages.languages import mark, tr
from engine.messages.message import Message
from engine.models.sources.cards import BUILT_IN
from engine.options import option_of

PASTED_FILE = "pasted.txt"
SOURCES = {"files": mark("Files"), "paste": mark("Pasted text"), "dictionary": mark("Dictionary file")}
COUNTED = {"tokens": mark("tokens of a model"), "words": mark("words (MeCab)")}
WORDS_HELP = mark(
    "The tokens of a model's tokenizer, as in the papers: such a dictionary can be used with that "
    "tokenizer alone. Or words, cut by MeCab (unidic-lite): such a dictionary fits every model, and a "
    "token has the idf of the word that it belongs to."
)
UNIT = option_of(Settings, "unit")
FILES_HELP = mark(
    "Plain text or Aozora Bunko's, in UTF-8, UTF-16 or CP932; also as zip or tar of many. The headers, "
    "ruby and notes of Aozora Bunko are removed."
)


def build() -> None:
    """The form; a submitted one goes to its run, what is wrong with it is shown here."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        source = st.segmented_control(
            tr("From"),
            list(SOURCES),
            default="files",
            required=True,
            format_func=lambda source: tr(SOURCES[source]),
            key="corpora-source",
            persist_state="session",
        )
        words = (
            source != "dictionary"
            and st.segmented_control(
                tr("What is counted"),
                list(COUNTED),
                default="tokens",
                required=True,
                format_func=lambda counted: tr(COUNTED[counted]),
                key="corpora-counted",
                help=tr(WORDS_HELP),
                persist_state="session",
            )
            == "words"
        )
    # A form, because an input method's Enter and every loss of focus would run the page again.
    with st.form("corpora-build", border=False, enter_to_submit=False):
        uploads = _uploads(source)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input(
                tr("Name"),
                key="corpora-name",
                max_chars=MAX_NAME_CHARACTERS,
                width=240,
                placeholder=tr("my novels"),
                persist_state="session",
            )
            model: str | None = None
            unit = UNIT.default
            if source != "dictionary" and not words:
                model = st.selectbox(
                    tr("Tokenizer of the model"),
                    list(BUILT_IN),
                    accept_new_options=True,
                    width=320,
                    key="corpora-model",
                    persist_state="session",
                    help=tr(
                        "A dictionary counts the tokens of one tokenizer and can be used with it "
                        "alone. A built-in model, a Hugging Face id, or a directory of the "
                        "server."
                    ),
                )
            if source != "dictionary":
                unit = inputs.segments(
                    tr("A document is"),
                    UNIT,
                    key=f"corpora-unit-{source}",
                    first=PASTED if source == "paste" else None,
                    persist_state=None,
                )
        submitted = st.form_submit_button(
            tr("Save") if source == "dictionary" else tr("Build"),
            type="primary",
            key="corpora-submit",
            icon=":material/calculate:",
        )
    if submitted:
        _submit(uploads, name.strip(), model, unit, words=words)


def _uploads(source: str) -> list[tuple[str, IO[bytes]]]:
    if source == "paste":
        text = st.text_area(
            tr("Text"),
            key="corpora-text",
            height=180,
            persist_state="session",
            placeholder="吾輩は猫である。\n名前はまだ無い。",
        )
        return [(PASTED_FILE, io.BytesIO(text.encode("utf-8", "replace")))] if text.strip() else []
    if source == "dictionary":
        upload = st.file_uploader(
            tr("Dictionary"),
            type=["json", "gz"],
            key="corpora-dictionary-file",
            help=tr("A dictionary downloaded from this page, or written by `python -m engine idf`."),
        )
        return [(upload.name, upload)] if upload is not None else []
    types = [suffix.lstrip(".") for suffix in (*TEXT_SUFFIXES, *ARCHIVES)]
    files = st.file_uploader(
        tr("Files"), type=[*types, "tsv"], accept_multiple_files=True, key="corpora-files", help=tr(FILES_HELP)
    )
    return [(file.name, file) for file in files]


def _submit(uploads: list[tuple[str, IO[bytes]]], name: str, model: str | None, unit: str, *, words: bool) -> None:
    try:
        if not uploads:
            raise InputError(Message("There is no text yet: upload a file or paste some lines."))
        check_name(name)
        if model is not None and not model.strip():
            raise InputError(Message("No model is chosen: a dictionary is counted with the tokenizer of one."))
        names = [upload_name for upload_name, _ in uploads]
        title = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"  # untranslated
        settings = Settings(model.strip() if model else None, name, unit, words)
        submission = session.access().submit_corpus(DICTIONARY.kind, settings, uploads, title, name)
    except EngineError as error:
        show_error(error)
        return
    run_view.show_run(submission.run_id)
