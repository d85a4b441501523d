"""`python -m engine pretrain`: pretrains a small BERT or GPT-2 on a corpus, saved in Hugging Face layout."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import asdict
from pathlib import Path

from engine.commands.shared.options import add_options, is_given, settings_from
from engine.errors import InputError
from engine.models.pretraining.settings import ARCHITECTURES, LEARNING_RATES, Running, Settings
from engine.options import check
from engine.translation import translated


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--corpus", action="append", default=[], type=Path, metavar="FILE",
                        help="text or Aozora files, folders or zips, each file a document; may be repeated")
    parser.add_argument("--lines", action="append", default=[], type=Path, metavar="FILE",
                        help="a text file whose lines are documents of their own; may be repeated")
    parser.add_argument("--architecture", required=True, choices=ARCHITECTURES,
                        help="bert is a masked language model, gpt2 a causal one")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR",
                        help="where the model goes; a run that was stopped there is continued")
    add_options(parser, Settings)
    add_options(parser, Running)


def run(options: argparse.Namespace) -> None:
    """Pretrain a model, with progress on stderr."""
    from engine.models.pretraining.pretrain import pretrain

    if not options.corpus and not options.lines:
        raise InputError("Nothing to train on: give --corpus FILE, or --lines FILE.")

    rate = {} if is_given(options, Settings, "learning_rate") else {
        "learning_rate": LEARNING_RATES[options.architecture]}
    settings = settings_from(options, Settings, architecture=options.architecture, **rate)
    running = settings_from(options, Running)
    check(running)
    arguments = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    pretrain(
        options.corpus, options.out, settings, lines=options.lines, **asdict(running),
        command=shlex.join(["python", "-m", "engine", *arguments]),
        report=lambda line: print(translated(line), file=sys.stderr, flush=True),
    )
