"""Exact decisions: scored in bf16, and in fp32 wherever that could change a winner, shown with noise of known size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.exact_decisions import SAFETY, SAMPLE_PAIRS, SIDES
from engine.evaluations.minimal_pairs.records import Result, Settings
from engine.evaluations.minimal_pairs.views import decided, token_counts
from engine.measures.minimal_pairs.acceptability import NORMALIZATIONS
from engine.measures.minimal_pairs.decision_bounds import ratios, standard_margin
from tests.support.session_fake import TOO_LONG, SessionFake, noise


class Rounding(SessionFake):
    """bf16 is off by noise of a known size per token; what is scored in which precision is counted."""

    def __init__(self, size: float = 0.05) -> None:
        super().__init__()
        self.size, self.scored = size, {"fp32": 0, "bf16": 0}

    def token_log_likelihoods(self, model: str, texts: Sequence[str], *, precision: str = "fp32",
                              **settings: Any) -> list[dict[str, Any]]:
        self.scored[precision] += len(texts)
        pieces = super().token_log_likelihoods(model, texts, **settings)
        if precision == "fp32":
            return pieces
        return [piece if "excluded" in piece else {**piece, "log_likelihoods": np.minimum(
            piece["log_likelihoods"] + noise("bf16", text).normal(0, self.size, len(text)), 0).astype(np.float32)}
            for piece, text in zip(pieces, texts, strict=True)]


def many_pairs(n: int = 800, seed: int = 0) -> MinimalPairs:
    random = np.random.default_rng(seed)
    letters = list("あいうえおかきくけこ猫犬鳥魚")
    good = tuple("".join(random.choice(letters, random.integers(4, 14))) for _ in range(n))
    # one character changed, taken out or put in: margins are as small as those of minimal pairs are
    bad = tuple(text[:2] + str(random.choice(letters)) * int(random.integers(0, 3)) + text[3:] for text in good)
    return MinimalPairs("many", good, bad, ("",) * n, tuple(range(1, n + 1)))


def run(session: SessionFake, pairs: MinimalPairs, precision: str, **settings: Any) -> Result:
    return evaluate(Settings(("m",), precision=precision, **settings), pairs, session)  # type: ignore[arg-type]


def in_doubt(pairs: pd.DataFrame, normalization: str, alpha: float) -> np.ndarray:
    """Which pairs could have another winner in fp32, as far as their `error_bound` says: bool (n_pairs,)."""
    terms = [pairs[f"{side}_unigrams"].to_numpy() if normalization == "SLOR" else 0.0 for side in SIDES]
    sums = np.stack([pairs[f"{side}_log_likelihood"] - term for side, term in zip(SIDES, terms, strict=True)])
    tokens = np.stack(token_counts(pairs))
    by_name = ratios(tokens, np.stack([pairs[f"{side}_characters"] for side in SIDES]), (alpha, alpha))
    ratio = by_name[{"PenLP": "PenLP most", "SLOR": "MeanLP"}.get(normalization, normalization)]
    bound = pairs["error_bound"].to_numpy()
    return (np.abs(standard_margin(sums, tokens, ratio)) <= bound) & (bound > 0) & ~pairs["identical"].to_numpy()


@pytest.mark.parametrize("size", [0.001, 0.02, 0.1])
@pytest.mark.parametrize("seed", range(2))
def test_every_decision_is_that_of_fp32(size: float, seed: int) -> None:
    pairs = many_pairs(seed=seed)
    exact, fp32, bf16 = (run(Rounding(size), pairs, precision, seed=seed)
                         for precision in ("exact-decisions", "fp32", "bf16"))
    flipped = 0
    for normalization in NORMALIZATIONS:
        for alpha in np.arange(0, 2.05, 0.1) if normalization == "PenLP" else (0.8,):
            wanted = decided(fp32.pairs, normalization, alpha)
            np.testing.assert_array_equal(decided(exact.pairs, normalization, alpha), wanted)
            flipped += int((decided(bf16.pairs, normalization, alpha) != wanted).sum())
    assert flipped or size < 0.01  # bf16 alone would have been wrong
    assert (exact.pairs["scored_in"] == "bf16").any()
    # what is left in bf16 is within its bound, which leaves no winner in doubt
    sums, wanted = (np.stack([one.pairs[f"{side}_log_likelihood"] for side in ("acceptable", "unacceptable")])
                    for one in (exact, fp32))
    tokens = np.stack(token_counts(fp32.pairs))
    off = np.abs(standard_margin(sums - wanted, tokens, np.ones(pairs.n)))
    assert (off <= exact.pairs["error_bound"]).all()
    for normalization in NORMALIZATIONS:
        assert not in_doubt(exact.pairs, normalization, 1.3).any()
    assert in_doubt(exact.pairs.assign(error_bound=99.0), "LP", 0.8).sum() == (~exact.pairs["identical"]).sum()


def test_a_smaller_error_leaves_more_in_bf16_and_saves_work() -> None:
    pairs, shares = many_pairs(), []
    for size in (0.001, 0.02, 0.1):
        session = Rounding(size)
        result = run(session, pairs, "exact-decisions")
        n_fp32 = int((result.pairs["scored_in"] == "fp32").sum())
        assert session.scored == {"bf16": 2 * pairs.n, "fp32": 2 * n_fp32}
        shares.append(n_fp32)
    assert SAMPLE_PAIRS < shares[0] < shares[1] < shares[2]
    # below the sample, hardly more than the pairs whose winner depends on alpha
    assert shares[0] < 0.5 * pairs.n


def test_the_report_says_how_the_bound_was_found() -> None:
    pairs = many_pairs(400)
    result = run(Rounding(0.02), pairs, "exact-decisions", seed=7)
    (line,) = result.precision.to_dict("records")
    assert (line["model"], line["n"], line["n_sampled"], line["safety"], line["seed"]) == (
        "m", 400, SAMPLE_PAIRS, SAFETY, 7)
    assert line["n_fp32"] == (result.pairs["scored_in"] == "fp32").sum() and line["rounds"] >= 2
    # by hand: the largest error of a margin per square root of its tokens, where both sentences were scored both ways
    fp32, bf16 = (run(Rounding(0.02), pairs, precision).pairs for precision in ("fp32", "bf16"))
    both = (result.pairs["scored_in"] == "fp32").to_numpy()
    off = [(fp32[f"{side}_log_likelihood"] - bf16[f"{side}_log_likelihood"])[both]
           for side in ("acceptable", "unacceptable")]
    a, u = (tokens[both] for tokens in token_counts(fp32))
    errors = [np.abs(off[0] - ratio * off[1]) / np.sqrt(a + ratio**2 * u)
              for ratio in (1.0, a / u, ((5 + a) / (5 + u)) ** 2)]  # characters are tokens here
    assert line["largest_error"] == pytest.approx(np.max(errors), rel=1e-9)
    assert any("pairs were scored in fp32, the others in bf16" in notice for notice in result.notices)
    assert run(Rounding(), pairs, "fp32").precision.empty


def test_tokens_and_sums_are_of_one_precision() -> None:
    result = run(Rounding(0.05), many_pairs(300), "exact-decisions")
    sums = result.tokens.groupby(["row", "side"])["log_likelihood"].sum()
    for line in result.pairs.to_dict("records"):
        # sums of float32 by pandas against sums in float64; another precision would be off by 0.05 and more
        assert sums[line["row"], "acceptable"] == pytest.approx(line["acceptable_log_likelihood"], abs=1e-4)


def test_few_pairs_are_scored_in_fp32_throughout() -> None:
    result = run(Rounding(), many_pairs(30), "exact-decisions")
    assert (result.pairs["scored_in"] == "fp32").all() and result.precision["rounds"].tolist() == [1]


def test_ties_and_left_out_pairs_need_no_second_look() -> None:
    pairs = MinimalPairs("x", ("Cat", "あ" * (TOO_LONG + 1), "猫が"), ("cat", "い", "猫は"), ("",) * 3, (1, 2, 3))
    session = Rounding()
    result = run(session, pairs, "exact-decisions")
    assert session.scored == {"bf16": 6, "fp32": 2} and result.pairs["row"].tolist() == [1, 3]
    assert decided(result.pairs, "LP").tolist()[0] == 0
    assert result.pairs["scored_in"].tolist() == ["bf16", "fp32"] and result.pairs["error_bound"].tolist()[1] == 0


def test_a_model_that_breaks_in_bf16_is_scored_in_fp32() -> None:
    class Broken(Rounding):
        def token_log_likelihoods(self, model: str, texts: Sequence[str], *, precision: str = "fp32",
                                  **settings: Any) -> list[dict[str, Any]]:
            pieces = super().token_log_likelihoods(model, texts, precision=precision, **settings)
            return pieces if precision == "fp32" else [
                {**piece, "log_likelihoods": np.full_like(piece["log_likelihoods"], np.nan)} for piece in pieces]

    pairs = many_pairs(250)
    result = run(Broken(), pairs, "exact-decisions")
    assert (result.pairs["scored_in"] == "fp32").all()
    np.testing.assert_array_equal(decided(result.pairs, "LP"), decided(run(Rounding(), pairs, "fp32").pairs, "LP"))


def test_plain_bf16_measures_no_error_and_says_so() -> None:
    pairs = run(Rounding(), many_pairs(20), "bf16").pairs
    assert set(pairs["scored_in"]) == {"bf16"} and pairs["error_bound"].isna().all()
