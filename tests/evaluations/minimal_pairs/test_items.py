"""Accuracy of whole items: right only where the acceptable sentence is above all others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.datasets.minimal_pairs.files import read_pairs
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.levels import item_accuracy
from engine.evaluations.minimal_pairs.records import Settings
from engine.evaluations.minimal_pairs.views import decided, of_model
from engine.measures.statistics.intervals import wilson_interval
from tests.evaluations.minimal_pairs.test_evaluate import run
from tests.support.session_fake import TOO_LONG, SessionFake


def test_an_item_is_right_where_all_its_pairs_are() -> None:
    lines = [f"{item},{'文' * (item + 1)}{end},{int(end == 'だ')}" for item in range(1, 9) for end in "だでに"]
    file = ("items.csv", "\n".join(["item,sentence,label", *lines]).encode())
    result = evaluate(Settings(("m", "c")), read_pairs([file]), SessionFake({"c": "causal"}))  # type: ignore[arg-type]
    table = item_accuracy(result, "LP")
    for row in table.to_dict("records"):
        right = decided(of_model(result, row["model"]), "LP") == 1
        expected = sum(first and second for first, second in right.reshape(-1, 2).tolist())
        low, high = wilson_interval(expected, 8)
        assert (row["n_items"], row["n_pairs"], row["n_right"]) == (8, 16, expected)
        assert (row["accuracy"], row["ci_low"], row["ci_high"]) == pytest.approx((expected / 8, low, high))
        assert row["chance"] == pytest.approx(1 / 3) and row["n_incomplete"] == 0
    assert 0 < table["n_right"].sum() < 16  # the noise decides both ways


def test_an_item_with_a_pair_that_was_not_scored_is_no_item() -> None:
    lines = ["1,a,1", f"1,{'b' * (TOO_LONG + 1)},0", "1,c,0", "2,d,1", "2,e,0", "2,f,0"]
    file = ("items.csv", "\n".join(["item,sentence,label", *lines]).encode())
    result = evaluate(Settings(("m",)), read_pairs([file]), SessionFake({}))  # type: ignore[arg-type]
    [row] = item_accuracy(result, "LP").to_dict("records")
    assert (row["n_items"], row["n_incomplete"], row["n_pairs"]) == (1, 1, 2)


def test_items_of_two_files_are_different_and_pairs_without_a_name_are_of_none() -> None:
    content = b"item,sentence,label\n1,a,1\n1,b,0\n1,c,0\n"
    plain = b"acceptable,unacceptable\nd,e\nf,g\n"
    dataset = read_pairs([("one.csv", content), ("two.csv", content), ("three.csv", plain)])
    result = evaluate(Settings(("m",)), dataset, SessionFake({}))  # type: ignore[arg-type]
    [row] = item_accuracy(result, "LP").to_dict("records")
    assert (row["n_items"], row["n_pairs"]) == (2, 4)


def test_pairs_without_items_have_no_row() -> None:
    result = run()
    assert item_accuracy(result, "LP").empty
    numbered = replace(result, items=result.items.assign(**{"field:item": result.items["row"].astype("str")}))
    assert item_accuracy(numbered, "LP").empty  # a number of the pair
