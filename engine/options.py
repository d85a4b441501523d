"""A setting, declared once: default, bounds or choices, unit and one line of help stand on the field of its record.

The check (`check`), the command line (`engine.commands.shared.options`), the widgets of the pages and the option tables
of the documents read the declaration; none of them has a default or a bound of its own.

    @dataclass(frozen=True)
    class Settings:
        models: tuple[str, ...]
        resamples: int = option(1000, "Resamples of the bootstrap.", least=100, most=10_000)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from types import MappingProxyType, NoneType
from typing import Any, get_args, get_origin, get_type_hints

from engine.errors import InputError
from engine.messages.message import Message, list_of, together

KEY = "option"  # in the metadata of a dataclass field


@dataclass(frozen=True)
class Choice:
    """One value that a setting may have.

    label: what a reader sees of it, "" for the value itself. meaning: of the help, "" where the value says it. phrase:
    in the sentence that a methods paragraph has of it, "" where there is none.
    """

    value: Any
    label: str = ""
    meaning: str = ""
    phrase: str = ""


@dataclass(frozen=True)
class Option:
    """The declaration of one setting.

    default: as on the record. help: one line, in sentences. choices: every value that is possible, with what it
    means ("" where the value says it); empty where any is. labels, phrases: of the choices that have one, as
    `Choice` says. least, most: bounds of a number, or of each of several; exclusive: the bounds themselves are not
    possible. least_items: of several. shown_most, shown_items: where a widget ends although the setting does not.
    unit: what is counted or measured. unset: what None stands for, or what a command takes where the option is not
    given, in words.

    names_file: whether a value may name a file, or a dictionary that a run made; an instance checks who may read it.

    On the command line: flag: the option's name without dashes ("" = the field's name with dashes). off: of a setting
    that is on, the option that switches it off; both: an option for on and one for off. separator: of several
    values in one word ("" = the option is repeated). metavar: the value in the usage line.

    formerly: former names of the setting, each with the value that every former value now is; stored settings,
    notebooks and the command line still take them.

    name, kind (int, float, bool or str), several (a tuple of them): of the field, as `options_of` reads them.
    """

    help: str
    default: Any = None
    choices: Mapping[Any, str] = field(default_factory=dict)
    least: float | None = None
    most: float | None = None
    exclusive: bool = False
    least_items: int = 0
    shown_most: float | None = None
    shown_items: int | None = None
    unit: str = ""
    unset: str = ""
    flag: str = ""
    off: str = ""
    both: bool = False
    separator: str = ""
    metavar: str = ""
    formerly: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    names_file: bool = False
    labels: Mapping[Any, str] = field(default_factory=dict)
    phrases: Mapping[Any, str] = field(default_factory=dict)
    name: str = ""
    kind: type = str
    several: bool = False

    @property
    def meanings(self) -> Mapping[Any, str]:
        """The choices that have an explanation, with it."""
        return {choice: meaning for choice, meaning in self.choices.items() if meaning}

    @property
    def allowed(self) -> str:
        """Choices or bounds in words, "" where anything is possible.

        >>> Option("", least=100, most=10_000).allowed, Option("", least=0, most=1, exclusive=True).allowed
        ('100 to 10,000', 'more than 0, less than 1')
        >>> Option("", least=1).allowed, Option("", choices={"cls": "", "mean": "of all"}).allowed
        ('1 or more', 'cls, mean')
        """
        if self.choices:
            return list_of(str(choice) for choice in self.choices if choice != "")
        if self.least is None and self.most is None:
            return ""
        if self.exclusive:
            parts = [(self.least, Message("more than {bound:,}")), (self.most, Message("less than {bound:,}"))]
            return together(", ", (words.format(bound=bound) for bound, words in parts if bound is not None))
        words = (
            Message("{most:,} or less")
            if self.least is None
            else (Message("{least:,} or more") if self.most is None else Message("{least:,} to {most:,}"))
        )
        return words.format(least=self.least, most=self.most)


def option(default: Any, help: str, *, choices: Mapping[Any, str] | Collection[Any] = (), **declared: Any) -> Any:
    """The field of a record that holds a setting; `declared` are further fields of `Option`.

    choices: records of Choice, or values, alone or with their meanings.
    """
    offered = [
        choice
        if isinstance(choice, Choice)
        else Choice(choice, meaning=choices[choice] if isinstance(choices, Mapping) else "")
        for choice in choices
    ]
    return field(
        default=default,
        metadata={
            KEY: Option(
                help,
                default,
                {choice.value: choice.meaning for choice in offered},
                **declared,
                labels={choice.value: choice.label for choice in offered if choice.label},
                phrases={choice.value: choice.phrase for choice in offered if choice.phrase},
            )
        },
    )


def options_of(record_type: type[Any]) -> Mapping[str, Option]:
    """The declared settings of a record by name, in the order of its fields; those of records in it are their own."""
    return _options(record_type)  # type: ignore[arg-type]


def option_of(record_type: type[Any], name: str) -> Option:
    """The declaration of one setting. Raises KeyError where the record declares none of that name."""
    return options_of(record_type)[name]


def records_in(record_type: type[Any]) -> Mapping[str, type[Any]]:
    """The fields of a record that are records of settings themselves, with their types."""
    return _records(record_type)  # type: ignore[arg-type]


def file_settings(record_type: type[Any]) -> frozenset[str]:
    """The names of the settings whose values may name a file, those of records in it included."""
    own = {name for name, declared in options_of(record_type).items() if declared.names_file}
    return frozenset(own).union(*(file_settings(inner) for inner in records_in(record_type).values()))


def with_current_names(record_type: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by name, those under a former name under the present one. Raises InputError for a value that never was."""
    current = dict(values)
    for name, declared in options_of(record_type).items():
        for former, value_by_former in declared.formerly.items():
            if former not in current:
                continue
            value = current.pop(former)
            if value not in value_by_former:
                raise InputError(
                    Message(
                        "{former}, now {name}, was one of {value_by_former}; got {value!r}.",
                        former=former,
                        name=name,
                        value_by_former=list_of(map(str, value_by_former)),
                        value=value,
                    )
                )
            current.setdefault(name, value_by_former[value])
    return current


def check(settings: Any) -> None:
    """Raise InputError for the first setting that is not a valid choice or out of bounds, records in it included.

    What depends on several settings at once is for the evaluation to check.
    """
    for declared in options_of(type(settings)).values():
        check_value(declared, getattr(settings, declared.name))
    for name in records_in(type(settings)):
        check(getattr(settings, name))


def check_value(declared: Option, value: Any) -> None:
    """Raise InputError when a setting cannot have this value, saying what it can be."""
    if value is None and declared.default is None:
        return
    if not declared.several:
        _check_one(declared, value)
        return
    if isinstance(value, str) or (declared.kind is str and not all(isinstance(item, str) for item in value)):
        raise InputError(
            Message(
                "{name} is a list, also of one value, such as [{listed}]; got {value!r}.",
                name=declared.name,
                listed=repr(str(value)) if isinstance(value, str) else ", ".join(repr(str(item)) for item in value),
                value=value,
            )
        )
    if len(value) < declared.least_items:
        raise InputError(
            Message(
                "{name} holds at least {least_items} value; got {value!r}.",
                name=declared.name,
                least_items=declared.least_items,
                value=value,
            )
        )
    for item in value:
        _check_one(declared, item)


@cache
def _options(record_type: type[Any]) -> Mapping[str, Option]:
    hints = get_type_hints(record_type)
    return MappingProxyType(
        {
            record_field.name: _typed(record_field.metadata[KEY], record_field.name, hints[record_field.name])
            for record_field in fields(record_type)
            if KEY in record_field.metadata
        }
    )


@cache
def _records(record_type: type[Any]) -> Mapping[str, type[Any]]:
    return MappingProxyType(
        {
            name: hint
            for name, hint in get_type_hints(record_type).items()
            if isinstance(hint, type) and is_dataclass(hint)
        }
    )


def _check_one(declared: Option, value: Any) -> None:
    name, least, most = declared.name, declared.least, declared.most
    if declared.choices and value not in declared.choices:
        raise InputError(
            Message("{name} is one of {allowed}; got {value!r}.", name=name, allowed=declared.allowed, value=value)
        )
    if least is None and most is None:
        return
    low, high = -math.inf if least is None else least, math.inf if most is None else most
    is_finite = isinstance(value, int) or math.isfinite(value)  # an integer may be too large for a float
    if (low < value < high) if declared.exclusive else (low <= value <= high and is_finite):
        return
    unit: str = ""
    if declared.unit and declared.kind is float:
        unit = Message(" ({unit})", unit=Message(declared.unit))
    if least is not None and most is not None:
        raise InputError(
            Message(
                "{name} must be strictly between {least:,} and {most:,}{unit}; got {value}.",
                name=name,
                least=least,
                most=most,
                unit=unit,
                value=value,
            )
            if declared.exclusive
            else Message(
                "{name} must be between {least:,} and {most:,}{unit}; got {value}.",
                name=name,
                least=least,
                most=most,
                unit=unit,
                value=value,
            )
        )
    raise InputError(
        Message("{name} is at least {least:,}{unit}; got {value}.", name=name, least=least, unit=unit, value=value)
        if most is None
        else Message("{name} is at most {most:,}{unit}; got {value}.", name=name, most=most, unit=unit, value=value)
    )


def _typed(declared: Option, name: str, hint: Any) -> Option:
    if get_origin(hint) is tuple:
        return replace(declared, name=name, kind=get_args(hint)[0], several=True)
    kinds = [kind for kind in get_args(hint) if kind is not NoneType] or [hint]
    return replace(declared, name=name, kind=kinds[0])
