"""A table is written to a file in parts, and byte for byte as its text is made at once."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.datasets.formats import delimited
from engine.datasets.formats.delimited import csv_text, write_csv

TEXTS = st.text(st.one_of(st.sampled_from('a猫,"\r\n'), st.characters(codec="utf-8")), max_size=5)
ROWS = st.lists(
    st.tuples(TEXTS, st.integers(), st.floats(), st.booleans(), st.sampled_from(["m", "n,"]), st.none() | TEXTS),
    max_size=9,
)


@pytest.mark.parametrize("rows_at_once", [1, 3, delimited.ROWS_AT_ONCE])
@given(ROWS, st.booleans())
def test_a_file_is_the_text_at_once(rows_at_once: int, rows: list[tuple[object, ...]], has_return: bool) -> None:
    names = ["text", "n", "x", "is so", "model", "may\rlack" if has_return else "may lack"]
    frame = pd.DataFrame(rows, columns=names).astype({"text": "str", "x": "float64", "model": "category"})
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(delimited, "ROWS_AT_ONCE", rows_at_once)
        path = Path(folder) / "table.csv"
        path.write_text("a former, longer file\n" * 1000)
        write_csv(frame, path)
        assert path.read_bytes() == csv_text(frame).encode()
