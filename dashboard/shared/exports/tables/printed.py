"""A table as it is printed: heads with symbols and arrows, numbers with the digits that mean something, notes. Pure.

The declaration says which columns are measures, their unit, better end and digits, which two are the ends of an
interval, and what a test sets in bold; LaTeX and Markdown are written from this.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dashboard.shared.column_heads import head as head_of
from dashboard.shared.ranks import rank_labels
from dashboard.shared.theme import ARROWS, with_shown_models
from engine.evaluations.alignment.scoring import idf_words
from engine.evaluations.metric_study.records import IDF
from engine.evaluations.minimal_pairs.clustered.intervals import CLUSTERED_BY, N_CLUSTERS
from engine.evaluations.shared.common_columns import RANK_FIRST, RANK_GROUP, RANK_LAST
from engine.evaluations.shared.declared_tables import FURTHER, Column, Table
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import tr, translated
from engine.messages.message import Message, list_of

# More rows are data, not a table to print: some ten pages.
MOST_ROWS = 500
SIGNIFICANT_DIGITS = 4
MOST_DECIMALS = 6
MISSING = "–"
MOST_CHARACTERS_OF_A_NOTE = 30  # a longer text that all rows have stays a column
# Counts have a unit, and from here on a comma at every third digit; years, rows and seeds have none.
GROUPED_FROM = 10_000
RANK = "rank"
# For bold and for the readers of the files; in print the rank says from which place to which, as "1–3".
OF_RANKS = (RANK_GROUP.name, RANK_FIRST.name, RANK_LAST.name)


@dataclass(frozen=True)
class Cell:
    """One cell; `interval` is "[low, high]" or ""; bold holds for the number alone."""

    text: str
    interval: str = ""
    bold: bool = False


@dataclass(frozen=True)
class PrintedColumn:
    """One column: its head with the arrow to the better end, and its cells. symbol: the head is a formula's symbol."""

    head: str
    arrow: str
    symbol: bool
    numeric: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class PrintedTable:
    """A table to be printed: its name, what a row is, its columns, and notes, each a sentence."""

    name: str
    meaning: str
    columns: tuple[PrintedColumn, ...]
    notes: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """The number of its rows."""
        return len(self.columns[0].cells) if self.columns else 0


def printed(table: Table, frame: pd.DataFrame) -> PrintedTable:
    """The table as it is printed: models by their labels, a column of one value as a note, no further columns.

    Raises ValueError for more than MOST_ROWS rows.
    """
    frame = with_shown_models(frame)
    if len(frame) > MOST_ROWS:
        raise ValueError(
            Message(
                "The table {name!r} has {frame} rows; at most {MOST_ROWS} are printed.",
                name=table.name,
                frame=len(frame),
                MOST_ROWS=MOST_ROWS,
            )
        )
    shown = [
        (str(header), column)
        for header in frame.columns
        if (column := table.column_of(str(header))) is not None and column != FURTHER
    ]
    bounds = _bounds([header for header, _ in shown], dict(shown))
    ends = {end for pair in bounds.values() for end in pair}
    bold = table.bold.rows(frame).tolist() if table.bold is not None else []
    columns, constants, used, empty = [], [], [], []
    has_values = any(column.card and frame[header].notna().any() for header, column in shown)
    units: dict[str, list[str]] = {}
    for header, column in shown:
        if header in ends or header.startswith(OF_RANKS) or _counts_again(header, frame):
            continue
        is_bold = table.bold is not None and header == table.bold.column and any(bold)
        cells = _ranges(frame, header) or _cells(column, frame, header, bounds.get(header), bold if is_bold else [])
        head = _head(column, header)
        if column.card and has_values and not frame[header].notna().any():
            empty.append(head)
            continue
        if (
            len(set(cells)) == 1
            and len(frame) > 1
            and not column.card
            and header not in (*bounds, "model")
            and len(cells[0].text) <= MOST_CHARACTERS_OF_A_NOTE
        ):
            constants += [f"{head} {cells[0].text}"] if cells[0].text not in ("", MISSING) else []
            continue
        if column.unit and column.card:
            units.setdefault(translated(column.unit), []).append(head)
        used.append(header)
        columns.append(
            PrintedColumn(
                head,
                ARROWS[column.better] if column.type != "text" else "",
                bool(column.card and CARDS[column.card].symbol),
                column.type != "text" and column.type != "boolean",
                cells,
            )
        )
    notes = [
        *([tr("In every row: {values}.", values="; ".join(constants))] if constants else []),
        *([tr("Without a value in any row: {heads}.", heads=translated(list_of(empty)))] if empty else []),
        *([tr("Units: {units}.", units=_listed(units))] if units else []),
        *([tr("Arrows point to the better end.")] if any(column.arrow for column in columns) else []),
        *(
            _interval_notes(
                [
                    (header, bounds[header])
                    for header, column in zip(used, columns, strict=True)
                    if any(cell.interval for cell in column.cells)
                ],
                dict(shown),
            )
        ),
        *(
            [translated(table.bold.meaning)]
            if table.bold is not None and any(bold) and table.bold.column in used
            else []
        ),
    ]
    return PrintedTable(table.name, translated(table.meaning), tuple(columns), tuple(notes))


def _ranges(frame: pd.DataFrame, header: str) -> tuple[Cell, ...]:
    """The cells of a rank whose range is beside it, or its group in a table of an earlier version; () of others."""
    of = header.removeprefix(RANK)
    if not header.startswith(RANK) or not {f"{name}{of}" for name in OF_RANKS} & set(frame.columns):
        return ()
    return tuple(map(Cell, rank_labels(frame, of=of)))


def _counts_again(header: str, frame: pd.DataFrame) -> bool:
    """Whether the column counts clusters where there are none but the pairs themselves."""
    return header == N_CLUSTERS.name and not (frame[CLUSTERED_BY.name] != "").any()


def _listed(heads_by_text: Mapping[str, Sequence[str]]) -> str:
    """Heads with what holds of them: "A_m, B_m squared vector entries; n sentences"."""
    return "; ".join(f"{', '.join(heads)} {text}" for text, heads in heads_by_text.items())


def _bounds(headers: Sequence[str], declared: dict[str, Column]) -> dict[str, tuple[str, str]]:
    """The two ends of the interval of each column that has one."""
    bounds: dict[str, tuple[str, str]] = {}
    last = ""
    for header in headers:
        if declared[header].end == "low":
            name = header.removesuffix("_low")
            value = declared[header].of or (name if name in declared else last)
            high = f"{name}_high"
            if value and high in declared:
                bounds[value] = (header, high)
        elif not declared[header].end and declared[header].type == "number":
            last = header
    return bounds


def _cells(
    column: Column, frame: pd.DataFrame, header: str, bounds: tuple[str, str] | None, bold: Sequence[bool]
) -> tuple[Cell, ...]:
    values = frame[header].tolist()
    flags = bold or [False] * len(values)
    if column.type == "number":
        decimals = column.digits if column.digits is not None else decimals_of(values)
        texts = [number_text(value, decimals) for value in values]
        intervals = [""] * len(values)
        if bounds is not None:
            lows, highs = (frame[end].tolist() for end in bounds)
            intervals = [
                ""
                if _is_missing(low) or _is_missing(high)
                else f"[{number_text(low, decimals)}, {number_text(high, decimals)}]"
                for low, high in zip(lows, highs, strict=True)
            ]
        return tuple(Cell(text, interval, flag) for text, interval, flag in zip(texts, intervals, flags, strict=True))
    return tuple(Cell(_text(value, column), "", flag) for value, flag in zip(values, flags, strict=True))


def number_text(value: float, decimals: int) -> str:
    """A number with so many decimals; one above 0 that they would show as 0 is shown as smaller.

    >>> number_text(0.8351, 3), number_text(-0.5, 1), number_text(0.0002, 3), number_text(-0.0001, 3)
    ('0.835', '-0.5', '<0.001', '0.000')
    """
    if _is_missing(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.{decimals}f}"
    if float(text) == 0:
        return f"<{10**-decimals:.{decimals}f}" if value > 0 else f"{0:.{decimals}f}"
    return text


def decimals_of(values: Iterable[float]) -> int:
    """The decimals that give the largest of the values four significant digits.

    >>> decimals_of([123.4, 5.0]), decimals_of([0.0123]), decimals_of([])
    (1, 5, 3)
    """
    sizes = [abs(value) for value in values if not _is_missing(value) and math.isfinite(value) and value]
    if not sizes:
        return SIGNIFICANT_DIGITS - 1
    return max(0, min(MOST_DECIMALS, SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(max(sizes)))))


def _text(value: object, column: Column) -> str:
    if _is_missing(value):
        return MISSING
    if column.name == IDF.name:  # a declaration does not know the name of a dictionary that a run made
        return translated(idf_words(str(value)))
    if column.words is not None:
        return translated(column.words(str(value)))
    if column.type == "boolean":
        return tr("yes") if value else tr("no")
    if column.type != "text" and column.unit and int(value) >= GROUPED_FROM:  # type: ignore[call-overload]
        return f"{value:,}"
    return translated(value) if isinstance(value, Message) else str(value)


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _head(column: Column, header: str) -> str:
    # A measure under its own name is known by its symbol; one of several of a card ("accuracy_min") by its name.
    if column.card and column.name in (column.card, "score", "accuracy", "probability", "p_value"):
        return CARDS[column.card].symbol or translated(CARDS[column.card].name)
    return head_of(header)


def _interval_notes(intervals: Sequence[tuple[str, tuple[str, str]]], declared: dict[str, Column]) -> list[str]:
    """What is in square brackets, and how the interval of each column is found, as the declaration says."""
    ways: dict[str, list[str]] = {}
    for header, (low, _) in intervals:
        way = declared[low].meaning.partition(", ")[2]
        ways.setdefault(way, []).append(_head(declared[header], header))
    named = "; ".join(f"{', '.join(heads)}: {translated(way)}" for way, heads in ways.items() if way)
    if not intervals:
        return []
    return [
        tr("Square brackets: 95% interval ({ways}).", ways=named) if named else tr("Square brackets: 95% interval.")
    ]
