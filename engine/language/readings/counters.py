"""The counters of Japanese: their spellings, how they are read, and the numbers that are read otherwise with them."""

from __future__ import annotations

import unicodedata
from fractions import Fraction

# Spellings of one counter. Single Latin letters in this case alone: 5G is no weight.
_SPELLINGS = {
    "才": "歳",
    **{f"{ka}{rest}": f"か{rest}" for ka in "ケヶカヵ箇個" for rest in ("月", "国", "所", "年")},
    "箇": "個",
    "ヶ": "個",
    "ケ": "個",
    "コ": "個",
    "振": "振り",
    "頁": "ページ",
    "弗": "ドル",
    "%": "パーセント",
    "°c": "度",
    "km": "キロメートル",
    "kg": "キログラム",
    "cm": "センチメートル",
    "mm": "ミリメートル",
    "m": "メートル",
    "g": "グラム",
    "mg": "ミリグラム",
    "t": "トン",
    "米ドル": "ドル",
    "ml": "ミリリットル",
    "cc": "ミリリットル",
    "l": "リットル",
    "L": "リットル",
    "h": "時間",
    "min": "分",
    "yen": "円",
}
# Counters that stand for another one, but are read as they are.
_MEANINGS = {"キロ": "キロメートル", "センチ": "センチメートル", "ミリ": "ミリメートル"}
# Counters of one dimension: how much of its base unit each is. A month is a twelfth of a year and no number of days.
_DIMENSIONS = {
    "メートル": {
        "ミリメートル": Fraction(1, 1000),
        "センチメートル": Fraction(1, 100),
        "メートル": Fraction(1),
        "キロメートル": Fraction(1000),
    },
    "グラム": {
        "ミリグラム": Fraction(1, 1000),
        "グラム": Fraction(1),
        "キログラム": Fraction(1000),
        "トン": Fraction(10**6),
    },
    "リットル": {"ミリリットル": Fraction(1, 1000), "リットル": Fraction(1)},
    "パーセント": {"パーセント": Fraction(1), "割": Fraction(10)},
    "秒": {
        "秒": Fraction(1),
        "秒間": Fraction(1),
        "分": Fraction(60),
        "分間": Fraction(60),
        "時間": Fraction(3600),
        "日": Fraction(86400),
        "日間": Fraction(86400),
        "週": Fraction(7 * 86400),
        "週間": Fraction(7 * 86400),
    },
    "か月": {
        "か月": Fraction(1),
        "か月間": Fraction(1),
        "年": Fraction(12),
        "年間": Fraction(12),
        "か年": Fraction(12),
    },
    "人": {"人": Fraction(1), "名": Fraction(1)},
    "個": {"個": Fraction(1), "つ": Fraction(1)},
}
_DIMENSION_OF = {
    counter: (factor, name) for name, counters in _DIMENSIONS.items() for counter, factor in counters.items()
}
# Counters that count one and two in Japanese words (ひときれ, ふたきれ), and more without a change of sound.
NATIVE = {
    "切れ": "きれ",
    "粒": "つぶ",
    "束": "たば",
    "房": "ふさ",
    "株": "かぶ",
    "鉢": "はち",
    "桁": "けた",
    "部屋": "へや",
    "瓶": "びん",
    "缶": "かん",
    "駅": "えき",
    "玉": "たま",
    "振り": "ふり",
    "匙": "さじ",
    "揃い": "そろい",
}
COUNTERS = {
    **NATIVE,
    "人": "にん",
    "名": "めい",
    "歳": "さい",
    "年": "ねん",
    "月": "がつ",
    "か月": "かげつ",
    "日": "にち",
    "時": "じ",
    "時間": "じかん",
    "分": "ふん",
    "秒": "びょう",
    "週間": "しゅうかん",
    "週": "しゅう",
    "か年": "かねん",
    "回": "かい",
    "階": "かい",
    "本": "ほん",
    "匹": "ひき",
    "杯": "はい",
    "冊": "さつ",
    "個": "こ",
    "枚": "まい",
    "台": "だい",
    "番": "ばん",
    "度": "ど",
    "倍": "ばい",
    "円": "えん",
    "世": "せい",
    "人前": "にんまえ",
    "世紀": "せいき",
    "号": "ごう",
    "丁目": "ちょうめ",
    "章": "しょう",
    "条": "じょう",
    "位": "い",
    "頭": "とう",
    "羽": "わ",
    "軒": "けん",
    "足": "そく",
    "着": "ちゃく",
    "点": "てん",
    "巻": "かん",
    "代": "だい",
    "次": "じ",
    "行": "ぎょう",
    "話": "わ",
    "曲": "きょく",
    "課": "か",
    "級": "きゅう",
    "組": "くみ",
    "通": "つう",
    "件": "けん",
    "戸": "こ",
    "社": "しゃ",
    "校": "こう",
    "か国": "かこく",
    "か所": "かしょ",
    "県": "けん",
    "部": "ぶ",
    "門": "もん",
    "隻": "せき",
    "機": "き",
    "両": "りょう",
    "箱": "はこ",
    "袋": "ふくろ",
    "里": "り",
    "町": "ちょう",
    "丁": "ちょう",
    "泊": "はく",
    "歩": "ほ",
    "等": "とう",
    "食": "しょく",
    "品": "ひん",
    "期": "き",
    "周": "しゅう",
    "周年": "しゅうねん",
    "年度": "ねんど",
    "票": "ひょう",
    "発": "はつ",
    "敗": "はい",
    "勝": "しょう",
    "戦": "せん",
    "編": "へん",
    "幕": "まく",
    "段": "だん",
    "種類": "しゅるい",
    "皿": "さら",
    "畳": "じょう",
    "坪": "つぼ",
    "尺": "しゃく",
    "棟": "とう",
    "寸": "すん",
    "光年": "こうねん",
    "番線": "ばんせん",
    "号室": "ごうしつ",
    "号車": "ごうしゃ",
    "学期": "がっき",
    "楽章": "がくしょう",
    "割": "わり",
    "パーセント": "ぱーせんと",
    "キロ": "きろ",
    "メートル": "めーとる",
    "キロメートル": "きろめーとる",
    "キログラム": "きろぐらむ",
    "グラム": "ぐらむ",
    "ミリグラム": "みりぐらむ",
    "センチメートル": "せんちめーとる",
    "センチ": "せんち",
    "ミリメートル": "みりめーとる",
    "ミリ": "みり",
    "ミリリットル": "みりりっとる",
    "リットル": "りっとる",
    "ウォン": "うぉん",
    "ルーブル": "るーぶる",
    "セント": "せんと",
    "トン": "とん",
    "ページ": "ぺーじ",
    "ドル": "どる",
    "ユーロ": "ゆーろ",
    "ポンド": "ぽんど",
    "セット": "せっと",
    "チーム": "ちーむ",
    "クラス": "くらす",
    "ポイント": "ぽいんと",
    "": "",
}
# First kana that change after numbers.
_ROWS = ("はばぱ", "ひびぴ", "ふぶぷ", "へべぺ", "ほぼぽ", "かが", "けげ", "そぞ", "わばぱ")
# What may follow a counter, how it is read, and after which counters; after all where none are named.
_SUFFIXES = {
    "目": ("め", ()),
    "半": ("はん", ()),
    "間": ("かん", ("日", "年", "か月", "分", "秒", "世紀")),
    "生": ("せい", ("年", "期", "回")),
    "分": ("ぶん", ("人", "回", "日", "年", "か月", "個", "杯", "枚", "本")),
}
# Counters in は-row that begin with ぱ after さん, せん and まん, where others have ば.
HARD = frozenset({"分", "泊", "歩", "品", "発", "敗", "編"})
# How counters from other languages begin: with katakana.
LOANS = frozenset("キグセチトドパペポミメユリク")
READ_ALONE = {
    **{(counter, n): (own + kana,) for counter, kana in NATIVE.items() for n, own in ((1, "ひと"), (2, "ふた"))},
    ("人", 1): ("ひとり",),
    ("人", 2): ("ふたり",),
    ("人", 4): ("よにん",),
    ("人", 7): ("しちにん", "ななにん"),
    ("人", 9): ("きゅうにん", "くにん"),
    ("歳", 20): ("はたち", "にじゅっさい", "にじっさい"),
    ("時", 4): ("よじ",),
    ("時", 7): ("しちじ", "ななじ"),
    ("時", 9): ("くじ",),
    ("月", 4): ("しがつ",),
    ("月", 7): ("しちがつ", "なながつ"),
    ("月", 9): ("くがつ",),
    ("年", 4): ("よねん",),
    ("年", 7): ("ななねん", "しちねん"),
    ("年", 9): ("きゅうねん", "くねん"),
    ("年度", 4): ("よねんど",),
    ("年度", 7): ("ななねんど", "しちねんど"),
    ("年度", 9): ("きゅうねんど", "くねんど"),
    ("円", 4): ("よえん",),
    ("時間", 4): ("よじかん",),
    ("番", 4): ("よんばん", "よばん"),
    ("羽", 3): ("さんわ", "さんば"),
    ("羽", 6): ("ろくわ", "ろっぱ"),
    ("羽", 10): ("じゅうわ", "じゅっぱ", "じっぱ"),
    ("足", 3): ("さんぞく", "さんそく"),
    ("尺", 3): ("さんじゃく", "さんしゃく"),
    ("階", 3): ("さんがい", "さんかい"),
    ("軒", 3): ("さんげん", "さんけん"),
    ("世", 3): ("さんせい",),
    ("世", 2): ("にせい",),
    ("号", 4): ("よんごう",),
    ("か月", 1): ("いっかげつ", "ひとつき"),
    **{
        ("つ", n): (f"{kana}",)
        for n, kana in enumerate(
            ("ひとつ", "ふたつ", "みっつ", "よっつ", "いつつ", "むっつ", "ななつ", "やっつ", "ここのつ"), start=1
        )
    },
    **{
        ("日", n): (kana,)
        for n, kana in enumerate(
            ("ついたち", "ふつか", "みっか", "よっか", "いつか", "むいか", "なのか", "ようか", "ここのか", "とおか"),
            start=1,
        )
    },
    ("日", 1): ("ついたち", "いちにち"),
    ("日", 14): ("じゅうよっか",),
    ("日", 17): ("じゅうしちにち", "じゅうななにち"),
    ("日", 19): ("じゅうくにち", "じゅうきゅうにち"),
    ("日", 27): ("にじゅうしちにち", "にじゅうななにち"),
    ("日", 29): ("にじゅうくにち", "にじゅうきゅうにち"),
    ("日", 20): ("はつか",),
    ("日", 24): ("にじゅうよっか",),
    ("組", 1): ("ひとくみ", "いちくみ"),
    ("組", 2): ("ふたくみ", "にくみ"),
    ("箱", 1): ("ひとはこ",),
    ("箱", 2): ("ふたはこ",),
    ("人前", 4): ("よにんまえ",),
    ("畳", 4): ("よじょう",),
    ("皿", 1): ("ひとさら",),
    ("皿", 2): ("ふたさら",),
    ("品", 1): ("いっぴん", "ひとしな"),
    ("品", 2): ("にひん", "ふたしな"),
    ("袋", 1): ("ひとふくろ",),
    ("袋", 2): ("ふたふくろ",),
}


def spelling(counter: str) -> str:
    """A counter in its usual spelling.

    >>> spelling("才"), spelling("KM"), spelling("G")
    ('歳', 'キロメートル', 'G')
    """
    plain = unicodedata.normalize("NFKC", counter).strip()
    plain = plain.casefold() if len(plain) > 1 else plain
    base, suffix = suffixed(plain)
    return _SPELLINGS.get(base, base) + suffix


def meaning(counter: str) -> str:
    """What is counted, by the counter in its usual spelling: a way in キロ is one in キロメートル."""
    return _MEANINGS.get(counter, counter)


def is_measure(*counters: str) -> bool:
    """Whether one of some counters is a unit of a dimension that has several, things that are counted apart.

    >>> is_measure("割", "分"), is_measure("羽", "匹")
    (True, False)
    """
    return any(
        dimension(counter)[1] in _DIMENSIONS and dimension(counter)[1] not in ("人", "個") for counter in counters
    )


def dimension(counter: str) -> tuple[Fraction, str]:
    """How much of the base unit of its dimension a counter in its usual spelling is, and the dimension by that unit.

    >>> dimension("キロメートル"), dimension("割"), dimension("冊")
    ((Fraction(1000, 1), 'メートル'), (Fraction(10, 1), 'パーセント'), (Fraction(1, 1), '冊'))
    """
    return _DIMENSION_OF.get(meaning(counter), (Fraction(1), counter))


def suffixed(counter: str) -> tuple[str, str]:
    """A counter without what may follow one, and what follows it; "" where that is nothing.

    >>> suffixed("人目"), suffixed("人"), suffixed("時間")
    (('人', '目'), ('人', ''), ('時間', ''))
    """
    base, suffix = counter[:-1], counter[-1:]
    usual = _SPELLINGS.get(base, base)
    if counter in COUNTERS or suffix not in _SUFFIXES or not usual or not is_spelt(usual):
        return counter, ""
    after = _SUFFIXES[suffix][1]
    return (base, suffix) if not after or usual in after else (counter, "")


def suffix_kana(suffix: str) -> str:
    """How that is read which follows a counter."""
    return _SUFFIXES[suffix][0] if suffix else ""


def is_spelt(counter: str) -> bool:
    """Whether a text is a counter in its usual spelling that can be read, or none at all."""
    return counter in COUNTERS or counter == "つ"


def counter_kana(kana: str) -> tuple[str, ...]:
    """How a counter that is read so by itself may begin after a number: ほん, ぼん and ぽん, にち for か.

    >>> counter_kana("ぽん")
    ('ぽん', 'ほん', 'ぼん')
    """
    row = next((row for row in _ROWS if kana[:1] in row), kana[:1])
    return tuple(dict.fromkeys((kana, *(first + kana[1:] for first in row), *(("にち",) if kana == "か" else ()))))
