"""What an evaluation is to those who run it: a kind, its types and one function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.evaluations.shared.declared_tables import Table
from engine.inference.gateway import GatewaySession


@dataclass(frozen=True)
class Evaluation:
    """One kind of run.

    kind: its name in runs and commands ("clusters"). title: its name on a page ("Clusters").
    settings_type, dataset_type, result_type: frozen dataclasses; settings hold JSON-able values and tuples, a
    dataset has `name`, `content_hash`, `to_frame()` and `from_frame(frame, name)`.
    evaluate: settings + dataset + a session at the gateway -> result. It raises EngineError for what a
    user can mend; progress and cancelling are the session's business.
    tables: the declared tables that the command writes, and that a page's archive holds.
    """

    kind: str
    title: str
    settings_type: type[Any]
    dataset_type: type[Any]
    result_type: type[Any]
    evaluate: Callable[[Any, Any, GatewaySession], Any]
    tables: tuple[Table, ...] = ()
