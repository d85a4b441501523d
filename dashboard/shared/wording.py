"""Errors and measure cards as text; users' text escaped for Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.theme import ARROWS, measure_name, measure_note
from engine.errors import BadRow, EngineError, InputError
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import tr, tr_n, translated
from engine.models.sources.names import shown_name

ROWS_SHOWN = 5
MINUTE, HOUR, DAY = 60, 3600, 86_400  # seconds
JOINER = "\u2060"  # no width and no break: it only separates two characters that Markdown would combine
MARKUP = re.compile(r"([\\`*_\[\]<>#|~$:=&])")
LIST_START = re.compile(r"^([^\S\n]*+)([-+]|\d+(?=[.)]))", re.MULTILINE)
# What Streamlit turns into icons, colours, links and arrows even where every character is escaped.
COMBINED = re.compile(r"(?<=:)(?=[A-Za-z/])|(?<=\bwww)(?=\.)|(?<=(?<!\S)[<>~-])(?=[->=]+(?!\S))")


def verbatim(text: str) -> str:
    r"""`text` escaped so that Markdown shows it literally: no emphasis, links, colours, formulas or icons.

    >>> verbatim("*a* <b>")
    '\\*a\\* \\<b\\>'
    """
    separated = COMBINED.sub(JOINER, str(text))
    escaped = LIST_START.sub(lambda start: f"{start[1]}{_escaped_start(start[2])}", MARKUP.sub(r"\\\1", separated))
    return escaped.replace("\n", "  \n")


def model_name(model: str) -> str:
    """What a reader sees of a model, its label if it has one, as Markdown shows it literally."""
    return verbatim(shown_name(model))


def _escaped_start(mark: str) -> str:
    return mark + JOINER if mark.isdigit() else "\\" + mark


def error_parts(error: EngineError) -> tuple[str, tuple[BadRow, ...]]:
    """The message of an error without its rows, and the rows."""
    if isinstance(error, InputError):
        return error.message, error.rows
    return str(error), ()


def show_error(error: EngineError) -> None:
    """Draw an error: what is wrong and what would be valid; the first bad rows in it, a long list in an expander."""
    message, rows = error_parts(error)
    shown = rows if len(rows) <= ROWS_SHOWN + 1 else rows[:ROWS_SHOWN]
    lines = [verbatim(translated(message))]
    lines += ["- " + tr("row {row}: {reason}", row=bad.row, reason=verbatim(translated(bad.reason))) for bad in shown]
    st.error("\n".join([lines[0], "", *lines[1:]]), icon=":material/error:")
    if len(rows) > len(shown):
        with st.expander(tr("All {n:,} rows", n=len(rows))):
            st.dataframe(
                pd.DataFrame([{"row": bad.row, "reason": translated(bad.reason)} for bad in rows]),
                hide_index=True,
                placeholder="–",
                alt=tr("Rows that cannot be used"),
                column_config={"row": tr("Row"), "reason": tr("What is wrong")},
            )


def measure_help(measure: str) -> str:
    """The tooltip of a measure, from its card: what it asks, formula, range, which end is better, source."""
    card = CARDS[measure]
    parts = translated(card.question), translated(card.formula), _facts(measure), translated(card.source)
    return "  \n".join(map(verbatim, parts))


def column_label(measure: str) -> str:
    """The heading of a table column: symbol and an arrow to the better end.

    >>> column_label("dispersion_score")
    'M_m ↓'
    """
    card = CARDS[measure]
    return f"{translated(card.symbol or card.name)} {ARROWS[card.better]}".strip()


def _facts(measure: str) -> str:
    """Range, unit and better end of a measure."""
    note, values = measure_note(measure), translated(CARDS[measure].range)
    return tr("range {values}; {note}", values=values, note=note) if note else tr("range {values}", values=values)


def number_column(measure: str, digits: int) -> Any:
    """The column of a measure in a table: label and help from its card, `digits` decimals."""
    return st.column_config.NumberColumn(column_label(measure), help=measure_help(measure), format=f"%.{digits}f")


def how_to_read(measures: Sequence[str], note: str = "", reading: Sequence[str] = ()) -> None:
    """An expander that explains the measures of a page from their cards, after `note` on the figures.

    reading: the lines of the guided reading of what is shown, which stand first.
    """
    with st.expander(tr("How to read this"), icon=":material/help:"):
        for line in reading:
            st.markdown(line)
        if note:
            st.markdown(note)
        for measure in measures:
            card = CARDS[measure]
            name, question = verbatim(measure_name(measure)), verbatim(translated(card.question))
            facts, source = verbatim(_facts(measure)), verbatim(translated(card.source))
            st.markdown(
                f"**{name}**: {question}  \n{verbatim(translated(card.formula))}  \n"  # untranslated
                f":gray[:small[{tr('{facts}. {source}', facts=facts, source=source)}]]"
            )


def duration(seconds: float) -> str:
    """A span of time in words.

    >>> duration(0.4), duration(75), duration(7300)
    ('under a second', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 1:
        return tr("under a second")
    whole = round(seconds)
    if whole < 60:
        return tr("{seconds} s", seconds=whole)
    if whole < 3600:
        return tr("{minutes} min {seconds} s", minutes=whole // 60, seconds=whole % 60)
    return tr("{hours} h {minutes} min", hours=whole // 3600, minutes=whole % 3600 // 60)


def ago(then: datetime, now: datetime | None = None) -> str:
    """How long ago `then` was, roughly; times without a zone are UTC."""
    now = now or datetime.now(UTC)
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    seconds = max(0.0, (now - then).total_seconds())
    if seconds < 45:
        return tr("just now")
    if seconds >= DAY * 0.75:
        return tr_n("{n} day ago", "{n} days ago", max(1, round(seconds / DAY)))
    if seconds >= HOUR * 0.75:
        return tr_n("{n} hour ago", "{n} hours ago", max(1, round(seconds / HOUR)))
    return tr_n("{n} minute ago", "{n} minutes ago", max(1, round(seconds / MINUTE)))


def stamp(then: datetime) -> str:
    """A moment as pages write it, in the time of the server; times without a zone are UTC.

    >>> stamp(datetime(2026, 3, 4, 5, 6).astimezone())
    '2026-03-04 05:06'
    """
    return f"{(then if then.tzinfo else then.replace(tzinfo=UTC)).astimezone():%Y-%m-%d %H:%M}"
