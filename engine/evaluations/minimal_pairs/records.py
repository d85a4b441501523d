"""The records of minimal pairs: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

# The corpus of unigrams that the scored sentences themselves are.
THESE = "these sentences"
PRECISION_COLUMNS = ("model", "n", "n_sampled", "n_fp32", "rounds", "largest_error", "safety", "seed")
SHARED_COLUMNS = ("model", "row", "item", "n_shared", "acceptable_log_likelihood", "unacceptable_log_likelihood",
                  "identical")
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
        token as in `decision_bounds`; 0 in fp32, NaN in halves without exact decisions); item (place in `items`).
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
    precision: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(PRECISION_COLUMNS)))
    shared: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(SHARED_COLUMNS)))
    rules: dict[str, str] = field(default_factory=dict)
    tokenizers: dict[str, str] = field(default_factory=dict)
    unigrams: str = THESE
    format: str = ""
    right_to_left: bool = False
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)
