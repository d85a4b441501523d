"""A choice as it is written in a URL, `idf=novel`: a value to texts and back, by the declaration of the setting. Pure.

A choice of several values is repeated, `category=a&category=b`. Nothing is trusted: what comes out of an address has
been checked against the declaration, and against what the page offers.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from engine.errors import InputError
from engine.messages.message import Message, list_of
from engine.options import Option, check_value

SWITCH = {True: "on", False: "off"}
SHOWN_CHARACTERS = 40


def name_of(declared: Option) -> str:
    """What a setting is called in an address: as in its record, with dashes.

    >>> name_of(Option("", name="threshold_kind"))
    'threshold-kind'
    """
    return declared.name.replace("_", "-")


def to_texts(value: Any) -> list[str]:
    """A value as the texts of an address; none of them for None.

    >>> to_texts(True), to_texts(0.35), to_texts(("a", "b")), to_texts(None)
    (['on'], ['0.35'], ['a', 'b'], [])
    """
    if value is None:
        return []
    if isinstance(value, tuple | list):
        return [text for item in value for text in to_texts(item)]
    # No float loses a digit: the same number comes out again.
    return [SWITCH[value] if isinstance(value, bool) else str(value)]


def from_texts(declared: Option, texts: Sequence[str], offered: Collection[Any] | None = None) -> Any:
    """The value that the texts of an address give a setting.

    offered: the only values that the page has, None for all that the declaration allows. Raises InputError, in words
    that go on after "…, which", for texts that give no possible value.

    >>> from_texts(Option("", 0.7, least=0, most=1, name="threshold", kind=float), ["0.35"])
    0.35
    """
    values = tuple(_one(declared, text) for text in texts)
    for value in values:
        if offered is not None and value not in offered:
            named = [str(one) for one in offered if one != ""]
            raise InputError(
                Message("is not one of {named}", named=list_of(named))
                if 0 < len(named) <= 12
                else Message("is not offered")
            )
    if not declared.several and len(values) != 1:
        raise InputError(Message("is more than one value"))
    value = values if declared.several else values[0]
    try:
        check_value(declared, value)
    except InputError as error:
        raise InputError(Message("cannot be: {reason}", reason=error.message)) from error
    return value


def shown(texts: Sequence[str]) -> str:
    """What an address asked for, as a message repeats it: not longer than a line.

    >>> shown(["x" * 100])
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'"
    """
    joined = ", ".join(texts)
    return repr(joined if len(joined) <= SHOWN_CHARACTERS else f"{joined[:SHOWN_CHARACTERS]}…")


def _one(declared: Option, text: str) -> Any:
    if declared.kind is bool:
        for value, word in SWITCH.items():
            if text == word:
                return value
        raise InputError(Message("is neither on nor off"))
    try:
        return declared.kind(text)
    except ValueError:
        raise InputError(Message("is no whole number") if declared.kind is int else Message("is no number")) from None
