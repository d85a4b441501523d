"""The windows of a run: how many tokens of a text a model reads at once, and how far apart they begin."""

from __future__ import annotations

from engine.datasets.minimal_pairs.kinds import DataKind
from engine.errors import InputError
from engine.evaluations.minimal_pairs.records import LONGEST_WINDOW, Settings
from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts


def check_no_windows(settings: Settings, kind: DataKind) -> None:
    """Raises InputError for windows of data that are not read in any."""
    if not kind.in_windows and (settings.window is not None or settings.stride is not None):
        raise InputError(
            Message(
                "A window and a stride are of running text, and these are {holds}. Leave them out.", holds=kind.holds
            )
        )


def windows_of(facts: ModelFacts, settings: Settings, kind: DataKind) -> tuple[int, int] | None:
    """The length and the stride of the windows of a model, in tokens; None where it reads none.

    That is so of other data than running text, and of models whose texts are left out where they are too long: those
    behind a server, encoder-decoders, and scores from a file. Raises InputError for a window that is longer than the model
    takes, and a stride that is longer than the window.
    """
    if not kind.in_windows or facts.endpoint or facts.scores is not None or facts.kind not in ("causal", "masked"):
        return None
    window = min(facts.max_tokens, LONGEST_WINDOW) if settings.window is None else settings.window
    if window > facts.max_tokens:
        raise InputError(
            Message(
                "{name} takes at most {limit:,} tokens, fewer than the window of {window:,}. Choose a shorter window, or "
                "none, which is as long as each model takes.",
                name=facts.name,
                limit=facts.max_tokens,
                window=window,
            )
        )
    stride = max(1, window // 2) if settings.stride is None else settings.stride
    if stride > window:
        raise InputError(
            Message(
                "A stride of {stride:,} tokens would leave out tokens between the windows of {window:,} in which {name} "
                "reads a text. Choose a stride up to the length of the window.",
                name=facts.name,
                stride=stride,
                window=window,
            )
        )
    return window, stride
