"""Numbers in a text, in digits or kanji and with a counter: their value, and how they are read."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from engine.language.readings import spoken_numbers
from engine.language.readings.counters import (
    COUNTERS,
    READ_ALONE,
    dimension,
    is_spelt,
    meaning,
    spelling,
    suffix_kana,
    suffixed,
)
from engine.language.readings.eras import FIRST_YEAR, EraYear, era_year
from engine.language.readings.variants import without_selectors

_DIGITS = {
    **{str(n): n for n in range(10)},
    **dict(zip("〇零一二三四五六七八九", (0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), strict=True)),
    **dict(zip("壱壹弐貳参參", (1, 1, 2, 2, 3, 3), strict=True)),
}
_TENS = {"十": 10, "拾": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "萬": 10**4, "億": 10**8, "兆": 10**12}
CHARACTERS = "".join((*_DIGITS, *_TENS, *_MYRIADS))
# What may stand before a number, with its reading; a currency is read as the counter that it stands for.
SIGNS = {"-": "まいなす", "−": "まいなす", "マイナス": "まいなす", "零下": "れいか", "氷点下": "ひょうてんか"}
HOURS = {"午前": "ごぜん", "午後": "ごご"}
CURRENCIES = {"¥": "円", "$": "ドル", "€": "ユーロ", "£": "ポンド"}
ORDINAL = "第"
MINUTES = 60  # of an hour
_NUMBER = re.compile(
    rf"""
    (?P<before>{"|".join((*SIGNS, *HOURS, ORDINAL))})? (?P<currency>[{"".join(CURRENCIES)}])?
    (?P<number>[{CHARACTERS}]+(?:(?:,\d{{3}})+[{CHARACTERS}]*)?) (?:\.(?P<digits>[{"".join(_DIGITS)}]+)
        (?P<unit>千?[{"".join(_MYRIADS)}]|千)?
    | [、,](?P<other>[{CHARACTERS}]+))?
    (?P<rest>.*)""",
    re.DOTALL | re.VERBOSE,
)
# Between digits in kanji ・ is the decimal point where something counts: not in 五・一五事件.
_POINT = re.compile("(?<=[〇零一二三四五六七八九十百千])・(?=[〇零一二三四五六七八九])")
# Minutes after an hour belong to its time: 12時30分 is 12時半.
_TIME = re.compile(rf"(?P<hours>[^時間]+時)(?P<minutes>[{CHARACTERS}]+分)")
# One quantity in several units, each smaller than the one before: 1時間30分, 1m80cm, 3割5分.
_IN_UNITS = re.compile(rf"[{CHARACTERS},.]+([^{CHARACTERS},.]+)")
# What a number with 半 before its counter says, and words that are a number.
_HALVES: dict[str, tuple[Fraction, str]] = {
    "半年": (Fraction(6), "か月"),
    "半月": (Fraction(1, 2), "か月"),
    "半日": (Fraction(12), "時間"),
    "半世紀": (Fraction(50), "年"),
    "半時間": (Fraction(30), "分"),
}
WORDS = {
    **_HALVES,
    **{f"{word}間": half for word, half in _HALVES.items() if word[1:] in "年月日世紀"},
    "正午": (Fraction(12), "時"),
    "零時": (Fraction(0), "時"),
}
_WORD_KANA = {
    "半年": "はんとし",
    "半月": "はんつき",
    "半日": "はんにち",
    "半世紀": "はんせいき",
    "半時間": "はんじかん",
}
# Two numbers next to each other, as in 四五十人; written so by place they would be 45.
_NEXT_TO = re.compile("^(?=一二|二三|三四|四五|五六|六七|七八|八九)(.)(.)(?![一二三四五六七八九〇])")
# Roman numerals are numbers before these counters: ナポレオンIII世.
_ROMAN = re.compile("(第?)([IVX]{1,7})(?=(?:世|部|章|巻|編|期|幕|楽章)$)")
_LETTERS = {"I": 1, "V": 5, "X": 10}


@dataclass(frozen=True)
class Number:
    """A number with what counts: 三人 is 3 and 人. `counter` as one of its spellings, "" where nothing counts.

    value: of 二、三人 both numbers.
    """

    value: Fraction | tuple[Fraction, Fraction]
    counter: str


@dataclass(frozen=True)
class _Parts:
    """A number as it is written: what stands before it, its digits and kanji, and its counter in its usual spelling.

    digits: after the decimal point. unit: what the decimal is multiplied by, 億 of 3.5億円. other: after the comma of
    二、三人.
    """

    before: str
    number: str
    digits: str
    unit: str
    other: str
    counter: str


def number(text: str) -> Number | None:
    """The number that a text begins with and what follows it, None for a text that is none.

    Full-width digits, thousands separated by commas, kanji by place (二〇二〇) or with 十百千万億兆, both mixed
    (3万5千), decimals, also of a unit (三・五, 3.5億), Roman numerals before 世 and the like, and two neighbouring
    numbers (二、三) are read; 第 before it says nothing, マイナス, 零下, 午後 and currencies do, and so does 半 after a
    counter. A year of an era is the year that it is (令和六年 is 2024年), 半年, 正午 and the like are the numbers that
    they stand for, and several units that go together are the first of them (1時間30分 is 1.5時間). 午後12時 is noon.
    `is_counter` tells whether what follows counts, `quantity` makes numbers in several units comparable.

    >>> number("１，２００円"), number("二十歳") == number("20才"), number("九州")
    (Number(value=Fraction(1200, 1), counter='円'), True, Number(value=Fraction(9, 1), counter='州'))
    >>> number("午後三時半") == number("15時30分"), number("二、三人") == number("二十三人")
    (True, False)
    >>> number("3.5億円") == number("3億5000万円"), number("正午") == number("12時")
    (True, True)
    """
    hours, minutes = _time(text)
    if minutes:
        return _of_time(number(hours), number(minutes))
    if word := WORDS.get(_plain(text)):
        return Number(word[0], word[1])
    if len(units := _in_units(text)) > 1:
        return _of_units([number(unit) for unit in units])
    if of_era := _of_era(text):
        return Number(Fraction(of_era.year), of_era.counter)
    parts = _parts(text)
    value = _value(parts.number) if parts else None
    if parts is None or value is None:
        return None
    counter, half = parts.counter, Fraction(0)
    base, suffix = suffixed(counter)
    if suffix == "半":
        counter, half = base, Fraction(1, 2)
    if parts.digits:
        value += Fraction(int(parts.digits), 10 ** len(parts.digits))
        value *= (_value(parts.unit) if parts.unit else None) or 1
    value += half
    if parts.before in SIGNS:
        value = -value
    if parts.before in HOURS:
        if counter != "時":
            return None
        value += 12 * (parts.before == "午後" and value < 12)
    if not parts.other:
        return Number(value, meaning(counter))
    both = _neighbours(parts.number, parts.other)
    return None if both is None else Number(both, meaning(counter))


def quantity(parsed: Number) -> tuple[Fraction | tuple[Fraction, ...], str]:
    """The value of a number in the base unit of its dimension, and the dimension: the counter where it has no other.

    >>> quantity(number("3km")) == quantity(number("3000m")), quantity(number("5割")) == quantity(number("50%"))
    (True, True)
    >>> quantity(number("1時間半")) == quantity(number("90分")), quantity(number("三人")), quantity(number("3人目"))[1]
    (True, (Fraction(3, 1), '人'), '人目')
    """
    factor, name = dimension(parsed.counter)
    if isinstance(parsed.value, tuple):
        return tuple(value * factor for value in parsed.value), name
    return parsed.value * factor, name


def is_counter(text: str) -> bool:
    """Whether a text that follows a number is one of the counters that can be read.

    >>> is_counter("人"), is_counter("才"), is_counter("人目"), is_counter("州")
    (True, True, True, False)
    """
    return is_spelt(suffixed(spelling(text))[0])


def is_bare_number(text: str) -> bool:
    """Whether a text is a number and nothing else.

    >>> is_bare_number("２"), is_bare_number("二人")
    (True, False)
    """
    parsed = number(text)
    return parsed is not None and not parsed.counter


def number_readings(text: str) -> tuple[str, ...]:
    """How a number with its counter is read, the usual reading first; () where it is none, or its counter is unknown.

    >>> number_readings("3人"), number_readings("二十歳"), number_readings("100"), number_readings("八本")
    (('さんにん',), ('はたち', 'にじゅっさい', 'にじっさい'), ('ひゃく',), ('はっぽん', 'はちほん'))
    >>> number_readings("午後三時半"), number_readings("二、三人"), number_readings("三人目"), number_readings("2.5%")
    (('ごごさんじはん',), ('にさんにん',), ('さんにんめ',), ('にてんごぱーせんと',))
    >>> number_readings("四五十人")[0], number_readings("三四日")[0]
    ('しごじゅうにん', 'さんよっか')
    """
    if (plain := _plain(text)) != (apart := _NEXT_TO.sub(r"\1、\2", plain, count=1)):
        return tuple(kana.replace("よんご", "しご", 1) for kana in number_readings(apart))
    hours, minutes = _time(text)
    if minutes:
        spoken = product(number_readings(hours), number_readings(minutes)) if number(text) else ()
        return tuple(map("".join, spoken))
    if plain in WORDS:
        return _readings_of_word(plain)
    if len(units := _in_units(text)) > 1:
        if number(text) is None:
            return ()
        readings = [number_readings(unit) for unit in units]
        if units[0].endswith("割"):  # 3割5分 is さんわりごぶ
            readings[1:] = [(number_readings(unit[:-1])[0] + "ぶ",) for unit in units[1:]]
        return tuple(map("".join, product(*readings)))
    if of_era := _of_era(text):
        years = (
            [f"がん{COUNTERS[of_era.counter]}"]
            if of_era.number == FIRST_YEAR
            else number_readings(of_era.number + of_era.counter)
        )
        return tuple(of_era.era.kana + kana for kana in years)
    parts = _parts(text)
    if parts is None or number(text) is None:
        return ()
    base, suffix = suffixed(parts.counter)
    value = _value(parts.number)
    if value is None or not is_spelt(base) or value >= spoken_numbers.LARGEST:
        return ()
    before = {**SIGNS, **HOURS, ORDINAL: "だい"}.get(parts.before, "")
    counted = [
        spoken_numbers.without_one(kana) if parts.number[0] in _MYRIADS else kana  # 万 alone is まん, 万一 まんいち
        for kana in _counted(parts, int(value), base, is_alone=parts.before != ORDINAL)
    ]
    if base == "日" and suffix:
        counted = [kana for kana in counted if kana != "ついたち"]
    return tuple(f"{before}{kana}{suffix_kana(suffix)}" for kana in counted)


def _of_era(text: str) -> EraYear | None:
    return era_year(_plain(text), _whole)


def _whole(text: str) -> Fraction | None:
    """The value of a number that is nothing but digits and kanji."""
    return _value(text) if all(character in CHARACTERS for character in text) else None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", without_selectors(text)).strip()


def _readings_of_word(word: str) -> tuple[str, ...]:
    """How a word of WORDS is read."""
    if word in ("正午", "零時"):
        return ("しょうご",) if word == "正午" else ("れいじ",)
    return (_WORD_KANA.get(word) or _WORD_KANA[word.removesuffix("間")] + "かん",)


def _in_units(text: str) -> list[str]:
    """A text cut into the numbers of which each has a unit; one or none where it is not made of such."""
    plain = _plain(text)
    parts = list(_IN_UNITS.finditer(plain))
    is_whole = "".join(part[0] for part in parts) == plain
    return [part[0] for part in parts] if is_whole and all(is_counter(part[1]) for part in parts) else []


def _of_units(numbers: list[Number | None]) -> Number | None:
    """One number of several with units of one dimension, each smaller than the one before; None where they are others."""
    total, least, first = Fraction(0), None, numbers[0]
    for place, parsed in enumerate(numbers):
        if parsed is None or first is None or isinstance(parsed.value, tuple) or not parsed.counter:
            return None
        of_tenths = first.counter == "割" and parsed.counter == "分" and place == 1
        factor, name = (Fraction(1), "パーセント") if of_tenths else dimension(parsed.counter)
        if name != dimension(first.counter)[1] or parsed.value < 0:
            return None
        if least is not None and (factor >= least or parsed.value * factor >= least):
            return None
        total, least = total + parsed.value * factor, factor
    return Number(total / dimension(first.counter)[0], first.counter) if first is not None else None


def _time(text: str) -> tuple[str, str]:
    """A time cut into its hours and minutes; ("", "") for any other text."""
    match = _TIME.fullmatch(_plain(text))
    return (match["hours"], match["minutes"]) if match else ("", "")


def _of_time(hours: Number | None, minutes: Number | None) -> Number | None:
    if (
        hours is None
        or minutes is None
        or isinstance(hours.value, tuple)
        or isinstance(minutes.value, tuple)
        or hours.counter != meaning("時")
        or minutes.value >= MINUTES
    ):
        return None
    return Number(hours.value + minutes.value / MINUTES, hours.counter)


def _counted(parts: _Parts, value: int, counter: str, *, is_alone: bool) -> list[str]:
    """How a number is read with a counter that has nothing after it."""
    if is_alone and not parts.digits and not parts.other and (counter, value) in READ_ALONE:
        return list(READ_ALONE[(counter, value)])
    if counter not in COUNTERS:
        return []
    if parts.digits and parts.unit:
        return spoken_numbers.decimal_of(value, parts.digits, int(_value(parts.unit) or 1), counter)
    if parts.digits:
        return spoken_numbers.decimal(value, parts.digits, counter)
    if parts.other:
        last = _value(parts.other)
        return spoken_numbers.approximate(value, int(last), counter) if last is not None else []
    return spoken_numbers.with_counter(value, counter)


def _parts(text: str) -> _Parts | None:
    plain = _plain(text)
    plain = _ROMAN.sub(lambda roman: roman[1] + _of_roman(roman[2]), plain, count=1)
    match = _NUMBER.fullmatch(_POINT.sub(".", plain))
    if match and match["digits"] and not match["rest"] and not match["unit"]:
        match = _NUMBER.fullmatch(plain)
    if match is None:
        return None
    counter = spelling(match["rest"])
    if match["currency"]:
        unit = CURRENCIES[match["currency"]]
        if counter not in ("", unit):
            return None
        counter = unit
    digits = "".join(str(_DIGITS[digit]) for digit in match["digits"] or "")
    return _Parts(
        match["before"] or "",
        match["number"].replace(",", ""),
        digits,
        match["unit"] or "",
        match["other"] or "",
        counter,
    )


def _of_roman(numeral: str) -> str:
    """A Roman numeral in digits."""
    values = [_LETTERS[letter] for letter in numeral]
    return str(sum(-value if value < max(values[index:]) else value for index, value in enumerate(values)))


def _neighbours(text: str, other: str) -> tuple[Fraction, Fraction] | None:
    """Two neighbouring numbers, 12 and 13 of 十二、三, 20 and 30 of 二、三十; None for others, as 三、五.

    In digits only single ones are: 2,3.
    """
    first, second = _DIGITS.get(text[-1]), _DIGITS.get(other[0])
    if (
        first is None
        or second != first + 1
        or (text[-1].isascii() and len(text) > 1)
        or (len(other) > 1 and other[1] in _DIGITS)
    ):
        return None
    low, high = _value(text + other[1:]), _value(text[:-1] + other)
    return None if low is None or high is None else (low, high)


def _value(text: str) -> Fraction | None:
    """The value of digits and kanji; None where they do not go together, as 十百."""
    if all(character in _DIGITS for character in text):
        return Fraction(int("".join(str(_DIGITS[character]) for character in text)))
    total = below = digits = 0
    has_digits = False
    last_ten, last_myriad = 10**4, 10**16
    for character in text:
        if character in _DIGITS:
            digits, has_digits = digits * 10 + _DIGITS[character], True
        elif character in _TENS:
            if _TENS[character] >= last_ten:
                return None
            last_ten = _TENS[character]
            below += (digits if has_digits else 1) * last_ten
            digits, has_digits = 0, False
        else:
            if _MYRIADS[character] >= last_myriad:
                return None
            last_myriad = _MYRIADS[character]
            multiple = below + digits
            total += (multiple if multiple or has_digits else 1) * last_myriad
            below, digits, has_digits, last_ten = 0, 0, False, 10**4
    return Fraction(total + below + digits)
