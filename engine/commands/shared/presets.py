"""`--preset NAME`: settings by name as the defaults of a command; what is given beside wins."""

from __future__ import annotations

import argparse

from engine.commands.shared.preset_action import FLAG, PresetAction
from engine.evaluations.presets import PRESETS
from engine.messages.message import Message, together


def add_preset(parser: argparse.ArgumentParser, kind: str) -> None:
    """Declare --preset for the presets of a kind."""
    names = together(
        "; ", (Message("{name}: {title}", name=known.name, title=Message(known.title)) for known in PRESETS[kind])
    )
    parser.add_argument(
        FLAG,
        choices=[known.name for known in PRESETS[kind]],
        action=PresetAction,
        const={known.name: known.settings for known in PRESETS[kind]},
        help=Message("settings by name, in place of the defaults; options that are given win ({names})", names=names),
    )
