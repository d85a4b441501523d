"""`python -m engine pretrain`: pretrains a small BERT or GPT-2 on a corpus, saved in Hugging Face layout."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import sys
from pathlib import Path

# The best learning rate found for each architecture; other defaults are those of `Settings`.
LEARNING_RATES = {"bert": 5e-4, "gpt2": 1.5e-3}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--corpus", action="append", required=True, type=Path, metavar="FILE",
                        help="text or Aozora files, folders or zips; may be repeated")
    parser.add_argument("--architecture", required=True, choices=["bert", "gpt2"])
    parser.add_argument("--out", required=True, type=Path, metavar="DIR")
    numbers: list[tuple[str, type, str]] = [
        ("vocab-size", int, "pieces in the vocabulary"), ("layers", int, "transformer layers"),
        ("hidden", int, "width"), ("heads", int, "attention heads"), ("max-length", int, "tokens in a row"),
        ("tokens-per-step", int, "batch size in tokens"), ("steps", int, "optimiser steps"),
        ("learning-rate", float, f"peak rate (default {LEARNING_RATES})"), ("warmup-steps", int, "steps to the peak"),
        ("weight-decay", float, "of AdamW"),
        ("short-share", float, "share of the steps, the first ones, with rows of whole sentences, not running text"),
        ("vocabulary-every", int, "learn the vocabulary from every n-th sentence"),
        ("held-out-share", float, "share of documents held out of training"),
        ("held-out-tokens", int, "held-out tokens for the final evaluation"), ("seed", int, "random seed"),
    ]
    for name, type_, help_text in numbers:
        parser.add_argument(f"--{name}", type=type_, metavar="N", help=help_text)
    parser.add_argument("--whole-word-masking", action="store_true", default=None)
    parser.add_argument("--precision", choices=["bf16", "fp32"])
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--save-every", type=int, default=200, metavar="STEPS")
    parser.add_argument("--evaluate-every", type=int, default=500, metavar="STEPS")


def run(options: argparse.Namespace) -> None:
    """Pretrain a model, with progress on stderr."""
    from engine.models.pretraining.pretrain import Settings, pretrain

    values = {field.name: getattr(options, field.name) for field in dataclasses.fields(Settings)
              if getattr(options, field.name, None) is not None}
    values.setdefault("learning_rate", LEARNING_RATES[options.architecture])
    arguments = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    pretrain(
        options.corpus, options.out, Settings(**values), device=options.device, save_every=options.save_every,
        evaluate_every=options.evaluate_every, command=shlex.join(["python", "-m", "engine", *arguments]),
        report=lambda line: print(line, file=sys.stderr, flush=True),
    )
