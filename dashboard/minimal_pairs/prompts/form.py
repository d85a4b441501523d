"""The templates that sentences are scored in, too: those of a language, or one's own, typed or from a table."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.shared.inputs import settings
from dashboard.shared.inputs.presets import Start
from dashboard.shared.wording import show_error, verbatim
from engine.datasets import reader_process
from engine.errors import InputError
from engine.evaluations.minimal_pairs.prompts.files import SEPARATOR, read_templates
from engine.evaluations.minimal_pairs.prompts.templates import BUILT_IN, PLACE
from engine.evaluations.minimal_pairs.records import NO_PROMPTS, OWN_PROMPTS, Settings
from engine.messages.languages import tr
from engine.options import options_of

OPTIONS = options_of(Settings)
SUFFIXES = ("csv", "tsv", "txt", "jsonl", "xlsx")
MOST_MEGABYTES = 1


def prompts_input(start: Start) -> dict[str, Any]:
    """Draw the choice of the templates and what it needs; returns the settings that it stands for."""
    prompts = str(
        settings.segments(tr("Prompts: sentences in templates, too"), OPTIONS["prompts"], **start.at("prompts"))
    )
    chosen: dict[str, Any] = {"prompts": prompts}
    if prompts == NO_PROMPTS:
        return chosen
    if prompts == OWN_PROMPTS:
        st.caption(tr("{place} stands for the sentence, and a line of --- between two templates.", place=PLACE))
        for name, label in (("in_template", tr("For in-template LP")), ("yes_no", tr("Questions"))):
            chosen[name] = settings.typed_texts(label, OPTIONS[name], **start.at(name))
        chosen["answers"] = settings.typed_words(tr("Answers, yes first"), OPTIONS["answers"], **start.at("answers"))
        _from_file(start)
    else:
        for template in BUILT_IN[prompts]:
            st.caption(verbatim(f"{template.score}: {template.text}{template.cue}".replace("\n", " ⏎ ")))
    chosen["chat_template"] = settings.toggle(
        tr("Questions in the tokenizer's chat template"), OPTIONS["chat_template"], **start.at("chat-template")
    )
    return chosen


def _from_file(start: Start) -> None:
    """Draw the upload of a table, whose templates take the place of those in the fields."""
    number = st.session_state.get(_number_key(start), 0)  # another uploader after each file, so that none is shown
    st.file_uploader(
        tr("Templates from a table"),
        SUFFIXES,
        key=f"{start.key('templates')}-file-{number}",
        on_change=_uploaded,
        max_upload_size=MOST_MEGABYTES,
        args=(start, number),
        help=tr(
            "Columns score (in-template LP or Yes/No) and text, and answers where they are others than Yes,No; such as the "
            "templates.csv of a run. They take the place of those above."
        ),
    )
    failed = st.session_state.pop(_failed_key(start), None)
    if failed is not None:
        show_error(failed)


def _uploaded(start: Start, number: int) -> None:
    file = st.session_state[f"{start.key('templates')}-file-{number}"]
    if file is None:
        return
    st.session_state[_number_key(start)] = number + 1
    try:
        found = reader_process.read(read_templates, file.getvalue(), name=file.name)
    except InputError as error:
        st.session_state[_failed_key(start)] = error
        return
    for name in ("in_template", "yes_no"):
        st.session_state[start.key(name)] = settings.joined_texts(found[name])
    st.session_state[start.key("answers")] = SEPARATOR.join(found["answers"])


def _number_key(start: Start) -> str:
    return f"{start.key('templates')}-number"


def _failed_key(start: Start) -> str:
    return f"{start.key('templates')}-failed"
