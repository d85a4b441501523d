"""Unknown tokens and those of the other sentence: to the model they are one token, so their texts are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.evaluations.alignment.units import Units
from engine.language.readings.words import as_written
from engine.measures.bertscore import BestMatches
from engine.measures.reading_penalty import TokenAgreements, token_agreements


@dataclass(frozen=True, eq=False)
class UnknownMatches:
    """The unknown units that are compared by their texts, each array (n_units,).

    compared: bool. position: int, where what each is compared with stands in the other sentence; 0 elsewhere.
    agreements: M and the distance of the two, 1 and nan elsewhere.
    """

    compared: np.ndarray
    position: np.ndarray
    agreements: TokenAgreements


def unknown_matches(units: Units, matches: BestMatches, match: np.ndarray, *, by_sound: bool) -> UnknownMatches:
    """The unknown units whose best match by vector is unknown as well, and how alike the texts are.

    match: of each unit the best match among all units. Which of several unknown units of the other sentence the vectors
    are nearest to says little, as all have one embedding: where one of them has the same text, that is the match.
    """
    compared = units.unknown & ~units.special & (matches.position >= 0) & ~units.special[match] & units.unknown[match]
    chosen = np.flatnonzero(compared)
    partner = match.copy()
    partner[chosen] = _with_equal_text(units, chosen, match[chosen])
    own, other = units.readings.compared(chosen, partner, compared, by_sound=by_sound)
    position = np.where(compared, partner - units.starts[units.sentence ^ 1], 0)
    return UnknownMatches(compared, position, token_agreements(own, other, compared))


def _with_equal_text(units: Units, chosen: np.ndarray, match: np.ndarray) -> np.ndarray:
    """Of each chosen unit the unit that it is compared with, among all units: `match`, or the first with its text."""
    unknown = np.flatnonzero(units.unknown & ~units.special)
    codes: dict[tuple[str, ...], int] = {}
    code_of = np.full(len(units.readings.texts), -1)
    for text in set(units.readings.text[unknown].tolist()):
        code_of[text] = codes.setdefault(as_written(units.readings.texts[text]), len(codes))
    code = code_of[units.readings.text]  # (n_units,), of unknown units equal where their texts are
    held, first = np.unique(units.sentence[unknown] * len(codes) + code[unknown], return_index=True)
    wanted = (units.sentence[chosen] ^ 1) * len(codes) + code[chosen]
    place = np.minimum(np.searchsorted(held, wanted), len(held) - 1)
    is_other = code[match] != code[chosen]
    return np.where(is_other & (held[place] == wanted), unknown[first[place]], match) if len(chosen) else match
