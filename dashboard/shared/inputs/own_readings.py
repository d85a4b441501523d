"""The field for a list of readings of one's own: typed, from a file, or the list that the viewer keeps.

    readings = own_readings_input(option, **of_form(start, inner="scoring"))        # a form: begins with the kept list
    readings = own_readings_input(option, key=…, first=scoring)                    # a result: as its address says

The kept list changes only with a list that was begun from it. What a link or a run brought is never mixed with it: the
one is put in place of the other, by a button.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.shared import session
from dashboard.shared.exports.signing import digest
from dashboard.shared.inputs import settings
from dashboard.shared.inputs.presets import Start
from dashboard.shared.wording import show_error
from engine.datasets.formats.encodings import decode
from engine.errors import InputError
from engine.evaluations.alignment.records import Scoring
from engine.language.readings.own import in_one_line, of_file, own_readings
from engine.messages.languages import tr, tr_n
from engine.messages.message import Message
from engine.options import Option
from engine.runs.access.own_readings import ReadingsAccess

SUFFIXES = ("csv", "tsv", "txt")
MOST_MEGABYTES = 1


def of_form(start: Start, inner: str) -> dict[str, Any]:
    """Key and first value of the field in a form: the list of the preset that was chosen, else the kept one."""
    if start.settings is not None:
        return start.at("readings", inner)
    own = access().mine()  # in the key, so that the field begins anew where another list is kept meanwhile
    return {"key": f"{start.key('readings')}-{digest({'list': own})}", "first": Scoring(readings=own)}


def own_readings_input(option: Option, *, key: str, first: Any = None) -> str:
    """Draw a button with the number of names; it opens the field, the upload, and what to do with the kept list.

    Returns the list in one line, "" where it is not a list.
    """
    text = st.session_state.get(key, settings.at_first(option, first))
    try:
        line, problem = in_one_line(text), None
    except InputError as error:
        line, problem = "", error
    n_names = len(own_readings(line))
    label = tr("Custom readings: {n:,}", n=n_names) if n_names else tr("Custom readings")
    failed = st.session_state.pop(_failed_key(key), None)
    with st.popover(label, key=f"{key}-list", icon=":material/error:" if problem else None):
        then = {"on_change": _typed, "args": (key, line), "persist_state": None}
        settings.typed_lines(tr("Custom readings"), option, key=key, first=first, **then)
        number = st.session_state.get(_number_key(key), 0)  # another uploader after each file, so that none is shown
        st.file_uploader(
            tr("List from a file"),
            SUFFIXES,
            key=f"{key}-file-{number}",
            on_change=_uploaded,
            max_upload_size=MOST_MEGABYTES,
            args=(key, line, number),
            help=tr("CSV, TSV or text: in each line a name and its reading. It takes the place of the list above."),
        )
        for shown in filter(None, (failed, problem)):
            show_error(shown)
        _kept_list(key, line)
    return line


def put(key: str, text: str) -> None:
    """In a callback: have the field of that key hold a list; where the former was the kept one, this is kept."""
    try:
        former = in_one_line(st.session_state.get(key, ""))
    except InputError:
        former = None
    st.session_state[key] = _lines(in_one_line(text))
    _keep_if_begun_from_kept(text, former)


def access() -> ReadingsAccess:
    """The kept list of the viewer."""
    return ReadingsAccess(session.access())


def _typed(key: str, former: str) -> None:
    try:
        _keep_if_begun_from_kept(st.session_state[key], former)
    except InputError:
        return  # the field says it


def _uploaded(key: str, former: str, number: int) -> None:
    file = st.session_state[f"{key}-file-{number}"]
    if file is None:
        return
    st.session_state[_number_key(key)] = number + 1
    try:
        if file.size > MOST_MEGABYTES * 2**20:  # which the browser alone asks
            raise InputError(Message("A list of readings has at most {most} MB.", most=MOST_MEGABYTES))
        text = decode(file.getvalue(), file.name)
        st.session_state[key] = _lines(of_file(text, file.name))
        _keep_if_begun_from_kept(text, former)
    except InputError as error:
        st.session_state[_failed_key(key)] = error


def _keep_if_begun_from_kept(text: str, former: str | None) -> None:
    """Empty, the list is only not used: the kept one stays until it is removed."""
    if in_one_line(text) and access().mine() == former:
        access().keep(text)


def _kept_list(key: str, line: str) -> None:
    """Draw whether the list is the kept one, and what can be done with that."""
    own = access().mine()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if own and own == line:
            st.caption(tr("Kept: new evaluations begin with this list."), width="content")
        elif own:
            st.button(
                tr_n("Use my list ({n} name)", "Use my list ({n:,} names)", len(own_readings(own))),
                key=f"{key}-use",
                icon=":material/playlist_add_check:",
                on_click=_use,
                args=(key, own),
            )
        if line and own != line:
            st.button(
                tr("Keep for new evaluations"),
                key=f"{key}-keep",
                icon=":material/bookmark_add:",
                help=tr("In place of the list that you keep.") if own else None,
                on_click=access().keep,
                args=(line,),
            )
        if own and line in ("", own):
            st.button(
                tr("Keep no longer"),
                key=f"{key}-remove",
                icon=":material/delete:",
                on_click=access().remove,
                help=tr("New evaluations begin without a list; runs keep theirs."),
            )


def _use(key: str, own: str) -> None:
    st.session_state[key] = _lines(own)


def _lines(line: str) -> str:
    """A list in one line as the field has it."""
    return line.replace(";", "\n")


def _failed_key(key: str) -> str:
    return f"{key}-failed"


def _number_key(key: str) -> str:
    return f"{key}-files"
