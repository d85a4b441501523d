"""The papers' tables beside a run: as printed, with the run's own numbers only where these are comparable."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from dashboard.shared import session
from dashboard.shared.paper_tables import columns_of, side_by_side
from engine.datasets import sample_data
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.fill_mask.records import Settings as FillMask
from engine.evaluations.minimal_pairs.records import Settings as MinimalPairs
from engine.evaluations.paper_tables.beside import VALUES, Beside
from engine.evaluations.paper_tables.novels import GRID_TABLE
from engine.evaluations.paper_tables.sentence_clustering import TABLES
from engine.messages.languages import in_language
from tests.support.page_visits import SECONDS, drawn, visit, words

MODELS = ("somebody/bert", "other/bert")


def test_numbers_of_the_run_stand_behind_the_column_of_print_in_its_form() -> None:
    values = VALUES.frame(
        [("paper/nict=/x", "NICT Ver.", "all", 0.123456), ("m", "m", "all", 0.5), ("m", "m", "books", float("nan"))]
    )
    table = side_by_side(Beside(TABLES["paclic-4"], values, True, "why"))
    assert list(table.columns) == ["model", "books", "DVDs", "music", "all", "all, this run"]
    by_model = table.set_index("model")
    assert by_model.loc["NICT Ver.", ["all", "all, this run"]].tolist() == ["11.07%", "12.35%"]
    assert pd.isna(by_model.loc["SP Ver.", "all, this run"])
    assert pd.isna(by_model.loc["m", "all"]) and by_model.loc["m", "all, this run"] == "50.00%"
    assert set(columns_of(TABLES["paclic-4"], table)) == set(table.columns)


def test_without_numbers_it_is_the_table_as_printed() -> None:
    for table in TABLES.values():
        shown = side_by_side(Beside(table, VALUES.frame()))
        assert list(shown.itertuples(index=False, name=None)) == list(table.cells)


@pytest.mark.parametrize(
    ("page", "kind", "settings", "source"),
    [
        ("fill_mask", "fill-mask", FillMask(MODELS), "PACLIC 34, table 4"),
        ("minimal_pairs", "minimal-pairs", MinimalPairs(MODELS), "NLP 2024 (in Japanese), table 3"),
    ],
)
@pytest.mark.usefixtures("no_cache_outlives_a_test", "backend")
def test_a_page_says_where_the_numbers_are_from_and_why_they_are_not_compared(
    page: str, kind: str, settings: Any, source: str
) -> None:
    assert kind in EVALUATIONS
    runs = session.engine().runs
    data = sample_data.masked_sentences() if kind == "fill-mask" else sample_data.minimal_pairs()
    run_id = runs.submit(kind, settings, data).run_id
    assert runs.wait(run_id, SECONDS).state == "done"
    app = visit(page, run=run_id)
    assert "Not comparable" not in words(app)  # nothing is put together before it is asked for
    app.button(key="published").click()
    shown = words(drawn(app))
    assert "Not comparable: other data." in shown and source in shown
    assert len(app.selectbox(key="published-table").options) == 3


def test_heads_that_name_a_setting_are_in_the_readers_language() -> None:
    printed = GRID_TABLE
    with in_language("ja"):
        heads = [column["label"] for column in columns_of(printed, printed.printed()).values()]
    assert "Novel辞書、ペナルティあり" in heads and not any("dictionary" in head for head in heads)
