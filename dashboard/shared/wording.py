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
from engine.models.sources.names import shown_name

ROWS_SHOWN = 5
JOINER = "\u2060"  # no width and no break: it only separates two characters that Markdown would combine
MARKUP = re.compile(r"([\\`*_\[\]<>#|~$:=&])")
LIST_START = re.compile(r"^(\s*)([-+]|\d+(?=[.)]))", re.MULTILINE)
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
    lines = [verbatim(message)] + [f"- row {bad.row}: {verbatim(bad.reason)}" for bad in shown]
    st.error("\n".join([lines[0], "", *lines[1:]]), icon=":material/error:")
    if len(rows) > len(shown):
        with st.expander(f"All {len(rows):,} rows"):
            st.dataframe(pd.DataFrame([{"row": bad.row, "what is wrong": bad.reason} for bad in rows]),
                         hide_index=True, placeholder="–", alt="Rows that cannot be used")


def measure_help(measure: str) -> str:
    """The tooltip of a measure, from its card: what it asks, formula, range, which end is better, source."""
    card = CARDS[measure]
    notes = [note for note in (f"range {card.range}", measure_note(measure)) if note]
    return "  \n".join(verbatim(part) for part in (card.question, card.formula, "; ".join(notes), card.source))


def column_label(measure: str) -> str:
    """The heading of a table column: symbol and an arrow to the better end.

    >>> column_label("dispersion_score")
    'M_m ↓'
    """
    card = CARDS[measure]
    return f"{card.symbol or card.name} {ARROWS[card.better]}".strip()


def number_column(measure: str, digits: int) -> Any:
    """The column of a measure in a table: label and help from its card, `digits` decimals."""
    return st.column_config.NumberColumn(column_label(measure), help=measure_help(measure), format=f"%.{digits}f")


def how_to_read(measures: Sequence[str], note: str = "") -> None:
    """An expander that explains the measures of a page from their cards, after `note` on the figures."""
    with st.expander("How to read this", icon=":material/help:"):
        if note:
            st.markdown(note)
        for measure in measures:
            card = CARDS[measure]
            facts = "; ".join(fact for fact in (f"range {card.range}", measure_note(measure)) if fact)
            st.markdown(
                f"**{verbatim(measure_name(measure))}**: {verbatim(card.question)}  \n"
                f"{verbatim(card.formula)}  \n"
                f":gray[:small[{verbatim(facts)}. {verbatim(card.source)}]]"
            )


def duration(seconds: float) -> str:
    """A span of time in words.

    >>> duration(0.4), duration(75), duration(7300)
    ('under a second', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 1:
        return "under a second"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def ago(then: datetime, now: datetime | None = None) -> str:
    """How long ago `then` was, roughly; times without a zone are UTC."""
    now = now or datetime.now(UTC)
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    seconds = max(0.0, (now - then).total_seconds())
    if seconds < 45:
        return "just now"
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size * 0.75:
            count = max(1, round(seconds / size))
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"
