"""The scores of sentences as a file has them, one line for each, checked value by value; no matter of which layout."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.datasets.minimal_pairs.scores import UNKNOWN
from engine.errors import BadRow
from engine.messages.message import Message

ROUNDING = 1e-3  # a log-likelihood may exceed 0 by so much
SAME = 0.01  # nats: two scores of one sentence differ by less where only batch or rounding do
SAME_SHARE = 1e-4  # of the score, which may be added to these
IMPOSSIBLE = -9999.0  # what vLLM writes for a probability of 0
MOST_TOKENS = 1_000_000_000  # of a sentence; a larger number is no number of tokens
HALF = Message("its text or one of its tokens holds half of a surrogate pair, which is no character")


@dataclass
class Lines:
    """The scores of one model, (n,) each; `model` is "" where the file does not name it.

    rows: numbers in the file. tokens: as `SideScores` has them. is_joined: whether texts are tokens that were joined,
    without white space. right: whether the file itself says that a pair was decided rightly, for each pair.
    """

    model: str
    rows: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    log_likelihoods: list[float] = field(default_factory=list)
    n_tokens: list[int] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    is_joined: bool = False
    right: list[bool] = field(default_factory=list)


class Collector:
    """Collects the lines of all models of a file, and what is wrong with its rows."""

    def __init__(self) -> None:
        self.models: dict[str, Lines] = {}
        self.bad: list[BadRow] = []
        self.notices: list[Message] = []

    def lines(self, model: str) -> Lines:
        """Those of a model, at first none."""
        if model not in self.models:
            self.models[model] = Lines(model)
        return self.models[model]

    def refuse(self, row: int, reason: Message) -> None:
        """Note that a row cannot be used."""
        self.bad.append(BadRow(row, reason))

    def add(
        self, model: str, row: int, text: str, value: Any, n_tokens: Any = "", tokens: Any = "", column: str = ""
    ) -> None:
        """Add the score of a sentence; what cannot be one is noted instead.

        value: the sum, "" where it is that of the tokens. n_tokens: "" where it is not known. tokens: JSON, or the list.
        column: of the value, for messages.
        """
        try:
            listed = token_list(tokens) if tokens not in ("", None) else None
            total = log_likelihood(value, column) if value not in ("", None) else None
            number = _number_of_tokens(n_tokens)
            if listed is not None:
                scored = [score for _, score in listed if score is not None]
                total, number = _agreed(total, number, scored)
            if not text.strip():
                raise ValueFault(Message("it names no sentence"))
            if _has_half(text, *(token for token, _ in listed or ())):
                raise ValueFault(HALF)
            if total is None:
                raise ValueFault(Message("'{column}' is empty", column=column))
        except ValueFault as fault:
            self.refuse(row, fault.reason)
            return
        lines = self.lines(model)
        lines.rows.append(row)
        lines.texts.append(text)
        lines.log_likelihoods.append(total)
        lines.n_tokens.append(UNKNOWN if number is None else number)
        lines.tokens.append("" if listed is None else json.dumps(listed, ensure_ascii=False))


class ValueFault(Exception):
    """A value is no score; the reason says why."""

    def __init__(self, reason: Message) -> None:
        super().__init__(reason)
        self.reason = reason


def log_likelihood(value: Any, column: str) -> float:
    """A sum of log-likelihoods: finite and not above 0. Raises ValueFault for any other value."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isnan(number):
        raise ValueFault(Message("'{column}' holds {value!r}, no number", column=column, value=str(value)))
    if math.isinf(number) or number <= IMPOSSIBLE * 1000:
        raise ValueFault(
            Message(
                "'{column}' holds {value}, which stands for a probability of 0 or none", column=column, value=str(value)
            )
        )
    if number > ROUNDING:
        raise ValueFault(
            Message(
                "'{column}' holds {value}, above 0: log-likelihoods are negative, surprisals and probabilities are not",
                column=column,
                value=str(value),
            )
        )
    return min(number, 0.0)


def token_list(tokens: Any) -> list[tuple[str, float | None]]:
    """The list of [token, log-likelihood] of a sentence; null for a token that was not scored. Raises ValueFault."""
    try:
        values = json.loads(tokens) if isinstance(tokens, str) else tokens
    except (ValueError, RecursionError):
        values = None
    is_list = isinstance(values, list) and all(
        isinstance(entry, list | tuple) and len(entry) >= 2 and isinstance(entry[0], str) for entry in values
    )
    if not is_list or not values:
        raise ValueFault(Message('its tokens are no JSON list such as [["The", -2.5], ["cat", -1.25]]'))
    listed: list[tuple[str, float | None]] = [
        (token, None if score is None else _of_token(score)) for token, score, *_ in values
    ]
    if all(score is None for _, score in listed):
        raise ValueFault(Message("none of its tokens has a log-likelihood"))
    return listed


def _of_token(value: Any) -> float:
    number = log_likelihood(value, "tokens")
    if number <= IMPOSSIBLE:
        raise ValueFault(
            Message(
                "'{column}' holds {value}, which stands for a probability of 0 or none", column="tokens", value=number
            )
        )
    return number


def _number_of_tokens(value: Any) -> int | None:
    if value in ("", None):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number.is_integer() or number < 1:
        raise ValueFault(Message("its number of tokens is {value!r}; it is 1 or more", value=str(value)))
    if number > MOST_TOKENS:
        raise ValueFault(
            Message("its number of tokens is {value!r}, more than {most:,}", value=str(value), most=MOST_TOKENS)
        )
    return int(number)


def _has_half(*texts: str) -> bool:
    """Whether a text has half of a surrogate pair, as JSON may spell it; no table or file can hold it."""
    return any("\ud800" <= char <= "\udfff" for text in texts if not text.isascii() for char in text)


def _agreed(total: float | None, number: int | None, scored: Sequence[float]) -> tuple[float, int]:
    """Sum and number of tokens, by the file or by its tokens, which have to say the same. Raises ValueFault."""
    of_tokens = math.fsum(scored)
    if total is not None and abs(total - of_tokens) > SAME + SAME_SHARE * abs(total):
        raise ValueFault(
            Message(
                "its log-likelihood is {total:g}, but its tokens add up to {of_tokens:g}",
                total=total,
                of_tokens=of_tokens,
            )
        )
    if number is not None and number != len(scored):
        raise ValueFault(
            Message(
                "its number of tokens is {number}, but {listed} of the listed ones are scored",
                number=number,
                listed=len(scored),
            )
        )
    return of_tokens if total is None else total, len(scored)


def published_accuracy(lines: Lines) -> Mapping[str, float]:
    """What the file itself says: the share of pairs that it calls right, and of how many; {} where it does not."""
    n = len(lines.right)
    return {"accuracy": sum(lines.right) / n, "n": n} if n else {}
