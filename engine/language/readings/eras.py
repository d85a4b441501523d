"""Years counted in the eras of Japan since 1868: 令和六年 is 2024年."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Era:
    """An era: the year that its first one is, how many it has (None while it lasts), and its reading."""

    first: int
    n_years: int | None
    kana: str


ERAS = {
    "明治": Era(1868, 45, "めいじ"),
    "大正": Era(1912, 15, "たいしょう"),
    "昭和": Era(1926, 64, "しょうわ"),
    "平成": Era(1989, 31, "へいせい"),
    "令和": Era(2019, None, "れいわ"),
}
LETTERS = dict(zip("MTSHR", ERAS, strict=True))  # R6年
FIRST_YEAR = "元"
_YEAR = re.compile(rf"(?P<era>{'|'.join((*ERAS, *LETTERS))})(?P<number>[^年]+)(?P<counter>年度?)")


@dataclass(frozen=True)
class EraYear:
    """A year of an era: the era, its number there as it is written, its year, and 年 or 年度."""

    era: Era
    number: str
    year: int
    counter: str


def era_year(text: str, value_of: Callable[[str], Fraction | None]) -> EraYear | None:
    """The year that a whole text says by its era; None for any other text, and for a year that the era does not have.

    text: in the form NFKC. value_of: the value of a whole number as it is written, in digits or kanji.

    >>> from engine.language.readings.numbers import number
    >>> number("令和六年") == number("R6年") == number("2024年"), number("平成元年") == number("1989年")
    (True, True)
    >>> number("昭和65年"), number("平成30年間"), number("令和")
    (None, None, None)
    """
    match = _YEAR.fullmatch(text)
    if match is None:
        return None
    era = ERAS[LETTERS.get(match["era"], match["era"])]
    value = Fraction(1) if match["number"] == FIRST_YEAR else value_of(match["number"])
    if value is None or not 1 <= value <= (era.n_years or 99):
        return None
    return EraYear(era, match["number"], era.first + int(value) - 1, match["counter"])
