"""Messages: English texts that keep the template and the values they were made of, so that any reader's language can be
made of them.

    raise InputError(Message("{n:,} rows of {file} have no label.", n=3, file="a.csv"))

A message is its English text wherever a text is wanted: in a log, in `str()`, in a comparison. `translated` gives it in
the reader's language: the template is the key in the catalogue, and a value is shown as it is unless it is a message.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from string import Formatter
from typing import Any, Self

from engine.messages.catalogues import compiled

# Keys of what is stored; no model, column or setting of a reader's is called so.
TEMPLATE, VALUES, BETWEEN, PARTS, LOOK = "$template", "$values", "$between", "$parts", "$look"
PREFIXES = f'{{"{TEMPLATE}": ', f'{{"{BETWEEN}": '  # how a message begins that is stored as one text


class _Look(str):
    """How a value of another type looks, for any way to format it."""

    def __repr__(self) -> str:
        return str(self)

    def __format__(self, form: str) -> str:
        return str(self)


class Message(str):
    """A text made of a template, as `str.format` reads it, and values. Without values the template is the text.

    Values are texts, numbers, truth values, None or messages; of anything else what the template shows is kept.

    >>> Message("{n:,} rows in {file!r}", n=1200, file="a.csv")
    "1,200 rows in 'a.csv'"
    """

    __slots__ = ("_given", "template")

    template: str
    _given: tuple[Any, ...]  # names and values by turns: there may be a message for each of 100,000 rows

    def __new__(cls, template: str, /, **values: Any) -> Self:
        """Raises KeyError for a place without a value."""
        kept = {name: _kept(template, name, value) for name, value in values.items()}
        self = super().__new__(cls, template.format(**kept) if kept else str(template))
        self.template, self._given = str(template), tuple(part for item in kept.items() for part in item)
        return self

    @property
    def values(self) -> dict[str, Any]:
        """The values by name."""
        return dict(zip(self._given[::2], self._given[1::2], strict=True))

    @property
    def parts(self) -> tuple[str, ...]:
        """The texts that it was put together from (`together`), else itself alone."""
        return (self,)

    def __str__(self) -> Self:
        """Itself: the text of an error is the message that it was raised with."""
        return self

    def format(self, **values: Any) -> Message:  # type: ignore[override]
        """The message of this template and values."""
        return Message(self.template, **values)

    def __reduce__(self) -> Any:
        return _made, (self.template, self._given)

    def in_language(self, wanted: str) -> str:
        """The text in a language that there is a catalogue of."""
        template = compiled(wanted).gettext(self.template)
        if not self.values:
            return template
        return template.format(
            **{
                name: value.in_language(wanted) if isinstance(value, Message) else value
                for name, value in self.values.items()
            }
        )

    def stored(self) -> dict[str, Any]:
        """As a value of JSON; `restored` reads it."""
        return {TEMPLATE: self.template, VALUES: {name: _stored(value) for name, value in self.values.items()}}


class _Together(Message):
    """Several texts, one after the other."""

    __slots__ = ()

    def __new__(cls, between: str, parts: Iterable[str]) -> Self:
        kept = tuple(parts)
        self = str.__new__(cls, between.join(kept))
        self.template, self._given = between, (PARTS, kept)
        return self

    def __reduce__(self) -> Any:
        return _Together, (self.template, self._given[1])

    @property
    def parts(self) -> tuple[str, ...]:
        kept: tuple[str, ...] = self.values[PARTS]
        return kept

    def in_language(self, wanted: str) -> str:
        parts = self.values[PARTS]
        is_list = self.template in WORDS or (
            self.template in LISTS and all(isinstance(part, Message) for part in parts)
        )
        between = compiled(wanted).gettext(self.template) if is_list else self.template
        shown = ""
        for index, part in enumerate(parts):
            words = part.in_language(wanted) if isinstance(part, Message) else part
            # Japanese has no space between sentences
            shown += ("" if not index or (between == " " and shown.endswith(("。", "）"))) else between) + words
        return shown

    def stored(self) -> dict[str, Any]:
        return {BETWEEN: self.template, PARTS: [_stored(part) for part in self.values[PARTS]]}


def named(text: str) -> str:
    """A text that is a value too, such as a choice: as it is; the catalogue takes it up."""
    return text


def together(between: str, parts: Iterable[str]) -> Message:
    """Texts and messages with `between` between them, as `between.join(parts)` puts them in English.

    >>> together("; ", [Message("no label"), "a.csv"])
    'no label; a.csv'
    """
    return _Together(between, parts)


def list_of(names: Iterable[str]) -> Message:
    """Names one after the other, with commas between them as the reader's language writes them: "a, b" and "a、b".

    >>> list_of(["a.csv", "b.csv"]), list_of(["a.csv", "b.csv"]).in_language("ja")
    ('a.csv, b.csv', 'a.csv、b.csv')
    """
    return together(", ", (name if isinstance(name, Message) else Message("{name}", name=str(name)) for name in names))


def _made(template: str, given: tuple[Any, ...]) -> Message:
    return Message(template, **dict(zip(given[::2], given[1::2], strict=True)))


def is_stored(value: object) -> bool:
    """Whether a value of JSON is a message that `Message.stored` wrote."""
    return isinstance(value, Mapping) and (value.keys() in ({TEMPLATE, VALUES}, {BETWEEN, PARTS}))


def restored(value: Any) -> Any:
    """The message that `Message.stored` wrote; any other value as it is."""
    if not isinstance(value, Mapping):
        return value
    if value.keys() == {LOOK}:
        return _Look(value[LOOK])
    if value.keys() == {BETWEEN, PARTS}:
        return _Together(value[BETWEEN], map(restored, value[PARTS]))
    return Message(value[TEMPLATE], **{name: restored(each) for name, each in value[VALUES].items()})


def as_text(text: str) -> str:
    """A text, or a message with all that it is made of, as one text to be stored; `of_text` reads it.

    >>> of_text(as_text(Message("{n} rows", n=2))).values
    {'n': 2}
    """
    if text.startswith(PREFIXES) and not isinstance(text, Message):
        text = together("", [text])  # a reader's own text that looks like a stored message
    return json.dumps(text.stored(), ensure_ascii=False) if isinstance(text, Message) else text


def of_text(text: str) -> str:
    """What `as_text` wrote; of an earlier version, which wrote texts alone, the text."""
    if text.startswith(PREFIXES):
        with suppress(ValueError):
            if is_stored(value := json.loads(text)):
                return restored(value)  # type: ignore[no-any-return]
    return text


def _stored(value: Any) -> Any:
    if isinstance(value, Message):
        return value.stored()
    return {LOOK: str(value)} if isinstance(value, _Look) else value


def _kept(template: str, name: str, value: Any) -> Any:
    """A value as a message keeps it; an error as what it says."""
    if isinstance(value, BaseException):
        value = str(value)
    if isinstance(value, Message | _Look) or type(value) in (str, int, bool) or value is None:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if hasattr(value, "item") and not getattr(value, "shape", ()):
        value = value.item()  # a number of numpy's
    if type(value) in (int, bool) or (type(value) is float and math.isfinite(value)):
        return value
    conversion, form = next((each[3], each[2]) for each in Formatter().parse(template) if each[1] == name)
    return _Look(format(repr(value) if conversion == "r" else value, form or ""))


WORDS = Message(" and "), Message(" or ")  # between the items of any list
LISTS = Message("; "), Message(", "), *WORDS  # between the items of a list that are messages themselves
