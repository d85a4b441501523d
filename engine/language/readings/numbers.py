"""Numbers in a text, in digits or kanji and with a counter: their value, and how they are read."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

_DIGITS = {**{str(n): n for n in range(10)},
           **dict(zip("〇零一二三四五六七八九", (0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), strict=True)),
           **dict(zip("壱壹弐貳参參", (1, 1, 2, 2, 3, 3), strict=True))}
_TENS = {"十": 10, "拾": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "萬": 10**4, "億": 10**8, "兆": 10**12}
_CHARACTERS = "".join((*_DIGITS, *_TENS, *_MYRIADS))
_NUMBER = re.compile(rf"第?([{_CHARACTERS}]+(?:,\d{{3}})*(?:\.\d+)?)(.*)", re.DOTALL)
# Spellings of one counter.
_SAME_COUNTER = {"才": "歳", "ケ月": "か月", "ヶ月": "か月", "カ月": "か月", "ヵ月": "か月", "箇月": "か月",
                 "個月": "か月", "ケ国": "か国", "ヶ国": "か国", "カ国": "か国", "ヵ国": "か国", "箇国": "か国",
                 "箇": "個", "ヶ": "個", "ケ": "個", "コ": "個", "ヶ所": "か所", "カ所": "か所", "ヵ所": "か所",
                 "ケ所": "か所", "箇所": "か所",
                 "%": "パーセント", "㎞": "キロ", "km": "キロメートル", "kg": "キログラム", "cm": "センチメートル",
                 "m": "メートル", "g": "グラム"}
_READ_COUNTERS = {
    "人": "にん", "名": "めい", "歳": "さい", "年": "ねん", "月": "がつ", "か月": "かげつ", "日": "にち", "時": "じ",
    "時間": "じかん", "分": "ふん", "秒": "びょう", "週間": "しゅうかん", "年間": "ねんかん", "日間": "にちかん",
    "回": "かい", "階": "かい", "本": "ほん", "匹": "ひき", "杯": "はい", "冊": "さつ", "個": "こ", "枚": "まい",
    "台": "だい", "番": "ばん", "番目": "ばんめ", "度": "ど", "倍": "ばい", "円": "えん", "世": "せい",
    "世紀": "せいき", "号": "ごう", "丁目": "ちょうめ", "章": "しょう", "条": "じょう", "位": "い", "頭": "とう",
    "羽": "わ", "軒": "けん", "足": "そく", "着": "ちゃく", "点": "てん", "巻": "かん", "代": "だい", "次": "じ",
    "行": "ぎょう", "話": "わ", "曲": "きょく", "課": "か", "級": "きゅう", "組": "くみ", "通": "つう", "件": "けん",
    "戸": "こ", "社": "しゃ", "校": "こう", "か国": "かこく", "か所": "かしょ", "県": "けん", "部": "ぶ", "門": "もん",
    "隻": "せき", "機": "き", "両": "りょう", "箱": "はこ", "袋": "ふくろ", "里": "り", "町": "ちょう", "丁": "ちょう",
    "パーセント": "ぱーせんと", "キロ": "きろ", "メートル": "めーとる", "キロメートル": "きろめーとる",
    "キログラム": "きろぐらむ", "グラム": "ぐらむ", "センチメートル": "せんちめーとる", "ページ": "ぺーじ",
    "ドル": "どる", "ユーロ": "ゆーろ", "": "",
}
_ALONE = {
    ("人", 1): ("ひとり",), ("人", 2): ("ふたり",), ("人", 4): ("よにん",), ("人", 7): ("しちにん", "ななにん"),
    ("人", 9): ("きゅうにん", "くにん"), ("歳", 20): ("はたち", "にじゅっさい", "にじっさい"), ("時", 4): ("よじ",),
    ("時", 7): ("しちじ", "ななじ"), ("時", 9): ("くじ",), ("月", 4): ("しがつ",), ("月", 7): ("しちがつ", "なながつ"),
    ("月", 9): ("くがつ",), ("年", 4): ("よねん",), ("年", 7): ("ななねん", "しちねん"),
    ("年", 9): ("きゅうねん", "くねん"), ("円", 4): ("よえん",), ("時間", 4): ("よじかん",),
    ("番", 4): ("よんばん", "よばん"), ("羽", 3): ("さんわ", "さんば"), ("羽", 6): ("ろくわ", "ろっぱ"),
    ("羽", 10): ("じゅうわ", "じゅっぱ", "じっぱ"),
    ("足", 3): ("さんぞく", "さんそく"), ("階", 3): ("さんがい", "さんかい"), ("軒", 3): ("さんげん", "さんけん"),
    ("世", 3): ("さんせい",), ("世", 2): ("にせい",), ("号", 4): ("よんごう",), ("か月", 1): ("いっかげつ", "ひとつき"),
    **{("つ", n): (f"{kana}",) for n, kana in enumerate(
        ("ひとつ", "ふたつ", "みっつ", "よっつ", "いつつ", "むっつ", "ななつ", "やっつ", "ここのつ"), start=1)},
    **{("日", n): (kana,) for n, kana in enumerate(
        ("ついたち", "ふつか", "みっか", "よっか", "いつか", "むいか", "なのか", "ようか", "ここのか", "とおか"),
        start=1)},
    ("日", 1): ("ついたち", "いちにち"), ("日", 14): ("じゅうよっか",),
    ("日", 17): ("じゅうしちにち", "じゅうななにち"), ("日", 19): ("じゅうくにち", "じゅうきゅうにち"),
    ("日", 27): ("にじゅうしちにち", "にじゅうななにち"), ("日", 29): ("にじゅうくにち", "にじゅうきゅうにち"),
    ("日", 20): ("はつか",), ("日", 24): ("にじゅうよっか",),
    ("組", 1): ("ひとくみ", "いちくみ"), ("組", 2): ("ふたくみ", "にくみ"),
    ("箱", 1): ("ひとはこ",), ("箱", 2): ("ふたはこ",),
    ("袋", 1): ("ひとふくろ",), ("袋", 2): ("ふたふくろ",),
}
_ONES = ("", "いち", "に", "さん", "よん", "ご", "ろく", "なな", "はち", "きゅう")
_HUNDREDS = {1: "ひゃく", 3: "さんびゃく", 6: "ろっぴゃく", 8: "はっぴゃく"}
_THOUSANDS = {1: "せん", 3: "さんぜん", 8: "はっせん"}
_VOICED = str.maketrans("はひふへほ", "ばびぶべぼ")
_P = str.maketrans("はひふへほ", "ぱぴぷぺぽ")
_DOUBLED = (("いち", "いっ"), ("ろく", "ろっ"), ("はち", "はっ"), ("じゅう", "じゅっ"), ("ひゃく", "ひゃっ"),
            ("びゃく", "びゃっ"), ("ぴゃく", "ぴゃっ"))
_LARGEST = 10**16


@dataclass(frozen=True)
class Number:
    """A number with what counts: 三人 is 3 and 人. `counter` as one of its spellings, "" where nothing counts."""

    value: Fraction
    counter: str


def number(text: str) -> Number | None:
    """The number that a text begins with and what follows it, None for a text that is none.

    Full-width digits, thousands separated by commas, kanji by place (二〇二〇) or with 十百千万億兆, and both mixed
    (3万5千) are read; 第 before it says nothing. `is_counter` says whether what follows counts.

    >>> number("１，２００円"), number("二十歳") == number("20才"), number("九州")
    (Number(value=Fraction(1200, 1), counter='円'), True, Number(value=Fraction(9, 1), counter='州'))
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    match = _NUMBER.fullmatch(plain)
    if match is None:
        return None
    value = _value(match[1].replace(",", ""))
    counter = match[2].strip().casefold()
    return None if value is None else Number(value, _SAME_COUNTER.get(counter, counter))


def is_counter(text: str) -> bool:
    """Whether a text that follows a number is one of the counters that can be read.

    >>> is_counter("人"), is_counter("才"), is_counter("州")
    (True, True, False)
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    counter = _SAME_COUNTER.get(plain, plain)
    return counter in _READ_COUNTERS or counter == "つ"


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
    """
    parsed = number(text)
    if parsed is None or not is_counter(parsed.counter) or parsed.value.denominator != 1:
        return ()
    value, counter = int(parsed.value), parsed.counter
    prefix = "だい" if unicodedata.normalize("NFKC", text).strip().startswith("第") else ""
    if value >= _LARGEST:
        return ()
    if not prefix and (counter, value) in _ALONE:
        return _ALONE[(counter, value)]
    if counter == "つ":
        return ()
    return tuple(prefix + reading for reading in _with_counter(value, counter))


def _value(text: str) -> Fraction | None:
    """The value of digits and kanji; None where they do not go together, as 十百."""
    if "." in text:
        whole, _, part = text.partition(".")
        value = _value(whole)
        return None if value is None else value + Fraction(int(part), 10 ** len(part))
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


def _cardinal(value: int) -> str:
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
    return "".join((
        _THOUSANDS.get(thousands, f"{_ONES[thousands]}せん") if thousands else "",
        _HUNDREDS.get(hundreds, f"{_ONES[hundreds]}ひゃく") if hundreds else "",
        ("じゅう" if tens == 1 else f"{_ONES[tens]}じゅう") if tens else "", _ONES[ones]))


def _with_counter(value: int, counter: str) -> list[str]:
    """A number and a counter read together, with the sound changes between them."""
    number_kana, counter_kana = _cardinal(value), _READ_COUNTERS[counter]
    last, plain = value % 10, number_kana + counter_kana
    if not counter_kana:
        return [plain]
    head, ends_in_ten = counter_kana[0], value % 100 in range(10, 100, 10)
    if last in (4, 7, 9) and (counter, last) in _ALONE and (counter != "日" or last == 4):  # 14人, 17時, 34日
        return [_cardinal(value - last) * (value > 10) + ending for ending in _ALONE[(counter, last)]]
    if head not in "かきくけこさしすせそたちつてとはひふへほぱぴぷぺぽ":
        return [plain]
    is_h, is_k = head in "はひふへほ", head in "かきくけこ"
    hardened = counter_kana[0].translate(_P) + counter_kana[1:] if is_h else counter_kana
    ends_in_hundred = value % 100 == 0 and value % 1000 != 0
    if last == 1 or last == 8 or (last == 6 and (is_h or is_k)) or ends_in_ten or (ends_in_hundred and (is_h or is_k)):
        changed = _geminated(number_kana) + hardened
        second = re.sub("じゅっ(?!.*じゅっ)", "じっ", changed) if ends_in_ten else plain
        return [changed, second] if last in (8,) or ends_in_ten else [changed]
    if is_h and (last == 3 or number_kana.endswith(("せん", "ぜん", "まん"))):  # 三本, 千本, 一万本
        voiced = counter_kana[0].translate(_P if counter == "分" else _VOICED) + counter_kana[1:]
        return [number_kana + voiced]
    if is_h and last == 4 and counter == "分":
        return [number_kana + hardened]
    return [plain]


def _geminated(kana: str) -> str:
    """いち, ろく, はち, じゅう and ひゃく before a consonant that doubles: いっ, ろっ, はっ, じゅっ, ひゃっ."""
    for ending, doubled in _DOUBLED:
        if kana.endswith(ending):
            return kana.removesuffix(ending) + doubled
    return kana
