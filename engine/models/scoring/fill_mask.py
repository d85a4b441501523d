"""How probable a masked language model finds a word at the mask, and which tokens it would rather put there.

The model sees the sentence with masks in the word's place, tokenised as transformers' fill-mask pipeline does: the text
before the mask, the mask, the text after it. So nothing of the word shows but how many pieces it has. Source:
Shibayama et al. 2020, section 3.2; words of several pieces are ours, by the chain rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from engine.errors import InputError
from engine.models.loading.weights import Loaded
from engine.models.scoring.batching import autocast, padded, run_buckets, token_budget
from engine.models.scoring.lm_head import log_distributions_at, row_costs
from engine.models.scoring.scored import excluded_piece, too_long
from engine.models.tokenization.encoding import pad_id, token_ids
from engine.models.tokenization.spans import token_spans

MOST_PREDICTIONS = 100


@dataclass(frozen=True)
class _Masked:
    """A sentence to be filled: `ids` with one mask at `position`, and the word's pieces; or why it cannot be."""

    ids: list[int]
    position: int
    pieces: list[int]
    crossing: bool = False
    reason: str | None = None

    @property
    def n_tokens(self) -> int:
        return len(self.ids) + max(len(self.pieces) - 1, 0)


def fill_masks(
    loaded: Loaded, sentences: Sequence[Sequence[str]], *, top: int = 10, precision: str = "fp32"
) -> list[dict[str, Any]]:
    """Fill the word of each sentence (before, word, after), which all models are asked alike.

    The word's pieces are those that cover it in the whole sentence, with the space before it where the tokenizer writes
    one into them. Where one of these reaches beyond the word (の本 as one piece), the word's pieces as the
    tokenizer cuts it after a mask are taken, so that the model is asked for the word and nothing else, and
    `crossing` is true. A word of n pieces is n masks; piece j is asked for with the pieces before it in their
    places and masks from j on, so that the product of the n probabilities is that of the word.

    Returns one piece per sentence, in order, all arrays with n rows, one for each mask:
    tokens, ids int32 (n,): the word's. log_likelihoods float32 (n,): log p(piece j | the sentence, pieces before j), in
    nats, each 0 or less. ranks int32 (n,): of piece j among the vocabulary in that distribution, 1 = the most
    probable. top_ids int32 (n, top), top_tokens (n * top, as text) and top_log_likelihoods float32 (n, top): what the
    model puts first at each mask while all of them are masked. crossing.
    Or {"excluded": reason, "n_tokens": n}: more tokens than the model takes, a word that its vocabulary cannot
    spell ([UNK]: its probability is no word's), a sentence that spells the mask itself. No text is ever cut.

    A sentence's numbers do not depend on the sentences beside it, but for the rounding of float32 sums (about 1e-6).
    Softmax is taken in float32 over the whole vocabulary. For a word of one piece equal to transformers' fill-mask
    pipeline. Raises InputError for `top` beyond 1 to MOST_PREDICTIONS.
    """
    if not 1 <= top <= MOST_PREDICTIONS:
        raise InputError(f"The number of predictions lies between 1 and {MOST_PREDICTIONS}; got {top}.")
    found = [_masked(loaded, *parts) for parts in sentences]
    kept = [masked for masked in found if masked.reason is None]
    computed = iter(_filled(loaded, kept, min(top, loaded.facts.vocab_size), precision))
    return [next(computed) if masked.reason is None else excluded_piece(masked.reason, masked.n_tokens)
            for masked in found]


def _masked(loaded: Loaded, before: str, word: str, after: str) -> _Masked:
    tokenizer = loaded.tokenizer
    mask = str(tokenizer.mask_token)
    ids = token_ids(tokenizer, before + mask + after)
    positions = [i for i, token in enumerate(ids) if token == tokenizer.mask_token_id]
    if len(positions) != 1:
        return _Masked(ids, 0, [], reason=f"The sentence itself spells {mask}, so that it has {len(positions)} masks.")
    pieces, crossing = _pieces(tokenizer, before, word, after)
    masked = _Masked(ids, positions[0], pieces, crossing)
    if not pieces:
        reason: str | None = f"The tokenizer makes no token of {word!r}."
    elif tokenizer.unk_token_id in pieces:
        reason = f"The vocabulary cannot spell {word!r}: {' '.join(_as_text(tokenizer, pieces))}."
    else:
        reason = too_long(loaded, masked.n_tokens)
    return _Masked(ids, positions[0], pieces, crossing, reason)


def _pieces(tokenizer: PreTrainedTokenizerBase, before: str, word: str, after: str) -> tuple[list[int], bool]:
    """Ids of the word's pieces, and whether a piece of the whole sentence reaches beyond the word."""
    start, end = len(before), len(before) + len(word)
    whole = token_spans(tokenizer, before + word + after)
    firsts, lasts = whole.spans[:, 0], whole.spans[:, 1]
    touching = ~whole.special & (firsts < end) & (lasts > start)
    if not (touching & ((firsts < start) | (lasts > end))).any():
        return [whole.ids[i] for i in np.flatnonzero(touching)], False
    if not before.strip():
        alone = token_spans(tokenizer, word)
        return [token for token, special in zip(alone.ids, alone.special, strict=True) if not special], True
    # After a mask the word is no beginning of a sentence, which SentencePiece would mark.
    space = " " if before[-1:].isspace() else ""
    ids = token_ids(tokenizer, f"{tokenizer.mask_token}{space}{word}")
    added = token_ids(tokenizer, str(tokenizer.mask_token))
    place = added.index(tokenizer.mask_token_id)
    return ids[place + 1 : len(ids) - (len(added) - place - 1)], True


@torch.inference_mode()
def _filled(loaded: Loaded, sentences: list[_Masked], top: int, precision: str) -> list[dict[str, Any]]:
    """A copy of a sentence for each piece of its word; the first, all masks, also says what would stand there."""
    counts = np.array([len(masked.pieces) for masked in sentences], dtype=np.int64)  # (n_sentences,)
    if not len(counts):
        return []
    n_masks = int(counts.sum())
    first_mask = np.cumsum(counts) - counts  # of all masks, a sentence's first
    sentence_of_copy = np.repeat(np.arange(len(sentences)), counts)  # (n_masks,) copy j asks for mask j
    piece_of_copy = np.arange(n_masks) - first_mask[sentence_of_copy]
    lengths = np.array([masked.n_tokens for masked in sentences])[sentence_of_copy]
    device, mask_id = loaded.device, int(loaded.tokenizer.mask_token_id or 0)
    padding = pad_id(loaded.tokenizer)
    scores = torch.empty(n_masks, dtype=torch.float32, device=device)
    ranks = torch.empty(n_masks, dtype=torch.int32, device=device)
    top_ids = torch.empty((n_masks, top), dtype=torch.int32, device=device)
    top_scores = torch.empty((n_masks, top), dtype=torch.float32, device=device)

    def step(copies: list[int]) -> None:
        rows, columns, targets, masks, asked = [], [], [], [], []
        batch = []
        for row, copy in enumerate(copies):
            masked, piece = sentences[sentence_of_copy[copy]], int(piece_of_copy[copy])
            n = len(masked.pieces)
            filling = masked.pieces[:piece] + [mask_id] * (n - piece)
            batch.append(masked.ids[:masked.position] + filling + masked.ids[masked.position + 1:])
            # The copy without a piece in place asks for all its masks, any other for the first mask it has left.
            looked_at = range(n) if piece == 0 else [piece]
            rows += [row] * len(looked_at)
            columns += [masked.position + j for j in looked_at]
            targets += [masked.pieces[j] for j in looked_at]
            masks += [int(copy) - piece + j for j in looked_at]
            asked += [j == piece for j in looked_at]
        ids, attention = padded(batch, padding, device)  # (n_copies, length)
        row_of, column_of, target, mask_of, of_piece = (
            torch.tensor(values, device=device) for values in (rows, columns, targets, masks, asked))
        inputs = {"input_ids": ids, "attention_mask": attention}
        distributions = log_distributions_at(loaded.model, inputs, row_of, column_of)  # (n_looked_at, vocab)
        target_scores = distributions.gather(1, target[:, None])  # (n_looked_at, 1)
        scores[mask_of[of_piece]] = target_scores[of_piece, 0]
        ranks[mask_of[of_piece]] = 1 + (distributions > target_scores).sum(dim=1, dtype=torch.int32)[of_piece]
        all_masked = torch.tensor([piece_of_copy[copies[row]] == 0 for row in rows], device=device)
        if all_masked.any():
            best = distributions[all_masked].topk(top, dim=1)
            top_ids[mask_of[all_masked]] = best.indices.to(torch.int32)
            top_scores[mask_of[all_masked]] = best.values

    budget = token_budget(device, loaded.facts.hidden_size)
    n_scored = np.where(piece_of_copy == 0, counts[sentence_of_copy], 1)
    with autocast(device, precision, loaded.model):
        run_buckets(row_costs(loaded.model, lengths, n_scored, budget), budget, step)
    columns_of = [np.split(values.cpu().numpy(), first_mask[1:]) for values in (scores, ranks, top_ids, top_scores)]
    return [
        {
            "tokens": _as_text(loaded.tokenizer, masked.pieces), "ids": np.array(masked.pieces, dtype=np.int32),
            "log_likelihoods": score, "ranks": rank, "top_ids": best,
            "top_tokens": _as_text(loaded.tokenizer, best.ravel().tolist()), "top_log_likelihoods": best_score,
            "crossing": masked.crossing,
        }
        for masked, score, rank, best, best_score in zip(sentences, *columns_of, strict=True)
    ]


def _as_text(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> list[str]:
    """Tokens to read: 日本 for what byte-level BPE writes as æĹ¥æľ¬, and otherwise as the vocabulary has them."""
    special = frozenset(tokenizer.all_special_ids)
    shown = []
    for token, name in zip(ids, tokenizer.convert_ids_to_tokens(list(ids)), strict=True):
        spelt = "" if name is None or token in special else str(tokenizer.decode([token])).strip()
        # Without a name: an entry of the model that the tokenizer has no piece for.
        shown.append(spelt if spelt and "\ufffd" not in spelt else f"[{token}]" if name is None else str(name))
    return shown
