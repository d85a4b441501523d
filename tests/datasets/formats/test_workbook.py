"""engine.datasets.formats.workbook: sheets that are chosen, and characters as a workbook stores them."""

from __future__ import annotations

import io

import openpyxl
import pytest

from engine.datasets.formats.columns import options_of_notices
from engine.datasets.formats.files import read_table
from engine.datasets.labelled.labelled_sentences import from_table
from engine.errors import InputError


def book(**sheets: list[list[str]]) -> bytes:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for title, rows in sheets.items():
        sheet = workbook.create_sheet(title)
        for row in rows:
            sheet.append(row)
    workbook.save(file := io.BytesIO())
    return file.getvalue()


NOTES, DATA = [["memo"], ["x"]], [["text", "label"], ["犬が鳴く。", "a"], ["猫が鳴く。", "b"]]


def test_the_sheet_whose_columns_are_recognised_is_read() -> None:
    table = read_table(book(notes=NOTES, data=DATA), "a.xlsx")
    assert from_table(table).n == 2 and (table.sheet, table.sheets) == ("data", ("notes", "data"))
    assert "only 'data' was read" in table.notices[0] and "'notes'" in table.notices[0]


def test_a_sheet_can_be_chosen() -> None:
    table = read_table(book(notes=NOTES, data=DATA), "a.xlsx", sheet="notes")
    assert list(table.frame.columns) == ["memo"]
    assert options_of_notices(table.notices) == ["--sheet", "notes"]
    with pytest.raises(InputError, match="one sheet of 'notes', 'data'; another can be chosen"):
        from_table(table)
    with pytest.raises(InputError, match=r"has no sheet 'other' that holds anything\. There are: 'notes', 'data'"):
        read_table(book(notes=NOTES, data=DATA), "a.xlsx", sheet="other")


def test_characters_that_a_workbook_escapes() -> None:
    rows = [["a", "b"], ["one_x000D_\ntwo", "_x005F_x000D_"], ["tab_x0009_", "_xD83D__xDC3C_"], ["snow_xmas_", "_x00"]]
    table = read_table(book(data=rows), "a.xlsx")
    assert table.frame.to_numpy().tolist() == [["one\ntwo", "_x000D_"], ["tab\t", "🐼"], ["snow_xmas_", "_x00"]]


def test_rows_keep_their_numbers_below_empty_ones() -> None:
    rows = [*DATA[:2], [], ["", ""], DATA[2]]
    assert from_table(read_table(book(data=rows), "a.xlsx")).rows == (1, 4)
