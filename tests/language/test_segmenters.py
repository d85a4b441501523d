from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.language import mecab, segmenters
from engine.language.segmenters import word_spans
from tests.support import fake_jumanpp

PACKAGED = ("mecab-ipadic", "mecab-unidic-lite", "mecab-jumandic")
ODD = "猫がタワーｻｲﾄｳa1 \t\n\r\u3000\u200b\x00\x1f\xa0\u2028\ud83d👩🏽é\u0301が\u3099。、「」#@"


@pytest.fixture(scope="module", autouse=True)
def juman(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = fake_jumanpp.install(tmp_path_factory.mktemp("bin"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", folder + os.pathsep + os.environ["PATH"])
        yield


def words(text: str, segmenter: str) -> list[str]:
    return [text[start:end] for start, end in word_spans(text, segmenter)]


@pytest.mark.parametrize(
    ("segmenter", "expected"),
    [
        ("mecab-ipadic", ["図書館", "で", "本", "を", "読ん", "だ", "。"]),
        ("mecab-unidic-lite", ["図書", "館", "で", "本", "を", "読ん", "だ", "。"]),
        ("mecab-jumandic", ["図書", "館", "で", "本", "を", "読んだ", "。"]),
        ("jumanpp", ["図書館", "で", "本", "を", "読", "ん", "だ", "。"]),
    ],
)
def test_each_cuts_by_its_own_dictionary(segmenter: str, expected: list[str]) -> None:
    assert words("図書館で本を読んだ。", segmenter) == expected


@pytest.mark.parametrize("segmenter", [*PACKAGED, "jumanpp"])
@settings(max_examples=60)
@given(text=st.text(st.one_of(st.characters(), st.sampled_from(ODD)), max_size=30))
def test_spans_are_ordered_disjoint_and_hold_all_but_white_space(segmenter: str, text: str) -> None:
    spans = word_spans(text, segmenter)
    covered = [index for start, end in spans for index in range(start, end)]
    assert covered == [index for index, character in enumerate(text) if not character.isspace()]


@pytest.mark.parametrize("segmenter", PACKAGED)
@pytest.mark.parametrize("text", ["a" * 200_000, "猫が好き。" * 40_000], ids=["one run", "many sentences"])
def test_very_long_texts_do_not_end_the_process(segmenter: str, text: str) -> None:
    assert sum(end - start for start, end in word_spans(text, segmenter)) == len(text)


def test_a_dictionary_of_ones_own_is_named_by_its_directory() -> None:
    own = f"mecab:{mecab.directory('jumandic')}"
    assert words("図書館で", own) == words("図書館で", "mecab-jumandic")
    assert segmenters.identity(own) != segmenters.identity("mecab-jumandic")
    assert segmenters.display_name(own) == f"MeCab with {mecab.directory('jumandic')}"


@pytest.mark.parametrize("segmenter", ["mecab", "mecab:", "mecab-neologdn", "sudachi", "", "juman"])
def test_an_unknown_segmenter_is_an_error_that_lists_them(segmenter: str) -> None:
    for ask in (lambda name: word_spans("猫", name), segmenters.identity, segmenters.state, segmenters.display_name):
        with pytest.raises(InputError, match=r"no segmenter '.*'\. There are mecab-ipadic, .*jumanpp, and mecab:DIRE"):
            ask(segmenter)


def test_what_is_missing_is_told_beforehand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert [segmenters.missing(name) for name in (*PACKAGED, "jumanpp")] == [None] * 4
    monkeypatch.delenv(mecab.NEOLOGD_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "HAKARI_NEOLOGD_DIR" in str(segmenters.missing("mecab-neologd"))
    assert "ku-nlp/jumanpp" in str(segmenters.missing("jumanpp"))


@pytest.mark.parametrize("segmenter", ["mecab-ipadic", "jumanpp"])
def test_threads_get_what_one_thread_gets(segmenter: str) -> None:
    texts = [f"{index}番目の猫は{'とても' * (index % 5)}小さい。" for index in range(60)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: word_spans(text, segmenter), texts * 2))
    assert found == [word_spans(text, segmenter) for text in texts] * 2
