"""One pair under the glass: the contributions of its tokens add up to its margin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.records import DIFFERING, Result, Settings
from engine.evaluations.minimal_pairs.regions import of_region
from engine.evaluations.minimal_pairs.token_contributions import (
    CONTRIBUTIONS,
    contributions_by_change,
    token_contributions,
)
from engine.evaluations.minimal_pairs.views import of_model, scores
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from tests.support.session_fake import SessionFake, likelihoods

PAIRS = MinimalPairs(
    "made up",
    ("猫が魚を食べた。", "犬が庭で鳴く", "雨"),
    ("猫が魚に食べる。", "犬が庭を鳴いた", "雨"),
    ("", "", ""),
    (4, 7, 9),
)


@pytest.fixture(scope="module")
def result() -> Result:
    return evaluate(Settings(("m", "c")), PAIRS, SessionFake({"c": "causal"}))  # type: ignore[arg-type]


def test_by_hand(result: Result) -> None:
    # 猫が魚を食べた。 against 猫が魚に食べる。: を/に and た/る are exchanged, the other six are shared
    table = token_contributions(result, "m", 4)
    assert CONTRIBUTIONS.arranged(table) is table
    assert table["change"].tolist() == ["equal"] * 3 + ["replace"] + ["equal"] * 2 + ["replace", "equal"]
    assert table["acceptable_token"].tolist() == list("猫が魚を食べた。")
    assert table["unacceptable_token"].tolist() == list("猫が魚に食べる。")
    a, u = likelihoods("m", PAIRS.acceptable[0]), likelihoods("m", PAIRS.unacceptable[0])
    np.testing.assert_allclose(table["contribution"], a.astype(float) - u, rtol=1e-6)
    np.testing.assert_allclose(table["acceptable_part"], table["acceptable_log_likelihood"])
    by_change = contributions_by_change(table)
    assert by_change["change"].tolist() == ["equal", "replace"] and by_change["n_slots"].tolist() == [6, 2]
    assert by_change["label"].tolist() == ["shared tokens", "exchanged tokens"]
    assert by_change["contribution"].sum() == pytest.approx(float(a.sum() - u.sum()), rel=1e-5)


@pytest.mark.parametrize(
    "normalization", [name for name, score in NORMALIZATIONS.items() if not (score.by_words or score.is_prompted)]
)
@pytest.mark.parametrize("row", PAIRS.rows)
def test_contributions_add_up_to_the_margin(result: Result, normalization: str, row: int) -> None:
    result = replace(result, pairs=result.pairs.assign(morcela_beta=0.6, morcela_gamma=3.0))  # too few to be fitted
    for model in ("m", "c"):
        table = token_contributions(result, model, row, normalization, 1.3)
        pairs = of_model(result, model)
        good, bad = scores(pairs[pairs["row"] == row], normalization, 1.3)
        assert table["contribution"].sum() == pytest.approx(good[0] - bad[0], rel=1e-9, abs=1e-12)
        assert table["acceptable_part"].sum() == pytest.approx(good[0], rel=1e-9)


@pytest.mark.parametrize("normalization", ["LP", "MeanLP", "PenLP", "SLOR"])
def test_contributions_of_a_region_add_up_to_its_margin(result: Result, normalization: str) -> None:
    part = of_region(result, DIFFERING)
    for model in ("m", "c"):
        table = token_contributions(result, model, 4, normalization, 1.3, DIFFERING)
        pairs = of_model(part, model)
        good, bad = scores(pairs[pairs["row"] == 4], normalization, 1.3)
        assert table["contribution"].sum() == pytest.approx(good[0] - bad[0], rel=1e-9, abs=1e-12)
        assert len(table) == 8 and (table["contribution"] != 0).sum() < 8  # all tokens stand there


def test_a_side_that_has_nothing_there_is_empty_and_counts_as_nothing(result: Result) -> None:
    table = token_contributions(result, "m", 7)  # 犬が庭で鳴く against 犬が庭を鳴いた
    assert table["change"].tolist() == ["equal"] * 3 + ["replace", "equal", "replace", "replace"]
    last = table.iloc[-1]
    assert np.isnan(last["acceptable_part"]) and last["contribution"] == -last["unacceptable_part"]
    assert table["acceptable_token"].isna().sum() == 1 and str(table["acceptable_position"].dtype) == "Int64"
    assert table["slot"].tolist() == list(range(7))


def test_what_was_not_scored_has_no_tokens_to_show(result: Result) -> None:
    with pytest.raises(InputError, match="m has no scores for row 5"):
        token_contributions(result, "m", 5)
    with pytest.raises(InputError, match="Unknown normalization"):
        token_contributions(result, "m", 4, "ZLOR")
