"""Spellings in kana and Latin letters that stand for one sound: long vowels, ヴ, ヂ and ヅ, and romaji."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

CACHED_READINGS = 20_000
_SAME_SOUND = (("ゔぁ", "ば"), ("ゔぃ", "び"), ("ゔぇ", "べ"), ("ゔぉ", "ぼ"), ("ゔゅ", "びゅ"), ("ゔ", "ぶ"))
_SAME_KANA = str.maketrans("ぢづゐゑをぁぃぅぇぉ", "じずいえおあいうえお")
_VOWELS = {
    vowel: row
    for vowel, row in {
        "あ": "あかがさざただなはばぱまやらわゃ",
        "い": "いきぎしじちにひびぴみり",
        "う": "うくぐすずつぬふぶぷむゆるゅ",
        "え": "えけげせぜてでねへべぺめれ",
        "お": "おこごそぞとどのほぼぽもよろょ",
    }.items()
}
VOWEL_OF = {kana: vowel for vowel, row in _VOWELS.items() for kana in row}
# A vowel that lengthens the one before it: おう and えい are spoken as おお and ええ.
_LENGTHENS = {("お", "う"), ("え", "い")} | {(vowel, vowel) for vowel in _VOWELS}

_LARGE_Y = re.compile("(?<=[きしちにひみりぎじぢびぴ])[やゆよ]")
_LARGE_TSU = re.compile("(?<=[ぁ-ゖー])つ(?=[か-ぢて-どばびぶべぼぱぴぷぺぽ])")
_SMALL = str.maketrans("やゆよ", "ゃゅょ")

_ROWS = {
    "": "あいうえお",
    "k": "かきくけこ",
    "g": "がぎぐげご",
    "s": "さしすせそ",
    "z": "ざじずぜぞ",
    "t": "たちつてと",
    "d": "だぢづでど",
    "n": "なにぬねの",
    "h": "はひふへほ",
    "b": "ばびぶべぼ",
    "p": "ぱぴぷぺぽ",
    "m": "まみむめも",
    "r": "らりるれろ",
}
_SYLLABLES = (
    {consonant + vowel: kana for consonant, row in _ROWS.items() for vowel, kana in zip("aiueo", row, strict=True)}
    | {
        "ya": "や",
        "yu": "ゆ",
        "yo": "よ",
        "wa": "わ",
        "wo": "を",
        "shi": "し",
        "chi": "ち",
        "tsu": "つ",
        "fu": "ふ",
        "ji": "じ",
        "sha": "しゃ",
        "shu": "しゅ",
        "sho": "しょ",
        "cha": "ちゃ",
        "chu": "ちゅ",
        "cho": "ちょ",
        "ja": "じゃ",
        "ju": "じゅ",
        "jo": "じょ",
    }
    | {
        f"{consonant}y{vowel}": row[1] + small
        for consonant, row in _ROWS.items()
        if consonant not in ("", "d")
        for vowel, small in zip("auo", "ゃゅょ", strict=True)
    }
)
# The consonant of each kana, "" for none.
CONSONANTS = {kana: consonant for consonant, row in _ROWS.items() for kana in row} | dict(
    zip("やゆよわ", "yyyw", strict=True)
)
_AMBIGUOUS = re.compile("(?<=[aiueoâîûêôāīūēō])n(?=[aiueoyâîûêôāīūēō])", re.IGNORECASE)
MOST_SPELLINGS = 4
# Longest first. n before a consonant or at the end is ん, m before b, p and m as well (Hepburn: Shimbashi).
_ROMAJI = re.compile(
    "|".join(sorted(_SYLLABLES, key=len, reverse=True))
    + "|n'|n(?![aiueoy])|m(?=[bpm])|(?P<double>[kstcpgzdbfj])(?=(?P=double))|t(?=ch)|[-ー]"
)
_NO_ROMAJI = re.compile("[A-Za-z]|[IVX]+")
_LONG_O = re.compile("oh(?![aiueoy])")  # Satoh, Ohno
_LONG = {"ā": "a-", "ī": "i-", "ū": "u-", "ē": "e-", "ō": "o-", "â": "a-", "î": "i-", "û": "u-", "ê": "e-", "ô": "o-"}


@lru_cache(maxsize=CACHED_READINGS)
def sounds(kana: str) -> str:
    """A reading as it sounds: ヴ as b, ぢ and づ as じ and ず, small vowels as large ones, and long vowels by ー.

    ああ, おう, えい and so on become ー wherever they stand: たろう, たろー and たろお are one sound. Two readings of
    different names can fall together by it: 井上 and a made-up いのーえ do. Not changed: small ゃ ゅ ょ and っ
    (びょういん and びよういん differ; of names in katakana see `in_small_kana`), ティ and チ, は and へ as particles.

    >>> sounds("たろう") == sounds("たろー"), sounds("ゔぃくとりあ") == sounds("びくとりあ"), sounds("おの")
    (True, True, 'おの')
    """
    for spelling, same in _SAME_SOUND:
        kana = kana.replace(spelling, same)
    result: list[str] = []
    vowel = ""  # of the mora before
    for character in kana.translate(_SAME_KANA):
        if character == "ー" or (vowel, character) in _LENGTHENS:
            if result and result[-1] != "ー":
                result.append("ー")
            continue
        result.append(character)
        vowel = VOWEL_OF.get(character, "")
    return "".join(result)


def in_small_kana(kana: str) -> str:
    """A reading with や ゆ よ つ as the small kana that they may stand for in old spelling: エット of エツト.

    や ゆ よ after a kana with i, つ inside before a consonant that doubles. Japanese names in katakana change as well
    (キヨシ to きょし), so that this is one more reading, and takes no reading's place.

    >>> in_small_kana("しやーろつく"), in_small_kana("どいつ")
    ('しゃーろっく', 'どいつ')
    """
    return _LARGE_TSU.sub("っ", _LARGE_Y.sub(lambda match: match[0].translate(_SMALL), kana))


def without_long_vowels(sounding: str) -> str:
    """`sounds` without its long vowels: romaji mostly leaves them out (Saito for さいとう).

    >>> without_long_vowels(sounds("さいとう"))
    'さいと'
    """
    return sounding.replace("ー", "")


def kana_of_romaji(text: str) -> str:
    """The hiragana of a word in romaji (Hepburn or Kunrei), "" for a word that is not romaji as a whole.

    A macron or circumflex is ー. Single letters (A) and Roman numerals (III) are none. A rule of spelling alone: a
    foreign word that happens to be spelt like romaji is read as such (Mike is みけ).

    >>> [kana_of_romaji(word) for word in ("Tanaka", "Kōichi", "Sinbasi", "Shimbashi", "Alice")]
    ['たなか', 'こーいち', 'しんばし', 'しんばし', '']
    """
    spelt = unicodedata.normalize("NFKC", text)
    if _NO_ROMAJI.fullmatch(spelt):
        return ""
    plain = unicodedata.normalize("NFC", spelt.casefold())
    plain = _LONG_O.sub("o-", "".join(_LONG.get(character, character) for character in plain))
    kana: list[str] = []
    position = 0
    for match in _ROMAJI.finditer(plain):
        if match.start() != position:
            return ""
        position = match.end()
        part = match.group()
        if part in _SYLLABLES:
            kana.append(_SYLLABLES[part])
        elif part in ("-", "ー"):
            kana.append("ー")
        else:
            kana.append("ん" if part in ("n", "n'", "m") else "っ")
    return "".join(kana) if position == len(plain) and set(kana) - {"ー"} else ""


def kana_of_plain_romaji(text: str) -> tuple[str, ...]:
    """The readings of a word in romaji whose writer may have left out the apostrophe of an n before a vowel or y.

    The reading as it is spelt first; MOST_SPELLINGS at most.

    >>> kana_of_plain_romaji("Kenichi"), kana_of_plain_romaji("Ken'ichi"), kana_of_plain_romaji("Alice")
    (('けにち', 'けんいち'), ('けんいち',), ())
    """
    spellings = [text]
    for match in reversed(list(_AMBIGUOUS.finditer(text))):
        spellings += [f"{spelt[: match.end()]}'{spelt[match.end() :]}" for spelt in spellings]
    return tuple(dict.fromkeys(filter(None, map(kana_of_romaji, spellings[:MOST_SPELLINGS]))))
