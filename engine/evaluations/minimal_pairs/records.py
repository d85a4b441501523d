"""The records of minimal pairs: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from engine.measures.minimal_pairs.acceptability import ALPHA
from engine.measures.minimal_pairs.decision_bounds import ALPHAS
from engine.options import option

# The corpus of unigrams that the scored sentences themselves are.
THESE = "these sentences"
CATEGORY = "category"
PRECISION_COLUMNS = ("model", "n", "n_sampled", "n_fp32", "rounds", "largest_error", "safety", "seed")
SHARED_COLUMNS = ("model", "row", "item", "n_shared", "acceptable_log_likelihood", "unacceptable_log_likelihood",
                  "identical")


@dataclass(frozen=True)
class Settings:
    """How sentences are scored; `scoring_rules` says each rule in words."""

    models: tuple[str, ...]
    pll: str = option("word-l2r", "Pseudo-log-likelihood of masked models.", choices={
        "word-l2r": "Each token is masked together with the later tokens of its word, so that the pieces of a word do "
                    "not give each other away (Kauf and Ivanova 2023).",
        "original": "Each token is masked alone. The other pieces of a long word give it away, which favours sentences "
                    "with rare words (Salazar et al. 2020)."})
    words: str = option("auto", "What a word is to word-l2r.", choices={
        "auto": "MeCab's words where the text holds kana or kanji, which are written without spaces; elsewhere the "
                "tokenizer's own.",
        "tokenizer": "The tokenizer's own words: a WordPiece with the ## pieces after it, or what the pre-tokenizer of "
                     "a byte-level BPE or SentencePiece keeps together; white space always begins a new word.",
        "mecab": "MeCab's words (unidic-lite), placed on the tokens by their characters. A token that crosses a "
                 "boundary joins the words it touches into one; a token of white space alone is a word of its own."})
    precision: str = option("fp32", "Precision of the models.", choices={
        "fp32": "Every pair in float32.",
        "bf16": "Every pair in bfloat16, its logits in float32: faster, most of all on a GPU; close pairs may come out "
                "otherwise.",
        "fp16": "Every pair in float16, for graphics cards without bfloat16: more exact, but some models leave its "
                "range.",
        "exact-decisions": "bfloat16 first, then float32 again for every pair whose winner the measured error could "
                           "change under any score shown: every decision is float32's."})
    bos: bool = option(True, "Score the first token of causal models, with a BOS token before it, where the tokenizer "
                             "has one; otherwise the first token is not scored.", both=True)
    leading_space: bool = option(False, "Put a space before each sentence (causal models).", both=True)
    shared_tokens: bool = option(False, "CrowS-Pairs' own measure, too: only the tokens that both sentences share are "
                                        "scored, each masked alone. A second pass; masked models only.")
    seed: int = option(0, "Seed of the matched sample, and of the sample that exact decisions measure errors on.",
                       least=0)


@dataclass(frozen=True)
class Shown:
    """How the stored sums become scores and tables: no model is asked."""

    alpha: float = option(ALPHA, "alpha of PenLP: 0 = length does not count, as in LP; the paper has 0.8.",
                          least=0, shown_most=ALPHAS[1])
    unigrams: str = option(THESE, "Corpus of SLOR's unigrams, how frequent the tokens of a sentence are: these "
                                  "sentences, novel, wiki or the file of an idf dictionary.", metavar="D")
    by: str = option(CATEGORY, "Column that sorts the pairs by category: the category, source, or a column of the data "
                               "such as UID.", metavar="COLUMN")


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
    precision: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(PRECISION_COLUMNS)))
    shared: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(SHARED_COLUMNS)))
    rules: dict[str, str] = field(default_factory=dict)
    tokenizers: dict[str, str] = field(default_factory=dict)
    unigrams: str = THESE
    format: str = ""
    right_to_left: bool = False
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)
