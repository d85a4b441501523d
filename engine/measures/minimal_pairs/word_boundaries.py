"""What the boundaries of words add to the log-likelihoods of their tokens, where tokenizers mark how words begin."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message


def boundary_terms(
    before: ArrayLike, after: ArrayLike, lengths: ArrayLike, inside: ArrayLike | None = None
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """What is to be added to each token so that sums over the tokens of words are log-probabilities of words?

        log p(w | before) = Σ log p(tokens of w) + log Z(after w) − log Z(before w)

    Z is the probability that, next, a token begins a word or the text ends. Where a leading space marks how a word
    begins, the space that ends a word is a part of the next token: the tokens of "cat" are those of "cats" and
    "category", too, and Σ is the probability of all words that begin so, not of the word. Z(after w) is that of
    the word ending there. Z(before w) was paid by the word before, whose end it is: given that end, what begins is a
    word for sure. Of a whole text only the last Z and the first remain.

    Parameters
    ----------
    before : (n_tokens,), log Z before each token that begins a word, in nats; nan before one that goes on with a word.
    after : (n_sentences,), log Z after the last token of each sentence.
    lengths : (n_sentences,), tokens of each sentence, in the order of `before`.
    inside : bool (n_tokens,), those that a region holds; None: all.

    Returns the terms, float64 (n_tokens,), 0 outside of the region, and where a word of the region begins, bool
    (n_tokens,): its tokens that begin words, and the first of each run of tokens.

    A *word* is what stands between white space: a full stop or a comma without a space before it goes on with the word,
    so that at the edge of a region inside of one ("cats" of "cats.") there is no term, and the sum is the probability
    of going on so. The authors' code takes the same pieces, white space and the end of the text. A *text's end* counts
    as the end of a word, whether the model would write EOS there or another word. A *text's beginning* without white
    space cannot hold a piece that begins with it; there Z is the probability of all other pieces and of the end
    (`models.scoring.causal_lm`). Where the first token of a text is not scored, a word that goes on after it has its
    end corrected alone.

    Raises InputError for numbers of tokens that do not fit.

    Source: Pimentel and Meister 2024 (EMNLP; arXiv 2406.14561), for tokenizers that mark the beginnings of words; the
    same finding: Oh and Schuler 2024 (EMNLP; arXiv 2406.10851). Regions are ours.

    >>> terms, begins = boundary_terms([-0.25, np.nan, -0.5], [-1.0], [3])  # the word of two tokens, then another
    >>> terms.tolist(), begins.tolist()
    ([0.25, -0.5, -0.5], [True, False, True])
    """
    at, ends, sizes = (np.asarray(numbers, dtype=np.float64) for numbers in (before, after, lengths))
    n_of_sentence = sizes.astype(np.int64)
    chosen = np.ones(len(at), dtype=bool) if inside is None else np.asarray(inside, dtype=bool)
    if at.shape != chosen.shape or ends.shape != n_of_sentence.shape or int(n_of_sentence.sum()) != len(at):
        raise InputError(
            Message(
                "Each token has one boundary and each sentence one end; got {n} tokens, {at} "
                "boundaries, {n_of_sentence} sentences and {ends} ends.",
                n=int(n_of_sentence.sum()),
                at=len(at),
                n_of_sentence=len(n_of_sentence),
                ends=len(ends),
            )
        )
    last = np.zeros(len(at), dtype=bool)
    last[np.cumsum(n_of_sentence)[n_of_sentence > 0] - 1] = True
    next_one, run_goes_on = np.append(at[1:], np.nan), np.append(False, (chosen & ~last)[:-1])[: len(at)]
    next_one[last] = ends[n_of_sentence > 0]
    terms = np.where(chosen, np.nan_to_num(next_one, neginf=-np.inf) - np.nan_to_num(at, neginf=-np.inf), 0.0)
    return terms, chosen & (~np.isnan(at) | ~run_goes_on)
