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
from engine.language.readings.abbreviations import abbreviates
from engine.language.readings.dictionary_names import (
    are_known_as_one,
    is_listed_name,
    is_title,
    may_be_given_name,
    readings_of_name,
)
from engine.language.readings.hiragana import hiragana_only
from engine.language.readings.likeness import respelling
from engine.language.readings.numbers import CHARACTERS
from engine.language.readings.variants import composed_marks, plain_form, usual_kanji
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
# What an organisation is called by, at the end of its name.
ORGANISATIONS = frozenset(
    [
        "委員会",
        "委",
        "機関",
        "機構",
        "協会",
        "連盟",
        "連合",
        "連合会",
        "組合",
        "財団",
        "公団",
        "公社",
        "学会",
        "会社",
        "研究所",
        "取引所",
        "裁判所",
        "党",
        "省",
        "庁",
        "社",
        "大学",
        "銀行",
        "新聞",
        "通信",
        "電力",
        "鉄道",
        "証券",
        "航空",
        "工業",
        "製作所",
        "電機",
        "商事",
        "生命",
        "海上",
        "ホールディングス",
        "グループ",
    ]
)
# What makes another name of a name, directly before it or after it. 富士山 is 富士, 隅田川 is 隅田: they are not among these.
BEFORE_NAMES = frozenset("東西南北新中上下元奥裏")
KINDS_OF_PLACE = frozenset("都道府県市区町村郡島川山駅港湖湾")
AFTER_NAMES = frozenset("崎原野田井沢橋口塚台丘森林浜岡")
LEAST_FRAME = 2  # characters that two sentences must have in common where they differ in one place
_NO_NAMES = frozenset({"助詞", "助動詞", "代名詞", "補助記号", "空白"})
_WITHIN = frozenset("・=＝-‐.' ")
_KANA = re.compile("[ぁ-ゖーゝゞ゛゜]+|[ァ-ヺーヽヾ゛゜]+")
_HIRAGANA = re.compile("[ぁ-ゖー]+")
_INITIALS = re.compile("[A-Z]{2,5}")
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


@dataclass(frozen=True)
class _Side:
    """What stands at a place of one sentence: text[start:end], and the words that it touches."""

    text: str
    start: int
    end: int
    words: tuple[TaggedWord, ...]

    @property
    def surface(self) -> str:
        return self.text[self.start : self.end]

    @property
    def is_whole(self) -> bool:
        """Whether it is whole words."""
        return bool(self.words) and (self.words[0].start, self.words[-1].end) == (self.start, self.end)

    @property
    def has_grammar(self) -> bool:
        """Whether a particle, an auxiliary or a sign is among the words, but those that names have within."""
        return any(
            word.part_of_speech[0] in _NO_NAMES and self.text[word.start : word.end] not in _WITHIN
            for word in self.words
        )


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
    >>> both = "百合が笑った。", "ゆりが笑った。"
    >>> len(places_of_names(*both, [], [])), len(places_of_names(*both[::-1], [], []))
    (1, 1)
    >>> places_of_names("犬が笑った。", "猫が笑った。", [], [])
    []
    """
    found = []
    for own, theirs in _sides(text, other):
        place = Place(own.start, own.end, theirs.start, theirs.end)
        if _are_one(own, theirs) and _is_noun(own.words) and _is_noun(theirs.words):
            found.append(place)
            continue
        is_known, is_other_known = _has_name(own, spans), _has_name(theirs, others)
        if not (
            _may_be_name(own, spans, is_beside_name=is_other_known)
            and _may_be_name(theirs, others, is_beside_name=is_known)
        ):
            continue
        if not (is_known or is_other_known) and len({_has_digit(own), _has_digit(theirs)}) > 1:
            continue
        if is_known or is_other_known or _are_names(own, theirs):
            found.append(place)
        elif before := _name_before(own, theirs, spans, others):
            found.append(Place(before[0], place.end, before[1], place.other_end))
    return found


def one_place(text: str, other: str) -> Place | None:
    """Where two sentences differ that are one sentence otherwise: between what they begin with and what they end with.

    Widened to whole words of the sentence that has no kana there, and to a name of the IPA dictionary that goes on in
    what both have (任天 and 資生 before 堂). Where one of the two has more than the other (軽井沢, 中軽井沢), the name
    beside it belongs to it. None where they have nothing in common, or differ in more than MOST_CHARACTERS.

    >>> one_place("父は菅野に会った", "父はすがのに会った")
    Place(start=2, end=4, other_start=2, other_end=5)
    >>> one_place("明日は軽井沢へ", "明日は中軽井沢へ")
    Place(start=3, end=6, other_start=3, other_end=7)
    """
    begin = _in_common(text, other)
    after = _in_common(text[begin:][::-1], other[begin:][::-1])
    if begin + after < LEAST_FRAME:
        return None
    start, after = _widened(text, other, begin, after)
    place = Place(start, len(text) - after, start, len(other) - after)
    if max(place.end, place.other_end) - start > MOST_CHARACTERS or place.end == start or place.other_end == start:
        return None
    return place


def _in_common(text: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((place for place, (one, two) in pairs if one != two), min(len(text), len(other)))


def _widened(text: str, other: str, start: int, after: int) -> tuple[int, int]:
    """Where a difference begins, and how many characters are after it, widened to the words and names that it is in."""
    sides = [side for side in (text, other) if not _HIRAGANA.fullmatch(side[start : len(side) - after])]
    starts = {word.start for side in sides for word in tagged_words(side) if word.start <= start < word.end}
    ends = {
        word.end - len(side)
        for side in sides
        for word in tagged_words(side)
        if word.start < len(side) - after <= word.end
        and not _HIRAGANA.fullmatch(side[len(side) - after : word.end])  # 優 of 優に: what follows is a particle
    }
    start, after = min(starts, default=start), -max(ends, default=-after)
    if all(side[start : len(side) - after] in KINDS_OF_PLACE for side in (text, other)):
        start = next((word.start for word in tagged_words(text) if word.end == start and word.is_proper_noun), start)
    for side in (text, other):
        end = len(side) - after
        for (first, last), features in _ipadic(side):
            if (
                features[1:2] == (_PROPER,)
                and last - first > 1
                and ((first < end and last > start) or (start == end and end in (first, last)))
            ):
                start, after = min(start, first), min(after, len(side) - last)
    for side, longer in ((text, other), (other, text)):
        if start == len(side) - after:  # what the other one has more belongs to the name beside it
            return _beside(side, longer, start, after)
    return start, after


def _beside(text: str, longer: str, start: int, after: int) -> tuple[int, int]:
    """The same where the text has nothing there, with the name after it, or before it where the two may be other names."""
    more = longer[start : len(longer) - after]
    words = tagged_words(text)
    following = next((word for word in words if word.start == start and word.part_of_speech[0] == "名詞"), None)
    if following is not None:
        name = text[following.start : following.end]
        if (following.is_proper_noun and more in BEFORE_NAMES) or abbreviates(name, more + name):
            return start, len(text) - following.end
    before = next((word for word in words if word.end == start and word.part_of_speech[0] == "名詞"), None)
    if before is not None:
        name = text[before.start : before.end]
        if (before.is_proper_noun and more in AFTER_NAMES) or abbreviates(name, name + more):
            return before.start, after
    return start, after


def _sides(text: str, other: str) -> list[tuple[_Side, _Side]]:
    """What stands in one another's place: by characters where the sentences differ in one place, else by words."""
    place = one_place(text, other)
    if place is not None:
        sides = _side(text, place.start, place.end), _side(other, place.other_start, place.other_end)
        if any(side.is_whole and not side.has_grammar for side in sides):
            return [sides]
    return [
        (_side(text, own[0].start, own[-1].end), _side(other, theirs[0].start, theirs[-1].end))
        for own, theirs in _differences(text, other)
    ]


def _side(text: str, start: int, end: int) -> _Side:
    return _Side(text, start, end, tuple(word for word in tagged_words(text) if word.start < end and word.end > start))


def _has_digit(side: _Side) -> bool:
    return _DIGIT.search(composed_marks(side.surface)) is not None


def _are_names(own: _Side, theirs: _Side) -> bool:
    """Whether a dictionary, what follows them, their shape or the list of given names says that two are names."""
    return (
        any(_is_proper(side) or _has_title(side) or is_listed_name(side.surface) for side in (own, theirs))
        or _are_given_names(own.surface, theirs.surface)
        or all(_is_organisation(side) or is_title(side.surface) for side in (own, theirs))
    )


def _is_organisation(side: _Side) -> bool:
    """Whether what a text ends with says that it is an organisation, or it is initials."""
    plain = composed_marks(side.surface)
    return _INITIALS.fullmatch(plain) is not None or any(
        plain.endswith(kind) and len(plain) > len(kind) for kind in ORGANISATIONS
    )


def _are_one(own: _Side, theirs: _Side) -> bool:
    """Whether two texts are one name or word, whatever it is: by their variant kanji, by the spelling of foreign sounds in
    katakana, one as the reading of the other, or as what is short for it."""
    one, two = own.surface, theirs.surface
    if plain_form(one) == plain_form(two) or are_known_as_one(one, two):
        return True
    if _KATAKANA.fullmatch(one) and _KATAKANA.fullmatch(two):
        return bool(
            {respelling(hiragana_only(one), as_b=as_b) for as_b in (True, False)}
            & {respelling(hiragana_only(two), as_b=as_b) for as_b in (True, False)}
        ) or abbreviates(one, two)
    is_kana = [_KANA.fullmatch(each) is not None for each in (one, two)]
    if is_kana[0] != is_kana[1]:
        kana, name = (one, two) if is_kana[0] else (two, one)
        may_be_name = may_be_given_name(name) or is_listed_name(name) or plain_form(name) in _given_names()
        return may_be_name and hiragana_only(kana) in readings_of_name(usual_kanji(name))
    return abbreviates(one, two, _with_readings(own), _with_readings(theirs))


def _with_readings(side: _Side) -> tuple[tuple[str, str], ...]:
    return tuple((side.text[word.start : word.end], word.reading) for word in side.words)


def _are_given_names(one: str, two: str) -> bool:
    """Whether two texts are given names by the list or a dictionary, or one is by the list and the other is in kana."""
    are_listed = [plain_form(each) in _given_names() for each in (one, two)]
    are_given = [listed or may_be_given_name(each) for listed, each in zip(are_listed, (one, two), strict=True)]
    return all(are_given) or any(
        listed and _KANA.fullmatch(each) for listed, each in zip(are_listed, (two, one), strict=True)
    )


def _name_before(
    own: _Side, theirs: _Side, spans: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    """Where a name begins in both sentences that goes on with different nouns: 日本電気, 日本電産."""
    if any(
        side.words[0].part_of_speech[:2] != ("名詞", "普通名詞")
        or any(word.part_of_speech[0] not in ("名詞", "接尾辞") for word in side.words)
        or side.end - side.start < 2
        or side.surface in PERSONS
        for side in (own, theirs)
    ):
        return None
    starts = [first for first, last in spans if last == own.start]
    other_starts = [first for first, last in others if last == theirs.start]
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


def _may_be_name(side: _Side, spans: Sequence[tuple[int, int]], *, is_beside_name: bool) -> bool:
    """Whether words may be one name: nouns in a row, or kana alone, and no known name goes beyond them."""
    start, end, surface = side.start, side.end, side.surface
    if end - start > MOST_CHARACTERS or any((first < start < last) or (first < end < last) for first, last in spans):
        return False
    if (
        len(surface) <= MOST_KANA
        and _KANA.fullmatch(surface)
        and (
            (is_beside_name and len(surface) > 1) or any(word.part_of_speech[0] not in _NO_NAMES for word in side.words)
        )
    ):
        return True  # さいとう is さ, い and とう to MeCab, なら an auxiliary
    return not side.has_grammar and (side.words[0].part_of_speech[0] not in ("動詞", "形容詞") or len(surface) == 1)


def _has_name(side: _Side, spans: Sequence[tuple[int, int]]) -> bool:
    return any(first < side.end and last > side.start for first, last in spans)


def _is_proper(side: _Side) -> bool:
    """Whether the IPA dictionary has a proper noun of two characters or more that these words are, or begin with."""
    return any(
        features[1:2] == (_PROPER,) and first == side.start and last <= side.end and last - first > 1
        for (first, last), features in _ipadic(side.text)
    )


@lru_cache(maxsize=CACHED_SENTENCES)
def _ipadic(text: str) -> list[tuple[tuple[int, int], tuple[str, ...]]]:
    return ipadic_words(text)


def _has_title(side: _Side) -> bool:
    """Whether a title follows the words; one that is a part of the next word is none."""
    return any(
        word.start == side.end and side.text[word.start : word.end] in TITLES for word in tagged_words(side.text)
    )


@lru_cache(maxsize=1)
def _given_names() -> frozenset[str]:
    """Given names that are words of the language as well."""
    lines = GIVEN_NAMES.read_text(encoding="utf-8").splitlines()
    return frozenset(plain_form(name) for line in lines if not line.startswith("#") for name in line.split())
