"""Uploaded files, read once for a session in a process of their own: with progress and a way to cancel."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import streamlit as st

from dashboard.shared import drawing_turns, session
from dashboard.shared.address import form_address
from dashboard.shared.wording import verbatim
from engine.datasets.formats import delimited, headerless
from engine.datasets.formats.archives import own_name
from engine.datasets.formats.encodings import DETECT, ENCODINGS, Detection
from engine.datasets.formats.files import EXCEL_SUFFIXES, JSON_SUFFIXES, TEXT_SUFFIXES, Table, detected
from engine.datasets.formats.workbook import sheet_titles
from engine.datasets.reader_process import Reader, is_small
from engine.errors import EngineError
from engine.messages.languages import mark, tr, translated
from engine.messages.message import list_of

KEPT = 2  # results of each function and session: an uploaded file can be large
READING = 2  # processes of a session; an older one is ended
POLL_SECONDS = 0.2
OUTCOMES, READERS = "uploads-read", "uploads-being-read"
FIRST_ROW = {
    headerless.DETECT: mark("Recognised by the file"),
    headerless.NAMES: mark("Names of the columns"),
    headerless.DATA: mark("A row of data"),
}
QUOTING = {
    delimited.DETECT: mark("Recognised by the file"),
    delimited.NONE: mark("Part of the text"),
    delimited.QUOTED: mark("Around a text"),
}

Result = TypeVar("Result")
Content = bytes | Sequence[tuple[str, bytes]]


def read_upload(
    function: Callable[..., Result],
    file_id: Hashable,
    content: Callable[[], Content],
    *,
    name: str = "",
    **arguments: Any,
) -> Result:
    """What `function(content, name, **arguments)` returns, or the error of the engine that it raises.

    `file_id` is new with every upload, so it stands for the content, which is asked for only when it is read: bytes,
    or several files as (name, bytes), without a name beside. While it is being read the page shows how far it has
    come, and a button that cancels it; whatever else is clicked meanwhile, the reading continues.
    """
    key = (function.__qualname__, file_id, repr(sorted(arguments.items())))
    outcomes = st.session_state.setdefault(OUTCOMES, {})
    if key in outcomes:
        outcomes[key] = outcomes.pop(key)  # the one used last comes last
    else:
        outcomes[key] = _outcome(function, key, content, name, arguments)
        of_function = [known for known in outcomes if known[0] == key[0]]
        for known in of_function[:-KEPT]:
            del outcomes[known]
    result, error = outcomes[key]
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def reading_of(kind: str, file_id: str) -> dict[str, str]:
    """How an uploaded file is read as was chosen, by the names of the arguments of `files.read_table`."""
    return {
        "encoding": encoding_of(kind, file_id),
        "sheet": sheet_of(kind, file_id),
        "header": form_address.header_of(kind, f"{kind}-header-{file_id}"),
        "quoting": str(st.session_state.get(f"{kind}-quoting-{file_id}", delimited.DETECT)),
    }


def encoding_of(kind: str, file_id: str) -> str:
    """The encoding that was chosen for an uploaded file, or DETECT."""
    return str(st.session_state.get(_encoding_key(kind, file_id), DETECT))


def encoding_popover_of_unread(kind: str, file_id: str, uploads: Sequence[Any]) -> None:
    """`encoding_popover` of uploads that could not be read, whether because of their encoding or for another reason."""
    detections: list[Detection] = []
    try:
        for upload in uploads:
            if _is_text(upload.name):
                detections.append(read_upload(detected, upload.file_id, upload.getvalue, name=upload.name))
    except EngineError:
        detections = []
    encoding_popover(kind, file_id, [upload.name for upload in uploads], detections)


def encoding_popover(kind: str, file_id: str, names: Sequence[str], decoded: Sequence[Table | Detection]) -> None:
    """Draw the choice of the encoding of uploaded files, `decoded` being what is known of it; () where no guess fits.

    The encoding is not drawn where there is nothing to choose: no file of text, or it is beyond doubt. Beside it is the
    choice of what the first row and quotation marks are, in files that have them.
    """
    _encoding_popover(kind, file_id, names, decoded)
    first_row_popover(kind, file_id, names)


def _encoding_popover(kind: str, file_id: str, names: Sequence[str], decoded: Sequence[Table | Detection]) -> None:
    chosen = encoding_of(kind, file_id)
    is_beyond_doubt = bool(decoded) and all(file.confidence == 1.0 for file in decoded)
    if not any(map(_is_text, names)) or (chosen == DETECT and is_beyond_doubt):
        return
    encodings = [file.encoding for file in decoded if file.encoding] if chosen == DETECT else [chosen]
    read_as = dict.fromkeys(translated(ENCODINGS.get(encoding, encoding)) for encoding in encodings)
    label = tr("Encoding: {names}", names=translated(list_of(read_as))) if read_as else tr("Encoding: not recognised")
    with st.popover(label, type="tertiary", icon=":material/translate:", key=f"{kind}-encoding-{file_id}-choice"):
        st.selectbox(
            tr("Encoding of the file"),
            [DETECT, *ENCODINGS],
            key=_encoding_key(kind, file_id),
            persist_state="session",
            format_func=lambda encoding: translated(ENCODINGS[encoding]) if encoding in ENCODINGS else tr("Detect it"),
            help=tr(
                "UTF-8 and UTF-16 are recognised. Any other encoding is a guess: look at the rows, and "
                "choose another where they are wrong."
            ),
        )


def first_row_popover(kind: str, file_id: str, names: Sequence[str]) -> None:
    """Draw the choice of what the first row of uploaded tables is, and what quotation marks are in those of text."""
    is_text = any(own_name(name).lower().endswith(TEXT_SUFFIXES) for name in names)
    if not is_text and not any(name.lower().endswith(EXCEL_SUFFIXES) for name in names):
        return
    with st.popover(
        tr("First row"), type="tertiary", icon=":material/table_edit:", key=f"{kind}-first-row-{file_id}-choice"
    ):
        st.selectbox(
            tr("The first row is"),
            list(FIRST_ROW),
            key=f"{kind}-header-{file_id}",
            persist_state="session",
            format_func=lambda name: tr(FIRST_ROW[name]),
            help=tr(
                "A file that names no columns has columns 1, 2, 3 …; choose below which is which. Published files "
                "without names (CoLA, JRTE, STS-B, MLQE-PE, CLiMP) are recognised."
            ),
        )
        if is_text:
            st.selectbox(
                tr("Quotation marks are"),
                list(QUOTING),
                key=f"{kind}-quoting-{file_id}",
                persist_state="session",
                format_func=lambda name: tr(QUOTING[name]),
                help=tr(
                    "Where they are part of the text each line is a row. Where they are around a text, it may hold "
                    "separators and line breaks."
                ),
            )


def sheet_of(kind: str, file_id: str) -> str:
    """The sheet that was chosen of an uploaded workbook, or "" for the one that fits."""
    return str(st.session_state.get(_sheet_key(kind, file_id), ""))


def sheet_choice(kind: str, file_id: str, sheets: Sequence[str]) -> None:
    """Draw the choice of the sheet of uploaded workbooks, of those that are not empty; none for one sheet."""
    titles = list(dict.fromkeys(sheets))
    if len(titles) > 1:
        st.selectbox(
            tr("Sheet"),
            ["", *titles],
            key=_sheet_key(kind, file_id),
            persist_state="session",
            format_func=lambda title: title or tr("The first whose columns are recognised"),
        )


def sheet_choice_of_unread(kind: str, file_id: str, uploads: Sequence[Any]) -> None:
    """`sheet_choice` of uploads that could not be read."""
    titles: list[str] = []
    for upload in uploads:
        if upload.name.lower().endswith(EXCEL_SUFFIXES):
            titles += read_upload(sheet_titles, upload.file_id, upload.getvalue, name=upload.name)
    sheet_choice(kind, file_id, titles)


def _is_text(name: str) -> bool:
    return own_name(name).lower().endswith((*TEXT_SUFFIXES, *JSON_SUFFIXES))


def _sheet_key(kind: str, file_id: str) -> str:
    return f"{kind}-sheet-{file_id}"


def _encoding_key(kind: str, file_id: str) -> str:
    return f"{kind}-encoding-{file_id}"


def _outcome(
    function: Callable[..., Any], key: Hashable, content: Callable[[], Content], name: str, arguments: dict[str, Any]
) -> tuple[Any, EngineError | None]:
    readers: dict[Hashable, Reader[Any]] = st.session_state.setdefault(READERS, {})
    try:
        if key not in readers:
            source = content()
            if is_small(source, name):
                return function(source, **({"name": name} if name else {}), **arguments), None
            readers[key] = Reader(function, source, name=name, owner=session.viewer().id, **arguments)
            for older in list(readers)[:-READING]:
                readers.pop(older).cancel()
        reader = readers[key]
        with drawing_turns.waiting():
            _await(reader, key)
        del readers[key]
        return reader.result(), None
    except EngineError as error:
        return None, error


def _await(reader: Reader[Any], key: Hashable) -> None:
    """Wait until the reader has ended, its progress on the page. A click ends the script here, not the reader."""
    if reader.wait(POLL_SECONDS):
        return
    slot = st.empty()
    with slot.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0)
        st.button(
            tr("Cancel"),
            key=f"cancel-reading-{hash(key)}",
            on_click=reader.cancel,
            type="tertiary",
            icon=":material/close:",
        )
    reading = tr("Reading {name} …", name=verbatim(reader.title))
    waiting = tr("{name} waits until other files have been read …", name=verbatim(reader.title))
    while not reader.wait(POLL_SECONDS):
        done, total = reader.progress
        bar.progress(min(done / total, 1.0) if total else 0.0, waiting if reader.is_waiting else reading)
    slot.empty()
