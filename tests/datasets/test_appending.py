"""Rows appended to a dataset: numbered on, complete in every column, and the dataset itself unchanged."""

from __future__ import annotations

import io
import math
import zipfile
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from engine.datasets import sentence_pairs
from engine.datasets.appending import appended
from engine.datasets.formats.files import Table, read_table
from engine.datasets.labelled import labelled_sentences
from engine.datasets.masked import masked_sentences
from engine.datasets.minimal_pairs import pairs as minimal_pairs
from engine.datasets.minimal_pairs.export import export_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import BadRow, InputError


def table(content: str, *, skip: bool = False) -> Table:
    return read_table(content.encode(), "mine.csv", skip_bad_rows=skip)


def read(module: ModuleType, content: str, *, skip: bool = False) -> Any:
    return module.from_table(table(content, skip=skip), skip_bad_rows=skip)


def test_sentences_of_one_label_can_be_put_behind_others() -> None:
    before = read(labelled_sentences, "text,label\n雨,天気\n負け,試合\n")
    after = appended(before, table("文,分類\n雪,天気\n"), {"text": "文", "label": "分類"})
    assert after.texts == ("雨", "負け", "雪") and after.labels == ("天気", "試合", "天気") and after.rows == (1, 2, 3)
    assert after.name == "mine.csv" and before.texts == ("雨", "負け") and after.content_hash != before.content_hash
    # as one file of both
    assert after == read(labelled_sentences, "text,label\n雨,天気\n負け,試合\n雪,天気\n")


def test_a_repeated_row_is_told_by_its_new_number() -> None:
    before = read(labelled_sentences, "text,label\n雨,天気\n負け,試合\n")
    assert "row" in appended(before, table("text,label\n雨,天気\n")).notices[0]
    assert "3" in appended(before, table("text,label\n雨,天気\n")).notices[0]


def test_scores_and_references_that_only_one_part_has_are_missing_in_the_other() -> None:
    before = read(sentence_pairs, "reference,candidate,human\nあ,い,3\n")
    after = appended(before, table("reference,candidate,reference2\nう,え,お\n"))
    assert after.human["human"][0] == 3 and math.isnan(after.human["human"][1])
    assert after.more_references == ((), ("お",)) and after.categories == ("", "")


def test_minimal_pairs_keep_their_files_rows_and_fields() -> None:
    before = read(minimal_pairs, "sentence_good,sentence_bad,UID\nあ,い,x\nう,え,x\n")
    after = appended(before, table("good,bad\nか,き\n"))
    assert after.acceptable == ("あ", "う", "か") and after.fields["UID"] == ("x", "x", "")
    assert after.formats == ("BLiMP", "BLiMP", "two sentence columns")
    assert after.originals[2] == '{"good": "か", "bad": "き"}'


def test_pairs_of_files_of_one_name_and_other_columns_are_exported_apart() -> None:
    before = read(minimal_pairs, "sentence_good,sentence_bad,UID\nあ,い,x\n")
    after = appended(appended(before, table("good,bad\nか,き\n")), table("good,bad,note\nさ,し,n\n"))
    assert after.sources == ("mine.csv", "mine.csv (2)", "mine.csv (3)")
    stored = replace(after, sources=("mine.csv",) * 3)  # as it was kept before files of one name were told apart
    for dataset in (after, stored):
        with zipfile.ZipFile(io.BytesIO(export_pairs(dataset, dataset.rows, "fair").content)) as archive:
            assert {name: archive.read(name).decode() for name in archive.namelist()} == {
                "mine-fair.csv": "sentence_good,sentence_bad,UID\nあ,い,x\n",
                "mine-fair (2).csv": "good,bad\nか,き\n",
                "mine-fair (3).csv": "good,bad,note\nさ,し,n\n",
            }


def test_pairs_from_no_file_have_the_name_as_their_file() -> None:
    typed = MinimalPairs("typed", ("あ",), ("い",), ("",), (1,))
    after = appended(typed, table("good,bad\nか,き\n"))
    assert after.sources == ("typed", "mine.csv")
    with zipfile.ZipFile(io.BytesIO(export_pairs(after, after.rows).content)) as archive:
        assert archive.namelist() == ["typed-subset.csv", "mine-subset.csv"]


def test_both_parts_together_have_no_more_labels_than_one_file_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled_sentences, "MAX_LABELS", 3)
    before = read(labelled_sentences, "text,label\n雨,天気\n負け,試合\n")
    assert appended(before, table("text,label\n雪,季節\n")).n == 3
    with pytest.raises(InputError, match="'label' holds 4 different labels over 4 sentences; at most 3"):
        appended(before, table("text,label\n雪,季節\n猫,動物\n"))


def test_masked_sentences() -> None:
    before = read(masked_sentences, "text,label,domain\n雨が降る,雨,天気\n")
    after = appended(before, table("text,label\n犬と＿＿,猫\n"))
    assert after.texts == ("雨が降る", "犬と猫") and after.starts == (0, 2) and after.domains == ("天気", "")


def test_rows_left_out_of_either_part_are_kept_with_their_numbers() -> None:
    before = read(minimal_pairs, "good,bad\nあ,い\n,x\n", skip=True)
    after = appended(before, table("good,bad\n,y\nう,え\n"), skip_bad_rows=True)
    assert after.rows == (1, 4)
    assert after.left_out == (BadRow(2, "'good' is empty"), BadRow(3, "'good' is empty"))
    assert any(notice.startswith("2 rows left out") for notice in after.notices)
    with pytest.raises(InputError, match="lack a sentence"):
        appended(before, table("good,bad\n,y\nう,え\n"))
