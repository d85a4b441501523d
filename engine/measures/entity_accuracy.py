"""Is a named entity translated by one of its accepted names?"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.messages.message import Message, list_of


def entity_hits(
    candidates: Sequence[str], accepted: Sequence[Sequence[str]], *, case_alone: bool = False
) -> NDArray[np.float64]:
    """Does each candidate name the entity of its source by one of the accepted forms?

        hit_i = 1 if a form of i occurs in candidate i, else 0        M-ETA = mean of hit_i

    Parameters
    ----------
    candidates : (n_pairs,) translations.
    accepted : (n_pairs,) the surface forms of each pair's entity that count as right; none: the pair has no entity.
    case_alone : compare after case folding alone, forms as they stand: the authors' own code.

    Returns (n_pairs,): 1, 0, or nan for a pair without an entity. No unit, larger is better. Both texts are compared
    after Unicode's NFKC and case folding unless `case_alone`. A form counts wherever it occurs, also within another
    word (Ann in Anna), and a right name in another spelling than the accepted ones is wrong: the list of forms decides.

    Raises InputError for inputs of different lengths, and for a form without a character.

    Source: M-ETA of Conia et al. 2024 (EMNLP, XC-Translate and KG-MT); its code is src/evaluation/evaluate.py
    of apple/ml-kg-mt, which counts a missing prediction as wrong.

    >>> entity_hits(["Ｌondonに住む", "パリに住む", "町に住む"], [["ロンドン", "london"], ["ロンドン"], []]).tolist()
    [1.0, 0.0, nan]
    """
    if len(candidates) != len(accepted):
        raise InputError(
            Message(
                "Each candidate has its accepted forms; got {candidates} candidates and {accepted} lists of forms.",
                candidates=len(candidates),
                accepted=len(accepted),
            )
        )
    if empty := [number for number, forms in enumerate(accepted, start=1) if not all(map(str.strip, forms))]:
        raise InputError(
            Message("An accepted form has a character; one of pair {empty} has none.", empty=list_of(map(str, empty)))
        )
    return np.array(
        [
            np.nan if not forms else float(_occurs(forms, candidate, case_alone))
            for candidate, forms in zip(candidates, accepted, strict=True)
        ],
        dtype=np.float64,
    )


def folded(text: str) -> str:
    """A text after NFKC and case folding; NFKC again, because folding may undo it.

    >>> folded("ｶﾞ Ⅳ ﾄﾞ STRAẞE")
    'ガ iv ド strasse'
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _occurs(forms: Sequence[str], candidate: str, case_alone: bool) -> bool:
    if case_alone:
        return any(form.casefold() in candidate.casefold() for form in forms)
    text = folded(candidate)
    return any(folded(form.strip()) in text for form in forms)
