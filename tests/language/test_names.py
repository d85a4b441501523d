"""Names of a sentence by words: proper nouns, unknown words, numbers with counters, and counterparts in kana."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.language.names import names_in, with_counterparts


def named(text: str, other: str = "") -> list[tuple[str, str]]:
    names = with_counterparts(text, names_in(other)) if other else names_in(text)
    return [(text[name.start:name.end], name.kind) for name in names]


@pytest.mark.parametrize(("text", "names"), [
    ("斉藤さんは東京へ行った", [("斉藤", "proper noun"), ("東京", "proper noun")]),
    ("髙橋と𠮷野", [("髙橋", "proper noun"), ("𠮷野", "proper noun")]),
    ("AliceはTシャツを着た", [("Alice", "unknown word"), ("T", "unknown word")]),
    ("三人が3本の1,200円を", [("三人", "number"), ("3本", "number"), ("1,200円", "number")]),
    ("第三次世界大戦", [("第三次", "number")]), ("二〇二〇年４月", [("二〇二〇年", "number"), ("４月", "number")]),
    ("一人で一番に一応", [("一人", "number")]),
    ("これはただの話だ😀", []), ("", []),
])
def test_names(text: str, names: list[tuple[str, str]]) -> None:
    assert named(text) == names


def test_a_name_in_kana_is_found_by_its_counterpart() -> None:
    assert named("ひとりで来た") == []
    assert named("ひとりで来た", "一人で来た") == [("ひとり", "counterpart")]
    assert named("ひとりで来た", "三人で来た") == []
    # 一人 stands in both: nothing is missing
    assert named("一人とひとり", "一人だ") == [("一人", "number")]


@settings(max_examples=80)
@given(st.text(st.sampled_from("斉藤はひとり一人三3本Alice東京、 "), max_size=14),
       st.text(st.sampled_from("斉藤一人三東京"), max_size=6))
def test_names_follow_each_other_and_do_not_overlap(text: str, other: str) -> None:
    end = 0
    for name in with_counterparts(text, names_in(other)):
        assert end <= name.start < name.end <= len(text)
        end = name.end
