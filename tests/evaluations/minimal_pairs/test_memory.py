"""Of a run of millions of sentences there is no room for their pieces beside the tables that are made of them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs import tables
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.exact_decisions import ScoredPairs, score_pairs
from engine.evaluations.minimal_pairs.records import Settings
from engine.inference.piece_columns import Builder, PieceColumns
from tests.support.session_fake import SessionFake

N = 600
PAIRS = MinimalPairs(
    "made up",
    tuple(f"the cats see a house with {row} windows." for row in range(N)),
    tuple(f"the cats sees a house with {row} windows." for row in range(N)),
    ("",) * N,
    tuple(range(1, N + 1)),
)


class InColumns(SessionFake):
    """Gives the pieces as a gateway does."""

    def __init__(self) -> None:
        super().__init__({"m": "causal", "n": "causal"})
        self.given: list[PieceColumns] = []

    def token_log_likelihoods(self, model: str, texts: Sequence[str], **settings: Any) -> Any:
        builder = Builder(len(texts))
        builder.put(range(len(texts)), super().token_log_likelihoods(model, texts, **settings))
        self.given.append(builder.finished())
        return self.given[-1]


def scored(session: SessionFake) -> ScoredPairs:
    return score_pairs(
        PAIRS, lambda texts, _: session.token_log_likelihoods("m", texts, scoring="causal"), "fp32", seed=0
    )


def test_pieces_are_used_up_as_their_tables_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    session, before_positions = InColumns(), []

    def positions(n_each: np.ndarray) -> np.ndarray:
        before_positions.append([set(of_model.store.arrays) for of_model in session.given])
        return numbered(n_each)

    numbered = tables._positions
    monkeypatch.setattr(tables, "_positions", positions)
    found = evaluate(Settings(("m", "n")), PAIRS, session)  # type: ignore[arg-type]
    assert len(session.given) == 2 and before_positions
    for left in before_positions:
        assert left == [{"n_unknown"}, {"n_unknown"}]
    monkeypatch.undo()
    expected = evaluate(Settings(("m", "n")), PAIRS, SessionFake({"m": "causal", "n": "causal"}))  # type: ignore[arg-type]
    pd.testing.assert_frame_equal(found.pairs, expected.pairs)
    pd.testing.assert_frame_equal(found.tokens, expected.tokens)
    assert found.notices == expected.notices


def test_the_table_of_tokens_grows_by_less_than_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_PAIRS", 16)
    tracemalloc.start()
    try:
        of_model = {"m": scored(InColumns())}
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        table = tables.token_table(PAIRS, of_model, {})
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    taken = sum(table[name].memory_usage(index=False, deep=False) for name in table.columns)
    # Bytes of a token: 38 in the table, of which 20 were those of its piece.
    assert len(table) > 40_000 and most - before < 0.75 * taken
