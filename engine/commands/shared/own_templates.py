"""`--prompts FILE`: templates of one's own as a table, such as the templates.csv of a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.commands.shared.options import dest
from engine.datasets import reader_process
from engine.errors import InputError
from engine.evaluations.minimal_pairs.prompts.files import is_file, read_templates
from engine.evaluations.minimal_pairs.records import Settings
from engine.messages.message import Message, list_of
from engine.options import options_of

PARTS = ("in_template", "yes_no", "answers")


class OrFile(list[str]):
    """Choices beside which a file is taken, too."""

    def __contains__(self, word: object) -> bool:
        """Whether a word is a choice, or names a table."""
        return super().__contains__(word) or (isinstance(word, str) and is_file(word))


def take_files(parser: argparse.ArgumentParser) -> None:
    """Let --prompts name a file beside its choices."""
    action = next(each for each in parser._actions if each.dest == dest(Settings, "prompts"))
    action.choices = OrFile(action.choices or ())


def with_templates(options: argparse.Namespace) -> None:
    """Put the templates of a file that --prompts names in its place. Raises InputError."""
    named = getattr(options, dest(Settings, "prompts"))
    if named in options_of(Settings)["prompts"].choices:
        return
    beside = [name for name in PARTS if getattr(options, dest(Settings, name), None)]
    if beside:
        raise InputError(
            Message(
                "The templates are those of {file}, and {flags} names others. Leave one of the two out.",
                file=named,
                flags=list_of(f"--{name.replace('_', '-')}" for name in beside),
            )
        )
    path = Path(named).expanduser()
    try:
        found = reader_process.read(read_templates, path, name=path.name)
    except InputError as error:
        error.can_skip = False  # which is of the data alone
        raise
    separator = options_of(Settings)["answers"].separator
    for name, value in found.items():
        setattr(options, dest(Settings, name), separator.join(value) if name == "answers" else value)
