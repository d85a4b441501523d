"""The pieces of vocabularies without a pipeline, with their ids as each class was published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.models.tokenization.files.vocabularies import numbered_pieces


@pytest.mark.parametrize(
    ("class_name", "lines", "pieces"),
    [
        ("BertTokenizer", "[PAD]\n東京\n##都\n", {"[PAD]": 0, "東京": 1, "##都": 2}),
        ("BertTokenizer", "[PAD]\r\n\r\n東京", {"[PAD]": 0, "": 1, "東京": 2}),  # an empty line has a number as well
        # A fairseq dictionary: pieces with their counts, behind four tokens of its own.
        ("PhobertTokenizer", "và 9\ncủa 7\n", {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "và": 4, "của": 5}),
        # Several spellings of a token in a line: no list of pieces.
        ("GPTNeoXJapaneseTokenizer", "東京,とうきょう\nタワー\n", {}),
    ],
)
def test_a_line_is_a_piece_as_its_class_numbers_it(
    tmp_path: Path, class_name: str, lines: str, pieces: dict[str, int]
) -> None:
    (tmp_path / "vocab.txt").write_bytes(lines.encode())
    assert numbered_pieces(tmp_path / "vocab.txt", class_name) == pieces


@pytest.mark.parametrize(
    ("content", "pieces"),
    [
        ({"a": 0, "b": 7}, {"a": 0, "b": 7}),
        ({"en": {"a": 0}}, {}),  # a vocabulary for each language
        (["a", "b"], {}),
    ],
)
def test_json_gives_each_piece_its_id(tmp_path: Path, content: object, pieces: dict[str, int]) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps(content), encoding="utf-8")
    assert numbered_pieces(tmp_path / "vocab.json", "Wav2Vec2CTCTokenizer") == pieces


def test_without_a_vocabulary_there_are_no_pieces(tmp_path: Path) -> None:
    assert numbered_pieces(tmp_path / "vocab.txt", "BertTokenizer") == {}
