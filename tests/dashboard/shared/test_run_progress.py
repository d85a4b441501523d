"""What a page says of a run that goes on: its step and model, items, speed and time left."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dashboard.shared import run_progress
from dashboard.shared.run_progress import awaited, progress_text
from engine.runs.storage.run_record import RunRecord

RUN = RunRecord("a", "local", "alignment", "mine", {"models": ["owner/a", "owner/b"]}, "pairs", "h", (), "running", 40,
                200, "Token similarities: owner/a", "", datetime.now(UTC), None, None, 16.4, 2.0, per_second=9.76)


def test_the_text_has_step_model_items_speed_and_time_left() -> None:
    assert progress_text(RUN) == (
        "Token similarities: owner/a · model 1 of 2 · 40 of 200 · 9.8 per second · about 16 s left for this model")
    last = replace(RUN, label="Token similarities: owner/b", per_second=1234.5)
    assert progress_text(last) == (
        "Token similarities: owner/b · model 2 of 2 · 40 of 200 · 1,234 per second · about 16 s left")


@pytest.mark.parametrize(("changed", "expected"), [
    ({"state": "queued"}, "Waiting for its turn"),
    ({"label": "", "total": 0, "eta_seconds": None, "per_second": None}, "Starting"),
    ({"eta_seconds": None, "per_second": None}, "Token similarities: owner/a · model 1 of 2 · 40 of 200"),
    ({"settings": {"models": ["owner/a"]}, "per_second": None, "eta_seconds": 75.0},
     "Token similarities: owner/a · 40 of 200 · about 1 min 15 s left"),
    ({"settings": {}, "label": "Map: umap", "per_second": None, "eta_seconds": None}, "Map: umap · 40 of 200"),
])
def test_what_is_unknown_is_left_out(changed: dict[str, Any], expected: str) -> None:
    assert progress_text(replace(RUN, **changed)) == expected


def test_a_page_waits_for_a_run_of_this_moment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    states = iter(["running", "running", "done"])
    looks: list[str] = []

    class Access:
        def get(self, run_id: str) -> RunRecord:
            looks.append(run_id)
            return replace(RUN, state=next(states))

    monkeypatch.setattr(run_progress.session, "access", Access)
    new = replace(RUN, created=datetime.now(UTC))
    ended = awaited(new)
    assert ended is not None and ended.state == "done" and looks == ["a"] * 3
    for other in (replace(RUN, created=datetime.now(UTC) - timedelta(seconds=5)), replace(new, state="done"),
                  replace(RUN, created=datetime.now(UTC) + timedelta(hours=1))):  # a clock that was put back
        assert awaited(other) is other
    assert len(looks) == 3


def test_a_run_that_goes_on_is_awaited_no_longer_than_a_visitor_is_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_progress, "PATIENCE_SECONDS", 0.2)

    class Access:
        def get(self, run_id: str) -> RunRecord:
            return RUN

    monkeypatch.setattr(run_progress.session, "access", Access)
    start = datetime.now(UTC)
    present = awaited(replace(RUN, created=start))
    assert present is not None and present.state == "running"
    assert datetime.now(UTC) - start >= timedelta(seconds=0.2)
