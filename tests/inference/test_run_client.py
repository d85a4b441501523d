"""What a run that stops leaves behind."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from engine.errors import Cancelled
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from tests.support.fakes import FakeBackend
from tests.waiting import SECONDS

TEXTS = [f"{number}番目の文は長い文で、{'とても' * 20}長い。" for number in range(12)]


def n_entries(cache: Cache) -> int:
    return int(cache._file.read(lambda file: file.execute("SELECT count(*) FROM entries").fetchone()[0], 0))


def test_a_chunk_that_finishes_after_its_run_was_cancelled_is_kept(tmp_path: Path) -> None:
    gate, stop = threading.Event(), threading.Event()
    backend, cache = FakeBackend(n_parameters=10**9, gate=gate), Cache(tmp_path / "c.sqlite", 2**26)
    gate.set()
    facts = Gateway(backend, cache).session("facts").describe("fake/bert")
    gate.clear()
    session = Gateway(backend, cache).session("run", is_cancelled=stop.is_set)
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(Cancelled):
        session.sentence_vectors(facts.name, TEXTS)
    n_chunks = len([call for call in backend.calls if call.operation == "sentence_vectors"])
    assert n_chunks > 1  # one was being computed, the others waited
    before = n_entries(cache)
    gate.set()
    end = time.monotonic() + SECONDS
    while n_entries(cache) == before:
        assert time.monotonic() < end, "the late chunk was not kept"
        time.sleep(0.01)
    again = FakeBackend(n_parameters=10**9)
    Gateway(again, cache).session("again").sentence_vectors(facts.name, TEXTS)
    computed = sum(len(call.request["items"]) for call in again.calls if call.operation == "sentence_vectors")
    assert 0 < computed < len(TEXTS)  # what was finished is not computed twice, what was dropped is
    cache.close()


def test_a_run_says_why_it_waits_and_then_what_it_does_again() -> None:
    gate, reports = threading.Event(), list[tuple[int, int, str]]()
    backend = FakeBackend(gate=gate)
    backend.fault_message = "The workers are away; runs wait."
    session = Gateway(backend, None).session("run", on_progress=lambda *report: reports.append(report))
    running = threading.Thread(target=lambda: session.sentence_vectors("fake/bert", TEXTS))
    running.start()
    end = time.monotonic() + SECONDS
    while (0, 1, backend.fault_message) not in reports:
        assert time.monotonic() < end, reports
        time.sleep(0.01)
    backend.fault_message = ""
    while reports[-1] != (0, 1, "Opening fake/bert"):
        assert time.monotonic() < end, reports
        time.sleep(0.01)
    gate.set()
    running.join(10)
    labels = [label for _, _, label in reports]
    assert labels[:3] == ["Opening fake/bert", "The workers are away; runs wait.", "Opening fake/bert"]
    assert reports[-1] == (12, 12, "Sentence vectors: fake/bert")
