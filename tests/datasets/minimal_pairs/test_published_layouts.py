"""engine.datasets.minimal_pairs.layouts: benchmarks told by all their columns, and files that only look like them."""

from __future__ import annotations

import csv
import io
import zipfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest

from engine.datasets.formats.files import Table, read_table
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.layouts import FORMATS, OTHER
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table, guess_columns
from engine.datasets.minimal_pairs.published_rows import originals
from engine.errors import InputError
from tests.support.shared_data import shared_data

# The headers as published; the sentences below are of our own writing.
RUBLIMP = (
    "id",
    "source_sentence",
    "target_sentence",
    "source_word",
    "target_word",
    "level",
    "phenomenon",
    "PID",
    "subtype",
    "domain",
    "tree_depth",
)
TURBLIMP = ("good_sentence", "bad_sentence", "good_cue", "bad_cue", "critical_region", "phenomenon")
BLIMP_NL = (
    "linguistic_phenomenon",
    "paradigm",
    "item_id",
    "sentence_good",
    "sentence_bad",
    "critical_word",
    "cue_word",
)
JBLIMP = ("type", "phenomenon", "phenomenon-2", "paradigm", "good_sentence", "bad_sentence")
LINGUISTIC_INQUIRY = (
    "Bad ID",
    "Good ID",
    "Bad Sentence",
    "Good Sentence",
    "Bad Sentence Gold Judgment",
    "Bad Sentence LS",
    "Good Sentence LS",
    "Bad Sentence ME",
    "Good Sentence ME",
    "Bad Sentence FC Mean",
)
ZHOBLIMP = ("UID", "phenomenon", "sentence_good", "sentence_bad", "pairID")


def file_of(header: Iterable[str], n: int = 4, delimiter: str = ",") -> bytes:
    """A table of n rows: each cell is its column's name, and its row's number but in columns that group pairs."""
    names, text = list(header), io.StringIO()
    groups = {"phenomenon", "linguistic_phenomenon", "paradigm", "PID", "subtype", "level", "domain", "UID"}
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([names, *([name if name in groups else f"{name} {i}" for name in names] for i in range(n))])
    return text.getvalue().encode()


def table_of(header: Iterable[str], delimiter: str = ",") -> Table:
    return read_table(file_of(header, delimiter=delimiter), "pairs.csv")


@pytest.mark.parametrize(
    ("name", "header", "sentences", "category"),
    [
        ("RuBLiMP", RUBLIMP, ("source_sentence", "target_sentence"), "phenomenon"),
        ("TurBLiMP", TURBLIMP, ("good_sentence", "bad_sentence"), "phenomenon"),
        ("MultiBLiMP", ("sen", "wrong_sen"), ("sen", "wrong_sen"), ""),
        ("BLiMP-NL", BLIMP_NL, ("sentence_good", "sentence_bad"), "linguistic_phenomenon"),
        ("JBLiMP", JBLIMP, ("good_sentence", "bad_sentence"), "phenomenon"),
        ("Linguistic Inquiry", LINGUISTIC_INQUIRY, ("Good Sentence", "Bad Sentence"), ""),
        ("ZhoBLiMP", ZHOBLIMP, ("sentence_good", "sentence_bad"), "phenomenon"),
        ("BLiMP", ZHOBLIMP[:-1], ("sentence_good", "sentence_bad"), "phenomenon"),
    ],
)
def test_a_published_header_gives_its_layout(
    name: str, header: tuple[str, ...], sentences: tuple[str, str], category: str
) -> None:
    pairs = from_table(table_of(header))
    assert (pairs.format, pairs.acceptable[1], pairs.unacceptable[3]) == (
        name,
        f"{sentences[0]} 1",
        f"{sentences[1]} 3",
    )
    assert pairs.categories == (category,) * 4
    assert set(pairs.fields) >= set(header).intersection(("PID", "phenomenon", "paradigm", "linguistic_phenomenon"))
    assert not set(pairs.fields) & set(FORMATS[name].hidden)
    assert from_table(table_of(header), guess_columns(table_of(header))) == pairs


@pytest.mark.parametrize("name", [name for name, layout in FORMATS.items() if layout.marks])
def test_a_file_that_lacks_any_mark_is_not_the_benchmark(name: str) -> None:
    layout = FORMATS[name]
    for absent in layout.marks:
        header = [*layout.sentences, *(mark for mark in layout.marks if mark != absent)]
        chosen = dict(zip(("acceptable", "unacceptable"), layout.sentences, strict=True))
        assert from_table(table_of(header), chosen).format != name


def test_source_and_target_of_a_translation_are_not_guessed_as_minimal_pairs() -> None:
    """The names of RuBLiMP's sentences are those of many parallel corpora: only its other columns tell."""
    table = table_of(("id", "source_sentence", "target_sentence", "domain"))
    assert guess_columns(table) == {"acceptable": None, "unacceptable": None, "category": None}
    with pytest.raises(InputError, match="lacks a needed column"):
        from_table(table)
    chosen = {"acceptable": "source_sentence", "unacceptable": "target_sentence"}
    assert from_table(table, chosen).format == OTHER


def test_names_that_say_which_sentence_is_which_come_before_a_layout() -> None:
    guessed = guess_columns(table_of(("acceptable", "unacceptable", "sen", "wrong_sen")))
    assert (guessed["acceptable"], guessed["unacceptable"]) == ("acceptable", "unacceptable")


def test_published_linguistic_inquiry_is_not_jblimp() -> None:
    """Its sentences are called as JBLiMP's; its judgement in the journal sorts the pairs."""
    pairs = from_table(read_table(shared_data("linguistic_inquiry", "linguistic_inquiry_data.csv")))
    assert (pairs.format, pairs.n) == ("Linguistic Inquiry", 725)
    assert {name: set(values) for name, values in pairs.fields.items()} == {
        "Bad Sentence Gold Judgment": {"*", "?*", "??", "??(*)"}
    }


def test_a_stored_dataset_keeps_the_layout_that_it_was_read_as() -> None:
    """Linguistic Inquiry was called JBLiMP before it had a row of its own."""
    pairs = from_table(table_of(LINGUISTIC_INQUIRY))
    earlier = replace(pairs, formats=("JBLiMP",) * pairs.n)
    again = MinimalPairs.from_frame(earlier.to_frame(), earlier.name)
    assert again.format == "JBLiMP" and again == earlier and again.content_hash == earlier.content_hash


def test_the_files_of_turblimp_as_their_repository_holds_them() -> None:
    """16 phenomena (README of the repository), a file each, the cells separated by semicolons."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        for i in range(16):
            content = file_of(TURBLIMP, n=10, delimiter=";").replace(b";phenomenon\n", f";phenomenon {i}\n".encode())
            header = ";".join(TURBLIMP).encode()
            zipped.writestr(f"data/augmented/augmented_{i}.csv", header + content[content.index(b"\n") :])
    pairs = read_pairs([("turblimp.zip", archive.getvalue())])
    assert pairs.format == "TurBLiMP" and pairs.n == 160
    assert Counter(pairs.categories) == {f"phenomenon {i}": 10 for i in range(16)}


@pytest.mark.parametrize(
    ("paradigm", "phenomenon"),
    [
        ("anaphor_agreement_gender", "Anaphor Agreement"),
        ("negative_concord", "Negation"),
        ("single_verb_tense", "Tense"),
    ],
)
def test_published_rublimp_has_1000_pairs_of_each_paradigm(paradigm: str, phenomenon: str) -> None:
    """45 paradigms of 1,000 pairs each (Taktasheva et al. 2024); source is the grammatical sentence."""
    pairs = from_table(read_table(shared_data("rublimp", f"{paradigm}.csv")))
    assert (pairs.n, pairs.format, set(pairs.categories)) == (1000, "RuBLiMP", {phenomenon})
    assert set(pairs.fields) >= {"level", "phenomenon", "PID", "subtype", "domain"}
    assert set(pairs.fields["PID"]) == {paradigm}


def test_published_rublimp_takes_the_source_for_the_grammatical_sentence() -> None:
    pairs = from_table(read_table(shared_data("rublimp", "single_verb_tense.csv")))
    assert (pairs.acceptable[0], pairs.unacceptable[0]) == (
        "Он только что купил эттот дом.",
        "Он только что купит эттот дом.",
    )


def test_rows_of_a_json_file_are_as_spelled_in_whatever_order_they_are_used() -> None:
    rows = ['{"a": "1"}', '{"a":  "2"}', '{"a": "3.0"}']
    table = read_table("\n".join(rows).encode(), "a.jsonl")
    for places in ([0, 2], [2, 0], [1, 1]):
        assert list(originals(table, table.frame.iloc[places])) == [rows[place] for place in places]
