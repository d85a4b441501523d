"""The cache: pieces survive, the size is bounded, and no damage to the file stops a run."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.inference.backend import Piece
from engine.inference.cache import ROW_BYTES, USE_RESOLUTION_SECONDS, Cache
from engine.inference.piece_bytes import from_bytes, to_bytes

MEGABYTE = 2**20
ROOT = Path(__file__).parents[2]
ARRAYS = (
    np.array([[1.5, -2.25], [np.nan, np.inf]], np.float32),
    np.array([True, False]),
    np.zeros((0, 3), np.int32),
    np.array(7, np.int64),
    np.arange(6, dtype=np.float64).reshape(2, 3).T,
)


def piece(number: int, n_bytes: int = 40) -> Piece:
    """A piece of about `n_bytes` that no other number has."""
    values = np.full(max(n_bytes // 4, 1), number, np.float32)
    return {"values": values, "text": f"文{number}", "tokens": ["猫", str(number)]}


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    cache = Cache(tmp_path / "folder" / "cache.sqlite", 64 * MEGABYTE)
    yield cache
    cache.close()


def same(first: Piece, second: Piece) -> bool:
    """Equal fields, arrays of equal type, shape and content (NaN included)."""
    if first.keys() != second.keys():
        return False
    for name, value in first.items():
        if isinstance(value, np.ndarray):
            array = second[name]
            if value.dtype != array.dtype or value.shape != array.shape or value.tobytes() != array.tobytes():
                return False
        elif value != second[name] or type(value) is not type(second[name]):
            return False
    return True


def test_a_piece_comes_back_as_it_was(cache: Cache) -> None:
    full: Piece = {f"array{i}": array for i, array in enumerate(ARRAYS)}
    full |= {"text": "秤\ud800😀", "tokens": ["##にち", ""], "n": 3, "x": 0.1, "yes": True, "none": None}
    cache.put_many({"a": full, "b": {}})
    pieces = cache.get_many(["b", "a", "nowhere", "a"])
    assert pieces.keys() == {"a", "b"}
    assert same(pieces["a"], full) and pieces["b"] == {}


def test_arrays_that_come_back_are_writable_and_their_own(cache: Cache) -> None:
    cache.put_many({"a": piece(1)})
    cache.get_many(["a"])["a"]["values"][:] = 9
    assert same(cache.get_many(["a"])["a"], piece(1))


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.one_of(
            st.text(max_size=8),
            st.lists(st.text(max_size=3), max_size=3),
            st.integers(),
            st.booleans(),
            st.floats(allow_nan=False),
            st.sampled_from(ARRAYS),
        ),
        max_size=5,
    )
)
def test_bytes_and_back(fields: dict[str, Any]) -> None:
    assert same(from_bytes(to_bytes(fields)), fields)


@pytest.mark.parametrize("value", [np.array(["text"]), np.array([object()]), np.float32(1), {1, 2}])
def test_what_cannot_be_kept_without_pickle_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        to_bytes({"field": value})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x05\0\0\0[]",
        b"\xff\xff\xff\xffgarbage",
        to_bytes(piece(1))[:-1],
        to_bytes(piece(1)).replace(b"<f4", b"|O8"),
    ],
)
def test_bytes_that_are_no_piece_are_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a piece"):
        from_bytes(data)


def test_what_was_put_is_there_for_the_next_process(tmp_path: Path) -> None:
    first = Cache(tmp_path / "c.sqlite", MEGABYTE)
    first.put_many({"a": piece(1)})
    # Not closed: as after a crash.
    assert same(Cache(tmp_path / "c.sqlite", MEGABYTE).get_many(["a"])["a"], piece(1))


def test_a_key_put_again_has_the_new_value(cache: Cache) -> None:
    cache.put_many({"a": piece(1), "b": piece(2)})
    cache.put_many({"a": piece(3, n_bytes=50_000)})
    pieces = cache.get_many("ab")
    assert same(pieces["a"], piece(3, n_bytes=50_000)) and same(pieces["b"], piece(2))


def test_read_through_computes_each_missing_key_once_and_keeps_each_part_at_once(cache: Cache) -> None:
    cache.put_many({"b": piece(2)})
    calls: list[list[str]] = []

    def compute(missing: list[str]) -> Iterator[dict[str, Piece]]:
        calls.append(missing)
        yield {"a": piece(1)}
        assert "a" in cache.get_many(["a"])
        yield {"c": piece(3)}

    pieces = cache.cached(["c", "a", "b", "a"], compute)
    assert calls == [["c", "a"]]
    assert all(same(pieces[key], piece(number)) for key, number in zip("abc", (1, 2, 3), strict=True))
    assert cache.cached(["c", "b"], compute).keys() == {"b", "c"} and len(calls) == 1


def test_parts_that_were_finished_survive_an_error(cache: Cache) -> None:
    def compute(missing: list[str]) -> Iterator[dict[str, Piece]]:
        yield {"a": piece(1)}
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        cache.cached(["a", "b"], compute)
    assert cache.get_many("ab").keys() == {"a"}


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    clock = [1_000_000.0]
    cache = Cache(tmp_path / "c.sqlite", 2 * MEGABYTE, now=lambda: clock[0])
    for number in range(16):
        clock[0] += USE_RESOLUTION_SECONDS + 1
        cache.put_many({str(number): piece(number, n_bytes=100_000)})
    clock[0] += USE_RESOLUTION_SECONDS + 1
    assert cache.get_many(["0", "1"]).keys() == {"0", "1"}
    cache.put_many({str(number): piece(number, n_bytes=100_000) for number in range(16, 22)})
    remaining = cache.get_many(map(str, range(22)))
    # 2 MiB hold 20 pieces of 100 kB; a tenth more is freed when there is no room.
    assert {"0", "1", *map(str, range(16, 22))} <= remaining.keys()
    assert not {"2", "3"} & remaining.keys()
    assert cache.used_bytes() <= 2 * MEGABYTE


def test_the_file_stays_within_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    cache = Cache(path, 2 * MEGABYTE)
    for start in range(0, 4000, 200):  # 4,000 pieces of about 5 kB: ten times the bound
        cache.put_many({str(number): piece(number, n_bytes=5_000) for number in range(start, start + 200)})
    assert path.stat().st_size <= 2 * MEGABYTE
    assert len(cache.get_many(map(str, range(4000)))) > 200


def test_a_piece_larger_than_the_cache_is_not_kept_and_costs_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c.sqlite", MEGABYTE)
    cache.put_many({"small": piece(1)})
    cache.put_many({"large": piece(2, n_bytes=2 * MEGABYTE)})
    assert cache.get_many(["small", "large"]).keys() == {"small"}


def test_a_row_costs_what_is_reckoned_for_it(cache: Cache) -> None:
    cache.put_many({"": piece(0)})
    before = cache.used_bytes()
    key = "k" * 59
    cache.put_many({f"{key}{number:05}": {} for number in range(5000)})
    per_row = (cache.used_bytes() - before) / 5000
    assert per_row < 1.5 * ROW_BYTES


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE pieces SET value = zeroblob(length(value))",
        "UPDATE pieces SET checksum = randomblob(16)",
        "UPDATE pieces SET value = substr(value, 1, 20)",
        "UPDATE entries SET key = 'b'",  # a sound value under another key
    ],
)
def test_a_damaged_entry_is_dropped_and_computed_again(
    tmp_path: Path, statement: str, caplog: pytest.LogCaptureFixture
) -> None:
    cache = Cache(tmp_path / "c.sqlite", MEGABYTE)
    cache.put_many({"a": piece(1)})
    with sqlite3.connect(tmp_path / "c.sqlite") as file:
        file.execute(statement)
    file.close()
    assert cache.get_many("ab") == {}
    pieces = cache.cached("ab", lambda missing: [{key: piece(5) for key in missing}])
    assert same(pieces["a"], piece(5)) and same(cache.get_many("ab")["a"], piece(5))


@pytest.mark.parametrize("content", [b"garbage" * 5000, b"x" * 700, b"SQLite format 3\0" + b"\xff" * 9000])
def test_a_file_that_is_no_cache_is_put_aside(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "c.sqlite"
    path.write_bytes(content)
    cache = Cache(path, MEGABYTE)
    assert cache.get_many(["a"]) == {}
    cache.put_many({"a": piece(1)})
    assert same(cache.get_many(["a"])["a"], piece(1))
    assert (tmp_path / "c.sqlite.corrupt").read_bytes() == content
    assert len(caplog.records) == 1 and "renamed to" in caplog.text


def test_a_file_of_another_version_is_put_aside(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "c.sqlite") as file:
        file.execute("PRAGMA user_version = 999")
    file.close()
    cache = Cache(tmp_path / "c.sqlite", MEGABYTE)
    cache.put_many({"a": piece(1)})
    assert "a" in cache.get_many(["a"]) and (tmp_path / "c.sqlite.corrupt").exists()


def test_a_file_overwritten_while_it_is_used_is_begun_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "c.sqlite"
    cache = Cache(path, 64 * MEGABYTE)
    cache.put_many({str(number): piece(number, n_bytes=5_000) for number in range(3000)})  # past SQLite's own memory
    cache.close()
    cache = Cache(path, 64 * MEGABYTE)
    cache.get_many(["0"])
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))
    cache.get_many(map(str, range(3000)))
    cache.put_many({"a": piece(1)})
    assert same(cache.get_many(["a"])["a"], piece(1))
    assert (tmp_path / "c.sqlite.corrupt").exists()


def test_without_a_usable_place_work_goes_on_with_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("no folder")
    for path in (tmp_path / "file" / "c.sqlite", tmp_path):
        caplog.clear()
        cache = Cache(path, MEGABYTE)
        for _ in range(3):
            pieces = cache.cached(["a"], lambda missing: [{key: piece(1) for key in missing}])
            assert same(pieces["a"], piece(1))
        assert cache.get_many(["a"]) == {}
        assert [record.levelno for record in caplog.records] == [logging.WARNING]
        assert "cannot be used" in caplog.text


def test_a_full_disk_leaves_what_is_there_and_warns_once(tmp_path: Path) -> None:
    # A limit on the size of files stands for the full disk: the system refuses to write beyond it.
    program = f"""
import logging, resource, signal, sys
import numpy as np
from pathlib import Path
from engine.inference.cache import Cache
logging.basicConfig(format="LOGGED %(message)s")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
cache = Cache(Path({str(tmp_path)!r}) / "c.sqlite", 2**30)
cache.put_many({{"first": {{"n": 1}}}})
resource.setrlimit(resource.RLIMIT_FSIZE, ({MEGABYTE}, {MEGABYTE}))
for number in range(5):
    cache.put_many({{str(number): {{"a": np.zeros(10**6, np.float32)}}}})
assert cache.get_many(["first", "0", "4"]) == {{"first": {{"n": 1}}}}
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("LOGGED") == 1, done.stderr


def test_a_closed_cache_is_empty_and_keeps_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c.sqlite", MEGABYTE)
    cache.put_many({"a": piece(1)})
    cache.close()
    cache.put_many({"b": piece(2)})
    assert cache.get_many("ab") == {} and cache.used_bytes() == 0
    assert Cache(tmp_path / "c.sqlite", MEGABYTE).get_many("ab").keys() == {"a"}


def test_threads_share_one_cache(cache: Cache) -> None:
    failures: list[object] = []

    def work(worker: int) -> None:
        try:
            for number in range(30):
                worker_pieces = {f"{worker}-{number}-{i}": piece(worker * 1000 + number) for i in range(5)}
                cache.put_many(worker_pieces)
                pieces = cache.get_many([*worker_pieces, "0-0-0"])
                if not all(same(pieces[key], worker_pieces[key]) for key in worker_pieces):
                    failures.append((worker, number))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def put_and_get(path: Path, worker: int) -> None:
    """What each of several processes does to one file, beginning at the same moment."""
    cache = Cache(path, 64 * MEGABYTE)
    for number in range(20):
        cache.put_many({f"{worker}-{number}": piece(worker * 100 + number), "shared": piece(0)})
    pieces = cache.get_many([f"{worker}-{number}" for number in range(20)])
    if len(pieces) != 20 or not same(pieces[f"{worker}-7"], piece(worker * 100 + 7)):
        sys.exit(1)


def test_processes_share_one_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=put_and_get, args=(tmp_path / "c.sqlite", worker)) for worker in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    keys = [f"{worker}-{number}" for worker in range(3) for number in range(20)]
    assert len(Cache(tmp_path / "c.sqlite", 64 * MEGABYTE).get_many(keys)) == 60


def test_a_process_killed_while_it_writes_leaves_a_sound_file(tmp_path: Path) -> None:
    program = f"""
import numpy as np
from pathlib import Path
from engine.inference.cache import Cache
cache = Cache(Path({str(tmp_path)!r}) / "c.sqlite", 2**30)
for number in range(10**6):
    cache.put_many({{f"{{number}}-{{i}}": {{"a": np.full(5000, number, np.int32)}} for i in range(20)}})
    print(number, flush=True)
"""
    writer = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    written = [int(writer.stdout.readline()) for _ in range(10)][-1]
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    written_keys = [f"{number}-{i}" for number in range(written + 1) for i in range(20)]
    assert Cache(tmp_path / "c.sqlite", 2**30).get_many(written_keys).keys() == set(written_keys)
    assert not (tmp_path / "c.sqlite.corrupt").exists()


def test_a_hundred_thousand_pieces_in_a_few_seconds(cache: Cache) -> None:
    pieces = {f"{number:064}": {"log_likelihoods": np.full(12, number, np.float32)} for number in range(100_000)}
    # Time of the processor, not of the clock: other work on the machine is not ours. Alone, 1.3 s and 0.8 s.
    start = time.process_time()
    cache.put_many(pieces)
    put = time.process_time()
    stored = cache.get_many(pieces)
    end = time.process_time()
    assert len(stored) == 100_000 and stored[f"{77:064}"]["log_likelihoods"][0] == 77
    assert put - start < 6 and end - put < 4
