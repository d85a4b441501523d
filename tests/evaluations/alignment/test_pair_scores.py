"""The tables of all pairs equal what plain loops over each pair say."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.evaluations.alignment.pair_scores import PairScores, score_pairs
from engine.evaluations.alignment.pair_tokens import PairTokens
from engine.evaluations.alignment.records import AS_BERT_SCORE, LEFT_OUT, TOKEN_SCORES, Scoring
from engine.evaluations.alignment.token_table import READING_COLUMNS
from engine.evaluations.alignment.token_units import subword_units, word_units
from engine.language.readings.words import as_written
from engine.measures.idf import IdfDictionary, count_documents
from engine.options import option_of
from tests.measures import oracles

KANA = ["さい", "とう", "おざき", "はし", "", "か", "さいとう", "わた"]
WRITTEN = "あいうえおかきくけこ3A"  # the character of each token; the last two have no reading
SIDES = ("reference", "candidate")


@dataclass
class Pair:
    """One alignment apart: what the tables hold of it."""

    sides: dict[str, pd.DataFrame]
    similarity: np.ndarray


def made_up(seed: int, n_pairs: int, references: int = 1) -> tuple[PairTokens, list[Pair], np.ndarray]:
    """Random pairs, end to end as a result holds them and each apart, and their similarities end to end."""
    random = np.random.default_rng(seed)
    tables, shapes, pairs = [], [], []
    texts: dict[str, list[str]] = defaultdict(list)
    sides: dict[str, pd.DataFrame] = {}
    for row, reference in itertools.product(range(1, n_pairs + 1), range(1, references + 1)):
        sides = dict(sides)
        for side in SIDES if reference == 1 else SIDES[:1]:  # all references of a row have one candidate
            n = int(random.integers(3, 9))
            special = np.r_[True, np.zeros(n - 2, dtype=bool), True]
            drawn = random.integers(0, 12, n)
            text = "".join(np.where(special, "。", np.array(list(WRITTEN))[drawn]))
            texts[side if side == "candidate" or reference == 1 else f"reference {reference}"].append(text)
            word = np.where(special, -1, np.cumsum(random.random(n) < 0.6))
            sides[side] = pd.DataFrame(
                {
                    "model": "m",
                    "row": row,
                    "reference": reference,
                    "side": side,
                    "position": range(n),
                    "token": np.where(special, "[CLS]", [f"t{w}" for w in drawn]),
                    "surface": np.where(special, "[CLS]", list(text)),
                    "start": range(n),
                    "end": range(1, n + 1),
                    "special": special,
                    "word": word,
                    "proper_noun": ~special & (random.random(n) < 0.3),
                    # what is read of a word is the same for all its pieces
                    **{
                        name: np.where(
                            special,
                            "",
                            [KANA[(number + k) % len(KANA)] for number in (word if name.endswith("word") else drawn)],
                        )
                        for k, name in enumerate(READING_COLUMNS.values())
                    },
                }
            )
        tables += [sides[side].assign(reference=reference) for side in SIDES]
        similarity = random.uniform(-0.3, 1, (len(sides["reference"]), len(sides["candidate"])))
        pairs.append(Pair(sides, similarity))
        shapes.append((row, reference, *similarity.shape))
    table = pd.concat(tables, ignore_index=True)
    for name in ("model", "side", "token", "surface", *READING_COLUMNS.values()):
        table[name] = table[name].astype("category")
    rows = pd.DataFrame({"row": range(1, n_pairs + 1), **texts})
    sizes = pd.DataFrame(shapes, columns=["row", "reference", "n_reference", "n_candidate"])
    tokens = PairTokens("m", table, sizes, rows)
    return tokens, pairs, np.concatenate([pair.similarity.ravel() for pair in pairs])


def scored(
    tokens: PairTokens, similarity: np.ndarray, scoring: Scoring, dictionary: IdfDictionary | None
) -> PairScores:
    threshold = dictionary.threshold(0.5) if dictionary else math.nan
    given: Any = (
        tokens,
        similarity,
        tokens.weights(dictionary, scoring.special_tokens),
        threshold,
        scoring.reading_engine,
        scoring.reading_scope,
    )
    units = word_units(*given, with_idf=dictionary is not None) if scoring.unit == "word" else subword_units(*given)
    return score_pairs(tokens, units, scoring)


@pytest.fixture
def dictionary() -> IdfDictionary:
    # t0 in all 6 documents … t5 in one, t6 and above in none
    return count_documents([[f"t{w}" for w in range(n)] for n in range(1, 7)], "made up", "tokenizer", "line")


def of_units(side: pd.DataFrame, scoring: Scoring, dictionary: IdfDictionary | None, weighed: bool) -> dict[str, Any]:
    """Weights, flags and readings of one sentence's units, and which tokens each unit has: plain Python.

    weighed: special tokens weigh as much as any token where there is no idf.
    """
    special = side["special"].to_numpy(dtype=bool)
    unweighted = special & (not weighed or scoring.special_tokens == "left-out")
    weights = dictionary.idf(list(side["token"]), special) if dictionary else (~unweighted).astype(float)
    readings = list(side[READING_COLUMNS[scoring.reading_engine, scoring.reading_scope]])
    characters = list(side["surface"])
    words = side["word"].to_numpy()
    proper = side["proper_noun"].to_numpy(dtype=bool)
    runs: list[list[int]] = []
    for i in range(len(side)):
        if scoring.unit == "word" and i and not special[i] and not special[i - 1] and words[i] == words[i - 1]:
            runs[-1].append(i)
        else:
            runs.append([i])
    is_special = np.array([special[run[0]] for run in runs])
    total = np.array([weights[run].sum() for run in runs])
    low = (total > dictionary.threshold(0.5)) & ~is_special if dictionary else np.zeros(len(runs), dtype=bool)
    name = np.array([proper[run].any() for run in runs])
    if scoring.unit == "word":
        written = ["".join(characters[i] for i in run) for run in runs]
    elif scoring.reading_scope == "word":
        written = [
            "".join(character for character, number in zip(characters, words, strict=True) if number == word)
            for word in words
        ]
    else:
        written = characters
    if scoring.unit == "subword":
        read = readings
    elif scoring.reading_scope == "word":
        read = [readings[run[0]] for run in runs]
    else:
        read = ["".join(readings[i] for i in run) for run in runs]
    pieces = scoring.unit == "word" and scoring.reading_scope == "piece"
    whole = [all(readings[i] for i in run) if pieces else bool(read[k]) for k, run in enumerate(runs)]
    whole = [flag and not set(text) & set("3A") for flag, text in zip(whole, written, strict=True)]
    flags = {"idf": low, "proper-nouns": name, "either": low | name, "both": low & name}[scoring.criterion]
    return {
        "runs": runs,
        "special": is_special,
        "weights": total
        if dictionary or scoring.unit == "subword"
        else np.array([not unweighted[run[0]] for run in runs], dtype=float),
        "flags": flags & ~is_special,
        "readings": read,
        "whole": whole,
        "written": written,
        "words": [words[run[0]] for run in runs],
    }


CHOICES = [
    {},
    {"pairing": "joined"},
    {"match_special": False},
    {"criterion": "proper-nouns"},
    {"criterion": "either"},
    {"criterion": "both", "pairing": "joined"},
    {"reading_engine": "unidic"},
    {"reading_scope": "word"},
    {"reading_scope": "word", "pairing": "joined"},
    {"unit": "word"},
    {"unit": "word", "reading_scope": "word"},
    {"unit": "word", "pairing": "joined", "match_special": False},
    {"unit": "word", "criterion": "either"},
    {"special_tokens": "left-out"},
    {"special_tokens": "left-out", "unit": "word", "match_special": False},
]
# What a run says of its model's special tokens, here all "[CLS]": that BERT has no other, that they are BOS and EOS of
# a tokenizer without cls_token and sep_token, and nothing, as runs of earlier versions do.
TOKENIZERS = {"bert": (("[CLS]",), ("[CLS]",)), "gemma": (("[CLS]",), ()), "unknown": (None, None)}


@pytest.mark.parametrize("with_idf", [True, False])
@pytest.mark.parametrize("choices", CHOICES, ids=str)
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_all_pairs_at_once_equal_each_pair_by_the_measures(
    dictionary: IdfDictionary, with_idf: bool, choices: dict[str, Any], tokenizer: str
) -> None:
    scoring = Scoring("made up" if with_idf else "none", penalty="reading", **choices)
    chosen = dictionary if with_idf else None
    tokens, apart, similarity = made_up(seed=4, n_pairs=12)
    template, cls_and_sep = TOKENIZERS[tokenizer]
    tokens = replace(tokens, template_tokens=template, cls_and_sep=cls_and_sep)
    scores = scored(tokens, similarity, scoring, chosen)
    explained = scores.frame()
    for pair, (_, got) in zip(apart, scores.pairs.iterrows(), strict=True):
        units = {side: of_units(pair.sides[side], scoring, chosen, tokenizer == "gemma") for side in SIDES}
        matrix = oracles.word_matrix(pair.similarity, *(units[side]["runs"] for side in SIDES))
        matches = dict(
            zip(
                SIDES,
                oracles.best_matches(
                    matrix,
                    *(units[side]["special"] for side in SIDES),
                    match_special=scoring.match_special and scoring.special_tokens != "left-out",
                ),
                strict=True,
            )
        )
        recall, precision = (oracles.weighted_mean(matches[side].similarity, units[side]["weights"]) for side in SIDES)
        penalties = {}
        for side, other in (SIDES, SIDES[::-1]):
            own, position = units[side], matches[side].position
            read, matched = oracles.compared(own, units[other], position, as_written)
            if scoring.pairing == "joined" and scoring.reading_scope == "word" and scoring.unit == "subword":
                both = [(word, units[other]["words"][p]) for word, p in zip(own["words"], position, strict=True)]
                matched = oracles.read_once(matched, both, own["flags"])
                read = oracles.read_once(read, own["words"], own["flags"])
            penalties[side] = (oracles.joined_penalty if scoring.pairing == "joined" else oracles.penalty)(
                own["flags"], read, matched, ~own["special"]
            )
        factors = penalties["candidate"].value, penalties["reference"].value
        lowered = precision * factors[0], recall * factors[1]
        # float64 sums in another order
        np.testing.assert_allclose(
            [
                got["precision"],
                got["recall"],
                got["f1"],
                got["precision_penalty"],
                got["recall_penalty"],
                got["penalized_precision"],
                got["penalized_recall"],
                got["penalized_f1"],
            ],
            [precision, recall, oracles.f1(precision, recall), *factors, *lowered, oracles.f1(*lowered)],
            rtol=1e-12,
        )
        for side in SIDES:
            mine = explained[(explained["row"] == got["row"]) & (explained["side"] == side)]
            agreements = np.where(units[side]["special"], np.nan, penalties[side].agreements)
            np.testing.assert_array_equal(mine["agreement"], agreements)
            np.testing.assert_array_equal(mine["reading_distance"], penalties[side].distances)
            np.testing.assert_array_equal(mine["match_position"], matches[side].position)
            np.testing.assert_array_equal(mine["penalised"], units[side]["flags"])
            assert mine["position"].tolist() == list(range(len(units[side]["runs"])))


def test_a_special_token_is_never_penalised(dictionary: IdfDictionary) -> None:
    tokens, _, similarity = made_up(seed=4, n_pairs=5)
    tokens.table["proper_noun"] = True
    for criterion in option_of(Scoring, "criterion").choices:
        frame = scored(tokens, similarity, Scoring("n", penalty="reading", criterion=criterion), dictionary).frame()
        assert frame["penalised"].any() and not frame.loc[frame["special"], "penalised"].any()


def test_a_token_without_a_match_has_no_special_one(dictionary: IdfDictionary) -> None:
    tokens, _, similarity = made_up(seed=4, n_pairs=1)
    tokens.table.loc[tokens.table["side"] == "candidate", "special"] = True
    frame = scored(tokens, similarity, Scoring("n", match_special=False), dictionary).frame()
    alone = frame["match_position"] < 0
    assert alone.equals(frame["side"] == "reference") and not frame.loc[alone, "match_special"].any()


def test_of_several_references_each_score_is_the_greatest(dictionary: IdfDictionary) -> None:
    scoring = Scoring("made up", penalty="reading")
    tokens, apart, similarity = made_up(seed=8, n_pairs=12, references=3)
    scores = scored(tokens, similarity, scoring, dictionary)
    alone = []
    for k in range(len(apart)):
        one, block = tokens.of_alignment(k), apart[k].similarity.ravel()
        alone.append(scored(one, block, scoring, dictionary))
    for place, row in enumerate(range(0, len(apart), 3)):
        of_row = pd.concat([one.pairs for one in alone[row : row + 3]])
        got = scores.pairs.iloc[place]
        for name in ("precision", "recall", "f1", "penalized_precision", "penalized_recall", "penalized_f1"):
            assert got[name] == pytest.approx(of_row[name].max(), rel=1e-12)
        best = int(np.nanargmax(of_row["penalized_f1"]))
        assert got["best_reference"] == best + 1 and got["recall_penalty"] == of_row["recall_penalty"].iloc[best]
        # the tokens are those of that reference
        pd.testing.assert_frame_equal(scores.frame(place, place + 1), alone[row + best].frame())


def test_a_reference_without_a_score_gives_way_to_one_with() -> None:
    tokens, _, similarity = made_up(seed=14, n_pairs=1, references=2)
    everywhere = count_documents([[f"t{w}" for w in range(12)]] * 2, "n", "t", "u")
    first = tokens.table[(tokens.table["reference"] == 1) & (tokens.table["side"] == "reference")]
    assert scored(tokens, similarity, Scoring("n"), everywhere).pairs["f1"].isna().all()
    rare = count_documents([[token for token in first["token"].unique() if token != "[CLS]"]] * 2, "n", "t", "u")
    got = scored(tokens, similarity, Scoring("n"), rare).pairs.iloc[0]  # no token of the first weighs something
    assert got["best_reference"] == 2 and np.isfinite(got["f1"])


def test_the_frame_of_some_rows_is_a_part_of_the_whole(dictionary: IdfDictionary) -> None:
    for unit in ("subword", "word"):
        tokens, _, similarity = made_up(seed=5, n_pairs=10)
        scores = scored(tokens, similarity, Scoring("n", unit=unit), dictionary)
        whole = scores.frame()
        assert list(whole.columns) == TOKEN_SCORES.headers
        pd.testing.assert_frame_equal(scores.frame(3, 6), whole[whole["row"].isin([4, 5, 6])].reset_index(drop=True))
        words = whole[~whole["special"]]
        if unit == "word":  # a word is what the sentence has from its first piece to its last
            assert {
                len(surface)
                for surface, n in zip(words["surface"], words["end"] - words["start"], strict=True)
                if n > 1 and len(surface) != n
            } == set()


def test_shares_of_a_side_add_up_to_one(dictionary: IdfDictionary) -> None:
    tokens, _, similarity = made_up(seed=5, n_pairs=10)
    sums = scored(tokens, similarity, Scoring("n"), dictionary).frame().groupby(["row", "side"])["weight"].sum()
    assert sums.to_numpy() == pytest.approx(np.ones(20))


def test_a_sentence_weighs_the_same_in_pieces_and_in_words(dictionary: IdfDictionary) -> None:
    tokens, _, similarity = made_up(seed=5, n_pairs=10)
    pieces, words = (
        scored(tokens, similarity, Scoring("n", unit=unit), dictionary).frame() for unit in ("subword", "word")
    )
    assert pieces.groupby(["row", "side"])["idf"].sum().to_numpy() == pytest.approx(
        words.groupby(["row", "side"])["idf"].sum().to_numpy()
    )


def test_without_the_penalty_agreements_are_shown_but_cost_nothing(dictionary: IdfDictionary) -> None:
    tokens, _, similarity = made_up(seed=6, n_pairs=10)
    scores = scored(tokens, similarity, Scoring("n", penalty="none"), dictionary)
    pairs, frame = scores.pairs, scores.frame()
    assert (pairs["precision_penalty"] == 1).all() and (pairs["penalized_f1"] == pairs["f1"]).all()
    assert frame["low_frequency"].any() and (frame["agreement"].dropna() < 1).any()


def test_a_side_whose_weights_are_all_zero_has_no_score() -> None:
    tokens, _, similarity = made_up(seed=7, n_pairs=2)
    everywhere = count_documents([[f"t{w}" for w in range(12)]] * 3, "everywhere", "tokenizer", "line")
    pairs = scored(tokens, similarity, Scoring("n"), everywhere).pairs
    assert pairs[["precision", "recall", "f1"]].isna().all().all()


def test_the_references_are_counted_without_special_tokens() -> None:
    tokens, apart, _ = made_up(seed=3, n_pairs=20, references=2)
    lists = [
        [
            token
            for token, special in zip(pair.sides["reference"]["token"], pair.sides["reference"]["special"], strict=True)
            if not special
        ]
        for pair in apart
    ]
    expected = count_documents(lists, "n", "t", "u")
    for special_tokens in option_of(Scoring, "special_tokens").choices:  # a run that does not say which are which
        assert tokens.reference_counts(special_tokens) == (expected.n_documents, expected.document_counts)
    # t3 as a control token that texts contain: bert_score counts it, and [CLS], which is in all, has idf 0.
    tokens.table["special"] |= tokens.table["token"] == "t3"
    tokens = replace(tokens, template_tokens=("[CLS]",), cls_and_sep=("[CLS]",))
    assert tokens.reference_counts(AS_BERT_SCORE) == (expected.n_documents, expected.document_counts)
    without = {token: count for token, count in expected.document_counts.items() if token != "t3"}
    assert tokens.reference_counts(LEFT_OUT) == (expected.n_documents, without) and len(without) < len(
        expected.document_counts
    )
    assert tokens.weightless_tokens(AS_BERT_SCORE, with_idf=True) == ("[CLS]",)
    assert tokens.weightless_tokens(LEFT_OUT, with_idf=True) == ("[CLS]", "t3")
