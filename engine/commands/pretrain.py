"""`python -m engine pretrain`: pretrains a small BERT or GPT-2 on a corpus, saved in Hugging Face layout."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from engine.commands.shared import output
from engine.commands.shared.options import add_option, is_given, settings_from
from engine.errors import InputError
from engine.messages.languages import translated
from engine.messages.message import Message
from engine.models.pretraining.settings import ARCHITECTURES, LEARNING_RATES, Running, Settings
from engine.options import check, options_of

# The settings under each heading of the help, in the order in which they are read; all are under one.
CORPUS = ("language", "documents", "held_out_share")
MODEL = (
    "tokenizer",
    "vocab_size",
    "vocabulary_every",
    "layers",
    "hidden",
    "heads",
    "max_length",
    "start",
    "keep_vocabulary",
)
TRAINING = (
    "steps",
    "tokens_per_step",
    "learning_rate",
    "warmup_steps",
    "weight_decay",
    "optimizer",
    "whole_word_masking",
    "short_share",
    "precision",
    "seed",
    "device",
    "save_every",
)
MEASUREMENT = ("held_out_tokens", "evaluate_every")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command, under headings."""
    parser.usage = Message("%(prog)s --corpus FILE --architecture {bert,gpt2}\n       --out DIR [OPTION ...]")
    corpus = parser.add_argument_group(Message("corpus"))
    corpus.add_argument(
        "--corpus",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help=Message("text or Aozora files, folders or zips, each file a document; may be repeated"),
    )
    corpus.add_argument(
        "--lines",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help=Message("a text file whose lines are documents of their own; may be repeated"),
    )
    _add_settings(corpus, CORPUS)
    model = parser.add_argument_group(Message("model"))
    model.add_argument(
        "--architecture",
        required=True,
        choices=ARCHITECTURES,
        help=Message("bert is a masked language model, gpt2 a causal one"),
    )
    model.add_argument(
        "--out",
        required=True,
        type=output.folder,
        metavar="DIR",
        help=Message("where the model goes; a run that was stopped there is continued"),
    )
    _add_settings(model, MODEL)
    _add_settings(parser.add_argument_group(Message("training")), TRAINING)
    _add_settings(parser.add_argument_group(Message("measurement")), MEASUREMENT)


def _add_settings(group: argparse._ArgumentGroup, names: Sequence[str]) -> None:
    records = {name: record for record in (Settings, Running) for name in options_of(record)}
    for name in names:
        add_option(group, records[name], options_of(records[name])[name])


def run(options: argparse.Namespace) -> None:
    """Pretrain a model, with progress on stderr."""
    from engine.models.pretraining.pretrain import pretrain

    if not options.corpus and not options.lines:
        raise InputError(Message("Nothing to train on: give --corpus FILE, or --lines FILE."))

    rate = (
        {} if is_given(options, Settings, "learning_rate") else {"learning_rate": LEARNING_RATES[options.architecture]}
    )
    settings = settings_from(options, Settings, architecture=options.architecture, **rate)
    running = settings_from(options, Running)
    check(running)
    arguments = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    pretrain(
        options.corpus,
        options.out,
        settings,
        lines=options.lines,
        **asdict(running),
        command=shlex.join(["python", "-m", "engine", *arguments]),
        report=lambda line: print(translated(line), file=sys.stderr, flush=True),
    )
