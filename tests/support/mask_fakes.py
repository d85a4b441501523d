"""What a masked model without weights says of a mask: characters are tokens, everything depends on every part asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

# Characters that a fake prediction is made of.
LETTERS = tuple("のはがをにへとでもやかねよさしたてなまら")
UNKNOWN = "龘"  # no model can spell it
LOWEST_RANK = 30


def filled(model: object, sentence: Sequence[str], *, top: int, max_tokens: int) -> dict[str, Any]:
    """The piece of (before, word, after); the k-th prediction has half the probability of the one before it.

    The word's piece has a rank that the model, the sentence and the pieces before it decide; within `top` it stands
    among the predictions of a word of one piece.
    """
    before, word, after = sentence
    n_tokens = len(before) + len(word) + len(after) + 2
    if UNKNOWN in word:
        return {"excluded": f"The vocabulary cannot spell {word!r}.", "n_tokens": n_tokens}
    if n_tokens > max_tokens:
        return {"excluded": f"{n_tokens} tokens; the model takes {max_tokens}", "n_tokens": n_tokens}
    ranks, scores, top_ids, top_scores = [], [], [], []
    for j in range(len(word)):
        context = _noise(model, before, after, len(word), j)  # what is put at a mask knows nothing of the word
        best, first = context.permutation(len(LETTERS))[:top], np.log(context.uniform(0.2, 0.5))
        of_piece = _noise(model, before, after, word[: j + 1])
        rank = int(of_piece.integers(1, LOWEST_RANK))
        letters = [LETTERS[i] for i in best if LETTERS[i] != word[j]] + [chr(0x3400 + i) for i in range(top)]
        if len(word) == 1 and rank <= top:
            letters.insert(rank - 1, word[j])
        ranks.append(rank)
        scores.append(first - np.log(2) * (rank - 1))
        top_ids.append([ord(letter) for letter in letters[:top]])
        top_scores.append(first - np.log(2) * np.arange(top))
    return {
        "tokens": list(word),
        "ids": np.array([ord(character) for character in word], np.int32),
        "log_likelihoods": np.array(scores, np.float32),
        "ranks": np.array(ranks, np.int32),
        "top_ids": np.array(top_ids, np.int32),
        "top_tokens": [chr(i) for row in top_ids for i in row],
        "top_log_likelihoods": np.array(top_scores, np.float32),
        "crossing": word.endswith("々"),
    }


def _noise(*parts: object) -> np.random.Generator:
    return np.random.default_rng(crc32("|".join(map(repr, parts)).encode()))
