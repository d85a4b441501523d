"""The command that does what a run does: settings to words for a terminal, told from the commands' own options."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from engine.commands import agreement, compare, dictionary
from engine.commands.shared.modules import EVALUATING, Commands
from engine.commands.shared.options import option_words, words_of
from engine.datasets.outside_names import is_from_file
from engine.evaluations.agreement.directories import Sources
from engine.evaluations.comparison.records import Side
from engine.evaluations.dictionary.records import Settings as DictionarySettings
from engine.models.sources.names import without_label

COMMANDS = Commands(*EVALUATING)


def dictionary_line(settings: DictionarySettings, corpus: Sequence[str], out: str = "out.json.gz") -> str | None:
    """The command that counts a dictionary in files called `corpus`; None where it was not counted but uploaded.

    >>> dictionary_line(DictionarySettings("m", "my novels", "line"), ["one.txt", "more.zip"])
    "python -m engine dictionary --model m --corpus one.txt --corpus more.zip --unit line --name 'my novels' --out \
out.json.gz"
    """
    if settings.model is None and not settings.words:
        return None
    parser = argparse.ArgumentParser(prog="dictionary")
    dictionary.add_arguments(parser)
    model = () if settings.model is None else option_words("--model", settings.model)
    files = [word for name in corpus for word in option_words("--corpus", name)]
    return shlex.join(
        [
            "python",
            "-m",
            "engine",
            "dictionary",
            *model,
            *files,
            *words_of(parser, settings),
            *option_words("--name", settings.name),
            "--out",
            out,
        ]
    )


def command_line(
    kind: str,
    settings: Any,
    data: str | Sequence[str],
    out: str = "out",
    further: Sequence[Any] = (),
    columns: Sequence[str] = (),
) -> str | None:
    """The command for settings of a kind of run, over the file or files `data`; None for a kind without a command.

    Only what differs from the command's defaults is named. further: records of the options that a command has beside
    its settings, as `minimal_pairs.PairScoring`. columns: the options that say which column plays which role.

    >>> settings_of_clusters = COMMANDS["clusters"].records.Settings
    >>> command_line("clusters", settings_of_clusters(("m",), layer=2, centre=True), "my file.csv")
    "python -m engine clusters --data 'my file.csv' --model m --layer 2 --centre --out out"
    """
    if kind not in COMMANDS:
        return None
    parser = argparse.ArgumentParser(prog=kind)
    COMMANDS[kind].add_arguments(parser)
    files = [word for name in ([data] if isinstance(data, str) else data) for word in option_words("--data", name)]
    # The files of scores are among the options of the data.
    named = [model for model in settings.models if not is_from_file(without_label(model))]
    models = [word for model in named for word in option_words("--model", model)]
    return shlex.join(
        [
            "python",
            "-m",
            "engine",
            kind,
            *files,
            *columns,
            *models,
            *words_of(parser, settings),
            *(word for record in further for word in words_of(parser, record)),
            "--out",
            out,
        ]
    )


def agreement_line(directories: Mapping[str, str], out: str, benchmark: Sequence[str] = ()) -> str:
    """The command that holds the results in directories, by kind of run, and the files of a benchmark side by side.

    >>> agreement_line({"clusters": "out/clusters", "fill-mask": "out/fill-mask"}, "out/agreement")
    'python -m engine agreement --clusters out/clusters --fill-mask out/fill-mask --out out/agreement'
    """
    parser = argparse.ArgumentParser(prog="agreement")
    agreement.add_arguments(parser)
    sources = Sources(
        clusters=directories.get("clusters"),
        fill_mask=directories.get("fill-mask"),
        classification=directories.get("classification"),
        benchmark=tuple(benchmark),
    )
    return shlex.join(["python", "-m", "engine", "agreement", *words_of(parser, sources), "--out", out])


def card_line(model: str, run_ids: Sequence[str], out: str = "out/card") -> str:
    """The command that makes the card of a model of stored runs.

    >>> card_line("owner/name", ["0a", "0b"])
    'python -m engine card --model owner/name --run 0a --run 0b --out out/card'
    """
    words = [word for run_id in run_ids for word in option_words("--run", run_id)]
    return shlex.join(["python", "-m", "engine", "card", *option_words("--model", model), *words, "--out", out])


def compare_line(sides: Mapping[str, tuple[str, Side]], out: str = "out/compare") -> str:
    """The command that compares two sides; sides: "a" and "b" -> (id of the run, the side)."""
    words = [word for letter, (run_id, side) in sides.items() for word in compare.words_of_side(letter, run_id, side)]
    return shlex.join(["python", "-m", "engine", "compare", *words, "--out", out])
