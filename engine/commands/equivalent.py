"""The command that does what a run does: settings to words for a terminal, told from the commands' own options."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from engine.commands import alignment, classification, clusters, fill_mask, metric_study, minimal_pairs

COMMANDS = {"clusters": clusters, "classification": classification, "fill-mask": fill_mask, "alignment": alignment,
            "metric-study": metric_study, "minimal-pairs": minimal_pairs}
# Settings whose option has another name.
OPTIONS = {"models": "model", "idfs": "idf", "penalties": "penalty"}
# Settings that are on unless an option says no.
SWITCHED_OFF = {"match_special": "no_special_matches", "surface": "no_surface"}


def command_line(kind: str, settings: Any, data: str, out: str = "out") -> str | None:
    """The command for settings of a kind of run, over a file called `data`; None for a kind without a command.

    Only what differs from the command's defaults is named. Settings that a command has no option for (how many
    predictions a page lists) are left out: they change no number.

    >>> command_line("clusters", clusters.records.Settings(("m",), layer=2, centre=True), "my file.csv")
    "python -m engine clusters --data 'my file.csv' --model m --layer 2 --centre --out out"
    """
    if kind not in COMMANDS:
        return None
    parser = argparse.ArgumentParser(prog=kind)
    COMMANDS[kind].add_arguments(parser)
    actions = {action.dest: action for action in parser._actions}
    words = ["python", "-m", "engine", kind, "--data", data]
    for name, value in _flat(asdict(settings)):
        words += _words(name, value, actions)
    return shlex.join([*words, "--out", out])


def _words(name: str, value: Any, actions: Mapping[str, argparse.Action]) -> list[str]:
    if name in SWITCHED_OFF and SWITCHED_OFF[name] in actions:
        return [] if value else [actions[SWITCHED_OFF[name]].option_strings[-1]]
    action = actions.get(OPTIONS.get(name, name)) or actions.get(name)
    if action is None:
        return []
    flag = action.option_strings[0]
    if isinstance(action, argparse.BooleanOptionalAction):
        return [] if value == action.default else [flag if value else f"--no-{flag[2:]}"]
    if isinstance(value, bool):
        return [flag] if value else []
    if isinstance(action, argparse._AppendAction):
        return [word for one in value for word in (flag, str(one))]
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else value
    return [] if text is None or text == action.default else [flag, str(text)]


def _flat(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Settings within settings (how pairs are scored) have their options side by side with the rest."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            inner = dict(value)
            if "idfs" in settings:  # a grid of them, in place of one
                del inner["idf"], inner["penalty"]
            elif inner["threshold_kind"] == "value":
                inner["threshold_value"] = inner.pop("threshold")
            yield from inner.items()
        else:
            yield name, value
