"""A subset of minimal pairs as a file again: every key and value as it came, and readable as what it was."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pytest

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.export import export_pairs
from engine.datasets.minimal_pairs.files import joined, read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from engine.errors import InputError
from tests.support.shared_data import shared_data

LINES = (
    '{"sentence_good": "A.", "sentence_bad": "B.", "UID": "u", "simple_LM_method": true, "pairID": "0"}',
    '{"sentence_bad":"D\\u00e9.", "sentence_good":"C.",   "weight": 1.50, "UID": null, "tags": ["x", {"y": 1}]}',
    '{"sentence_good": "E 猫", "sentence_bad": "F", "UID": "v"}',
)


def test_json_lines_come_back_letter_by_letter() -> None:
    dataset = from_table(read_table("\n".join((LINES[0], "", *LINES[1:])).encode(), "causative.jsonl"))
    assert dataset.rows == (1, 3, 4)
    file = export_pairs(dataset, [4, 3], "fair")
    assert (file.name, file.mime) == ("causative-fair.jsonl", "application/jsonl")
    assert file.content.decode() == f"{LINES[1]}\n{LINES[2]}\n"


def test_a_json_list_comes_back_as_one_with_its_types() -> None:
    raw = json.dumps([json.loads(line) for line in LINES]).encode()
    file = export_pairs(from_table(read_table(raw, "pairs.json")), [1, 2])
    assert file.name == "pairs-subset.json"
    assert json.loads(file.content) == [json.loads(line) for line in LINES[:2]]


@pytest.mark.parametrize(("separator", "suffix"), [(",", "csv"), ("\t", "tsv")])
def test_tables_keep_columns_and_texts(separator: str, suffix: str) -> None:
    header = ["", "sent_more", "sent_less", "stereo_antistereo", "bias_type"]
    rows = [
        ["0", "a, b", 'say "c"', "stereo", "age"],
        ["1", "d", " e ", "antistereo", "race"],
        ["2", "f", "g", "stereo", "  age"],
    ]
    sink = io.StringIO(newline="")
    csv.writer(sink, delimiter=separator, lineterminator="\n").writerows([header, *rows])
    file = export_pairs(from_table(read_table(sink.getvalue().encode(), f"crows.{suffix}")), [1, 3], "fair")
    assert file.name == f"crows-fair.{suffix}"
    assert list(csv.reader(io.StringIO(file.content.decode()), delimiter=separator)) == [header, rows[0], rows[2]]


def test_a_workbook_comes_back_as_one_and_runs_no_formula() -> None:
    first = export_pairs(
        MinimalPairs(
            "x",
            ("=1+1",),
            ("b",),
            ("",),
            (1,),
            file_formats=("excel",),
            sources=("x.xlsx",),
            formats=("two sentence columns",),
            originals=('{"good": "=1+1", "bad": "b"}',),
        ),
        [1],
    )
    assert first.name == "x-subset.xlsx"
    again = from_table(read_table(first.content, first.name))
    assert (again.acceptable, again.unacceptable) == (("=1+1",), ("b",))


def test_several_files_come_as_a_zip_of_those_that_have_any() -> None:
    one, two, three = (
        from_table(read_table(raw, name))
        for raw, name in (
            (LINES[0].encode(), "data/a.jsonl"),
            (b"good,bad\nc,d\n", "b.csv"),
            (b"good,bad\ne,f\n", "c.csv"),
        )
    )
    dataset = joined([one, two, three])
    file = export_pairs(dataset, [1, 3], "fair")
    assert file.name == "minimal-pairs-fair.zip"
    with zipfile.ZipFile(io.BytesIO(file.content)) as archive:
        assert archive.namelist() == ["data/a-fair.jsonl", "c-fair.csv"]
        assert archive.read("data/a-fair.jsonl").decode() == f"{LINES[0]}\n"
    assert export_pairs(dataset, [1, 3], "fair") == file  # the same bytes again
    assert set(read_pairs([(file.name, file.content)]).acceptable) == {"A.", "e"}  # a zip is read by names
    assert export_pairs(dataset, [2]).name == "b-subset.csv"


def test_pairs_from_no_file_come_as_csv() -> None:
    typed = MinimalPairs("typed pairs", ("a", "c"), ("b", "d"), ("x", ""), (1, 2), {"level": ("easy", "hard")})
    file = export_pairs(typed, [2])
    assert file.name == "typed pairs-subset.csv"
    assert file.content.decode() == "acceptable,unacceptable,category,level\nc,d,,hard\n"
    mixed = joined([from_table(read_table(b"good,bad\nc,d\n", "one.csv")), typed])
    with zipfile.ZipFile(io.BytesIO(export_pairs(mixed, mixed.rows).content)) as archive:
        assert archive.namelist() == ["one-subset.csv", "typed pairs-subset.csv"]


def test_nothing_to_export_is_said() -> None:
    with pytest.raises(InputError, match="None of the 1 pair is in the subset"):
        export_pairs(MinimalPairs("x", ("a",), ("b",), ("",), (1,)), [5])


def test_published_files_come_back_as_they_are() -> None:
    path = shared_data("blimp", "causative.jsonl")
    dataset = from_table(read_table(path))
    assert export_pairs(dataset, dataset.rows).content == path.read_bytes().rstrip(b"\n") + b"\n"
    path = shared_data("crows_pairs_fr", "crows_french.csv")
    dataset = from_table(read_table(path))
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    found = list(csv.reader(io.StringIO(export_pairs(dataset, dataset.rows).content.decode(), newline="")))
    assert found == [rows[0], *(rows[row] for row in dataset.rows)]
