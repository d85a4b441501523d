"""The rows of a file of minimal pairs as they were published, each whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from engine.datasets.formats.files import Table
from engine.datasets.formats.json_rows import numbered_rows, raw_rows
from engine.datasets.text_column import JsonRows, TextColumn, texts_of_series


def originals(table: Table, frame: pd.DataFrame) -> Sequence[str]:
    """Each row of the file as a JSON object: as spelled in a JSON file, or the texts by column."""
    if table.json_text:
        left_out = {bad.row for bad in table.left_out}
        if frame.index.is_monotonic_increasing and frame.index.is_unique:
            return TextColumn.of(_of_rows(numbered_rows(table.json_text, left_out), frame.index))
        raw_by_row = raw_rows(table.json_text, left_out)
        return TextColumn.of(raw_by_row[int(number)] for number in frame.index)
    names = list(map(str, frame.columns))
    return JsonRows(names, [texts_of_series(frame[name]) for name in names])


def _of_rows(numbered: Iterator[tuple[int, str]], numbers: pd.Index) -> Iterator[str]:
    """Those of these numbers, which ascend as the others do."""
    for wanted in numbers:
        yield next(raw for number, raw in numbered if number == wanted)
