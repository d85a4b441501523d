"""Surface scores through the gateway: in parts, by a worker, known again by their content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import InputError
from engine.inference.cache import Cache
from engine.inference.gateway import SURFACE_PAIRS, Gateway
from engine.measures.surface import surface_scores
from tests.support.fakes import FakeBackend

PAIRS = [(f"{number}番の雪が降る。", f"{number % 7}番の雨が降る。") for number in range(SURFACE_PAIRS + 30)]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    opened = Cache(tmp_path / "c.sqlite", 2**26)
    yield opened
    opened.close()


def test_parts_come_back_in_order_and_are_kept(cache: Cache) -> None:
    backend, reports = FakeBackend(), []  # type: ignore[var-annotated]
    run_session = Gateway(backend, cache).session("run", on_progress=lambda *now: reports.append(now))
    expected = surface_scores(PAIRS, "ja-mecab")
    for _ in range(2):
        scores = run_session.surface_scores(PAIRS, tokenizer="ja-mecab")
        for name, values in expected.items():
            np.testing.assert_array_equal(scores[name], values)
    assert backend.n_items("surface_scores") == 2
    assert reports == [(0, 2, "SentBLEU and chrF"), (1, 2, "SentBLEU and chrF"), (2, 2, "SentBLEU and chrF")]


def test_another_tokenizer_text_or_reference_is_another_piece(cache: Cache) -> None:
    backend = FakeBackend()
    run_session = Gateway(backend, cache).session("run")
    first = PAIRS[:3]
    for pairs, tokenizer in (
        (first, "ja-mecab"),
        (first, "13a"),
        (first[::-1], "ja-mecab"),
        ([(*first[0], "雪が降る。"), *first[1:]], "ja-mecab"),
        (first, "ja-mecab"),
    ):
        scores = run_session.surface_scores(pairs, tokenizer=tokenizer)
        np.testing.assert_array_equal(scores["sentbleu"], surface_scores(pairs, tokenizer)["sentbleu"])
    assert backend.n_items("surface_scores") == 4


def test_no_pairs_have_no_scores(cache: Cache) -> None:
    scores = Gateway(FakeBackend(), cache).session("run").surface_scores([], tokenizer="13a")
    assert scores["sentbleu"].shape == scores["chrf"].shape == (0,)


def test_a_tokenizer_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match="ja-mecab, 13a"):
        Gateway(FakeBackend(), None).session("run").surface_scores(PAIRS[:1], tokenizer="zh")
