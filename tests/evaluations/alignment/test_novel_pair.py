"""The pair of the paper on novels, section 5: 斉藤さんは… and 尾崎は…, worked by hand to the last digit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import ModelError
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.records import Scoring, Settings
from engine.evaluations.alignment.rescoring import Scores, rescore
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.idf import IdfDictionary
from engine.models.loading.weights import load
from engine.models.scoring.encoder import token_similarities
from engine.models.sources.facts import ModelFacts
from tests.support.session_fake import facts

REFERENCE = "斉藤さんは今最高の環境にいると思った。"
CANDIDATE = "尾崎は自分がこれまでにないほど良い場所にいると思った。"
PAIR = SentencePairs("the paper's", (REFERENCE,), (CANDIDATE,), ("",), {"mean": (0.477,)}, (1,))
BUILT_IN = "builtin/bert-mini-ja"

# Cut into the words that MeCab makes of them, as the paper's models begin.
TOKENS = {
    "reference": ["斉藤", "さん", "は", "今", "最高", "の", "環境", "に", "いる", "と", "思っ", "た", "。"],
    "candidate": [
        "尾崎",
        "は",
        "自分",
        "が",
        "これ",
        "まで",
        "に",
        "ない",
        "ほど",
        "良い",
        "場所",
        "に",
        "いる",
        "と",
        "思っ",
        "た",
        "。",
    ],
}
# How alike the words are that are not the same; any other two 0.1.
ALIKE = {("斉藤", "尾崎"): 0.8, ("最高", "良い"): 0.7, ("環境", "場所"): 0.6, ("今", "これ"): 0.5, ("今", "自分"): 0.4}
# In how many of 15 documents each word occurs; the names in none. df + 1 is a power of 2, so that with N + 1 = 16
# idf is a multiple of log 2: 最高 場所 3, 環境 良い 2, 今 自分 これ 1, the thirteen others 0, and 4 for 斉藤 and 尾崎.
COUNTS = {
    "最高": 1,
    "場所": 1,
    "環境": 3,
    "良い": 3,
    "今": 7,
    "自分": 7,
    "これ": 7,
    **dict.fromkeys(["さん", "は", "の", "に", "いる", "と", "思っ", "た", "。", "が", "まで", "ない", "ほど"], 15),
}


class WordSession:
    """A model of words that knows only the similarities above."""

    def describe(self, model: str) -> ModelFacts:
        return facts(model)

    def token_similarities(self, model: str, pairs: Sequence[tuple[str, str]], **settings: Any) -> list[dict[str, Any]]:
        piece: dict[str, Any] = {
            "similarity": np.array(
                [[[similarity(r, c) for c in bounded("candidate")] for r in bounded("reference")]], dtype=np.float32
            )
        }
        for side, words in TOKENS.items():
            ends = np.cumsum([len(word) for word in words])
            piece[f"{side}_tokens"] = bounded(side)
            piece[f"{side}_special"] = np.array([True, *[False] * len(words), True])
            piece[f"{side}_spans"] = np.array([(-1, -1), *zip([0, *ends[:-1]], ends, strict=True), (-1, -1)])
        return [piece]


def bounded(side: str) -> list[str]:
    return ["[CLS]", *TOKENS[side], "[SEP]"]


def similarity(one: str, other: str) -> float:
    return 1.0 if one == other else ALIKE.get((one, other), 0.1)


@pytest.fixture
def dictionary(tmp_path: Path) -> str:
    write_idf(IdfDictionary("novel by hand", 15, COUNTS, "t" * 64, "novel"), tmp_path / "novel.json.gz")
    return str(tmp_path / "novel.json.gz")


def scored(dictionary: str, **choices: Any) -> Scores:
    result = evaluate(Settings(("m",)), PAIR, WordSession())  # type: ignore[arg-type]
    return rescore(result, Scoring(dictionary, penalty="reading", **choices))


def test_which_tokens_are_low_frequency_how_they_are_read_and_what_it_costs(dictionary: str) -> None:
    scores = scored(dictionary)
    # 20 entries, of which the lower 70% are 14: the thirteen with idf 0 and one of the three with log 2. So the
    # threshold is log 2, and low-frequency is what is above: the six words below (two of them in no document).
    assert scores.thresholds["m"] == pytest.approx(math.log(2), rel=1e-15)
    tokens = scores.tokens
    rare = tokens[tokens["low_frequency"]]
    # 斉藤 and 尾崎: さいとう and おざき have no kana in common place, distance 4 of 4, M = 0.
    # 最高 and 良い: さいこう and よい: さ becomes よ, い stays, こ and う go: 3 of 4, M = 1 / 4.
    # 環境 and 場所: かんきょう and ばしょ: of か ん き two stand for ば し, one comes in, ょ stays, う comes in: 4 of
    # 5, M = 1 / 5.
    expected = [
        ("reference", "斉藤", "さいとう", "尾崎", "おざき", 4, 0.0),
        ("reference", "最高", "さいこう", "良い", "よい", 3, 0.25),
        ("reference", "環境", "かんきょう", "場所", "ばしょ", 4, 0.2),
        ("candidate", "尾崎", "おざき", "斉藤", "さいとう", 4, 0.0),
        ("candidate", "良い", "よい", "最高", "さいこう", 3, 0.25),
        ("candidate", "場所", "ばしょ", "環境", "かんきょう", 4, 0.2),
    ]
    columns = ["side", "token", "reading", "match_token", "match_reading", "reading_distance"]
    assert rare[columns].to_numpy().tolist() == [list(line[:-1]) for line in expected]
    assert rare["agreement"].tolist() == pytest.approx([line[-1] for line in expected], abs=1e-15)
    assert (tokens.loc[~tokens["low_frequency"] & ~tokens["special"], "agreement"] == 1).all()

    # The reference has 13 tokens, of which 10 keep M = 1; the candidate 17, of which 14 do.
    pair = scores.pairs.iloc[0]
    assert pair["recall_penalty"] == pytest.approx((10 + 0 + 0.25 + 0.2) / 13, rel=1e-15)  # 0.8038461538461538
    assert pair["precision_penalty"] == pytest.approx((14 + 0 + 0.25 + 0.2) / 17, rel=1e-15)  # 0.85

    # Weights in log 2; R: 斉藤 4 * 0.8, 最高 3 * 0.7, 環境 2 * 0.6, 今 1 * 0.5, together 7.0 of 10.
    # P: 尾崎 4 * 0.8, 場所 3 * 0.6, 良い 2 * 0.7, これ 1 * 0.5, 自分 1 * 0.4, together 7.3 of 11.
    # Similarities are float32, good to 6e-8.
    assert pair["recall"] == pytest.approx(7.0 / 10, abs=1e-7)
    assert pair["precision"] == pytest.approx(7.3 / 11, abs=1e-7)
    assert pair["penalized_recall"] == pytest.approx(0.7 * 10.45 / 13, abs=1e-7)  # 0.5626923…
    assert pair["penalized_precision"] == pytest.approx(7.3 / 11 * 0.85, abs=1e-7)  # 0.5640909…
    precision, recall = 7.3 / 11 * 0.85, 0.7 * 10.45 / 13
    assert pair["penalized_f1"] == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-7)


def test_the_penalty_of_proper_nouns_spares_what_is_only_rare(dictionary: str) -> None:
    # 最高, 環境, 良い and 場所 are rare here but no names: only 斉藤 and 尾崎 count, each with M = 0.
    pair = scored(dictionary, criterion="proper-nouns").pairs.iloc[0]
    assert (pair["recall_penalty"], pair["precision_penalty"]) == (12 / 13, 16 / 17)
    both = scored(dictionary, criterion="both").pairs.iloc[0]
    assert (both["recall_penalty"], both["precision_penalty"]) == (12 / 13, 16 / 17)
    either = scored(dictionary, criterion="either").pairs.iloc[0]
    assert either["precision_penalty"] == pytest.approx(14.45 / 17)


def test_unidic_reads_these_six_as_pykakasi_does(dictionary: str) -> None:
    for scope in ("piece", "word"):
        pair = scored(dictionary, reading_engine="unidic", reading_scope=scope).pairs.iloc[0]
        assert pair["precision_penalty"] == pytest.approx(14.45 / 17, rel=1e-15)


class BuiltInSession:
    """The built-in model in this process."""

    def __init__(self) -> None:
        try:
            self._loaded = load(BUILT_IN, "encode")
        except ModelError as error:
            pytest.skip(str(error))

    def describe(self, model: str) -> ModelFacts:
        return self._loaded.facts

    def token_similarities(
        self,
        model: str,
        pairs: Sequence[tuple[str, str]],
        *,
        layers: Sequence[int],
        precision: str = "fp32",
        within: object = None,
    ) -> list[dict[str, Any]]:
        return token_similarities(self._loaded, pairs, layers=layers)


def test_the_built_in_model_cuts_the_names_in_two() -> None:
    result = evaluate(Settings((BUILT_IN,)), PAIR, BuiltInSession())  # type: ignore[arg-type]
    scoring = Scoring("wiki", penalty="reading", criterion="proper-nouns")
    names = rescore(result, scoring).tokens.query("penalised")
    # 斉 and 尾 find each other, ##藤 and ##崎 too; alone they are read せい and お, ふじ and さき, which have nothing
    # in common: M = 0.
    assert names[["token", "reading", "match_token", "agreement"]].to_numpy().tolist() == [
        ["斉", "せい", "尾", 0.0],
        ["##藤", "ふじ", "##崎", 0.0],
        ["尾", "お", "斉", 0.0],
        ["##崎", "さき", "##藤", 0.0],
    ]
    # 16 and 19 tokens without [CLS] and [SEP], two of each with M = 0.
    pair = rescore(result, scoring).pairs.iloc[0]
    assert (pair["recall_penalty"], pair["precision_penalty"]) == (14 / 16, 17 / 19)

    # The novels have 斉, 藤, 尾 and 崎 apart too often for the paper's 70%: as pieces no name is low-frequency.
    in_pieces, in_words = (
        rescore(result, Scoring("novel", penalty="reading", unit=unit, reading_scope="word"))
        for unit in ("subword", "word")
    )
    assert not in_pieces.tokens["low_frequency"].any() and in_pieces.pairs["precision_penalty"].item() == 1
    # As words, whose pieces' idf add up, they are: 斉藤 2.665 + 1.567 = 4.232, 尾崎 1.344 + 1.546 = 2.890, and 環境
    # 1.827 + 1.264 = 3.091 are above the threshold of 2.730.
    rare = in_words.tokens.query("low_frequency")
    assert dict(zip(rare["surface"], rare["idf"].round(3), strict=True)) == {"斉藤": 4.232, "環境": 3.091, "尾崎": 2.89}
    assert rare["reading"].tolist() == ["さいとう", "かんきょう", "おざき"]
