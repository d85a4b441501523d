from __future__ import annotations

import pytest

from engine.runs.eta import EtaEstimator


def test_seconds_left_at_a_steady_pace() -> None:
    eta = EtaEstimator()
    remaining_seconds = [eta.remaining(second, 10 * second, 100) for second in range(5)]
    # ten items a second: at second 1, 90 items are left, 9 s
    assert remaining_seconds == [None, pytest.approx(9), pytest.approx(8), pytest.approx(7), pytest.approx(6)]


def test_a_leap_at_the_start_is_not_taken_for_the_pace() -> None:
    eta = EtaEstimator()
    eta.remaining(0.0, 0, 1000)
    eta.remaining(0.2, 900, 1000)  # from the cache
    eta.remaining(1.2, 901, 1000)
    # one item a second after the leap: 94 left at second 6.2
    assert eta.remaining(6.2, 906, 1000) == pytest.approx(94)


def test_the_last_minute_counts() -> None:
    eta = EtaEstimator()
    for second in range(0, 100):  # ten a second, then one a second
        eta.remaining(second, 10 * second, 5000)
    for second in range(100, 200):
        remaining_seconds = eta.remaining(second, 990 + second - 99, 5000)
    assert remaining_seconds == pytest.approx(5000 - 1090, rel=0.02)


def test_a_new_count_forgets_the_old_one() -> None:
    eta = EtaEstimator()
    for second in range(10):
        eta.remaining(second, 10 * second, 100)
    assert eta.remaining(10, 0, 100) is None
    assert eta.remaining(13, 3, 100) == pytest.approx(97)


def test_unknown_while_nothing_moves_and_nothing_when_all_is_done() -> None:
    eta = EtaEstimator()
    assert [eta.remaining(second, 0, 10) for second in range(5)] == [None] * 5
    assert eta.remaining(6, 10, 10) == 0
    assert EtaEstimator().remaining(0, 0, 0) == 0


def test_the_first_estimate_comes_within_two_seconds_also_of_chunks_of_a_second() -> None:
    quick, chunks = EtaEstimator(), EtaEstimator()
    first_of_quick = next(
        second
        for second in (number / 5 for number in range(10))
        if quick.remaining(second, round(50 * second), 1000) is not None
    )
    assert first_of_quick <= 1
    # the first report, before anything is done, and the first chunk after it
    assert [chunks.remaining(second, done, 200) for second, done in ((0.0, 0), (1.1, 22))] == [None, pytest.approx(8.9)]
    assert chunks.per_second == pytest.approx(20)


def test_the_speed_is_unknown_while_nothing_is_done() -> None:
    eta = EtaEstimator()
    assert [(eta.remaining(second, 0, 10), eta.per_second) for second in (0, 3)] == [(None, None)] * 2
    eta.remaining(5, 10, 10)
    assert eta.per_second == pytest.approx(2)
