"""How much of the reference's wording does a candidate keep? SentBLEU and chrF, by sacrebleu."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.messages.message import Message, list_of

TOKENIZERS = ("ja-mecab", "13a")
# MeCab fails on a million characters of prose, and on fewer without spaces; no sentence is as long as this.
LONGEST = 4_000
# MeCab ends its input at NUL, and a lone surrogate has no UTF-8 form.
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
# sacrebleu's objects keep caches and a MeCab tagger that are not made for several threads.
_lock = threading.Lock()


def sentence_bleu(
    references: Sequence[Sequence[str]], candidates: Sequence[str], *, tokenizer: str = "ja-mecab"
) -> NDArray[np.float64]:
    """How many of the candidate's words and word sequences are in the reference?

        BLEU = 100 · BP · exp(mean of log p_n, n = 1 … 4),    BP = min(1, exp(1 − |reference| / |candidate|))

    p_n is the share of the candidate's n-grams found in a reference; a p_n of 0 is smoothed (each further one half
    of the last), and orders longer than the candidate are left out.

    Parameters
    ----------
    references : (n_pairs,) the references of each pair, at least one.
    candidates : (n_pairs,) the sentences that are judged.
    tokenizer : "ja-mecab" (MeCab with IPADIC, for Japanese) or "13a" (for text with spaces).

    Returns (n_pairs,). Range: [0, 100], per cent, larger is better.

    Edges: an empty candidate, and one without a word of the reference, has 0. A pair with a text of more than
    4,000 characters has nan: MeCab cannot be trusted with it.

    Raises InputError for another tokenizer, different lengths, or a pair without a reference.

    Source: Papineni et al. 2002, for sentences with the exponential smoothing of sacrebleu (Post 2018), which computes
    it; its signature is `signatures(tokenizer)["sentbleu"]`.

    >>> sentence_bleu([["猫が鳴いた。"]], ["猫が鳴いた。"]).round(6).tolist()
    [100.0]
    """
    if tokenizer not in TOKENIZERS:
        raise InputError(
            Message(
                "The tokenizer is one of {TOKENIZERS}; got {tokenizer!r}.",
                TOKENIZERS=list_of(TOKENIZERS),
                tokenizer=tokenizer,
            )
        )
    return _scores(_bleu(tokenizer), references, candidates)


def chrf(references: Sequence[Sequence[str]], candidates: Sequence[str]) -> NDArray[np.float64]:
    """How many character sequences do candidate and reference share?

        chrF = 100 · (1 + β²) P R / (β² P + R),    β = 2

    P and R are the shares of the candidate's and of the reference's character n-grams (n = 1 … 6, without spaces)
    found on the other side, each the mean over n.

    Parameters, edges and errors: those of `sentence_bleu`, without a tokenizer. Range: [0, 100], per cent, larger
    is better. Of several references the best counts.

    Source: Popović 2015, by sacrebleu; its signature is `signatures(tokenizer)["chrf"]`.

    >>> chrf([["猫が鳴いた。"]], ["犬が鳴いた。"]).round(2).tolist()
    [59.17]
    """
    return _scores(_chrf(), references, candidates)


def surface_scores(pairs: Sequence[Sequence[str]], tokenizer: str) -> dict[str, NDArray[np.float64]]:
    """Both scores of pairs, each the candidate and then its references: `sentbleu` and `chrf`, each (n_pairs,)."""
    references, candidates = [texts[1:] for texts in pairs], [texts[0] for texts in pairs]
    return {
        "sentbleu": sentence_bleu(references, candidates, tokenizer=tokenizer),
        "chrf": chrf(references, candidates),
    }


def signatures(tokenizer: str) -> dict[str, str]:
    """sacrebleu's own signatures of both scores, without the number of references, which differs from pair to pair."""
    with _lock:
        metrics = {"sentbleu": _bleu(tokenizer), "chrf": _chrf()}
        for metric in metrics.values():
            metric.sentence_score("a", ["a"])  # it knows no signature before its first score
        return {name: str(metric.get_signature()).partition("|")[2] for name, metric in metrics.items()}


def _scores(metric: Any, references: Sequence[Sequence[str]], candidates: Sequence[str]) -> NDArray[np.float64]:
    if len(references) != len(candidates):
        raise InputError(
            Message(
                "Each candidate has its references; got {candidates} and {references}.",
                candidates=len(candidates),
                references=len(references),
            )
        )
    if not all(references):
        raise InputError(Message("Each candidate needs at least one reference."))
    values = np.full(len(candidates), np.nan)
    for index, (own_references, candidate) in enumerate(zip(references, candidates, strict=True)):
        if max(map(len, (candidate, *own_references))) <= LONGEST:
            texts = [_UNREADABLE.sub("\ufffd", text) for text in own_references]
            with _lock:
                values[index] = metric.sentence_score(_UNREADABLE.sub("\ufffd", candidate), texts).score
    return np.asarray(np.clip(values, 0, 100))  # sacrebleu says 100.00000000000004 of equal sentences


@lru_cache(maxsize=len(TOKENIZERS))
def _bleu(tokenizer: str) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(tokenize=tokenizer, effective_order=True)


@lru_cache(maxsize=1)
def _chrf() -> Any:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()
