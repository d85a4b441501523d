"""The data of a bundle: a command that reads them evaluates what the run evaluated."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pandas as pd
import pytest
from openpyxl import Workbook

from dashboard.shared.exports.bundle.data import DataFile, data_file, name_and_options
from engine.datasets import sentence_pairs
from engine.datasets.formats.files import read_table
from engine.datasets.labelled import labelled_sentences
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.masked import masked_sentences
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.datasets.minimal_pairs.files import joined, read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (
            sentence_pairs.from_table,
            "reference,ref2,candidate,type,anna,score,note\n雨だ,,雪だ,天気,5,3,=1\n猫,ね,犬,,,2,x\n",
        ),
        (labelled_sentences.from_table, "text,label,note\n雨だ,天気,=1\n試合,運動,\n"),
        (masked_sentences.from_table, "text,label,domain,note\n雨だ,雨,天気,n\n"),
    ],
)
def test_data_are_read_as_they_were(reader, text: str) -> None:  # type: ignore[no-untyped-def]
    dataset = reader(read_table(text.encode(), "mine.csv"))
    name, content, _ = data_file(dataset)
    again = reader(read_table(content, name))
    assert name == "data.csv" and again.content_hash == dataset.content_hash and again.further == dataset.further


def test_the_word_that_is_masked_is_the_one_that_was() -> None:
    dataset = MaskedSentences("d", ("本と本",), ("本",), (2,), ("",), (1,))
    again = masked_sentences.from_table(read_table(data_file(dataset).content, "data.csv"))
    assert (again.texts, again.starts) == (dataset.texts, dataset.starts)


def test_minimal_pairs_keep_their_file() -> None:
    lines = b'{"sentence_good": "a b", "sentence_bad": "a c", "UID": "u"}\n'
    pairs = read_pairs([("passive.jsonl", lines)])
    name, content, _ = data_file(pairs)
    assert name == "passive.jsonl" and content == lines
    both = joined([pairs, read_pairs([("b.csv", b"good,bad\nd,e\n")])])
    name, content, _ = data_file(both)
    assert read_pairs([(name, content)]).acceptable == both.acceptable


def test_minimal_pairs_whose_columns_were_chosen_by_hand_get_names_that_are_recognised() -> None:
    pairs = read_pairs(
        [("mine.csv", "x,y,note\n猫がいる,猫をいる,n\n".encode())], {"acceptable": "x", "unacceptable": "y"}
    )
    name, content, _ = data_file(pairs, by_names_alone=True)
    again = read_pairs([(name, content)])
    assert (again.acceptable, again.unacceptable) == (pairs.acceptable, pairs.unacceptable)
    assert again.further["note"] == ("n",)
    typed = MinimalPairs("typed", ("a",), ("b",), ("k",), (1,))
    assert read_pairs([data_file(typed)[:2]]).categories == ("k",)


JUDGED = "sentence,label,phenomenon,mine\n" + "".join(f"猫が{i}匹いる,{i % 2},p{i % 3},m{i % 2}\n" for i in range(30))
COLA = "gj04\t1\t\tOur friends buy.\ngj05\t0\t*\tOne more pseudo.\n"
CUT = "item,condition,region_1,region_2,kind\n1,a,猫が,寝た,x\n1,b,猫に,寝た,x\n2,a,犬が,寝た,y\n2,b,犬に,寝た,y\n"
UNCUT = "item,condition,sentence\n1,a,the cat sat\n1,b,the cat sit\n"


@pytest.mark.parametrize(
    ("texts", "columns", "is_same"),
    [
        ({"j.csv": JUDGED}, None, True),
        ({"j.csv": JUDGED}, {"category": "mine"}, True),
        ({"j.csv": JUDGED}, {"category": ""}, True),
        ({"in_domain.tsv": COLA}, None, True),
        ({"j.csv": JUDGED, "in_domain.tsv": COLA}, None, False),  # an archive has other names in another order
        ({"cut.csv": CUT}, None, True),
        ({"cut.csv": CUT}, {"category": "kind"}, True),
        ({"u.csv": UNCUT}, None, True),
        ({"u.csv": UNCUT, "cut.csv": CUT}, None, False),
    ],
)
def test_single_sentences_are_read_as_they_were(
    texts: dict[str, str], columns: dict[str, str] | None, is_same: bool
) -> None:
    dataset = read_pairs([(name, text.encode()) for name, text in texts.items()], columns)
    for by_names_alone in (False, True):
        file = data_file(dataset, by_names_alone=by_names_alone)
        again = read_pairs([(file.name, file.content)], None if by_names_alone else options(file))

        def contents(of: MinimalPairs) -> list[tuple[object, ...]]:
            labels = of.labels or (None,) * of.n
            return sorted(zip(of.acceptable, of.unacceptable, of.categories, labels, strict=True))

        assert contents(again) == contents(dataset) and again.data_kind is dataset.data_kind
        if is_same and not by_names_alone:
            assert again.content_hash == dataset.content_hash


def options(file: DataFile) -> dict[str, str]:
    return dict(word.split("=", 1) for word in file.columns[1::2])


HEADS = b"x,y,phenomenon,mine\n"


@pytest.mark.parametrize(
    ("sources", "columns"),
    [
        ([("a.csv", HEADS + b"good,bad,p,q\n")], {"acceptable": "x", "unacceptable": "y", "category": "mine"}),
        ([("a.csv", HEADS + b"good,bad,p,q\n")], {"acceptable": "x", "unacceptable": "y", "category": ""}),
        ([("a.csv", b"good,bad,phenomenon,mine\na b,b a,p,q\n")], {"category": "mine"}),
        (
            [("a.csv", HEADS + b"a b,b a,p,q\n"), ("b.jsonl", b'{"x": "c d", "y": "d c", "mine": "r"}\n')],
            {"acceptable": "x", "unacceptable": "y", "category": "mine"},
        ),
        # The categories differ from those of the recognised column in the last row alone.
        ([("a.csv", b"good,bad,phenomenon,mine\n" + b"a b,b a,p,p\n" * 30 + b"a b,b a,p,q\n")], {"category": "mine"}),
    ],
)
def test_minimal_pairs_with_columns_chosen_by_hand_are_read_as_they_were(
    sources: list[tuple[str, bytes]], columns: dict[str, str]
) -> None:
    pairs = read_pairs(sources, columns)
    file = data_file(pairs)
    again = read_pairs([file[:2]], options(file))
    assert again.content_hash == pairs.content_hash and again.sources == pairs.sources
    recognised = read_pairs([data_file(pairs, by_names_alone=True)[:2]])
    assert (recognised.acceptable, recognised.unacceptable) == (pairs.acceptable, pairs.unacceptable)


def test_a_column_with_a_known_name_does_not_take_the_place_of_the_category() -> None:
    typed = MinimalPairs(
        "typed",
        ("a", "c"),
        ("b", "d"),
        ("k", "l"),
        (1, 2),
        {"phenomenon": ("p", "q"), "acceptable": ("1", "2"), "signature": ("s", "t")},
    )
    file = data_file(typed)
    again = read_pairs([file[:2]], options(file))
    assert again.categories == typed.categories and again.acceptable == typed.acceptable
    assert {"phenomenon", "column:acceptable", "column:signature"} < set(again.further)


NASTY = ["=1+1", " =1", "\u3000＝1", "\n=x", "'=x", "''＠", "'tis", "-", "a\r\nb", "＿"]


def test_no_data_run_as_a_formula_and_all_come_back() -> None:
    texts, labels = tuple(NASTY), tuple("xy" * (len(NASTY) // 2))
    numbers = tuple(range(1, len(NASTY) + 1))
    labelled = LabelledSentences("d", texts, labels, numbers, further={"=note": texts, "signature": texts})
    content = data_file(labelled).content
    again = labelled_sentences.from_table(read_table(content, "data.csv"))
    assert again.content_hash == labelled.content_hash
    for row in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")):
        assert not [cell for cell in row if cell.lstrip("\n\u3000 ").startswith(("=", "＝", "-", "＠"))]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "xlsx"])
def test_a_file_of_minimal_pairs_comes_back_with_its_formulas(ending: str) -> None:
    rows = [{"good": f"{text}a", "bad": f"{text}b", "=note": text} for text in NASTY]
    if ending == "xlsx":
        book = Workbook()
        for cells in ([*rows[0]], *([*row.values()] for row in rows[:1] + rows[4:5])):
            book.active.append([f"'{cell}" if cell.startswith("=") else cell for cell in cells])
        book.save(sink := io.BytesIO())
        raw = sink.getvalue()
    elif ending == "jsonl":
        raw = "".join(json.dumps(row) + "\n" for row in rows).encode()
    else:
        text = pd.DataFrame(rows).to_csv(index=False, sep="," if ending == "csv" else "\t", quoting=csv.QUOTE_ALL)
        raw = text.encode()
    pairs = read_pairs([(f"a.{ending}", raw)])
    file = data_file(pairs)
    again = read_pairs([file[:2]])
    assert again.content_hash == pairs.content_hash and again.further == pairs.further
    if ending in ("csv", "tsv"):
        for cells in csv.reader(
            io.StringIO(file.content.decode(), newline=""), delimiter="," if ending == "csv" else "\t"
        ):
            assert not [cell for cell in cells if cell.lstrip("\n\u3000 ").startswith(("=", "＝", "＠"))]


@pytest.mark.parametrize(("before", "after"), [("＿", "だ"), ("本", "＿だ"), ("＿", "＿"), ("[MA", "SK]")])
def test_the_mask_beside_full_width_underscores_is_read_back(before: str, after: str) -> None:
    dataset = MaskedSentences("d", (f"{before}本{after}",), ("本",), (len(before),), ("",), (1,))
    again = masked_sentences.from_table(read_table(data_file(dataset).content, "data.csv"))
    assert again.content_hash == dataset.content_hash


def test_running_text_is_written_as_it_is_read_back() -> None:
    with zipfile.ZipFile(archive := io.BytesIO(), "w") as packed:
        packed.writestr("novel/a.txt", "=一行目\n二行目、三。")
        packed.writestr("essay/b.txt", 'He said: "no", and left.')
    for name, content, columns in (
        ("texts.csv", "text,category,id\n一つ目。,甲,a\n二つ目。,乙,b\n".encode(), {}),
        ("texts.jsonl", '{"document": "一つ目。\\n続き。", "n": 1}\n{"document": "二つ目。", "n": 2}\n'.encode(), {}),
        ("one.txt", "一行目\n\n二行目".encode(), {}),
        ("corpus.zip", archive.getvalue(), {}),
        ("judged.csv", "sentence,label,kind\n一つ目。,1,甲\n二つ目。,0,乙\n".encode(), {"text": "sentence"}),
        ("own.csv", "words,label\n一つ目。,1\n二つ目。,0\n".encode(), {"text": "words", "category": "label"}),
    ):
        dataset = read_pairs([(name, content)], columns)
        file = data_file(dataset)
        chosen = dict(option.split("=", 1) for option in file.columns if option != "--column")
        again = read_pairs([(file.name, file.content)], chosen)
        for what in ("data_kind", "acceptable", "unacceptable", "categories"):
            assert getattr(again, what) == getattr(dataset, what), (name, what)
        assert name_and_options(dataset) == (file.name, file.columns)
