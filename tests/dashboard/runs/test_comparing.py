from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from dashboard.runs.comparing import comparison_table
from dashboard.shared.headlines import Headline
from engine.messages.catalogues import JAPANESE
from engine.messages.languages import in_language
from engine.runs.storage.run_record import RunRecord

RUN = RunRecord(
    "1",
    "local",
    "clusters",
    "first",
    {"models": ["a"], "layer": None, "scoring": {"idf": "none"}},
    "d.csv",
    "h",
    (),
    "done",
    1,
    1,
    "",
    "",
    datetime(2026, 1, 1, tzinfo=UTC),
    None,
    None,
    None,
    None,
)


def test_only_differing_settings_are_listed_and_then_the_numbers() -> None:
    other = replace(RUN, id="2", name="second", settings={"models": ["a", "b"], "layer": 4, "scoring": {"idf": "none"}})
    table = comparison_table(
        [RUN, other],
        {
            "1": [Headline("a", "1.50", "n = 9", "m")],
            "2": [Headline("a", "1.50", "n = 9", "m"), Headline("b", "2.00", "n = 9", "m")],
        },
    )
    assert list(table.columns) == ["what", "first", "second"]
    assert table.to_numpy().tolist() == [
        ["models", "a", "a, b"],
        ["layer", "", "4"],
        ["a", "1.50 (n = 9)", "1.50 (n = 9)"],
        ["b", "", "2.00 (n = 9)"],
    ]


def test_equal_names_are_numbered_and_nested_settings_are_listed() -> None:
    other = replace(RUN, id="2", settings={**RUN.settings, "scoring": {"idf": "novel"}}, note="see <b>")
    table = comparison_table([RUN, other, other], {})
    assert list(table.columns) == ["what", "first", "first (2)", "first (3)"]
    assert table.to_numpy().tolist() == [["Note", "", "see <b>", "see <b>"], ["scoring: idf", "none", "novel", "novel"]]


def test_equal_runs_give_an_empty_table() -> None:
    assert comparison_table([RUN, replace(RUN, id="2")], {}).empty


def test_a_run_that_nobody_named_is_called_in_the_readers_language() -> None:
    """As in every list of runs; here its columns were in English."""
    run = replace(RUN, name="Clusters: d.csv")
    with in_language(JAPANESE):
        table = comparison_table([run, replace(run, id="2", note="memo")], {})
    assert list(table.columns) == ["what", "クラスタ: d.csv", "クラスタ: d.csv (2)"]
