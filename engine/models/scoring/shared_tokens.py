"""The log-likelihoods of the tokens that two sentences share, in either sentence, under a masked model.

The measure of CrowS-Pairs: the sentences differ in the group they speak of, and only the other tokens of each are
scored, given those words. So the frequency of the differing words does not count. It is not the likelihood of the
sentences.

Source: Nangia, Vania, Bhalerao, Bowman 2020 (CrowS-Pairs, EMNLP), section 4, and the `mask_unigram` of its metric.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.measures.minimal_pairs.token_alignment import aligned_tokens
from engine.messages.message import Message, named, together
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.masked_lm import scored_positions, scores_at
from engine.models.scoring.scored_tokens import too_long
from engine.models.tokenization.token_cache import TOKENS

SIDES = (named("first"), named("second"))


def shared_token_log_likelihoods(
    loaded: LoadedModel, pairs: Sequence[Sequence[str]], *, next_token: bool = False
) -> list[dict[str, Any]]:
    """log p(token | all other tokens of its sentence) in nats, for the tokens that the two sentences of a pair share.

    next_token: read at the position before the token (MNTP), so that one without a token before it is not scored.
    Shared are the ids that `aligned_tokens` pairs as equal, without special tokens; each is masked alone, in its own
    copy of either sentence. Returns one piece per pair, in order: tokens, first_log_likelihoods and
    second_log_likelihoods float32 (n_shared,), each 0 or less, and identical (the sentences are the same ids); or
    {"excluded": reason} for a pair that shares no token or has a sentence longer than the model takes. The score of a
    sentence is the sum; both sums have the same number of terms, so the length of the differing part does not count.

    Equal to the reference code on the same tokens, but for its rounding of sums to three decimals.
    """
    of_sides = [TOKENS.spans(loaded.tokenizer, [pair[side] for pair in pairs]) for side in range(len(SIDES))]
    spans_by_pair = list(zip(*of_sides, strict=True))
    reasons, shared_positions = [], []
    for sides in spans_by_pair:
        long = [
            Message("{side} sentence: {reason}", side=Message(side), reason=reason)
            for side, spans in zip(SIDES, sides, strict=True)
            if (reason := too_long(loaded, len(spans.ids)))
        ]
        equal = [
            (slot.first, slot.second) for slot in aligned_tokens(sides[0].ids, sides[1].ids) if slot.change == "equal"
        ]
        shared = np.array(equal, dtype=np.int64).reshape(-1, 2)  # (n_shared, 2)
        scored = [np.isin(shared[:, side], scored_positions(sides[side], next_token)) for side in range(len(SIDES))]
        shared = shared[scored[0] & scored[1]]
        reasons.append(together(" ", long) or ("" if len(shared) else Message("The two sentences share no token.")))
        shared_positions.append(shared[:0] if reasons[-1] else shared)
    texts = [spans for sides in spans_by_pair for spans in sides]
    positions = [shared[:, side] for shared in shared_positions for side in (0, 1)]
    alone = [np.arange(len(spans.ids)) for spans in texts]
    scores = scores_at(loaded, [spans.ids for spans in texts], alone, positions, next_token=next_token)
    return [
        {"excluded": reason}
        if reason
        else {
            "tokens": [sides[0].tokens[i] for i in shared[:, 0]],
            "first_log_likelihoods": scores[2 * i],
            "second_log_likelihoods": scores[2 * i + 1],
            "identical": sides[0].ids == sides[1].ids,
        }
        for i, (sides, shared, reason) in enumerate(zip(spans_by_pair, shared_positions, reasons, strict=True))
    ]
