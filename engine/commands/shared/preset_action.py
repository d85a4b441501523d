"""The action of `--preset`: settings by name become the defaults of a parser before any option is read.

Which presets there are is told by `engine.commands.shared.presets`; every parser asks only for the action.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from engine.commands.shared.options import dest, joined_items, of_preset
from engine.messages.message import Message
from engine.options import options_of, records_in

FLAG = "--preset"


class PresetAction(argparse.Action):
    """The option; `const` has the settings by name. Those are the defaults of the parser before any option is read."""

    def begin(self, parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
        """Make the preset that the arguments name, if there is one, the defaults."""
        only = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
        only.add_argument(FLAG, default=argparse.SUPPRESS)
        try:
            name = getattr(only.parse_known_args(list(arguments))[0], "preset", None)
        except argparse.ArgumentError:  # nothing after the option: the parser says it
            return
        if name in (self.choices or ()):
            parser.set_defaults(**_defaults((self.const or {})[str(name)]))
            self._applied = name

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep the name. An abbreviation of the option is refused: its settings are not the defaults."""
        if getattr(self, "_applied", None) != values:
            raise argparse.ArgumentError(self, Message("write {FLAG} in full, once", FLAG=FLAG))
        setattr(namespace, self.dest, values)


def _defaults(settings: Any) -> dict[str, Any]:
    """What argparse holds of the settings that differ from the declared defaults, and of those of several values."""
    record_type = type(settings)
    defaults = {}
    for name, declared in options_of(record_type).items():
        value = getattr(settings, name)
        if declared.several and not declared.separator:
            defaults[of_preset(record_type, name)] = value  # as a default, what is given would be added to it
        elif value != declared.default:
            defaults[dest(record_type, name)] = joined_items(value, declared.separator) if declared.several else value
    for name in records_in(record_type):
        defaults |= _defaults(getattr(settings, name))
    return defaults
