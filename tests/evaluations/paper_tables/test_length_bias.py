"""The transcribed tables of the paper on token-length bias: every cell stands in its text, and the sums agree."""

from __future__ import annotations

import pytest

from engine.evaluations.paper_tables.length_bias import (
    ACCURACIES_TABLE,
    COUNTS_TABLE,
    FAMILIES,
    FAMILY,
    MODELS_TABLE,
    STRATA,
    TABLES,
    UIDS,
    families,
    n_pairs,
)
from engine.evaluations.paper_tables.printed import PaperTable
from engine.measures.cards.catalog import CARDS
from engine.models.sources.paper_cards import LENGTH_BIAS, PAPER_CARDS
from tests.support.shared_data import shared_data

TEXT = "004_ff47e45827d1ac1b.txt"


@pytest.mark.parametrize("table", [COUNTS_TABLE, ACCURACIES_TABLE], ids=lambda table: table.key)
def test_every_row_stands_in_the_paper(table: PaperTable) -> None:
    text = shared_data("..", "papers", TEXT).read_text(encoding="utf-8").replace("<b>", "").replace("</b>", "")
    after = text[text.index({"length-2": "表2 それぞれ", "length-3": "表3 元の"}[table.key]) :]
    for row in table.cells:
        assert "\t".join(row) in after, row


def test_the_models_stand_in_the_paper() -> None:
    text = shared_data("..", "papers", TEXT).read_text(encoding="utf-8")
    for name, _, tokenizer, vocabulary, datasets in MODELS_TABLE.cells:
        assert f"{name}\t{tokenizer}\t{vocabulary}\t{datasets}" in text


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.key)
def test_a_table_is_complete(table: PaperTable) -> None:
    assert all(len(row) == len(table.columns) for row in table.cells) and len(set(table.rows)) == len(table.cells)
    assert set(table.measures) <= set(table.columns) and set(table.measures.values()) <= set(CARDS) and table.note


@pytest.mark.parametrize("dataset", COUNTS_TABLE.rows)
def test_the_strata_of_every_family_are_the_same_pairs(dataset: str) -> None:
    sums = {sum(COUNTS_TABLE.values(f"{family} {stratum}")[dataset] for stratum in STRATA) for family in FAMILIES}
    assert sums == {n_pairs(dataset)}


def test_figures_by_hand() -> None:
    # 22,368 + 3,822 + 4,810 = 31,000; the 1,508 pairs of CrowS-Pairs and the 331 of JBLiMP are all that were published
    assert [n_pairs(name) for name in ("BLiMP", "CrowS-Pairs", "JBLiMP")] == [31_000, 1_508, 331]
    # section 5: GPT-2 on Expletive It Object Raising, "81.2%" and without the bias "90.1%"
    row = "Expletive It Object Raising"
    assert ACCURACIES_TABLE.values("GPT-2")[row] == 81.2 and ACCURACIES_TABLE.values("GPT-2, balanced")[row] == 90.1
    assert COUNTS_TABLE.as_printed("GPT-2 A=U", 22368) == "22,368" and ACCURACIES_TABLE.as_printed("BERT", 80) == "80.0"


def test_every_model_has_a_card_and_a_column_and_every_phenomenon_a_uid() -> None:
    labels = {dict(card.labels)[LENGTH_BIAS] for card in PAPER_CARDS.values() if LENGTH_BIAS in dict(card.labels)}
    assert labels == set(MODELS_TABLE.rows) == set(FAMILY) and set(FAMILY.values()) == set(FAMILIES)
    assert set(UIDS) == set(ACCURACIES_TABLE.rows) and len(set(UIDS.values())) == 10
    assert all(sorted(families(dataset).values()) == sorted(FAMILIES) for dataset in COUNTS_TABLE.rows)
