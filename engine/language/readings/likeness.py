"""How alike two readings sound: the distance between their morae, smaller between morae that are taken for each other."""

from __future__ import annotations

import re
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from engine.language.readings.sounds import CONSONANTS, VOWEL_OF, sounds

# What a mora costs that stands for another one, or that the other reading lacks; in morae.
ANOTHER, VOICED, LENGTH, DOUBLED = 1.5, 0.75, 1.0, 0.75
# Of one consonant with another vowel, in names that katakana spells in several ways: レーガン and リーガン.
VOWEL = 1.0
# What it costs to take one spelling of a foreign sound for another, once for a name.
RESPELT = 0.3
CACHED = 50_000

_MORA = re.compile("[ぁ-ゖー][ゃゅょぁぃぅぇぉゎ]?")
_VOICELESS = dict(zip("gzdbp", "kstih", strict=True)) | {"b": "h", "p": "h"}
# Foreign sounds, to the usual kana that Japanese writes for them: ヴ as b or as w, ティ as チ, ギャ as ガ.
_RESPELLINGS = (
    (
        ("てぃ", "ち"),
        ("ひぇ", "へ"),
        ("みぇ", "め"),
        ("にぇ", "ね"),
        ("りぇ", "れ"),
        ("でぃ", "じ"),
        ("とぅ", "つ"),
        ("どぅ", "ず"),
        ("つぃ", "ち"),
        ("つぁ", "さ"),
        ("つぇ", "せ"),
        ("つぉ", "そ"),
    ),
    (
        ("ふぁ", "は"),
        ("ふぃ", "ひ"),
        ("ふぇ", "へ"),
        ("ふぉ", "ほ"),
        ("ゔぁ", "わ"),
        ("ゔぃ", "い"),
        ("ゔぇ", "え"),
        ("ゔぉ", "お"),
    ),
    (
        ("うぃ", "い"),
        ("うぇ", "え"),
        ("うぉ", "お"),
        ("いぇ", "え"),
        ("しぇ", "せ"),
        ("じぇ", "ぜ"),
        ("ちぇ", "て"),
        ("くぁ", "か"),
    ),
    (
        ("ぎゃ", "が"),
        ("きゃ", "か"),
        ("ぎゅ", "ぐ"),
        ("きゅ", "く"),
        ("てゅ", "ちゅ"),
        ("でゅ", "じゅ"),
        ("ゔゅ", "びゅ"),
        ("ふゅ", "ひゅ"),
    ),
)
_AS_B = (("ゔぃえ", "べ"), ("ゔぁ", "ば"), ("ゔぃ", "び"), ("ゔぇ", "べ"), ("ゔぉ", "ぼ"), ("ゔ", "ぶ"))
_NASAL = re.compile("ん(?=[ばびぶべぼぱぴぷぺぽまみむめも])")


@lru_cache(maxsize=CACHED)
def sound_distance(own: str, other: str, *, is_foreign: bool = False) -> tuple[float, int]:
    """How far two readings are from each other, and the length of the longer one, both in morae.

    A mora for another costs ANOTHER, for one that differs in its voice or its glide VOICED (か, が, きゃ); one too many
    ANOTHER, LENGTH where it lengthens a vowel or is ん, DOUBLED where it is っ; all together at most the length.
    is_foreign: names that katakana spells in several ways; then another vowel costs VOWEL, and readings that are one
    when foreign sounds are spelt as usual kana cost RESPELT alone.

    >>> sound_distance("おぎわら", "はぎわら"), sound_distance("ごーがん", "ごーぎゃん", is_foreign=True)
    ((1.5, 4), (0.3, 4))
    >>> sound_distance("れーがん", "りーがん", is_foreign=True), sound_distance("れーがん", "けーがん", is_foreign=True)
    ((1.0, 4), (1.5, 4))
    """
    a, b = (_MORA.findall(sounds(kana) if is_foreign else kana) for kana in (own, other))
    longest = max(len(a), len(b))
    distance = _between(a, b, longest, is_foreign)
    if is_foreign and distance:
        if _without_length(own) == _without_length(other):
            return min(distance, RESPELT), longest
        for respelt in (
            {respelling(own, as_b=as_b), respelling(other, as_b=as_other)}
            for as_b in (True, False)
            for as_other in (True, False)
        ):
            if len(respelt) == 1:
                return min(distance, RESPELT), longest
        near = min(
            _between(
                _MORA.findall(respelling(own, as_b=as_b)), _MORA.findall(respelling(other, as_b=as_b)), longest, True
            )
            for as_b in (True, False)
        )
        distance = min(distance, RESPELT + near)
    return distance, longest


@lru_cache(maxsize=CACHED)
def respelling(kana: str, *, as_b: bool) -> str:
    """A reading with foreign sounds as usual kana, without long vowels and っ. as_b: ヴ as b, else as w.

    >>> respelling("とぅるげーねふ", as_b=True), respelling("ゔぃーん", as_b=False)
    ('つるげねふ', 'いん')
    """
    for spelling, usual in (*(_AS_B if as_b else ()), *(pair for row in _RESPELLINGS for pair in row)):
        kana = kana.replace(spelling, usual)
    return _NASAL.sub("む", sounds(kana).replace("ー", "").replace("っ", ""))


def _without_length(kana: str) -> str:
    return sounds(kana).replace("ー", "").replace("っ", "")


def _between(own: list[str], other: list[str], longest: int, is_foreign: bool) -> float:
    """The least cost of making one row of morae the other."""
    edits = Levenshtein.distance(own, other)
    if edits * VOICED >= longest:
        return float(longest)
    row = [0.0]
    for mora in other:
        row.append(row[-1] + _extra(mora))
    for mora in own:
        above, row = row, [row[0] + _extra(mora)]
        extra = _extra(mora)
        for place, against in enumerate(other):
            row.append(
                min(
                    above[place] + _unlike(mora, against, is_foreign),
                    above[place + 1] + extra,
                    row[place] + _extra(against),
                )
            )
    return min(row[-1], float(longest))


def _extra(mora: str) -> float:
    return {"ー": LENGTH, "ん": LENGTH, "っ": DOUBLED}.get(mora, ANOTHER)


@lru_cache(maxsize=CACHED)
def _unlike(mora: str, other: str, is_foreign: bool) -> float:
    if mora == other:
        return 0.0
    same_vowel = VOWEL_OF.get(mora[-1], mora) == VOWEL_OF.get(other[-1], other)
    letters = CONSONANTS.get(mora[0], ""), CONSONANTS.get(other[0], "")
    consonants = {_VOICELESS.get(letter, letter) for letter in letters}
    if len(consonants) == 1 and mora[0] in CONSONANTS and other[0] in CONSONANTS:
        return (
            VOICED if same_vowel else VOWEL if is_foreign and CONSONANTS[mora[0]] == CONSONANTS[other[0]] else ANOTHER
        )
    return ANOTHER
