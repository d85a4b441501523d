"""Turns of the pages: so many at once, given back while waiting, and nobody waits for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from dashboard.shared import drawing_turns
from dashboard.shared.drawing_turns import AT_ONCE, LONGEST_SECONDS, Turns, turn, waiting
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def own_turns(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Turns that no other test holds; afterwards every one has been given back."""
    turns = Turns(AT_ONCE)
    monkeypatch.setattr(drawing_turns, "_turns", turns)
    yield
    assert turns.free == AT_ONCE


def in_threads(n: int, function: Callable[[], None]) -> None:
    threads = [threading.Thread(target=function) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def test_no_more_than_so_many_are_drawn_at_once_and_all_are() -> None:
    lock, at_once, drawn = threading.Lock(), [0], []

    def draw() -> None:
        with turn():
            with lock:
                at_once[0] += 1
                drawn.append(at_once[0])
            time.sleep(0.02)
            with lock:
                at_once[0] -= 1

    in_threads(12, draw)
    assert len(drawn) == 12 and max(drawn) == AT_ONCE


def test_who_waits_for_another_process_lets_others_go_on() -> None:
    all_wait = threading.Barrier(3 * AT_ONCE, timeout=20)

    def draw() -> None:
        with turn(), turn(), waiting():  # a fragment in its page
            all_wait.wait()

    in_threads(3 * AT_ONCE, draw)


def test_nobody_waits_for_a_page_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing_turns, "LONGEST_SECONDS", 0.05)
    ended = threading.Event()

    def never_ends() -> None:
        with turn():
            ended.wait(20)

    others = [threading.Thread(target=never_ends) for _ in range(AT_ONCE)]
    for thread in others:
        thread.start()

    def draw() -> None:
        with turn():
            pass

    in_threads(3, draw)
    ended.set()
    for thread in others:
        thread.join(20)


def test_who_has_one_page_is_next_after_who_has_sixty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing_turns, "LONGEST_SECONDS", 1000.0)
    turns, order = Turns(AT_ONCE), list[str]()
    holders = [f"holder {number}" for number in range(AT_ONCE)]
    assert all(map(turns.acquire, holders))

    def draw(owner: str) -> None:
        turns.acquire(owner)
        order.append(owner)

    for n, owner in enumerate(["many"] * 60 + ["one", "other"], 1):
        threading.Thread(target=draw, args=(owner,), daemon=True).start()
        wait_until(lambda n=n: sum(map(len, turns._waiting.values())) == n)
    for n, holder in enumerate([*holders, "one", *["many"] * 59], 1):
        turns.release(holder)
        wait_until(lambda n=n: len(order) == n)
    assert order == ["many", "one", "other", *["many"] * 59]


def test_one_turn_is_left_to_others_than_who_has_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing_turns, "LONGEST_SECONDS", 1000.0)
    turns = Turns(AT_ONCE)
    for _ in range(AT_ONCE - 1):
        assert turns.acquire("many")
    second = threading.Thread(target=turns.acquire, args=("many",), daemon=True)
    second.start()
    wait_until(lambda: "many" in turns._waiting)
    assert turns.free == 1 and turns.acquire("one")
    turns.release("one")
    assert turns.free == 1 and second.is_alive()
    turns.release("many")
    second.join(20)
    assert turns.free == 1 and not second.is_alive()


def test_only_who_had_no_turn_for_long_goes_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now, turns = [100.0], Turns(AT_ONCE)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    turns.acquire("drawn")
    went = []
    for seconds in (1, 1, LONGEST_SECONDS - 2, 1, LONGEST_SECONDS - 1):
        now[0] += seconds
        went.append((turns._may_go_without("drawn"), turns._may_go_without("one")))
    assert went == [(False, True), (False, False), (True, False), (False, True), (True, False)]


def test_without_a_turn_there_is_none_to_give_back() -> None:
    with waiting():
        pass


def test_an_error_gives_the_turn_back() -> None:
    with pytest.raises(ValueError, match="ends here"), turn():
        raise ValueError("ends here")
