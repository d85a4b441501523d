"""Decoding of the bytes of a file, in the encodings that are in use for Japanese and its neighbours.

UTF-8 and a byte order mark speak for themselves. Of anything else the encoding is a guess: chardet's, and how certain
it is. A text in which the guess is not certain is read with a notice that says what else it could be.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.datasets.formats import alphabets
from engine.datasets.formats.mixtures import CERTAINLY_UTF8, refuse_mixture
from engine.datasets.formats.text_source import BLOCK_BYTES, TextSource, opened
from engine.errors import InputError
from engine.messages.message import Message, list_of, together

BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# What can be chosen by hand, and its name for users. Of those after UTF-16 the first ones are also guessed.
DETECT = "detect"
CHOSEN = Message("Encoding as chosen: ")
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": Message("UTF-16 with byte order mark"),
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
    "cp932": "CP932 (Shift_JIS)",
    "euc_jp": "EUC-JP",
    "iso2022_jp": Message("ISO-2022-JP (JIS)"),
    "big5hkscs": "Big5",
    "gb18030": "GB18030 (GBK)",
    "cp949": "CP949 (EUC-KR)",
    "euc_jis_2004": "EUC-JIS-2004",
    "shift_jis_2004": "Shift_JIS-2004",
    "cp1252": Message("Windows-1252 (Western European)"),
    "cp1251": "Windows-1251 (Cyrillic)",
    "latin-1": "ISO-8859-1",
}
# Python's characters for the bytes 80, a0, fd, fe and ff, which are undefined in CP932.
UNDEFINED_IN_CP932 = re.compile("[\x80\uf8f0-\uf8f3]")
MAY_BE = Message(" It may be {title}.")
SAMPLE_BYTES, SHORT_SAMPLE_BYTES = 2**13, 2**9  # chardet takes a millisecond for a kilobyte
# Of letters of ASCII, in whose number chardet's time is quadratic: 5 seconds for 8 KiB of one letter
LONGEST_WORD = 100
_LONG_RUN = re.compile(rb"[A-Za-z]{%d,}" % (LONGEST_WORD + 1))
SAMPLE_CHARACTERS = 20  # of a text that is shown as another encoding would read it
CERTAIN = 0.9

# Full-width kana. Their first byte in CP932, 82 or 83, is in no character of Big5, EUC or GB2312.
_KANA = re.compile("[\u3041-\u3094\u30a1-\u30fa]")
_HALF_WIDTH_KANA = re.compile("[\uff61-\uff9f]")
_PRIVATE_USE = re.compile("[\ue000-\uf8ff]")
_GUESSED = ("cp932", "euc_jp", "big5hkscs", "gb18030", "cp949")
_BY_CHARDET = {
    "shift_jis": "cp932",
    "cp932": "cp932",
    "shift_jis_2004": "cp932",
    "euc-jp": "euc_jp",
    "euc-jis-2004": "euc_jp",
    "big5": "big5hkscs",
    "big5hkscs": "big5hkscs",
    "cp950": "big5hkscs",
    "gb18030": "gb18030",
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "cp949": "cp949",
    "euc-kr": "cp949",
}
_ISO_2022_JP = re.compile(rb"\x1b(\$[@B]|\([JI])")


@dataclass(frozen=True)
class Detection:
    """The encoding of a file, a name of ENCODINGS or "utf-8-sig".

    confidence: 0 to 1; 1 where the bytes speak for themselves. alternatives: other encodings that the bytes may be in,
    each with the start of the text as it would be then; () where the encoding is certain. is_chosen: by a user.
    """

    encoding: str
    confidence: float = 1.0
    alternatives: tuple[tuple[str, str], ...] = ()
    start: str = ""
    is_chosen: bool = False

    @property
    def is_certain(self) -> bool:
        """Whether nothing needs to be asked."""
        return self.confidence >= CERTAIN and not self.alternatives

    def notices(self, name: str) -> tuple[str, ...]:
        """What a user should know of the encoding in which the file `name` was read; nothing of UTF-8 and UTF-16.

        Of one that was chosen: the option of a command.
        """
        if self.is_chosen:
            return (Message("{CHOSEN}--encoding {encoding}", CHOSEN=CHOSEN, encoding=self.encoding),)
        if self.confidence == 1.0:
            return ()
        if self.is_certain:
            title = ENCODINGS.get(self.encoding, self.encoding)
            return (
                Message(
                    "{name} was read as {title} (confidence {confidence:.0%}).",
                    name=name,
                    title=title,
                    confidence=self.confidence,
                ),
            )
        return (
            Message(
                "{name} Look at the rows, and choose another encoding where they are wrong.", name=self.doubt(name)
            ),
        )

    def doubt(self, name: str) -> str:
        """What is not certain of the encoding in which the file `name` was read, in a sentence."""
        title, confidence = ENCODINGS.get(self.encoding, self.encoding), f"{self.confidence:.0%}"
        others = [
            Message("{title} ('{start}')", title=ENCODINGS[encoding], start=start)
            for encoding, start in self.alternatives
        ]
        if not others:
            return Message(
                "The encoding of {name} is not certain: it was read as {title} ('{start}', confidence {confidence}).",
                name=name,
                title=title,
                start=self.start,
                confidence=confidence,
            )
        return Message(
            "The encoding of {name} is not certain: it was read as {title} ('{start}', confidence "
            "{confidence}), and may be {others}.",
            name=name,
            title=title,
            start=self.start,
            confidence=confidence,
            others=together(" or ", others),
        )


def decode(raw: bytes, name: str) -> str:
    """The text of `raw`. Raises InputError as `detect`, and when the encoding is not certain."""
    return certain_source(raw, name).text()


def certain_source(source: Path | bytes, name: str, *, is_cut: bool = False) -> TextSource:
    """The text of a file for which no notice can be given; `is_cut` as in `fault`.

    Raises InputError as `detect` does, and when the encoding is not certain.
    """
    detection = detect(source, name, is_cut=is_cut)
    if not detection.is_certain:
        raise InputError(Message("{name} Save it as UTF-8.", name=detection.doubt(name)))
    return TextSource(source, detection.encoding)


def detect(source: Path | bytes, name: str, *, is_cut: bool = False) -> Detection:
    """The encoding of a file or of bytes, all of which can be decoded in it; `is_cut` as in `fault`.

    UTF-8 (with or without BOM), UTF-16 (with BOM), ISO-2022-JP, and by chardet's guess CP932, EUC-JP, Big5, GB18030
    and CP949; CP932 where chardet does not know. Raises InputError when none of them fits throughout, or when some
    lines are UTF-8 and others are not: both kinds of lines are named.
    """
    with opened(source) as file:
        head = file.read(4)
    bom = next((bom for bom in BOMS if head.startswith(bom)), None)
    if bom is not None:
        _refuse_undecodable(source, BOMS[bom], name, is_cut)
        return Detection(BOMS[bom])
    sample = _sample(source)
    if fault(source, "utf-8", is_cut=is_cut) is None:
        if _ISO_2022_JP.search(sample):
            if fault(source, "iso2022_jp", is_cut=is_cut) is None:
                return Detection("iso2022_jp", 0.99)
            return Detection("utf-8", 0.5, (), _start(_text(sample, "utf-8")))  # JIS that is damaged
        return _of_valid_utf8(sample)
    refuse_mixture(source, name)
    return _guessed(source, sample, name, is_cut)


def source_in(source: Path | bytes, encoding: str, name: str) -> tuple[TextSource, Detection]:
    """The text of a file in the encoding that a user chose, or for DETECT in the detected one.

    Raises InputError as `detect`, for an encoding that is not one of ENCODINGS, and for a file that is not of it.
    """
    if encoding == DETECT:
        detection = detect(source, name)
        return TextSource(source, detection.encoding), detection
    if encoding not in ENCODINGS:
        raise InputError(
            Message(
                "There is no encoding {encoding!r} to choose. There are: {ENCODINGS}.",
                encoding=encoding,
                ENCODINGS=list_of(ENCODINGS),
            )
        )
    position = fault(source, encoding)
    if position is not None:
        raise InputError(
            Message(
                "{name} is not {encoding} throughout: byte {position} does not fit. Choose another "
                "encoding, or let it be detected.",
                name=name,
                encoding=ENCODINGS[encoding],
                position=position,
            )
        )
    return TextSource(source, encoding), Detection(encoding, is_chosen=True)


def fault(source: Path | bytes, encoding: str, *, is_cut: bool = False) -> int | None:
    """The position of the first byte that is not of an encoding; None where all can be decoded.

    is_cut: the last character may be incomplete.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    n_before, n_kept = 0, 0
    with opened(source) as file:
        while True:
            raw = file.read(BLOCK_BYTES)
            try:
                text = decoder.decode(raw, not (raw or is_cut))
            except UnicodeError as error:  # UTF-16 without a byte order mark has no position
                return n_before - n_kept + error.start if isinstance(error, UnicodeDecodeError) else 0
            if encoding == "cp932" and (undefined := UNDEFINED_IN_CP932.search(text)):
                return n_before - n_kept + len(text[: undefined.start()].encode("cp932"))
            n_before += len(raw)
            n_kept = len(decoder.getstate()[0])
            if not raw:
                return None


def _of_valid_utf8(sample: bytes) -> Detection:
    """UTF-8, certain unless the few characters beyond ASCII may be there by chance."""
    if sample.isascii() or CERTAINLY_UTF8.search(sample):
        return Detection("utf-8")
    guess, confidence = _by_chardet(sample)
    other = guess if guess and confidence >= CERTAIN else "cp932"
    text = _text(sample, other)
    # In CP932 letters of two bytes, as in Cyrillic, are half-width kana throughout, and a character of four bytes, as
    # an emoji, begins with one of a company's own.
    if fault(sample, other, is_cut=True) is None and (
        other != "cp932" or (_KANA.search(text) and not _HALF_WIDTH_KANA.search(text) and not _PRIVATE_USE.search(text))
    ):
        return Detection("utf-8", 0.5, ((other, _start(text)),), _start(_text(sample, "utf-8")))
    return Detection("utf-8")


def _guessed(source: Path | bytes, sample: bytes, name: str, is_cut: bool) -> Detection:
    is_cp932 = fault(source, "cp932", is_cut=is_cut) is None
    if is_cp932 and _KANA.search(_text(sample, "cp932")):
        guess, confidence = _by_chardet(sample[:SHORT_SAMPLE_BYTES])
        return Detection("cp932", max(confidence if guess == "cp932" else 0.0, CERTAIN))
    if (letters := _of_letters(source, sample, name, is_cut)) is not None:
        return letters
    fitting = ["cp932"] if is_cp932 else []
    fitting += [encoding for encoding in _GUESSED[1:] if fault(source, encoding, is_cut=is_cut) is None]
    if not fitting:
        _refuse_undecodable(source, "cp932", name, is_cut, sample)
    texts = {encoding: _text(sample, encoding) for encoding in fitting}
    guess, confidence = _by_chardet(sample)
    if guess in texts and confidence >= CERTAIN:
        return Detection(guess, confidence)
    if "cp932" not in texts and guess not in texts:
        # Almost any bytes are GB18030 or Big5: without chardet's word nothing is known.
        _refuse_undecodable(source, "cp932", name, is_cut, sample)
    chosen = "cp932" if "cp932" in texts else str(guess)
    others = tuple((encoding, _start(text)) for encoding, text in texts.items() if encoding != chosen)
    return Detection(chosen, confidence if guess == chosen else 0.5, others, _start(texts[chosen]))


def _of_letters(source: Path | bytes, sample: bytes, name: str, is_cut: bool) -> Detection | None:
    """An alphabet of single bytes, by chardet's word and by how the bytes stand; None where it is none.

    Raises InputError for one that is not in ENCODINGS.
    """
    word, confidence = _word_of_chardet(sample)
    if not alphabets.is_written_in(sample, word):
        return None
    encoding = alphabets.codec(sample, word)
    if not encoding or fault(source, encoding, is_cut=is_cut) is not None:
        raise InputError(
            Message(
                "{name} seems to be {title} (confidence {confidence:.0%}), an encoding that is not "
                "read. Save it as UTF-8 and try again, or choose its encoding.",
                name=name,
                title=word.title(),
                confidence=confidence,
            )
        )
    return Detection(encoding, min(confidence, CERTAIN / 2), (), _start(_text(sample, encoding)))


def _by_chardet(sample: bytes) -> tuple[str | None, float]:
    word, confidence = _word_of_chardet(sample)
    return _BY_CHARDET.get(word), confidence


def _word_of_chardet(sample: bytes) -> tuple[str, float]:
    # Imported here because few files are not UTF-8, and its tables take a while.
    import chardet

    guess = chardet.detect(_LONG_RUN.sub(lambda run: run[0][:LONGEST_WORD], sample))
    return (guess["encoding"] or "").lower(), float(guess["confidence"] or 0.0)


def _sample(source: Path | bytes) -> bytes:
    """Lines around the first byte that is not ASCII."""
    with opened(source) as file:
        while raw := file.read(BLOCK_BYTES):
            if not raw.isascii() or b"\x1b" in raw:
                first = next(index for index, byte in enumerate(raw) if byte > 127 or byte == 0x1B)
                start = raw.rfind(b"\n", 0, first) + 1
                return raw[start : start + SAMPLE_BYTES]
    return b""


def _text(sample: bytes, encoding: str) -> str:
    return sample.decode(encoding, "ignore")


def _start(text: str) -> str:
    """The first characters of a text beyond ASCII, on one line."""
    position = next((index for index, character in enumerate(text) if ord(character) > 127), 0)
    line = " ".join(text[position : position + SAMPLE_CHARACTERS + 1].split())
    return line[:SAMPLE_CHARACTERS] + ("…" if len(line) > SAMPLE_CHARACTERS else "")


def _refuse_undecodable(source: Path | bytes, encoding: str, name: str, is_cut: bool, sample: bytes = b"") -> None:
    position = fault(source, encoding, is_cut=is_cut)
    if position is None:
        return
    n_lines = 1
    with opened(source) as file:
        for block in _up_to(file.read, position):
            n_lines += block.count(b"\n")
        byte = file.read(1) or b"\0"
    word = _word_of_chardet(sample)[0] if sample else ""
    hint: str = ""
    if (without_mark := _utf_16_without_mark(source, is_cut)) is not None:
        hint = MAY_BE.format(title=Message("{title} without byte order mark", title=ENCODINGS[without_mark]))
    elif alphabets.is_alphabet(word):
        hint = MAY_BE.format(title=ENCODINGS.get(alphabets.codec(sample, word), word.title()))
    raise InputError(
        Message(
            "{name} is neither UTF-8, UTF-16 nor CP932 throughout: line {n_lines}, byte {position} "
            "(0x{byte:02x}) fits none of them. Save the whole file as UTF-8 and try again, or choose "
            "its encoding.{hint}",
            name=name,
            n_lines=n_lines,
            position=position,
            byte=byte[0],
            hint=hint,
        )
    )


def _utf_16_without_mark(source: Path | bytes, is_cut: bool) -> str | None:
    """The UTF-16 whose bytes these are: one of the two bytes of each ASCII character, as a comma or a line break, is 0."""
    with opened(source) as file:
        head = file.read(SAMPLE_BYTES)
    first, second = 0 in head[::2], 0 in head[1::2]
    encoding = "utf-16-be" if first else "utf-16-le"
    return encoding if first != second and fault(source, encoding, is_cut=is_cut) is None else None


def _up_to(read: Callable[[int], bytes], position: int) -> Iterator[bytes]:
    while position > 0:
        block = read(min(position, BLOCK_BYTES))
        position -= len(block)
        yield block
