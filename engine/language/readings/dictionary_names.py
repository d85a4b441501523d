"""What the dictionaries know of a name that is one word in them: that it is one, its readings, and its other spellings."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from engine.language.mecab import whole_words
from engine.language.readings.hiragana import hiragana_only
from engine.language.readings.variants import plain_form
from engine.language.widths import full_width

MOST_CHARACTERS = 12  # of a text that is looked up
ANALYSES = 8
CACHED_NAMES = 50_000

_JAPANESE = re.compile("[ぁ-ゖァ-ヺー々\u3400-\u9fff]+")
_KATAKANA = re.compile("[ァ-ヺー・]{3,}")
_LATIN = re.compile("[A-Za-z]{2,}")
_POSSESSIVE = re.compile("['’]s$")
_NAMES = frozenset({"人名", "地名", "組織名"})
_ACQUIRED, _CATEGORY = "自動獲得:Wikipedia", "カテゴリ:"
_SAME_AS = re.compile("(?:Wikipediaリダイレクト|略称):([^ :,]+)")
_SAME_AS_OF_NAMES = re.compile("(?:Wikipediaリダイレクト|略称|代表表記):([^ :,/]+)")
_PROPER, _FOREIGN = "固有名詞", frozenset({"固", "外"})
# Features of the dictionaries: where UniDic has the kana, the lemma and the origin of a word, the IPA dictionary its kana.
_UNIDIC_KANA, _LEMMA, _ORIGIN, _IPADIC_KANA, _JUMAN_NOTES = 17, 7, 12, 7, 6


@lru_cache(maxsize=CACHED_NAMES)
def is_listed_name(text: str) -> bool:
    """Whether the IPA dictionary or JUMAN's has a text as the name of a person, place or organisation.

    >>> [is_listed_name(text) for text in ("資生堂", "ユニクロ", "ドトール", "自転車")]
    [True, True, False, False]
    """
    return _is_looked_up(text) and (
        any(features[1] == _PROPER for features in _analyses(text, "ipadic")[:1])
        or any(features[1] in _NAMES for features in _analyses(text, "jumandic")[:1])
    )


@lru_cache(maxsize=CACHED_NAMES)
def is_title(text: str) -> bool:
    """Whether a text in katakana or Latin letters is the title of an article to JUMAN, which says of none what kind of
    thing it is: a name more often than not.

    >>> [is_title(text) for text in ("ドトール", "バイク", "食堂")]
    [True, False, False]
    """
    return _is_foreign(text) and any(
        _ACQUIRED in features[_JUMAN_NOTES] and _CATEGORY not in features[_JUMAN_NOTES]
        for features in _analyses(text, "jumandic")[:1]
    )


@lru_cache(maxsize=CACHED_NAMES)
def may_be_given_name(text: str) -> bool:
    """Whether UniDic or the IPA dictionary has a text among given names, whatever else it is.

    >>> may_be_given_name("渚"), may_be_given_name("犬")
    (True, False)
    """
    return _is_looked_up(text) and any(
        features[1:4] == (_PROPER, "人名", "名")
        for dictionary in ("unidic-lite", "ipadic")
        for features in _analyses(text, dictionary)
    )


@lru_cache(maxsize=CACHED_NAMES)
def readings_of_name(text: str) -> tuple[str, ...]:
    """How the dictionaries read a text that is one word, as a name first, the most usual first.

    >>> readings_of_name("菅野"), readings_of_name("楓")[:2]
    (('かんの', 'すがの', 'すげの'), ('かえで', 'ふう'))
    """
    if not _is_looked_up(text):
        return ()
    read = [
        (_PROPER not in features, hiragana_only(features[column]))
        for dictionary, column in (("unidic-lite", _UNIDIC_KANA), ("ipadic", _IPADIC_KANA))
        for features in _analyses(text, dictionary)
        if len(features) > column
    ]
    return tuple(dict.fromkeys(kana for _, kana in sorted(read, key=lambda entry: entry[0]) if kana))


@lru_cache(maxsize=CACHED_NAMES)
def are_known_as_one(own: str, other: str) -> bool:
    """Whether a dictionary has two names as spellings of one.

    The lemma of a foreign word in UniDic (ニーチェ-Nietzsche), and the article that a title is sent on to in JUMAN's
    list from Wikipedia (キーウ to キエフ). Two titles that are sent on to the same article are not one: it may be
    of the work that both persons are in.

    >>> are_known_as_one("ベートーヴェン", "Beethoven"), are_known_as_one("スマホ", "スマートフォン")
    (True, True)
    >>> are_known_as_one("ベートーヴェン", "Bach")
    False
    """
    if all(map(_LATIN.fullmatch, map(_folded, (own, other)))):
        return False  # both are as they are written: Müller, Muller
    sides = [(_folded(name), _lemmas(name), _titles(name)) for name in (own, other)]
    (name, lemmas, titles), (other_name, other_lemmas, other_titles) = sides
    return bool(({name} | lemmas) & ({other_name} | other_lemmas)) or name in other_titles or other_name in titles


def _is_looked_up(text: str) -> bool:
    return len(text) <= MOST_CHARACTERS and (bool(_JAPANESE.fullmatch(text)) or _is_foreign(text))


def _is_foreign(text: str) -> bool:
    return bool(_KATAKANA.fullmatch(text) or _LATIN.fullmatch(text))


@lru_cache(maxsize=CACHED_NAMES)
def _analyses(text: str, dictionary: str) -> list[tuple[str, ...]]:
    return whole_words(full_width(text) if dictionary == "jumandic" else text, dictionary, ANALYSES)


@lru_cache(maxsize=CACHED_NAMES)
def _lemmas(text: str) -> frozenset[str]:
    """The spellings of a foreign word by UniDic: its lemma in katakana and in Latin letters."""
    if not _KATAKANA.fullmatch(text) or not _is_looked_up(text):
        return frozenset()
    lemmas = [
        features[_LEMMA].partition("-")
        for features in _analyses(text, "unidic-lite")
        if len(features) > _UNIDIC_KANA and features[_ORIGIN] in _FOREIGN and "-" in features[_LEMMA]
    ]
    return frozenset(_folded(spelling) for kana, _, latin in lemmas for spelling in (kana, latin))


@lru_cache(maxsize=CACHED_NAMES)
def _titles(text: str) -> frozenset[str]:
    """What a text is sent on to in JUMAN's list from Wikipedia, or short for."""
    if not _is_looked_up(text):
        return frozenset()
    return frozenset(
        _folded(title)
        for features in _analyses(text, "jumandic")
        for title in (_SAME_AS_OF_NAMES if features[1] in _NAMES else _SAME_AS).findall(features[_JUMAN_NOTES])
    ) - {_folded(text)}


def _folded(text: str) -> str:
    """A name without marks on its Latin letters, without ・ and a final 's (McDonald's)."""
    plain = unicodedata.normalize("NFD", _POSSESSIVE.sub("", plain_form(text)))
    return unicodedata.normalize("NFC", "".join(sign for sign in plain if not "\u0300" <= sign <= "\u036f")).replace(
        "・", ""
    )
