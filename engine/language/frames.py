"""Names by what stands in their place in the other sentence: words in the same frame, of which one side says it is a name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path

from engine.language.nouns import ipadic_words
from engine.language.parts_of_speech import CACHED_SENTENCES, tagged_words
from engine.language.readings.hiragana import hiragana_only
from engine.language.readings.likeness import respelling
from engine.language.readings.numbers import CHARACTERS
from engine.language.readings.variants import composed_marks, plain_form
from engine.language.tagged_word import TaggedWord

GIVEN_NAMES = Path(__file__).parent / "readings" / "given_names.txt"
MOST_WORDS, MOST_CHARACTERS, MOST_KANA = 7, 20, 6
MOST_OTHERS = 3  # words of both sentences that may differ beside the names: what differs more is no frame
# Beside these stands a name: titles of persons, and what kind of place or organisation it is.
PERSONS = frozenset(
    [
        "さん",
        "君",
        "くん",
        "ちゃん",
        "様",
        "さま",
        "氏",
        "殿",
        "先生",
        "教授",
        "博士",
        "社長",
        "部長",
        "課長",
        "係長",
        "会長",
        "選手",
        "監督",
        "首相",
        "大統領",
        "議員",
        "知事",
        "市長",
        "夫人",
        "嬢",
        "先輩",
        "後輩",
        "容疑者",
        "被告",
        "師匠",
        "親方",
        "和尚",
        "婆さん",
        "爺さん",
        "兄さん",
        "姉さん",
    ]
)
TITLES = PERSONS | frozenset(
    [
        "駅",
        "市",
        "県",
        "町",
        "村",
        "区",
        "郡",
        "島",
        "川",
        "山",
        "湖",
        "省",
        "庁",
        "社",
        "党",
        "大学",
        "高校",
        "銀行",
        "新聞",
        "電力",
        "鉄道",
        "空港",
        "証券",
        "航空",
        "院",
        "寺",
        "神社",
        "城",
        "線",
        "局",
    ]
)
_NO_NAMES = frozenset({"助詞", "助動詞", "代名詞", "補助記号", "空白"})
_WITHIN = frozenset("・=＝-‐.' ")
_KANA = re.compile("[ぁ-ゖーゝゞ゛゜]+|[ァ-ヺーヽヾ゛゜]+")
_KATAKANA = re.compile("[ァ-ヺーヽヾ゛゜・]+")
_DIGIT = re.compile(f"[0-9{CHARACTERS}]")
_PROPER = "固有名詞"


@dataclass(frozen=True)
class Place:
    """Two names in one frame: where each begins and ends in its sentence."""

    start: int
    end: int
    other_start: int
    other_end: int


def places_of_names(
    text: str, other: str, spans: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]
) -> list[Place]:
    """What stands in one another's place in two sentences that are alike around it, where it is a name.

    spans, others: the names of the two sentences that are known. It is a name where one of the two is known, where the
    IPA dictionary has one as a proper noun, where a title stands beside it, or where both are given names; never where
    the one is a number and the other is not, and never without a noun.

    >>> text, other = "渚が笑った。", "樹が笑った。"
    >>> [(text[place.start : place.end], other[place.other_start : place.other_end])
    ...  for place in places_of_names(text, other, [], [])]
    [('渚', '樹')]
    >>> places_of_names("犬が笑った。", "猫が笑った。", [], [])
    []
    """
    found = []
    for own, theirs in _differences(text, other):
        place = Place(own[0].start, own[-1].end, theirs[0].start, theirs[-1].end)
        one, two = text[place.start : place.end], other[place.other_start : place.other_end]
        if _are_one_spelling(one, two) and _is_noun(own) and _is_noun(theirs):
            found.append(place)
            continue
        is_known, is_other_known = _has_name(own, spans), _has_name(theirs, others)
        if not (
            _may_be_name(text, own, spans, is_beside_name=is_other_known)
            and _may_be_name(other, theirs, others, is_beside_name=is_known)
        ):
            continue
        if (
            not (is_known or is_other_known)
            and len({bool(_DIGIT.search(composed_marks(each))) for each in (one, two)}) > 1
        ):
            continue
        if (
            is_known
            or is_other_known
            or _is_proper(text, own)
            or _is_proper(other, theirs)
            or _has_title(text, own)
            or _are_given_names(one, two)
        ):
            found.append(place)
        elif before := _name_before(text, other, place, spans, others, own, theirs):
            found.append(Place(before[0], place.end, before[1], place.other_end))
    return found


def _are_one_spelling(one: str, two: str) -> bool:
    """Whether two texts are one name by their variant kanji, or by the spelling of foreign sounds in katakana."""
    if _KATAKANA.fullmatch(one) and _KATAKANA.fullmatch(two):
        return bool(
            {respelling(hiragana_only(one), as_b=as_b) for as_b in (True, False)}
            & {respelling(hiragana_only(two), as_b=as_b) for as_b in (True, False)}
        )
    return plain_form(one) == plain_form(two)


def _are_given_names(one: str, two: str) -> bool:
    """Whether one of two texts is a given name by the list, and the other is one as well, or in kana."""
    are_given = [plain_form(each) in _given_names() for each in (one, two)]
    return any(are_given) and all(
        given or _KANA.fullmatch(each) for given, each in zip(are_given, (one, two), strict=True)
    )


def _name_before(
    text: str,
    other: str,
    place: Place,
    spans: Sequence[tuple[int, int]],
    others: Sequence[tuple[int, int]],
    own: Sequence[TaggedWord],
    theirs: Sequence[TaggedWord],
) -> tuple[int, int] | None:
    """Where a name begins in both sentences that goes on with different nouns: 日本電気, 日本電産."""
    if any(
        words[0].part_of_speech[:2] != ("名詞", "普通名詞")
        or any(word.part_of_speech[0] not in ("名詞", "接尾辞") for word in words)
        or words[-1].end - words[0].start < 2
        or surface[words[0].start : words[-1].end] in PERSONS
        for surface, words in ((text, own), (other, theirs))
    ):
        return None
    starts = [first for first, last in spans if last == place.start]
    other_starts = [first for first, last in others if last == place.other_start]
    return (starts[0], other_starts[0]) if starts and other_starts else None


def _is_noun(words: Sequence[TaggedWord]) -> bool:
    return any(word.part_of_speech[0] not in (*_NO_NAMES, "動詞", "形容詞", "副詞", "接続詞") for word in words)


@lru_cache(maxsize=CACHED_SENTENCES)
def _differences(text: str, other: str) -> list[tuple[tuple[TaggedWord, ...], tuple[TaggedWord, ...]]]:
    """The words of two sentences that stand in one another's place, those between equal words."""
    if text > other:  # so that either order finds the same
        return [(own, theirs) for theirs, own in _differences(other, text)]
    words, others = tagged_words(text), tagged_words(other)
    surfaces = [text[word.start : word.end] for word in words]
    other_surfaces = [other[word.start : word.end] for word in others]
    if not set(surfaces) & set(other_surfaces) and max(len(words), len(others)) > MOST_WORDS:
        return []
    codes = [code for code in SequenceMatcher(None, surfaces, other_surfaces, autojunk=False).get_opcodes()]
    differing = [(code, code[2] - code[1] + code[4] - code[3]) for code in codes if code[0] != "equal"]
    n_differing = sum(n for _, n in differing)
    return [
        (words[first:last], others[other_first:other_last])
        for (tag, first, last, other_first, other_last), n in differing
        if tag == "replace"
        and n_differing - n <= MOST_OTHERS
        and last - first <= MOST_WORDS
        and other_last - other_first <= MOST_WORDS
    ]


def _may_be_name(
    text: str, words: Sequence[TaggedWord], spans: Sequence[tuple[int, int]], *, is_beside_name: bool
) -> bool:
    """Whether words may be one name: nouns in a row, or kana alone, and no known name goes beyond them."""
    start, end = words[0].start, words[-1].end
    if end - start > MOST_CHARACTERS or any((first < start < last) or (first < end < last) for first, last in spans):
        return False
    surface = text[start:end]
    if (
        len(surface) <= MOST_KANA
        and _KANA.fullmatch(surface)
        and ((is_beside_name and len(surface) > 1) or any(word.part_of_speech[0] not in _NO_NAMES for word in words))
    ):
        return True  # さいとう is さ, い and とう to MeCab, なら an auxiliary
    return all(
        word.part_of_speech[0] not in _NO_NAMES or text[word.start : word.end] in _WITHIN for word in words
    ) and (words[0].part_of_speech[0] not in ("動詞", "形容詞") or len(surface) == 1)


def _has_name(words: Sequence[TaggedWord], spans: Sequence[tuple[int, int]]) -> bool:
    return any(first < words[-1].end and last > words[0].start for first, last in spans)


def _is_proper(text: str, words: Sequence[TaggedWord]) -> bool:
    """Whether the IPA dictionary has a proper noun of two characters or more that these words are, or begin with."""
    start, end = words[0].start, words[-1].end
    return any(
        features[1:2] == (_PROPER,) and first == start and last <= end and last - first > 1
        for (first, last), features in _ipadic(text)
    )


@lru_cache(maxsize=CACHED_SENTENCES)
def _ipadic(text: str) -> list[tuple[tuple[int, int], tuple[str, ...]]]:
    return ipadic_words(text)


def _has_title(text: str, words: Sequence[TaggedWord]) -> bool:
    """Whether a title follows the words; one that is a part of the next word is none."""
    return any(word.start == words[-1].end and text[word.start : word.end] in TITLES for word in tagged_words(text))


@lru_cache(maxsize=1)
def _given_names() -> frozenset[str]:
    """Given names that are words of the language as well."""
    lines = GIVEN_NAMES.read_text(encoding="utf-8").splitlines()
    return frozenset(plain_form(name) for line in lines if not line.startswith("#") for name in line.split())
