"""Pseudo-log-likelihoods (PLL) of masked language models, token by token.

The PLL of a sentence is the sum over its tokens of log p(token | the other tokens), each token masked in its own copy
of the sentence. The copies of all sentences share batches.

A model that predicts a masked token at the position before it (masked next-token prediction, MNTP) is scored there.

Sources: "original" Salazar et al. 2020 (Masked Language Model Scoring); "word-l2r" Kauf and Ivanova 2023
(A Better Way to Do Masked Language Model Scoring), there `within_word_l2r`;
MNTP Charpentier and Samuel 2024 (GPT or BERT: why not both?), as the `mntp` of BabyLM's evaluation has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from engine.errors import InputError
from engine.messages.message import Message, together
from engine.models.finite import require_finite
from engine.models.loading.devices import on_device
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.attention.packing import packed_texts, positions_of, supports_packing
from engine.models.scoring.batching import budget_of_batches, computing, groups_for, padded, run_buckets
from engine.models.scoring.lm_head import log_likelihoods_at, row_costs
from engine.models.scoring.probes import batching_of
from engine.models.scoring.scored_tokens import excluded_piece, scored_piece, too_long
from engine.models.tokenization.encoding import pad_id
from engine.models.tokenization.spans import Spans, word_of_token
from engine.models.tokenization.token_cache import TOKENS

AT_MASK, BEFORE_MASK = "pll", "mntp"
SCORINGS = tuple(f"{read}-{masked}" for read in (AT_MASK, BEFORE_MASK) for masked in ("original", "word-l2r"))
NO_WORD = -2  # in padding: equal to no token's word number


def token_log_likelihoods(
    loaded: LoadedModel, texts: Sequence[str], *, scoring: str, words: str = "auto"
) -> list[dict[str, Any]]:
    """The log-likelihood of each token of each text under a masked model, in nats.

    "pll-original": log p(token t | all other tokens).
    "pll-word-l2r": log p(token t | all other tokens except the later ones of t's word), so that a piece of a word is
    not predicted from the later pieces of the same word. "mntp-original" and "mntp-word-l2r" are the same, with each
    probability read at the position before its token: a token without one before it is not scored.
    `words` defines what a word is (`spans.word_of_token`).

    Scored are all tokens but special ones ([CLS], [SEP], …, also where the text itself contains one); [UNK] is
    scored. Returns one piece per text, in order: tokens, ids int32 (|S|,), spans int32 (|S|, 2), log_likelihoods
    float32 (|S|,), each 0 or less, higher being more probable, and the other fields of `scored_tokens.scored_piece`;
    or {"excluded": reason, "n_tokens": n} for a text without a token to score, or with more tokens than the model
    takes: no text is ever truncated.

    A text's numbers do not depend on the texts beside it, but for the rounding of float32 sums (about 1e-6).
    Equal to minicons' MaskedLMScorer where its words are the same. Raises InputError for an unknown setting.
    """
    check_scoring(scoring)
    spans_by_text = TOKENS.spans(loaded.tokenizer, texts)
    reasons = [too_long(loaded, len(spans.ids)) for spans in spans_by_text]
    masked_together = [
        together_in(text, spans, scoring, words) for text, spans in zip(texts, spans_by_text, strict=True)
    ]
    positions = [
        scored_positions(spans, scoring.startswith(BEFORE_MASK)) if reason is None else np.zeros(0, dtype=np.int64)
        for spans, reason in zip(spans_by_text, reasons, strict=True)
    ]
    scores = scores_at(
        loaded,
        [spans.ids for spans in spans_by_text],
        masked_together,
        positions,
        next_token=scoring.startswith(BEFORE_MASK),
    )
    return [
        excluded_piece(reason, len(spans.ids))
        if reason
        else scored_piece(spans, at, score, read_ids=spans.ids, unknown_id=loaded.tokenizer.unk_token_id)
        for spans, at, score, reason in zip(spans_by_text, positions, scores, reasons, strict=True)
    ]


def check_scoring(scoring: str) -> None:
    """Raises InputError for what is none of SCORINGS."""
    if scoring not in SCORINGS:
        raise InputError(
            Message(
                "A masked model is scored by {SCORINGS}; got {scoring!r}.",
                SCORINGS=together(" or ", SCORINGS),
                scoring=scoring,
            )
        )


def together_in(text: str, spans: Spans, scoring: str, words: str) -> np.ndarray:
    """A number for each token of a text: the token is masked together with the later ones that have the same."""
    return np.arange(len(spans.ids)) if scoring.endswith("original") else word_of_token(text, spans, words)


def scored_positions(spans: Spans, next_token: bool) -> np.ndarray:
    """The positions of the tokens that are scored, int64 (n,): all but special ones, and one without a token before it.

    next_token: as in `scores_at`.
    """
    positions = np.flatnonzero(~spans.special)
    return positions[positions > 0] if next_token else positions


@torch.inference_mode()
def scores_at(
    loaded: LoadedModel,
    ids_by_text: list[list[int]],
    masked_together: list[np.ndarray],
    positions: list[np.ndarray],
    *,
    next_token: bool = False,
) -> list[np.ndarray]:
    """Log-likelihoods float32 (n,) in nats at the `positions` int64 (n,) of each text, one masked copy for each.

    next_token: each is read at the position before its own, which must be 1 or more.

    ids_by_text: what the model reads of each text. `masked_together`: for each text a number per token; the copy for a
    token masks it and the later tokens that have the same number.
    """
    counts = [len(scored_positions) for scored_positions in positions]
    text_of_copy = np.repeat(np.arange(len(ids_by_text)), counts)  # (n_copies,)
    if not len(text_of_copy):
        return [np.zeros(0, dtype=np.float32) for _ in ids_by_text]
    copies = _Copies(
        loaded,
        ids_by_text,
        masked_together,
        text_of_copy,
        np.concatenate(positions),
        int(next_token),
    )
    lengths = np.array([len(ids) for ids in ids_by_text])[text_of_copy]
    device = loaded.device
    result = torch.empty(len(text_of_copy), dtype=torch.float32, device=device)

    def step(indices: list[int]) -> None:
        numbers = np.array(indices, dtype=np.int64)
        batch = copies.packed(numbers) if is_packed else copies.padded(numbers)
        result[on_device(numbers, device)] = log_likelihoods_at(loaded.model, *batch, once_in_each=True)

    budget = budget_of_batches(loaded)
    batching = batching_of(loaded.model)
    with computing(loaded):
        is_packed = supports_packing(loaded.model, int(lengths.max()))
        run_buckets(
            row_costs(loaded.model, lengths, np.ones_like(lengths), budget),
            budget,
            step,
            groups_for(batching, lengths),
            model=loaded.model,
            is_packed=is_packed,
        )
    scores = np.split(result.cpu().numpy(), np.cumsum(counts)[:-1])
    require_finite(loaded, scores, copies.ids)
    return scores


@dataclass(frozen=True)
class _Copies:
    """The masked copies of texts. A batch of them is inputs, and the row, column and target int64 (n,) of each copy.

    text_of_copy, position_of_copy: int64 (n_copies,) the text of each copy and the position that is scored in it.
    shift: how many positions before it its probability is read.
    """

    loaded: LoadedModel
    ids: list[list[int]]
    masked_together: list[np.ndarray]
    text_of_copy: np.ndarray
    position_of_copy: np.ndarray
    shift: int

    def padded(self, copies: np.ndarray) -> tuple[dict[str, Any], torch.Tensor, torch.Tensor, torch.Tensor]:
        """A batch of rows, padded on the right."""
        device, padding = self.loaded.device, pad_id(self.loaded.tokenizer)
        texts, row_of_copy = np.unique(self.text_of_copy[copies], return_inverse=True)
        ids, attention = padded([self.ids[text] for text in texts], padding, device)  # (n_texts, length)
        words, _ = padded([self.masked_together[text] for text in texts], NO_WORD, device)
        row = on_device(row_of_copy, device)
        position = on_device(self.position_of_copy[copies], device)[:, None]  # (n, 1)
        ids, words = ids[row], words[row]  # (n, length)
        targets = ids.gather(1, position)[:, 0]
        later = torch.arange(ids.shape[1], device=device) >= position
        hidden = later & (words == words.gather(1, position))  # the token and the later ones of its word
        masked = ids.masked_fill(hidden, self.loaded.tokenizer.mask_token_id)
        inputs = {"input_ids": masked, "attention_mask": attention[row]}
        return inputs, torch.arange(len(copies), device=device), position[:, 0] - self.shift, targets

    def packed(self, copies: np.ndarray) -> tuple[dict[str, Any], torch.Tensor, torch.Tensor, torch.Tensor]:
        """A batch without padding, in one row."""
        device, model = self.loaded.device, self.loaded.model
        texts, row_of_copy = np.unique(self.text_of_copy[copies], return_inverse=True)
        lengths_of_texts = np.array([len(self.ids[text]) for text in texts])
        first_of_text = np.cumsum(lengths_of_texts) - lengths_of_texts
        lengths = lengths_of_texts[row_of_copy]  # (n,)
        starts = np.cumsum(lengths) - lengths
        copy_of_token = np.repeat(np.arange(len(copies)), lengths)  # (n_tokens,)
        column = np.arange(lengths.sum()) - starts[copy_of_token]
        token = first_of_text[row_of_copy][copy_of_token] + column  # of all tokens of the texts
        ids, words, positions = (
            np.concatenate([np.asarray(numbers, dtype=np.int64) for numbers in of_texts])
            for of_texts in (
                [self.ids[text] for text in texts],
                [self.masked_together[text] for text in texts],
                [positions_of(model, self.ids[text]) for text in texts],
            )
        )
        scored = first_of_text[row_of_copy] + self.position_of_copy[copies]  # (n,)
        hidden = (column >= self.position_of_copy[copies][copy_of_token]) & (
            words[token] == words[scored][copy_of_token]
        )  # the token and the later ones of its word
        masked = np.where(hidden, self.loaded.tokenizer.mask_token_id, ids[token])
        row = packed_texts(model, masked, positions[token], lengths)
        columns = on_device(row.starts + self.position_of_copy[copies] - self.shift, device)
        return row.inputs, torch.zeros_like(columns), columns, on_device(ids[scored], device)
