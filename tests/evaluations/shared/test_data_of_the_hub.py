"""A signature names the commit of data that were read by name, and says nothing of others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from engine.datasets import sample_data
from engine.errors import BadRow
from engine.evaluations.shared.left_out import SOURCE, with_left_out
from tests.support.minimal_results import synthetic

COMMIT = "0123456789" * 4


@dataclass(frozen=True)
class Result:
    signature: dict[str, Any]


def test_the_commit_of_data_of_the_hub_is_signed() -> None:
    dataset, result = sample_data.minimal_pairs(), Result({"dataset": "f38d"})
    assert with_left_out(dataset, result) is result
    named = replace(dataset, name=f"hub:some/blimp:cat@{COMMIT} + own.csv")
    assert with_left_out(named, result).signature == {"dataset": "f38d", SOURCE: [f"hub:some/blimp:cat@{COMMIT}"]}


def test_rows_that_the_data_left_out_stand_before_those_of_a_model() -> None:
    dataset = replace(sample_data.minimal_pairs(), left_out=(BadRow(3, "blank"),))
    once = with_left_out(dataset, synthetic(20))
    again = with_left_out(replace(dataset, left_out=(BadRow(4, "blank"), BadRow(5, "blank"))), once)
    assert again.excluded["row"].to_dict() == {0: 4, 1: 5, 2: 3}
