"""The rows of a file of minimal pairs as they were published: each whole, and those that lack a sentence."""

from __future__ import annotations

import json

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats.files import Table
from engine.datasets.formats.json_rows import raw_rows
from engine.translation import mark

WITHOUT_SENTENCE = mark("{rows} without one of the sentences left out: {listed}.")


def originals(table: Table, frame: pd.DataFrame) -> tuple[str, ...]:
    """Each row of the file as a JSON object: as spelled in a JSON file, or the texts by column."""
    if table.json_text:
        raw_by_row = raw_rows(table.json_text, {bad.row for bad in table.left_out})
        return tuple(raw_by_row[int(number)] for number in frame.index)
    names = list(frame.columns)
    columns = [frame[name].tolist() for name in names]
    return tuple(json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False)
                 for values in zip(*columns, strict=True))


def without_gaps(frame: pd.DataFrame, acceptable: str, unacceptable: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The rows with both sentences, if any, and a notice of the others; else the whole frame."""
    has_both = [not rows.empty_reason(good) and not rows.empty_reason(bad)
             for good, bad in zip(frame[acceptable], frame[unacceptable], strict=True)]
    if all(has_both) or not any(has_both):
        return frame, ()
    gaps = [int(number) for number, is_complete in zip(frame.index, has_both, strict=True) if not is_complete]
    return frame[has_both], rows.row_notice(gaps, WITHOUT_SENTENCE, WITHOUT_SENTENCE)
