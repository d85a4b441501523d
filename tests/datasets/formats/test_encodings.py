"""engine.datasets.formats.encodings: what Japanese users save, and what no encoding explains."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.datasets.formats.encodings import decode, detect
from engine.errors import InputError

TEXT = "文,ラベル\n昨日は①番のラーメンを食べた。,食\nﾊﾝｶｸの日記,暮らし\n"


@pytest.mark.parametrize(("codec", "named"), [
    ("utf-8", "utf-8"), ("utf-8-sig", "utf-8-sig"), ("cp932", "cp932"), ("utf-16", "utf-16"),
])
def test_each_encoding_is_recognised(codec: str, named: str) -> None:
    assert decode(TEXT.encode(codec), "a.csv") == TEXT
    assert detect(TEXT.encode(codec), "a.csv").encoding == named


def test_big_endian_utf16() -> None:
    assert decode(b"\xfe\xff" + TEXT.encode("utf-16-be"), "a.csv") == TEXT


@settings(max_examples=50)
@given(st.text())
def test_any_text_in_utf8_comes_back(text: str) -> None:
    # A BOM in front is the encoding's mark and not part of the text.
    assert decode(text.encode(), "a.txt") == text.removeprefix("\ufeff")


def test_a_file_of_two_encodings_is_refused_and_both_kinds_of_lines_are_named() -> None:
    raw = "文,ラベル\n".encode() + "昨日は雨だった。,天気\n".encode("cp932") + "今日は晴れた。,天気\n".encode()
    with pytest.raises(InputError, match=r"a\.csv mixes encodings: line 1, 3 is UTF-8, line 2 is not"):
        decode(raw, "a.csv")


def test_a_mixture_that_cp932_would_accept_as_gibberish_is_refused_as_well() -> None:
    # All three lines together are valid CP932: 縺ゅ＞ for あい.
    raw = "あいおえ\n".encode() + "空\n".encode("cp932")
    assert raw.decode("cp932") != "あいおえ\n空\n"
    with pytest.raises(InputError, match="mixes encodings: line 1 is UTF-8, line 2 is not"):
        decode(raw, "a.txt")


def test_cp932_with_one_line_that_is_utf8_by_chance_is_no_mixture() -> None:
    # "蜆谷" in CP932 is the bytes e5 84 92 4a, in UTF-8 "儒J".
    assert "蜆谷".encode("cp932").decode("utf-8") == "儒J"
    text = "蜆谷\n川の名である。\nﾃｽ\n"
    assert decode(text.encode("cp932"), "a.txt") == text


def test_bytes_of_no_encoding_are_named_with_their_line() -> None:
    # 81 continues nothing in UTF-8, and in CP932 it needs a second byte that is no space.
    with pytest.raises(InputError, match=r"line 2, byte 4 \(0x81\)"):
        decode(b"abc\n\x81\x20\xff", "a.txt")


@pytest.mark.parametrize("byte", [0x80, 0xA0, 0xFD, 0xFE, 0xFF])
def test_bytes_that_python_reads_as_cp932_although_it_has_no_such_character(byte: int) -> None:
    raw = "雨\nx".encode("cp932") + bytes([byte])
    raw.decode("cp932")
    with pytest.raises(InputError, match=rf"line 2, byte 4 \(0x{byte:02x}\)"):
        decode(raw, "a.txt")


def test_utf16_cut_in_the_middle() -> None:
    with pytest.raises(InputError, match="neither UTF-8, UTF-16 nor CP932"):
        decode("あい".encode("utf-16")[:-1], "a.txt")
