from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.shared.exports.signing import csv_bytes
from engine.datasets.formats.files import read_table
from engine.datasets.formats.formulas import FORMULA_STARTS, escape_formulas, unescape_formula

DANGEROUS = ["=HYPERLINK(\"http://evil.example\";\"x\")", "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1"]


def test_formulas_become_text_and_numbers_stay_numbers() -> None:
    frame = pd.DataFrame({"text": [*DANGEROUS, "猫", "", "'tis"], "score": np.linspace(-1, 1, 9)})
    before = frame.copy()
    safe = escape_formulas(frame)
    assert safe["text"].tolist() == [*(f"'{text}" for text in DANGEROUS), "猫", "", "'tis"]
    assert safe["score"].dtype == float and safe["score"].tolist() == frame["score"].tolist()
    pd.testing.assert_frame_equal(frame, before)  # the given one is left alone


def test_names_of_columns_are_cells_too() -> None:
    frame = pd.DataFrame([[1, 2]], columns=["=cmd", "=cmd"])
    assert list(escape_formulas(frame).columns) == ["'=cmd", "'=cmd"]


@pytest.mark.parametrize("column", [["=a", None], pd.Categorical(["=a", "b"]), pd.array(["=a", pd.NA], dtype="string")])
def test_every_kind_of_text_column(column: object) -> None:
    assert escape_formulas(pd.DataFrame({"c": column}))["c"].iloc[0] == "'=a"


@given(st.text(max_size=8) | st.text("'=a\t", max_size=5))
def test_what_went_out_comes_back(text: str) -> None:
    safe = str(escape_formulas(pd.DataFrame({"c": [text]}))["c"].iloc[0])
    assert not safe.startswith(FORMULA_STARTS) and unescape_formula(safe) == text


def test_a_download_can_be_uploaded_again() -> None:
    texts = ["-そうだ。", "=式", "普通の文。"]
    raw = csv_bytes(pd.DataFrame({"text": texts}), {"models": []})
    assert b"\n'=" in raw.replace(b"\r", b"")
    assert read_table(raw, "download.csv").frame["text"].tolist() == texts
    assert pd.read_csv(io.BytesIO(raw))["text"].tolist() == ["'-そうだ。", "'=式", "普通の文。"]
