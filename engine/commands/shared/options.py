"""Declared settings on the command line: their options, the settings that were given, and the words that give settings.

An option's `dest` is the record's name and the field's ("Settings.seed"), so that settings of several records go side
by side.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from engine.errors import InputError
from engine.messages.message import Message
from engine.options import Option, options_of, records_in

Record = TypeVar("Record")

DECLARED = "declared"  # of an argparse action: the `Option` that it was made of
# An item of several in one value, alone or in double quotes, in which each double quote stands twice.
_ITEM = r'"(?:[^"]|"")*"'
METAVARS = {int: "N", float: "X", str: "TEXT"}
PLURALS = {int: Message("whole numbers"), float: Message("numbers"), str: Message("words")}


@dataclass(frozen=True)
class OptionRow:
    """An option of a command in words; `setting` is "" for what is no setting (files, models), as are empty cells."""

    flag: str
    setting: str
    default: str
    allowed: str
    unit: str
    help: str


class WithChoice(argparse.Action):
    """An option that gives a setting and makes a choice with it; `const` is that choice: (dest, value)."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep both."""
        setattr(namespace, self.dest, values)
        setattr(namespace, *self.const)


def add_options(
    parser: argparse._ActionsContainer, record_type: type[Any], *, but: Collection[str] = (), only_given: bool = False
) -> None:
    """Declare an option for every setting of a record, and of the records in it, save those named in `but`.

    only_given: an option that is not given leaves nothing behind, in place of its default.
    """
    for name, declared in options_of(record_type).items():
        if name not in but:
            action = add_option(parser, record_type, declared)
            if only_given:
                action.default = argparse.SUPPRESS
    for inner in records_in(record_type).values():
        add_options(parser, inner, but=but, only_given=only_given)


def add_option(
    parser: argparse._ActionsContainer, record_type: type[Any], declared: Option, *, flag: str = "", **changed: Any
) -> argparse.Action:
    """Declare the option of one setting; `flag` and `changed`, arguments of `add_argument`, in place of the usual.

    Under its former names, which were switches, the setting is still taken, though no help names them.
    """
    name = flag or declared.flag or declared.name.replace("_", "-")
    arguments: dict[str, Any] = {"dest": dest(record_type, declared.name), "help": help_of(declared).replace("%", "%%")}
    if declared.kind is bool:
        name = declared.off or name
        arguments["default"] = declared.default
        arguments["action"] = (
            argparse.BooleanOptionalAction if declared.both else "store_false" if declared.default else "store_true"
        )
    elif declared.several and declared.separator:
        arguments |= {"default": declared.separator.join(map(str, declared.default)), "metavar": _metavar(declared)}
    else:
        arguments |= {"type": declared.kind, "default": None if declared.unset else declared.default}
        arguments |= {"choices": list(declared.choices)} if declared.choices else {"metavar": _metavar(declared)}
        if declared.several:
            arguments |= {"action": "append", "default": []}
    action = parser.add_argument(f"--{name}", **(arguments | changed))
    setattr(action, DECLARED, declared)
    for former, value_by_former in declared.formerly.items():
        for word, former_value in ((former, True), (f"no-{former}", False)):
            parser.add_argument(
                f"--{word}",
                dest=action.dest,
                action="store_const",
                default=argparse.SUPPRESS,
                const=value_by_former[former_value],
                help=argparse.SUPPRESS,
            )
    return action


def settings_from(options: argparse.Namespace, record_type: type[Record], **chosen: Any) -> Record:
    """The record that the options describe; `chosen` are fields that they do not, or in another way.

    Where no option has been declared or given, the default applies. Raises InputError for values that are not numbers.
    """
    values = dict(chosen)
    for name, declared in options_of(record_type).items():
        value = getattr(options, dest(record_type, name), None)
        if declared.several and not value and not declared.separator:
            value = getattr(options, of_preset(record_type, name), None)
        if name in values or value is None:
            continue
        values[name] = _items(declared, value) if declared.several else value
    for name, inner in records_in(record_type).items():
        if name not in values:
            values[name] = settings_from(options, inner)
    return record_type(**values)


def is_given(options: argparse.Namespace, record_type: type[Any], name: str) -> bool:
    """Whether the option of a setting was given, of several values or one that was declared with `only_given`.

    Several values are given by a preset, too.
    """
    return getattr(options, dest(record_type, name), None) not in (None, []) or hasattr(
        options, of_preset(record_type, name)
    )


def words_of(parser: argparse.ArgumentParser, settings: Any) -> Iterator[str]:
    """The words that give `settings` to a parser with its options: those that differ from the defaults."""
    record_type = type(settings)
    for name, declared in options_of(record_type).items():
        actions = [action for action in parser._actions if action.dest == dest(record_type, name)]
        for action in actions:
            if isinstance(action, WithChoice) and action.const in _values(settings):
                yield from option_words(action.option_strings[0], getattr(settings, name))
                break
        else:
            for action in actions[:1]:
                yield from _words(action, declared, getattr(settings, name))
    for name in records_in(record_type):
        yield from words_of(parser, getattr(settings, name))


def option_words(flag: str, value: Any) -> list[str]:
    """An option with its value: in one word where the value begins with a dash, as argparse would take it for another.

    >>> option_words("--model", "a b"), option_words("--model", "-b"), option_words("--alpha", -1e-05)
    (['--model', 'a b'], ['--model=-b'], ['--alpha=-1e-05'])
    """
    text = str(value)
    return [f"{flag}={text}"] if text.startswith("-") else [flag, text]


def joined_items(items: Sequence[Any], separator: str) -> str:
    """Several values as one; `separate_items` gives them back. What would be misread is in double quotes.

    >>> joined_items(("good, mean", "bad"), ","), joined_items((200, 50), ",")
    ('"good, mean",bad', '200,50')
    """
    texts = [str(item) for item in items]
    return separator.join(
        '"' + text.replace('"', '""') + '"'
        if not text or separator in text or '"' in text or text != text.strip()
        else text
        for text in texts
    )


def separate_items(value: str, separator: str) -> list[str]:
    """The values in one, as `joined_items` writes them; outer spaces and empty ones without quotes do not count.

    >>> separate_items('"good, mean", bad ,', ",")
    ['good, mean', 'bad']
    """
    # A quotation mark opens an item only at its beginning, and only where it is closed at its end.
    item = rf"\s*({_ITEM})\s*(?:{re.escape(separator)}|$)|([^{re.escape(separator)}]*)(?:{re.escape(separator)}|$)"
    items = []
    for match in re.finditer(item, value):
        quoted, plain = match.groups()
        if quoted is not None:
            items.append(quoted[1:-1].replace('""', '"'))
        elif plain.strip():
            items.append(plain.strip())
    return items


def option_rows(add_arguments: Callable[[argparse.ArgumentParser], None]) -> list[OptionRow]:
    """Every option of a command, in the order of its help, for the tables of the documents.

    `add_arguments` is the function of that name of a module of `engine.commands`.
    """
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser)
    return [_row(action) for action in parser._actions if action.help != argparse.SUPPRESS]


def text_of(declared: Option, shown: Callable[[str], str] = str) -> str:
    """The help of a setting with what its choices mean, in one paragraph; `shown` puts a text into another language."""

    def sentence(meaning: str) -> str:
        text = shown(meaning)
        return f"{text.rstrip('.')}." if text == meaning else f"{text.rstrip('。')}。"

    return " ".join(
        [shown(declared.help), *(f"{choice}: {sentence(meaning)}" for choice, meaning in declared.meanings.items())]
    )


def help_of(declared: Option) -> str:
    """`text_of` with unit, bounds and default, as in the help of a command."""
    facts = "; ".join(facts_of(declared))
    switches = "Switches off: " if declared.off else ""
    return switches + text_of(declared) + (f" ({facts})" if facts else "")


def facts_of(declared: Option, shown: Callable[[str], str] = str) -> list[str]:
    """Unit, bounds and default of a setting, those that it has; not of a switch. `shown` as in `text_of`."""
    default = default_text(declared)
    facts = [
        declared.unit and Message("unit: {unit}", unit=Message(declared.unit)),
        "" if declared.choices else declared.allowed,
        default and Message("default: {default}", default=default),
    ]
    return [shown(fact) for fact in facts if fact and declared.kind is not bool]


def default_text(declared: Option) -> str:
    """The default in words.

    >>> default_text(Option("", None, unset="the last layer")), default_text(Option("", (200, 200), several=True))
    ('the last layer', '200,200')
    """
    if declared.unset:
        return Message(declared.unset)
    if declared.kind is bool:
        return Message("on") if declared.default else Message("off")
    if declared.several:
        return (declared.separator or ",").join(map(str, declared.default))
    return "" if declared.default is None else str(declared.default)


def dest(record_type: type[Any], name: str) -> str:
    """Under which name argparse keeps a setting."""
    return f"{record_type.__name__}.{name}"


def of_preset(record_type: type[Any], name: str) -> str:
    """Under which name argparse keeps what a preset has of a setting whose option is repeated."""
    return f"{dest(record_type, name)} of the preset"


def _metavar(declared: Option) -> str:
    return declared.metavar or METAVARS[declared.kind]


def _items(declared: Option, value: Any) -> tuple[Any, ...]:
    if not declared.separator:
        return tuple(value)
    try:
        return tuple(declared.kind(item) for item in separate_items(value, declared.separator))
    except ValueError:
        example = declared.separator.join(map(str, declared.default))
        raise InputError(
            Message(
                "--{name} takes {kind} separated by '{separator}', such as {example}; got {value!r}.",
                name=declared.flag or declared.name,
                kind=PLURALS[declared.kind],
                separator=declared.separator,
                example=example,
                value=value,
            )
        ) from None


def _values(settings: Any) -> list[tuple[str, Any]]:
    return [(dest(type(settings), name), getattr(settings, name)) for name in options_of(type(settings))]


def _words(action: argparse.Action, declared: Option, value: Any) -> list[str]:
    flag = action.option_strings[0]
    if declared.several and not declared.separator and (declared.unset or value != declared.default):
        return [word for item in value for word in option_words(flag, item)]
    if value is None or value == declared.default:
        return []
    if declared.kind is bool:
        return [flag if value or not declared.both else action.option_strings[-1]]
    return option_words(flag, joined_items(value, declared.separator) if declared.several else value)


def _row(action: argparse.Action) -> OptionRow:
    declared: Option | None = getattr(action, DECLARED, None)
    value = "" if action.nargs == 0 else f" {action.metavar or '{' + ','.join(map(str, action.choices or ())) + '}'}"
    flag = ", ".join(action.option_strings) + value
    if declared is None:
        default = "required" if action.required else "" if action.default in (None, [], "") else str(action.default)
        return OptionRow(
            flag, "", default, ", ".join(map(str, action.choices or ())), "", (action.help or "").replace("%%", "%")
        )
    return OptionRow(flag, declared.name, default_text(declared), declared.allowed, declared.unit, text_of(declared))
