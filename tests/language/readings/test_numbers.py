"""Numbers in digits and kanji: their value, their counter, and how they are read."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.language.readings.numbers import is_counter, number, number_readings, quantity

KANJI = "〇一二三四五六七八九"


@pytest.mark.parametrize(
    "spellings",
    [
        ("百", "100", "１００", "一〇〇"),
        ("三人", "3人", "３人", "参人"),
        ("二十歳", "20才", "二〇歳"),
        ("1,200円", "千二百円", "1200円"),
        ("3万5千", "35000", "三万五千"),
        ("一億二千万", "120,000,000"),
        ("3ヶ月", "三か月", "3カ月", "三箇月"),
        ("第3次", "三次"),
        ("50%", "五十パーセント"),
        ("3.5%", "三・五パーセント", "３．５％"),
        ("￥100", "百円", "¥100円"),
        ("$100", "100ドル"),
        ("5km", "5キロ", "五キロメートル"),
        ("1ページ", "一頁"),
        ("III世", "Ⅲ世", "三世"),
        ("-5度", "零下五度", "マイナス5℃"),
        ("三時半", "3時半"),
        ("午後3時", "15時", "午後三時"),
        ("午前3時", "3時"),
        ("二、三人", "2,3人", "２、３人"),
        ("二、三十人", "2、3十人"),
        ("三か月間", "3ヶ月間"),
        ("三人目", "3人目"),
        ("2.5", "２.５"),
        ("令和六年", "令和6年", "R6年", "Ｒ６年", "2024年", "二〇二四年"),
        ("平成元年", "昭和64年", "1989年"),
        ("明治元年", "1868年"),
        ("大正十五年", "昭和元年", "T15年"),
        ("令和六年度", "R6年度", "2024年度"),
        ("3.5億円", "3億5000万円", "三・五億円", "350,000,000円"),
        ("1.2万人", "12,000人", "一万二千人"),
        ("1.2兆円", "1兆2000億円"),
        ("正午", "12時", "午後12時"),
        ("12時半", "１２時３０分", "午後12時30分"),
        ("1時間半", "1.5時間", "1時間30分"),
        ("第II章", "第二章"),
    ],
)
def test_spellings_of_one_number(spellings: tuple[str, ...]) -> None:
    assert len({number(spelling) for spelling in spellings}) == 1 and number(spellings[0]) is not None


@pytest.mark.parametrize(
    "spellings",
    [
        ("50%", "5割", "五割", "五十パーセント"),
        ("3割5分", "35%"),
        ("3km", "3000m", "3キロ", "三千メートル"),
        ("1m80cm", "180cm", "1.8メートル"),
        ("500g", "0.5kg"),
        ("2トン", "2,000キログラム"),
        ("1.5リットル", "1500ml"),
        ("1時間半", "90分", "1時間30分", "5400秒", "90分間"),
        ("半日", "12時間"),
        ("2週間", "14日間", "14日"),
        ("半年", "6か月", "六ヶ月", "半年間"),
        ("1年半", "18か月", "1年6か月"),
        ("半世紀", "50年"),
        ("3名", "三人"),
        ("三つ", "3個"),
    ],
)
def test_units_of_one_dimension_are_one_quantity(spellings: tuple[str, ...]) -> None:
    assert len({quantity(number(spelling)) for spelling in spellings}) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.5億円", "1億円"),
        ("3.5億円", "3億円"),
        ("1.2万人", "1万人"),
        ("5割", "5%"),
        ("3km", "3m"),
        ("半年", "半日"),
        ("3か月", "3月"),
        ("3時間", "3時"),
        ("300メートル", "300キログラム"),
        ("1時間30分", "1時間"),
        ("5分", "5割"),
        ("正午", "0時"),
    ],
)
def test_other_quantities(one: str, other: str) -> None:
    assert quantity(number(one)) != quantity(number(other))  # type: ignore[arg-type]


def test_units_that_do_not_go_together_are_no_number() -> None:
    for text in ("30分1時間", "3人2名", "1時間3メートル", "90分90分"):
        parsed = number(text)
        assert parsed is None or not is_counter(parsed.counter), text


def test_what_is_no_number() -> None:
    assert [number(text) for text in ("人", "", "十百", "万億", "A4", "Q3")] == [None] * 6
    assert number("2.5").value == Fraction(5, 2)  # type: ignore[union-attr]
    assert number_readings("九州") == () and not is_counter("州")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("二、三人", "二十三人"),
        ("二、三人", "三人"),
        ("三時半", "三時"),
        ("午前3時", "午後3時"),
        ("-5度", "5度"),
        ("零下五度", "五度"),
        ("3.5%", "35%"),
        ("5km", "5kg"),
        ("5G", "5g"),
        ("三人", "三人目"),
        ("$100", "￥100"),
        ("III世", "IV世"),
        ("令和六年", "平成六年"),
        ("令和六年", "六年"),
        ("令和六年", "2024年度"),
    ],
)
def test_other_numbers(one: str, other: str) -> None:
    assert number(one) != number(other)


def test_what_is_no_single_number() -> None:
    assert [number(text) for text in ("三、五人", "午後3人", "￥100ドル", "12,3人")] == [None] * 4
    assert not number_readings("5G") and not is_counter("G") and not is_counter("目") and not is_counter("半")
    assert number_readings("五・一五") == () and not is_counter("Z世")


def in_kanji(value: int) -> str:
    """The usual spelling of a number below 10,000: the inverse of what is tested, written apart from it."""
    parts = [
        ("" if digit == 1 else KANJI[digit]) + name if name else KANJI[digit]
        for digit, name in zip(
            (value // 1000, value // 100 % 10, value // 10 % 10, value % 10), ("千", "百", "十", ""), strict=True
        )
        if digit
    ]
    return "".join(parts)


@given(st.integers(1, 9999))
def test_any_number_has_one_value_in_digits_in_kanji_and_by_place(value: int) -> None:
    by_place = "".join(KANJI[int(digit)] for digit in str(value))
    for spelling in (str(value), f"{value:,}", in_kanji(value), by_place):
        assert number(f"{spelling}円") == number(f"{value}円")
    assert number_readings(str(value)) == number_readings(in_kanji(value))


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("14人", "じゅうよにん"),
        ("4人前", "よにんまえ"),
        ("17時", "じゅうしちじ"),
        ("21歳", "にじゅういっさい"),
        ("300本", "さんびゃっぽん"),
        ("四千三百二十一", "よんせんさんびゃくにじゅういち"),
        ("10000", "いちまん"),
        ("万", "まん"),
        ("万一", "まんいち"),
        ("億", "おく"),
        ("兆", "ちょう"),
        ("一千万円", "いっせんまんえん"),
        ("37日", "さんじゅうななにち"),
        ("34日", "さんじゅうよっか"),
        ("2000匹", "にせんびき"),
        ("600匹", "ろっぴゃっぴき"),
        ("1億本", "いちおくほん"),
        ("0本", "ぜろほん"),
        ("千分", "せんぷん"),
        ("1000個", "せんこ"),
        ("100個", "ひゃっこ"),
        ("0", "ぜろ"),
        ("3.5億円", "さんてんごおくえん"),
        ("1.2万人", "いってんにまんにん"),
        ("2.5兆円", "にてんごちょうえん"),
        ("1時間30分", "いちじかんさんじゅっぷん"),
        ("3割5分", "さんわりごぶ"),
        ("半年", "はんとし"),
        ("半年間", "はんとしかん"),
        ("正午", "しょうご"),
    ],
)
def test_readings(text: str, reading: str) -> None:
    assert number_readings(text)[0] == reading


def test_years_that_an_era_does_not_have_and_other_words_with_eras_are_no_years() -> None:
    assert [
        number(text)
        for text in (
            "昭和65年",
            "平成32年",
            "大正16年",
            "明治46年",
            "令和0年",
            "令和元",
            "元年",
            "平成六人",
            "平成30年間",
            "昭和町",
            "平成",
            "令和堂",
        )
    ] == [None] * 12
    assert [number(text) for text in ("R6", "R6.4.1", "A6年")] == [None] * 3
    # each first and last year: 明治 ends in the first year of 大正, and so on
    eras = ("明治", 1868, 45), ("大正", 1912, 15), ("昭和", 1926, 64), ("平成", 1989, 31)
    for (era, first, n_years), (following, next_first, _) in pairwise((*eras, ("令和", 2019, 0))):
        assert number(f"{era}元年") == number(f"{first}年") == number(f"{era}一年")
        assert number(f"{era}{n_years}年") == number(f"{following}元年") == number(f"{next_first}年")
    assert number_readings("令和六年") == ("れいわろくねん",)
    assert number_readings("平成元年度") == ("へいせいがんねんど",)
    assert number_readings("昭和四年") == ("しょうわよねん",)


def test_minutes_belong_to_the_time_of_their_hour() -> None:
    half_past = number("１２時半")
    assert half_past == number("12時30分") == number("十二時三十分") != number("12時")
    assert number("午後3時15分") == number("15時十五分") and number("2時60分") is None
    assert number_readings("9時05分") == ("くじごふん",)
    assert number_readings("12時30分") == ("じゅうにじさんじゅっぷん", "じゅうにじさんじっぷん")
