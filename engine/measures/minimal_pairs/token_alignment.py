"""Which tokens do two sentences share, and which replace each other?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal, NamedTuple

Change = Literal["equal", "replace", "delete", "insert"]


class Slot(NamedTuple):
    """One place of the alignment: positions in the two sentences, None where one has nothing there.

    "equal": the same token; "replace": one for another, or the rest of a longer replacement; "delete": only the
    first sentence has it; "insert": only the second.
    """

    change: Change
    first: int | None
    second: int | None


def aligned_tokens(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[Slot]:
    """Align two sentences, token by token: equal tokens meet, others replace or stand alone.

    Parameters
    ----------
    first, second : tokens, or their ids.

    Returns slots in the order of both sentences; every position of each is in exactly one. Two empty sentences: none.
    Within a replacement the n-th token of one stands beside the n-th of the other, and what is left over alone.

    Source: `difflib.SequenceMatcher` (Ratcliff and Obershelp 1988): the longest run that both share, then the same
    to its left and right. It keeps runs together and is not the alignment with the most equal tokens. CrowS-Pairs'
    reference code aligns the same way; it leaves difflib's `autojunk` on, which ignores frequent tokens in sentences
    of 200 tokens or more, and this does not.

    >>> [tuple(slot) for slot in aligned_tokens(["猫", "が", "鳴く"], ["猫", "鳴く", "よ"])]
    [('equal', 0, 0), ('delete', 1, None), ('equal', 2, 1), ('insert', None, 2)]
    """
    slots: list[Slot] = []
    for change, *ends in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        first_start, first_end, second_start, second_end = ends
        slots += [
            Slot(change, i, j) for i, j in zip_longest(range(first_start, first_end), range(second_start, second_end))
        ]
    return slots
