"""engine.datasets.formats.tabbed and records: a line is a record, and every row has its number in the file."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from engine.datasets.formats.files import Table, paste_table, read_table
from engine.datasets.formats.tabbed import quoting_of, tabbed_text
from engine.datasets.labelled import labelled_sentences
from engine.datasets.minimal_pairs.pairs import from_table
from engine.datasets.sentence_pairs import from_table as scored_pairs
from engine.errors import InputError

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\t\n\r"), max_size=8) | st.text('"ab ,', max_size=6)
ROWS = st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6)


def rows_of(table: Table) -> list[list[str]]:
    return [list(map(str, row)) for row in table.frame.itertuples(index=False)]


def unquoted(rows: Sequence[Sequence[str]]) -> bytes:
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def written(rows: Sequence[Sequence[str]], separator: str, quoting: int) -> bytes:
    file = io.StringIO()
    csv.writer(file, delimiter=separator, lineterminator="\n", quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    return file.getvalue().encode()


def test_quotation_marks_that_are_opened_and_closed_rows_apart() -> None:
    pairs = [
        ("The dog barks.", "The dog bark."),
        ('"We leave', "We leaves"),
        ("The cat sleeps.", "The cat sleep."),
        ('They go"', "They goes"),
        ("The sun shines.", "The sun shine."),
    ]
    dataset = from_table(read_table(unquoted([("sentence_good", "sentence_bad"), *pairs]), "a.tsv"))
    assert list(zip(dataset.acceptable, dataset.unacceptable, strict=True)) == pairs
    assert dataset.rows == (1, 2, 3, 4, 5) and dataset.notices == ()


def test_loose_quotation_marks_in_the_last_column() -> None:
    rows = [("a", "犬が鳴く。"), ("b", '"Stop there,'), ("a", "猫が鳴く。"), ("b", 'he said"')]
    dataset = labelled_sentences.from_table(read_table(unquoted([("label", "text"), *rows]), "a.tsv"))
    assert list(zip(dataset.labels, dataset.texts, strict=True)) == rows


def test_pasted_cells_are_read_alike() -> None:
    table = paste_table('犬が鳴く。\ta\n"Stop there,\tb\nhe said"\tb\n"No"\ta\n', ["text", "label"])
    assert rows_of(table) == [["犬が鳴く。", "a"], ['"Stop there,', "b"], ['he said"', "b"], ['"No"', "a"]]


@settings(max_examples=300, deadline=None)
@given(ROWS)
@example([('"', '"')])
@example([('"a', "b"), ("c", 'd"')])
def test_whatever_is_written_without_quoting_comes_back(rows: list[tuple[str, str]]) -> None:
    rows = [*filter(any, rows), ("end", "end")]  # rows of separators alone are left out
    raw = unquoted([("one", "two"), *rows])
    # Texts that look as a program writes quoted ones throughout are taken for such, with a notice.
    assume(quoting_of(lambda: io.StringIO(raw.decode(), newline="\n")) == "none")
    table = read_table(raw, "a.tsv", encoding="utf-8")
    assert rows_of(table) == list(map(list, rows)) and len(table.notices) == 1  # the encoding
    assert list(table.frame.index) == list(range(1, len(rows) + 1))


@settings(max_examples=200, deadline=None)
@given(ROWS)
def test_text_is_taken_for_quoted_only_where_every_mark_is_a_programs(rows: list[tuple[str, str]]) -> None:
    raw = unquoted([("one", "two"), *rows])
    if quoting_of(lambda: io.StringIO(raw.decode(), newline="\n")) != "none":
        marked = [cell for row in rows for cell in row if cell.startswith('"')]
        assert marked and all(len(cell) > 1 and cell.endswith('"') for cell in marked)
        assert any('""' in cell[1:-1] for cell in marked)


@settings(max_examples=200, deadline=None)
@given(ROWS, st.sampled_from(",;"), st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]))
def test_whatever_csv_writes_comes_back(rows: list[tuple[str, str]], separator: str, quoting: int) -> None:
    rows = [*filter(any, rows), ("end", "end")]
    table = read_table(written([("one", "two"), *rows], separator, quoting), "a.csv", encoding="utf-8")
    assert rows_of(table) == list(map(list, rows))


@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC, csv.QUOTE_MINIMAL])
def test_tab_separated_files_that_a_program_quoted(quoting: int) -> None:
    rows = [["text", "label"], ['He said "hi"', "x,y"], ["two\nlines", "b"], ["ta\tb", ""], ["plain", "a"]]
    table = read_table(written(rows, "\t", quoting), "a.tsv")
    assert rows_of(table) == rows[1:] and list(table.frame.index) == [1, 2, 3, 4]
    assert [notice[:34] for notice in table.notices] == (
        ["The quotation marks around fields "] if quoting == csv.QUOTE_MINIMAL else []
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(*[st.text('"a\t\n\r, 1', max_size=5)] * 2), min_size=1, max_size=5))
def test_what_is_exported_comes_back(rows: list[tuple[str, str]]) -> None:
    rows = [*filter(any, rows), ("end", "end")]
    raw = tabbed_text([("one", "two"), *rows]).encode()
    assert rows_of(read_table(raw, "a.tsv", encoding="utf-8")) == list(map(list, rows))


def sts_benchmark(n: int) -> tuple[bytes, int]:
    """A file in the layout of GLUE's STS-B, with every kind of quotation mark, and how many of its rows are whole."""
    header = [
        "index",
        "genre",
        "filename",
        "year",
        "old_index",
        "source1",
        "source2",
        "sentence1",
        "sentence2",
        "score",
    ]
    sentences = [
        'A man "rides" home.',
        '"Rain again," she said.',
        'They say "no',
        'and left"',
        '"',
        "It's 5\" wide.",
        '""',
        '"All of it."',
        "A plain sentence.",
    ]
    lines, n_whole = ["\t".join(header)], 0
    for index in range(n):
        first, second = sentences[index % 9], sentences[(index // 9) % 9]
        row = [str(index), "news", "own", "2015", str(index), "a", "b", first, second, f"{index % 51 / 10:.3f}"]
        if index % 100 == 7:
            row = row[:-1]
        n_whole += len(row) == 10
        lines.append("\t".join(row))
    return ("\n".join(lines) + "\n").encode(), n_whole


def test_sts_benchmark_is_read_whole_or_listed() -> None:
    raw, n_whole = sts_benchmark(1500)
    with pytest.raises(InputError) as caught:
        read_table(raw, "dev.tsv")
    assert len(caught.value.rows) == 1500 - n_whole and "read without quoting, each line a row" in caught.value.message
    table = read_table(raw, "dev.tsv", skip_bad_rows=True)
    assert len(table.frame) == n_whole and len(table.frame) + len(table.left_out) == 1500
    assert {int(number) - 1: value for number, value in table.frame["index"].items()} == {
        int(value): value for value in table.frame["index"]
    }
    assert [bad.row for bad in table.left_out] == list(range(8, 1501, 100))
    pairs = scored_pairs(table)
    assert pairs.n == n_whole and list(pairs.human) == ["score"]


def test_rows_behind_an_unclosed_quotation_mark_keep_their_numbers_and_are_read() -> None:
    table = read_table(b'text,label\na,x\n"b,y\nc,z\n\nd,w\n', "a.csv", skip_bad_rows=True)
    assert rows_of(table) == [["a", "x"], ["c", "z"], ["d", "w"]] and list(table.frame.index) == [1, 3, 5]
    assert [(bad.row, bad.reason[:38]) for bad in table.left_out] == [(2, "line 3: the quotation mark that opens ")]


def test_of_faults_without_end_each_line_is_listed() -> None:
    table = read_table(b"a,b\n1,2\n" + b'"a""\n' * 40_000, "a.csv", skip_bad_rows=True)
    assert len(table.left_out) == 40_000 and {bad.row for bad in table.left_out} == set(range(2, 40_002))


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_a_first_line_names_the_separator(separator: str) -> None:
    raw = f"sep={separator}\r\ntext{separator}label\r\na{separator}x\r\nb\r\n".encode()
    table = read_table(raw, "a.csv", skip_bad_rows=True)
    assert rows_of(table) == [["a", "x"]] and list(table.frame.columns) == ["text", "label"]
    assert [(bad.row, bad.reason) for bad in table.left_out] == [(2, "line 4 has 1 field instead of 2")]


def test_a_separator_that_is_not_read() -> None:
    with pytest.raises(InputError, match=r"its first line names '\|' as the separator"):
        read_table(b"sep=|\ntext|label\na|x\n", "a.csv")
