"""Minimal pairs: does a model prefer the acceptable sentence, and how much of that is its length?

A causal model is scored by its log-likelihood, a masked one by a pseudo-log-likelihood. The result
holds sums of token log-likelihoods; every normalisation is arithmetic on them afterwards (`pair_views`).
Paper: Ueda, Mita, Komachi, NLP 2024, sections 2-4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs import MinimalPairs
from engine.errors import InputError, ModelError
from engine.evaluations import pair_notices, pair_tables
from engine.evaluations.dictionaries import BUILT_IN
from engine.evaluations.exact_decisions import ScoredPairs, score_pairs
from engine.evaluations.scoring_rules import PLL, WORDS, scoring_rule
from engine.evaluations.signature import require_models, signature
from engine.evaluations.unigrams import THESE, fits, log_probabilities, with_unigrams
from engine.inference.gateway import GatewaySession
from engine.language.quantities import count
from engine.models.facts import ModelFacts

PRECISIONS = ("fp32", "bf16", "fp16", "exact-decisions")


@dataclass(frozen=True)
class Settings:
    """How sentences are scored.

    `pll` and `words` concern masked models, `bos` (score from the BOS token, where the tokenizer has one) and
    `leading_space` causal ones; `scoring_rules` says each in words. precision: "fp32", "bf16", "fp16" or
    "exact-decisions" (bf16, and fp32 wherever that could change a winner; see `evaluations.exact_decisions`), whose
    sample `seed` draws.
    shared_tokens: have masked models score the tokens that both sentences share, too, as CrowS-Pairs does.
    """

    models: tuple[str, ...]
    pll: str = "word-l2r"
    words: str = "auto"
    precision: str = "fp32"
    bos: bool = True
    leading_space: bool = False
    shared_tokens: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Result:
    """Everything the minimal-pairs page draws; log-likelihoods are sums in nats.

    pairs: model, row, category, acceptable, unacceptable, acceptable_tokens, unacceptable_tokens (|S|),
        acceptable_log_likelihood, unacceptable_log_likelihood, identical (the model reads one and the same), and of
        either side characters, unknown (tokens that stand for unknown characters) and unigrams (log P_u of
        `unigrams`, for SLOR); scored_in ("fp32", "bf16", "fp16"); error_bound (of the margin, nats per square root of a
        token as in `measures.settled`; 0 in fp32, NaN in halves without exact decisions); item (place in `items`).
    tokens: model, row, side, position, token, log_likelihood. excluded: model, row, reason.
    items: every pair of the dataset: row, source, category and its further fields as "field:<name>".
    precision: of exact decisions: model, n (pairs), n_sampled, n_fp32 (pairs scored again), rounds, largest_error (of
        a margin, in the unit of error_bound), safety (its factor), seed.
    shared: of `settings.shared_tokens`: model, row, item, n_shared, acceptable_log_likelihood,
        unacceptable_log_likelihood (over the shared tokens), identical.
    rules: model -> how it was scored, in words. tokenizers: model -> fingerprint. format: the dataset's layout.
    """

    settings: Settings
    dataset_name: str
    pairs: pd.DataFrame
    tokens: pd.DataFrame
    excluded: pd.DataFrame
    items: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=["row", "source", "category"]))
    precision: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(pair_tables.PRECISION_COLUMNS)))
    shared: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(pair_tables.SHARED_COLUMNS)))
    rules: dict[str, str] = field(default_factory=dict)
    tokenizers: dict[str, str] = field(default_factory=dict)
    unigrams: str = THESE
    format: str = ""
    right_to_left: bool = False
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)


def evaluate(settings: Settings, dataset: MinimalPairs, session: GatewaySession) -> Result:
    """Score both sentences of every pair under every model of `settings`.

    A pair with a sentence that is too long for a model, or of which the model scores no token, is left out
    for that model and listed in `excluded`. Raises InputError for settings that cannot be and when
    no pair remains; ModelError when a model cannot score sentences.
    """
    _check(settings)
    all_facts = [session.describe(model) for model in settings.models]
    scorings = {facts.name: _scoring(facts, settings) for facts in all_facts}
    scored, shared = {}, []
    for facts in all_facts:
        scored[facts.name] = _scored(settings, dataset, session, facts, scorings[facts.name])
        if settings.shared_tokens and facts.kind == "masked":
            shared.append(_shared(settings, dataset, session, facts.name))
    excluded = [pair_tables.excluded_table(model, dataset, found) for model, found in scored.items()]
    for model, table in zip(scored, excluded, strict=True):
        if len(table) == dataset.n:
            first = f"; the first: row {table['row'].iloc[0]}, {table['reason'].iloc[0]}" if dataset.n else ""
            raise InputError(f"{model} can score none of the {count(dataset.n, 'pair')}{first}.")
    result = Result(
        settings=settings, dataset_name=dataset.name,
        pairs=pd.concat([pair_tables.pair_table(model, dataset, found) for model, found in scored.items()],
                        ignore_index=True),
        tokens=pair_tables.token_table(dataset, scored), excluded=pd.concat(excluded, ignore_index=True),
        items=pair_tables.item_table(dataset), precision=pair_tables.precision_table(scored),
        shared=pd.concat([table for table, _ in shared], ignore_index=True) if shared
        else pd.DataFrame(columns=list(pair_tables.SHARED_COLUMNS)),
        rules={facts.name: scoring_rule(facts, pll=settings.pll, words=settings.words, bos=settings.bos,
                                        leading_space=settings.leading_space) for facts in all_facts},
        tokenizers={facts.name: facts.tokenizer_fingerprint for facts in all_facts}, format=dataset.format,
        right_to_left=dataset.right_to_left,
        signature=signature(settings, all_facts, dataset.content_hash, scoring=scorings),
    )
    result = with_unigrams(result, THESE)
    said = pair_notices.notices(result, dataset, all_facts, [notice for _, left in shared for notice in left])
    return replace(result, notices=(*dataset.notices, *said))


def _scored(settings: Settings, dataset: MinimalPairs, session: GatewaySession, facts: ModelFacts, scoring: str
            ) -> ScoredPairs:
    def ask(texts: Sequence[str], precision: str) -> list[dict[str, Any]]:
        return session.token_log_likelihoods(
            facts.name, texts, scoring=scoring, words=settings.words, precision=precision, bos=settings.bos,
            leading_space=settings.leading_space)

    def unigrams(vocabulary: list[str], counts: np.ndarray) -> list[np.ndarray]:
        """Of all corpora that a page can offer for this model."""
        built_in = [name for name in BUILT_IN if fits(name, facts.tokenizer_fingerprint, facts.name)]
        return [log_probabilities(vocabulary, counts, choice, facts.tokenizer_fingerprint, facts.name)
                for choice in (THESE, *built_in)]

    return score_pairs(dataset, ask, settings.precision, seed=settings.seed, unigrams=unigrams)


def _shared(settings: Settings, dataset: MinimalPairs, session: GatewaySession, model: str
            ) -> tuple[pd.DataFrame, list[str]]:
    # Exact decisions are about whole sentences; here bfloat16 would save little and cost them.
    precision = "fp32" if settings.precision == "exact-decisions" else settings.precision
    pieces = session.shared_token_log_likelihoods(
        model, list(zip(dataset.acceptable, dataset.unacceptable, strict=True)), precision=precision)
    table = pair_tables.shared_table(model, dataset, pieces)
    n_left = dataset.n - len(table)
    return table, [f"{model}: {n_left} of {dataset.n} pairs share no token, or are too long, and have no shared-token "
                   "score."] if n_left else []


def _check(settings: Settings) -> None:
    require_models(settings.models)
    for name, given, allowed in (("pll", settings.pll, PLL), ("words", settings.words, WORDS),
                                 ("precision", settings.precision, PRECISIONS)):
        if given not in allowed:
            raise InputError(f"{name} is one of {', '.join(allowed)}; got {given!r}.")


def _scoring(facts: ModelFacts, settings: Settings) -> str:
    if facts.kind == "causal":
        return "causal"
    if facts.kind == "masked" and facts.has_mask:
        return f"pll-{settings.pll}"
    if facts.kind == "masked":
        raise ModelError(f"The tokenizer of {facts.name} ({facts.tokenizer}) has no mask token, so no "
                         "pseudo-log-likelihood can be taken. Give the model the tokenizer it was trained with.")
    raise ModelError(f"{facts.name} ({facts.architecture}) has no language-model head, so it gives no sentence a "
                     "likelihood. Choose a causal or a masked language model.")
