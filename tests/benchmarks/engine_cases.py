"""The engine beside bert_score and minicons on the built-in models, and its toggles beside their budgets."""

from __future__ import annotations

import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from bert_score import BERTScorer
from minicons import scorer

from engine.datasets import sample_data
from engine.evaluations import bertscore, minimal_pairs
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.inference.local import LocalWorkers
from engine.models import causal_lm, encoder, masked_lm
from engine.models.cards import built_in_directory
from engine.models.loading import load
from tests.benchmarks.measuring import Budget, Ratio, beside, taken, within

BERT, GPT2 = "builtin/bert-mini-ja", "builtin/gpt2-mini-ja"
PEER_BATCH = 64
N_PAIRS = 67_000
TOGGLE_SECONDS = 0.3


def ratios(folder: Path) -> list[Ratio]:
    """BERTScore, PLL and causal log-likelihood beside their peers; a cached run beside its first."""
    return [_bertscore(), _pll(), _causal(), _cached(folder)]


def budgets() -> list[Budget]:
    """Toggles that only compute: 67,000 minimal pairs, and 1,500 aligned sentence pairs."""
    return [_normalisation_toggle(), _idf_toggle()]


def _bertscore() -> Ratio:
    pairs = sample_data.sentence_pairs()
    items = [(r, c) for r in pairs.references for c in pairs.candidates][:1200]
    loaded = load(BERT, "encode")
    layer = loaded.facts.n_layers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = BERTScorer(model_type=str(built_in_directory(BERT)), num_layers=layer, batch_size=PEER_BATCH,
                          device="cpu")

    def theirs() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer.score([c for _, c in items], [r for r, _ in items], batch_size=PEER_BATCH)

    return beside("BERTScore matrices of 1,200 sentence pairs", "bert_score",
                  lambda: encoder.token_similarities(loaded, items, layers=[layer]), theirs)


def _pll() -> Ratio:
    texts = sample_data.minimal_pairs().acceptable[:100]
    loaded = load(BERT, "masked")
    tokenizer = loaded.tokenizer
    tokenizer.batch_encode_plus = tokenizer  # minicons 0.3.39 calls what transformers 5 dropped
    peer = scorer.MaskedLMScorer(loaded.model, "cpu", tokenizer=tokenizer)
    # `original`, because word-l2r of minicons asks for word_ids, which BertJapaneseTokenizer has not
    return beside("PLL (original) of 100 sentences", "minicons",
                  lambda: masked_lm.token_log_likelihoods(loaded, texts, scoring="pll-original"),
                  lambda: [peer.sequence_score(list(texts[i:i + 10]), PLL_metric="original")
                           for i in range(0, 100, 10)])


def _causal() -> Ratio:
    pairs = sample_data.minimal_pairs()
    texts = [*pairs.acceptable, *pairs.unacceptable]
    loaded = load(GPT2, "causal")
    peer = scorer.IncrementalLMScorer(loaded.model, "cpu", tokenizer=loaded.tokenizer)
    return beside("Causal log-likelihood of 400 sentences", "minicons",
                  lambda: causal_lm.token_log_likelihoods(loaded, texts),
                  lambda: [peer.sequence_score(texts[i:i + PEER_BATCH]) for i in range(0, len(texts), PEER_BATCH)])


def _cached(folder: Path) -> Ratio:
    """The first run of the minimal-pairs sample, workers warm, beside its repetition."""
    dataset = sample_data.minimal_pairs()
    settings = minimal_pairs.Settings((BERT, GPT2))
    seconds: dict[str, list[float]] = defaultdict(list)
    workers = LocalWorkers()
    for number in range(3):
        cache = Cache(folder / f"cache-{number}.sqlite", 2**30)
        gateway = Gateway(workers, cache)

        def run(gateway: Gateway = gateway) -> None:
            minimal_pairs.evaluate(settings, dataset, gateway.session("bench"))

        for model in settings.models:
            scoring = "causal" if model == GPT2 else "pll-word-l2r"
            gateway.session("warm").token_log_likelihoods(model, ["温める。"], scoring=scoring)
        seconds["first"].append(taken(run))
        seconds["again"].append(taken(run))
        cache.close()
    workers.close()
    return Ratio("Minimal-pairs sample again, from the cache", "the first run",
                 float(np.median(seconds["again"])), float(np.median(seconds["first"])))


def _normalisation_toggle() -> Budget:
    random = np.random.default_rng(0)
    pairs = pd.DataFrame({f"{side}_{column}": values for side in minimal_pairs.SIDES for column, values in (
        ("log_likelihood", -random.exponential(40, N_PAIRS)), ("tokens", random.integers(5, 30, N_PAIRS)),
        ("characters", random.integers(10, 60, N_PAIRS)))})
    pairs = pairs.assign(model="m", row=range(N_PAIRS), identical=False,
                         category=random.choice([f"phenomenon {i}" for i in range(67)], N_PAIRS))
    result = minimal_pairs.Result(minimal_pairs.Settings(("m",)), "made up", pairs, pd.DataFrame(), pd.DataFrame())

    def toggle() -> None:
        minimal_pairs.summary(result, ("PenLP",), 0.8)
        minimal_pairs.by_difference(result, "PenLP", 0.8)
        minimal_pairs.by_category(result, "PenLP", 0.8)

    return within("Normalisation toggle at 67,000 pairs: three figures' numbers", TOGGLE_SECONDS, toggle)


def _idf_toggle() -> Budget:
    sample = sample_data.sentence_pairs()
    pairs = [(r, c) for r in sample.references for c in sample.candidates][:1500]
    dataset = type(sample)("made up", tuple(r for r, _ in pairs), tuple(c for _, c in pairs), ("",) * len(pairs),
                           (float("nan"),) * len(pairs), tuple(range(1, len(pairs) + 1)))
    workers = LocalWorkers()
    session = Gateway(workers, None).session("bench")
    result = bertscore.evaluate(bertscore.Settings((BERT,)), dataset, session)
    workers.close()
    return within("idf and penalty toggle at 1,500 aligned pairs", TOGGLE_SECONDS,
                  lambda: bertscore.rescore(result, bertscore.Scoring("novel", penalty="reading")))
