"""Whether an instance can do its work: does the database answer, do the workers live?"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import EngineError
from engine.runs.open import Engine


@dataclass(frozen=True)
class Health:
    """`parts` says of each part "ok" or what is wrong."""

    parts: dict[str, str]

    @property
    def ok(self) -> bool:
        """Whether every part is."""
        return all(said == "ok" for said in self.parts.values())


def health(engine: Engine) -> Health:
    """Ask each part now; never raises what a part raises."""
    parts = {"database": "ok", "workers": "ok"}
    try:
        engine.store.n_by_state()
    except EngineError as error:
        parts["database"] = str(error)
    if fault := engine.backend.fault():
        parts["workers"] = fault
    return Health(parts)
