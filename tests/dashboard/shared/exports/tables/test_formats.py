"""Tables as files of every format: the same numbers, texts that no program runs, and the signature in each."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook

from dashboard.shared.exports.signing import digest
from dashboard.shared.exports.tables.formats import FORMATS, METADATA, archive, file_name, refusal, table_file
from dashboard.shared.exports.tables.markdown import escape
from dashboard.shared.exports.tables.offered import OfferedTables
from dashboard.shared.exports.tables.workbook import MOST_CELLS, MOST_ROWS, too_large
from engine.datasets.formats.files import read_table
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.errors import RunError
from engine.evaluations.classification.records import SENTENCES

SIGNATURE = {"models": [{"name": "斉藤"}], "settings": {"layer": None}}
FRAME = pd.DataFrame(
    {
        "text": ["=1+1", "+a", "-", "@b", "猫|*犬*", "a\x02b", ""],
        "score": [1 / 3, float("nan"), -2.5, 0.0, 1e-9, 12.0, 3.0],
        "right": [True, False] * 3 + [True],
    }
)
TABLES = OfferedTables({"scores": FRAME, "none": FRAME.iloc[:0]})


def test_data_formats_hold_every_digit() -> None:
    csv = pd.read_csv(io.BytesIO(table_file(TABLES, "scores", "csv", SIGNATURE)), encoding="utf-8-sig")
    np.testing.assert_array_equal(csv["score"], FRAME["score"])
    raw = table_file(TABLES, "scores", "parquet", SIGNATURE)
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(raw)), FRAME)
    assert json.loads(pq.read_schema(io.BytesIO(raw)).metadata[METADATA]) == SIGNATURE


def test_a_workbook_holds_texts_and_no_formula() -> None:
    book = load_workbook(io.BytesIO(table_file(TABLES, "scores", "excel", SIGNATURE)))
    rows = list(book["table"].iter_rows())
    assert [cell.value for cell in rows[0]] == ["text", "score", "right"]
    texts = [row[0] for row in rows[1:]]
    assert [cell.value for cell in texts[:5]] == ["=1+1", "+a", "-", "@b", "猫|*犬*"]
    assert all(cell.data_type == "s" for cell in texts[:5])
    assert texts[5].value == "a\ufffdb"  # a control character, which no workbook holds
    assert [row[1].value for row in rows[1:4]] == [1 / 3, None, -2.5] and rows[1][2].value is True
    written = "\n".join(str(row[0].value) for row in book["signature"].iter_rows())
    assert json.loads(written) == SIGNATURE


def test_infinite_numbers_of_a_workbook_are_signs_and_undefined_ones_empty() -> None:
    frame = pd.DataFrame({"score": [float("inf"), -np.inf, np.nan, 1.5]})
    raw = table_file(OfferedTables({"t": frame}), "t", "excel", SIGNATURE)
    cells = [row[0] for row in load_workbook(io.BytesIO(raw))["table"].iter_rows()][1:]
    assert [cell.value for cell in cells] == ["∞", "-∞", None, 1.5]
    assert [cell.data_type for cell in cells] == ["s", "s", "n", "n"]


def test_a_workbook_of_a_table_is_read_as_the_data_it_was() -> None:
    frame = pd.DataFrame({"text": ["=1+1", "-x"], "label": ["a", "@b"]})
    raw = table_file(OfferedTables({"t": frame}), "t", "excel", SIGNATURE)
    assert read_table(raw, "t.xlsx").frame["text"].tolist() == ["=1+1", "-x"]


def test_markdown_shows_texts_literally_and_is_one_row_a_line() -> None:
    text = table_file(TABLES, "scores", "markdown", SIGNATURE).decode()
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(FRAME)
    assert lines[0].split("|")[1].strip() == "text" and r"猫\|\*犬\*" in lines[6]
    assert f"Signature {digest(SIGNATURE)}" in text


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "excel"])
def test_the_same_table_gives_the_same_bytes(name: str) -> None:
    assert table_file(TABLES, "scores", name, SIGNATURE) == table_file(TABLES, "scores", name, SIGNATURE)
    assert file_name("scores", name, SIGNATURE) == f"scores-{digest(SIGNATURE)}.{FORMATS[name].suffix}"


def test_an_archive_holds_the_tables_that_have_rows_and_the_signature() -> None:
    content = archive(TABLES, "csv", SIGNATURE)
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        assert opened.namelist() == ["scores.csv", "signature.json"]
        table = pd.read_csv(io.BytesIO(opened.read("scores.csv")), encoding="utf-8-sig")
        assert set(table["signature"]) == {digest(SIGNATURE)}
        assert json.loads(opened.read("signature.json")) == SIGNATURE
    assert archive(TABLES, "csv", SIGNATURE) == content


def test_a_table_that_is_too_long_to_print_says_so_and_is_data_still() -> None:
    tables = OfferedTables({"pairs": pd.DataFrame({"row": range(67_000)})})
    assert "67,000 rows are too long to print" in refusal(tables, "pairs", "latex")
    assert refusal(tables, "pairs", "csv") == refusal(tables, "pairs", "excel") == ""
    assert refusal(TABLES, "none", "markdown") == "none: no rows."
    with zipfile.ZipFile(io.BytesIO(archive(tables, "latex", SIGNATURE))) as opened:
        assert opened.namelist() == ["signature.json"]
    assert too_large(MOST_ROWS, 1) is None and "too many" in str(too_large(MOST_ROWS + 1, 1))
    assert "too many" in too_large(MOST_CELLS, 2)


def test_rows_of_the_input_have_its_columns_and_the_input_is_read_once_when_they_are_asked_for() -> None:
    dataset = LabelledSentences("d", ("a", "b"), ("x", "y"), (1, 2), (), (), {"id": ("7", "8")})
    reads = []

    def read() -> LabelledSentences:
        reads.append(1)
        return dataset

    frame = SENTENCES.frame([("m", 2, "b", "y", 1, 1, "y")])
    tables = OfferedTables({"sentences": frame}, [SENTENCES.with_input()], read)
    assert tables.n_rows("sentences") == 1 and not reads
    assert tables["sentences"]["id"].tolist() == tables["sentences"]["id"].tolist() == ["8"] and len(reads) == 1


def test_without_its_input_a_table_comes_without_the_columns_of_it() -> None:
    def gone() -> LabelledSentences:
        raise RunError("The dataset is no longer on the disk.")

    frame = SENTENCES.frame([("m", 2, "b", "y", 1, 1, "y")])
    assert OfferedTables({"sentences": frame}, [SENTENCES.with_input()], gone)["sentences"].equals(frame)


@pytest.mark.parametrize("text", ["a\rb", "a\r\nb", "a\u2028b", "a\u2029b", "a\x0bb", "a\x85b"])
def test_no_character_of_a_text_begins_another_line_of_markdown(text: str) -> None:
    assert escape(text) == "a b"


def test_entities_pipes_and_backticks_are_shown_as_they_are() -> None:
    assert escape("&lt;b&gt; &#124; A & B; `x|y`") == r"\&lt;b\&gt; \&\#124; A & B; \`x\|y\`"
