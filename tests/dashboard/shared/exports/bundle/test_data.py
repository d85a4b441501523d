"""The data of a bundle: a command that reads them evaluates what the run evaluated."""

from __future__ import annotations

import pytest

from dashboard.shared.exports.bundle.data import data_file
from engine.datasets import sentence_pairs
from engine.datasets.formats.files import read_table
from engine.datasets.labelled import labelled_sentences
from engine.datasets.masked import masked_sentences
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.datasets.minimal_pairs.files import joined, read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs


@pytest.mark.parametrize(("reader", "text"), [
    (sentence_pairs.from_table,
     "reference,ref2,candidate,type,anna,score,note\n雨だ,,雪だ,天気,5,3,=1\n猫,ね,犬,,,2,x\n"),
    (labelled_sentences.from_table, "text,label,note\n雨だ,天気,=1\n試合,運動,\n"),
    (masked_sentences.from_table, "text,label,domain,note\n雨だ,雨,天気,n\n"),
])
def test_data_are_read_as_they_were(reader, text: str) -> None:  # type: ignore[no-untyped-def]
    dataset = reader(read_table(text.encode(), "mine.csv"))
    name, content = data_file(dataset)
    again = reader(read_table(content, name))
    assert name == "data.csv" and again.content_hash == dataset.content_hash and again.further == dataset.further


def test_the_word_that_is_masked_is_the_one_that_was() -> None:
    dataset = MaskedSentences("d", ("本と本",), ("本",), (2,), ("",), (1,))
    again = masked_sentences.from_table(read_table(data_file(dataset).content, "data.csv"))
    assert (again.texts, again.starts) == (dataset.texts, dataset.starts)


def test_minimal_pairs_keep_their_file() -> None:
    lines = b'{"sentence_good": "a b", "sentence_bad": "a c", "UID": "u"}\n'
    pairs = read_pairs([("passive.jsonl", lines)])
    name, content = data_file(pairs)
    assert name == "passive-data.jsonl" and content == lines
    both = joined([pairs, read_pairs([("b.csv", b"good,bad\nd,e\n")])])
    name, content = data_file(both)
    assert read_pairs([(name, content)]).acceptable == both.acceptable


def test_minimal_pairs_whose_columns_were_chosen_by_hand_get_names_that_are_recognised() -> None:
    pairs = read_pairs([("mine.csv", "x,y,note\n猫がいる,猫をいる,n\n".encode())],
                       {"acceptable": "x", "unacceptable": "y"})
    name, content = data_file(pairs)
    again = read_pairs([(name, content)])
    assert (again.acceptable, again.unacceptable) == (pairs.acceptable, pairs.unacceptable)
    assert again.further["note"] == ("n",)
    typed = MinimalPairs("typed", ("a",), ("b",), ("k",), (1,))
    assert read_pairs([data_file(typed)]).categories == ("k",)
