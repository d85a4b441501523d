"""Checkpoints of one training: models whose names differ in the number of steps, as revisions or directories do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from engine.models.sources.names import shown_name, without_label

_THOUSANDS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9}
_NUMBER = r"(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)([kmb]?)(?![a-z0-9])"
# By preference: steps, other words for a place in training, tokens; then a revision or a directory that is a number.
_STEPS = tuple(
    re.compile(pattern + _NUMBER, re.IGNORECASE)
    for pattern in (
        r"(?<![a-z])(?:global[ _-]?)?steps?[ _-]?",
        r"(?<![a-z])(?:checkpoint|chck|chkpt|ckpt|iteration|iter|update|epoch)s?[ _-]?",
        r"(?<![a-z])tokens?[ _-]?",
    )
)
_LABEL_ALONE = re.compile(r"^(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)([km]?)$", re.IGNORECASE)  # 1M of words, 500 steps
_NUMBER_ALONE = re.compile(r"[@/](\d+)()$")  # 7b is a size, 500 a step
_ANY_NUMBER = re.compile(r"\d+(?:[.,]\d+)*[kmb]?(?![a-z])", re.IGNORECASE)
FEWEST_ALIKE = 3  # two models that differ in a number may be two of anything
_FURTHER_TOKENS = re.compile(r"[ _-]?tokens?[ _-]?\d+(\.\d+)?[kmb]?", re.IGNORECASE)


class Checkpoint(NamedTuple):
    """A model as a checkpoint: the training that it is of, and its step (or epoch, or whatever its name counts)."""

    model: str
    series: str
    step: float


def checkpoint_of(model: str) -> Checkpoint | None:
    """The checkpoint that a model's name, or its label, says it is; None where the name has no step.

    >>> checkpoint_of("owner/name@step1000")
    Checkpoint(model='owner/name@step1000', series='owner/name', step=1000.0)
    >>> checkpoint_of("/srv/run-3/checkpoint-500"), checkpoint_of("owner/gpt2")
    (Checkpoint(model='/srv/run-3/checkpoint-500', series='/srv/run-3', step=500.0), None)
    >>> checkpoint_of("owner/olmo@stage1-step10k-tokens5B")[1:]
    ('owner/olmo@stage1', 10000.0)
    >>> [checkpoint_of(label)[1:] for label in ("checkpoint 1M=/a", "step 1,000=/b", "10M=/c")]
    [('checkpoint', 1000000.0), ('step', 1000.0), ('steps', 10000000.0)]
    >>> checkpoint_of("run/step20-seed1")[1], checkpoint_of("/srv/llama/7b"), checkpoint_of("owner/name@500")[1:]
    ('run-seed1', None, ('owner/name', 500.0))
    """
    names = dict.fromkeys((shown_name(model), without_label(model)))
    return next((found for name in names if (found := _named(model, name)) is not None), None)


def _named(model: str, name: str) -> Checkpoint | None:
    for pattern in (*_STEPS, _NUMBER_ALONE, _LABEL_ALONE):
        found = [*pattern.finditer(name)]
        if found:
            number, thousands = found[-1].groups()
            series = name[: found[-1].start()].rstrip(" @/_-:") + _FURTHER_TOKENS.sub("", name[found[-1].end() :])
            # Of a label that says the step and nothing else ("checkpoint 1M") the word is the series.
            word = found[-1].group()[: found[-1].start(1) - found[-1].start()].strip(" _-@/:")
            step = float(number.replace(",", "")) * _THOUSANDS[thousands.lower()]
            return Checkpoint(model, series or word or "steps", step)
    return None


def in_series(checkpoints: Iterable[Checkpoint]) -> dict[str, tuple[Checkpoint, ...]]:
    """The trainings of which these are checkpoints of two steps or more, each with its checkpoints by step.

    >>> found = in_series([Checkpoint("a@step2", "a", 2), Checkpoint("a@step1", "a", 1), Checkpoint("b@step1", "b", 1)])
    >>> {series: [checkpoint.model for checkpoint in of_series] for series, of_series in found.items()}
    {'a': ['a@step1', 'a@step2']}
    """
    by_series: dict[str, list[Checkpoint]] = {}
    for checkpoint in checkpoints:
        by_series.setdefault(checkpoint.series, []).append(checkpoint)
    return {
        series: tuple(sorted(found, key=lambda checkpoint: checkpoint.step))
        for series, found in by_series.items()
        if len({checkpoint.step for checkpoint in found}) > 1
    }


def further_of(models: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """Those of other models that are checkpoints of a training of these models, by step; each step of one once.

    >>> further_of(["a@step1", "b"], ["a@step20", "a@step1", "c@step2", "Two=a@step20", "a@step3"])
    ('a@step3', 'a@step20')
    """
    there = [found for model in models if (found := checkpoint_of(model))]
    taken = {(found.series, found.step) for found in there}
    series = {found.series for found in there}
    further: dict[tuple[str, float], Checkpoint] = {}
    for found in (found for model in others if (found := checkpoint_of(model))):
        if found.series in series and (found.series, found.step) not in taken:
            further.setdefault((found.series, found.step), found)
    return tuple(found.model for found in sorted(further.values(), key=lambda found: (found.series, found.step)))


def unread_series(models: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """The groups of models that look like checkpoints of one training but are on no axis of steps.

    Those are FEWEST_ALIKE models or more whose names differ in numbers alone, and so many that name different steps
    but no common training.

    >>> unread_series(["runs/gpt_v1M", "runs/gpt_v10M", "runs/gpt_v100M", "owner/other"])
    (('runs/gpt_v1M', 'runs/gpt_v10M', 'runs/gpt_v100M'),)
    >>> unread_series(["a/chck_1M", "a/chck_2M", "a/chck_3M"]), unread_series(["a@step1", "b@step2", "c@step3"])
    ((), (('a@step1', 'b@step2', 'c@step3'),))
    """
    found = {model: checkpoint_of(model) for model in models}
    read = {
        checkpoint.model
        for steps in in_series(checkpoint for checkpoint in found.values() if checkpoint).values()
        for checkpoint in steps
    }
    left = {model: checkpoint for model, checkpoint in found.items() if model not in read}
    alike: dict[str, list[str]] = {}
    for model, checkpoint in left.items():
        if checkpoint is None:
            alike.setdefault(_ANY_NUMBER.sub("#", shown_name(model)), []).append(model)
    steps_by_model = {model: checkpoint.step for model, checkpoint in left.items() if checkpoint}
    groups = [tuple(group) for group in alike.values() if len(group) >= FEWEST_ALIKE]
    if len(set(steps_by_model.values())) >= FEWEST_ALIKE:
        groups.append(tuple(steps_by_model))
    return tuple(groups)
