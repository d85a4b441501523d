"""engine.datasets.reader_process: small files that hold large tables end as messages, and this process stays small."""

from __future__ import annotations

import gc
import io
import os
import tarfile
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import openpyxl
import psutil
import pyarrow as pa
import pytest

from engine.datasets import reader_process
from engine.datasets.formats import bounds, files
from engine.datasets.labelled.livedoor import read_livedoor
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.reader_process import Reader, is_small, read
from engine.errors import Cancelled, InputError
from engine.processes import private_folders
from tests.waiting import SECONDS

MIB = 2**20
# What this process may grow by while another one reads: messages (100,000 bad rows are 37 MiB, 65 while they are read in),
# and memory that it had and had given back. The tables themselves would be several hundred.
GROWTH = 128 * MIB


def workbook(rows: list[list[str]]) -> bytes:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in rows:
        sheet.append(row)
    book.save(file := io.BytesIO())
    return file.getvalue()


def livedoor_archive(n_files: int, n_bytes: int) -> bytes:
    with tarfile.open(fileobj=(file := io.BytesIO()), mode="w:gz") as archive:
        for number in range(n_files):
            info = tarfile.TarInfo(f"text/news/news-{number}.txt")
            info.size = n_bytes
            archive.addfile(info, io.BytesIO(b"http\nday\ntitle\n".ljust(n_bytes, b"x")))
    return file.getvalue()


def keys_and_rows() -> bytes:
    """0.4 MiB of JSON lines: every row has each of 999 columns."""
    return b"".join(b'{"k%d":1}\n' % key for key in range(999)) + b'{"k":1}\n' * 50_000


@pytest.mark.parametrize(
    ("function", "name", "make", "words"),
    [
        (files.read_table, "a.jsonl", keys_and_rows, "more than 5,000,000 cells"),
        (files.read_table, "a.xlsx", lambda: workbook([["a"] * 900, *[["x"]] * 20_000]), "more than 5,000,000 cells"),
        (files.read_table, "a.csv", lambda: b"a,b\n" + b"x\n" * 500_000, "more than 100,000 rows that cannot be read"),
        (read_livedoor, "a.tar.gz", lambda: livedoor_archive(8, 25 * MIB), "takes more than 150 MiB of memory"),
        (
            files.read_table,
            "a.xlsx",
            lambda: workbook([["t"], *[[f"{row}" + "x" * 30_000] for row in range(6_000)]]),
            "takes more than 150 MiB of memory",
        ),
    ],
    ids=[
        "JSON lines with many keys",
        "a long header over short rows",
        "lines that are no rows",
        "tar.gz",
        "repeated texts in a workbook",
    ],
)
def test_a_small_file_that_holds_a_large_table(
    function: Any, name: str, make: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAKARI_READER_MB", "150")
    raw = make()
    assert len(raw) < 2 * MIB
    before = psutil.Process().memory_info().rss
    with pytest.raises(InputError, match=words) as caught:
        read(function, raw, name=name)
    assert name in caught.value.message and psutil.Process().memory_info().rss - before < GROWTH


def test_a_table_of_one_letter_lines_comes_back_small() -> None:
    """×276 before: a megabyte of text was 276 MB of objects."""
    raw = b"x\n" * 500_000
    table = read(files.read_table, raw, name="a.csv")
    assert len(table.frame) == 499_999
    assert table.frame["x"].array._pa_array.nbytes < 10 * len(raw)  # 8 bytes a cell and its letter


def test_cells_are_counted_over_all_files_of_an_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_MAX_CELLS", "100")
    file = ("a.csv", b"good,bad\n" + b"x,y\n" * 30)
    assert read(read_pairs, [file]).n == 30
    with pytest.raises(InputError, match="more than 100 cells"):
        read(read_pairs, [file, file])


def test_blank_cells_count_as_well() -> None:
    """The row x,,, has as many columns as any other; one of separators alone, which is left out, has none."""
    header, blank = b",".join(b"c%d" % i for i in range(1000)) + b"\n", b"," * 999 + b"\n"
    assert len(read(files.read_table, header + blank * 5001 + b"x" + blank, name="a.csv").frame) == 1
    raw = header + (b"x" + blank) * 5001
    with pytest.raises(InputError, match="more than 5,000,000 cells"):
        read(files.read_table, raw, name="a.csv")


def test_what_is_refused_and_what_is_read_come_back_as_from_the_function() -> None:
    raw = workbook([["text", "label"], ["秤", "x"], ["", "y"]])
    assert read(files.read_table, raw, name="a.xlsx").frame.equals(files.read_table(raw, "a.xlsx").frame)
    text = b"text,label\n" + b"a,b\n" * 100_000 + b"c\n"
    with pytest.raises(InputError) as refused:
        read(files.read_table, text, name="a.csv")
    with pytest.raises(InputError) as expected:
        files.read_table(text, "a.csv")
    assert str(refused.value) == str(expected.value) and refused.value.rows == expected.value.rows


def test_a_path_is_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook([["text"], ["秤"]]))
    assert read(files.read_table, path).name == "a.xlsx"
    assert read(files.read_table, path, name="b.xlsx").name == "b.xlsx"


def test_beside_other_threads_it_comes_from_the_fork_server() -> None:
    """As in a server: forking a process with threads could copy a lock that nobody releases."""
    raw = workbook([["text"], ["秤"]])
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(read, files.read_table, raw, name="a.xlsx").result().frame["text"].tolist() == ["秤"]


# Functions that a process reads with


def sleep(_: Path, name: str) -> str:
    time.sleep(60)
    return name


def pid(_: Path, name: str) -> int:
    return os.getpid()


def die(_: Path, name: str) -> None:
    os._exit(3)


def fail(_: Path, name: str) -> None:
    raise KeyError(name)


def report(_: Path, name: str) -> None:
    bounds.report(30, 100)
    time.sleep(60)


def long_text(_: Path, name: str) -> str:
    return "x" * 3 * MIB


def test_the_time_is_bounded_even_if_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_READER_SECONDS", "0.3")
    reader = Reader(sleep, b"", name="a.zip")
    process = psutil.Process(reader._child.process.pid)
    end = time.monotonic() + SECONDS
    with suppress(psutil.NoSuchProcess):  # gone: the fork server has waited for it
        while process.status() != psutil.STATUS_ZOMBIE:  # ended, and not waited for
            assert time.monotonic() < end
            time.sleep(0.05)
    assert reader.wait(10)
    with pytest.raises(InputError, match="takes longer than 0 seconds to read"):
        reader.result()


def test_cancelling_ends_the_process_and_removes_the_file() -> None:
    reader = Reader(sleep, b"secret", name="a.zip")
    process, folder = psutil.Process(reader._child.process.pid), reader._folder
    assert not reader.wait(0.1) and (folder / "source-0").read_bytes() == b"secret"
    other = threading.Timer(0.2, reader.cancel)
    other.start()
    while not reader.wait(0.05):
        pass
    other.join()
    with pytest.raises(Cancelled, match=r"Reading a\.zip was cancelled"):
        reader.result()
    assert not process.is_running() and not folder.exists()


def test_a_reader_that_is_forgotten_ends() -> None:
    """A session that ends while it reads leaves neither process nor file."""
    reader = Reader(sleep, b"", name="a.zip")
    process, folder = psutil.Process(reader._child.process.pid), reader._folder
    del reader
    gc.collect()
    assert not process.is_running() and not folder.exists()


def test_a_reader_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The alarm of the system does not end a process that is stopped."""
    monkeypatch.setenv("HAKARI_READER_SECONDS", "1")
    monkeypatch.setattr(reader_process, "JOIN_SECONDS", 0.1)
    with closing(Reader(sleep, b"", name="a.zip")) as reader:
        psutil.Process(reader._child.process.pid).suspend()
        assert reader.wait(20)
        with pytest.raises(InputError, match="longer than 1 seconds"):
            reader.result()


def test_nothing_stays_behind_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that no other test has: another's reader may be at work meanwhile."""
    monkeypatch.setattr(private_folders, "_parent", None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with closing(Reader(pid, b"", name="a.zip")) as reader:
        assert list(tmp_path.glob("hakari-read-*"))
        assert reader.wait(SECONDS) and reader.result() != os.getpid()
    assert not list(tmp_path.iterdir())


def test_progress() -> None:
    reader = Reader(report, b"", name="a.zip")
    end = time.monotonic() + SECONDS
    while reader.progress.done == 0 and time.monotonic() < end:
        assert not reader.wait(0.1)
    assert reader.progress == (30, 100)
    reader.cancel()


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (die, InputError, "a.zip cannot be read: the process that read it ended with exit code 3"),
        (fail, RuntimeError, "Reading a.zip failed: KeyError: 'a.zip'"),
        (long_text, InputError, "a.zip holds more than 2 MiB of text"),
    ],
)
def test_other_endings(function: Any, error: type[Exception], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_process, "RESULT_MB", 2)
    with pytest.raises(error, match=words):
        read(function, b"", name="a.zip")


def test_small_text_is_read_here() -> None:
    assert read(pid, b"a,b\n", name="a.csv") == os.getpid()
    assert read(pid, b"a,b\n" * 2**17, name="a.csv") != os.getpid()


@pytest.mark.parametrize(
    ("raw", "name", "expected"),
    [
        (b"text", "a.csv", True),
        (b"{}", "a.jsonl", True),
        (b"x" * 2**18, "a.txt", True),
        (b"<items/>", "b.review", True),
        (b"x" * 2**18 + b"x", "a.txt", False),
        (b"PK\x03\x04", "a.csv", False),
        (b"\x1f\x8b", "a.txt", False),
        (b"text", "a.xlsx", False),
        (b"text", "a.zip", False),
    ],
)
def test_what_counts_as_small(raw: bytes, name: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(raw)
    assert is_small(raw, name) is expected is is_small(tmp_path / name) is is_small([(name, raw)])


@pytest.mark.parametrize(
    "variable", ["HAKARI_READER_MB", "HAKARI_READER_SECONDS", "HAKARI_READERS", "HAKARI_MAX_CELLS"]
)
def test_bounds_that_are_none(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "-1")
    with pytest.raises(InputError, match=f"{variable} must be a number of .* above 0; got '-1'"):
        read(files.read_table, workbook([["text"], ["秤"]]), name="a.xlsx")


def test_a_system_without_room_for_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoProcess:
        def Pipe(self, duplex: bool) -> Any:  # noqa: N802
            return (open(os.devnull, "rb"), open(os.devnull, "rb"))

        def Process(self, **_: Any) -> Any:  # noqa: N802
            return self

        def start(self) -> None:
            raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(reader_process, "_context", NoProcess)
    with pytest.raises(InputError, match="does not start"):
        read(pid, b"", name="a.zip")


def _as_arrow_without_memory(source: Path, name: str = "") -> None:
    raise pa.ArrowException("Unknown error: Wrapping two\nlines failed")


def test_arrow_without_memory_for_a_text_is_memory_and_no_fault_of_hakari(tmp_path: Path) -> None:
    """What it raised for a million rows before, and what was said of it."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"a\n" * 2**18)
    with pytest.raises(InputError, match="takes more than 512 MiB of memory to read"):
        read(_as_arrow_without_memory, path)
