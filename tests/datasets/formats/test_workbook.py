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


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_sheet_that_is_shown_is_read_before_a_hidden_one(state: str) -> None:
    """Of what was hidden, as an earlier version of the data, its owner sees nothing in a spreadsheet program."""
    workbook = openpyxl.load_workbook(io.BytesIO(book(old=DATA[:2], data=DATA)))
    workbook["old"].sheet_state, workbook.active = state, 1
    workbook.save(file := io.BytesIO())
    table = read_table(file.getvalue(), "a.xlsx")
    assert (table.sheet, table.sheets, len(table.frame)) == ("data", ("data", "old"), 2)
    assert len(read_table(file.getvalue(), "a.xlsx", sheet="old").frame) == 1


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


def test_a_title_above_the_names_of_the_columns_is_left_out_with_a_notice() -> None:
    """Sheets as they are kept by hand: a title in merged cells, a blank row, then the names."""
    rows = [["調査 2026年度"], [], ["文", "ラベル", "備考"], ["雨。", "天気"], ["鍋。", "料理", "済"]]
    for table in (
        read_table(book(予備=rows), "a.xlsx"),
        read_table(
            "\n".join(",".join([*row, "", "", ""][:3]) for row in rows if row).encode(), "a.csv", encoding="utf-8"
        ),
        read_table("調査 2026年度\n\n文,ラベル,備考\n雨。,天気,\n鍋。,料理,済\n".encode(), "a.csv", encoding="utf-8"),
    ):
        assert list(table.frame.columns) == ["文", "ラベル", "備考"] and list(table.frame.index) == [1, 2]
        assert table.frame["備考"].tolist() == ["", "済"]
        [said] = [notice for notice in table.notices if "above" in notice]
        assert said == f"{table.name}: what stands above the names of its columns is left out: '調査 2026年度'."


def test_the_first_row_names_the_columns_where_that_is_said_or_nothing_tells_of_another() -> None:
    rows = [["調査", "", ""], ["文", "ラベル", "備考"], ["雨。", "天気", "済"]]
    assert list(read_table(book(予備=rows), "a.xlsx", header="names").frame.columns) == ["調査", "column 2", "column 3"]
    assert list(read_table(book(予備=rows), "a.xlsx", header="data").frame.index) == [1, 2, 3]
    assert list(read_table(b"one,two\ntext,label\na,b\n", "a.csv").frame.columns) == ["one", "two"]
