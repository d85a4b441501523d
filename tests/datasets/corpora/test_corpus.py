"""engine.datasets.corpora.corpus: Aozora notation, streams of documents, sentences."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from engine.datasets.corpora.corpus import (
    Document,
    Part,
    pieces,
    read_documents,
    read_parts,
    split_sentences,
    text_bytes,
)
from engine.datasets.formats import text_stream
from engine.errors import InputError
from tests.datasets.corpora.test_aozora import AOZORA, STRIPPED
from tests.waiting import seconds


def test_sentences_end_after_a_full_stop_or_the_bracket_that_closes_it() -> None:
    text = "「行くのか。」と言った。彼は頷《うなず》いた！？\n本当（たぶん！）だ。彼は「待て。」外は雨。終わり"
    assert list(split_sentences(text)) == [
        "「行くのか。」と言った。",  # 」と goes on: the quoted full stop ends no sentence
        "彼は頷《うなず》いた！？",
        "本当（たぶん！）",  # only と, っ, 、 and 。 after the bracket hold a sentence together
        "だ。",
        "彼は「待て。」",
        "外は雨。",
        "終わり",
    ]


def test_sentences_lose_no_character_but_outer_spaces() -> None:
    text = "一。「二。」三！？」四\n五。　六"
    assert "".join(split_sentences(text)) == "一。「二。」三！？」四五。六"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Three texts: one in a folder in CP932 and Aozora notation, one in UTF-8, two in a zip."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "b.txt").write_bytes(AOZORA.encode("cp932"))
    (folder / "a.txt").write_text("青空。\n\n白雲。\n", encoding="utf-8")
    (folder / "image.png").write_bytes(b"\x89PNG\x00\xff")
    with zipfile.ZipFile(folder / "c.zip", "w") as archive:
        archive.writestr("novels/2.txt", "二。")
        archive.writestr("novels/1.txt", "一。")
        archive.writestr("novels/._1.txt", b"\x00\x05\x16\x07\xff\x00")
        archive.writestr("cover.jpg", b"\xff\xd8")
    return folder


def test_a_folder_is_read_in_name_order_with_the_zips_in_it(corpus: Path) -> None:
    assert list(read_documents([corpus])) == [
        Document("a.txt", "青空。\n\n白雲。\n"),
        Document("b.txt", STRIPPED),
        Document("novels/1.txt", "一。"),
        Document("novels/2.txt", "二。"),
    ]


def test_files_and_zips_are_read_in_the_order_given(corpus: Path) -> None:
    names = [document.name for document in read_documents([corpus / "c.zip", corpus / "a.txt"])]
    assert names == ["novels/1.txt", "novels/2.txt", "a.txt"]


def test_lines_as_documents(tmp_path: Path) -> None:
    path = tmp_path / "wiki.tsv"
    path.write_text("id-1\t足は速い。\n\n  \nid-2\t手は早い。 \n裸の行", encoding="utf-8")
    assert list(read_documents([path], unit="line")) == [
        Document("wiki.tsv:1", "足は速い。"),
        Document("wiki.tsv:4", "手は早い。"),
        Document("wiki.tsv:5", "裸の行"),
    ]


def test_documents_come_as_a_stream(corpus: Path) -> None:
    (corpus / "z.txt").write_bytes(b"\x81\x20 broken")
    documents = read_documents([corpus])
    assert next(documents).name == "a.txt"  # the broken last file is not read yet
    with pytest.raises(InputError, match=r"z\.txt"):
        list(documents)


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file or folder"):
        list(read_documents([tmp_path / "nothing"]))


def test_a_folder_without_text_says_what_counts_as_text(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(b"\x89PNG")
    with pytest.raises(InputError, match=r"No text file \(\.txt, \.text, \.md"):
        list(read_documents([tmp_path]))


def test_an_unknown_unit() -> None:
    with pytest.raises(InputError, match="'file', 'line', 'blank-line', 'page-break'; got 'page'"):
        list(read_documents([Path("x")], unit="page"))


def test_a_zip_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"no zip")
    with pytest.raises(InputError, match="neither a zip nor a tar"):
        list(read_documents([tmp_path / "a.zip"]))


def test_a_zip_member_that_is_damaged_or_locked(tmp_path: Path) -> None:
    whole = tmp_path / "a.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("1.txt", "unlocked and stored")
    raw = whole.read_bytes()
    (tmp_path / "damaged.zip").write_bytes(raw.replace(b"stored", b"STORED"))  # the checksum no longer fits
    # Bit 0 of the flags, 6 bytes into the local header and 8 into the central one, says "encrypted".
    central = raw.index(b"PK\x01\x02")
    locked = bytearray(raw)
    locked[6] |= 1
    locked[central + 8] |= 1
    (tmp_path / "locked.zip").write_bytes(locked)
    with pytest.raises(InputError, match=r"1\.txt in damaged.zip cannot be unpacked"):
        list(read_documents([tmp_path / "damaged.zip"]))
    with pytest.raises(InputError, match=r"locked.zip is not read: its member '1\.txt' has a password"):
        list(read_documents([tmp_path / "locked.zip"]))


def test_tars_are_archives_too(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        for name, text in (("b.txt", "二。"), ("a.txt", "一。"), ("note.json", "{}")):
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    assert [document.text for document in read_documents([tmp_path])] == ["一。", "二。"]
    assert text_bytes([tmp_path]) == 0  # what is in it, nobody knows before


def test_bytes_are_told_as_they_are_read(corpus: Path) -> None:
    read = [part.n_read for part in read_parts([corpus])]
    sizes = [len("青空。\n\n白雲。\n".encode()), len(AOZORA.encode("cp932")), 6, 6]
    assert read == [sum(sizes[:k]) for k in (1, 2, 3, 4)]
    assert text_bytes([corpus]) == sum(sizes)
    lines = [part.n_read for part in read_parts([corpus / "a.txt", corpus / "c.zip"], unit="line")]
    assert lines == [sizes[0], sizes[0], sizes[0] + 6, sizes[0] + 12]


def test_a_long_file_comes_in_parts_and_is_the_same_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"これは{number}行目です。" for number in range(60)]
    (tmp_path / "long.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "short.txt").write_text("短い。", encoding="utf-8")
    whole, by_line = list(read_documents([tmp_path])), list(read_documents([tmp_path], unit="line"))
    monkeypatch.setattr(text_stream, "WHOLE_BYTES", 100)
    monkeypatch.setattr(text_stream, "BLOCK_BYTES", 64)
    parts = list(read_parts([tmp_path]))
    assert len(parts) > 10 and [part.is_last for part in parts[-2:]] == [True, True]
    assert parts[-1] == Part("short.txt", "短い。", True, text_bytes([tmp_path]))
    assert all(part.text.endswith("\n") for part in parts[:-2])
    assert list(read_documents([tmp_path])) == whole
    assert list(read_documents([tmp_path], unit="line")) == by_line


@pytest.mark.parametrize(
    ("unit", "between"),
    [
        ("blank-line", "\n\n"),
        ("blank-line", "\n　\n\n"),
        ("page-break", "\f"),
        ("page-break", "\n［＃改ページ］\n"),
        ("page-break", "\n［＃改丁］\n"),
    ],
)
@pytest.mark.parametrize("whole_bytes", [text_stream.WHOLE_BYTES, 40])
def test_many_documents_in_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str, between: str, whole_bytes: int
) -> None:
    monkeypatch.setattr(text_stream, "WHOLE_BYTES", whole_bytes)
    monkeypatch.setattr(text_stream, "BLOCK_BYTES", 16)
    documents = [f"{number}番目の話。\n" + "長い行が続く。\n" * (number % 3 * 8) + "終わり。" for number in range(9)]
    (tmp_path / "all.txt").write_text("\n" + between.join(documents) + "\n\n", encoding="utf-8")
    read = list(read_documents([tmp_path], unit=unit))
    assert [document.text.strip() for document in read] == documents
    assert [document.name for document in read] == [f"all.txt:{number}" for number in range(1, 10)]
    parts = list(read_parts([tmp_path], unit=unit))
    assert max(len(part.text) for part in parts) < (500 if whole_bytes > 40 else 60)


def test_spaces_without_a_page_break_are_read_at_once(tmp_path: Path) -> None:
    (tmp_path / "all.txt").write_text(f"一{' ' * 30_000}二 \n \f\f \n三", encoding="utf-8")
    read: list[Document] = []
    assert seconds(lambda: read.extend(read_documents([tmp_path], unit="page-break"))) < 1
    assert [len(document.text) for document in read] == [30_002, 1]


def test_pieces_keep_every_line_and_stay_within_the_limit() -> None:
    text = "短い行。\n\n" + "とても長い一文が続く、" * 30 + "終わり。次の文。\n最後。"
    parts = pieces(text, 40)
    assert max(map(len, parts)) <= 40
    assert "".join(parts).replace("\n", "") == text.replace("\n", "")
    assert pieces(" \n\n", 40) == []
