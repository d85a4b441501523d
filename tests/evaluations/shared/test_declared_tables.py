"""Every table is declared once, and what is said of it agrees with the measure cards, the version and the results."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.evaluations.agreement import evaluate as agreement
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.minimal_pairs import comparison, fair_subsets, length_effects, token_contributions, views
from engine.evaluations.shared.declared_tables import (
    Column,
    Table,
    declared,
    documented,
    frames_of,
    measured,
    returns,
    tables_of,
)
from engine.measures.cards.catalog import CARDS
from engine.version import FIRST_VERSION, VERSION, precedes
from tests.support.minimal_results import synthetic

CHANGELOG = Path(__file__).parents[3] / "CHANGELOG.md"
SCORES = Table(
    "scores",
    "A row for each pair.",
    (
        Column("row", "integer", "number of the row"),
        Column("reference <n>", "text", "a further reference"),
        Column("human:<name>", "number", "the score of an annotator"),
        measured("silhouette", "s"),
        Column("rank", "integer or none", "1 is the best", better="lower", since="0.2.0"),
        Column("side", "text", "the side", dtype="category"),
    ),
)
FRAME = pd.DataFrame(
    {
        "row": [1],
        "reference 2": ["a"],
        "human:b": [2.0],
        "human:a": [1.0],
        "s": [0.5],
        "rank": pd.array([None], dtype="Int64"),
        "side": pd.Categorical(["left"]),
    }
)


def all_tables() -> Iterator[tuple[str, Table]]:
    for kind, evaluation in EVALUATIONS.items():
        for table in {
            **{table.name: table for table in tables_of(evaluation.result_type).values()},
            **{f"{table.name}.csv": table for table in evaluation.tables},
        }.values():
            yield kind, table
    for table in (
        *agreement.FILES,
        length_effects.POINTS,
        views.COUNTS,
        comparison.DIFFERING,
        token_contributions.CONTRIBUTIONS,
        token_contributions.BY_CHANGE,
    ):
        yield "derived", table


@pytest.mark.parametrize("kind", EVALUATIONS)
def test_every_table_of_a_result_is_declared_under_the_name_of_its_field(kind: str) -> None:
    result_type = EVALUATIONS[kind].result_type
    tables = (pd.DataFrame, "pd.DataFrame", "ManyRows")
    fields = {field.name for field in dataclasses.fields(result_type) if field.type in tables}
    assert fields == set(tables_of(result_type)) == {table.name for table in tables_of(result_type).values()}
    for table in tables_of(result_type).values():
        assert all(f"    {column.name} (" in (result_type.__doc__ or "") for column in table.columns)


@pytest.mark.parametrize(("kind", "table"), list(all_tables()), ids=lambda value: getattr(value, "name", value))
def test_a_declaration_is_complete(kind: str, table: Table) -> None:
    names = [column.name for column in table.columns]
    assert len(set(names)) == len(names) and table.meaning.endswith((".", "?")), kind
    assert table.promised <= len(names)
    for column in table.columns:
        assert column.meaning and column.meaning == column.meaning.strip() and not column.meaning.endswith("."), column
        assert not precedes(column.since, FIRST_VERSION) and not precedes(VERSION, column.since), column
        assert f"## {column.since} " in CHANGELOG.read_text(encoding="utf-8")
        if column.card:
            card = CARDS[column.card]
            assert column.unit == card.unit and column.better in (card.better, "neither")
        assert len(column.missing(pd.RangeIndex(2))) == 2 and column.missing(pd.RangeIndex(2)).isna().all()


def test_a_column_of_a_measure_has_the_unit_and_direction_of_its_card() -> None:
    column = measured("in_class_dispersion")
    assert (column.name, column.unit, column.better) == ("in_class_dispersion", "squared vector entries", "lower")
    assert column.meaning == "In-class dispersion, A_m"
    with pytest.raises(KeyError):
        measured("no_such_card")


def test_families_of_columns() -> None:
    family = SCORES.columns[1]
    assert (
        family.is_family
        and family.names("reference 2")
        and not family.names("reference")
        and not family.names("reference b")
    )
    assert SCORES.headers == ["row", "s", "rank", "side"]
    assert not SCORES["s"].is_family and SCORES["s"].names("s") and not SCORES["s"].names("ss")


def test_columns_are_arranged_as_declared_those_of_a_family_as_they_come() -> None:
    arranged = SCORES.arranged(FRAME[reversed(FRAME.columns)])
    assert list(arranged.columns) == ["row", "reference 2", "human:a", "human:b", "s", "rank", "side"]
    assert SCORES.arranged(FRAME) is FRAME
    assert list(SCORES.selected(FRAME.assign(other=1)).columns) == list(FRAME.columns)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.drop(columns=["s", "row"]), "'scores' lacks the columns: row, s"),
        (FRAME.assign(t=1), "'scores' has columns that are not declared: t"),
        (FRAME.assign(s="text"), r"columns of another type: s \(number, not str\)"),
        (FRAME.assign(row=[True]), r"row \(integer, not bool\)"),
        (FRAME.assign(side=[1]), r"side \(text, not int64\)"),
    ],
)
def test_another_frame_is_refused(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        SCORES.arranged(frame)


def test_a_table_without_rows_has_the_types_of_one_with_rows() -> None:
    types = {"row": "int64", "s": "float64", "rank": "Int64", "side": "category"}
    for frame in (
        SCORES.frame(),
        SCORES.frame([(1, 0.5, None, "left")]),
        SCORES.frame_of_records([{"side": "left", "s": np.nan, "rank": 1, "row": 2, "more": 0}]),
    ):
        assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == types
    assert SCORES.frame([(1, 0.5, None, "left")])["rank"].isna().all()


@pytest.mark.parametrize("values", [[np.nan, np.nan], [None, None], []])
def test_values_that_are_all_missing_are_of_any_type(values: list[object]) -> None:
    assert all(column.fits(pd.Series(values, dtype="object")) for column in SCORES.columns)
    assert not SCORES["s"].fits(pd.Series(["a", None]))


def test_tables_made_of_tables() -> None:
    less = SCORES.reduced(["s", "row"], name="less", promised=1)
    assert (less.name, less.headers, less.promised) == ("less", ["s", "row"], 1)
    assert less.extended(SCORES["rank"]).headers == ["s", "row", "rank"] and SCORES.name == "scores"


def test_a_declaration_as_rows_of_a_document_and_as_text() -> None:
    rows = SCORES.rows()
    assert rows[3] == ("s", "number", "", "higher", "Silhouette, s", "0.1.0")
    assert rows[4].since == "0.2.0" and rows[4].better == "lower"
    assert SCORES.document().startswith("scores: A row for each pair.\n    row (integer): number of the row\n")
    assert "    rank (integer or none, lower is better, since 0.2.0): 1 is the best" in SCORES.document()


def test_docstrings_go_on_with_the_declarations() -> None:
    @documented
    @dataclasses.dataclass(frozen=True)
    class Result:
        """What was found.

        And more.
        """

        scores: pd.DataFrame = dataclasses.field(metadata=declared(SCORES))

    @returns(SCORES)
    def table() -> pd.DataFrame:
        """The scores."""
        return FRAME

    assert (Result.__doc__ or "").startswith("What was found.\n\nAnd more.\n\nscores: A row for each pair.\n    row (")
    assert (table.__doc__ or "").startswith("The scores.\n\nReturns the table scores: A row for each pair.\n")
    assert frames_of(Result(FRAME), (SCORES,)) == {"scores": FRAME}


def test_views_of_minimal_pairs_are_as_declared() -> None:
    result = synthetic(60)
    for table, frame in (
        (views.SUMMARY, views.summary(result)),
        (views.DIFFERENCES, views.by_difference(result, "LP")),
        (views.CATEGORIES, views.by_category(result, "LP")),
        (length_effects.SLOPES, length_effects.slopes(result)),
        (length_effects.CORRELATIONS, length_effects.length_correlations(result)),
        (comparison.COMPARISONS, comparison.comparisons(result, "LP")),
        (comparison.RANKING, comparison.ranking(result, "LP")),
        (views.COUNTS, views.counts(result)),
        (length_effects.POINTS, length_effects.length_points(result, "m", "LP")),
        (comparison.DIFFERING, comparison.differing_pairs(result, "m", "n", "LP")),
        (fair_subsets.BESIDE, fair_subsets.beside(result, fair_subsets.MATCHED, "LP")),
    ):
        assert len(frame) and table.arranged(frame) is frame, table.name
