"""Texts that a spreadsheet would run as formulas: put out of action on the way out, restored on the way in.

A cell that begins with = + - @, a tab or a carriage return is a formula to Excel and its kin, and may call programs.
With an apostrophe before it, it is text; they show it without. A cell that has the apostrophe already gets another, so
that what was written comes back. Source: OWASP, CSV Injection.
"""

from __future__ import annotations

import pandas as pd

STARTS = ("=", "+", "-", "@", "\t", "\r")
MARK = "'"


def defused(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of a table in which no text, and no column's name, begins like a formula; numbers stay as they are.

    >>> defused(pd.DataFrame({"text": ["=1+1", "猫", "-"], "score": [-1.5, 0.0, 2.0]}))["text"].tolist()
    ["'=1+1", '猫', "'-"]
    """
    safe = frame.copy()
    for position, dtype in enumerate(frame.dtypes):
        if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_datetime64_any_dtype(dtype):
            continue
        column = frame.iloc[:, position]
        safe.isetitem(position, column.map(_defused).array)
    safe.columns = [_defused(name) for name in frame.columns]
    return safe


def restored(text: str) -> str:
    """A cell as it was before `defused`.

    >>> [restored(text) for text in ("'=1+1", "''=1+1", "'tis", "-")]
    ['=1+1', "'=1+1", "'tis", '-']
    """
    return text[len(MARK):] if text.startswith(MARK) and text.lstrip(MARK).startswith(STARTS) else text


def _defused(value: object) -> object:
    return MARK + value if isinstance(value, str) and value.lstrip(MARK).startswith(STARTS) else value
