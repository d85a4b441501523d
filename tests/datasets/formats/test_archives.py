"""engine.datasets.formats.archives: the same files whatever they are packed in, and what is refused of hostile ones."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.datasets.formats import archives, unpacking
from engine.datasets.formats.archives import is_archive, read_members
from engine.errors import InputError

FILES = {"text/b/表.txt": "表\n".encode(), "text/a/2.txt": b"two", "text/a/10.txt": b"", "README": b"read me"}


def zipped(files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    with zipfile.ZipFile(packed := io.BytesIO(), "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def tarred(files: dict[str, bytes], *, encoding: str = "utf-8", format_: int = tarfile.GNU_FORMAT) -> bytes:
    with tarfile.open(fileobj=(packed := io.BytesIO()), mode="w", encoding=encoding, format=format_) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def folder(files: dict[str, bytes], path: Path) -> Path:
    for name, content in files.items():
        path.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        path.joinpath(name).write_bytes(content)
    return path


PACKERS: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "zip": zipped,
    "stored zip": lambda files: zipped(files, zipfile.ZIP_STORED),
    "tar": tarred,
    "pax tar": lambda files: tarred(files, format_=tarfile.PAX_FORMAT),
    "tar.gz": lambda files: gzip.compress(tarred(files)),
    "tar.bz2": lambda files: bz2.compress(tarred(files)),
    "tar.xz": lambda files: lzma.compress(tarred(files)),
}


def refused(source: bytes | Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        list(read_members(source, "mine.zip", **options))  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize("packer", PACKERS)
def test_the_same_files_come_in_the_order_of_their_names_whatever_they_are_packed_in(
    packer: str, tmp_path: Path
) -> None:
    wanted = sorted(FILES.items())
    raw = PACKERS[packer](FILES)
    assert list(read_members(raw, "mine")) == wanted
    (tmp_path / "packed").write_bytes(raw)
    assert list(read_members(tmp_path / "packed")) == wanted
    assert list(read_members(folder(FILES, tmp_path / "folder"))) == wanted


# A name in a tar has no newline or NUL; NFC is what comes back; a path is told apart at "/" by every packer alike.
NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=8)


@settings(max_examples=30)
@given(st.dictionaries(NAMES, st.binary(max_size=40), min_size=1, max_size=5), st.randoms())
def test_packing_loses_nothing_and_the_order_of_packing_says_nothing(files: dict[str, bytes], random) -> None:  # type: ignore[no-untyped-def]
    by_name = {unpacking.member_name(name.encode()): content for name, content in files.items()}
    shuffled = list(by_name.items())
    random.shuffle(shuffled)
    for pack in (zipped, tarred):
        assert list(read_members(pack(dict(shuffled)), "mine")) == sorted(by_name.items())


def test_only_the_wanted_endings_are_unpacked() -> None:
    raw = zipped({"a.JSONL": b"1", "b.txt": b"2", "c/d.jsonl": b"3"})
    assert dict(read_members(raw, "mine", suffixes=[".jsonl"])) == {"a.JSONL": b"1", "c/d.jsonl": b"3"}
    assert dict(read_members(raw, "mine", suffixes=["/d.jsonl"])) == {"c/d.jsonl": b"3"}
    assert list(read_members(raw, "mine", suffixes=[".xml"])) == []


def test_what_systems_add_is_left_out(tmp_path: Path) -> None:
    files = {"a/1.txt": b"1", "a/._1.txt": b"twin", "__MACOSX/a/._1.txt": b"twin", ".git/x.txt": b"", ".DS_Store": b""}
    assert list(read_members(zipped(files), "mine")) == [("a/1.txt", b"1")]
    assert list(read_members(tarred(files), "mine")) == [("a/1.txt", b"1")]
    assert list(read_members(folder(files, tmp_path))) == [("a/1.txt", b"1")]


def with_names(raw: bytes, names: dict[bytes, bytes]) -> bytes:
    for ascii_name, other in names.items():
        assert len(ascii_name) == len(other)
        raw = raw.replace(ascii_name, other)
    return raw


def test_names_in_cp932_are_read_as_windows_writes_them() -> None:
    # ソ is 83 5c and 表 95 5c: their second byte is a backslash, which must not part a folder from a file
    name = "ニュース\\表ソ.txt".encode("cp932")
    raw = with_names(zipped({"x" * len(name): b"1"}), {b"x" * len(name): name})
    assert list(read_members(raw, "mine")) == [("ニュース/表ソ.txt", b"1")]
    assert list(read_members(tarred({"ニュース/表ソ.txt": b"1"}, encoding="cp932"), "mine")) == [
        ("ニュース/表ソ.txt", b"1")
    ]


def test_names_in_utf8_are_read_with_the_flag_and_without() -> None:
    name = "話題/か\u3099.txt"  # が as macOS writes it, in two characters
    flagged = zipped({name: b"1"})
    unflagged = with_names(zipped({"x" * len(name.encode()): b"1"}), {b"x" * len(name.encode()): name.encode()})
    for raw in (flagged, unflagged, tarred({name: b"1"})):
        assert list(read_members(raw, "mine")) == [("話題/が.txt", b"1")]


@pytest.mark.parametrize(
    "name",
    [
        "../up.txt",
        "a/../../up.txt",
        "/etc/passwd",
        "C:/boot.ini",
        "c:boot.ini",
        "..\\up.txt",
        "a/..",
        "\\\\server\\share",
    ],
)
def test_a_name_that_leads_elsewhere_refuses_the_archive(name: str) -> None:
    for pack in (zipped, tarred):
        said = refused(pack({"fine.txt": b"1", name: b"2"}))
        assert "would lie outside of it" in said and "mine.zip" in said
        # also where nobody wants it: the archive was made to deceive
        assert "would lie outside of it" in refused(pack({"fine.txt": b"1", name: b"2"}), suffixes=[".csv"])


def test_a_name_with_a_nul_refuses_the_archive() -> None:
    raw = with_names(zipped({"axtxt": b"1"}), {b"axtxt": b"a\0txt"})
    assert "outside" in refused(raw)


def test_links_and_devices_are_refused_where_they_are_wanted() -> None:
    link = zipfile.ZipInfo("passwords.txt")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert "'passwords.txt' is a link" in refused(packed.getvalue())
    assert list(read_members(packed.getvalue(), "mine", suffixes=[".csv"])) == []
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
        info = tarfile.TarInfo("passwords.txt")
        info.type, info.linkname = kind, "/etc/passwd"
        with tarfile.open(fileobj=(tar := io.BytesIO()), mode="w") as archive:
            archive.addfile(info)
        assert "'passwords.txt' is a link or a device" in refused(tar.getvalue())


def test_a_folders_links_to_files_are_followed_and_its_links_to_folders_are_not(tmp_path: Path) -> None:
    folder({"in/a.txt": b"a", "out/b.txt": b"b"}, tmp_path)
    (tmp_path / "in" / "b.txt").symlink_to(tmp_path / "out" / "b.txt")
    (tmp_path / "in" / "loop").symlink_to(tmp_path)
    (tmp_path / "in" / "nowhere.txt").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "in" / "pipe.txt")  # reading it would wait forever
    assert list(read_members(tmp_path / "in")) == [("a.txt", b"a"), ("b.txt", b"b")]


def test_a_name_that_stands_twice_refuses_the_archive() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        archive.writestr("a.txt", "1")
        archive.writestr("a.txt", "2")
    assert "'a.txt' occurs in it twice" in refused(packed.getvalue())
    assert "twice" in refused(zipped({"a.txt": b"1", "./a.txt": b"2"}))


def test_a_password_is_said() -> None:
    raw = bytearray(zipped({"a.txt": b"1"}))
    for sign, flags_at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.find(sign) + flags_at] |= 1
    assert "'a.txt' has a password" in refused(bytes(raw))


@pytest.mark.parametrize("packer", ["zip", "tar", "tar.gz", "tar.xz"])
def test_a_bomb_is_refused_before_it_is_unpacked(packer: str) -> None:
    raw = PACKERS[packer]({"zeros.txt": bytes(3 * 2**20)})
    assert "mine.zip unpacks to more than 2 MiB" in refused(raw, max_bytes=2 * 2**20)
    assert len(dict(read_members(raw, "mine", max_bytes=3 * 2**20))["zeros.txt"]) == 3 * 2**20


def test_many_small_members_are_no_way_round_the_limit() -> None:
    for pack in (zipped, tarred):
        assert "more than 1 MiB" in refused(pack({f"{i}.txt": bytes(2**18) for i in range(5)}), max_bytes=2**20)


def test_a_zip_that_lies_of_its_size_gives_no_more_than_it_says() -> None:
    raw = bytearray(zipped({"zeros.txt": bytes(2**20)}))
    for sign, size_at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", raw, raw.find(sign) + size_at, 10)
    assert "zeros.txt in mine.zip cannot be unpacked" in refused(bytes(raw), max_bytes=100)


def test_a_tars_headers_and_unwanted_members_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_MEMBERS", 4)
    comment = tarfile.TarInfo("a.txt")
    comment.pax_headers = {"comment": "x" * 2**20}
    with tarfile.open(fileobj=(packed := io.BytesIO()), mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(comment)
    assert "more than 0 MiB" in refused(packed.getvalue(), max_bytes=1000)
    raw = tarred({"unwanted.bin": bytes(2**20)})
    assert "more than 0 MiB" in refused(raw, suffixes=[".txt"], max_bytes=1000)


def test_a_sparse_file_counts_with_the_size_it_would_have() -> None:
    info = tarfile.TarInfo("sparse.txt")
    info.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[483:495] = b"77777777777\0"  # realsize: 8 GiB, of which the archive holds nothing
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    assert "unpacks to more than 1,024 MiB" in refused(bytes(header) + bytes(1024))


def test_more_members_than_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(unpacking, "MAX_MEMBERS", 2)
    files = {f"{i}.txt": b"" for i in range(3)}
    for source in (zipped(files), tarred(files), folder(files, tmp_path)):
        assert "more than 2 files" in refused(source)


@pytest.mark.parametrize("packer", PACKERS)
@settings(max_examples=25)
@given(share=st.floats(0.02, 0.98))
def test_a_cut_archive_never_passes_for_a_whole_one(packer: str, share: float) -> None:
    raw = PACKERS[packer](FILES)
    with pytest.raises(InputError, match=r"cannot be unpacked|neither a zip nor a tar"):
        # a tar ends in empty blocks, which may be cut without loss
        end = raw.rstrip(b"\0") if packer.endswith("tar") else raw
        list(read_members(end[: int(share * len(end))], "mine"))


@pytest.mark.parametrize("packer", ["zip", "tar.gz"])
@settings(max_examples=40)
@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_a_flipped_byte_is_noticed_or_changes_nothing_that_is_read(packer: str, place: float, flip: int) -> None:
    raw = bytearray(PACKERS[packer]({"a/1.txt": b"one" * 50, "a/2.txt": b"two" * 50}))
    raw[int(place * len(raw))] ^= flip
    try:
        read = dict(read_members(bytes(raw), "mine"))
    except InputError:
        return
    # Contents are under a checksum; a zip's names, flags and attributes are not.
    assert set(read.values()) <= {b"one" * 50, b"two" * 50}


def test_a_header_without_sense_in_the_middle_is_no_end() -> None:
    raw = bytearray(tarred({"1.txt": b"1", "2.txt": b"2", "3.txt": b"3"}))
    raw[1024 + 10] ^= 1  # in the second header, which then fails its own checksum
    assert "an invalid header before its end" in refused(bytes(raw))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"text,label\n",
        b"PK\x03\x04 and no more",
        b"Rar!\x1a\x07\x01\x00",
        gzip.compress(b"a text, and no tar", mtime=0),
        b"\x1f\x8b no gzip",
        bytes(2000),
    ],
)
def test_what_is_no_archive_is_said_to_be_none(raw: bytes) -> None:
    said = refused(raw)
    assert said.startswith("mine.zip") and ("neither a zip nor a tar" in said or "cannot be unpacked" in said)


def test_a_path_to_nothing_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.zip cannot be read: No such file"):
        list(read_members(tmp_path / "nowhere.zip"))


def test_an_empty_archive_has_no_members(tmp_path: Path) -> None:
    assert list(read_members(zipped({}), "mine")) == list(read_members(tmp_path)) == []


def test_archives_are_told_by_their_endings() -> None:
    assert all(is_archive(f"X{suffix.upper()}") for suffix in archives.SUFFIXES)
    assert not any(is_archive(name) for name in ("a.csv", "a.gz", "zip", "a.xlsx"))


def test_a_member_that_claims_to_be_larger_than_its_archive() -> None:
    """Its packed size stands in the directory at the end; zipfile would ask for a buffer of that size."""
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        archive.writestr("a.txt", "short")
    raw = bytearray(packed.getvalue())
    directory = raw.rindex(b"PK\x01\x02")
    raw[directory + 20 : directory + 24] = (2**32 - 2).to_bytes(4, "little")
    with pytest.raises(InputError, match=r"'a\.txt' is said to be larger than the archive"):
        list(read_members(bytes(raw), "mine.zip"))


def test_a_zip_of_millions_of_files_is_refused_before_its_list_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        for number in range(5):
            archive.writestr(f"{number}.txt", "")

    def read_as_a_whole(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(unpacking, "MAX_MEMBERS", 4)
    monkeypatch.setattr(unpacking, "_BLOCK_BYTES", 7)  # the sign of a member lies across two of them
    monkeypatch.setattr(unpacking.zipfile, "ZipFile", read_as_a_whole)
    with pytest.raises(InputError, match=r"mine\.zip holds more than 4 files"):
        list(read_members(packed.getvalue(), "mine.zip"))
