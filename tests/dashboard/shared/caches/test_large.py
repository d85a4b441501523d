"""What is large and shared by all sessions is bounded in bytes, and given back when no tab shows it."""

from __future__ import annotations

import dataclasses
import threading
import time

import numpy as np
import pandas as pd
import pytest

from dashboard.shared.caches import large
from dashboard.shared.caches.large import LargeCache, n_bytes_of


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclasses.dataclass(frozen=True)
class Record:
    table: pd.DataFrame
    vectors: dict[str, np.ndarray]
    name: str = "made up"


def numbers(kib: int) -> np.ndarray:
    return np.zeros(kib * 128)


def test_the_bytes_of_a_record_are_those_of_its_tables_and_arrays() -> None:
    table = pd.DataFrame({"x": np.arange(1000)})
    assert n_bytes_of(Record(table, {"a": numbers(4), "b": numbers(1)})) == int(table.memory_usage().sum()) + 5 * 1024
    texts = pd.DataFrame({"x": pd.Series(["text"] * 1000, dtype="str")})
    assert n_bytes_of(texts) >= 4000 and n_bytes_of("text") == 0


def test_tables_in_lists_count_and_texts_are_not_looked_into() -> None:
    assert n_bytes_of((numbers(1), [numbers(2)])) == 3 * 1024 and n_bytes_of(("a", "b")) == n_bytes_of(()) == 0


def test_beyond_the_bound_what_was_used_longest_ago_goes() -> None:
    clock = Clock()
    cache = LargeCache(10 * 1024, now=clock)
    for name in ("one", "two", "one", "three"):  # one is used again
        clock.now += 1
        cache.get((name, "result"), lambda: numbers(4))
    made: list[str] = []
    for name in ("one", "three", "two"):
        cache.get((name, "result"), lambda name=name: made.append(name) or numbers(4))  # type: ignore[misc, func-returns-value]
    assert made == ["two"] and cache.n_bytes <= 10 * 1024
    assert len(cache.get(("large", "result"), lambda: numbers(40))) == 40 * 128
    assert cache.n_bytes == 40 * 1024  # the newest stays


def test_what_no_tab_shows_is_dropped_once_it_is_idle() -> None:
    clock = Clock()
    cache = LargeCache(now=clock)
    for key in (("first", "result"), ("first", "pairs"), ("second", "result")):
        cache.get(key, lambda: numbers(1))
    clock.now = 19.0
    assert cache.drop_idle([]) == 0
    cache.get(("second", "result"), lambda: numbers(1))
    clock.now = 30.0
    assert cache.drop_idle(["a-run=first&b-run=first"]) == 0
    cache.get(("second", "result"), lambda: numbers(1))
    clock.now = 49.0
    assert cache.drop_idle(["run=another", ""]) == 0  # the tab may be on its way to another page of the run
    cache.get(("second", "result"), lambda: numbers(1))
    clock.now = 50.0
    assert cache.drop_idle(["run=another", ""]) == 2 and cache.n_bytes == 1024
    cache.forget("second")
    assert cache.n_bytes == 0


def test_where_there_is_plenty_what_no_tab_shows_goes_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "PLENTY_BYTES", 3 * 1024)
    clock = Clock()
    cache = LargeCache(now=clock)
    for name in ("left", "shown"):
        cache.get((name, "result"), lambda: numbers(2))
    clock.now = 4.0
    assert cache.drop_idle(["run=shown"]) == 0
    clock.now = 6.0
    assert cache.drop_idle(["run=shown"]) == 1 and cache.n_bytes == 2048
    assert cache.drop_idle([]) == 0  # the other is no longer too much


def test_what_making_a_large_value_took_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    given_back: list[int] = []
    cache = LargeCache()
    monkeypatch.setattr(large, "LARGE_BYTES", 2048)
    monkeypatch.setattr(large, "give_back_freed_memory", lambda: given_back.append(cache.n_bytes))
    cache.get(("run", "small"), lambda: numbers(1))
    assert not given_back
    for _ in range(2):
        cache.get(("run", "large"), lambda: numbers(3))
    assert given_back == [4 * 1024]  # once, after the value is there


def test_several_that_ask_at_once_have_it_made_once() -> None:
    cache, made, got = LargeCache(), list[int](), list[object]()

    def make() -> np.ndarray:
        made.append(1)
        time.sleep(0.05)
        return numbers(1)

    threads = [threading.Thread(target=lambda: got.append(cache.get(("run", "result"), make))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len(got) == 6 and all(value is got[0] for value in got)


def test_what_cannot_be_made_is_tried_again() -> None:
    cache = LargeCache()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            cache.get(("run", "result"), lambda: 1 / 0)
    assert cache.get(("run", "result"), lambda: 3) == 3
    for _ in range(3):
        assert cache.get(("run", "result"), lambda: 4) == 3
    assert not cache._making  # nothing is kept for a value that is there
