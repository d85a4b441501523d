"""A dictionary of one's own: from texts that are uploaded or pasted, or a dictionary that was downloaded before."""

from __future__ import annotations

import io
from typing import IO

import streamlit as st

from dashboard.shared import run_view, session
from dashboard.shared.exports.run_exports import PASTED_FILE
from dashboard.shared.inputs import settings as inputs
from dashboard.shared.wording import show_error
from engine.datasets.corpora.corpus import TEXT_SUFFIXES
from engine.datasets.formats.archives import SUFFIXES as ARCHIVES
from engine.errors import EngineError, InputError
from engine.evaluations.dictionary.evaluate import check_name
from engine.evaluations.dictionary.records import MAX_NAME_CHARACTERS, PASTED, Settings
from engine.models.sources.cards import BUILT_IN
from engine.options import option_of

KIND = "dictionary"
SOURCES = {"files": "My files", "paste": "Pasted text", "dictionary": "A dictionary I have"}
UNIT = option_of(Settings, "unit")
UNIT_NAMES = {"file": "A file", "line": "A line", "blank-line": "Between blank lines", "page-break": "A page"}
FILES_HELP = """Plain text or Aozora Bunko's, in UTF-8, UTF-16 or CP932; also as zip or tar of many. Aozora's headers,
ruby and notes are taken off."""


def build() -> None:
    """The form; a submitted one goes to its run, what is wrong with it is said here."""
    source = st.segmented_control("From", list(SOURCES), format_func=SOURCES.__getitem__, default="files",
                                  required=True, key="corpora-source", persist_state="session")
    # A form, because an input method's Enter and every loss of focus would run the page again.
    with st.form("corpora-build", border=False, enter_to_submit=False):
        uploads = _uploads(source)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input("Name", key="corpora-name", max_chars=MAX_NAME_CHARACTERS, width=240,
                                 placeholder="my novels", persist_state="session")
            model: str | None = None
            unit = UNIT.default
            if source != "dictionary":
                model = st.selectbox("Tokenizer of the model", list(BUILT_IN), accept_new_options=True, width=320,
                                     key="corpora-model", persist_state="session",
                                     help="A dictionary counts the pieces of one tokenizer and is of use to it alone. "
                                          "A built-in model, a Hugging Face id, or a directory of this machine.")
                unit = inputs.segments("A document is", UNIT, words=UNIT_NAMES, key=f"corpora-unit-{source}",
                                         first=PASTED if source == "paste" else None, persist_state=None)
        submitted = st.form_submit_button("Keep" if source == "dictionary" else "Count", type="primary",
                                          key="corpora-submit", icon=":material/calculate:")
    if submitted:
        _submit(uploads, name.strip(), model, unit)


def _uploads(source: str) -> list[tuple[str, IO[bytes]]]:
    if source == "paste":
        text = st.text_area("Text", key="corpora-text", height=180, persist_state="session",
                            placeholder="吾輩は猫である。\n名前はまだ無い。")
        return [(PASTED_FILE, io.BytesIO(text.encode("utf-8", "replace")))] if text.strip() else []
    if source == "dictionary":
        upload = st.file_uploader("Dictionary", type=["json", "gz"], key="corpora-dictionary-file",
                                  help="What this page hands out, or what `python -m engine idf` writes.")
        return [(upload.name, upload)] if upload is not None else []
    types = [suffix.lstrip(".") for suffix in (*TEXT_SUFFIXES, *ARCHIVES)]
    files = st.file_uploader("Files", type=[*types, "tsv"], accept_multiple_files=True, key="corpora-files",
                             help=FILES_HELP)
    return [(file.name, file) for file in files]


def _submit(uploads: list[tuple[str, IO[bytes]]], name: str, model: str | None, unit: str) -> None:
    try:
        if not uploads:
            raise InputError("There is no text yet: upload a file or paste some lines.")
        check_name(name)
        if model is not None and not model.strip():
            raise InputError("No model is chosen: a dictionary is counted with the tokenizer of one.")
        names = [upload_name for upload_name, _ in uploads]
        title = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        settings = Settings(model.strip() if model else None, name, unit)
        submission = session.access().submit_corpus(KIND, settings, uploads, title, name)
    except EngineError as error:
        show_error(error)
        return
    run_view.show_run(submission.run_id)
