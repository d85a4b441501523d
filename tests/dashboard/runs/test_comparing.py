from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from dashboard.runs.comparing import compared
from dashboard.shared.headlines import Headline
from engine.runs.storage.run_record import RunRecord

RUN = RunRecord("1", "local", "clusters", "first", {"models": ["a"], "layer": None, "scoring": {"idf": "none"}},
                "d.csv", "h", (), "done", 1, 1, "", "", datetime(2026, 1, 1, tzinfo=UTC), None, None, None, None)


def test_only_what_differs_is_told_and_then_the_numbers() -> None:
    other = replace(RUN, id="2", name="second", settings={"models": ["a", "b"], "layer": 4, "scoring": {"idf": "none"}})
    table = compared([RUN, other], {"1": [Headline("a", "1.50", "n = 9", "m")],
                                    "2": [Headline("a", "1.50", "n = 9", "m"), Headline("b", "2.00", "n = 9", "m")]})
    assert list(table.columns) == ["what", "first", "second"]
    assert table.to_numpy().tolist() == [
        ["models", "a", "a, b"], ["layer", "", "4"], ["a", "1.50 (n = 9)", "1.50 (n = 9)"], ["b", "", "2.00 (n = 9)"]]


def test_runs_of_one_name_stay_apart_and_nested_settings_are_told() -> None:
    other = replace(RUN, id="2", settings={**RUN.settings, "scoring": {"idf": "novel"}}, note="see <b>")
    table = compared([RUN, other, other], {})
    assert list(table.columns) == ["what", "first", "first (2)", "first (3)"]
    assert table.to_numpy().tolist() == [["Note", "", "see <b>", "see <b>"],
                                         ["scoring: idf", "none", "novel", "novel"]]


def test_equal_runs_leave_nothing() -> None:
    assert compared([RUN, replace(RUN, id="2")], {}).empty
