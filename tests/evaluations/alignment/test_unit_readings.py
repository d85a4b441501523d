"""What is compared of a token and its match: readings that leave out nothing, else how the two are written."""

from __future__ import annotations

import numpy as np
import pytest

from engine.evaluations.alignment.unit_readings import unit_readings
from engine.language.readings.by_pykakasi import reading
from engine.measures.reading_penalty import agreement


def compared(own: str, other: str, *, by_sound: bool = False) -> float:
    """M of two tokens that match each other."""
    texts = [own, other]
    readings = unit_readings(np.array([reading(text) for text in texts], dtype=object), np.array([0, 1]), texts)
    mine, theirs = readings.compared(np.array([0]), np.array([1, 0]), np.array([True, True]), by_sound=by_sound)
    return agreement(mine[0], theirs[0]).value


@pytest.mark.parametrize(
    ("own", "other", "value"),
    [
        ("斉藤", "斎藤", 1),
        ("斉藤", "サイトウ", 1),
        ("大阪", "東京", 0),
        ("Alice", "Bob", 0),
        ("Alice", "alice", 1),
        ("ＡＬＩＣＥ", "Alice", 1),  # both without a reading: as written
        ("3人", "5人", 1 / 2),
        ("3", "5", 0),
        ("100", "百", 1),
        ("3人", "三人", 1),
        ("100", "1000", 0),  # numbers by value
        ("Alice", "アリス", 0),
        ("3世", "世", 1 / 2),  # one has none: both as written
        ("。", "、", 0),
        ("。", "。", 1),
        ("习近平", "近平", 2 / 3),
        ("太郎", "タロー", 2 / 3),
        ("ヴィクトリア", "ビクトリア", 2 / 3),
    ],
)
def test_by_hand(own: str, other: str, value: float) -> None:
    # たろう / たろー: one kana of three; ゔぃくとりあ / びくとりあ: two of six; おおさか / とうきょう: none in common
    assert compared(own, other) == pytest.approx(value)


@pytest.mark.parametrize(
    ("own", "other", "value"),
    [("太郎", "タロー", 1), ("ヴィクトリア", "ビクトリア", 1), ("東京", "トーキョー", 1), ("佐藤", "斎藤", 3 / 4)],
)
def test_sounds_that_are_one(own: str, other: str, value: float) -> None:
    assert compared(own, other, by_sound=True) == pytest.approx(value)


def test_no_match_is_no_agreement() -> None:
    readings = unit_readings(np.array(["さいとう", ""], dtype=object), np.array([0, 1]), ["斉藤", "Alice"])
    own, other = readings.compared(np.array([0, 1]), np.array([1, 0]), np.array([False, False]), by_sound=False)
    assert [agreement(mine, theirs).value for mine, theirs in zip(own, other, strict=True)] == [0, 0]
