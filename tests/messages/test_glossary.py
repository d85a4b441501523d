"""One word for one thing in the Japanese texts, as docs/wording.md has it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.messages.catalogues import ROOT, catalogue_files, read_catalogue

WORDING = ROOT / "docs" / "wording.md"
# What a Japanese text does not say, as a pattern -> what it says instead; docs/wording.md has both.
INSTEAD = {
    "ミニマルペア": "最小対",
    "ペア": "対",
    "組み込み": "内蔵",
    "でたらめ": "ランダム",
    "共同評定": "複数人での評価",
    "をどのくらい覆って": "どれだけ一致して",
    "因果": "自己回帰",
    "接頭辞": "プレフィックス",
    "接頭トークン": "プレフィックス",
    "サーバ(?!ー)": "サーバー",
    "ヘッダ(?!ー)": "ヘッダー",
    "トークナイザー": "トークナイザ",
    "アダプター": "アダプタ",
    "カテゴリー": "カテゴリ",
    "擬似": "疑似",
    "未知トークン": "未知語トークン",
    "zスコア": "z得点",
    "共有トークン": "共通トークン",
    "自己回帰モデル": "自己回帰言語モデル",
    "マスクモデル": "マスク言語モデル",
    "クラスター": "クラスタ",
    "カンマ": "コンマ",
    "ナット": "nat",
    "idf辞書": "頻度辞書",
    "インスタンス": "サーバー",
    "正確な判定": "厳密な判定",
    "対応づけ": "対応付け",
    "Holm法": "ホルム法",
    "Holm補正": "ホルム法",
    "McNemarの": "マクネマー検定",
    "Williams検定": "ウィリアムズ検定",
    "ウィリアムズの検定": "ウィリアムズ検定",
    "Pearsonの": "ピアソン",
    "Spearmanの": "スピアマン",
    "Kendallの": "ケンドール",
    "学習文": "訓練文",
    "分かる": "わかる",
    "良い": "よい",
}


def texts(path: Path) -> dict[str, str]:
    """The Japanese texts of a catalogue by their English ones."""
    found = {}
    for message in read_catalogue(path):
        if message.id:
            key = message.id if isinstance(message.id, str) else message.id[0]
            found[key] = message.string if isinstance(message.string, str) else "\n".join(message.string)
    return found


@pytest.mark.parametrize("path", catalogue_files(), ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_a_japanese_text_has_the_words_of_the_glossary(path: Path) -> None:
    others = {text: word for text in texts(path).values() for word in INSTEAD if re.search(word, text)}
    assert others == {}


@pytest.mark.parametrize("path", catalogue_files(), ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_a_japanese_sentence_ends_once(path: Path) -> None:
    assert [text for text in texts(path).values() if re.search(r"。。|。\.(?![a-z])|\.。", text)] == []


@pytest.mark.parametrize("path", catalogue_files(), ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_the_comma_of_a_page_is_that_of_the_pages(path: Path) -> None:
    """Only the paragraphs on methods, which go into a paper, have the comma and the full stop of papers."""
    methods = {path for path in catalogue_files() if path.parent == ROOT / "dashboard" / "shared"}
    with_others = [text for text in texts(path).values() if "，" in text]
    assert [text for text in with_others if path not in methods or "。" in text] == []


@pytest.mark.parametrize("path", catalogue_files(), ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_the_marks_of_a_japanese_text_are_those_of_the_rules(path: Path) -> None:
    """A colon is that of messages between names, a question ends with a full stop, a range has one kind of tilde."""
    assert [text for text in texts(path).values() if re.search(r"[：；〜？]", text)] == []


@pytest.mark.parametrize("path", catalogue_files(), ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_no_space_stands_between_japanese_and_latin_letters(path: Path) -> None:
    """Between a name and its value one does, and after a message that is put in; phrases of methods are a paper's."""
    methods = path.parent == ROOT / "dashboard" / "shared"
    spaced = re.compile(r"(?<!error)(?<!deaths)[A-Za-z0-9}`] [ぁ-ん]|[ぁ-ん、。] [A-Za-z`]")
    assert [text for text in texts(path).values() if spaced.search(text) and not (methods and "。" not in text)] == []


def test_the_glossary_has_each_word_that_is_said_instead() -> None:
    wording = WORDING.read_text(encoding="utf-8")
    assert [word for pair in INSTEAD.items() for word in pair if word.removesuffix("(?!ー)") not in wording] == []


@pytest.mark.parametrize("path", catalogue_files(), ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_no_space_stands_before_a_per_cent_sign(path: Path) -> None:
    both = [text for pair in texts(path).items() for text in pair]
    assert [text for text in both if re.search(r"[0-9}⁰-⁹][\s\u00a0\u202f]%", text)] == []
