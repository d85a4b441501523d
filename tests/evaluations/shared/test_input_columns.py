"""Columns of the input appended to a table of its rows: each value in its row, names that collide with a prefix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from engine.datasets.formats.files import read_table
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.sentence_pairs import from_table
from engine.evaluations.alignment.records import PAIR_FILE, PAIR_SCORES
from engine.evaluations.classification.records import SENTENCES
from engine.evaluations.minimal_pairs.files import PAIR_FILE as MINIMAL_PAIR_FILE
from engine.evaluations.shared.input_columns import all_with_input, with_input

PAIRS = from_table(
    read_table("id,reference,ref2,candidate,type,score,f1\n7,雨だ,雨,雪だ,天気,3,a\n8,猫,,犬,,,b\n".encode(), "a.csv")
)


def scores(rows: list[int], model: str = "m") -> pd.DataFrame:
    numbers = [0.5] * 8
    return PAIR_SCORES.frame([(model, row, *numbers, 1) for row in rows])


def test_each_value_stands_beside_its_row_and_the_promised_columns_come_first() -> None:
    table = with_input(PAIR_FILE, pd.concat([scores([2, 1]), scores([2], "n")], ignore_index=True), PAIRS)
    assert list(table)[:10] == PAIR_SCORES.headers[: PAIR_SCORES.promised]
    assert list(table)[11:] == ["reference", "candidate", "category", "reference 2", "human:score", "id", "column:f1"]
    assert table["reference"].tolist() == ["猫", "雨だ", "猫"] and table["id"].tolist() == ["8", "7", "8"]
    assert table["column:f1"].tolist() == ["b", "a", "b"] and table["f1"].tolist() == [0.5] * 3
    assert np.isnan(table["human:score"][0]) and table["human:score"][1] == 3
    assert list(PAIR_FILE.arranged(table)) == list(table)


def test_a_row_that_the_input_lacks_has_nothing_there() -> None:
    table = with_input(PAIR_FILE, scores([1, 99]), PAIRS)
    assert table["candidate"].tolist() == ["雪だ", ""] and np.isnan(table["human:score"][1])


def test_the_table_itself_is_not_changed_and_others_are_left_alone() -> None:
    frame = scores([1])
    before = frame.copy()
    both = all_with_input([PAIR_FILE], {"pairs": frame, "models": before}, PAIRS)
    pd.testing.assert_frame_equal(frame, before)
    assert both["models"] is before and "id" in both["pairs"]
    assert with_input(PAIR_SCORES, frame, PAIRS) is frame


def test_a_column_called_signature_is_not_overwritten_by_that_of_a_file() -> None:
    pairs = from_table(read_table("reference,candidate,signature\n雨だ,雪だ,mine\n".encode(), "a.csv"))
    table = with_input(PAIR_FILE, scores([1]), pairs)
    assert table["column:signature"].tolist() == ["mine"] and "signature" not in table


def test_the_category_of_minimal_pairs_comes_once() -> None:
    pairs = read_pairs([("a.csv", b"good,bad,category,row\na,b,x,first\n")])
    frame = MINIMAL_PAIR_FILE.frame(
        [("m", 1, "x", 1, 1, -1.0, -2.0, False, "a", "b", 0, 0, "fp32", -1.0, -1.0, False, 0, 0, 0, 0)]
    )
    table = with_input(MINIMAL_PAIR_FILE, frame, pairs)
    assert list(table)[len(frame.columns) :] == ["column:row"] and table["column:row"].tolist() == ["first"]


@given(st.lists(st.integers(0, 5), unique=True, min_size=1), st.data())
def test_any_choice_of_rows_finds_its_own_values(numbers: list[int], data: Any) -> None:
    n = len(numbers)
    dataset = LabelledSentences(
        "d",
        tuple(f"t{k}" for k in numbers),
        ("x",) * n,
        tuple(numbers),
        (),
        (),
        {"text": tuple(f"own {k}" for k in numbers), "p": tuple(f"p{k}" for k in numbers)},
    )
    chosen = data.draw(st.lists(st.sampled_from(numbers)))
    frame = SENTENCES.frame([("m", row, f"t{row}", "x", 1, 1, "x") for row in chosen])
    table = with_input(SENTENCES.with_input(), frame, dataset)
    assert table["p"].tolist() == [f"p{row}" for row in chosen]
    assert table["column:text"].tolist() == [f"own {row}" for row in chosen]
