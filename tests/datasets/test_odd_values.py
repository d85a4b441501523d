"""What spreadsheets and published files put in the place of a value: errors, invisible characters, missing scores."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from engine.datasets import sentence_pairs, xc_translate
from engine.datasets.formats.files import read_table
from engine.datasets.labelled import labelled_sentences
from engine.datasets.minimal_pairs import acquisition, options
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.pairs import from_table
from engine.datasets.rows import bare
from engine.datasets.vectors.files import _dimensions
from engine.errors import InputError
from engine.evaluations.metric_study.entities import accepted_forms
from engine.evaluations.shared.checkpoints import checkpoint_of, in_series
from tests.waiting import seconds


def test_invisible_characters_at_the_ends_of_labels_and_sentences_are_taken_off_with_a_notice() -> None:
    raw = "label,text\na,犬が鳴く。\nb,猫\u200bが鳴く。\n\ufeffa,\u200b鳥が鳴く。\u2060\nb,馬が走る。\n"
    dataset = labelled_sentences.from_table(read_table(raw.encode(), "a.csv"))
    assert dataset.labels == ("a", "b", "a", "b") and dataset.texts[1:3] == ("猫\u200bが鳴く。", "鳥が鳴く。")
    assert [notice for notice in dataset.notices if "cannot be seen in 'label' (taken off): 3" in notice]


def test_an_error_value_is_no_label() -> None:
    table = read_table("text,label\n犬,a\n猫,#N/A\n鳥,b\n".encode(), "a.csv")
    with pytest.raises(InputError) as caught:
        labelled_sentences.from_table(table)
    assert [(bad.row, bad.reason) for bad in caught.value.rows] == [
        (2, "'label' holds #N/A, a spreadsheet's error value")
    ]
    assert labelled_sentences.from_table(table, skip_bad_rows=True).labels == ("a", "b")


@pytest.mark.parametrize("missing", ["None", "NA", "nan", "", "null", "n/a", "#N/A", " NaN "])
def test_a_missing_score_is_none_and_said(missing: str) -> None:
    raw = f"reference,candidate,score\na,b,1.5\nc,d,{missing}\ne,f,3\n"
    dataset = sentence_pairs.from_table(read_table(raw.encode(), "a.csv"))
    assert dataset.human["score"][1] != dataset.human["score"][1] and dataset.human["score"][2] == 3
    assert any("lacks a score in 'score' (left out of correlations): 2" in notice for notice in dataset.notices)


@pytest.mark.parametrize(("yes", "no"), [("TRUE", "FALSE"), ("true", "false"), ("1.0", "0.0"), ("1", "0")])
def test_judgements_in_every_spelling(yes: str, no: str) -> None:
    dataset = from_table(read_table(f"sentence,label\n犬がいる。,{yes}\n犬をいる。,{no}\n".encode(), "a.csv"))
    assert dataset.labels == (True, False)


def test_judgements_of_json_and_of_items() -> None:
    rows = [{"item": "1", "sentence": "a", "label": True}, {"item": "1", "sentence": "b", "label": False}]
    raw = "\n".join(map(json.dumps, rows)).encode()
    dataset = from_table(read_table(raw, "a.jsonl"))
    assert (dataset.acceptable, dataset.unacceptable) == (("a",), ("b",))


def test_a_space_on_one_side_of_a_pair_is_noticed_and_kept() -> None:
    raw = b"good,bad\nIt is. ,It are.\nHe is.,He are.\nWe  are.,We is.\n"
    dataset = from_table(read_table(raw, "a.csv"))
    assert dataset.acceptable[0] == "It is. "
    assert any(notice.startswith("2 rows have a space at an end") and "1, 3" in notice for notice in dataset.notices)
    reading = b"reference,candidate\nIt is. ,It was.\nHe is.,He was.\n"
    assert any(
        "1 row has a space" in notice for notice in sentence_pairs.from_table(read_table(reading, "a.csv")).notices
    )


def test_fields_of_several_files_whose_headers_differ_in_case_are_one(tmp_path: Path) -> None:
    for name, title in (("a", str.lower), ("b", str.title)):
        lines = [
            json.dumps(
                {
                    "sentence_good": f"{name}{i}",
                    "sentence_bad": f"{name}{i}x",
                    title("phenomenon"): name,
                    title("paradigm"): "p",
                    "pair_ID": i,
                    "field": "syntax",
                }
            )
            for i in range(4)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    dataset = read_pairs([(f"{name}.jsonl", tmp_path / f"{name}.jsonl") for name in "ab"])
    assert dataset.format == "SLING" and dataset.fields["phenomenon"] == ("a",) * 4 + ("b",) * 4
    assert set(dataset.fields) == {"phenomenon", "paradigm", "field"} and dataset.categories == ("a",) * 4 + ("b",) * 4


@pytest.mark.parametrize(
    "names",
    [
        ["checkpoint 1M=/a/x", "checkpoint 10M=/a/y"],
        ["step 1,000=/a/x", "step 2,000=/a/y"],
        ["1M=/a/x", "10M=/a/y"],
        ["chck_1M=/a/x", "chck_10M=/a/y"],
        ["Small=owner/name@chck_1M", "Large=owner/name@chck_10M"],
    ],
)
def test_labels_and_revisions_that_name_a_step(names: list[str]) -> None:
    checkpoints = [checkpoint_of(name) for name in names]
    (series,) = in_series([found for found in checkpoints if found is not None]).values()
    assert [found.model for found in series] == names


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([str(i) for i in range(20)], "holds numbers in 20 of 20 rows"),
        ([json.dumps([i, "x"]) for i in range(20)], "holds lists or objects of JSON in 20 of 20 rows"),
        (["a", "b"] * 10, "holds 2 different texts in 20 rows, as labels do"),
    ],
)
def test_a_mapping_that_makes_sentences_of_something_else_is_refused(values: list[str], words: str) -> None:
    raw = "\n".join(["id\ttext\tlabel", *(f"{value}\t文{i}だ。\t{i % 2}" for i, value in enumerate(values))]).encode()
    table = read_table(raw, "a.tsv")
    for read, columns in (
        (labelled_sentences.from_table, {"text": "id"}),
        (sentence_pairs.from_table, {"reference": "id", "candidate": "text"}),
        (sentence_pairs.from_table, {"reference": "text", "candidate": "id"}),
        (from_table, {"acceptable": "id", "unacceptable": "text"}),
        (from_table, {"sentence": "id", "label": "label"}),
    ):
        with pytest.raises(InputError, match=rf"'id' would be read as sentences, and {re.escape(words)}"):
            read(table, columns)
    assert labelled_sentences.from_table(table).n == 20


def test_a_cell_of_characters_without_width_is_read_at_once() -> None:
    unseen = "\u200b\u2060" * 20_000
    assert seconds(lambda: bare(f"a{unseen}b")) < 1
    assert [bare(text) for text in (f"a{unseen}b", f"a{unseen}", f"{unseen}a\u200b\n")] == [f"a{unseen}b", "a", "a\n"]


@pytest.mark.parametrize("cell", ["[" * 100_000, f"[{'1' * 5_000}]"], ids=["nested", "long number"])
def test_a_cell_that_python_reads_as_no_json_is_none(cell: str) -> None:
    assert xc_translate._targets(cell) == [] and xc_translate._types(cell) == cell
    assert options._texts(cell) is None and acquisition._contexts(cell) is None and accepted_forms(cell) is None


def test_a_column_named_by_a_number_of_thousands_of_digits_is_no_dimension() -> None:
    assert _dimensions(pd.DataFrame([[0.5, 0.5]], columns=["d1", "d2"])) == ["d1", "d2"]
    assert _dimensions(pd.DataFrame([[0.5, 0.5]], columns=["d" + "1" * 5_000, "d2"])) == []
