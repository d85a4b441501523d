"""The help and the usage errors of the commands in the terminal's language: a parser like argparse's own.

argparse writes English, which is recognised by TEXTS. Options and metavars stay as they are typed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from typing import NoReturn
from unicodedata import east_asian_width

from engine.commands.shared.options import DECLARED, facts_of, text_of
from engine.commands.shared.preset_action import PresetAction
from engine.messages.catalogues import ENGLISH
from engine.messages.earlier_texts import Earlier
from engine.messages.languages import language, tr, translated
from engine.messages.message import Message
from engine.options import Option

TEXTS = (
    Message("options"),
    Message("positional arguments"),
    Message("show this help message and exit"),
    Message("the following arguments are required: {names}"),
    Message("unrecognized arguments: {arguments}"),
    Message("argument {name}: {problem}"),
    Message("expected one argument"),
    Message("expected at least one argument"),
    Message("invalid choice: {value} (choose from {choices})"),
    Message("invalid {kind} value: {value}"),
    Message("not allowed with argument {name}"),
    Message("ambiguous option: {option} could match {matches}"),
    Message("ignored explicit argument {value}"),
)
# A word of Latin letters, or a single character, with the punctuation that may not begin a line,
# and the brackets that may not end one.
_UNIT = re.compile(r"\s+|[（「『【]*(?:[\x21-\x7e]+|.)[、。，．）」』】：；・ー…:;,.)]*")


class Parser(argparse.ArgumentParser):
    """A parser whose help and errors are in the terminal's language; those of commands are of its class."""

    def __init__(self, **arguments: object) -> None:
        super().__init__(**{"formatter_class": HelpFormatter, "exit_on_error": False, **arguments})  # type: ignore[arg-type]

    def parse_known_args(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        namespace: argparse.Namespace | None = None,
    ) -> tuple[argparse.Namespace, list[str]]:
        """Read the arguments; the settings of a preset among them are the defaults."""
        arguments = sys.argv[1:] if args is None else list(args)
        for action in self._actions:
            if isinstance(action, PresetAction):
                action.begin(self, arguments)
        try:
            return super().parse_known_args(arguments, namespace)
        except argparse.ArgumentError as error:
            problem = error.message if isinstance(error.message, Message) else Earlier(str(error.message))
            self.error(
                problem
                if error.argument_name is None
                else Message("argument {name}: {problem}", name=error.argument_name, problem=problem)
            )

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong with it, and exit with 2."""
        self.print_usage(sys.stderr)
        self.exit(
            2,
            tr(
                "{program}: error: {problem}",
                program=self.prog,
                problem=translated(message if isinstance(message, Message) else Earlier(message)),
            )
            + "\n",
        )


class HelpFormatter(argparse.HelpFormatter):
    """The help of a command, wrapped at the width that Japanese characters have in a terminal."""

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._ArgumentGroup],
        prefix: str | None = None,
    ) -> None:
        """The usage line."""
        super().add_usage(usage, actions, groups, tr("usage: ") if prefix is None else prefix)  # type: ignore[arg-type]

    def _format_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._ArgumentGroup],
        prefix: str | None,
    ) -> str:
        n_wide = _n_columns(prefix or "") - len(prefix or "")  # argparse counts characters
        self._width -= n_wide
        try:
            return super()._format_usage(usage, actions, groups, prefix)  # type: ignore[arg-type]
        finally:
            self._width += n_wide

    def start_section(self, heading: str | None) -> None:
        """The heading of a group of options."""
        super().start_section(translated(heading) if heading else heading)

    def add_text(self, text: str | None) -> None:
        """What a command does."""
        super().add_text(translated(text) if text else text)

    def _expand_help(self, action: argparse.Action) -> str:
        if language() == ENGLISH:
            return super()._expand_help(action)
        declared: Option | None = getattr(action, DECLARED, None)
        if declared is None:
            return super()._expand_help(action)
        text = text_of(declared, translated)
        if declared.off:
            text = tr("Switches off: {help}", help=text)
        facts = "; ".join(facts_of(declared, translated))
        return tr("{help} ({facts})", help=text, facts=facts) if facts else text

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return translated(action.help) if action.help else action.help

    def _split_lines(self, text: str, width: int) -> list[str]:
        return super()._split_lines(text, width) if language() == ENGLISH else wrapped(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if language() == ENGLISH:
            return super()._fill_text(text, width, indent)
        return "\n".join(indent + line for line in wrapped(text, width - len(indent)))


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns, of which a full-width character takes two; between any two of those is a break.

    >>> wrapped("層のベクトルを hidden states から作ります。", 16)
    ['層のベクトルを', 'hidden states か', 'ら作ります。']
    """
    lines, line, n_columns = list[str](), "", 0
    for unit in _UNIT.findall(text):
        unit_columns = _n_columns(unit)
        if line and n_columns + unit_columns > width:
            lines.append(line.rstrip())
            line, n_columns = "", 0
        if line or not unit.isspace():
            line += unit
            n_columns += unit_columns
    return [*lines, line.rstrip()] if line.strip() else lines


def _n_columns(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
