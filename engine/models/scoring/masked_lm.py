"""Pseudo-log-likelihoods (PLL) of masked language models, token by token.

The PLL of a sentence is the sum over its tokens of log p(token | the other tokens), each token masked in its own copy
of the sentence. The copies of all sentences share batches.

Sources: "original" Salazar et al. 2020 (Masked Language Model Scoring); "word-l2r" Kauf and Ivanova 2023
(A Better Way to Do Masked Language Model Scoring), there `within_word_l2r`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from engine.errors import InputError
from engine.models.loading.devices import on_device
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.batching import budget_of_batches, computing, groups_for, padded, run_buckets
from engine.models.scoring.lm_head import log_likelihoods_at, row_costs
from engine.models.scoring.probes import batching_of
from engine.models.scoring.scored_tokens import excluded_piece, scored_piece, too_long
from engine.models.tokenization.encoding import pad_id
from engine.models.tokenization.spans import Spans, word_of_token
from engine.models.tokenization.token_cache import TOKENS

SCORINGS = ("pll-original", "pll-word-l2r")
NO_WORD = -2  # in padding: equal to no token's word number


def token_log_likelihoods(
    loaded: LoadedModel, texts: Sequence[str], *, scoring: str, words: str = "auto"
) -> list[dict[str, Any]]:
    """The log-likelihood of each token of each text under a masked model, in nats.

    "pll-original": log p(token t | all other tokens).
    "pll-word-l2r": log p(token t | all other tokens except the later ones of t's word), so that a piece of a word is
    not predicted from the later pieces of the same word. `words` defines what a word is (`spans.word_of_token`).

    Scored are all tokens but special ones ([CLS], [SEP], …, also where the text itself contains one); [UNK] is
    scored. Returns one piece per text, in order: tokens, ids int32 (|S|,), spans int32 (|S|, 2), log_likelihoods
    float32 (|S|,), each 0 or less, higher being more probable, and the other fields of `scored_tokens.scored_piece`;
    or {"excluded": reason, "n_tokens": n} for a text without a token to score, or with more tokens than the model
    takes: no text is ever truncated.

    A text's numbers do not depend on the texts beside it, but for the rounding of float32 sums (about 1e-6).
    Equal to minicons' MaskedLMScorer where its words are the same. Raises InputError for an unknown setting.
    """
    if scoring not in SCORINGS:
        raise InputError(f"A masked model is scored by {' or '.join(SCORINGS)}; got {scoring!r}.")
    spans_by_text = TOKENS.spans(loaded.tokenizer, texts)
    reasons = [too_long(loaded, len(spans.ids)) for spans in spans_by_text]
    masked_together = [
        np.arange(len(spans.ids)) if scoring == "pll-original" else word_of_token(text, spans, words)
        for text, spans in zip(texts, spans_by_text, strict=True)
    ]
    positions = [np.flatnonzero(~spans.special) if reason is None else np.zeros(0, dtype=np.int64)
                 for spans, reason in zip(spans_by_text, reasons, strict=True)]
    scores = scores_at(loaded, spans_by_text, masked_together, positions)
    return [
        excluded_piece(reason, len(spans.ids)) if reason
        else scored_piece(spans, scored_positions, score, read_ids=spans.ids, unknown_id=loaded.tokenizer.unk_token_id)
        for spans, scored_positions, score, reason in zip(spans_by_text, positions, scores, reasons, strict=True)
    ]


@torch.inference_mode()
def scores_at(
    loaded: LoadedModel, spans_by_text: list[Spans], masked_together: list[np.ndarray], positions: list[np.ndarray],
) -> list[np.ndarray]:
    """Log-likelihoods float32 (n,) in nats at the `positions` int64 (n,) of each text, one masked copy for each.

    `masked_together`: for each text a number per token; the copy for a token masks it and the later tokens that have
    the same number.
    """
    counts = [len(scored_positions) for scored_positions in positions]
    text_of_copy = np.repeat(np.arange(len(spans_by_text)), counts)  # (n_copies,)
    if not len(text_of_copy):
        return [np.zeros(0, dtype=np.float32) for _ in spans_by_text]
    position_of_copy = np.concatenate(positions)  # (n_copies,)
    lengths = np.array([len(spans.ids) for spans in spans_by_text])[text_of_copy]
    device, padding = loaded.device, pad_id(loaded.tokenizer)
    result = torch.empty(len(text_of_copy), dtype=torch.float32, device=device)

    def step(copies: list[int]) -> None:
        texts, row_of_copy = np.unique(text_of_copy[copies], return_inverse=True)
        ids, attention = padded([spans_by_text[text].ids for text in texts], padding, device)  # (n_texts, length)
        words, _ = padded([masked_together[text] for text in texts], NO_WORD, device)
        row = on_device(row_of_copy, device)
        position = on_device(position_of_copy[copies], device)[:, None]  # (n, 1)
        ids, words = ids[row], words[row]  # (n, length)
        targets = ids.gather(1, position)[:, 0]
        later = torch.arange(ids.shape[1], device=device) >= position
        hidden = later & (words == words.gather(1, position))  # the token and the later ones of its word
        masked = ids.masked_fill(hidden, loaded.tokenizer.mask_token_id)
        inputs = {"input_ids": masked, "attention_mask": attention[row]}
        rows = torch.arange(len(copies), device=device)
        result[copies] = log_likelihoods_at(loaded.model, inputs, rows, position[:, 0], targets)

    budget = budget_of_batches(loaded)
    batching = batching_of(loaded.model)
    with computing(loaded):
        run_buckets(row_costs(loaded.model, lengths, np.ones_like(lengths), budget), budget, step,
                    groups_for(batching, lengths), model=loaded.model)
    return np.split(result.cpu().numpy(), np.cumsum(counts)[:-1])
