"""Escaping of texts that a spreadsheet would run as formulas, on export, and unescaping of our own exports.

A cell that begins with = + - @, in half or full width, also after spaces and line breaks, or with a tab or a line
break, is a formula to Excel and similar programs, and may run others. With an apostrophe before it, it is text, which
they show without. A negative number stays a number. A cell that has the apostrophe already gets another,
so that unescaping restores it. Only a table that carries a signature, as every export does, is unescaped: in any other
an apostrophe is the author's. Source: OWASP, CSV Injection.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import pandas as pd

FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
ESCAPE = "'"
# Spaces and control characters, and the characters without width that a program may drop.
_BLANKS = re.compile("^[\\s\x00-\x1f\ufeff\u200b-\u200f\u2060]+")
_NEGATIVE = re.compile(r"-[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
SIGNATURE_COLUMN = "signature"
DIGEST_DIGITS = 10
SIGNATURE = re.compile(f"[0-9a-f]{{{DIGEST_DIGITS}}}")


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
        escaped.isetitem(position, column.map(_escape_value).array)
    escaped.columns = [_escape_value(name) for name in frame.columns]
    return escaped


def unescape_formula(text: str) -> str:
    """A cell as it was before `escape_formulas`.

    >>> [unescape_formula(text) for text in ("'=1+1", "''=1+1", "'tis", "-")]
    ['=1+1', "'=1+1", "'tis", '-']
    """
    return text[len(ESCAPE) :] if text.startswith(ESCAPE) and begins_as_formula(text) else text


def is_digest_column(values: Iterable[str]) -> bool:
    """Whether the column `signature` of a table shows that it is an export of Hakari: one digest, in some or all rows.

    >>> is_digest_column(["0123456789", ""]), is_digest_column(["0123456789", "abcdef0123"]), is_digest_column(["me"])
    (True, False, False)
    """
    digests = {value for value in values if value}
    return len(digests) == 1 and SIGNATURE.fullmatch(digests.pop()) is not None


def escape_formula(text: str) -> str:
    """A cell that no spreadsheet runs.

    >>> escape_formula("=1+1"), escape_formula("1+1"), escape_formula("-1.5"), escape_formula("-1+1")
    ("'=1+1", '1+1', '-1.5', "'-1+1")
    """
    return ESCAPE + text if begins_as_formula(text) and not _NEGATIVE.fullmatch(text) else text


def _escape_value(value: object) -> object:
    return escape_formula(value) if isinstance(value, str) else value


def begins_as_formula(text: str) -> bool:
    """Whether a text, without its apostrophes, begins as a formula; also after what cannot be seen.

    >>> [begins_as_formula(text) for text in (" =1", "＝1", "''-", "1-1", "' '=")]
    [True, True, True, False, False]
    """
    bare = text.lstrip(ESCAPE)
    return bare.startswith(FORMULA_STARTS) or _BLANKS.sub("", bare).startswith(FORMULA_STARTS)
