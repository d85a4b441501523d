"""Unigrams for SLOR, chosen after scoring: another corpus, the same model's numbers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs import unigrams
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.records import THESE, Result, Settings
from engine.evaluations.minimal_pairs.unigrams import fits, sentence_sums, with_unigrams
from engine.evaluations.minimal_pairs.views import scores
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.idf import count_documents
from tests.support.session_fake import SessionFake

PAIRS = MinimalPairs("made up", ("猫がいる", "犬と猫"), ("猫をいる", "犬と犬"), ("", ""), (1, 2))
TOKENIZER = "t" * 64  # of every model of the fake


@pytest.fixture(scope="module")
def result() -> Result:
    return evaluate(Settings(("m", "c")), PAIRS, SessionFake({"c": "causal"}))  # type: ignore[arg-type]


def dictionary(folder: Path, tokenizer: str = TOKENIZER) -> Path:
    path = folder / "tiny.json"
    write_idf(count_documents([list("猫がいる猫がいた"), list("犬もいる")], "tiny", tokenizer, "sentence"), path)
    return path


def test_another_corpus_changes_slor_and_nothing_else(result: Result, tmp_path: Path) -> None:
    path = dictionary(tmp_path)
    other = with_unigrams(result, str(path))
    corpus = "猫がいる猫がいた犬もいる"  # 12 tokens, 7 types
    for side, texts in (("acceptable", PAIRS.acceptable), ("unacceptable", PAIRS.unacceptable)):
        expected = [sum(np.log((corpus.count(c) + 1) / (12 + 7 + 1)) for c in text) for text in texts]
        for model in ("m", "c"):
            found = other.pairs[other.pairs["model"] == model][f"{side}_unigrams"]
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert other.unigrams == str(path) and result.unigrams == THESE
    for which in ("LP", "MeanLP", "PenLP", "per character"):
        np.testing.assert_array_equal(scores(other.pairs, which), scores(result.pairs, which))
    assert (scores(other.pairs, "SLOR")[0] != scores(result.pairs, "SLOR")[0]).all()
    # and back again
    np.testing.assert_array_equal(
        with_unigrams(other, THESE).pairs["acceptable_unigrams"], result.pairs["acceptable_unigrams"]
    )


def test_dictionaries_of_other_tokenizers_are_refused(result: Result, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="counted with another tokenizer"):
        with_unigrams(result, str(dictionary(tmp_path, "of another")))
    with pytest.raises(InputError, match="built-in dictionary 'novel'"):
        with_unigrams(result, "novel")


def test_built_in_dictionaries_fit_their_model() -> None:
    from engine.evaluations.shared.dictionaries import BUILT_IN, built_in_paths
    from engine.evaluations.shared.idf_files import read_idf

    by_name = {
        name: {read_idf(path).tokenizer for path in built_in_paths(name) if read_idf(path).token_counts}
        for name in BUILT_IN
    }
    for tokenizer in set.union(*by_name.values()):
        assert [name for name in BUILT_IN if fits(name, tokenizer, "m")] == [
            name for name in BUILT_IN if tokenizer in by_name[name]
        ]


def test_sums_of_consecutive_values() -> None:
    assert sentence_sums(np.array([1.0, 2.0, 3.0]), np.array([0, 3, 0])).tolist() == [0.0, 6.0, 0.0]
    assert sentence_sums(np.array([]), np.array([], dtype=int)).tolist() == []


def test_a_sentence_has_the_same_sum_wherever_it_stands() -> None:
    sums = sentence_sums(np.tile([-0.1, -0.2, -0.3], 50), np.full(50, 3))
    assert len(set(sums.tolist())) == 1 and sums[0] == pytest.approx(-0.6, abs=1e-15)
    # A probability of 0 is that of its own sentence alone.
    assert sentence_sums(np.array([-np.inf, -1.0, -2.0]), np.array([1, 2])).tolist() == [-np.inf, -3.0]


@given(st.data())
def test_sums_are_to_the_last_bit_those_of_each_sentence_alone(data: st.DataObject) -> None:
    n_each = np.array(data.draw(st.lists(st.integers(0, 40), max_size=9)), dtype=np.int64)
    random, n = np.random.default_rng(data.draw(st.integers(0, 2**32))), int(n_each.sum())
    vocabulary = -random.gamma(2, 3, 7) * 10.0 ** random.integers(-12, 3, 7)
    codes = random.integers(0, 7, n).astype(np.int8)
    parts = np.split(vocabulary[codes], np.cumsum(n_each))[: len(n_each)]
    expected = [float(np.add.reduceat(part, [0])[0]) if len(part) else 0.0 for part in parts]
    assert expected == pytest.approx([math.fsum(part) for part in parts])
    for block in (1, 3, 2**20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(unigrams, "BLOCK", block)
            assert sentence_sums(vocabulary[codes], n_each).tolist() == expected
            assert sentence_sums(vocabulary, n_each, codes).tolist() == expected


def test_counts_are_the_same_in_blocks(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unigrams, "BLOCK", 3)
    pd.testing.assert_frame_equal(with_unigrams(result, THESE).pairs, result.pairs)
