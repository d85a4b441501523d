"""Optional normalisation of texts before they are given to a model; without it texts are unchanged."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence

from engine.errors import InputError
from engine.messages.message import Message, list_of

# Also the order in which they are applied: lower-casing needs composed characters.
STEP_MEANINGS: Mapping[str, str] = {
    "nfkc": Message("full width to half width and so on (ＣＤ becomes CD)"),
    "lower": Message("lower case (CD becomes cd), for models trained on lower-cased text"),
}
STEPS = tuple(STEP_MEANINGS)

_APPLY: Mapping[str, Callable[[str], str]] = {
    "nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "lower": str.lower,
}


def normalize(text: str, steps: Sequence[str]) -> str:
    """The text after the chosen steps, each applied once and in the order of STEPS, whatever their order in `steps`.

    "nfkc" is Unicode's compatibility composition (ﾊﾟﾝ to パン, ＡＢＣ to ABC, ㍻ to 平成), "lower" lower case.
    The length may change. Raises InputError for a step that does not exist.

    >>> normalize("ＢＥＲＴとﾊﾟﾝ", ["lower", "nfkc"])
    'bertとパン'
    """
    unknown = [step for step in steps if step not in STEPS]
    if unknown:
        raise InputError(
            Message(
                "There is no normalisation step {unknown}; there are: {STEPS}.",
                unknown=list_of(map(repr, unknown)),
                STEPS=list_of(STEPS),
            )
        )
    for step in STEPS:
        if step in steps:
            text = _APPLY[step](text)
    return text
