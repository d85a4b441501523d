"""Limits for each user of a shared instance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from engine.errors import InputError, RunError
from engine.messages.message import Message
from engine.runs.storage.store import UNFINISHED

GIGABYTE = 2**30
HOSTED = {"running": 2, "queued": 20, "rows": 200_000, "storage_gb": 10.0, "tabs": 50}


@dataclass(frozen=True)
class Limits:
    """Limits for each user; None is unlimited.

    running: runs at once; more stay queued. queued: queued and running runs. rows: of one dataset. storage_gb: size of
    the datasets, results and corpora of all runs on the disk. tabs: pages that are open at once.
    """

    running: int | None = None
    queued: int | None = None
    rows: int | None = None
    storage_gb: float | None = None
    tabs: int | None = None

    def check(self, *, n_rows: int, n_by_state: Mapping[str, int]) -> None:
        """Check that a user may submit a dataset of `n_rows` rows; `engine.runs.access.quotas` checks the storage.

        Raises InputError when the dataset is too large, RunError when the user has too many runs.
        """
        if self.rows is not None and n_rows > self.rows:
            raise InputError(
                Message(
                    "The dataset has {n_rows:,} rows; this instance takes at most {rows:,} in one "
                    "run. Use a part of it, or split it into several runs.",
                    n_rows=n_rows,
                    rows=self.rows,
                )
            )
        waiting = sum(n_by_state.get(state, 0) for state in UNFINISHED)
        if self.queued is not None and waiting >= self.queued:
            raise RunError(
                Message(
                    "You have {waiting} runs waiting or running; this instance takes at most {queued} "
                    "of one user. Wait for one to end, or cancel one on the Runs page.",
                    waiting=waiting,
                    queued=self.queued,
                )
            )


def limits(environment: Mapping[str, str], *, hosted: bool) -> Limits:
    """The limits of HAKARI_USER_RUNNING, _QUEUED, _ROWS, _STORAGE_GB and _TABS; 0 is unlimited.

    A variable that is not set has the default of a hosted instance; on a single-user machine it is unlimited. Raises
    InputError for invalid values.
    """
    bounds: dict[str, float | None] = {}
    for field in fields(Limits):
        variable = f"HAKARI_USER_{field.name.upper()}"
        text = environment.get(variable, "").strip()
        try:
            number = float(text) if text else float(HOSTED[field.name]) if hosted else 0.0
        except ValueError:
            raise InputError(
                Message("{variable} is a number, 0 for no limit; got {text!r}.", variable=variable, text=text)
            ) from None
        if not 0 <= number < float("inf"):
            raise InputError(Message("{variable} is a number from 0 on; got {text!r}.", variable=variable, text=text))
        bounds[field.name] = None if number == 0 else number if field.name == "storage_gb" else int(number)
    return Limits(**bounds)  # type: ignore[arg-type]
