"""The distance of readings by their sounds, foreign spellings, and abbreviations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.language.readings.abbreviations import abbreviates
from engine.language.readings.likeness import ANOTHER, RESPELT, VOICED, sound_distance
from engine.language.readings.sounds import kana_of_plain_romaji
from engine.language.readings.spellings import kana_of_spelling
from engine.language.readings.variants import composed_marks, plain_form

KANA = st.text("あいうえおかがきぎしじちにばぱんっー", max_size=6)


@pytest.mark.parametrize(
    ("own", "other", "is_foreign", "distance"),
    [
        ("おぎわら", "はぎわら", False, ANOTHER),
        ("なかしま", "なかじま", False, VOICED),
        ("さとう", "さいとう", False, ANOTHER),
        ("ごーがん", "ごーぎゃん", True, RESPELT),
        ("うぃーん", "ゔぃーん", True, RESPELT),
        ("つるげーねふ", "とぅるげーねふ", True, RESPELT),
        ("べねちあ", "ゔぇねつぃあ", True, RESPELT),
        ("おざき", "さいとう", False, 4),
    ],
)
def test_by_hand(own: str, other: str, is_foreign: bool, distance: float) -> None:
    assert sound_distance(own, other, is_foreign=is_foreign)[0] == pytest.approx(distance)


@given(KANA, KANA, st.booleans())
def test_a_distance(own: str, other: str, is_foreign: bool) -> None:
    distance, longest = sound_distance(own, other, is_foreign=is_foreign)
    assert 0 <= distance <= longest and (distance, longest) == sound_distance(other, own, is_foreign=is_foreign)
    assert sound_distance(own, own, is_foreign=is_foreign)[0] == 0


def test_romaji_with_an_n_that_two_readings_have() -> None:
    assert kana_of_plain_romaji("Junichiro") == ("じゅにちろ", "じゅんいちろ")
    assert kana_of_plain_romaji("Shinya") == ("しにゃ", "しんや")
    assert kana_of_plain_romaji("Ohno") == ("おーの",) and kana_of_plain_romaji("Nara") == ("なら",)


def test_foreign_spellings() -> None:
    assert [kana_of_spelling(name) for name in ("Nietzsche", "Mozart", "Москва", "A1")] == [
        "にーちぇ",
        "もざると",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("one", "other", "words", "is_short"),
    [
        ("日銀", "日本銀行", ("日本", "銀行"), True),
        ("全日空", "全日本空輸", ("全", "日本", "空輸"), True),
        ("自民党", "自由民主党", ("自由", "民主", "党"), True),
        ("佐久", "佐久間", ("佐久間",), False),
        ("京大", "東京大学", ("東京", "大学"), False),
        ("東京", "東京大学", ("東京", "大学"), False),
        ("JAL", "日本航空", ("日本", "航空"), True),
        ("スタバ", "スターバックス", ("スターバックス",), True),
        ("マリア", "マリアンヌ", ("マリアンヌ",), False),  # where a name goes on, it is another one
        ("マリノ", "マリノフスキー", ("マリノフスキー",), False),
        ("スマホ", "スマートフォン", ("スマートフォン",), True),
        ("パソコン", "パーソナルコンピューター", ("パーソナル", "コンピューター"), True),
        ("経団連", "日本経済団体連合会", ("日本", "経済", "団体", "連合", "会"), True),
        ("郵船", "日本郵船", ("日本", "郵船"), True),
        ("銀行", "日本銀行", ("日本", "銀行"), False),
        ("東大", "東京大学", ("東京", "大学"), True),
        ("東大", "東北大学", ("東北", "大学"), False),
        ("FRB", "米連邦準備理事会", ("米", "連邦", "準備", "理事", "会"), True),
    ],
)
def test_abbreviations(one: str, other: str, words: tuple[str, ...], is_short: bool) -> None:
    tagged = tuple((word, "") for word in words)
    assert abbreviates(one, other, (), tagged) == is_short == abbreviates(other, one, tagged, ())


def test_marks_and_kanji_beyond_the_bmp() -> None:
    assert composed_marks("シ゛ョンとハ゜ン") == "ジョンとパン"
    for one, other in (("𣘺本", "橋本"), ("𡈽屋", "土屋"), ("𫝆井", "今井"), ("𠮟る", "叱る"), ("シ゛ョン", "ジョン")):
        assert plain_form(one) == plain_form(other)
