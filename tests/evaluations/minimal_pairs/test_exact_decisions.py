"""Exact decisions: scored in bf16, and in fp32 wherever that could change a winner, shown with noise of known size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.exact_decisions import SAFETY, SAMPLE_PAIRS, SIDES, score_pairs, sums
from engine.evaluations.minimal_pairs.notices import not_exact
from engine.evaluations.minimal_pairs.records import DEFAULT_SCORES, Result, Settings
from engine.evaluations.minimal_pairs.views import decided, token_counts
from engine.measures.minimal_pairs.decision_bounds import BOUNDED, ratios, standard_margin
from engine.messages.languages import in_language, translated
from tests.support.session_fake import TOO_LONG, SessionFake, noise


class Rounding(SessionFake):
    """bf16 is off by noise of a known size per token; what is scored in which precision is counted."""

    def __init__(self, size: float = 0.05) -> None:
        super().__init__()
        self.size, self.scored = size, {"fp32": 0, "bf16": 0}

    def token_log_likelihoods(
        self, model: str, texts: Sequence[str], *, precision: str = "fp32", **settings: Any
    ) -> list[dict[str, Any]]:
        self.scored[precision] += len(texts)
        pieces = super().token_log_likelihoods(model, texts, **settings)
        if precision == "fp32":
            return pieces
        return [
            piece
            if "excluded" in piece
            else {
                **piece,
                "log_likelihoods": np.minimum(
                    piece["log_likelihoods"] + noise("bf16", text).normal(0, self.size, len(text)), 0
                ).astype(np.float32),
            }
            for piece, text in zip(pieces, texts, strict=True)
        ]


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
    characters = np.stack([pairs[f"{side}_characters"] for side in SIDES])
    sizes = np.stack([pairs[f"{side}_bytes"] for side in SIDES])
    ratio = ratios(tokens, characters, sizes, [normalization], alpha)[normalization]
    bound = pairs["error_bound"].to_numpy()
    return (np.abs(standard_margin(sums, tokens, ratio)) <= bound) & (bound > 0) & ~pairs["identical"].to_numpy()


@pytest.mark.parametrize("size", [0.001, 0.02, 0.1])
@pytest.mark.parametrize(
    ("seed", "names", "alpha"),
    [(0, DEFAULT_SCORES, 0.8), (1, BOUNDED, 1.7), (2, ("SLOR",), 0.8), (4, ("PenLP", "per character"), 0.0)],
)
def test_every_decision_is_that_of_fp32(size: float, seed: int, names: tuple[str, ...], alpha: float) -> None:
    pairs = many_pairs(seed=seed)
    exact, fp32, bf16 = (
        run(Rounding(size), pairs, precision, seed=seed, exact_scores=names, exact_alpha=alpha)
        for precision in ("exact-decisions", "fp32", "bf16")
    )
    flipped = 0
    for normalization in names:
        wanted = decided(fp32.pairs, normalization, alpha)
        np.testing.assert_array_equal(decided(exact.pairs, normalization, alpha), wanted)
        flipped += int((decided(bf16.pairs, normalization, alpha) != wanted).sum())
    assert flipped or size < 0.01  # bf16 alone would have been wrong
    assert (exact.pairs["scored_in"] == "bf16").any()
    # what is left in bf16 is within its bound, which leaves no winner in doubt
    sums, wanted = (
        np.stack([one.pairs[f"{side}_log_likelihood"] for side in ("acceptable", "unacceptable")])
        for one in (exact, fp32)
    )
    tokens = np.stack(token_counts(fp32.pairs))
    off = np.abs(standard_margin(sums - wanted, tokens, np.ones(pairs.n)))
    assert (off <= exact.pairs["error_bound"]).all()
    for normalization in names:
        assert not in_doubt(exact.pairs, normalization, alpha).any()
    assert in_doubt(exact.pairs.assign(error_bound=99.0), "LP", 0.8).sum() == (~exact.pairs["identical"]).sum()


def test_a_smaller_error_leaves_more_in_bf16_and_saves_work() -> None:
    pairs, shares = many_pairs(), []
    for size in (0.001, 0.02, 0.1):
        session = Rounding(size)
        result = run(session, pairs, "exact-decisions")
        n_fp32 = int((result.pairs["scored_in"] == "fp32").sum())
        assert session.scored == {"bf16": 2 * pairs.n, "fp32": 2 * n_fp32}
        shares.append(n_fp32)
    assert SAMPLE_PAIRS == shares[0] < shares[1] < shares[2]


def test_fewer_scores_need_fewer_pairs_again() -> None:
    pairs = many_pairs()
    n_fp32 = [
        int(run(Rounding(0.1), pairs, "exact-decisions", exact_scores=names).precision["n_fp32"].iloc[0])
        for names in (("LP",), BOUNDED)
    ]
    assert n_fp32[0] < n_fp32[1] < pairs.n


@pytest.mark.parametrize(
    ("error", "most_wrong", "most_again"),
    [
        ("of one size", 0, 0.25),
        ("larger far from a tie", 0, 0.7),
        ("towards the tie", 0, 0.25),
        # Student's t with 3 degrees of freedom: its fourth moment is infinite, and no sample bounds it. A random sample of
        # the same size left 6 of 400,000 decisions wrong, this one 10, bf16 alone 5,774.
        ("heavy-tailed", 4, 0.65),
    ],
)
def test_decisions_are_kept_whatever_the_errors_are_like(error: str, most_wrong: int, most_again: float) -> None:
    """Simulated scores, 40 sets of 1,000 pairs: the random part of the sample sees errors that ties do not show."""
    n, n_wrong, n_again, n_turned_by_bf16 = 1000, 0, 0, 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        margin = random.normal(0, 3, n)
        scale = 0.1 * (1 + np.abs(margin)) if error == "larger far from a tie" else np.full(n, 0.1)
        off = scale * (random.standard_t(3, n) if error == "heavy-tailed" else random.normal(size=n))
        if error == "towards the tie":
            off = -np.sign(margin) * np.abs(off)
        fp32 = np.stack([-30 + margin / 2, -30 - margin / 2])  # (2, n)
        bf16 = fp32 + np.stack([off / 2, -off / 2])
        dataset = MinimalPairs(
            "simulated",
            tuple(f"{i} A" for i in range(n)),
            tuple(f"{i} U" for i in range(n)),
            ("",) * n,
            tuple(range(1, n + 1)),
        )

        scored = score_pairs(dataset, partial(_simulated, {"fp32": fp32, "bf16": bf16}), "exact-decisions", seed=seed)
        exact = np.stack([sums(side) for side in scored.by_side])
        n_wrong += int((np.sign(exact[0] - exact[1]) != np.sign(fp32[0] - fp32[1])).sum())
        n_again += int(scored.report["n_fp32"])
        n_turned_by_bf16 += int((np.sign(bf16[0] - bf16[1]) != np.sign(margin)).sum())
    assert n_wrong <= most_wrong < 100 < n_turned_by_bf16
    assert n_again <= most_again * 40 * n


def _simulated(sums_by_precision: dict[str, np.ndarray], texts: Sequence[str], precision: str) -> list[dict[str, Any]]:
    places = [("AU".index(side), int(number)) for number, side in map(str.split, texts)]
    return [
        {
            "log_likelihoods": np.full(4, sums_by_precision[precision][place] / 4),
            "ids": [0] * 4,
            "read_ids": [*place, 0, 0],
            "tokens": ["a"] * 4,
        }
        for place in places
    ]


def test_a_score_that_is_not_exact_is_named() -> None:
    result = run(Rounding(0.02), many_pairs(400), "exact-decisions", exact_alpha=1.2)
    assert not_exact(result, "LP", 0.8) == not_exact(result, "PenLP", 1.2) == not_exact(result, "MeanLP", 0.0) == ""
    with in_language("ja"):
        assert "LP、MeanLP、PenLP（alpha 1.2）" in translated(not_exact(result, "PenLP", 0.8))
    assert not_exact(result, "PenLP", 0.8) == (
        "m: decisions are exact under LP, MeanLP and PenLP at alpha 1.2; under PenLP at alpha 0.8 a close pair may "
        "have another winner than in fp32."
    )
    assert "under SLOR a close pair" in not_exact(result, "SLOR", 0.8)
    one = run(Rounding(0.02), many_pairs(400), "exact-decisions", exact_scores=("LP",))
    assert not_exact(one, "SLOR", 0.8).startswith("m: decisions are exact under LP; under SLOR a close pair")
    older = replace(result, precision=result.precision.assign(scores=pd.Series([None], dtype="str"), alpha=np.nan))
    assert not_exact(older, "SLOR", 0.8) == ""  # versions before held under every score
    assert not_exact(run(Rounding(), many_pairs(20), "bf16"), "SLOR", 0.8) == ""
    assert not_exact(run(Rounding(), many_pairs(20), "exact-decisions"), "SLOR", 0.8) == ""  # all in fp32


def test_the_report_says_how_the_bound_was_found() -> None:
    pairs = many_pairs()
    result = run(Rounding(0.1), pairs, "exact-decisions", seed=7)
    (line,) = result.precision.to_dict("records")
    assert (line["model"], line["n"], line["n_sampled"], line["safety"], line["seed"]) == (
        "m",
        800,
        SAMPLE_PAIRS,
        SAFETY,
        7,
    )
    assert (line["scores"], line["alpha"]) == ("LP, MeanLP, PenLP", 0.8)
    assert line["n_fp32"] == (result.pairs["scored_in"] == "fp32").sum() and line["rounds"] >= 2
    # by hand: the largest error of a margin per square root of its tokens, where both sentences were scored both ways
    fp32, bf16 = (run(Rounding(0.1), pairs, precision).pairs for precision in ("fp32", "bf16"))
    both = (result.pairs["scored_in"] == "fp32").to_numpy()
    off = [
        (fp32[f"{side}_log_likelihood"] - bf16[f"{side}_log_likelihood"])[both]
        for side in ("acceptable", "unacceptable")
    ]
    a, u = (tokens[both] for tokens in token_counts(fp32))
    errors = [
        np.abs(off[0] - ratio * off[1]) / np.sqrt(a + ratio**2 * u)
        for ratio in (1.0, a / u, ((5 + a) / (5 + u)) ** 0.8)
    ]
    assert line["largest_error"] == pytest.approx(np.max(errors), rel=1e-9)
    assert any(
        "pairs were scored in fp32, the others in bf16" in notice
        and notice.endswith("of theirs under LP, MeanLP and PenLP at alpha 0.8.")
        for notice in result.notices
    )
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
        def token_log_likelihoods(
            self, model: str, texts: Sequence[str], *, precision: str = "fp32", **settings: Any
        ) -> list[dict[str, Any]]:
            pieces = super().token_log_likelihoods(model, texts, precision=precision, **settings)
            return (
                pieces
                if precision == "fp32"
                else [{**piece, "log_likelihoods": np.full_like(piece["log_likelihoods"], np.nan)} for piece in pieces]
            )

    pairs = many_pairs(250)
    result = run(Broken(), pairs, "exact-decisions")
    assert (result.pairs["scored_in"] == "fp32").all()
    np.testing.assert_array_equal(decided(result.pairs, "LP"), decided(run(Rounding(), pairs, "fp32").pairs, "LP"))


def test_plain_bf16_measures_no_error_and_says_so() -> None:
    pairs = run(Rounding(), many_pairs(20), "bf16").pairs
    assert set(pairs["scored_in"]) == {"bf16"} and pairs["error_bound"].isna().all()
