from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.shared.exports.signing import csv_bytes
from engine.datasets.formats.files import paste_table, read_table
from engine.datasets.formats.formulas import FORMULA_STARTS, escape_formulas, unescape_formula

DANGEROUS = [
    '=HYPERLINK("http://evil.example";"x")',
    "+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "\u3000 +1",
    "\u200b@x",
    "＝1+1",
    "＋1",
    "－2",
    "＠x",
]


def test_formulas_become_text_and_numbers_stay_numbers() -> None:
    harmless = ["猫", "", "'tis", "-0.989183334", "-3", "-1.5e-07"]
    frame = pd.DataFrame({"text": [*DANGEROUS, *harmless], "score": np.linspace(-1, 1, len(DANGEROUS) + len(harmless))})
    before = frame.copy()
    safe = escape_formulas(frame)
    assert safe["text"].tolist() == [*(f"'{text}" for text in DANGEROUS), *harmless]
    assert safe["score"].dtype == float and safe["score"].tolist() == frame["score"].tolist()
    pd.testing.assert_frame_equal(frame, before)  # the given one is left alone


def test_names_of_columns_are_cells_too() -> None:
    frame = pd.DataFrame([[1, 2]], columns=["=cmd", "=cmd"])
    assert list(escape_formulas(frame).columns) == ["'=cmd", "'=cmd"]


@pytest.mark.parametrize("column", [["=a", None], pd.Categorical(["=a", "b"]), pd.array(["=a", pd.NA], dtype="string")])
def test_every_kind_of_text_column(column: object) -> None:
    assert escape_formulas(pd.DataFrame({"c": column}))["c"].iloc[0] == "'=a"


@given(st.text(max_size=8) | st.text("'=＝a\t\n \u3000", max_size=5))
def test_what_went_out_comes_back(text: str) -> None:
    safe = str(escape_formulas(pd.DataFrame({"c": [text]}))["c"].iloc[0])
    assert not safe.startswith(FORMULA_STARTS) and unescape_formula(safe) == text


def test_a_download_can_be_uploaded_again() -> None:
    texts = ["-そうだ。", "=式", "普通の文。"]
    raw = csv_bytes(pd.DataFrame({"text": texts}), {"models": []})
    assert b"\n'=" in raw.replace(b"\r", b"")
    assert read_table(raw, "download.csv").frame["text"].tolist() == texts
    assert pd.read_csv(io.BytesIO(raw))["text"].tolist() == ["'-そうだ。", "'=式", "普通の文。"]


@pytest.mark.parametrize("text", ["'-ness", "'=1+1", "''+", "'@home"])
def test_an_apostrophe_of_the_author_stays(text: str) -> None:
    """Only exports of ours put apostrophes before formulas; every other file has them because its author wrote them."""
    for raw, name in (
        (f"text,label\n{text},x\n", "a.csv"),
        (f"text\tsignature\n{text}\tJ. S.\n", "a.tsv"),
        (f"text;signature\n{text};0123456789\nb;9876543210\n", "a.csv"),
    ):
        table = read_table(raw.encode(), name)
        assert table.frame["text"].iloc[0] == text and table.notices == ()
    assert paste_table(f"{text},x", ["text", "label"]).frame["text"].tolist() == [text]


def test_an_apostrophe_comes_back_whatever_was_exported() -> None:
    texts = ["'-ness", "-ness", "''=1", "'tis", "a", ""]
    raw = csv_bytes(pd.DataFrame({"=text": texts, "n": range(6)}), {"models": []})
    table = read_table(raw, "download.csv")
    assert table.frame["=text"].tolist() == texts
    assert table.notices == ("4 apostrophes that the export put before formulas taken off.",)


@given(st.lists(st.text("'=+-@＝a\t\n \u3000", max_size=4), min_size=1, max_size=5))
def test_any_export_comes_back_and_any_other_file_is_left_alone(texts: list[str]) -> None:
    frame = pd.DataFrame({"text": [*texts, "last"]})
    assert read_table(csv_bytes(frame, {}), "a.csv").frame["text"].tolist() == [*texts, "last"]
    other = frame.assign(n=1).to_csv(index=False).encode()
    assert read_table(other, "a.csv").frame["text"].tolist() == [*texts, "last"]
