"""Names that are short for another one: 東電 of 東京電力, ファミマ of ファミリーマート, NHK of 日本放送協会."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from engine.language.readings.variants import plain_form

LIST = Path(__file__).with_name("abbreviations.tsv")
_KANJI = re.compile("[々\u3400-\u9fff\U00020000-\U0003ffff]")
_KATAKANA = re.compile("[ァ-ヺー・]+")
_MORA = re.compile("[ァ-ヺ][ャュョァィゥェォ]?")
_LATIN = re.compile("[a-z]{2,6}")
LEAST_LONG, LEAST_MORAE = 4, 5
_SPOKEN = {"フォ": "ホ", "フィ": "ヒ", "ファ": "ハ", "フェ": "ヘ", "ティ": "チ", "ディ": "ジ"}
# No names of companies without what stands before them.
_NO_NAMES = frozenset(
    ["銀行", "航空", "新聞", "放送", "電気", "政府", "代表", "生命", "大学", "鉄道", "協会", "連合", "連盟"]
)
# Words that an abbreviation may leave out before all others: 経団連 of 日本経済団体連合会.
_LEFT_OUT_BEFORE = ("日本", "全国", "全日本", "国際", "米", "株式会社")
# What is left out of the name of a company, but not of a university or town, whose place is another name.
_LEFT_OUT = (
    "社",
    "新聞社",
    "新聞",
    "自動車",
    "株式会社",
    "製作所",
    "電機",
    "電器",
    "商事",
    "証券",
    "ホールディングス",
    "グループ",
)
# The first letter of a reading in romaji.
_FIRST_LETTERS = {
    kana: letter
    for letter, row in {
        "k": "かきくけこ",
        "g": "がぎぐげご",
        "s": "さしすせそ",
        "z": "ざずぜぞ",
        "j": "じ",
        "t": "たてとつ",
        "c": "ち",
        "d": "だでど",
        "n": "なにぬねの",
        "h": "はひへほ",
        "f": "ふ",
        "b": "ばびぶべぼ",
        "p": "ぱぴぷぺぽ",
        "m": "まみむめも",
        "y": "やゆよ",
        "r": "らりるれろ",
        "w": "わ",
        "a": "あ",
        "i": "い",
        "u": "う",
        "e": "え",
        "o": "お",
    }.items()
    for kana in row
}


@lru_cache(maxsize=10_000)
def abbreviates(
    one: str, other: str, words: tuple[tuple[str, str], ...] = (), other_words: tuple[tuple[str, str], ...] = ()
) -> bool:
    """Whether one of two names is short for the other.

    words, other_words: of each name its words with their readings. By the list of this folder; in kanji by the first
    characters of two words or more of a name of LEAST_LONG characters, or its first word where what is left out says
    what kind of company it is; in katakana by its morae in a row; in Latin letters by the initials of its words.

    >>> power = (("東京", "とうきょう"), ("電力", "でんりょく"))
    >>> abbreviates("東電", "東京電力", (("東電", "とうでん"),), power), abbreviates("長谷", "長谷川")
    (True, False)
    >>> abbreviates("ファミマ", "ファミリーマート"), abbreviates("マリア", "マリリン")
    (True, False)
    >>> keidanren = tuple((word, "") for word in ("日本", "経済", "団体", "連合", "会"))
    >>> abbreviates("経団連", "日本経済団体連合会", (), keidanren), abbreviates("スマホ", "スマートフォン")
    (True, True)
    """
    plain, other_plain = plain_form(one), plain_form(other)
    if len(plain) > len(other_plain):
        plain, other_plain, other_words = other_plain, plain, words
    if other_plain in _list().get(plain, ()) or plain in _list().get(other_plain, ()):
        return True
    if any(other_plain == plain + kind for kind in _LEFT_OUT):
        return True
    if len(plain) > 1 and plain not in _NO_NAMES and any(other_plain == before + plain for before in _LEFT_OUT_BEFORE):
        return True  # 郵船 of 日本郵船
    if _LATIN.fullmatch(plain):
        initials = [_FIRST_LETTERS.get(kana[:1], "?") for _, kana in other_words]
        return len(initials) >= 3 and "".join(initials) == plain
    if plain in _list() and other_plain.startswith(plain[0]):
        return False  # it is short for what the list says: 東大 is 東京大学, not 東北大学
    if _KATAKANA.fullmatch(plain) and _KATAKANA.fullmatch(other_plain):
        short, long = _clipped(plain), _clipped(other_plain)
        return (
            len(short) >= 3
            and len(long) >= max(LEAST_MORAE, len(short) + 2)
            and short[:2] == long[:2]
            and short != long[: len(short)]  # マリノ is not マリノフスキー; コンビニ is in the dictionaries
            and _is_within(short, long)
        )
    if len(plain) < 2 or len(other_plain) < LEAST_LONG or not all(map(_KANJI.match, plain)) or len(other_words) < 2:
        return False
    parts = [plain_form(word) for word, _ in other_words]
    return _of_first_characters(plain, parts) or (
        (parts[0] in _LEFT_OUT_BEFORE and len(parts) > 2 and _of_first_characters(plain, parts[1:]))
        or (len(plain) > 2 and any(_of_first_characters(plain, parts[n:]) for n in range(1, len(parts) - 2)))
    )


def is_listed(text: str) -> bool:
    """Whether the list says what a text is short for, or what is short for it.

    >>> is_listed("IMF"), is_listed("ABC")
    (True, False)
    """
    return plain_form(text) in _list()


def may_be_short(one: str, other: str) -> bool:
    """Whether one of two names may be short for the other, words apart: they begin alike, or one is Latin or listed.

    >>> may_be_short("東電", "東京電力"), may_be_short("東電", "関西電力")
    (True, False)
    """
    plain, other_plain = plain_form(one), plain_form(other)
    return (
        plain[:1] == other_plain[:1]
        or max(plain, other_plain, key=len).startswith(_LEFT_OUT_BEFORE)
        or (
            min(len(plain), len(other_plain)) > 2
            and min(plain, other_plain, key=len)[0] in max(plain, other_plain, key=len)
        )
        or plain in _list()
        or other_plain in _list()
        or (_LATIN.fullmatch(plain) is None) != (_LATIN.fullmatch(other_plain) is None)
    )


def _of_first_characters(short: str, words: Sequence[str]) -> bool:
    """Whether a text is the first characters of words in their order, of two of them at least, the first among them."""
    taken, used = 0, 0
    for place, word in enumerate(words):
        n = 0
        while taken + n < len(short) and n < len(word) and short[taken + n] == word[n]:
            n += 1
        if n == 0 and place == 0:
            return False
        # a later word is not robbed of its character: as few as possible
        while (
            n > 1 and place + 1 < len(words) and any(short[taken + n - 1] == later[:1] for later in words[place + 1 :])
        ):
            n -= 1
        taken, used = taken + n, used + (n > 0)
    return taken == len(short) and used >= 2


def _clipped(plain: str) -> list[str]:
    """The morae that clipping keeps: without long vowels, a foreign sound as the kana that stands for it (スマホ of フォン)."""
    for spelling, usual in _SPOKEN.items():
        plain = plain.replace(spelling, usual)
    return _MORA.findall(plain.replace("ー", "").replace("・", ""))


def _is_within(short: Sequence[str], long: Sequence[str]) -> bool:
    left = iter(long)
    return all(mora in left for mora in short)


@lru_cache(maxsize=1)
def _list() -> dict[str, frozenset[str]]:
    """The names that each abbreviation of the list is short for; all those of a line are one name."""
    found: dict[str, frozenset[str]] = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            names = frozenset(map(plain_form, line.split()))
            for name in names:
                found[name] = found.get(name, frozenset()) | names
    return found
