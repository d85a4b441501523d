"""Webis-CLS-10's reviews: its published layout, and what must not get through."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from engine.datasets.labelled import webis
from engine.datasets.labelled.webis import is_review_file, read_reviews, sentences_of
from engine.errors import InputError

ROOT = "cls-acl10-unprocessed"


def review_file(*texts: str, category: str = "本") -> bytes:
    items = "".join(
        f"<item><category>{category}</category><rating>4.0</rating><url>http://x</url>"
        f"<text>{text}</text><summary>良い</summary></item>\n"
        for text in texts
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<items>\n{items}</items>\n'.encode()


FILES = {
    f"{ROOT}/jp/books/test.review": review_file("面白い本だ。二度読んだ。", "文章が&lt;良い&gt; &amp; 短い。"),
    f"{ROOT}/jp/books/train.review": review_file("訓練の本。"),
    f"{ROOT}/jp/books/unlabeled.review": review_file("印のない本。"),
    f"{ROOT}/jp/dvd/test.review": review_file("映像がきれい！"),
    f"{ROOT}/jp/music/test.review": review_file("声が好き。"),
    f"{ROOT}/en/books/test.review": review_file("A good book."),
}


def zipped(files: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    with tarfile.open(fileobj=(packed := io.BytesIO()), mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def unpacked(folder: Path) -> Path:
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder / ROOT


def test_the_published_layout_is_read_the_same_however_it_comes(tmp_path: Path) -> None:
    found = [
        read_reviews(zipped(FILES), "cls.zip"),
        read_reviews(tarred(FILES), "cls.tar.gz"),
        read_reviews(unpacked(tmp_path)),
    ]
    for sentences in found:
        assert list(zip(sentences.domains, sentences.texts, sentences.rows, strict=True)) == [
            ("books", "面白い本だ。", 1),
            ("books", "二度読んだ。", 1),
            ("books", "文章が<良い> & 短い。", 2),
            ("dvd", "映像がきれい！", 3),
            ("music", "声が好き。", 4),
        ]
    assert len({sentences.content_hash for sentences in found}) == 1
    assert found[0].notices == ("1 row with several sentences taken apart: 5 sentences in all.",)


def test_split_and_language_choose_the_files() -> None:
    assert read_reviews(zipped(FILES), "cls.zip", split="train").texts == ("訓練の本。",)
    assert read_reviews(zipped(FILES), "cls.zip", language="en").texts == ("A good book.",)
    with pytest.raises(InputError, match=r"no train\.review of language en"):
        read_reviews(zipped(FILES), "cls.zip", split="train", language="en")
    with pytest.raises(InputError, match="one of test, train, unlabeled; got 'dev'"):
        read_reviews(zipped(FILES), "cls.zip", split="dev")


def test_one_file_tells_its_domain_by_name_folder_or_category(tmp_path: Path) -> None:
    raw = review_file("良い本だ。", category="和書")
    assert read_reviews(raw, "books.test.review").domains == ("books",)
    assert read_reviews(raw, "music-train.xml").domains == ("music",)
    assert read_reviews(raw, "test.review").domains == ("和書",)
    (tmp_path / "dvd").mkdir()
    (tmp_path / "dvd" / "test.review").write_bytes(raw)
    assert read_reviews(tmp_path / "dvd" / "test.review").domains == ("dvd",)
    with pytest.raises(InputError, match="the domain of review 1 is not given"):
        read_reviews(review_file("良い本だ。", category=""), "test.review")


def test_names_that_only_end_like_a_split_are_others() -> None:
    files = {"books/latest.review": review_file("違う。"), "books/test.review": review_file("これ。")}
    assert read_reviews(zipped(files), "x.zip").texts == ("これ。",)


def test_reviews_without_text_are_left_out_and_told() -> None:
    raw = b"<items><item><text> </text></item><item><summary>x</summary></item><item><text>a b.</text></item></items>"
    found = sentences_of([("books/test.review", raw)], "x")
    assert found.texts == ("a b.",) and found.rows == (3,)
    assert found.notices == ("2 reviews without a text left out.",)


BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE items [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    b"<items><item><text>&b;</text></item></items>"
)
OUTSIDE = (
    b'<?xml version="1.0"?><!DOCTYPE items [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    b"<items><item><text>&f;</text></item></items>"
)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (BOMB, "it has a document type or entities of its own"),
        (OUTSIDE, "it has a document type"),
        (b"<items>\n<item><text>a</txt></item></items>", "no well-formed XML: line 2, character 16: mismatched tag"),
        (b"<items><item><text>a</text></item>", "no well-formed XML: line 1"),
        (b"", "no well-formed XML"),
        (b"text,label\n", "no well-formed XML: line 1, character 1"),
        (b"<items></items>", "there is no <item> in it"),
        (b"<items><item><text></text></item></items>", "holds no review with a text"),
        (b'<?xml version="1.0" encoding="klingon"?><items/>', "cannot be read as XML|no well-formed XML"),
        (b"<items><item><text>&unknown;</text></item></items>", "no well-formed XML|document type"),
    ],
    ids=["bomb", "outside", "mismatched", "cut", "empty", "csv", "no item", "no text", "encoding", "entity"],
)
def test_bad_xml_is_explained(raw: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_reviews(raw, "books.test.review")


def test_deep_nesting_is_no_danger() -> None:
    deep = b"<items>" + b"<a>" * 200_000 + b"</a>" * 200_000 + b"<item><text>x y.</text></item></items>"
    assert read_reviews(deep, "books.review").texts == ("x y.",)


@pytest.mark.parametrize("name", ["../../test.review", "/etc/test.review"])
def test_path_tricks_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="would lie outside"):
        read_reviews(zipped({name: FILES[f"{ROOT}/jp/books/test.review"]}), "cls.zip")


def test_a_decompression_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webis, "MAX_UNPACKED_BYTES", 10_000)
    with zipfile.ZipFile(packed := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("books/test.review", b" " * 1_000_000)
    with pytest.raises(InputError, match="unpacks to more than"):
        read_reviews(packed.getvalue(), "cls.zip")


def test_a_damaged_archive_or_a_missing_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a zip nor a tar"):
        read_reviews(b"not an archive", "cls.zip")
    with pytest.raises(InputError, match="cannot be read"):
        read_reviews(tmp_path / "none.review")


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_MAX_UPLOAD_MB", "0.00001")
    (tmp_path / "books.review").write_bytes(review_file("良い本だ。"))
    with pytest.raises(InputError, match="too large"):
        read_reviews(tmp_path / "books.review")


def test_names() -> None:
    assert [is_review_file(name) for name in ("a.review", "A.XML", "a.tgz", "a.csv", "a.xlsx")] == [
        True,
        True,
        True,
        False,
        False,
    ]
