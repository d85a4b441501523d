from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from dashboard.runs.comparing import comparison_table, in_words
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


def test_two_files_of_one_name_and_other_content_are_told_apart() -> None:
    """As after a correction of a file: nothing seemed to differ."""
    other = replace(RUN, id="2", name="second", dataset_hash="0123456789abcdef")
    assert comparison_table([RUN, other], {}).to_numpy().tolist() == [["Dataset", "d.csv (h)", "d.csv (0123456789ab)"]]


def test_kinds_and_samples_are_in_the_language_of_the_reader() -> None:
    """Both were as stored, `fill-mask` and `sample sentences, ja`."""
    other = replace(RUN, id="2", name="second", kind="fill-mask", dataset_name="sample sentences, ja")
    with in_language(JAPANESE):
        kinds, datasets = in_words(comparison_table([RUN, other], {})).to_numpy().tolist()
    assert kinds[1:] == ["クラスタ", "穴埋め"] and datasets[1] == "d.csv"
    assert "sample" not in datasets[2] and "日本語" in datasets[2]


def test_equal_runs_give_an_empty_table() -> None:
    assert comparison_table([RUN, replace(RUN, id="2")], {}).empty


def test_a_run_that_nobody_named_is_called_in_the_readers_language() -> None:
    """As in every list of runs; here its columns were in English."""
    run = replace(RUN, name="Clusters: d.csv")
    with in_language(JAPANESE):
        table = comparison_table([run, replace(run, id="2", note="memo")], {})
    assert list(table.columns) == ["what", "クラスタ: d.csv", "クラスタ: d.csv (2)"]
