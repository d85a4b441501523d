"""`--track`: the numbers of an evaluation as runs of Weights & Biases or Trackio, one for each model.

Both are used by what they have in common: init(project, name, group, config), log, finish. Only numbers and the
signature are given to them, no text of the data. Where they are sent is theirs to say: WANDB_MODE=offline keeps a run
on disk, Trackio keeps all on disk unless it is given a space.
"""

from __future__ import annotations

import argparse
import importlib
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from engine.errors import InputError
from engine.evaluations.shared.on_card import Headline
from engine.messages.languages import translated
from engine.messages.message import Message, together

PACKAGES = ("wandb", "trackio")
PROJECT = "hakari"
FLAG = "--track"


class Tracker(NamedTuple):
    """A package and the project that its runs are of."""

    package: str
    project: str


def add_tracking_argument(parser: argparse.ArgumentParser) -> None:
    """Declare --track."""
    parser.add_argument(
        FLAG,
        type=tracker,
        metavar="PACKAGE[:PROJECT]",
        help=Message(
            "also log each model's numbers and the signature as a run of {packages} (which must be installed), in the "
            "project hakari or the one that is named; no text of the data",
            packages=together(" or ", PACKAGES),
        ),
    )


def tracker(word: str) -> Tracker:
    """What --track says. Raises argparse's error for another package and for one that is not installed.

    >>> tracker("somebody")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: --track takes wandb or trackio, with :PROJECT after it if wanted; got 'somebody'
    """
    package, _, project = word.partition(":")
    if package not in PACKAGES:
        raise argparse.ArgumentTypeError(
            translated(
                Message(
                    "{flag} takes {packages}, with :PROJECT after it if wanted; got {word!r}",
                    flag=FLAG,
                    packages=together(" or ", PACKAGES),
                    word=word,
                )
            )
        )
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise argparse.ArgumentTypeError(
            translated(
                Message(
                    "{package} cannot be imported ({error}); `pip install {package}` installs it",
                    package=package,
                    error=error,
                )
            )
        ) from error
    return Tracker(package, project or PROJECT)


def track(options: argparse.Namespace, kind: str, result: Any, dataset_name: str) -> None:
    """Log the numbers of each model of a result, where --track asks for it: a run for each, in one group.

    Raises InputError for what the package raises; the tables are written before.
    """
    if options.track is None:
        return
    from engine.evaluations.model_card.card import ON_CARDS  # all evaluations, and only here

    module = importlib.import_module(options.track.package)
    try:
        for model in dict.fromkeys(str(entry["name"]) for entry in result.signature["models"]):
            module.init(
                project=options.track.project,
                name=f"{model} · {kind}",
                group=f"{kind}: {dataset_name}",
                config={
                    "evaluation": kind,
                    "dataset": dataset_name,
                    "model": model,
                    "signature": dict(result.signature),
                },
            )
            module.log(numbers(kind, ON_CARDS[kind].headlines(result, model)))
            module.finish()
    except Exception as error:  # whatever the package raises
        raise InputError(
            Message(
                "The tables are written, but {package} did not take the numbers: {error}.",
                package=options.track.package,
                error=error,
            )
        ) from error


def numbers(kind: str, headlines: list[Headline]) -> Mapping[str, float]:
    """The numbers of a model by name: kind/measure, where there is one /setting; its interval as /low and /high.

    An undefined or infinite number has none.
    """
    found: dict[str, float] = {}
    for each in headlines:
        name = "/".join(filter(None, (kind, each.measure, str(each.setting))))
        values = {name: each.value, f"{name}/low": each.ci_low, f"{name}/high": each.ci_high, f"{name}/n": each.n}
        if math.isfinite(each.value):
            found |= {key: float(value) for key, value in values.items() if math.isfinite(value)}
    return found
