"""The configuration of an instance from its environment: members, limits, allowed models, retention."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.errors import InputError
from engine.hosted import is_hosted
from engine.messages.message import Message
from engine.runs.access.limits import Limits, limits
from engine.runs.access.member_list import MemberList
from engine.runs.access.model_policy import ModelPolicy, model_policy
from engine.runs.computing import private_cache

DEFAULT_RUNNING = 2
DEFAULT_BIN_DAYS = 30
MAX_DAYS = 36_500.0  # a hundred years; a date cannot be as old as any number


@dataclass(frozen=True)
class Configuration:
    """Read once, when the engine is opened.

    members: of a hosted instance; None on a single-user machine. retention_days: after how many days an ended run is
    deleted with its data; None keeps all. bin_days: how many days a deleted run stays in the bin; 0: deletion is final.
    running: the largest number of runs at once, of all users. pretraining: the same of pretrainings; 0: none is
    started from a page. private_cache: whether a cached piece answers only the user for whose run it was computed.
    """

    members: MemberList | None = None
    limits: Limits = field(default_factory=Limits)
    models: ModelPolicy = field(default_factory=ModelPolicy)
    retention_days: float | None = None
    running: int = DEFAULT_RUNNING
    pretraining: int = 1
    bin_days: float = DEFAULT_BIN_DAYS
    private_cache: bool = False

    @property
    def hosted(self) -> bool:
        """Whether this is a team instance with sign-in."""
        return self.members is not None


def configuration(environment: Mapping[str, str] | None = None) -> Configuration:
    """The configuration of the variables HAKARI_…. Raises InputError for invalid values."""
    environment = os.environ if environment is None else environment
    hosted = is_hosted(environment)
    days = _days(environment, "HAKARI_RETENTION_DAYS")
    running = _number(environment, "HAKARI_RUNNING")
    bin_days = _days(environment, "HAKARI_BIN_DAYS")
    pretraining = _number(environment, "HAKARI_PRETRAINING")
    return Configuration(
        members=MemberList(environment) if hosted else None,
        limits=limits(environment, hosted=hosted),
        models=model_policy(environment, hosted=hosted),
        retention_days=days or None,
        running=int(running) if running else DEFAULT_RUNNING,
        bin_days=DEFAULT_BIN_DAYS if bin_days is None else bin_days,
        # hours of every core: on a team's instance the operator decides
        pretraining=(0 if hosted else 1) if pretraining is None else int(pretraining),
        private_cache=private_cache(environment),
    )


def checked_days(name: str, days: float) -> float:
    """A number of days after which something is deleted. Raises InputError, with its name, for one out of range."""
    if not 0 <= days <= MAX_DAYS:
        raise InputError(
            Message(
                "{name} is a number of days, 0 to {MAX_DAYS:,.0f}; got {days:g}.",
                name=name,
                MAX_DAYS=MAX_DAYS,
                days=days,
            )
        )
    return days


def _days(environment: Mapping[str, str], variable: str) -> float | None:
    number = _number(environment, variable)
    return None if number is None else checked_days(variable, number)


def _number(environment: Mapping[str, str], variable: str) -> float | None:
    text = environment.get(variable, "").strip()
    try:
        number = float(text) if text else None
    except ValueError:
        raise InputError(Message("{variable} is a number; got {text!r}.", variable=variable, text=text)) from None
    if number is not None and not 0 <= number < float("inf"):
        raise InputError(Message("{variable} is a number from 0 on; got {text!r}.", variable=variable, text=text))
    return number
