"""Counterparts of names: words that are read like a name of the other sentence, also where MeCab cuts them wrongly."""

from __future__ import annotations

import pytest

from engine.language.counterparts import COUNTERPART, spans_read_as, whole_names, with_counterparts


def named(text: str, other: str) -> list[tuple[str, str]]:
    return [(text[name.start : name.end], name.kind) for name in with_counterparts(text, other)]


@pytest.mark.parametrize(
    ("text", "other", "counterparts"),
    [
        # MeCab: ひろ (a name) and と
        ("ひろとが来た", "大翔が来た", ["ひろと"]),
        # おおた (a place), に, しょう (a verb, read しよー) and へい
        ("おおたにしょうへいが打った", "大谷翔平が打った", ["おおたに", "しょうへい"]),
        ("イイダバシで降りる", "飯田橋で降りる", ["イイダバシ"]),
        # 環 (たまき or かん, a name) and 奈; はし, も and と
        ("橋本環奈が来た", "はしもとかんなが来た", ["環奈"]),
        ("はしもとかんなが来た", "橋本環奈が来た", ["はしもと"]),
    ],
)
def test_a_false_name_gives_way_to_a_run_that_sounds_like_the_wanted_one(
    text: str, other: str, counterparts: list[str]
) -> None:
    names = named(text, other)
    assert [name for name, kind in names if kind == COUNTERPART] == counterparts
    # and what is left of the false name is none
    assert not [name for name, _ in names if name in ("ひろ", "おおた", "イイダ", "環")]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("太田に行った", "大谷が行った"),  # おおた and に, written with kanji: MeCab knows where the name ends
        ("ひろが来た", "大翔が来た"),
    ],
)  # nothing sounds like ひろと
def test_other_names_stay_as_they_are(text: str, other: str) -> None:
    assert COUNTERPART not in [kind for _, kind in named(text, other)]


def test_a_name_of_the_other_sentence_is_no_part_of_another() -> None:
    # ひな stands in the place of 大翔, and ひろ in both
    assert [name for name, _ in named("ひろとひなが来た", "ひろと大翔が来た")] == ["ひろ", "ひな"]


def test_the_longest_run_counts_and_kept_spans_are_left_alone() -> None:
    text = "おおたにが来た"
    assert spans_read_as(text, {"おーた", "おーたに"}, []) == [(0, 4, "おおたに")]
    assert spans_read_as(text, {"おーた", "おーたに"}, [(0, 3)]) == []
    assert spans_read_as("にが来た", {"に"}, []) == []  # one mora is no name


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("JR東日本に乗る", [("JR", ()), ("東日本", ("ひがしにほん", "ひがしにっぽん"))]),
        ("JR西日本に乗る", [("JR", ()), ("西日本", ("にしにほん", "にしにっぽん"))]),
        ("新大阪へ行く", [("新大阪", ("しんおおさか",))]),
        ("東へ日本を", [("日本", ("にほん", "にっぽん"))]),
        ("Jun'ichiが来た", [("Jun'ichi", ("じゅんいち",))]),
        ("Jun’ichiが来た", [("Jun’ichi", ("じゅんいち",))]),
        ("Bob'sで会う", [("Bob", ("ぼぶ",)), ("s", ())]),
    ],
)
def test_names_that_are_cut_are_put_together(text: str, names: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(text[name.start : name.end], name.reading.texts) for name in whole_names(text)] == names


def test_a_numeral_in_kanji_is_a_part_of_the_name_behind_it() -> None:
    [name] = with_counterparts("四天王寺に行く", "天王寺に行く")
    kana = name.reading.texts[0]
    assert (name.start, name.end) == (0, 4) and kana.endswith("てんのうじ") and kana != "てんのうじ"
