"""The columns of a file without a role: kept, stored, hashed, and none of them lost or taken for one with a role."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.datasets import sentence_pairs
from engine.datasets.formats.files import read_table
from engine.datasets.labelled import labelled_sentences
from engine.datasets.masked import masked_sentences
from engine.datasets.minimal_pairs.files import joined, read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError

PAIRS = "id,reference,candidate,type,score,note\n7,雨だ,雪だ,天気,3,=1+1\n8,猫,犬,,,\n"
LABELLED = "text,date,label\n雨だ,1 May,天気\n試合,,運動\n"
MASKED = "text,label,domain,source\n雨だ,雨,天気,新聞\n"
READERS: dict[str, tuple[Callable[..., Any], str]] = {
    "pairs": (sentence_pairs.from_table, PAIRS),
    "labelled": (labelled_sentences.from_table, LABELLED),
    "masked": (masked_sentences.from_table, MASKED),
}


def read(kind: str, text: str = "") -> Any:
    reader, own = READERS[kind]
    return reader(read_table((text or own).encode(), "a.csv"))


@pytest.mark.parametrize(
    ("kind", "further"),
    [
        ("pairs", {"id": ("7", "8"), "note": ("=1+1", "")}),
        ("labelled", {"date": ("1 May", "")}),
        ("masked", {"source": ("新聞",)}),
    ],
)
def test_every_other_column_is_kept_and_comes_back_from_the_disk(
    kind: str, further: dict[str, tuple[str, ...]]
) -> None:
    dataset = read(kind)
    assert dict(dataset.further) == further
    again = type(dataset).from_frame(dataset.to_frame(), dataset.name)
    assert again == dataset and again.content_hash == dataset.content_hash


@pytest.mark.parametrize(
    ("kind", "text", "of_0_1"),
    [
        # Computed by version 0.1.0, which kept no further columns.
        (
            "pairs",
            "reference,candidate,type,score\n雨だ,雪だ,天気,3\n猫,犬,,\n",
            "7aee86937bb89b42ae1455e43bc3b221346484d86e1a950888788a617e6a5210",
        ),
        (
            "labelled",
            "text,label\n雨だ,天気\n試合,運動\n",
            "dafaddf3bab2f5172306f8b8ca31a8a017ade0f25281f7de1f4fbb0d1b559d02",
        ),
        (
            "masked",
            "text,label,domain\n雨だ,雨,天気\n",
            "b67106fa57572acc8c4cf04f680c6f28221efb9833b678ee373f5e2c97454144",
        ),
    ],
)
def test_without_them_the_hash_is_that_of_earlier_versions(kind: str, text: str, of_0_1: str) -> None:
    assert read(kind, text).content_hash == of_0_1


def test_the_hash_depends_on_them() -> None:
    assert read("labelled").content_hash != read("labelled", LABELLED.replace("1 May", "2 May")).content_hash


def test_a_file_of_the_dataset_s_own_frame_is_the_same_dataset() -> None:
    text = PAIRS.replace("note", "score2").replace("=1+1", "4")  # by its name a second human score
    dataset = sentence_pairs.from_table(read_table(text.encode(), "a.csv"), {"human": "score"})
    content = dataset.to_frame().drop(columns="row").to_csv(index=False).encode()
    assert read("pairs", content.decode()).content_hash == dataset.content_hash
    assert dict(dataset.further) == {"id": ("7", "8"), "score2": ("4", "")} and list(dataset.human) == ["score"]


def test_the_signature_of_an_export_is_no_column_of_the_input() -> None:
    text = "text,label,signature,other\na,x,0123456789,1\nb,y,0123456789,2\n"
    assert dict(read("labelled", text).further) == {"other": ("1", "2")}
    named = "text,label,signature\na,x,Ann\nb,y,Ben\n"
    assert dict(read("labelled", named).further) == {"signature": ("Ann", "Ben")}


def test_minimal_pairs_have_the_columns_of_their_rows_but_the_sentences() -> None:
    lines = '{"sentence_good": "a b", "sentence_bad": "a c", "UID": "u", "one_prefix": true, "n": 1.50}\n'
    pairs = read_pairs([("a.jsonl", lines.encode())])
    assert pairs.further == {"UID": ("u",), "one_prefix": ("true",), "n": ("1.50",)}


def test_of_several_files_each_column_is_there_once_and_empty_where_a_file_lacks_it() -> None:
    pairs = read_pairs([("a.csv", b"good,bad,topic\na,b,x\n"), ("b.csv", b"good_sentence,bad_sentence,id\nc,d,9\n")])
    assert pairs.further == {"topic": ("x", ""), "id": ("", "9")}
    typed = MinimalPairs("typed", ("e",), ("f",), ("k",), (1,), {"topic": ("z",)})
    assert joined([pairs, typed]).further == {"topic": ("x", "", "z"), "id": ("", "9", "")}


@pytest.mark.parametrize(
    ("kind", "text", "columns"),
    [
        ("pairs", "reference,candidate,human:score,score\n雨だ,雪だ,1,2\n", "'human:score' and 'score'"),
        ("pairs", "reference,candidate,note,column:note\n雨だ,雪だ,a,b\n", "'note' and 'column:note'"),
        ("labelled", "text,label,column:note,note\n雨だ,天気,a,b\n負け,試合,a,b\n", "'column:note' and 'note'"),
    ],
)
def test_columns_of_one_name_without_their_prefixes_are_refused(kind: str, text: str, columns: str) -> None:
    with pytest.raises(InputError, match=f"The columns {columns} would both be called"):
        read(kind, text)


def test_pairs_that_differ_in_them_alone_are_two_datasets() -> None:
    assert read("pairs").content_hash != read("pairs", PAIRS.replace("=1+1", "=1+2")).content_hash
