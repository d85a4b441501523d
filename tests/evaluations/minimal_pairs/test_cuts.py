"""How pairs are cut into tokens: counted by row, and subsets of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.fair_subsets import fair_rows, of_subset
from engine.evaluations.minimal_pairs.files import file_tables
from engine.evaluations.minimal_pairs.records import CUT_ALIKE, CUT_DIFFERENTLY, Result, Settings
from tests.support.minimal_results import synthetic
from tests.support.session_fake import SessionFake

PAIRS = MinimalPairs(
    "made up",
    ("猫が鳴く", "猫が鳴く", "犬が庭で鳴く", "雨\ufffdふり"),
    ("猫が歩く", "黒猫が鳴く", "犬が庭で走る", "雨\ufffdふれ"),
    ("",) * 4,
    (1, 2, 3, 4),
)


class InTwos(SessionFake):
    """Tokens are two characters each."""

    def token_log_likelihoods(self, model: str, texts: Sequence[str], **settings: Any) -> list[dict[str, Any]]:
        pieces = super().token_log_likelihoods(model, texts, **settings)
        return [
            {
                **piece,
                "tokens": [text[i : i + 2] for i in range(0, len(text), 2)],
                "ids": piece["ids"][::2],
                "log_likelihoods": piece["log_likelihoods"][::2],
                "spans": np.array([(i, min(i + 2, len(text))) for i in range(0, len(text), 2)], dtype=np.int32),
            }
            for text, piece in zip(texts, pieces, strict=True)
        ]


@pytest.fixture(scope="module")
def result() -> Result:
    return evaluate(Settings(("m",)), PAIRS, InTwos())  # type: ignore[arg-type]


def test_by_hand(result: Result) -> None:
    # 猫が|鳴く against 猫が|歩く: 猫 and が are shared and cut alike. With 黒猫|が鳴|く it shares が and 鳴く, both cut
    # differently. 犬が|庭で|鳴く against 犬が|庭で|走る: 犬, が, 庭, で alike.
    assert result.pairs["shared_words"].tolist()[:3] == [2, 2, 4]
    assert result.pairs["cut_words"].tolist()[:3] == [0, 2, 0]
    assert (result.pairs["acceptable_parts"] == 0).all()
    assert fair_rows(result, CUT_ALIKE)["m"].tolist() == [1, 3]
    assert fair_rows(result, CUT_DIFFERENTLY)["m"].tolist() == [2, 4]  # the fourth for its unknown token


def test_characters_cut_into_parts_are_counted() -> None:
    class InBytes(SessionFake):
        def token_log_likelihoods(self, model: str, texts: Sequence[str], **settings: Any) -> list[dict[str, Any]]:
            pieces = super().token_log_likelihoods(model, texts, **settings)
            # Every character is two tokens of its own.
            doubled = ("ids", "log_likelihoods", "spans")
            return [
                {
                    **piece,
                    **{name: np.repeat(piece[name], 2, axis=0) for name in doubled},
                    "tokens": [token for token in piece["tokens"] for _ in range(2)],
                }
                for piece in pieces
            ]

    pairs = evaluate(Settings(("m",)), PAIRS, InBytes()).pairs  # type: ignore[arg-type]
    assert pairs["acceptable_parts"].tolist() == [8, 8, 12, 8]
    assert pairs["unacceptable_parts"].tolist() == [8, 10, 12, 8]
    assert (pairs["cut_words"] == 0).all()


def test_both_subsets_divide_the_pairs(result: Result) -> None:
    for whole in (result, synthetic(200)):
        for model in whole.settings.models:
            rows = [fair_rows(whole, subset)[model] for subset in (CUT_ALIKE, CUT_DIFFERENTLY)]
            assert sorted(np.concatenate(rows).tolist()) == sorted(whole.pairs["row"][whole.pairs["model"] == model])


def test_accuracy_inside_and_outside_is_written(result: Result) -> None:
    tables = file_tables(result, ["LP"], 0.8, "category", 0)
    fair = tables["fair_summary"].query("overall").set_index("subset")
    assert fair.loc[CUT_ALIKE, "fair_n"] == fair.loc[CUT_DIFFERENTLY, "fair_n"] == 2 and (fair["n"] == 4).all()
    assert {"cut_words", "shared_words", "acceptable_parts"} <= set(tables["pairs"].columns)
    listed = tables["fair_subsets"].query("subset == @CUT_DIFFERENTLY")
    assert listed["row"].tolist() == [2, 4]
    assert of_subset(result, CUT_ALIKE).pairs["row"].tolist() == [1, 3]


def test_results_of_earlier_versions_do_not_say_how_pairs_are_cut(result: Result) -> None:
    earlier = replace(result, pairs=result.pairs.drop(columns=["cut_words"]))
    assert not any(len(fair_rows(earlier, subset)["m"]) for subset in (CUT_ALIKE, CUT_DIFFERENTLY))
    with pytest.raises(InputError, match="The subset 'cut alike' has no pair under m"):
        of_subset(earlier, CUT_ALIKE)


def test_words_of_other_scripts_are_runs_of_letters() -> None:
    english = MinimalPairs("made up", ("The cat sat.", "A cat!"), ("The cats sat.", "A dog!"), ("", ""), (1, 2))
    pairs = evaluate(Settings(("m",)), english, InTwos()).pairs  # type: ignore[arg-type]
    # Th|e |ca|t |sa|t. against Th|e |ca|ts| s|at|. : The, sat and . are shared; sat and . are cut differently
    assert pairs["shared_words"].tolist() == [3, 2] and pairs["cut_words"].tolist() == [2, 0]
