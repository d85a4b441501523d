"""`python -m engine pretrain`: a corpus to a small BERT or GPT-2 in Hugging Face layout."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import sys
from pathlib import Path

# Beside the defaults of `Settings`, what each architecture was found to learn best with.
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
        ("short-share", float, "steps, the first ones, of rows of whole sentences instead of running text"),
        ("vocabulary-every", int, "learn the vocabulary from every n-th sentence"),
        ("held-out-share", float, "documents kept out of training"),
        ("held-out-tokens", int, "tokens of them the final numbers are measured on"), ("seed", int, "of every draw"),
    ]
    for name, kind, text in numbers:
        parser.add_argument(f"--{name}", type=kind, metavar="N", help=text)
    parser.add_argument("--whole-word-masking", action="store_true", default=None)
    parser.add_argument("--precision", choices=["bf16", "fp32"])
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--save-every", type=int, default=200, metavar="STEPS")
    parser.add_argument("--evaluate-every", type=int, default=500, metavar="STEPS")


def run(options: argparse.Namespace) -> None:
    """Pretrain; progress goes to stderr."""
    from engine.models.pretraining.pretrain import Settings, pretrain

    given = {field.name: getattr(options, field.name) for field in dataclasses.fields(Settings)
             if getattr(options, field.name, None) is not None}
    given.setdefault("learning_rate", LEARNING_RATES[options.architecture])
    arguments = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    pretrain(
        options.corpus, options.out, Settings(**given), device=options.device, save_every=options.save_every,
        evaluate_every=options.evaluate_every, command=shlex.join(["python", "-m", "engine", *arguments]),
        report=lambda line: print(line, file=sys.stderr, flush=True),
    )
