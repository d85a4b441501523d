"""Masked sentences from tables: masks and labels, bad rows, and the sample."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.datasets import sample_data
from engine.datasets.formats.files import Table, paste_table, read_table
from engine.datasets.masked.masked_sentences import (
    MaskedSentences,
    from_table,
    guess_columns,
    insert_label,
    single_sentence,
)
from engine.errors import InputError
from engine.language.nouns import common_nouns


def table(text: str) -> Table:
    return read_table(text.encode(), "mine.csv")


@pytest.mark.parametrize("mask", ["[MASK]", "[mask]", "<mask>", "<MASK>", "＿＿", "＿＿＿＿"])
def test_the_label_takes_the_place_of_a_mask(mask: str) -> None:
    dataset = from_table(table(f"text,label,domain\n本の中の{mask}だ, 本 ,読書\n"))
    assert dataset.texts == ("本の中の本だ",) and dataset.labels == ("本",) and dataset.domains == ("読書",)
    assert dataset.starts == (4,)  # where the mask stood, not where 本 first occurs
    assert dataset.parts == (("本の中の", "本", "だ"),)


def test_without_a_mask_the_first_occurrence_is_masked() -> None:
    dataset = from_table(table("文,ラベル,分野\n本と本,本,a\n日本の本,本,b\n"))
    assert dataset.starts == (0, 1)
    assert dataset.parts == (("", "本", "と本"), ("日", "本", "の本"))


def test_the_domain_is_optional_and_the_columns_can_be_named() -> None:
    named = table("s,w\n雨が降る,雨\n")
    assert guess_columns(named) == {"text": None, "label": None, "domain": None}
    assert from_table(named, {"text": "s", "label": "w"}).domains == ("",)
    with pytest.raises(InputError, match="lacks a needed column: 'text'"):
        from_table(named)


def test_every_bad_row_is_listed_with_its_reason() -> None:
    rows = ["雨が降る,雨", ",雨", "雨が降る,", "雨が降る,雪", "[MASK]と＿＿,雨", " ,\u3000"]
    with pytest.raises(InputError, match="5 of 6 rows cannot be masked") as caught:
        from_table(table("text,label\n" + "\n".join(rows)))
    assert [(bad.row, bad.reason) for bad in caught.value.rows] == [
        (2, "'text' is empty"),
        (3, "'label' is empty"),
        (4, "'text' holds neither a mask nor the label '雪'"),
        (5, "'text' holds 2 masks, and one word is masked"),
        (6, "'text' holds only spaces and 'label' is empty"),
    ]


def test_pasted_lines_and_repeated_rows() -> None:
    dataset = from_table(paste_table("雨が降る\t雨\n雨が降る\t雨\n雨が降る\t降る", ["text", "label"]))
    assert dataset.n == len(dataset) == 3
    assert dataset.notices == ("1 row repeats an earlier sentence and word (kept): 2.",)


def test_a_frame_and_back_keep_the_content() -> None:
    dataset = from_table(table("text,label,domain\n本の中の[MASK],本,a\n雨が降る,雨,\n"))
    again = MaskedSentences.from_frame(dataset.to_frame(), "other name")
    assert again.content_hash == dataset.content_hash and again.starts == dataset.starts
    assert list(dataset.to_frame().columns) == ["row", "text", "label", "start", "domain"]
    # Another occurrence of the same word is another question.
    first = MaskedSentences.from_frame(dataset.to_frame().assign(start=[0, 0]), "x")
    assert first.content_hash != dataset.content_hash
    assert MaskedSentences.from_frame(pd.DataFrame({"text": ["日本"], "label": ["本"]}), "x").starts == (1,)
    for bad in ({"start": [1, 0]}, {"start": [-1, 0]}, {"label": ["", ""]}):
        with pytest.raises(InputError, match="must say where each label is"):
            MaskedSentences.from_frame(dataset.to_frame().assign(**bad), "x")


@given(
    st.text(st.sampled_from("本雨のが。 "), min_size=1, max_size=8),
    st.text(st.sampled_from("本雨"), min_size=1, max_size=2),
)
def test_the_parts_are_the_sentence(text: str, label: str) -> None:
    whole, start = insert_label(f"{text}[MASK]{text}", label)
    before, word, after = MaskedSentences("n", (whole,), (label,), (start,), ("",), (1,)).parts[0]
    assert (before, word, after) == (text, label, text)


def test_one_typed_sentence() -> None:
    dataset = single_sentence("庭の＿＿が鳴く", " 鳥 ", "自然", "typed")
    assert dataset.parts == (("庭の", "鳥", "が鳴く"),) and dataset.rows == (1,)
    for text, word, reason in (
        ("庭の鳥", "犬", "neither a mask nor"),
        ("", "犬", "the sentence is empty"),
        ("庭の＿＿", "", "the word is empty"),
    ):
        with pytest.raises(InputError, match=reason):
            single_sentence(text, word, "", "typed")


def test_the_sample_is_three_domains_of_eight_nouns_in_five_sentences() -> None:
    dataset = sample_data.masked_sentences()
    counted = pd.Series(list(zip(dataset.domains, dataset.labels, strict=True))).value_counts()
    assert dataset.n == 120 and len(counted) == 24 and set(counted) == {5} and len(set(dataset.texts)) == 120
    assert dataset.notices == () and dataset.name == "sample masked sentences"
    assert len({domain for domain, _ in counted.index}) == 3
    for text, label, start in zip(dataset.texts, dataset.labels, dataset.starts, strict=True):
        assert (start, start + len(label)) in common_nouns(text), text
        assert text.endswith("。") and 12 <= len(text) <= 40
