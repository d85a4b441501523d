from __future__ import annotations

import pytest

from engine.errors import InputError, RunError
from engine.runs.access.limits import HOSTED, Limits, limits


def test_what_is_within_the_bounds_passes() -> None:
    bounds = Limits(running=1, queued=3, rows=100, storage_gb=2.0)
    bounds.check(n_rows=100, n_by_state={"queued": 1, "running": 1, "done": 50})
    Limits().check(n_rows=10**9, n_by_state={"queued": 10**6})  # no bounds


def test_every_bound_is_told_with_what_was_asked_and_what_would_do() -> None:
    bounds = Limits(running=1, queued=3, rows=100, storage_gb=2.0)
    with pytest.raises(InputError, match=r"101 rows.*at most 100 in one run.*part of it"):
        bounds.check(n_rows=101, n_by_state={})
    with pytest.raises(RunError, match=r"3 runs waiting or running.*at most 3.*cancel one"):
        bounds.check(n_rows=1, n_by_state={"queued": 2, "running": 1})


def test_limits_come_from_the_environment() -> None:
    assert limits({}, hosted=False) == Limits()
    assert limits({}, hosted=True) == Limits(**HOSTED)  # type: ignore[arg-type]
    environment = {"HAKARI_USER_RUNNING": "3", "HAKARI_USER_ROWS": "0", "HAKARI_USER_STORAGE_GB": "0.5"}
    assert limits(environment, hosted=True) == Limits(3, int(HOSTED["queued"]), None, 0.5, int(HOSTED["tabs"]))
    for value in ("many", "-1", "inf", "nan"):
        with pytest.raises(InputError, match="HAKARI_USER_QUEUED"):
            limits({"HAKARI_USER_QUEUED": value}, hosted=False)
