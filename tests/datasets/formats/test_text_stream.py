"""engine.datasets.formats.text_stream: files of any size and encoding, in blocks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.datasets.formats import text_stream
from engine.datasets.formats.text_stream import blocks
from engine.errors import InputError

TEXT = "春はあけぼの。\nやうやう白くなりゆく山ぎは、\n" * 20


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_stream, "WHOLE_BYTES", 50)
    monkeypatch.setattr(text_stream, "BLOCK_BYTES", 33)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "utf-16"])
@pytest.mark.parametrize("ascii_first", [True, False])
def test_blocks_together_are_the_text(tmp_path: Path, encoding: str, ascii_first: bool) -> None:
    text = ("plain ascii\n" * 9 if ascii_first else "") + TEXT
    raw = text.encode(encoding)
    (tmp_path / "a.txt").write_bytes(raw)
    for source in (tmp_path / "a.txt", raw):
        found = list(blocks(source, "a.txt"))
        assert "".join(block.text for block in found) == text
        assert [block.is_last for block in found] == [False] * (len(found) - 1) + [True]
        assert found[-1].n_read == len(raw) and len(found) > 10
        assert all(block.text.endswith("\n") for block in found[:-1])


def test_a_small_file_is_one_block() -> None:
    assert list(blocks("一。\r\n二。".encode("cp932"), "a.txt")) == [("一。\r\n二。", True, 10)]
    assert list(blocks(b"", "a.txt")) == [("", True, 0)]


@pytest.mark.usefixtures("small_blocks")
def test_a_line_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_stream, "LONGEST_LINE", 40)
    found = [block.text for block in blocks(("あ" * 500).encode(), "a.txt")]
    assert "".join(found) == "あ" * 500 and max(map(len, found)) <= 60


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (TEXT.encode() + b"\xff" + TEXT.encode(), "a.txt begins as UTF-8-SIG, but near byte"),
        (TEXT.encode() + b"\xe3\x81", "but near byte"),
        (b"\x81\x20" * 100, "neither UTF-8, UTF-16 nor CP932"),
        (b"\xfd" * 100, "byte 0 \\(0xfd\\) fits none"),
    ],
)
def test_what_cannot_be_decoded_is_said(raw: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        list(blocks(raw, "a.txt"))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder cannot be read"):
        list(blocks(tmp_path, "folder"))


@settings(max_examples=60)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\ufeff"), max_size=200), st.integers(3, 40))
def test_no_character_is_lost(text: str, block_bytes: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_stream, "WHOLE_BYTES", 0)
        patch.setattr(text_stream, "BLOCK_BYTES", block_bytes)
        assert "".join(block.text for block in blocks(text.encode(), "a.txt")) == text
