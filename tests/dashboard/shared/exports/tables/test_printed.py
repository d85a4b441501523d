"""Tables as they are printed: digits and intervals of the declaration, bold only where a test separates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.shared.column_heads import head
from dashboard.shared.exports.tables.printed import (
    MOST_ROWS,
    Cell,
    PrintedTable,
    _head,
    decimals_of,
    number_text,
    printed,
)
from engine.datasets.rows import EMPTY
from engine.evaluations.agreement.evaluate import AGREEMENT
from engine.evaluations.agreement.evaluate import MODELS as AGREED
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.classification.records import MODELS as ACCURACIES
from engine.evaluations.clusters.records import COMPARISONS, INTERVALS, MODELS
from engine.evaluations.comparison.records import NUMBERS
from engine.evaluations.metric_study.cases import CASES
from engine.evaluations.metric_study.records import CORRELATIONS
from engine.evaluations.metric_study.tables import SETTINGS
from engine.evaluations.minimal_pairs.files import FILES as MINIMAL
from engine.evaluations.minimal_pairs.length_effects import SLOPES
from engine.evaluations.minimal_pairs.records import EXCLUDED
from engine.evaluations.minimal_pairs.views import SUMMARY, summary
from engine.evaluations.shared.declared_tables import Table
from engine.evaluations.shared.dictionaries import save
from engine.evaluations.shared.rank_ranges import range_columns
from engine.measures.idf import count_documents
from engine.messages.languages import in_language
from tests.support.minimal_results import synthetic

RANKING = next(table for table in MINIMAL if table.name == "ranking")


def models(groups: list[int | None], scores: list[float]) -> pd.DataFrame:
    return MODELS.frame(
        [
            (f"m{i}", 100, 3, 120.0, 5.0, score, i + 1, group, i + 1, i + 1, 1.2, 0.3, 0.0)
            for i, (group, score) in enumerate(zip(groups, scores, strict=True))
        ]
    )


def column(table: PrintedTable, head: str) -> tuple[Cell, ...]:
    return next(column.cells for column in table.columns if column.head == head)


def bold(table: PrintedTable) -> list[bool]:
    return [
        any(cells) for cells in zip(*([cell.bold for cell in column.cells] for column in table.columns), strict=True)
    ]


def test_an_interval_stands_beside_its_number_with_its_digits() -> None:
    frame = ACCURACIES.frame(
        [
            ("a", 80, 20, 0.8, 0.9, 0.8351, 0.8009, 0.8641, 0.5, 1, 3, 1, 1, 2),
            ("b", 80, 20, 0.7, 0.9, 0.75, float("nan"), float("nan"), 0.5, 2, 3, 1, 1, 2),
        ]
    )
    table = printed(ACCURACIES, frame)
    assert column(table, "accuracy mean") == (Cell("0.835", "[0.801, 0.864]"), Cell("0.750"))
    assert not {"ci low", "ci high", "rank group", "rank first", "rank last"} & {part.head for part in table.columns}
    assert "Square brackets: 95% interval (accuracy mean: Wilson's, at n_test sentences)." in table.notes
    assert "In every row: n train 80; n test 20; baseline 0.500; rank 1–2; n classes 3." in table.notes


def test_of_several_intervals_each_belongs_to_its_own_column() -> None:
    values = {name: 0.0 for name in SETTINGS.headers}
    row = {
        **values,
        "model": "m",
        "idf": "novel",
        "penalty": "none",
        "n": 12,
        "pearson": 0.5,
        "ci_low": 0.1,
        "ci_high": 0.7,
        "spearman": 0.6,
        "spearman_low": 0.2,
        "spearman_high": 0.8,
        "kendall": 0.4,
        "kendall_low": 0.3,
        "kendall_high": 0.45,
        "williams_n": 12,
        "best": True,
        "separable": False,
        "reason": "",
    }
    table = printed(SETTINGS, SETTINGS.frame_of_records([row]))
    assert column(table, "r") == (Cell("0.500", "[0.100, 0.700]"),)
    assert column(table, "ρ") == (Cell("0.600", "[0.200, 0.800]"),)
    assert column(table, "τ_b") == (Cell("0.400", "[0.300, 0.450]"),)


# The columns that have an interval in print.
INTERVALS_OF = {
    ("metric-study", "entity_accuracy"): {"accuracy"},
    ("metric-study", "human_ceiling"): {"pearson", "spearman", "kendall"},
    ("minimal-pairs", "checkpoints"): {"accuracy"},
    ("minimal-pairs", "items"): {"accuracy"},
    ("minimal-pairs", "templates"): {"accuracy"},
    ("minimal-pairs", "babylm"): {"accuracy"},
    ("clusters", "intervals"): {"value"},
    ("clusters", "comparisons"): {"difference"},
    ("fill-mask", "models"): {"mean_probability"},
    ("fill-mask", "common"): {"mean_probability"},
    ("fill-mask", "comparisons"): {"difference"},
    ("classification", "models"): {"accuracy_mean"},
    ("classification", "comparisons"): {"difference"},
    **{("metric-study", name): {"pearson", "spearman", "kendall"} for name in ("settings", "methods")},
    **{("metric-study", name): {"pearson"} for name in ("agreement", "layers")},
    **{("minimal-pairs", name): {"accuracy"} for name in ("summary", "differences", "categories", "ranking")},
    ("minimal-pairs", "bias"): {"slope", "firth_slope"},
    ("minimal-pairs", "correlations"): {"pearson", "spearman"},
    ("minimal-pairs", "linking"): {"pearson", "difference_pearson"},
    ("minimal-pairs", "pairing"): {"pearson", "auc"},
    **{
        ("minimal-pairs", name): {"bits_per_byte", "bits_per_character", "perplexity"}
        for name in ("corpus", "corpus_checkpoints")
    },
    ("minimal-pairs", "corpus_comparisons"): {"difference"},
    ("minimal-pairs", "judgements"): {"auc", "mcc", "accuracy"},
    ("minimal-pairs", "reliability"): {"share"},
    ("minimal-pairs", "fair_summary"): {"accuracy", "fair_accuracy"},
    ("minimal-pairs", "predictions"): {"accuracy", "effect"},
    ("minimal-pairs", "region_surprisals"): {"surprisal"},
    ("minimal-pairs", "acquisition"): {"pearson"},
    **{("minimal-pairs", name): {"gain", "share", "coefficient"} for name in ("reading_times", "reading_checkpoints")},
    ("minimal-pairs", "layers"): {"gain", "over_last", "share"},
    ("minimal-pairs", "levels"): {"accuracy", "macro_accuracy"},
    **{("minimal-pairs", name): {"difference"} for name in ("conditions", "clustered_comparisons")},
    ("metric-study", "system_tests"): {"difference"},
    ("minimal-pairs", "comparisons"): {"difference"},
    ("minimal-pairs", "stereotypes"): {"share"},
    ("comparison", "numbers"): {"difference"},
    ("agreement", "agreement"): {"spearman", "kendall"},
}


def test_every_declared_interval_belongs_to_its_column() -> None:
    tables = {
        **{(kind, table.name): table for kind, evaluation in EVALUATIONS.items() for table in evaluation.tables},
        ("comparison", "numbers"): NUMBERS,
        ("agreement", "agreement"): AGREEMENT,
    }
    samples = {"text": "a", "integer": 3, "integer or none": 3, "number": 0.5, "boolean": True}
    with_interval = {}
    for key, table in tables.items():
        assert {part.of for part in table.columns} <= {"", *table.headers}, key
        row = {part.name: samples[part.type] for part in table.columns if not part.is_family}
        result = printed(table, table.frame_of_records([row]))
        columns = {_head(part, part.name): part.name for part in table.columns if not part.is_family}
        if any(part.end for part in table.columns):
            with_interval[key] = {columns[part.head] for part in result.columns if part.cells[0].interval}
            assert 2 * len(with_interval[key]) == sum(part.end != "" for part in table.columns), key
    assert with_interval == INTERVALS_OF


def test_the_interval_of_the_slope_stands_beside_the_slope_not_its_standard_error() -> None:
    row = dict.fromkeys(SLOPES.headers, 0.0) | {
        "model": "m",
        "normalization": "LP",
        "slope": 0.5,
        "standard_error": 0.1,
        "ci_low": 0.3,
        "ci_high": 0.7,
        "n": 9,
        "n_tied": 0,
        "reason": "",
        "firth_slope": np.nan,
        "firth_low": np.nan,
        "firth_high": np.nan,
    }
    table = printed(SLOPES, SLOPES.frame_of_records([row]))
    assert [
        part.cells[0].interval != ""
        for part in table.columns
        if part.head in (_head(SLOPES["slope"], "slope"), "standard error")
    ] == [True, False]


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([1, 1, 2], [True, True, False]),
        ([1, 1, 1], [False, False, False]),  # no test separates any two
        ([None, 1, 2], [False, True, False]),
        ([1, None], [False, False]),
        ([1], [False]),
    ],
)
def test_bold_are_the_models_that_no_test_separates_from_the_best(
    groups: list[int | None], expected: list[bool]
) -> None:
    earlier = models(groups, [22.4, 23.0, 40.0][: len(groups)])  # a table without ranges
    table = printed(MODELS, earlier.assign(rank_first=pd.array([None] * len(groups), dtype="Int64")))
    assert bold(table) == expected
    assert any(note.startswith("Bold: ") for note in table.notes) == any(expected)
    assert [cell.bold for cell in column(table, "M_m")] == expected  # the score alone, not the other numbers


def test_bold_goes_by_ranges_where_a_table_has_them() -> None:
    # only the first two differ: the third begins no group with the first, and no model is significantly better
    ranges = {"rank_first": pd.array([1, 2, 1], dtype="Int64"), "rank_last": pd.array([2, 3, 3], dtype="Int64")}
    table = printed(MODELS, models([1, 2, 2], [22.4, 23.0, 40.0]).assign(**ranges))
    assert bold(table) == [True, False, True]


def test_models_are_ranked_apart_under_each_normalisation() -> None:
    rows = [
        ("a", 10, 9, 0.9, 0.8, 1.0, 1, 1, 1, 1),
        ("b", 10, 5, 0.5, 0.3, 0.6, 2, 2, 2, 2),
        ("a", 10, 9, 0.9, 0.8, 1.0, 1, 1, 1, 2),
        ("b", 10, 8, 0.8, 0.6, 0.9, 2, 1, 1, 2),
    ]
    names = ["LP", "LP", "SLOR", "SLOR"]
    frame = RANKING.frame([(*row, "", 10, "", name) for row, name in zip(rows, names, strict=True)])
    table = printed(RANKING, frame)
    assert bold(table) == [True, False, False, False]
    assert [cell.text for cell in column(table, "rank")] == ["1", "2", "1–2", "1–2"]


def test_ranks_are_printed_from_first_to_last_place() -> None:
    table = pd.DataFrame({"model": ["a", "b", "c"], "clusters": [1.0, 2.0, np.nan], "rank clusters": [1, 2, pd.NA]})
    agreed = AGREED.completed(table.astype({"rank clusters": "Int64"}))[0]
    assert [cell.text for cell in column(printed(AGREED, agreed), "rank clusters")] == ["1", "2", "–"]
    agreed = agreed.assign(**range_columns([(1, 2), (1, 2), None], of=" clusters"))
    result = printed(AGREED, agreed)
    assert [cell.text for cell in column(result, "rank clusters")] == ["1–2", "1–2", "–"]
    assert not any(part.head.startswith(("rank first", "rank last")) for part in result.columns)
    # Of a version without ranges: by its groups.
    earlier = models([1, 1, 2], [22.4, 23.0, 40.0]).drop(columns=["rank_first", "rank_last"])
    assert [cell.text for cell in column(printed(MODELS, earlier), "rank")] == ["1–2", "1–2", "3"]


def test_clusters_are_counted_where_there_are_some() -> None:
    def counted(**clusters: str) -> tuple[bool, list[str]]:
        table = printed(SUMMARY, summary(synthetic(300), ("LP",), **clusters))
        return any(part.head == "n clusters" for part in table.columns), [
            note for note in table.notes if "clustered" in note
        ]

    assert counted() == (False, [])
    is_column, (note,) = counted(clustered_by="level")  # two clusters in every row: said below the table
    assert not is_column and "clustered by level" in note and "n clusters 2" in note


def test_differences_are_bold_where_they_are_separable() -> None:
    frame = COMPARISONS.frame([("a", "b", -2.0, -3.0, -1.0, True), ("a", "c", 0.5, -1.0, 2.0, False)])
    table = printed(COMPARISONS, frame)
    assert column(table, "difference") == (
        Cell("-2.000", "[-3.000, -1.000]", bold=True),
        Cell("0.500", "[-1.000, 2.000]"),
    )


def test_the_best_setting_and_those_williams_test_does_not_separate_are_bold() -> None:
    base = dict.fromkeys(SETTINGS.headers, 0.1)
    rows = [
        {
            **base,
            "model": model,
            "idf": "novel",
            "penalty": "none",
            "n": 9,
            "williams_n": 9,
            "reason": "",
            "williams_p": p,
            "best": best,
            "separable": separable,
        }
        for model, p, best, separable in (
            ("best", np.nan, True, False),
            ("near", 0.4, False, False),
            ("far", 0.01, False, True),
            ("untested", np.nan, False, False),
        )
    ]
    assert bold(printed(SETTINGS, SETTINGS.frame_of_records(rows))) == [True, True, False, False]
    assert bold(printed(SETTINGS, SETTINGS.frame_of_records(rows[:2]))) == [False, False]


def test_heads_are_symbols_with_an_arrow_to_the_better_end_and_units_are_a_note() -> None:
    table = printed(MODELS, models([1, 2], [22.4, 30.0]))
    arrows = {part.head: part.arrow for part in table.columns}
    assert (arrows["A_m"], arrows["B_m"], arrows["M_m"], arrows["model"]) == ("↓", "↑", "↓", "")
    assert "Units: A_m, B_m, A_m / n, B_m / N squared vector entries." in table.notes


def test_too_many_rows_are_refused() -> None:
    frame = INTERVALS.frame([("m", "score", 0.5, 0.4, 0.6)] * (MOST_ROWS + 1))
    with pytest.raises(ValueError, match="501 rows"):
        printed(INTERVALS, frame)


def test_a_number_is_never_shown_as_a_zero_that_it_is_not() -> None:
    assert [number_text(value, 3) for value in (0.0, 0.0004, 0.0006, 0.0012, -0.0004, float("nan"), float("inf"))] == [
        "0.000",
        "<0.001",
        "0.001",
        "0.001",
        "0.000",
        "–",
        "∞",
    ]


@given(st.floats(1e-3, 1e6))
def test_the_digits_of_a_number_without_declared_ones_are_at_least_four(value: float) -> None:
    shown = float(number_text(value, decimals_of([value])))
    assert abs(shown - value) <= 0.5e-3 * value * 1.0001


def test_reasons_are_printed_in_the_language_of_the_heads() -> None:
    table = printed(EXCLUDED, EXCLUDED.frame([("m", 3, EMPTY.format(column="text"))]))
    assert table.columns[-1].cells[0].text == "'text' is empty"
    with in_language("ja"):
        table = printed(EXCLUDED, EXCLUDED.frame([("m", 3, EMPTY.format(column="text"))]))
    assert [column.head for column in table.columns] == ["モデル", "行", "理由"]
    assert table.columns[-1].cells[0].text == "「text」が空です"


@pytest.mark.parametrize(
    "table",
    [table for evaluation in EVALUATIONS.values() for table in evaluation.tables] + [NUMBERS],
    ids=lambda table: table.name,
)
def test_every_declared_table_can_be_printed(table: Table) -> None:
    samples = {"text": "文_a", "integer": 3, "integer or none": 3, "number": 0.5, "boolean": True}
    row = [samples[part.type] for part in table.columns if not part.is_family]
    other = [f"{value}b" if isinstance(value, str) else value for value in row]
    result = printed(table, table.frame([row, other]))
    assert result.n_rows == 2 and all(len(part.cells) == 2 for part in result.columns)


def test_a_measure_without_any_value_is_no_column_where_others_have_some() -> None:
    """Agreement has a column for each evaluation, whether it was run or not."""
    frame = AGREED.completed(pd.DataFrame({"model": ["m", "n"], "clusters": [1.5, 2.5], "fill-mask": [0.25, np.nan]}))[
        0
    ]
    shown = printed(AGREED, frame)
    assert not {"classification", "benchmark"} & {column.head for column in shown.columns}
    assert "Without a value in any row: classification, benchmark." in shown.notes
    assert texts_by_head(shown)["fill-mask"] == ["0.2500", "–"]
    nothing = printed(AGREED, frame.assign(clusters=np.nan).assign(**{"fill-mask": np.nan}))
    assert "benchmark" in texts_by_head(nothing) and not [note for note in nothing.notes if "any row" in note]


def test_a_dictionary_that_a_run_made_has_its_name(tmp_path: Path) -> None:
    """And not the id that a scoring names it by."""
    choice = save(count_documents([["猫"], ["犬"]], "my novels", "t" * 64, "file"), tmp_path, "printed_id")
    values = {"kind": "bertscore", "model": "m", "n": 30, "pearson": 0.5, "ci_low": 0.1, "ci_high": 0.8}
    shown = printed(CORRELATIONS, pd.DataFrame([values | {"idf": choice}, values | {"idf": "saved/deleted"}]))
    assert texts_by_head(shown)["idf"] == ["my novels", "a deleted dictionary"]


def test_tests_settings_and_methods_are_worded_in_the_language_of_the_table() -> None:
    values = {"kind": "bertscore", "model": "m", "n": 30, "ci_low": 0.1, "ci_high": 0.8}
    values |= {"williams_t": 2.5, "williams_p": 0.01, "separable": True}
    settings = [("none", "none", 0.5), ("novel", "reading", 0.6), ("/data/own.json.gz", "names", 0.7)]
    frame = pd.DataFrame(
        [values | {"idf": idf, "penalty": penalty, "pearson": r, "williams_p": r / 10} for idf, penalty, r in settings]
    )
    compared = pd.DataFrame(
        {"first": [0.1, 0.2], "difference": [0, 0.1], "test": ["Williams", ""], "separable": [False, False]}
    )
    with in_language("ja"):
        shown, numbers = printed(CORRELATIONS, frame), printed(NUMBERS, compared)
    cells = texts_by_head(shown)
    assert cells["idf"] == ["なし", "novel", "own.json.gz"]
    assert cells["ペナルティ"] == ["ペナルティなし", "ペナルティあり", "読みによる固有名の照合"]
    assert "ウィリアムズ検定のp値" in cells and not [head for head in cells if "williams" in head]
    assert not [note for note in shown.notes if "Fisher's" in note]
    assert texts_by_head(numbers)["検定"] == ["ウィリアムズ検定", ""]
    assert texts_by_head(printed(CORRELATIONS, frame))["penalty"] == [
        "without penalty",
        "with penalty",
        "names by reading",
    ]


def test_a_text_of_the_data_is_printed_as_it_is() -> None:
    nearer = ["with penalty", "without penalty"]
    frame = pd.DataFrame({"category": ["reading", "none"], "reference": ["with penalty", "x"], "nearer": nearer})
    with in_language("ja"):
        cells = texts_by_head(printed(CASES, frame))
    assert cells["カテゴリ"] == ["reading", "none"] and cells["参照文"] == ["with penalty", "x"]
    assert cells["人手評価に近い方"] == ["ペナルティあり", "ペナルティなし"]


def test_every_head_of_a_test_has_japanese_words() -> None:
    names = {
        column.name for evaluation in EVALUATIONS.values() for table in evaluation.tables for column in table.columns
    }
    tests = {name for name in names if name.startswith(("williams", "permutation", "perm_both"))}
    with in_language("ja"):
        assert not [name for name in {*tests, "p_value", "p_holm", "test"} if head(name) == name.replace("_", " ")]


def texts_by_head(table: PrintedTable) -> dict[str, list[str]]:
    return {column.head: [cell.text for cell in column.cells] for column in table.columns}
