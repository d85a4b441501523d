"""The probability of a word at the mask under a masked language model, and the model's own predictions there.

The model reads the sentence with masks in place of the word, tokenised as transformers' fill-mask pipeline does: the
text before the mask, the mask, the text after it. So it sees only the number of the word's pieces. Source: Shibayama
et al. 2020, section 3.2; words of several pieces are our extension, by the chain rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from engine.errors import InputError
from engine.messages.message import Message
from engine.models.finite import require_finite
from engine.models.loading.devices import on_device
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.attention.packing import supports_packing
from engine.models.scoring.batching import budget_of_batches, computing, groups_for, run_buckets
from engine.models.scoring.hidden_states import batch_inputs
from engine.models.scoring.lm_head import log_distributions_at, row_costs
from engine.models.scoring.probes import batching_of
from engine.models.scoring.scored_tokens import excluded_piece, too_long
from engine.models.tokenization.encoding import token_ids
from engine.models.tokenization.spans import token_spans

MAX_PREDICTIONS = 100


@dataclass(frozen=True)
class _MaskedSentence:
    """A sentence to fill: `ids` with one mask at `position`, and the word's pieces; or why it is excluded."""

    ids: list[int]
    position: int
    pieces: list[int]
    crossing: bool = False
    reason: str | None = None

    @property
    def n_tokens(self) -> int:
        return len(self.ids) + max(len(self.pieces) - 1, 0)


def fill_masks(loaded: LoadedModel, sentences: Sequence[Sequence[str]], *, top: int = 10) -> list[dict[str, Any]]:
    """Score the word of each sentence (before, word, after) at its mask; the items are the same for all models.

    The word's pieces are those that cover it in the whole sentence, with the space before it where the tokenizer writes
    one into them. Where one of these extends beyond the word (の本 as one piece), the pieces of the word as the
    tokenizer splits it after a mask are taken, so that the word and nothing else is scored, and `crossing` is true.
    A word of n pieces is n masks; piece j is scored with the pieces before it filled in and masks from j on, so that
    the product of the n probabilities is that of the word. A model that predicts a masked token at the position before
    it (`facts.masked_next_token`) is read there.

    Returns one piece per sentence, in order, all arrays with n rows, one for each mask:
    tokens, ids int32 (n,): the word's. log_likelihoods float32 (n,): log p(piece j | the sentence, pieces before j), in
    nats, each 0 or less. ranks int32 (n,): of piece j among the vocabulary in that distribution, 1 = the most
    probable. top_ids int32 (n, top), top_tokens (n * top, as text) and top_log_likelihoods float32 (n, top): what the
    model ranks first at each mask while all of them are masked. crossing.
    Or {"excluded": reason, "n_tokens": n}: more tokens than the model takes, a word that its vocabulary cannot
    spell ([UNK] is not a word), a sentence that contains the mask token itself. No text is ever truncated.

    A sentence's numbers do not depend on the sentences beside it, but for the rounding of float32 sums (about 1e-6).
    Softmax is taken in float32 over the whole vocabulary. For a word of one piece equal to transformers' fill-mask
    pipeline. Raises InputError for `top` beyond 1 to MOST_PREDICTIONS.
    """
    if not 1 <= top <= MAX_PREDICTIONS:
        raise InputError(
            Message(
                "The number of predictions must be between 1 and {MAX_PREDICTIONS}; got {top}.",
                MAX_PREDICTIONS=MAX_PREDICTIONS,
                top=top,
            )
        )
    masked_sentences = [_masked(loaded, *parts) for parts in sentences]
    kept = [masked for masked in masked_sentences if masked.reason is None]
    computed = iter(_fill_all(loaded, kept, min(top, loaded.facts.vocab_size)))
    return [
        next(computed) if masked.reason is None else excluded_piece(masked.reason, masked.n_tokens)
        for masked in masked_sentences
    ]


def _masked(loaded: LoadedModel, before: str, word: str, after: str) -> _MaskedSentence:
    tokenizer = loaded.tokenizer
    mask = str(tokenizer.mask_token)
    ids = token_ids(tokenizer, before + mask + after, control=[mask])
    positions = [i for i, token in enumerate(ids) if token == tokenizer.mask_token_id]
    if len(positions) != 1:
        reason: str | None = Message(
            "The sentence itself contains {mask}, so that it has {positions} masks.",
            mask=mask,
            positions=len(positions),
        )
        return _MaskedSentence(ids, 0, [], reason=reason)
    pieces, crossing = _pieces(tokenizer, before, word, after)
    masked = _MaskedSentence(ids, positions[0], pieces, crossing)
    if not pieces:
        reason = Message("The tokenizer makes no token of {word!r}.", word=word)
    elif tokenizer.unk_token_id in pieces:
        reason = Message(
            "The vocabulary cannot spell {word!r}: {pieces}.", word=word, pieces=" ".join(_as_text(tokenizer, pieces))
        )
    elif loaded.facts.masked_next_token and not positions[0]:
        reason = Message("No token stands before the mask, where this model predicts it.")
    else:
        reason = too_long(loaded, masked.n_tokens)
    return _MaskedSentence(ids, positions[0], pieces, crossing, reason)


def _pieces(tokenizer: PreTrainedTokenizerBase, before: str, word: str, after: str) -> tuple[list[int], bool]:
    """Ids of the word's pieces, and whether a piece of the whole sentence extends beyond the word."""
    start, end = len(before), len(before) + len(word)
    whole = token_spans(tokenizer, before + word + after)
    firsts, lasts = whole.spans[:, 0], whole.spans[:, 1]
    touching = ~whole.special & (firsts < end) & (lasts > start)
    if not (touching & ((firsts < start) | (lasts > end))).any():
        return [whole.ids[i] for i in np.flatnonzero(touching)], False
    if not before.strip():
        alone = token_spans(tokenizer, word)
        return [token for token, special in zip(alone.ids, alone.special, strict=True) if not special], True
    # After a mask the word does not begin the text, which SentencePiece would mark.
    space = " " if before[-1:].isspace() else ""
    mask = str(tokenizer.mask_token)
    ids = token_ids(tokenizer, f"{mask}{space}{word}", control=[mask])
    added = token_ids(tokenizer, mask, control=[mask])
    mask_index = added.index(tokenizer.mask_token_id)
    return ids[mask_index + 1 : len(ids) - (len(added) - mask_index - 1)], True


@torch.inference_mode()
def _fill_all(loaded: LoadedModel, sentences: list[_MaskedSentence], top: int) -> list[dict[str, Any]]:
    """Score each piece of a word in its own copy of the sentence; the first copy, all masks, gives the predictions."""
    counts = np.array([len(masked.pieces) for masked in sentences], dtype=np.int64)  # (n_sentences,)
    if not len(counts):
        return []
    n_masks = int(counts.sum())
    first_mask = np.cumsum(counts) - counts  # of all masks, a sentence's first
    sentence_of_copy = np.repeat(np.arange(len(sentences)), counts)  # (n_masks,) copy j asks for mask j
    piece_of_copy = np.arange(n_masks) - first_mask[sentence_of_copy]
    lengths = np.array([masked.n_tokens for masked in sentences])[sentence_of_copy]
    shift = int(loaded.facts.masked_next_token)
    device, mask_id = loaded.device, int(loaded.tokenizer.mask_token_id or 0)
    scores = torch.empty(n_masks, dtype=torch.float32, device=device)
    ranks = torch.empty(n_masks, dtype=torch.int32, device=device)
    top_ids = torch.empty((n_masks, top), dtype=torch.int32, device=device)
    top_scores = torch.empty((n_masks, top), dtype=torch.float32, device=device)

    def step(copies: list[int]) -> None:
        rows, columns, targets, masks, is_own_piece = [], [], [], [], []
        batch = []
        for row, copy in enumerate(copies):
            masked, piece = sentences[sentence_of_copy[copy]], int(piece_of_copy[copy])
            n = len(masked.pieces)
            filling = masked.pieces[:piece] + [mask_id] * (n - piece)
            batch.append(masked.ids[: masked.position] + filling + masked.ids[masked.position + 1 :])
            # The copy without any piece is read at all its masks, any other at its first remaining mask.
            piece_numbers = range(n) if piece == 0 else [piece]
            rows += [row] * len(piece_numbers)
            columns += [masked.position + j - shift for j in piece_numbers]
            targets += [masked.pieces[j] for j in piece_numbers]
            masks += [int(copy) - piece + j for j in piece_numbers]
            is_own_piece += [j == piece for j in piece_numbers]
        inputs, firsts = batch_inputs(loaded, batch, is_packed=is_packed)
        row_of, column_of = np.array(rows), np.array(columns)
        if is_packed:
            row_of, column_of = np.zeros_like(row_of), firsts[row_of] + column_of
        # Chosen by index: which elements of a mask are true is known here and would have to be asked of the device.
        all_masked = np.flatnonzero([piece_of_copy[copies[row]] == 0 for row in rows])
        own, mask_of = np.flatnonzero(is_own_piece), np.array(masks)
        target, own_row, own_mask, masked_row, masked_mask = (
            on_device(numbers, device)
            for numbers in (np.array(targets), own, mask_of[own], all_masked, mask_of[all_masked])
        )
        distributions = log_distributions_at(  # (n_looked_at, vocab)
            loaded.model,
            inputs,
            on_device(row_of, device),
            on_device(column_of, device),
            once_in_each=rows == list(range(len(batch))),
        )
        target_scores = distributions.gather(1, target[:, None])  # (n_looked_at, 1)
        scores[own_mask] = target_scores[own_row, 0]
        ranks[own_mask] = 1 + (distributions > target_scores).sum(dim=1, dtype=torch.int32)[own_row]
        if len(all_masked):
            top_of_copies = distributions[masked_row].topk(top, dim=1)
            top_ids[masked_mask] = top_of_copies.indices.to(torch.int32)
            top_scores[masked_mask] = top_of_copies.values

    budget = budget_of_batches(loaded)
    n_scored = np.where(piece_of_copy == 0, counts[sentence_of_copy], 1)
    batching = batching_of(loaded.model)
    with computing(loaded):
        is_packed = supports_packing(loaded.model, int(lengths.max()))
        run_buckets(
            row_costs(loaded.model, lengths, n_scored, budget),
            budget,
            step,
            groups_for(batching, lengths),
            model=loaded.model,
            is_packed=is_packed,
        )
    columns_of = [np.split(values.cpu().numpy(), first_mask[1:]) for values in (scores, ranks, top_ids, top_scores)]
    require_finite(loaded, columns_of[0], [masked.ids for masked in sentences])
    return [
        {
            "tokens": _as_text(loaded.tokenizer, masked.pieces),
            "ids": np.array(masked.pieces, dtype=np.int32),
            "log_likelihoods": score,
            "ranks": rank,
            "top_ids": predicted,
            "top_tokens": _as_text(loaded.tokenizer, predicted.ravel().tolist()),
            "top_log_likelihoods": top_score,
            "crossing": masked.crossing,
        }
        for masked, score, rank, predicted, top_score in zip(sentences, *columns_of, strict=True)
    ]


def _as_text(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> list[str]:
    """Tokens for readers: 日本 for what byte-level BPE writes as æĹ¥æľ¬, otherwise as the vocabulary has them."""
    special = frozenset(tokenizer.all_special_ids)
    shown = []
    for token, name in zip(ids, tokenizer.convert_ids_to_tokens(list(ids)), strict=True):
        spelt = "" if name is None or token in special else str(tokenizer.decode([token])).strip()
        # Without a name: an entry of the model's embeddings that the tokenizer has no piece for.
        shown.append(spelt if spelt and "\ufffd" not in spelt else f"[{token}]" if name is None else str(name))
    return shown
