"""Escaping of texts that a spreadsheet would run as formulas, on export, and unescaping of our own exports.

A cell that begins with = + - @, a tab or a carriage return is a formula to Excel and similar programs, and may run
others. With an apostrophe before it, it is text, which they show without. A cell that has the apostrophe already gets
another, so that unescaping restores it. Only a table that carries a signature, as every export does, is unescaped: in
any other an apostrophe is the author's. Source: OWASP, CSV Injection.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import pandas as pd

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
ESCAPE = "'"
SIGNATURE_COLUMN = "signature"
SIGNATURE = re.compile(r"[0-9a-f]{10}")


def escape_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of a table in which no text and no column name begins like a formula; numbers are unchanged.

    >>> escape_formulas(pd.DataFrame({"text": ["=1+1", "猫", "-"], "score": [-1.5, 0.0, 2.0]}))["text"].tolist()
    ["'=1+1", '猫', "'-"]
    """
    escaped = frame.copy()
    for position, dtype in enumerate(frame.dtypes):
        if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_datetime64_any_dtype(dtype):
            continue
        column = frame.iloc[:, position]
        escaped.isetitem(position, column.map(_escape_formula).array)
    escaped.columns = [_escape_formula(name) for name in frame.columns]
    return escaped


def unescape_formula(text: str) -> str:
    """A cell as it was before `escape_formulas`.

    >>> [unescape_formula(text) for text in ("'=1+1", "''=1+1", "'tis", "-")]
    ['=1+1', "'=1+1", "'tis", '-']
    """
    return text[len(ESCAPE):] if text.startswith(ESCAPE) and text.lstrip(ESCAPE).startswith(FORMULA_STARTS) else text


def is_digest_column(values: Iterable[str]) -> bool:
    """Whether the column `signature` of a table shows that it is an export of ours: one digest, in some or all rows.

    >>> is_digest_column(["0123456789", ""]), is_digest_column(["0123456789", "abcdef0123"]), is_digest_column(["me"])
    (True, False, False)
    """
    digests = {value for value in values if value}
    return len(digests) == 1 and SIGNATURE.fullmatch(digests.pop()) is not None


def _escape_formula(value: object) -> object:
    return ESCAPE + value if isinstance(value, str) and value.lstrip(ESCAPE).startswith(FORMULA_STARTS) else value
