"""How probable a masked model finds the tokens that two sentences share, in the one sentence and in the other.

What CrowS-Pairs' authors measure: the sentences differ in whom they speak of, and only the rest of each is scored,
given those words. A word that is rare for itself then counts for nothing. It is not the likelihood of the sentences.

Source: Nangia, Vania, Bhalerao, Bowman 2020 (CrowS-Pairs, EMNLP), section 4, and the `mask_unigram` of its metric.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.measures.minimal_pairs.token_alignment import aligned_tokens
from engine.models.loading.weights import Loaded
from engine.models.scoring.masked_lm import scores_at
from engine.models.scoring.scored import too_long
from engine.models.tokenization.spans import token_spans

SIDES = ("first", "second")


def shared_token_log_likelihoods(
    loaded: Loaded, pairs: Sequence[Sequence[str]], *, precision: str = "fp32"
) -> list[dict[str, Any]]:
    """log p(token | all other tokens of its sentence) in nats, for the tokens that the two sentences of a pair share.

    Shared are the ids that `aligned_tokens` pairs as equal, special ones left out; each is masked alone, in a copy of
    its own of either sentence. Returns one piece per pair, in order: tokens, first_log_likelihoods and
    second_log_likelihoods float32 (n_shared,), each 0 or less, and identical (the sentences are the same ids); or
    {"excluded": reason} for a pair that shares no token or has a sentence longer than the model takes. The score of a
    sentence is the sum; both sums have the same number of terms, so that the length of what differs does not count.

    Equal to the reference code on the same tokens, but for its rounding of sums to three decimals. Raises InputError
    for an unknown precision.
    """
    found = [[token_spans(loaded.tokenizer, text) for text in pair] for pair in pairs]
    reasons, places = [], []
    for sides in found:
        long = [f"{side} sentence: {reason}" for side, spans in zip(SIDES, sides, strict=True)
                if (reason := too_long(loaded, len(spans.ids)))]
        equal = [(slot.first, slot.second) for slot in aligned_tokens(sides[0].ids, sides[1].ids)
                 if slot.change == "equal"]
        where = np.array(equal, dtype=np.int64).reshape(-1, 2)  # (n_shared, 2)
        where = where[~sides[0].special[where[:, 0]] & ~sides[1].special[where[:, 1]]]
        reasons.append("; ".join(long) or ("" if len(where) else "The two sentences share no token."))
        places.append(where[:0] if reasons[-1] else where)
    texts = [spans for sides in found for spans in sides]
    positions = [where[:, side] for where in places for side in (0, 1)]
    alone = [np.arange(len(spans.ids)) for spans in texts]
    scores = scores_at(loaded, texts, alone, positions, precision)
    return [
        {"excluded": reason} if reason else {
            "tokens": [sides[0].tokens[i] for i in where[:, 0]],
            "first_log_likelihoods": scores[2 * i], "second_log_likelihoods": scores[2 * i + 1],
            "identical": sides[0].ids == sides[1].ids,
        }
        for i, (sides, where, reason) in enumerate(zip(found, places, reasons, strict=True))
    ]
