"""engine.datasets.formats.files and its readers: every format to the same strings, every fault to an InputError."""

from __future__ import annotations

import bz2
import csv
import datetime
import gzip
import io
import json
import lzma
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.datasets.formats import files, workbook
from engine.datasets.formats.delimited import separated
from engine.datasets.formats.encodings import detect
from engine.datasets.formats.files import Table, detected, paste_table, read_table
from engine.datasets.formats.json_rows import raw_rows
from engine.datasets.minimal_pairs.files import read_pairs
from engine.errors import BadRow, InputError

# What pandas, Excel or a JSON reader would each like to turn into something else.
TRICKY = [
    "NA",
    "null",
    "nan",
    "",
    "001",
    "1e5",
    "0.10",
    "TRUE",
    "=1+1",
    "@x",
    "2024-01-05",
    " padded ",
    "🐼ﾊﾟﾝ",
    '"',
    "a,b;c",
]


def rows_of(table: Table) -> list[list[str]]:
    return [list(map(str, row)) for row in table.frame.itertuples(index=False)]


def as_csv(rows: Sequence[Sequence[str]], separator: str = ",") -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=separator).writerows(rows)
    return file.getvalue()


def as_xlsx(rows: Sequence[Sequence[object]], *more_sheets: Sequence[Sequence[object]]) -> bytes:
    book = openpyxl.Workbook()
    for place, sheet_rows in enumerate((rows, *more_sheets)):
        sheet = book.active if place == 0 else book.create_sheet()
        for row in sheet_rows:
            sheet.append(list(row))
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def error_of(source: Path | bytes, name: str | None = None) -> InputError:
    with pytest.raises(InputError) as caught:
        read_table(source, name)
    return caught.value


# CSV, TSV and semicolons


@pytest.mark.parametrize(
    ("separator", "name", "format_"),
    [
        (",", "a.csv", "csv"),
        (";", "a.csv", "csv"),
        ("\t", "a.tsv", "tsv"),
        ("\t", "a.csv", "tsv"),
        ("\t", "a.txt", "tsv"),
        (",", "a.tsv", "csv"),
        (",", None, "csv"),
    ],
)
def test_the_separator_is_found_in_the_header(separator: str, name: str | None, format_: str) -> None:
    rows = [["text", "label"], ["秤, 天秤; 分銅\tなど", "x"], ["b", "y"]]
    table = read_table(as_csv(rows, separator).encode(), name)
    assert list(table.frame.columns) == ["text", "label"]
    assert rows_of(table) == rows[1:]
    assert (table.format, table.encoding) == (format_, "utf-8")


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "cp932", "utf-16"])
def test_encodings(codec: str) -> None:
    table = read_table("文,ラベル\r\n昨日は雨。,天気\r\n".encode(codec), "a.csv")
    assert list(table.frame.columns) == ["文", "ラベル"]
    assert rows_of(table) == [["昨日は雨。", "天気"]]
    assert table.encoding == codec


def test_nothing_is_converted() -> None:
    rows = [[text, "x"] for text in TRICKY]
    table = read_table(as_csv([["text", "label"], *rows]).encode(), "a.csv")
    assert rows_of(table) == rows
    assert {type(value) for value in table.frame["text"]} == {str}


@pytest.mark.parametrize(
    ("lines", "separator"),
    [
        (["a,b,c;d\n", "1\n", "2,3;4;5\n"], ","),  # the most fields where none cuts the lines evenly
        (["a,b,c;d\n", "1,2;3\n", "4;5\n"], ";"),  # the one that cuts them evenly
        (["a,b;c\n", "1,2;3\n"], ","),  # both do
    ],
)
def test_of_several_separators_one_that_cuts_evenly_is_taken(lines: list[str], separator: str) -> None:
    assert separated(lambda: lines, "a.csv")[0] == separator


def test_quotes_separators_and_line_breaks_inside_fields() -> None:
    raw = b'text,label\n"he said ""no"",\nthen left",a\n"x\r\ny",b\nin "the" middle,c\n'
    assert rows_of(read_table(raw, "a.csv")) == [
        ['he said "no",\nthen left', "a"],
        ["x\r\ny", "b"],
        ['in "the" middle', "c"],
    ]


def test_rows_are_numbered_from_the_first_row_of_data_and_blank_lines_count() -> None:
    table = read_table(b"\ntext,label\na,x\n\nb,y\n", "a.csv")
    assert list(table.frame.index) == [1, 3]


def test_the_leftovers_of_a_spreadsheet_are_left_out_with_a_notice() -> None:
    table = read_table(b"text,label,,\na,x,,\n,,,\nb,y,,\n,,,\n,,,\n", "a.csv")
    assert rows_of(table) == [["a", "x"], ["b", "y"]]
    assert table.notices == ("2 rows without any text at the end of a.csv left out.",)


@pytest.mark.parametrize("skip_bad_rows", [False, True])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.xlsx"])
def test_an_empty_row_between_others_is_left_out_and_counted_in_every_format(name: str, skip_bad_rows: bool) -> None:
    rows = [["", ""], ["text", "label"], ["a", "x"], ["", ""], ["b", "y"]]
    raw = as_xlsx(rows) if name.endswith("xlsx") else as_csv(rows, "\t" if name.endswith("tsv") else ",").encode()
    table = read_table(raw, name, skip_bad_rows=skip_bad_rows)
    assert rows_of(table) == [["a", "x"], ["b", "y"]]
    assert list(table.frame.index) == [1, 3]
    assert table.left_out == () and table.notices == ()


def test_an_empty_row_may_have_fewer_separators_than_the_others() -> None:
    table = read_table(b"q,r,s\na,b,c\n,\n,,,,\nd,e,f\n", "a.csv")
    assert list(table.frame.index) == [1, 4]


def test_an_empty_row_of_a_paste_or_above_data_without_header_is_left_out() -> None:
    assert list(paste_table("\t\na\tb\n\t\nc\td\n", ["acceptable", "unacceptable"]).frame.index) == [2, 4]
    assert list(read_table(b",\na,b\n,\nc,d\n", "a.csv", header="data").frame.index) == [1, 3]


def test_column_names_are_stripped_and_the_unnamed_one_gets_its_place_as_name() -> None:
    table = read_table(b",  text ,label\n0,a,x\n", "a.csv")
    assert list(table.frame.columns) == ["column 1", "text", "label"]


def test_every_ragged_line_is_listed_with_its_number() -> None:
    raw = b'text,label\na,x\nb\n"c\nc",y\nd,e,z\n\nf,g,\n'
    # Lines: 1 header, 2 a, 3 b, 4-5 c, 6 d, 7 blank, 8 f. Rows: a 1, b 2, c 3, d 4, blank 5, f 6.
    error = error_of(raw, "a.csv")
    assert error.rows == (
        BadRow(2, "line 3 has 1 field instead of 2"),
        BadRow(4, "line 6 has 3 fields instead of 2"),
        BadRow(6, "line 8 has 3 fields instead of 2"),
    )
    assert "3 lines of 5 cannot be cut into the 2 columns 'text', 'label' at each comma" in error.message
    assert "Rows are numbered from 1, without the header line." in error.message


def test_wrong_quotation_marks_are_listed_and_reading_goes_on() -> None:
    error = error_of(b'text,label\n"no" he said,x\nb,y\nc\n"never,\nclosed\n', "a.csv")
    assert [(bad.row, bad.reason[:40]) for bad in error.rows] == [
        (1, "line 2: text follows a closing quotation"),
        (3, "line 4 has 1 field instead of 2"),
        (4, "line 5: the quotation mark that opens a "),
        (5, "line 6 has 1 field instead of 2"),
    ]


def test_carriage_returns() -> None:
    assert rows_of(read_table(b"text,label\ra,x\rb,y\r", "a.csv")) == [["a", "x"], ["b", "y"]]  # an old Mac's lines
    error = error_of(b"text,label\na\rb,x\n", "a.csv")
    assert error.rows == (BadRow(1, "line 2: a field without quotation marks holds a carriage return"),)


def test_an_unclosed_quotation_mark_before_a_long_rest() -> None:
    error = error_of(b'text,label\n"open,x\n' + b"a,y\n" * 300_000, "a.csv")
    assert [bad.row for bad in error.rows] == [1]
    assert "a field is longer than 1,048,576 characters" in error.rows[0].reason


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_long_document_is_one_cell(name: str) -> None:
    document, separator = "ある日の暮方の事である。" * 20_000, "," if name == "a.csv" else "\t"
    for quote in ("", '"') if separator == "," else ("",):
        content = f"text{separator}label\n{quote}{document}{quote}{separator}x\nb{separator}y\n".encode()
        assert rows_of(read_table(content, name)) == [[document, "x"], ["b", "y"]]


def test_a_header_that_cannot_be_read() -> None:
    assert "header in line 1" in error_of(b'"text"s,label\na,x\n', "a.csv").message


def test_two_columns_of_one_name() -> None:
    assert "more than one column called 'text'" in error_of(b"text,label, text\na,x,b\n", "a.csv").message


def test_too_many_columns() -> None:
    header = ",".join(f"c{place}" for place in range(1001))
    assert "has 1,001 columns" in error_of(f"{header}\n{',' * 1000}x\n".encode(), "a.csv").message


@settings(max_examples=50)
@given(st.lists(st.tuples(st.text(st.characters(codec="utf-8", exclude_characters="\0")), st.text('ab,;\t"\r\n '))))
def test_whatever_is_written_as_csv_comes_back(rows: list[tuple[str, str]]) -> None:
    rows = [*filter(any, rows), ("last", "row")]  # empty rows are left out
    raw = as_csv([["text", "label"], *[[a, b] for a, b in rows]]).encode()
    assert [tuple(row) for row in rows_of(read_table(raw, "a.csv"))] == rows


@settings(max_examples=50)
@given(st.binary(max_size=200), st.sampled_from(["a.csv", "a.tsv", "a.jsonl", "a.json", "a.xlsx", None]))
def test_no_bytes_make_anything_but_a_table_or_an_input_error(raw: bytes, name: str | None) -> None:
    try:
        table = read_table(raw, name)
    except InputError as error:
        assert str(error)
    else:
        assert len(table.frame) > 0


# JSON


def test_json_lines() -> None:
    lines = [
        '{"text": "一\\u3002\u2028二", "label": "x", "score": 0.10, "flag": true}',
        "",
        '{"label": "y", "text": "é", "score": 1e5, "more": [1, {"秤": null}], "flag": null}',
    ]
    table = read_table("\n".join(lines).encode(), "a.jsonl")
    assert list(table.frame.columns) == ["text", "label", "score", "flag", "more"]
    assert rows_of(table) == [
        ["一。\u2028二", "x", "0.10", "true", ""],
        ["é", "y", "1e5", "", '[1, {"秤": null}]'],
    ]
    assert list(table.frame.index) == [1, 3]  # a row's number is its line
    assert (table.format, table.encoding) == ("jsonl", "utf-8")


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", None])
def test_one_list_of_objects(name: str | None) -> None:
    raw = json.dumps([{"text": "a", "label": 1}, {"text": "b"}], indent=1).encode()
    table = read_table(raw, name)
    assert rows_of(table) == [["a", "1"], ["b", ""]]
    assert table.format == "json"


def test_lines_in_a_file_called_json() -> None:
    assert read_table(b'{"a": "1"}\n{"a": "2"}\n', "a.json").format == "jsonl"


def test_tricky_texts_in_json() -> None:
    raw = "\n".join(json.dumps({"text": text, "label": "x"}) for text in TRICKY).encode()
    assert [row[0] for row in rows_of(read_table(raw, "a.jsonl"))] == TRICKY


def test_every_line_that_is_no_object_is_listed() -> None:
    error = error_of(b'[1]\n{"text": "a"}\n"b"\n3\nnull\ntrue\n{"text": \n', "a.jsonl")
    assert [bad.row for bad in error.rows] == [1, 3, 4, 5, 6, 7]
    assert [bad.reason for bad in error.rows[:5]] == [
        "line 1 is a list, not an object",
        "line 3 is a text or number, not an object",
        "line 4 is a text or number, not an object",
        "line 5 is null, not an object",
        "line 6 is true or false, not an object",
    ]
    assert error.rows[5].reason.startswith("line 7 is not JSON: Expecting value at character")
    assert 'Needed: one object per line, such as {"text"' in error.message


def test_elements_that_are_no_objects() -> None:
    error = error_of(b'[{"text": "a"}, 3, []]', "a.json")
    assert [bad.row for bad in error.rows] == [2, 3]


def test_a_broken_list_names_its_line() -> None:
    error = error_of(b'[\n {"a": 1},\n {a: 2}\n]', "a.json")
    assert "is not valid JSON: line 3, character 3: Expecting property name" in error.message


@pytest.mark.parametrize("raw", [b"[]", b"[{}, {}]", b"{}"])
def test_json_without_rows_or_keys(raw: bytes) -> None:
    assert "holds no data" in error_of(raw, "a.json").message


def test_nesting_beyond_reason() -> None:
    assert "nested too deep" in error_of(b'{"a": 1}\n' + b"[" * 100_000, "a.jsonl").rows[0].reason


def test_numbers_beyond_reason_keep_their_digits() -> None:
    digits = b"9" * 5000
    for raw in (b'{"a": ' + digits + b"}", b'[{"a": ' + digits + b"}]"):
        table = read_table(raw, "a.json")
        assert rows_of(table) == [["9" * 5000]] and raw_rows(table.json_text) == {1: raw.decode().strip("[]")}
    assert rows_of(read_table(b'{"a": [' + digits + b"]}", "a.jsonl")) == [[f"[{'9' * 5000}]"]]


NUMBERS = ["1.50", "1e5", "-0", "0.10", "1E+400", "100", "NaN", "Infinity", "12345678901234567890.0"]


@pytest.mark.parametrize("number", NUMBERS)
def test_every_number_keeps_its_spelling(number: str) -> None:
    """Alone, in lists and objects, and in the rows that are exported again."""
    row = f'{{"a": {number}, "b": [{number}, {{"c": {number}}}], "d": "{number}"}}'
    for raw in (row, f"[{row}]", f"[\n {row} ,\n\t{row}\n]"):
        table = read_table(raw.encode(), "a.json")
        alone = "" if number == "NaN" else number  # pandas writes NaN for what is missing
        assert rows_of(table)[0] == [alone, f'[{number}, {{"c": {number}}}]', number]
        assert set(raw_rows(table.json_text).values()) == {row}


def test_a_key_that_an_object_names_twice_is_refused_with_its_row() -> None:
    lines = ['{"a": 1, "b": 2}', '{"a": 1, "a": 2}', '{"b": {"c": 1, "d": [{"e": 1, "e": 1}]}}', '{"a": "x"}']
    for raw, unit in (("\n".join(lines), "line"), (f"[{', '.join(lines)}]", "element")):
        error = error_of(raw.encode(), "a.json")
        assert error.rows == (
            BadRow(2, f"{unit} 2 names the key 'a' twice in one object; only one of the values could be read"),
            BadRow(3, f"{unit} 3 names the key 'e' twice in one object; only one of the values could be read"),
        )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100)
@given(
    st.lists(
        st.dictionaries(st.text(st.characters(codec="utf-8", exclude_characters="\0")), JSON, min_size=1),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([None, 1]),
)
def test_rows_of_a_list_are_exported_as_they_were(rows: list[dict[str, object]], indent: int | None) -> None:
    raw = json.dumps(rows, indent=indent, ensure_ascii=False)
    assert list(raw_rows(raw).values()) == [json.dumps(row, ensure_ascii=False) for row in rows]


@pytest.mark.parametrize("first", ['{"a": "broken', "{", '{"a": "1"', "\n\n{'a': 1}"])
def test_lines_of_objects_whose_first_is_broken_are_left_out_and_the_others_kept(first: str) -> None:
    raw = f'{first}\n{{"good": "a b", "bad": "b a"}}\n'
    table = read_table(raw.encode(), "a.jsonl", skip_bad_rows=True)
    number = raw.count("\n")
    kept = {row: line for row, line in raw_rows(table.json_text).items() if row in table.frame.index}
    assert kept == {number: '{"good": "a b", "bad": "b a"}'} and [bad.row for bad in table.left_out] == [number - 1]
    assert read_pairs([("a.jsonl", raw.encode())], skip_bad_rows=True).acceptable == ("a b",)


def test_nesting_of_any_depth_is_read_or_refused() -> None:
    for depth in (10, 300, 900, 980, 995, 5000):
        for raw in (
            f'{{"a": {"[" * depth}{"]" * depth}}}',
            f'[{{"a": {"[" * depth}{"]" * depth}}}]',
            f'{{"a": {"[" * depth}',
        ):
            try:
                table = read_table(raw.encode(), "a.json")
                assert rows_of(table) == [["[" * depth + "]" * depth]]
            except InputError as error:
                assert "nested too deep" in str(error) or "is not JSON" in str(error)


@pytest.mark.parametrize("raw", [b'""', b'""\n', b'"",""\n', b'" "\r\n""\n', b"''", b",", b";\n;", b'\xef\xbb\xbf""'])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt", None])
def test_quotes_without_text_are_an_empty_file(raw: bytes, name: str | None) -> None:
    with pytest.raises(InputError, match=r"is empty|holds no data|no rows of data"):
        read_table(raw, name)


def test_characters_that_no_text_can_hold_are_listed() -> None:
    error = error_of(b'{"a": "ok"}\n{"a": "\\ud800"}\n{"a": "nul \\u0000"}\n{"a": "\\ud83d\\udc3c"}\n', "a.jsonl")
    assert [bad.row for bad in error.rows] == [2, 3]
    assert "'a' holds a NUL or half of a surrogate pair" in error.rows[0].reason
    assert "column name '\\ud800'" in error_of(b'{"\\ud800": "x"}', "a.jsonl").message


def test_too_many_keys() -> None:
    raw = "\n".join(json.dumps({f"key{line}": "x"}) for line in range(1001)).encode()
    assert "1,001 different keys" in error_of(raw, "a.jsonl").message


# Excel


def test_excel() -> None:
    rows = [["text", None, "label"], ["秤", None, "x"], [None, None, None], ["二", None, None], ["三", None, "z"]]
    table = read_table(as_xlsx(rows), "a.xlsx")
    assert list(table.frame.columns) == ["text", "label"]
    assert rows_of(table) == [["秤", "x"], ["二", ""], ["三", "z"]]
    assert list(table.frame.index) == [1, 3, 4]
    assert (table.format, table.encoding, table.notices) == ("excel", None, ())


def test_excel_values_as_texts() -> None:
    day = datetime.datetime(2024, 1, 5)
    given_values = [1, 1.0, 0.5, 1e5, True, day, day.replace(hour=8), "001", " padded ", "a\nb"]
    table = read_table(as_xlsx([["v"], *[[value] for value in given_values]]), "a.xlsx")
    assert [row[0] for row in rows_of(table)] == [
        "1",
        "1",
        "0.5",
        "100000",
        "TRUE",
        "2024-01-05",
        "2024-01-05T08:00:00",
        "001",
        " padded ",
        "a\nb",
    ]


def test_tricky_texts_in_excel() -> None:
    # openpyxl writes "=1+1" as a formula without a stored result: its own text is all there is.
    rows = [[text, "x"] for text in TRICKY]
    table = read_table(as_xlsx([["text", "label"], *rows]), "a.xlsx")
    assert rows_of(table) == rows
    n = sum(text.startswith("=") for text in TRICKY)
    assert [notice.partition(":")[0] for notice in table.notices] == [
        f"a.xlsx has {n} value{'' if n == 1 else 's'} of formulas without a stored result"
    ]


def test_a_formula_counts_with_its_stored_result() -> None:
    raw = as_xlsx([["text", "label"], ["=A1&A1", "x"], ["plain", "=1+1"]])
    # As Excel stores it: a result beside the formula, empty for the second.
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"].decode()
    assert "<f>A1&amp;A1</f><v />" in sheet or "<f>A1&amp;A1</f><v></v>" in sheet or "<f>A1&amp;A1</f><v/>" in sheet
    for empty in ("<v />", "<v></v>", "<v/>"):
        sheet = sheet.replace(f"<f>A1&amp;A1</f>{empty}", "<f>A1&amp;A1</f><v>7</v>")
    parts["xl/worksheets/sheet1.xml"] = sheet.encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    table = read_table(file.getvalue(), "a.xlsx")
    assert rows_of(table) == [["7", "x"], ["plain", ""]] and not table.notices


def test_of_several_sheets_the_first_filled_one_is_read_and_the_others_are_named() -> None:
    raw = as_xlsx([], [["text", "label"], ["a", "x"]], [["other"], ["b"]])
    table = read_table(raw, "a.xlsx")
    assert rows_of(table) == [["a", "x"]]
    assert table.notices == (
        "a.xlsx has 2 filled sheets ('Sheet1', 'Sheet2'); only 'Sheet1' was read. "
        "Choose another where it is the wrong one.",
    )


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"text,label\na,x\n", "is not an Excel workbook although it is named like one"),
        (b"\xd0\xcf\x11\xe0" + bytes(100), "old Excel file (.xls) or has a password"),
        (b"PK\x03\x04" + bytes(100), "cannot be read as an Excel workbook"),
    ],
)
def test_excel_that_is_no_excel(raw: bytes, words: str) -> None:
    assert words in error_of(raw, "a.xlsx").message


def test_a_zip_that_is_no_workbook() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.csv", "text,label")
    for name in ("a.xlsx", "a.zip", "a.csv"):
        assert "a zip archive but no Excel workbook. Unpack it" in error_of(file.getvalue(), name).message


def test_a_damaged_workbook() -> None:
    raw = as_xlsx([["text"], ["a"]])
    assert "cannot be read as an Excel workbook" in error_of(raw[: len(raw) // 2], "a.xlsx").message


def test_an_empty_workbook() -> None:
    assert "holds no data" in error_of(as_xlsx([]), "a.xlsx").message
    assert "no rows of data" in error_of(as_xlsx([["text", "label"]]), "a.xlsx").message


def test_a_workbook_that_unpacks_to_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MAX_UNPACKED_BYTES", 1000)
    assert "unpacks to" in error_of(as_xlsx([["text"], ["a"]]), "a.xlsx").message


def test_a_row_number_beyond_excel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MAX_ROWS", 2)
    assert rows_of(read_table(as_xlsx([["text"], ["a"]]), "a.xlsx")) == [["a"]]
    assert "a row beyond number 2" in error_of(as_xlsx([["text"], ["a"], ["b"]]), "a.xlsx").message


# Files


def test_a_path_gives_its_name(tmp_path: Path) -> None:
    path = tmp_path / "私の文.CSV"
    path.write_text("text,label\na,x\n", encoding="utf-8")
    assert read_table(path).name == "私の文.CSV"
    assert read_table(path, "other.csv").name == "other.csv"


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    assert "No such file" in error_of(tmp_path / "nothing.csv").message
    assert "Is a directory" in error_of(tmp_path).message


@pytest.mark.parametrize("raw", [b"", b" \n\r\n", "\ufeff".encode(), "\ufeff\n".encode("utf-16-le")])
def test_an_empty_file(raw: bytes) -> None:
    assert "a.csv is empty" in error_of(raw, "a.csv").message


def test_a_header_alone() -> None:
    assert "has a header ('text', 'label') but no rows of data" in error_of(b"text,label\n", "a.csv").message


def test_an_ending_that_is_no_table() -> None:
    error = error_of(b"%PDF-1.7", "a.pdf")
    assert "files ending in .pdf" in error.message
    assert ".csv, .tsv, .txt, .jsonl, .json, .parquet, .xlsx" in error.message


def test_nul_bytes() -> None:
    assert "a NUL character in line 2" in error_of(b"text,label\na\0,x\n", "a.csv").message
    assert "UTF-16 without byte order mark" in error_of("text,label\na,x\n".encode("utf-16-le"), "a.csv").message


def test_a_file_is_too_large_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "big.csv"
    with path.open("wb") as file:
        file.truncate(300 * 2**20)  # sparse: 300 MiB that take no room
    monkeypatch.setattr(Path, "open", lambda *_, **__: pytest.fail("it was opened"))
    monkeypatch.setattr(Path, "read_bytes", lambda *_: pytest.fail("it was read"))
    error = error_of(path)
    assert "big.csv is too large: 300.0 MiB; at most 200.0 MiB are read" in error.message
    monkeypatch.setenv("HAKARI_MAX_UPLOAD_MB", "0.00001")  # 10 bytes
    assert "too large" in error_of(b"text,label\na,x\n", "a.csv").message
    monkeypatch.setenv("HAKARI_MAX_UPLOAD_MB", "much")
    assert "must be a number of MiB; got 'much'" in error_of(b"text,label\na,x\n", "a.csv").message


def test_a_pipe_is_read_no_further_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_MAX_UPLOAD_MB", "0.001")
    reading, writing = os.pipe()
    os.write(writing, b"text,label\n" + b"a,x\n" * 1000)
    os.close(writing)
    try:
        assert "too large" in error_of(Path(f"/dev/fd/{reading}")).message
    finally:
        os.close(reading)


def test_the_limit_is_the_one_of_the_contract() -> None:
    assert files.MAX_FILE_BYTES == 200 * 2**20


# Pasted text


def test_pasted_lines_without_header() -> None:
    table = paste_table("猫が寝る。\tx\n\n犬が走る, 速く。\ty\n", ["text", "label"])
    assert rows_of(table) == [["猫が寝る。", "x"], ["犬が走る, 速く。", "y"]]
    assert list(table.frame.columns) == ["text", "label"]
    assert list(table.frame.index) == [1, 3]
    assert (table.format, table.encoding) == ("pasted", None)


@pytest.mark.parametrize("header", ["text,label", "Label,Text", "文,ラベル", "id,sentence,class"])
def test_pasted_lines_with_header(header: str) -> None:
    names = header.split(",")
    line = ",".join(f"value of {name}" for name in names)
    table = paste_table(f"{header}\n{line}\n", ["text", "label"])
    assert list(table.frame.columns) == names
    assert rows_of(table) == [[f"value of {name}" for name in names]]


def test_every_pasted_line_of_the_wrong_length_is_listed() -> None:
    with pytest.raises(InputError, match="cannot be cut into the 2 columns 'text', 'label' at each comma") as caught:
        paste_table("a,x\nb\nc,d,y\n", ["text", "label"])
    assert caught.value.rows == (
        BadRow(2, "line 2 has 1 field instead of 2"),
        BadRow(3, "line 3 has 3 fields instead of 2"),
    )


@pytest.mark.parametrize("text", ["", " \n\n", "\t\n"])
def test_nothing_pasted(text: str) -> None:
    with pytest.raises(InputError):
        paste_table(text, ["text", "label"])


def test_a_pasted_half_of_an_emoji() -> None:
    with pytest.raises(InputError) as caught:
        paste_table("a,x\n\ud83d,y\n", ["text", "label"])
    assert [bad.row for bad in caught.value.rows] == [2]


def test_the_frame_is_of_strings_whatever_they_look_like() -> None:
    table = paste_table("1,2\n3,4", ["text", "label"])
    assert all(isinstance(dtype, pd.StringDtype) for dtype in table.frame.dtypes)


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
TABLE = 'text,label\r\n昨日は雨だった。,天気\r\n"猫, 犬",動物\r\n'


@pytest.mark.parametrize("ending", PACKERS)
def test_a_compressed_file_is_read_as_the_file_itself(ending: str, tmp_path: Path) -> None:
    pack, plain = PACKERS[ending], read_table(TABLE.encode("cp932"), "a.csv")
    (path := tmp_path / f"A.CSV{ending.upper()}").write_bytes(pack(TABLE.encode("cp932")))
    for source, name in ((path, None), (path.read_bytes(), f"a.csv{ending}")):
        read = read_table(source, name)
        pd.testing.assert_frame_equal(read.frame, plain.frame)
        assert (read.name, read.format, read.encoding) == (name or path.name, "csv", "cp932")
        assert str(read.notices[0]).startswith(f"{read.name} was read as CP932")
    assert detected(path.read_bytes(), f"a.csv{ending}") == detect(TABLE.encode("cp932"), "a.csv")
    lines = b'{"text": "a", "n": 1}\n{"text": "b", "n": 2}\n'
    of_lines = read_table(pack(lines), f"a.jsonl{ending}")
    assert (of_lines.frame["text"].tolist(), of_lines.format) == (["a", "b"], "jsonl")


def test_a_file_in_parts_or_that_a_browser_has_decompressed_is_read() -> None:
    parts = gzip.compress(TABLE[:20].encode()) + gzip.compress(TABLE[20:].encode())
    assert read_table(parts, "a.csv.gz").frame["label"].tolist() == ["天気", "動物"]
    assert read_table(TABLE.encode(), "a.csv.gz").frame["label"].tolist() == ["天気", "動物"]


def test_what_is_wrong_with_a_compressed_file_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for content, reason in (
        (gzip.compress(TABLE.encode())[:-9], "a.csv.gz cannot be unpacked: it is damaged"),
        (gzip.compress(TABLE.encode())[:-8] + b"\0" * 8, "a.csv.gz cannot be unpacked: it is damaged"),
        (gzip.compress(b""), "a.csv.gz is empty"),
        (gzip.compress(b"a,b\n1,2,3\n"), "a.csv.gz"),
    ):
        with pytest.raises(InputError, match=reason):
            read_table(content, "a.csv.gz")
    with pytest.raises(InputError, match=r"files ending in \.doc cannot be read"):
        read_table(gzip.compress(b"a"), "a.doc.gz")
    monkeypatch.setenv("HAKARI_MAX_UPLOAD_MB", "1")
    with pytest.raises(InputError, match="unpacks to more than 1 MiB"):
        read_table(gzip.compress(b"a,b\n" + b"1,2\n" * 2**18), "a.csv.gz")


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("orient", ["columns", "index", "split", "table", "records"])
def test_json_of_pandas_is_the_table_that_it_was(orient: Any, indent: int | None) -> None:
    """By default pandas writes the columns, which were read as one row."""
    table = pd.DataFrame({"text": ["猫", '犬 "x"'], "label": ["a", "b"], "n": ["1e5", "0.10"]})
    read = read_table(table.to_json(orient=orient, force_ascii=False, indent=indent).encode(), "a.json")
    pd.testing.assert_frame_equal(read.frame[list(table)].reset_index(drop=True), table, check_dtype=False)
    assert read.frame.index.tolist() == [1, 2]
    assert [json.loads(raw)["label"] for raw in raw_rows(read.json_text).values()] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('{"version": "1", "data": [{"text": "a", "n": 1.50}]}', [["a", "1.50"]]),
        ('\n {"rows": [{"text": "a", "n": null}]}\n\n', [["a", ""]]),
    ],
)
def test_one_object_with_a_table_in_it_is_that_table(text: str, rows: list[list[str]]) -> None:
    read = read_table(text.encode("utf-16"), "a.json")
    assert (list(read.frame), read.frame.to_numpy().tolist()) == (["text", "n"], rows)
    assert (read.format, read.encoding) == ("jsonl", "utf-16")


@pytest.mark.parametrize(
    "text",
    [
        '{"text": "a", "targets": [{"x": 1}]}',
        '{"text": {"x": "1"}}\n{"text": {"x": "2"}}',
        '{"tokens": ["a", "b"], "spans": [[0, 1], [1, 2]]}',
        '{"data": [{"a": 1}], "more": [{"b": 1}]}',
        '{"cat": ["a", "b"], "dog": ["c", "d"]}',  # contexts of words, as in BabyLM's cdi_childes.json
    ],
)
def test_rows_with_lists_and_objects_in_them_stay_rows(text: str) -> None:
    read = read_table(text.encode(), "a.jsonl")
    assert [json.loads(raw) for raw in raw_rows(read.json_text).values()] == list(map(json.loads, text.splitlines()))
    assert len(read.frame) == len(text.splitlines())


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "a PDF document"),
        (b"\xef\xbb\xbf\n<!DOCTYPE html>\n<html><head><title>404, Not Found</title>\n", r"a web page \(HTML\)"),
        (b"<HTML lang='ja'>\n<body>a,b\n1,2\n", r"a web page \(HTML\)"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 123\n", "a pointer of Git LFS"),
    ],
)
def test_what_is_another_kind_of_file_is_called_so(raw: bytes, words: str) -> None:
    """Their lines were taken for a header and rows: columns were asked for, or called wrong."""
    with pytest.raises(InputError, match=rf"^data\.csv is {words}.*, no table\. Give the table itself"):
        read_table(raw, "data.csv")
