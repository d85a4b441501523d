"""Common nouns as spans of the text, whatever stands in it."""

from __future__ import annotations

import itertools
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.language.nouns import ENGINE_VERSION, common_nouns

ODD = "猫がタワーｻｲﾄｳa1 \t\n\r\u3000\u200b\x00\x1f\xa0\ud83d👩🏽é\u0301が\u3099。、「」"
# Shibayama et al. 2020, section 3.3: the twenty most frequent nouns of each domain.
PUBLISHED = re.split(
    " ",
    "本 人 著者 内容 自分 作品 本書 感じ 文章 主人公 小説 部分 最後 言葉 読者 作者 人間 物語 "
    "世界 映画 シーン 映像 原作 ストーリー ファン アニメ ドラマ 子供 曲 アルバム 音楽 音 バンド "
    "歌詞 声 ギター 歌 ＣＤ 楽曲 サウンド ライブ シングル 前作",
)


def nouns(text: str) -> list[str]:
    return [text[start:end] for start, end in common_nouns(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("これは東京の本だ。", ["本"]),  # no pronoun, no proper noun
        ("日本で本を三冊読んだ。", ["本"]),  # the word, not the character
        ("今こそ演奏することが大事だ。", []),  # no adverbial, verbal or dependent noun
        ("他の作品と比べる。", ["他", "作品"]),
        ("１２３ 456は", []),
        ("The cat sat.", []),
        ("ＣＤを聴く。", ["ＣＤ"]),
        ("  本の\n\n内容 ", ["本", "内容"]),
        ("", []),
        (" \n\u3000", []),
    ],
)
def test_nouns(text: str, expected: list[str]) -> None:
    assert nouns(text) == expected


@pytest.mark.parametrize("noun", PUBLISHED)
def test_the_papers_nouns_are_common_nouns(noun: str) -> None:
    assert noun in nouns(f"この{noun}はとても良い。")


@settings(max_examples=200)
@given(st.text(st.sampled_from(ODD), max_size=40))
def test_spans_are_ordered_and_hold_no_white_space_at_their_ends(text: str) -> None:
    spans = common_nouns(text)
    assert all(start < end for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    assert all(text[start:end].strip() == text[start:end] for start, end in spans)


def test_a_long_run_is_read_in_pieces() -> None:
    text = "雨" * 9_000 + "。本を読む。"
    assert nouns(text)[-1] == "本"


def test_threads_do_not_disturb_each_other() -> None:
    texts = [f"第{i}の本と物語と音楽。" for i in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(nouns, texts)) == [nouns(text) for text in texts]


def test_the_dictionary_is_named() -> None:
    assert "ipadic" in ENGINE_VERSION
