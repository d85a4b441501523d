"""What a page says of a run that goes on: its step and model, items, speed and time left."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pytest

from dashboard.shared import run_progress, session
from dashboard.shared.run_progress import SHOWN_ROWS, awaited, progress_text
from engine.evaluations.catalog import EVALUATIONS
from engine.runs.first_rows import LEAST_ROWS, FirstRows
from engine.runs.storage.run_record import RunRecord
from tests.support import page_visits
from tests.support.fakes import FakeBackend
from tests.support.page_visits import words
from tests.waiting import SECONDS, wait_until

OF_FIRST_ROWS = 100  # items of the first rows are fewer, those of the whole run more

RUN = RunRecord(
    "a",
    "local",
    "alignment",
    "mine",
    {"models": ["owner/a", "owner/b"]},
    "pairs",
    "h",
    (),
    "running",
    40,
    200,
    "Token similarities: owner/a",
    "",
    datetime.now(UTC),
    None,
    None,
    16.4,
    2.0,
    per_second=9.76,
)


def test_the_text_has_step_model_items_speed_and_time_left() -> None:
    assert progress_text(RUN) == (
        "Token similarities: owner/a · model 1 of 2 · 40 of 200 · 9.8 per second · about 16 s left for this model"
    )
    last = replace(RUN, label="Token similarities: owner/b", per_second=1234.5)
    assert progress_text(last) == (
        "Token similarities: owner/b · model 2 of 2 · 40 of 200 · 1,234 per second · about 16 s left"
    )


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"state": "queued"}, "Waiting for its turn"),
        ({"label": "", "total": 0, "eta_seconds": None, "per_second": None}, "Starting"),
        ({"eta_seconds": None, "per_second": None}, "Token similarities: owner/a · model 1 of 2 · 40 of 200"),
        (
            {"settings": {"models": ["owner/a"]}, "per_second": None, "eta_seconds": 75.0},
            "Token similarities: owner/a · 40 of 200 · about 1 min 15 s left",
        ),
        ({"settings": {}, "label": "Map: umap", "per_second": None, "eta_seconds": None}, "Map: umap · 40 of 200"),
    ],
)
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
    for other in (
        replace(RUN, created=datetime.now(UTC) - timedelta(seconds=5)),
        replace(new, state="done"),
        replace(RUN, created=datetime.now(UTC) + timedelta(hours=1)),
    ):  # a clock that was put back
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


def long_run(kind: str) -> tuple[Any, Any]:
    """Settings and dataset of a run that has first rows."""
    texts = [f"文{number}だ" for number in range(LEAST_ROWS)]
    columns: dict[str, Any] = {
        "clusters": {"text": texts, "label": ["甲", "乙"] * (LEAST_ROWS // 2)},
        "alignment": {"reference": texts, "candidate": texts[::-1]},
        "minimal-pairs": {"acceptable": texts, "unacceptable": texts[::-1]},
        "fill-mask": {"text": texts, "label": ["文"] * LEAST_ROWS, "start": [0] * LEAST_ROWS},
    }[kind]
    evaluation = EVALUATIONS[kind]
    return (
        evaluation.settings_type(models=("somebody/bert",)),
        evaluation.dataset_type.from_frame(pd.DataFrame(columns), "many"),
    )


@pytest.mark.usefixtures("no_cache_outlives_a_test")
@pytest.mark.parametrize("kind", [kind for kind, each in EVALUATIONS.items() if each.first_rows is not None])
def test_the_first_rows_are_on_the_page_before_the_run_has_ended(
    kind: str, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, n_computed, computed = threading.Event(), 0, backend._chunk

    def chunk(operation: str, request: Any) -> Any:
        nonlocal n_computed
        n_computed += len(request["items"])
        if n_computed > OF_FIRST_ROWS:
            gate.wait(SECONDS)
        return computed(operation, request)

    monkeypatch.setattr(backend, "_chunk", chunk)
    settings, dataset = long_run(kind)
    runs = session.engine().runs
    try:
        run_id = runs.submit(kind, settings, dataset).run_id
        wait_until(lambda: FirstRows(runs.artifacts.directory).has(run_id), seconds=SECONDS)
        app = page_visits.visit(kind.replace("-", "_"), run=run_id)
        assert not app.exception and not app.error
        (told,) = re.findall(r"\*\*First rows\*\* :gray\[preliminary, under (.+)\]", words(app))
        # The model once, and what is beside a number on the page of the result, such as over how many rows it is.
        assert told.count("somebody/bert") == 1 and re.search(r"\(.*(n = \d|with penalty).*\)$", told), told
        if kind == "clusters":
            assert len(app.get("plotly_chart")) == 1
        else:
            (table,) = [frame.value for frame in app.dataframe]
            assert len(table) == SHOWN_ROWS and table["row"].tolist() == list(range(1, SHOWN_ROWS + 1))
    finally:
        gate.set()
    assert runs.wait(run_id, SECONDS).state == "done"
    assert "**First rows**" not in words(page_visits.visit(kind.replace("-", "_"), run=run_id))
