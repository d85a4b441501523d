"""The flat arithmetic over all pairs equals the measures, which define it for one pair."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from engine.evaluations.pair_scores import PairTokens, score_pairs
from engine.measures.idf import IdfDictionary, count_documents
from engine.measures.matching import BestMatches, bertscore, best_matches
from engine.measures.reading_penalty import joined_penalty, penalized, penalty

KANA = ["さい", "とう", "おざき", "はし", "", "か", "さいとう", "わた"]
SIDES = ("reference", "candidate")


def made_up(seed: int, n_pairs: int) -> tuple[pd.DataFrame, list[tuple[dict[str, pd.DataFrame], BestMatches]]]:
    """A token table of random pairs as `bertscore.Result` holds it, and each pair apart."""
    random = np.random.default_rng(seed)
    tables, apart = [], []
    for row in range(1, n_pairs + 1):
        n = {side: int(random.integers(3, 9)) for side in SIDES}
        special = {side: np.r_[True, np.zeros(n[side] - 2, dtype=bool), True] for side in SIDES}
        similarity = random.uniform(-0.3, 1, (n["reference"], n["candidate"]))
        matches = {flag: best_matches(similarity, special["reference"], special["candidate"], match_special=flag)
                   for flag in (True, False)}
        pair = {}
        for side in SIDES:
            words = random.integers(0, 12, n[side])
            pair[side] = pd.DataFrame({
                "model": "m", "row": row, "side": side, "position": range(n[side]),
                "token": np.where(special[side], "[CLS]", [f"t{w}" for w in words]),
                "surface": "x", "start": 0, "end": 1,
                "special": special[side], "reading": np.where(special[side], "", [KANA[w % len(KANA)] for w in words]),
                "match_position": getattr(matches[True], f"{side}_match"),
                "similarity": getattr(matches[True], f"{side}_similarity"),
                "word_match_position": getattr(matches[False], f"{side}_match"),
                "word_similarity": getattr(matches[False], f"{side}_similarity"),
            })
            tables.append(pair[side])
        apart.append((pair, matches))  # type: ignore[arg-type]
    return pd.concat(tables, ignore_index=True), apart  # type: ignore[return-value]


@pytest.fixture
def dictionary() -> IdfDictionary:
    # t0 in all 6 documents … t5 in one, t6 and above in none
    return count_documents([[f"t{w}" for w in range(n)] for n in range(1, 7)], "made up", "tokenizer", "line")


@pytest.mark.parametrize("with_idf", [True, False])
@pytest.mark.parametrize("joined", [True, False])
@pytest.mark.parametrize("match_special", [True, False])
def test_all_pairs_at_once_equal_each_pair_by_the_measures(
    dictionary: IdfDictionary, with_idf: bool, joined: bool, match_special: bool
) -> None:
    table, apart = made_up(seed=4, n_pairs=40)
    threshold = dictionary.threshold(0.5)
    chosen = dictionary if with_idf else None
    pairs, tokens = score_pairs(PairTokens.from_table("m", table), chosen, threshold if with_idf else math.nan,
                                penalised=True, joined=joined, match_special=match_special)
    assert len(tokens) == len(table)
    for (pair, matches), (_, got) in zip(apart, pairs.iterrows(), strict=True):
        weights = {side: chosen.idf(list(pair[side]["token"]), pair[side]["special"].to_numpy()) if chosen
                   else (~pair[side]["special"]).to_numpy(dtype=float) for side in SIDES}
        score = bertscore(matches[match_special], weights["reference"], weights["candidate"])  # type: ignore[index]
        penalties = {}
        for side, other in (SIDES, SIDES[::-1]):
            position = getattr(matches[match_special], f"{side}_match")  # type: ignore[index]
            penalties[side] = (joined_penalty if joined else penalty)(
                weights[side] > threshold if chosen else np.zeros(len(pair[side]), dtype=bool),
                list(pair[side]["reading"]),
                [pair[other]["reading"].iloc[p] if p >= 0 else "" for p in position], ~pair[side]["special"].to_numpy())
        expected = penalized(score, penalties["candidate"].value, penalties["reference"].value)
        # float64 sums in another order
        np.testing.assert_allclose(
            [got["precision"], got["recall"], got["f1"], got["precision_penalty"], got["recall_penalty"],
             got["penalized_precision"], got["penalized_recall"], got["penalized_f1"]],
            [score.precision, score.recall, score.f1, penalties["candidate"].value, penalties["reference"].value,
             expected.precision, expected.recall, expected.f1], rtol=1e-12)
        mine = tokens[(tokens["row"] == got["row"]) & (tokens["side"] == "candidate")]
        np.testing.assert_array_equal(mine["agreement"], penalties["candidate"].agreements)
        np.testing.assert_array_equal(mine["reading_distance"], penalties["candidate"].distances)


def scored(table: pd.DataFrame, dictionary: IdfDictionary) -> tuple[pd.DataFrame, pd.DataFrame]:
    return score_pairs(PairTokens.from_table("m", table), dictionary, 0.5, penalised=False, joined=False,
                       match_special=True)


def test_shares_of_a_side_add_up_to_one(dictionary: IdfDictionary) -> None:
    table, _ = made_up(seed=5, n_pairs=10)
    _, tokens = scored(table, dictionary)
    sums = tokens.groupby(["row", "side"])["weight"].sum()
    assert sums.to_numpy() == pytest.approx(np.ones(20))


def test_without_the_penalty_agreements_are_shown_but_cost_nothing(dictionary: IdfDictionary) -> None:
    table, _ = made_up(seed=6, n_pairs=10)
    pairs, tokens = scored(table, dictionary)
    assert (pairs["precision_penalty"] == 1).all() and (pairs["penalized_f1"] == pairs["f1"]).all()
    assert tokens["low_frequency"].any() and (tokens["agreement"].dropna() < 1).any()


def test_a_side_whose_weights_are_all_zero_has_no_score() -> None:
    table, _ = made_up(seed=7, n_pairs=2)
    everywhere = count_documents([[f"t{w}" for w in range(12)]] * 3, "everywhere", "tokenizer", "line")
    pairs, _ = scored(table, everywhere)
    assert pairs[["precision", "recall", "f1"]].isna().all().all()
