"""The rows of a file of minimal pairs as they were published, each whole."""

from __future__ import annotations

import json

import pandas as pd

from engine.datasets.formats.files import Table
from engine.datasets.formats.json_rows import raw_rows


def originals(table: Table, frame: pd.DataFrame) -> tuple[str, ...]:
    """Each row of the file as a JSON object: as spelled in a JSON file, or the texts by column."""
    if table.json_text:
        raw_by_row = raw_rows(table.json_text, {bad.row for bad in table.left_out})
        return tuple(raw_by_row[int(number)] for number in frame.index)
    names = list(frame.columns)
    columns = [frame[name].tolist() for name in names]
    return tuple(
        json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False) for values in zip(*columns, strict=True)
    )
