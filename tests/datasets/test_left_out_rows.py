"""Rows that cannot be used: refused by default, left out where that is asked for, with number and reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from engine.datasets import sentence_pairs
from engine.datasets.formats.files import paste_table, read_table
from engine.datasets.labelled import domain_sentences, labelled_sentences
from engine.datasets.masked import masked_sentences
from engine.datasets.masked.masked_building import build, find_nouns
from engine.datasets.minimal_pairs import pairs as minimal_pairs
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.rows import left_out_notice
from engine.errors import BadRow, InputError
from engine.runs.storage.artifacts import Artifacts

# Per kind: a file whose rows 2, 3 and 5 are bad, and what is left of its first column.
CASES: list[tuple[ModuleType, str, list[str], str]] = [
    (
        labelled_sentences,
        "text,label\n雨,天気\n,天気\n雪,　\n負け,試合\n一,二,三\n勝ち,試合\n",
        ["雨", "負け", "勝ち"],
        "texts",
    ),
    (
        domain_sentences,
        "text,domain\n雨,天気\n,天気\n雪, \n負け,試合\n一,二,三\n勝ち,試合\n",
        ["雨", "負け", "勝ち"],
        "texts",
    ),
    (
        masked_sentences,
        "text,label\n雨が降る,雨\n,雨\n雪,雨\n犬と猫,猫\n一,二,三\n[MASK]だ,本\n",
        ["雨が降る", "犬と猫", "本だ"],
        "texts",
    ),
    (
        sentence_pairs,
        "reference,candidate,human\nあ,い,1\n,い,2\nう,え,good\nか,き,\n一\nく,け,3\n",
        ["あ", "か", "く"],
        "references",
    ),
    (minimal_pairs, "good,bad\nあ,い\n,い\nう, \nか,き\n一\nく,け\n", ["あ", "か", "く"], "acceptable"),
]


def read(module: ModuleType, content: str | bytes, name: str = "mine.csv", *, skip: bool = True) -> Any:
    raw = content.encode() if isinstance(content, str) else content
    return module.from_table(read_table(raw, name, skip_bad_rows=skip), skip_bad_rows=skip)


@pytest.mark.parametrize(
    "module", [labelled_sentences, domain_sentences, masked_sentences, sentence_pairs, minimal_pairs]
)
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_a_row_of_separators_alone_is_left_out_as_an_empty_line_is(module: ModuleType, separator: str) -> None:
    lines = next(content for of_module, content, *_ in CASES if of_module is module).splitlines()
    header, first, second = lines[0], lines[1], lines[4] if module is not masked_sentences else lines[6]
    empty = separator * header.count(",")
    rows = [line.replace(",", separator) for line in (header, first, "EMPTY", second)]
    rows[3] += separator * (rows[0].count(separator) - rows[3].count(separator))
    with_empty, with_blank = (read(module, "\n".join(rows).replace("EMPTY", line), skip=False) for line in (empty, ""))
    assert with_empty == with_blank
    assert with_empty.rows == (1, 3)
    assert with_empty.content_hash == with_blank.content_hash


@pytest.mark.parametrize(("module", "content", "kept", "column"), CASES)
def test_all_bad_rows_are_listed_in_one_error_whatever_is_wrong_with_them(
    module: ModuleType, content: str, kept: list[str], column: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_table(content.encode(), "mine.csv", judge=module.from_table)
    left_out = read(module, content).left_out
    assert [bad.row for bad in caught.value.rows] == [bad.row for bad in left_out] == [2, 3, 5]
    assert [bad.reason for bad in caught.value.rows] == [bad.reason for bad in left_out]
    assert "cannot be cut into" in caught.value.message and caught.value.message.count("Rows are numbered from 1") == 1


@pytest.mark.parametrize(("module", "content", "kept", "column"), CASES)
def test_bad_rows_are_left_out_with_their_numbers_and_reasons(
    module: ModuleType, content: str, kept: list[str], column: str
) -> None:
    dataset = read(module, content)
    assert list(getattr(dataset, column)) == kept
    assert dataset.rows == (1, 4, 6)  # numbered as in the file
    assert [bad.row for bad in dataset.left_out] == [2, 3, 5]
    assert all(bad.reason for bad in dataset.left_out)
    assert sum(notice.startswith("3 rows left out: ") for notice in dataset.notices) == 1


@pytest.mark.parametrize(("module", "content", "kept", "column"), CASES)
def test_without_being_asked_the_file_is_refused(
    module: ModuleType, content: str, kept: list[str], column: str
) -> None:
    with pytest.raises(InputError) as raised:
        read(module, content, skip=False)
    assert [bad.row for bad in raised.value.rows] == [5]  # what cannot be cut into columns comes first
    mended = "\n".join(line for number, line in enumerate(content.splitlines()) if number != 5)
    with pytest.raises(InputError) as raised:
        read(module, mended, skip=False)
    assert raised.value.rows[0].row == 2


def test_the_rest_is_what_the_file_without_these_rows_gives_but_for_the_row_numbers() -> None:
    content = CASES[0][1]
    good = "\n".join(content.splitlines()[i] for i in (0, 1, 4, 6))
    left_over, clean = read(labelled_sentences, content), read(labelled_sentences, good, skip=False)
    assert (left_over.texts, left_over.labels) == (clean.texts, clean.labels)
    assert clean.left_out == () and read(labelled_sentences, good).content_hash == clean.content_hash


def test_a_file_of_bad_rows_only_is_refused_all_the_same() -> None:
    with pytest.raises(InputError, match="2 of 2 rows lack a sentence or a label") as raised:
        read(labelled_sentences, "text,label\n,x\n ,y\n")
    assert len(raised.value.rows) == 2
    with pytest.raises(InputError, match="2 lines of 2 cannot be cut"):
        read(labelled_sentences, "text,label\nx\ny\n")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (
            '{"text": "雨", "label": "天気"}\n{"text": \n{"text": "負け", "label": "試合"}\n'
            '{"text": "\\ud800", "label": "x"}\n',
            "a.jsonl",
        ),
        (
            '[{"text": "雨", "label": "天気"}, 3, {"text": "負け", "label": "試合"}, {"text": "nul \\u0000", "label": "x"}]',
            "a.json",
        ),
    ],
)
def test_lines_that_are_no_objects_or_no_texts_are_left_out(content: str, name: str) -> None:
    dataset = read(labelled_sentences, content, name)
    assert dataset.texts == ("雨", "負け") and [bad.row for bad in dataset.left_out] == [2, 4]


def test_the_original_rows_of_a_json_file_stay_with_their_pairs() -> None:
    content = '{"good": "あ", "bad": "い", "n": 1.50}\n[1]\n{"good": "う", "bad": "え", "n": 2}\n'
    assert read(minimal_pairs, content, "a.jsonl").originals == tuple(content.splitlines()[::2])
    twice = '[{"good": "あ", "bad": "い"}, {"good": "x", "good": "y", "bad": "z"}, {"good": "う", "bad": "え"}]'
    assert read(minimal_pairs, twice, "a.json").originals == (
        '{"good": "あ", "bad": "い"}',
        '{"good": "う", "bad": "え"}',
    )


def test_pasted_lines() -> None:
    table = paste_table("雨\t天気\n雪\n負け\t試合", ["text", "label"], skip_bad_rows=True)
    assert labelled_sentences.from_table(table).left_out == (BadRow(2, "line 2 has 1 field instead of 2"),)


def test_rows_left_out_of_several_files_are_numbered_with_the_pairs() -> None:
    dataset = read_pairs(
        [("a.csv", "good,bad\nあ,い\n,い\n".encode()), ("b.csv", "good,bad\n,x\nう,え\n".encode())], skip_bad_rows=True
    )
    assert dataset.rows == (1, 4) and [bad.row for bad in dataset.left_out] == [2, 3]


def test_words_chosen_from_sentences_keep_what_was_left_out() -> None:
    sentences = read(domain_sentences, "text,domain\n面白い本を読んだ,本\n,本\n")
    assert build(find_nouns(sentences)).left_out == sentences.left_out == (BadRow(2, "'text' is empty"),)


@pytest.mark.parametrize(
    ("module", "content", "kept", "column"), [case for case in CASES if case[0] is not domain_sentences]
)
def test_they_are_stored_with_the_dataset_and_part_of_its_hash(
    module: ModuleType, content: str, kept: list[str], column: str, tmp_path: Path
) -> None:
    dataset = read(module, content)
    other = read(module, content + "終\n")  # one more bad row, the same sentences
    artifacts = Artifacts(tmp_path)
    for each in (dataset, other):
        opened = artifacts.load_dataset(type(each), artifacts.save_dataset(each), each.name, each.notices)
        assert opened == each and opened.left_out == each.left_out
    assert [bad.row for bad in other.left_out] == [2, 3, 5, 7]
    assert dataset.content_hash != other.content_hash


def test_the_notice_counts_every_reason_and_lists_the_first_rows() -> None:
    left_out = [
        *(BadRow(number, "'text' is empty") for number in range(1, 13)),
        BadRow(20, "'label' is empty"),
        *(BadRow(number, f"fault {number}") for number in (30, 31, 32)),
    ]
    (notice,) = left_out_notice(left_out)
    assert notice == (
        "16 rows left out: 'text' is empty (12 rows: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …); "
        "'label' is empty (row 20); fault 30 (row 30); other reasons (2 rows)."
    )


@pytest.mark.parametrize("blank", [lambda number: f",{number}", lambda number: f" ,{number}", lambda number: "x"])
def test_of_tens_of_thousands_of_blank_rows_the_notice_stays_short(blank: Callable[[int], str]) -> None:
    lines = [
        "text,label",
        *(f"文{number},{number // 100 % 2}" if number % 100 == 1 else blank(number) for number in range(1, 67_001)),
        "終わり,1",
    ]
    dataset = read(labelled_sentences, "\n".join(lines))
    assert dataset.n == 671 and len(dataset.left_out) == 67_000 - 670
    assert max(map(len, dataset.notices)) < 400


def test_a_file_of_pairs_and_a_paste_list_all_bad_rows_too() -> None:
    content = next(content for module, content, *_ in CASES if module is minimal_pairs)
    with pytest.raises(InputError) as caught:
        read_pairs([("mine.csv", content.encode())])
    assert [bad.row for bad in caught.value.rows] == [2, 3, 5]
    with pytest.raises(InputError) as caught:
        paste_table("あ,い\n,い\n一,二,三\n", ["text", "label"], judge=labelled_sentences.part_from_table)
    assert [bad.row for bad in caught.value.rows] == [2, 3]


def test_an_error_of_the_columns_does_not_hide_the_rows_that_cannot_be_read() -> None:
    with pytest.raises(InputError) as caught:
        read_table(b"one,two\na,b\nc\n", "mine.csv", judge=labelled_sentences.from_table)
    assert [bad.row for bad in caught.value.rows] == [2] and "cannot be cut into" in caught.value.message
