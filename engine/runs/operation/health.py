"""Health check of an instance: the database and the workers."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import EngineError
from engine.runs.open import Engine
from engine.runs.storage.unlisted import advice


@dataclass(frozen=True)
class Health:
    """`parts`: status of each part, "ok" or the fault. `notices`: what is no fault, but needs the operator."""

    parts: dict[str, str]
    notices: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every part is ok."""
        return all(status == "ok" for status in self.parts.values())


def health(engine: Engine) -> Health:
    """Check each part now; errors of a part are reported in its status."""
    notices: tuple[str, ...] = ()
    parts = {"database": "ok", "workers": "ok"}
    try:
        engine.store.n_by_state()
        if unlisted := engine.unlisted.current():
            notices = (advice(unlisted),)
    except EngineError as error:
        parts["database"] = str(error)
    if fault := engine.backend.fault():
        parts["workers"] = fault
    return Health(parts, notices)
