"""engine.datasets.formats.encodings: what Japanese users save, and what no encoding explains."""

from __future__ import annotations

from typing import Any

import chardet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.datasets.formats import encodings
from engine.datasets.formats.columns import options_of_notices
from engine.datasets.formats.encodings import ENCODINGS, decode, detect, source_in
from engine.datasets.formats.files import read_table
from engine.errors import InputError

TEXT = "文,ラベル\n昨日は①番のラーメンを食べた。,食\nﾊﾝｶｸの日記,暮らし\n"


@pytest.mark.parametrize(
    ("codec", "named"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("cp932", "cp932"),
        ("utf-16", "utf-16"),
    ],
)
def test_each_encoding_is_recognised(codec: str, named: str) -> None:
    assert decode(TEXT.encode(codec), "a.csv") == TEXT
    assert detect(TEXT.encode(codec), "a.csv").encoding == named


def test_big_endian_utf16() -> None:
    assert decode(b"\xfe\xff" + TEXT.encode("utf-16-be"), "a.csv") == TEXT


@settings(max_examples=50)
@given(st.text())
@example("I won \U0001f0c1!")  # a playing card, whose last two bytes are kana in CP932
@example("\U0002c09f")
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


# Other encodings: a guess, which is told

JAPANESE, KOREAN = "昨日は雨だった。", "어제 비가 왔다."
TRADITIONAL, SIMPLIFIED = "他昨天去了學校，今天沒有來。", "他昨天去了学校，今天没有来。"


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),
        (TRADITIONAL, "big5hkscs"),
        (SIMPLIFIED, "gb18030"),
        (KOREAN, "cp949"),
        ("カタカナ", "euc_jp"),
        ("台北市政府公告", "big5hkscs"),
    ],
)
def test_the_guess_is_told_with_its_confidence(text: str, codec: str) -> None:
    detection = detect(text.encode(codec), "a.csv")
    assert detection.encoding == codec and detection.is_certain and detection.confidence < 1
    (notice,) = detection.notices("a.csv")
    assert notice == f"a.csv was read as {ENCODINGS[codec]} (confidence {detection.confidence:.0%})."
    assert decode(text.encode(codec), "a.csv") == text


@pytest.mark.parametrize("text", [JAPANESE, TRADITIONAL, KOREAN, "猫", "café", "Вчера шёл дождь", "ту", "Ünï", ""])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_of_unicode_nothing_need_be_told(text: str, codec: str) -> None:
    assert detect(text.encode(codec), "a.csv").notices("a.csv") == ()


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("我喜歡貓", "big5hkscs"),
        ("昨天下雨了。", "big5hkscs"),
        ("貓", "big5hkscs"),
        ("我喜欢猫", "gb18030"),
    ],
)
def test_a_short_text_of_another_encoding_is_not_taken_for_japanese_in_silence(text: str, codec: str) -> None:
    """CP932 decodes each of them, to half-width kana."""
    raw = text.encode(codec)
    raw.decode("cp932")
    detection = detect(raw, "a.csv")
    assert not detection.is_certain
    assert text in [detection.start, *(start for _, start in detection.alternatives)]
    (notice,) = detection.notices("a.csv")
    assert notice.startswith("The encoding of a.csv is not certain: it was read as ") and text in notice
    with pytest.raises(InputError, match=r"The encoding of a\.txt is not certain"):
        decode(raw, "a.txt")  # where no notice can be given


def test_cp932_that_is_utf8_by_chance_is_told() -> None:
    raw = "箒の神".encode("cp932")
    assert raw.decode() != "箒の神"
    detection = detect(raw, "a.csv")
    assert detection.encoding == "utf-8" and detection.alternatives == (("cp932", "箒の神"),)


@pytest.mark.parametrize("codec", [codec for codec in ENCODINGS if codec not in ("cp1252", "cp1251", "latin-1")])
def test_each_encoding_can_be_chosen_by_hand(codec: str) -> None:
    text = "text,label\n一日,大小\n"
    table = read_table(text.encode(codec), "a.csv", encoding=codec)
    assert table.frame.to_numpy().tolist() == [["一日", "大小"]] and table.encoding == codec
    assert table.notices == (f"Encoding as chosen: --encoding {codec}",)
    assert options_of_notices(table.notices) == ["--encoding", codec]


def test_an_encoding_that_is_not_that_of_the_file() -> None:
    with pytest.raises(InputError, match=r"a\.csv is not UTF-8 throughout: byte 0 does not fit\. Choose another"):
        read_table("猫".encode("cp932"), "a.csv", encoding="utf-8")
    with pytest.raises(InputError, match="is not UTF-16 with byte order mark throughout"):
        read_table("猫".encode("utf-16-le"), "a.csv", encoding="utf-16")
    with pytest.raises(InputError, match="There is no encoding 'klingon' to choose"):
        read_table(b"text", "a.csv", encoding="klingon")


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=40),
    st.sampled_from(["utf-8", "cp932", "euc_jp", "gb18030", "big5hkscs", "utf-16-le"]),
    st.integers(1, 7),
)
def test_the_first_wrong_byte_is_that_of_the_decoder(raw: bytes, encoding: str, block_bytes: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encodings, "BLOCK_BYTES", block_bytes)
        position = encodings.fault(raw, encoding)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "cp932":  # of which bytes that stand for nothing are faults as well
            assert position == error.start
        assert position is not None and position <= error.start
    else:
        undefined = encoding == "cp932" and encodings.UNDEFINED_IN_CP932.search(text)
        assert (position is None) == (not undefined)


@pytest.mark.parametrize(
    "text",
    [
        "good;bad\r\nDas Mädchen singt.;Das Mädchen singen.\r\nDie Äpfel fallen.;Die Äpfel fällt.\r\n",
        "text,label\nL'élève est déjà là, où ça?,a\n",
        "text,label\n¿Dónde está el niño?,a\n",
    ],
)
def test_western_text_is_read_as_chardet_says_and_never_as_japanese(text: str) -> None:
    detection = detect(text.encode("cp1252"), "a.csv")
    assert detection.encoding == "cp1252" and not detection.is_certain
    assert "was read as Windows-1252" in detection.notices("a.csv")[0]


def test_an_alphabet_that_is_not_read_is_named() -> None:
    text = "text,label\nСобака лает громко.,a\nКошка спит на диване.,b\n"
    with pytest.raises(InputError, match=r"It may be Windows-1251 \(Cyrillic\)\."):
        detect(text.encode("cp1251"), "a.csv")


@pytest.mark.parametrize(("codec", "title"), [("utf-16-le", "UTF-16 LE"), ("utf-16-be", "UTF-16 BE")])
def test_utf_16_without_its_mark_is_named(codec: str, title: str) -> None:
    """Such a file was said to be no UTF-16, and which encoding to choose was not."""
    text = (
        "acceptable,unacceptable\r\n猫が庭で眠っている。,猫を庭で眠っている。\r\n彼は本を買った。,彼は本が買った。\r\n"
    )
    with pytest.raises(InputError, match=rf"It may be {title} without byte order mark\.$"):
        detect(text.encode(codec), "a.csv")
    source, _ = source_in(text.encode(codec), codec, "a.csv")
    assert source.text() == text
    with pytest.raises(InputError, match=r"or choose its encoding\.$"):  # bytes of both kinds are none
        detect(text.encode(codec) + b"\0\0\0\xff\xfe\xff", "a.csv")


def test_a_long_run_of_a_letter_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """chardet's time is quadratic in it: 5 seconds for 8 KiB, which say nothing of the encoding."""
    seen: list[bytes] = []
    guess = chardet.detect

    def seeing(sample: bytes) -> Any:
        seen.append(sample)
        return guess(sample)

    monkeypatch.setattr(chardet, "detect", seeing)
    text = "text,label\nLe garçon a mangé une pêche près de l'école.,fr\nÀ bientôt,fr\n"
    run = "a" * 6_000
    assert (
        detect((text + run + "\n").encode("cp1252"), "a.csv").encoding
        == detect(text.encode("cp1252"), "a.csv").encoding
    )
    assert seen and all(b"a" * 101 not in sample for sample in seen) and any(b"a" * 100 in sample for sample in seen)
