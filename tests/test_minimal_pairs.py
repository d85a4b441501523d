"""The minimal-pairs evaluation, on token log-likelihoods that are noise from each text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.datasets.minimal_pairs import MinimalPairs
from engine.errors import InputError, ModelError
from engine.evaluations.minimal_pairs import Settings, by_category, by_difference, decided, evaluate, scores, summary
from tests.session_fake import TOO_LONG, SessionFake, likelihoods

SUBJECTS = ["猫", "犬", "となりの子", "先生", "わたしの姉"]
ACCEPTABLE = tuple(f"{s}が{o}を食べた。" for s in SUBJECTS for o in ("魚", "りんご", "あたたかいパン"))
UNACCEPTABLE = tuple(text.replace("を食べた", ("が食べた", "をたべるた", "を食た")[i % 3])
                     for i, text in enumerate(ACCEPTABLE))
PAIRS = MinimalPairs("made up", ACCEPTABLE, UNACCEPTABLE, tuple(["case", "tense", "tense"] * 5), tuple(range(1, 16)))


def run(pairs: MinimalPairs = PAIRS, **settings: object):  # type: ignore[no-untyped-def]
    given = {"models": ("m", "c"), **settings}
    return evaluate(Settings(**given), pairs, SessionFake({"c": "causal", "e": "encoder"}))  # type: ignore[arg-type]


def test_sums_and_token_counts_are_those_of_each_sentence() -> None:
    pairs = run().pairs
    for _, row in pairs.iterrows():
        expected = float(np.sum(likelihoods(row["model"], row["acceptable"]), dtype=np.float64))
        assert row["acceptable_log_likelihood"] == expected
        assert row["unacceptable_tokens"] == len(row["unacceptable"])
    assert len(pairs) == 30


def test_tokens_of_a_sentence_add_up_to_its_sum() -> None:
    result = run()
    sums = result.tokens.groupby(["model", "row", "side"])["log_likelihood"].sum()
    for _, row in result.pairs.iterrows():
        # a sum of float32 by pandas against one in float64
        assert sums[row["model"], row["row"], "acceptable"] == pytest.approx(row["acceptable_log_likelihood"], rel=1e-5)
    one = result.tokens.query("model == 'm' and row == 2 and side == 'unacceptable'")
    assert "".join(one["token"]) == UNACCEPTABLE[1]


def test_causal_models_are_scored_causally_and_masked_ones_by_pll() -> None:
    assert run(pll="original").signature["scoring"] == {"m": "pll-original", "c": "causal"}


def test_an_encoder_without_a_head_is_refused() -> None:
    with pytest.raises(ModelError, match="no language-model head"):
        run(models=("e",))


def test_accuracy_by_hand() -> None:
    result = run(models=("m",))
    table = summary(result, ["LP"]).set_index("stratum")
    right, longer = 0, {"A=U": 0, "A>U": 0, "A<U": 0}
    for good, bad in zip(ACCEPTABLE, UNACCEPTABLE, strict=True):
        right += likelihoods("m", good).sum() > likelihoods("m", bad).sum()
        longer["A=U" if len(good) == len(bad) else "A>U" if len(good) > len(bad) else "A<U"] += 1
    assert table.loc["all", "n_correct"] == right and table.loc["all", "n"] == 15
    assert {stratum: table.loc[stratum, "n"] for stratum in longer} == longer


def test_in_pairs_of_equal_length_every_length_normalisation_decides_alike() -> None:
    pairs = run().pairs
    equal = pairs[pairs["acceptable_tokens"] == pairs["unacceptable_tokens"]]
    assert len(equal) >= 5
    lp = decided(equal, "LP")
    assert (decided(equal, "MeanLP") == lp).all() and (decided(equal, "PenLP", 0.4) == lp).all()


def test_alpha_0_is_lp_and_per_character_divides_by_characters() -> None:
    pairs = run().pairs
    np.testing.assert_allclose(scores(pairs, "PenLP", 0.0)[0], pairs["acceptable_log_likelihood"])
    np.testing.assert_allclose(scores(pairs, "per character")[1],
                               pairs["unacceptable_log_likelihood"] / pairs["unacceptable"].str.len())


def test_sentences_that_become_the_same_ids_are_ties_and_said() -> None:
    same = MinimalPairs("same", ("Cat", "猫がいる"), ("cat", "猫はいる"), ("", ""), (1, 2))  # the fake lower-cases ids
    result = run(same, models=("m",))
    assert result.pairs["identical"].tolist() == [True, False]
    assert summary(result, ["LP"]).iloc[0]["n_tied"] == 1
    assert any("count as ties" in notice for notice in result.notices)


def test_too_long_pairs_are_left_out_and_listed_with_the_side() -> None:
    long = "あ" * (TOO_LONG + 1)
    pairs = MinimalPairs("long", (long, "猫がいる"), ("猫がいる", "猫はいる"), ("", ""), (7, 9))
    result = run(pairs, models=("m",))
    assert result.excluded[["row", "reason"]].to_numpy().tolist() == [[7, "acceptable sentence: too long"]]
    assert result.pairs["row"].tolist() == [9]
    with pytest.raises(InputError, match="none of the 1 pairs; the first: row 7"):
        run(MinimalPairs("long", (long,), ("猫",), ("",), (7,)), models=("m",))


def test_differences_and_categories_partition_the_pairs() -> None:
    result = run()
    assert by_difference(result, "LP").groupby("model")["n"].sum().tolist() == [15, 15]
    table = by_category(result, "MeanLP").query("model == 'm' and stratum == 'all'")
    assert dict(zip(table["category"], table["n"], strict=True)) == {"case": 5, "tense": 10}


@pytest.mark.parametrize("changed", [{"models": ()}, {"pll": "l2r"}, {"words": "spaces"}, {"precision": "fp16"}])
def test_settings_that_cannot_be_are_refused(changed: dict[str, object]) -> None:
    with pytest.raises(InputError):
        run(**changed)


def test_a_toggle_over_67000_pairs_is_arithmetic() -> None:
    # Not timed: that the model is not asked is shown by the absence of a session.
    random, n = np.random.default_rng(0), 67_000
    pairs = pd.DataFrame({f"{side}_{column}": values for side in ("acceptable", "unacceptable") for column, values in (
        ("log_likelihood", -random.exponential(40, n)), ("tokens", random.integers(5, 30, n)),
        ("characters", random.integers(10, 60, n)))})
    pairs["identical"] = False
    assert abs(decided(pairs, "PenLP").mean()) < 0.02  # two noises: half right, half wrong
