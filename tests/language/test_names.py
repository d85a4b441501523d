"""Names of a sentence by words: proper nouns, unknown words, numbers with counters, and counterparts in kana."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.language.counterparts import with_counterparts
from engine.language.names import names_in


def named(text: str, other: str = "") -> list[tuple[str, str]]:
    names = with_counterparts(text, other) if other else names_in(text)
    return [(text[name.start : name.end], name.kind) for name in names]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("斉藤さんは東京へ行った", [("斉藤", "proper noun"), ("東京", "proper noun")]),
        ("毛泽东は来た", [("毛", "proper noun"), ("泽东", "proper noun")]),
        ("夢が叶う", []),
        ("髙橋と𠮷野", [("髙橋", "proper noun"), ("𠮷野", "proper noun")]),
        ("AliceはTシャツを着た", [("Alice", "unknown word"), ("T", "unknown word")]),
        ("三人が3本の1,200円を", [("三人", "number"), ("3本", "number"), ("1,200円", "number")]),
        ("第三次世界大戦", [("第三次", "number")]),
        ("二〇二〇年４月", [("二〇二〇年", "number"), ("４月", "number")]),
        ("一人で一番に一応", [("一人", "number")]),
        ("令和六年四月に", [("令和六年", "number"), ("四月", "number")]),
        ("平成元年度の", [("平成元年度", "number")]),
        ("昭和町の平成さんは令和堂で", [("昭和町", "proper noun"), ("平成", "proper noun"), ("令和", "proper noun")]),
        ("平成30年間に", [("平成", "proper noun"), ("30年間", "number")]),
        ("昭和30年代に", [("昭和", "proper noun"), ("30年", "number")]),
        ("昭和三十年代後半の", [("昭和", "proper noun"), ("三十年", "number")]),
        ("昭和30年代物だ", [("昭和", "proper noun"), ("30年", "number")]),
        ("平成二年半に", [("平成", "proper noun"), ("二年半", "number")]),
        ("平成30年目に", [("平成", "proper noun"), ("30年目", "number")]),
        ("平成30年半ばに", [("平成30年", "number")]),
        ("2018年半ばに", [("2018年", "number")]),
        ("平成30年代表に", [("平成30年", "number")]),
        ("平成30年目標に", [("平成30年", "number")]),
        ("M2年生が", [("M", "unknown word"), ("2年生", "number")]),
        ("Ｒ６年生が", [("Ｒ", "unknown word"), ("６年生", "number")]),
        ("B2年生が", [("B", "unknown word"), ("2年生", "number")]),
        ("R6年度生が", [("R6年度", "number")]),
        ("R6年生まれの", [("R6年", "number")]),
        ("平成6年生まれの", [("平成6年", "number")]),
        ("平成6年生の人", [("平成6年", "number")]),
        ("M2年に", [("M2年", "number")]),
        ("午前3時半に", [("午前3時半", "number")]),
        ("気温は-5度", [("-5度", "number")]),
        ("零下五度", [("零下五度", "number")]),
        ("二、三人が三、五人と", [("二、三人", "number"), ("三", "number"), ("五人", "number")]),
        ("2,3人", [("2,3人", "number")]),
        ("三・五パーセント", [("三・五パーセント", "number")]),
        ("被害は3.5億円と1.2万人", [("3.5億円", "number"), ("1.2万人", "number")]),
        ("正午に半年前の90分を", [("正午", "number"), ("半年", "number"), ("90分", "number")]),
        ("1時間30分で1m80cmを", [("1時間30分", "number"), ("1m80cm", "number")]),
        ("打率は3割5分", [("3割5分", "number")]),
        ("4月4日に", [("4月", "number"), ("4日", "number")]),
        ("二年生の三人目", [("二年生", "number"), ("三人目", "number")]),
        ("￥100", []),
        ("￥100だ", [("￥100", "number")]),
        ("ルイXIV世", [("ルイ", "proper noun"), ("XIV世", "number")]),
        ("03-1234に", [("03", "number"), ("1234", "number")]),
        ("4/4に", [("4", "number"), ("4", "number")]),
        ("1、2、3を", [("1", "number"), ("2", "number"), ("3", "number")]),
        ("10 000円", [("10", "number"), ("000円", "number")]),
        ("二・二六事件", [("二", "number"), ("二六", "number")]),
        ("これはただの話だ😀", []),
        ("", []),
        ("The cat sat on the mat in 2020", []),
        ("나는 서울에 간다", []),
        ("Это Москва", []),
        ("2020", []),
    ],
)
def test_names(text: str, names: list[tuple[str, str]]) -> None:
    assert named(text) == names


def test_a_name_in_kana_is_found_by_its_counterpart() -> None:
    assert named("ひとりで来た") == []
    assert named("ひとりで来た", "一人で来た") == [("ひとり", "counterpart")]
    assert named("ひとりで来た", "三人で来た") == []
    # 一人 stands in both: nothing is missing
    assert named("一人とひとり", "一人だ") == [("一人", "number")]


@pytest.mark.parametrize(
    ("text", "other", "names"),
    [
        ("我爱北京", "我爱上海", []),
        ("我愛北京", "北京を愛す", ["北京"]),
        ("北京", "上海", ["北京"]),
        ("斉藤次郎", "尾崎 太郎", ["斉藤", "次郎"]),
        ("三人", "五人", ["三人"]),
        ("Alice来日", "アリス来日", ["Alice"]),
        ("I met Alice", "Aliceに会った", []),
        ("아이폰・3", "아이폰・4", []),
    ],
)
def test_kanji_are_japanese_beside_kana_and_where_a_text_is_nothing_but_names(
    text: str, other: str, names: list[str]
) -> None:
    assert [name for name, _ in named(text, other)] == names


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("駅に行く", "2月に二が"),
        ("佐藤さんは", "3を"),
        ("ご飯", "五を"),
        ("には", "庭の丹羽"),
        ("からも", "加良が来た"),
        ("犬と", "都が"),
    ],
)
def test_particles_affixes_and_single_morae_are_no_counterparts(text: str, other: str) -> None:
    assert "counterpart" not in [kind for _, kind in named(text, other)]


@pytest.mark.parametrize(
    ("text", "other", "counterpart"),
    [
        ("はちのへで会う", "八戸で会う", "はちのへ"),
        ("じゅうそうで会う", "十三で会う", "じゅうそう"),
        ("はじめが来た", "一が来た", "はじめ"),
    ],
)
def test_readings_of_the_name_list_are_found_for_names_spelt_like_numbers(
    text: str, other: str, counterpart: str
) -> None:
    assert (counterpart, "counterpart") in named(text, other)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("千代が来た", "ちよ"),
        ("八戸へ行く", "はちのへ"),
        ("千歳へ行く", "ちとせ"),
        ("八代へ行く", "やつしろ"),
        ("万羽が来た", "ばんば"),
        ("八千代が来た", "やちよ"),
    ],
)
def test_names_that_could_be_numbers_are_read_as_names(text: str, first: str) -> None:
    assert names_in(text)[0].reading.texts[0] == first


@settings(max_examples=80)
@given(
    st.text(st.sampled_from("斉藤はひとり一人三3本Alice東京、 "), max_size=14),
    st.text(st.sampled_from("斉藤一人三東京"), max_size=6),
)
def test_names_follow_each_other_and_do_not_overlap(text: str, other: str) -> None:
    end = 0
    for name in with_counterparts(text, other):
        assert end <= name.start < name.end <= len(text)
        end = name.end
