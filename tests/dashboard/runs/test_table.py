"""Runs as rows of a table: numbers or state, the settings that differ from the defaults, sizes, tags, owners."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dashboard.faces import FACES
from dashboard.runs import listed, table
from dashboard.shared.headlines import Headline, stored, to_store
from engine.evaluations.catalog import EVALUATIONS
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.json_codec import to_json_value
from engine.runs.storage.run_record import RunRecord
from tests.stored_runs import directories as stored_runs

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUN = RunRecord(
    "1",
    "local",
    "clusters",
    "Clusters: d.csv",
    {"models": ["builtin/a", "b"], "layer": 4},
    "d.csv",
    "h",
    (),
    "done",
    1,
    1,
    "",
    "",
    NOW,
    None,
    None,
    None,
    None,
    models=("builtin/a", "b"),
    n_rows=12,
    tags=("draft", "table 2"),
    headline=to_store([Headline("a", "1.50", "n = 9", "dispersion_score")]),
)


def row(run: RunRecord, **options: object) -> dict[str, object]:
    given = {
        "starred": (),
        "owner_names": {"local": "Everybody"},
        "title": lambda kind: kind.title(),
        "ago": lambda moment: f"at {moment:%d %b}",
        "lengths": {"name": 46},
    } | options
    return table.rows([run], **given).to_dict("records")[0]  # type: ignore[arg-type, return-value]


def test_a_row_says_all_of_a_run() -> None:
    assert row(RUN, starred={"1"}) == {
        "open": "Open",
        "age": "at 01 Jan",
        "name": "★ Clusters",
        "headline": "M_m 1.50 a",
        "dataset": "d.csv · 12 rows",
        "models": "a, b",
        "owner": "Everybody",
        "settings": "layer 4",
        "tags": "draft, table 2",
    }
    named = row(replace(RUN, name="my first", headline=to_store([], "a is better than b.")))
    assert named["name"] == "my first · Clusters" and named["headline"] == "a is better than b."
    failed = row(replace(RUN, state="failed", message="No file of the model was found."))
    assert failed["headline"] == "failed: No file of the model was found."
    assert row(replace(RUN, deleted=NOW + timedelta(days=3)))["age"] == "at 04 Jan"


@pytest.mark.parametrize(
    ("changes", "headline"),
    [
        ({"headline": None}, "…"),
        ({"headline": {"format": 0, "numbers": []}}, "…"),
        ({"headline": to_store([])}, "–"),
        ({"state": "running", "done": 43, "total": 100}, "running, 43%"),
        ({"state": "running", "total": 0}, "running"),
        ({"state": "failed"}, "failed"),
        ({"state": "queued"}, "queued"),
    ],
)
def test_what_stands_for_the_numbers(changes: dict[str, object], headline: str) -> None:
    assert row(replace(RUN, **changes))["headline"] == headline  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", EVALUATIONS)
def test_the_defaults_of_a_kind_are_no_differing_settings(kind: str) -> None:
    settings_type = EVALUATIONS[kind].settings_type
    required = {"model": "m", "name": "n"} if kind == "dictionary" else {"models": ("m",)}
    settings = to_json_value(settings_type(**required))
    assert table.other_settings(replace(RUN, kind=kind, settings=settings)) == []
    assert table.other_settings(replace(RUN, kind=kind, settings={})) == []  # of a version that had none of them
    if "precision" in settings:
        assert table.other_settings(replace(RUN, kind=kind, settings=settings | {"precision": "bf16"})) == [
            "precision bf16"
        ]


def test_nested_settings_and_kinds_of_other_versions() -> None:
    run = replace(RUN, kind="alignment", settings={"models": ["m"], "scoring": {"idf": "novel", "penalty": "none"}})
    assert table.other_settings(run) == ["idf novel", "penalty none"]
    assert table.other_settings(replace(run, kind="unknown")) == []
    long = row(replace(run, kind="unknown", name="x" * 250))["name"]
    assert long == "x" * (table.LINES * 46 - 1) + "…"


@pytest.mark.parametrize("version", stored_runs.VERSIONS)
def test_every_kind_has_numbers_that_come_back_from_the_store(version: str, tmp_path: Path) -> None:
    artifacts = Artifacts(stored_runs.copied(version, tmp_path / "data"))
    kinds = stored_runs.kinds(version)
    assert set(kinds.values()) == set(FACES) == set(EVALUATIONS)
    for run_id, kind in kinds.items():
        headlines = FACES[kind].headlines(artifacts.load_result(run_id, EVALUATIONS[kind].result_type))
        assert headlines and all(headline.value not in ("", "undefined") for headline in headlines)
        assert stored(to_store(headlines)) == headlines[:6]


def test_when_and_what_fit_on_a_phone_and_everything_of_ones_own_beside_the_menu() -> None:
    box, margins = 36, 2 * 15  # pixels that Streamlit takes
    assert box + sum(listed.WIDTHS[name] for name in table.COLUMNS[:3]) + margins <= 390
    width = 985  # pixels of the page beside the menu in a window of 1,366
    for widths, hidden in ((listed.WIDTHS, {"owner"}), (listed.WIDTHS | listed.NARROWER, set())):
        shown = [name for name in table.COLUMNS if name not in hidden]
        assert box + sum(widths[name] for name in shown) <= width
