"""How whole numbers and decimals are spoken, alone and with a counter."""

from __future__ import annotations

import re

from engine.language.readings.counters import COUNTERS, HARD, LOANS, NATIVE, READ_ALONE

_ONES = ("", "いち", "に", "さん", "よん", "ご", "ろく", "なな", "はち", "きゅう")
_HUNDREDS = {1: "ひゃく", 3: "さんびゃく", 6: "ろっぴゃく", 8: "はっぴゃく"}
_THOUSANDS = {1: "せん", 3: "さんぜん", 8: "はっせん"}
_VOICED = str.maketrans("はひふへほ", "ばびぶべぼ")
_P = str.maketrans("はひふへほ", "ぱぴぷぺぽ")
_DOUBLED = (
    ("いち", "いっ"),
    ("ろく", "ろっ"),
    ("はち", "はっ"),
    ("じゅう", "じゅっ"),
    ("ひゃく", "ひゃっ"),
    ("びゃく", "びゃっ"),
    ("ぴゃく", "ぴゃっ"),
)
LARGEST = 10**16


def cardinal(value: int) -> str:
    """The reading of a whole number below 10 ** 16."""
    if value == 0:
        return "ぜろ"
    parts = []
    for power, name in ((10**12, "ちょう"), (10**8, "おく"), (10**4, "まん"), (1, "")):
        part = value // power % 10**4
        if part:
            ones = _below_myriad(part)
            if name == "ちょう":
                ones = _geminated(ones)
            # 1000 is いっせん before 万 and so on only where it stands alone there: いっせんまん.
            parts.append(("いっせん" if ones == "せん" and name else ones) + name)
    return "".join(parts)


def _below_myriad(value: int) -> str:
    thousands, hundreds, tens, ones = value // 1000, value // 100 % 10, value // 10 % 10, value % 10
    return "".join(
        (
            _THOUSANDS.get(thousands, f"{_ONES[thousands]}せん") if thousands else "",
            _HUNDREDS.get(hundreds, f"{_ONES[hundreds]}ひゃく") if hundreds else "",
            ("じゅう" if tens == 1 else f"{_ONES[tens]}じゅう") if tens else "",
            _ONES[ones],
        )
    )


def with_counter(value: int, counter: str) -> list[str]:
    """How a whole number below 10 ** 16 is read with a counter, the sound changes between them included."""
    number_kana, counter_kana = cardinal(value), COUNTERS[counter]
    last, plain = value % 10, number_kana + counter_kana
    if not counter_kana:
        return [plain]
    head, ends_in_ten = counter_kana[0], value % 100 in range(10, 100, 10)
    if last in (3, 4, 7, 9) and (counter, last) in READ_ALONE and (counter != "日" or last == 4):  # 14人, 33階, 34日
        return [cardinal(value - last) * (value > 10) + ending for ending in READ_ALONE[(counter, last)]]
    if counter in NATIVE or head not in "かきくけこさしすせそたちつてとはひふへほぱぴぷぺぽ":
        return [plain]
    is_h, is_p, is_k = head in "はひふへほ", head in "ぱぴぷぺぽ", head in "かきくけこ"
    hardened = counter_kana[0].translate(_P) + counter_kana[1:] if is_h else counter_kana
    ends_in_hundred = value % 100 == 0 and value % 1000 != 0
    if (
        last in (1, 8)
        or (last == 6 and (is_h or is_p or is_k))
        or ends_in_ten
        or (ends_in_hundred and (is_h or is_p or is_k))
    ):
        changed = _geminated(number_kana) + hardened
        if ends_in_ten:
            return [changed, re.sub("じゅっ(?!.*じゅっ)", "じっ", changed)]
        if counter[0] in LOANS and (last == 1 or is_p):  # いちページ before いっページ, いちキロ
            return [plain, changed]
        return [changed, plain] if last == 8 else [changed]
    if is_h and (last == 3 or number_kana.endswith(("せん", "ぜん", "まん"))):  # 三本, 三歩, 千本, 一万本
        return [number_kana + counter_kana[0].translate(_P if counter in HARD else _VOICED) + counter_kana[1:]]
    if is_h and last == 4 and counter == "分":
        return [number_kana + hardened]
    return [plain]


def decimal(whole: int, digits: str, counter: str) -> list[str]:
    """How a number with a decimal point is read with a counter: いってんはっぽん for 1.8本.

    digits: those after the point, ASCII.
    """
    head = _geminated(cardinal(whole)) if whole % 10 in (1, 8) or whole % 100 in range(10, 100, 10) else cardinal(whole)
    before = ("れい" if whole == 0 else head) + "てん"
    between = "".join(_digit(digit) for digit in digits[:-1])
    last = int(digits[-1])
    endings = (
        with_counter(last, counter)
        if last and (counter, last) not in READ_ALONE
        else [_digit(digits[-1]) + COUNTERS[counter]]
    )
    return [before + between + ending for ending in endings]


def decimal_of(whole: int, digits: str, unit: int, counter: str) -> list[str]:
    """How a decimal of a unit is read with a counter: さんてんごおくえん for 3.5億円. unit: its value."""
    (head,) = decimal(whole, digits, "")
    heads = head if unit % 10**12 else _geminated(head)
    return [heads + without_one(kana) for kana in with_counter(unit, counter)]


def without_one(kana: str) -> str:
    """A reading without the one that it begins with: まんにん of いちまんにん."""
    return kana.removeprefix("いち").removeprefix("いっ")


def approximate(low: int, last: int, counter: str) -> list[str]:
    """How two neighbouring numbers together are read: にさんにん for 二、三人, じゅうにさんにん for 十二、三人.

    low: what is written before the comma. last: what is after it.
    """
    four_or_seven = {4: "し", 7: "しち"}.get(low % 10)  # 四、五人 is しごにん
    before = (
        cardinal(low - low % 10) * (low > 10) + four_or_seven
        if four_or_seven and last % 10 == low % 10 + 1
        else (cardinal(low))
    )
    return [before + kana for kana in with_counter(last, counter)]


def _digit(digit: str) -> str:
    return _ONES[int(digit)] or "れい"


def _geminated(kana: str) -> str:
    """いち, ろく, はち, じゅう and ひゃく before a consonant that doubles: いっ, ろっ, はっ, じゅっ, ひゃっ."""
    for ending, doubled in _DOUBLED:
        if kana.endswith(ending):
            return kana.removesuffix(ending) + doubled
    return kana
