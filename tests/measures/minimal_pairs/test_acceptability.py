"""LP, MeanLP, PenLP and decisions: by hand, against the formula's first publication, by their properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.minimal_pairs.acceptability import decisions
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from tests.measures.minimal_pairs.normalized import normalized

log_likelihood = st.floats(-500, -0.01)
length = st.integers(1, 60)
# Those of prompts read a field of their own, and no sum (`test_prompted`).
OF_SUMS = tuple(name for name, score in NORMALIZATIONS.items() if not score.is_prompted)


def test_by_hand() -> None:
    # LP = -12 over 7 tokens and 4 characters:
    #   MeanLP = -12 / 7;  PenLP, alpha 1: (5 + 7) / (5 + 1) = 2, so -6;  alpha 0.5: -12 / sqrt 2;  per character -3
    #   SLOR, its unigrams adding up to -40: (-12 - -40) / 7 = 4
    def one(normalization: str, alpha: float = 0.8) -> float:
        return float(
            normalized(
                [-12.0],
                [7],
                normalization,
                alpha=alpha,
                characters=[4],
                bytes=[12],
                unigrams=[-40.0],
                beta=0.5,
                gamma=2.0,
            )[0]
        )

    assert one("LP") == -12.0
    assert one("MeanLP") == pytest.approx(-12 / 7, rel=1e-15)
    assert one("PenLP", 1.0) == -6.0
    assert one("PenLP", 0.5) == pytest.approx(-12 / math.sqrt(2), rel=1e-15)
    assert one("per character") == -3.0
    assert one("SLOR") == 4.0
    # SLLN-LP: -12 / sqrt 7; bits per byte: -12 / log 2 bits over 12 bytes
    assert one("SLLN-LP") == pytest.approx(-12 / math.sqrt(7), rel=1e-15)
    # MORCELA, beta 0.5 and gamma 2: (-12 + 20 + 2) / 7
    assert one("MORCELA") == pytest.approx(10 / 7, rel=1e-15)
    assert one("bits per byte") == pytest.approx(-1 / math.log(2), rel=1e-15)


def test_bits_per_byte_of_uniform_bytes_is_their_number_of_bits() -> None:
    # A model that finds each of 256 bytes as probable needs 8 bits for each, whatever the sentence is cut into.
    scores = normalized([-5 * math.log(256), -9 * math.log(256)], [2, 9], "bits per byte", bytes=[5, 9])
    np.testing.assert_allclose(scores, [-8, -8], rtol=1e-15)


@settings(max_examples=60)
@given(a=log_likelihood, n=length)
def test_slln_lp_is_the_geometric_mean_of_lp_and_meanlp(a: float, n: int) -> None:
    # LP · LP / |S| = (LP / sqrt |S|)²: halfway between not dividing by the length and dividing by it
    lp, mean, between = (float(normalized([a], [n], which)[0]) for which in ("LP", "MeanLP", "SLLN-LP"))
    assert between == pytest.approx(-math.sqrt(lp * mean), rel=1e-12)


def test_slln_lp_is_that_of_its_authors_code() -> None:
    # sjtu-compling/ZhoBLiMP, src/metrics.py, pow_norm_lp: logprobs.sum() / torch.pow(n_tokens, 0.5)
    token_logprobs = [np.array([-1.0, -2.5, -0.25]), np.array([-3.0, -0.5, -1.0, -0.75, -2.0])]
    wanted = [logprobs.sum() / np.power(logprobs.size, 0.5) for logprobs in token_logprobs]
    scores = normalized([logprobs.sum() for logprobs in token_logprobs], [3, 5], "SLLN-LP")
    np.testing.assert_allclose(scores, wanted, rtol=1e-15)


def test_slor_of_tokens_with_known_frequencies() -> None:
    # Pauls and Klein 2012: each token's log-probability against its unigram's, averaged. A corpus of 8 tokens has
    # the 4 times, cat 2 times, sat 1 time; the model gives 1/2, 1/4, 1/4.
    #   (log(1/2) - log(4/8) + log(1/4) - log(2/8) + log(1/4) - log(1/8)) / 3 = log 2 / 3
    found = normalized([math.log(1 / 32)], [3], "SLOR", unigrams=[math.log(4 / 8 * 2 / 8 * 1 / 8)])
    assert found[0] == pytest.approx(math.log(2) / 3, rel=1e-12)


def test_morcela_with_beta_1_and_gamma_0_is_slor() -> None:
    sums, lengths, unigrams = [-30.0, -12.5, -7.0], [9, 4, 1], [-50.0, -31.0, -9.0]
    np.testing.assert_array_equal(
        normalized(sums, lengths, "MORCELA", unigrams=unigrams, beta=1, gamma=[0.0] * 3),
        normalized(sums, lengths, "SLOR", unigrams=unigrams),
    )


def test_slor_does_not_see_how_rare_words_are() -> None:
    # A rare word costs the model as much as it costs the unigrams: the sentence is as good as before.
    common, rare = normalized([-10.0, -10.0 - 4.0], [5, 5], "SLOR", unigrams=[-30.0, -30.0 - 4.0])
    assert common == rare


def test_the_exponent_holds_the_whole_fraction() -> None:
    # Equation 5 as printed lacks the bracket: (|S| + 5) / (5 + 1)^0.8 would give -12 / (12 / 6^0.8) = -4.19
    assert normalized([-12.0], [7], "PenLP")[0] == pytest.approx(-12 / 2**0.8, rel=1e-15)  # -6.89


@pytest.mark.parametrize("alpha", [0.2, 0.6, 0.8, 1.0])
def test_penlp_is_the_length_penalty_of_its_first_publication(alpha: float) -> None:
    # Wu et al. 2016 (GNMT), equation 14: lp(Y) = (5 + |Y|)^alpha / (5 + 1)^alpha
    lengths = np.arange(1, 200)
    sums = -np.linspace(1, 300, lengths.size)
    # a power of a quotient against a quotient of powers: the last digit may differ
    np.testing.assert_allclose(
        normalized(sums, lengths, "PenLP", alpha=alpha), sums / ((5 + lengths) ** alpha / (5 + 1) ** alpha), rtol=1e-14
    )


def test_penlp_of_one_token_is_lp() -> None:
    assert normalized([-3.0], [1], "PenLP").tolist() == [-3.0]  # (5 + 1) / (5 + 1) = 1


@settings(max_examples=100)
@given(a=log_likelihood, u=log_likelihood, n=length, alpha=st.floats(0, 1.5))
def test_with_equal_lengths_lp_meanlp_and_penlp_choose_the_same(a: float, u: float, n: int, alpha: float) -> None:
    # rounding of a division may merge two neighbouring floats; the scores that a model gives are not that close
    if abs(a - u) < 1e-9:
        return
    for which in ("LP", "MeanLP", "PenLP", "SLLN-LP"):
        scores = normalized([a, u], [n, n], which, alpha=alpha)
        assert decisions(scores[:1], scores[1:], [False]).tolist() == [1 if a > u else -1]


@settings(max_examples=60)
@given(sums=st.lists(log_likelihood, min_size=1, max_size=10), seed=st.integers(0, 100))
def test_bounds_and_permutation(sums: list[float], seed: int) -> None:
    random = np.random.default_rng(seed)
    lengths, characters = random.integers(1, 30, len(sums)), random.integers(1, 90, len(sums))
    order = random.permutation(len(sums))
    unigrams, boundaries = -random.exponential(60, len(sums)), random.normal(size=len(sums))
    for which in OF_SUMS:
        size = 3 * characters
        scores = normalized(
            sums,
            lengths,
            which,
            characters=characters,
            bytes=size,
            unigrams=unigrams,
            beta=0.5,
            gamma=1.0,
            boundaries=boundaries,
            words=characters,
        )
        if NORMALIZATIONS[which].adds_boundaries:
            np.testing.assert_allclose(scores, (np.array(sums) + boundaries) / (1 if which == "WordLP" else characters))
        elif which == "MORCELA":
            np.testing.assert_allclose(scores, (np.array(sums) - 0.5 * unigrams + 1) / lengths, atol=1e-9)
        elif which == "SLOR":  # the mean with the unigrams taken off
            np.testing.assert_allclose(scores, normalized(sums, lengths, "MeanLP") - unigrams / lengths, atol=1e-9)
        else:
            assert (scores <= 0).all() and (scores >= np.array(sums)).all()  # no divisor is below 1
        mixed = normalized(
            np.array(sums)[order],
            lengths[order],
            which,
            characters=characters[order],
            bytes=size[order],
            unigrams=unigrams[order],
            beta=0.5,
            gamma=1.0,
            boundaries=boundaries[order],
            words=characters[order],
        )
        np.testing.assert_array_equal(mixed, scores[order])
    np.testing.assert_array_equal(normalized(sums, lengths, "PenLP", alpha=0.0), sums)


def test_no_token_no_score() -> None:
    for which in OF_SUMS:
        scores = normalized(
            [0.0, -2.0],
            [0, 2],
            which,
            characters=[1, 2],
            bytes=[1, 2],
            unigrams=[0.0, -1.0],
            beta=0.5,
            gamma=0.0,
            boundaries=[0.0, -1.0],
            words=[0, 1],
        )
        assert math.isnan(scores[0]) and scores[1] < 0
    assert math.isnan(normalized([-1.0], [1], "per character", characters=[0])[0])
    assert math.isnan(normalized([-1.0], [1], "bits per byte", bytes=[0])[0])


def test_nan_and_minus_infinity_stay() -> None:
    for which in OF_SUMS:
        scores = normalized(
            [math.nan, -math.inf],
            [3, 3],
            which,
            characters=[3, 3],
            bytes=[3, 3],
            unigrams=[-9.0, -9.0],
            beta=0.5,
            gamma=1.0,
            boundaries=[-1.0, -1.0],
            words=[2, 2],
        )
        assert math.isnan(scores[0]) and scores[1] == -math.inf


def test_decisions_by_hand() -> None:
    # better, worse, equal, better but the same tokens, worse but the same tokens, both impossible
    found = decisions(
        [-1, -3, -2, -1, -3, -math.inf], [-2, -2, -2, -2, -2, -math.inf], [False, False, False, True, True, False]
    )
    assert found.tolist() == [1, -1, 0, 0, 0, 0] and found.dtype == np.int8


@settings(max_examples=60)
@given(a=st.lists(log_likelihood, min_size=1, max_size=10), seed=st.integers(0, 100))
def test_sides_exchanged_turn_every_decision(a: list[float], seed: int) -> None:
    random = np.random.default_rng(seed)
    u = np.where(random.random(len(a)) < 0.3, a, random.permutation(a))
    same = random.random(len(a)) < 0.2
    np.testing.assert_array_equal(decisions(u, a, same), -decisions(a, u, same))


def test_arguments_are_not_written_to() -> None:
    sums, lengths = np.array([-4.0, -6.0]), np.array([2, 0])
    for which in NORMALIZATIONS:
        normalized(
            sums,
            lengths,
            which,
            characters=lengths,
            bytes=lengths,
            unigrams=sums,
            beta=sums,
            gamma=sums,
            boundaries=sums,
            words=lengths,
            in_template=sums,
            yes_no=sums,
            votes=sums,
        )
    assert sums.tolist() == [-4.0, -6.0] and lengths.tolist() == [2, 0]


def test_what_cannot_be_normalised_is_refused() -> None:
    with pytest.raises(InputError, match="Unknown normalization 'ZLOR'; there are LP, MeanLP, PenLP, SLOR, per ch"):
        normalized([-1.0], [1], "ZLOR")
    with pytest.raises(InputError, match="SLOR needs the unigram log-probability of each sentence: choose a corpus"):
        normalized([-1.0], [1], "SLOR")
    with pytest.raises(InputError, match="WordLP needs what the boundaries of words add: score with word b"):
        normalized([-1.0], [1], "WordLP")
    with pytest.raises(InputError, match="MeanWordLP needs the number of words"):
        normalized([-1.0], [1], "MeanWordLP", boundaries=[-1.0])
    with pytest.raises(InputError, match="Each log-likelihood needs one value of boundaries; got 1 and 2"):
        normalized([-1.0], [1], "WordLP", boundaries=[-1.0, -1.0])
    with pytest.raises(InputError, match="MORCELA needs the unigram log-probability"):
        normalized([-1.0], [1], "MORCELA", beta=1.0, gamma=0.0)
    with pytest.raises(InputError, match="MORCELA needs coefficients"):
        normalized([-1.0], [1], "MORCELA", unigrams=[-1.0], beta=1.0)
    with pytest.raises(InputError, match="one value of beta; got 1 and 2"):
        normalized([-1.0], [1], "MORCELA", unigrams=[-1.0], beta=[1.0, 1.0], gamma=0.0)
    with pytest.raises(InputError, match="one value of unigrams; got 1 and 2"):
        normalized([-1.0], [1], "SLOR", unigrams=[-1.0, -2.0])
    with pytest.raises(InputError, match="needs the number of characters"):
        normalized([-1.0], [1], "per character")
    with pytest.raises(InputError, match="bits per byte needs the number of bytes"):
        normalized([-1.0], [1], "bits per byte")
    with pytest.raises(InputError, match="alpha must be 0 or more; got -1"):
        normalized([-1.0], [1], "PenLP", alpha=-1)
    with pytest.raises(InputError, match="alpha must be 0 or more; got nan"):
        normalized([-1.0], [1], "PenLP", alpha=math.nan)
    with pytest.raises(InputError, match="got 2 and 1"):
        normalized([-1.0, -2.0], [1], "LP")
    with pytest.raises(InputError, match="negative length"):
        normalized([-1.0], [-1], "LP")


def test_what_cannot_be_decided_is_refused() -> None:
    with pytest.raises(InputError, match="1 of 2 pairs have a sentence without a score"):
        decisions([-1.0, math.nan], [-2.0, -2.0], [False, False])
    with pytest.raises(InputError, match="got 2, 1 and 2"):
        decisions([-1.0, -1.0], [-2.0], [False, False])
