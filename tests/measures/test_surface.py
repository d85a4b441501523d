"""SentBLEU, chrF and the cosine of vectors: by hand, against sacrebleu and scipy, and by their properties."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF
from scipy.spatial.distance import cosine

from engine.errors import InputError
from engine.measures.surface import LONGEST, chrf, sentence_bleu, signatures
from engine.measures.vector_cosine import vector_cosines

PAIRS = [
    ("斉藤さんは今、最高の環境にいると思った。", "尾崎は自分がこれまでにないほど良い場所にいると思った。"),
    ("猫が魚を食べた。", "魚を猫が食べた。"),
    ("雨だ。", "雪だ。"),
    ("私の名前はマリアよ。", "私の名前はマリアよ。"),
]
REFERENCES, CANDIDATES = [[reference] for reference, _ in PAIRS], [candidate for _, candidate in PAIRS]


def test_bleu_by_hand() -> None:
    # the cat sat on the mat | the cat sat on a mat: 5 of 6 words, 3 of 5 couples (the cat, cat sat, sat on),
    # 2 of 4 triples, 1 of 3 fours; equal lengths, so BP = 1: (5/6 * 3/5 * 2/4 * 1/3)^(1/4) = (1/12)^(1/4)
    found = sentence_bleu([["the cat sat on the mat"]], ["the cat sat on a mat"], tokenizer="13a")
    assert found == pytest.approx([100 * (1 / 12) ** 0.25], rel=1e-9)


def test_bleu_of_a_short_candidate_by_hand() -> None:
    # Two words against four: 1 of 1 couple, 2 of 2 words, longer orders do not exist; BP = exp(1 - 4/2)
    found = sentence_bleu([["the cat sat down"]], ["the cat"], tokenizer="13a")
    assert found == pytest.approx([100 * math.exp(-1)], rel=1e-9)


def test_chrf_by_hand() -> None:
    # 猫が鳴いた。 | 犬が鳴いた。: 5 of 6 characters, 4 of 5 couples, 3 of 4, 2 of 3, 1 of 2 and 0 of 1 of both sides:
    # P = R = F = (5/6 + 4/5 + 3/4 + 2/3 + 1/2 + 0) / 6
    expected = 100 * (5 / 6 + 4 / 5 + 3 / 4 + 2 / 3 + 1 / 2) / 6
    assert chrf([["猫が鳴いた。"]], ["犬が鳴いた。"]) == pytest.approx([expected], rel=1e-9)


def test_cosine_by_hand() -> None:
    # (3, 4) and (4, 3): 24 / 25; (1, 0) and (0, 2): 0; (1, 1) and (-2, -2): -1
    found = vector_cosines([[3, 4], [1, 0], [1, 1]], [[4, 3], [0, 2], [-2, -2]])
    assert found == pytest.approx([24 / 25, 0, -1], abs=1e-15)


@pytest.mark.parametrize("tokenizer", ["ja-mecab", "13a"])
def test_equal_sacrebleus(tokenizer: str) -> None:
    bleu, character = BLEU(tokenize=tokenizer, effective_order=True), CHRF()
    found = sentence_bleu(REFERENCES, CANDIDATES, tokenizer=tokenizer), chrf(REFERENCES, CANDIDATES)
    for index, (reference, candidate) in enumerate(PAIRS):
        assert found[0][index] == pytest.approx(bleu.sentence_score(candidate, [reference]).score)
        assert found[1][index] == pytest.approx(character.sentence_score(candidate, [reference]).score)
    assert {name: f"nrefs:1|{said}" for name, said in signatures(tokenizer).items()} == {
        "sentbleu": str(bleu.get_signature()),
        "chrf": str(character.get_signature()),
    }


def test_japanese_is_cut_into_words() -> None:
    # 魚 を 猫 が 食べ た 。 has every word of the reference; cut at spaces it is one word that differs
    assert (
        sentence_bleu(REFERENCES[1:2], CANDIDATES[1:2])[0]
        > 5
        > sentence_bleu(REFERENCES[1:2], CANDIDATES[1:2], tokenizer="13a")[0]
    )
    assert "tok:ja-mecab" in signatures("ja-mecab")["sentbleu"]


@settings(max_examples=40)
@given(seed=st.integers(0, 1000), n=st.integers(1, 12))
def test_cosines_equal_scipys(seed: int, n: int) -> None:
    first, second = np.random.default_rng(seed).normal(size=(2, n, 7))
    expected = [1 - cosine(g, h) for g, h in zip(first, second, strict=True)]
    # the same products in another order
    np.testing.assert_allclose(vector_cosines(first, second), expected, atol=1e-12)
    np.testing.assert_allclose(vector_cosines(9 * second, first / 7), expected, atol=1e-12)
    # A sentence and itself: 1, not 0.9999999999999999 or 1.0000000000000002.
    assert set(vector_cosines(first, first).tolist()) == {1.0} and set(vector_cosines(first, -3 * first).tolist()) == {
        -1.0
    }


@settings(max_examples=30)
@given(texts=st.lists(st.text(max_size=30), min_size=2, max_size=2))
def test_bounds_whatever_the_text(texts: list[str]) -> None:
    for found in (sentence_bleu([texts[:1]], texts[1:]), chrf([texts[:1]], texts[1:])):
        assert 0 <= found[0] <= 100


def test_each_pair_stands_alone() -> None:
    together = sentence_bleu(REFERENCES, CANDIDATES), chrf(REFERENCES, CANDIDATES)
    order = [3, 1, 0, 2]
    turned = (
        sentence_bleu([REFERENCES[i] for i in order], [CANDIDATES[i] for i in order]),
        chrf([REFERENCES[i] for i in order], [CANDIDATES[i] for i in order]),
    )
    for one, other in zip(together, turned, strict=True):
        np.testing.assert_array_equal(one[order], other)
        assert one[3] == 100.0


def test_a_further_reference_never_lowers_chrf() -> None:
    one = chrf([["猫が鳴いた。"]], ["犬が鳴いた。"])[0]
    assert chrf([["猫が鳴いた。", "犬が吠えた。"]], ["犬が鳴いた。"])[0] >= one
    assert chrf([["猫が鳴いた。", "犬が鳴いた。"]], ["犬が鳴いた。"])[0] == 100.0


def test_threads_do_not_mix_their_sentences() -> None:
    alone = sentence_bleu(REFERENCES, CANDIDATES).tolist()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: sentence_bleu(REFERENCES, CANDIDATES).tolist(), range(20)))
    assert found == [alone] * 20


def test_edges() -> None:
    assert sentence_bleu([["雨だ。"]], [""])[0] == 0 and chrf([["雨だ。"]], [""])[0] == 0
    long = "雨" * (LONGEST + 1)
    assert np.isnan(sentence_bleu([[long], ["雨だ。"]], ["雨だ。", long])).all()
    assert sentence_bleu([["\ud800雨\x00だ。"]], ["\ud800雨\x00だ。"])[0] == 100.0
    assert math.isnan(vector_cosines([[0.0, 0.0]], [[1.0, 0.0]])[0])


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(InputError, match="one of ja-mecab, 13a; got 'zh'"):
        sentence_bleu([["a"]], ["a"], tokenizer="zh")
    with pytest.raises(InputError, match="got 1 and 2"):
        chrf([["a"], ["b"]], ["a"])
    with pytest.raises(InputError, match="at least one reference"):
        chrf([[]], ["a"])
    with pytest.raises(InputError, match="one length"):
        vector_cosines([[1.0, 2.0]], [[1.0]])
