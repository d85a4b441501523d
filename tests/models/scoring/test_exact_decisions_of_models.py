"""Exact decisions with the bf16 of real models, tiny ones, on pairs of our own and on published ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs.exact_decisions import SAMPLE_PAIRS, ScoredPairs, score_pairs
from engine.evaluations.minimal_pairs.records import DEFAULT_SCORES
from engine.evaluations.minimal_pairs.tables import pair_table, sentence_words
from engine.evaluations.minimal_pairs.views import decided
from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring import causal_lm, masked_lm
from tests.support import tiny_models
from tests.support.precisions import in_precision
from tests.support.shared_data import shared_data

Ask = Callable[[Sequence[str], str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedModel]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "bert": load(str(tiny_models.bert(folder / "bert")), "masked"),
        "gpt2": load(str(tiny_models.gpt2_byte_level(folder / "gpt2")), "causal"),
    }


def asking(loaded: LoadedModel) -> Ask:
    by_precision = {precision: in_precision(loaded, precision) for precision in ("fp32", "bf16")}

    def ask(texts: Sequence[str], precision: str) -> list[dict[str, Any]]:
        if loaded.facts.kind == "causal":
            return causal_lm.token_log_likelihoods(by_precision[precision], texts)
        return masked_lm.token_log_likelihoods(by_precision[precision], texts, scoring="pll-original")

    return ask


def pairs_of_our_own(n: int = 300) -> MinimalPairs:
    random = np.random.default_rng(0)
    words = sorted({word for sentence in tiny_models.ENGLISH for word in sentence.strip(".").split()})
    good, bad = [], []
    for _ in range(n):
        sentence = list(random.choice(words, random.integers(3, 7)))
        other = list(sentence)
        other[random.integers(len(other))] = str(random.choice(words))
        good.append(" ".join(sentence))
        bad.append(" ".join(other))
    return MinimalPairs("own", tuple(good), tuple(bad), ("",) * n, tuple(range(1, n + 1)))


def agree(dataset: MinimalPairs, ask: Ask) -> tuple[ScoredPairs, int]:
    """Whether every decision of exact decisions is that of fp32, and how many bf16 alone would get wrong under LP."""
    scored = {
        precision: score_pairs(dataset, ask, precision, seed=0) for precision in ("exact-decisions", "fp32", "bf16")
    }
    words = sentence_words(dataset)
    tables = {precision: pair_table("m", dataset, found, None, words) for precision, found in scored.items()}
    for normalization in DEFAULT_SCORES:
        np.testing.assert_array_equal(
            decided(tables["exact-decisions"], normalization), decided(tables["fp32"], normalization)
        )
    lp = {precision: decided(table, "LP") for precision, table in tables.items()}
    return scored["exact-decisions"], int((lp["bf16"] != lp["fp32"]).sum())


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_decisions_are_those_of_fp32(models: dict[str, LoadedModel], kind: str) -> None:
    exact, _ = agree(pairs_of_our_own(), asking(models[kind]))
    assert 0 < exact.report["largest_error"] < np.inf and set(exact.scored_in) <= {"fp32", "bf16"}


def test_decisions_on_published_pairs_are_those_of_fp32(models: dict[str, LoadedModel]) -> None:
    files = sorted(shared_data("blimp").glob("*.jsonl"))
    whole = read_pairs([(path.name, path) for path in files])
    part = whole.subset(whole.rows[::40])  # 250 pairs, 25 of each file
    exact, n_wrong = agree(part, asking(models["gpt2"]))
    assert max(n_wrong, SAMPLE_PAIRS) <= exact.report["n_fp32"] <= 250
