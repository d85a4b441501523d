"""Readings in a sentence that MeCab, which reads each word by itself, gets wrong: numbers, and the list of phrases."""

from __future__ import annotations

import pytest

from engine.language.in_context import LIST, NAME, WORD
from engine.language.names import names_in
from engine.language.parts_of_speech import tagged_words


def read(text: str, part: str) -> str:
    begin = text.index(part)
    return "".join(word.reading for word in tagged_words(text) if begin <= word.start and word.end <= begin + len(part))


@pytest.mark.parametrize(
    ("text", "part", "kana"),
    [
        ("お父さんが来た", "お父さん", "おとうさん"),
        ("お母さんと", "お母さん", "おかあさん"),
        ("兄ちゃんだ", "兄ちゃん", "にいちゃん"),
        ("父が来た", "父", "ちち"),
        ("日本人だ", "日本人", "にほんじん"),
        ("日本海へ", "日本海", "にほんかい"),
        ("アメリカ人だ", "アメリカ人", "あめりかじん"),
        ("犯人だ", "犯人", "はんにん"),
        ("一日中寝た", "一日中", "いちにちじゅう"),
        ("一昨日来た", "一昨日", "おととい"),
        ("所謂猫だ", "所謂", "いわゆる"),
        ("一寸法師だ", "一寸法師", "いっすんぼうし"),
        ("辛い料理だ", "辛い", "からい"),
        ("辛い仕事だ", "辛い", "つらい"),
        ("山手線に", "山手線", "やまのてせん"),
        ("国立市に住む", "国立市", "くにたちし"),
        ("国立大学", "国立", "こくりつ"),
        ("八百万の神", "八百万", "やおよろず"),
        ("八百万円だ", "八百万", "はっぴゃくまん"),
        ("葛城さん", "葛城", "かつらぎ"),
        ("葛\U000e0100城さん", "葛\U000e0100城", "かつらぎ"),
        ("三日月が出た", "三日月", "みかづき"),
        ("習近平が", "習近平", "しゅうきんぺい"),
        ("李克強と", "李克強", "りこくきょう"),
        ("𠮷野家で", "𠮷野家", "よしのや"),
    ],
)
def test_phrases(text: str, part: str, kana: str) -> None:
    assert read(text, part) == kana


@pytest.mark.parametrize(
    ("text", "part", "kana"),
    [
        ("三本ある", "三本", "さんぼん"),
        ("七月に", "七月", "しちがつ"),
        ("七日だ", "七日", "なのか"),
        ("15日だ", "日", "にち"),
        ("十五日だ", "十五日", "じゅうごにち"),
        ("10分だ", "分", "ぷん"),
        ("四人で", "四人", "よにん"),
        ("八回だ", "八回", "はっかい"),
        ("三十三階に", "三十三階", "さんじゅうさんがい"),
        ("百二十三本", "百二十三本", "ひゃくにじゅうさんぼん"),
        ("二、三日休む", "二、三日", "にさんにち"),
        ("一日だけ", "一日", "いちにち"),
        ("午後三時半に", "午後三時半", "ごごさんじはん"),
        ("三泊四日", "三泊", "さんぱく"),
        ("二年生だ", "二年生", "にねんせい"),
        ("三人目", "三人目", "さんにんめ"),
        ("二十歳だ", "二十歳", "はたち"),
        ("1,200円だ", "円", "えん"),
        ("九州へ", "九州", "きゅうしゅう"),
    ],
)
def test_numbers_with_their_counters(text: str, part: str, kana: str) -> None:
    assert read(text, part) == kana


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("習近平が来た", [("習近平", "しゅうきんぺい")]),
        ("𠮷野家で食べる", [("𠮷野家", "よしのや")]),
        ("八百万の神", []),
        ("一寸法師", []),
        ("一昨日来た", []),
    ],
)
def test_a_name_of_several_words_is_one_and_a_word_with_a_number_none(text: str, names: list[tuple[str, str]]) -> None:
    assert [(text[name.start : name.end], name.reading.texts[0]) for name in names_in(text)] == names


def test_the_list_has_a_reading_for_each_word_and_no_phrase_twice() -> None:
    lines = [line.split("\t") for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert all(len(line[0].split()) == len(line[1].split()) and line[2:] in ([], [NAME], [WORD]) for line in lines)
    assert len({line[0] for line in lines}) == len(lines)
