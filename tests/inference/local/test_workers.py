"""Worker processes: fair between runs, replaced when they die, ended with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine.errors import InputError, ModelError, RunError, WorkerDied
from engine.inference.fair_queue import FairQueue
from engine.inference.local import worker_process
from engine.inference.local.workers import TRIES, LocalWorkers
from engine.processes import deaths
from tests.support import fake_chunks
from tests.waiting import SECONDS, alive, wait_until

ROOT = Path(__file__).parents[3]
# Starting a process and importing takes a second or two when the machine is busy; nothing here waits so long.


def made(n_devices: int = 1) -> LocalWorkers:
    return LocalWorkers(
        ["cpu"] * n_devices,
        chunk_function=fake_chunks.run_chunk,
        prepare_function=fake_chunks.prepare_chunk,
        grace_seconds=0.5,
    )


@pytest.fixture(scope="module")
def shared() -> Iterator[LocalWorkers]:
    """Workers for the tests that leave the process alive."""
    workers = made()
    yield workers
    workers.close()


@pytest.fixture
def workers() -> Iterator[LocalWorkers]:
    workers = made()
    yield workers
    workers.close()


def ask(workers: LocalWorkers, operation: str, *items: Any, run_id: str = "run") -> Future[list[Any]]:
    request: dict[str, Any] = {"model": "fake/model", "revision": None, "items": list(items), "settings": {}}
    return workers.run(operation, request, run_id)


class TestFairQueue:
    def test_runs_take_turns_and_each_keeps_its_order(self) -> None:
        queue: FairQueue[str] = FairQueue()
        for job in ("a1", "a2", "a3", "b1", "c1", "b2"):
            queue.put(job[0], job)
        assert [queue.take() for _ in range(6)] == ["a1", "b1", "c1", "a2", "b2", "a3"]

    def test_a_run_that_comes_late_has_its_turn_next_but_those_waiting(self) -> None:
        queue: FairQueue[str] = FairQueue()
        for job in ("a1", "a2", "a3", "a4"):
            queue.put("a", job)
        assert [queue.take(), queue.take()] == ["a1", "a2"]
        queue.put("b", "b1")
        assert [queue.take() for _ in range(3)] == ["a3", "b1", "a4"]

    def test_dropping_a_run_leaves_the_others(self) -> None:
        queue: FairQueue[str] = FairQueue()
        for job in ("a1", "b1", "a2"):
            queue.put(job[0], job)
        assert queue.drop("a") == ["a1", "a2"] and queue.drop("nobody") == []
        assert queue.take() == "b1"

    def test_closing_frees_whoever_waits(self) -> None:
        queue: FairQueue[str] = FairQueue()
        results: list[str | None] = []
        thread = threading.Thread(target=lambda: results.append(queue.take()))
        thread.start()
        assert queue.close() == []
        thread.join(timeout=SECONDS)
        assert results == [None] and queue.take() is None
        assert not queue.put("a", "a1")


def test_answers_come_from_one_process_that_stays(shared: LocalWorkers) -> None:
    assert ask(shared, "echo", "猫", 2).result(SECONDS) == ["猫", 2]
    first, second = (ask(shared, "pid", 0).result(SECONDS)[0] for _ in range(2))
    assert first == second != os.getpid()
    assert shared.pids() == [first]


@pytest.mark.parametrize("further", [0, 8])
def test_workers_stand_back_where_they_are_told_to(monkeypatch: pytest.MonkeyPatch, further: int) -> None:
    """Behind others as far as they are told to, and never before the process that they work for."""
    own = min(psutil.Process().nice() + further, 19)
    monkeypatch.setattr(os, "getpriority", lambda *of: own if of == (os.PRIO_PROCESS, 0) else 0)
    workers = LocalWorkers(["cpu"], chunk_function=fake_chunks.run_chunk, niceness=7)
    try:
        [pid] = ask(workers, "pid", 0).result(SECONDS)
        assert psutil.Process(pid).nice() == max(own, 7)
    finally:
        workers.close(0)


def loaded_model(name: str) -> dict[str, Any]:
    return {"name": name, "task": "encode", "device": "cpu", "parameters": 10, "bytes": 40}


def test_what_a_worker_holds_is_known_without_asking_it(workers: LocalWorkers, tmp_path: Path) -> None:
    assert workers.workers() == ()
    ask(workers, "echo", "猫").result(SECONDS)
    [state] = workers.workers()
    assert (state.device, state.models, state.computing, state.seconds) == ("cpu", (), "", 0.0)
    assert state.pid in workers.pids() and (state.memory_bytes or 0) > 10**6
    ask(workers, "hold", loaded_model("first")).result(SECONDS)
    ask(workers, "hold", loaded_model("second")).result(SECONDS)
    [state] = workers.workers()
    assert [model.name for model in state.models] == ["first", "second"] and state.models[0].bytes == 40
    # While a chunk is computed, the last report is returned at once.
    gate = tmp_path / "gate"
    future = ask(workers, "wait for", str(gate))
    wait_until(gate.with_suffix(".begun").exists)
    start = time.monotonic()
    [state] = workers.workers()
    assert time.monotonic() - start < 10  # the chunk ends only once the gate is there
    assert (state.computing, len(state.models)) == ("wait for fake/model", 2) and state.seconds > 0
    gate.touch()
    future.result(SECONDS)
    assert workers.workers()[0].computing == ""


def test_an_error_tells_what_is_held_too_and_a_new_worker_holds_nothing(workers: LocalWorkers) -> None:
    ask(workers, "hold", loaded_model("first")).result(SECONDS)
    with pytest.raises(ModelError):
        ask(workers, "raise", "model").result(SECONDS)
    assert [model.name for model in workers.workers()[0].models] == ["first"]
    with pytest.raises(WorkerDied):
        ask(workers, "die", "now").result(SECONDS)
    assert workers.workers() == ()
    ask(workers, "echo", "again").result(SECONDS)
    assert workers.workers()[0].models == ()


def test_nothing_starts_before_the_first_chunk() -> None:
    n_threads = threading.active_count()
    workers = LocalWorkers(["cpu"], chunk_function=fake_chunks.run_chunk)
    assert workers.pids() == [] and threading.active_count() == n_threads
    workers.close()


def test_a_small_run_does_not_wait_behind_a_big_one(shared: LocalWorkers, tmp_path: Path) -> None:
    finished: list[str] = []
    gate = tmp_path / "gate"
    first = ask(shared, "wait for", str(gate), run_id="gate")  # holds the worker while the others queue up
    futures = []
    for run_id, n_chunks in (("big", 12), ("small", 3)):
        for _ in range(n_chunks):
            future = ask(shared, "sleep", 0.005, run_id=run_id)
            future.add_done_callback(partial(lambda run_id, _: finished.append(run_id), run_id))
            futures.append(future)
    gate.touch()
    for future in [first, *futures]:
        future.result(SECONDS)
    assert finished[:6] == ["big", "small"] * 3 and finished[6:] == ["big"] * 9


def test_cancelling_a_run_drops_what_is_queued_of_it(shared: LocalWorkers, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    running = ask(shared, "wait for", str(gate), run_id="a")
    wait_until(gate.with_suffix(".begun").exists)
    queued = [ask(shared, "echo", i, run_id="a") for i in range(3)]
    other_run = ask(shared, "echo", "other", run_id="b")
    shared.cancel("a")
    assert all(future.cancelled() for future in queued)
    gate.touch()
    assert running.result(SECONDS) == [str(gate)] and other_run.result(SECONDS) == ["other"]
    assert ask(shared, "echo", "again", run_id="a").result(SECONDS) == ["again"]


def test_a_future_cancelled_by_its_owner_is_not_computed(shared: LocalWorkers, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    running = ask(shared, "wait for", str(gate))
    wait_until(gate.with_suffix(".begun").exists)
    unwanted = ask(shared, "wait for", str(tmp_path / "unwanted"))
    assert unwanted.cancel()
    gate.touch()
    running.result(SECONDS)
    assert ask(shared, "echo", 1).result(SECONDS) == [1] and not (tmp_path / "unwanted.begun").exists()


def test_errors_of_the_engine_come_back_as_themselves(shared: LocalWorkers) -> None:
    with pytest.raises(InputError, match="Two rows are bad") as caught:
        ask(shared, "raise", "input").result(SECONDS)
    assert [bad.row for bad in caught.value.rows] == [3, 5]
    with pytest.raises(ModelError, match="no such model"):
        ask(shared, "raise", "model").result(SECONDS)
    with pytest.raises(RunError, match=r"not enough memory.*fake/model.*17 GB"):
        ask(shared, "raise", "memory").result(SECONDS)


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ("raise bug", "ZeroDivisionError in a worker during raise: by zero"),
        ("raise bug", "in _raise"),
        ("raise awkward", "AwkwardError"),
        ("unpicklable", "worker during unpicklable"),
        ("no such operation", "KeyError"),
    ],
)
def test_a_bug_in_the_worker_surfaces_with_its_traceback(shared: LocalWorkers, operation: str, words: str) -> None:
    operation, _, item = operation.partition(" ") if operation.startswith("raise") else (operation, "", "")
    with pytest.raises(RuntimeError) as caught:
        ask(shared, operation, item).result(SECONDS)
    assert words in str(caught.value)
    assert ask(shared, "echo", 1).result(SECONDS) == [1]


def test_a_request_that_cannot_be_sent_fails_alone(shared: LocalWorkers) -> None:
    bad = ask(shared, "echo", lambda: None)
    good = ask(shared, "echo", 1)
    with pytest.raises(Exception, match="pickle"):
        bad.result(SECONDS)
    assert good.result(SECONDS) == [1]


def test_the_worker_knows_the_environment_and_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_THREADS", "3")
    monkeypatch.setenv("HAKARI_DEVICES", "cuda:0, cuda:1")
    workers = LocalWorkers(chunk_function=fake_chunks.run_chunk)
    assert workers.devices == ("cuda:0", "cuda:1")
    try:
        futures = [ask(workers, "environment", "HAKARI_DEVICE", "HAKARI_THREADS", "HAKARI_WORKERS") for _ in range(2)]
        # While one worker sleeps, the other computes the second request; either order will do.
        futures += [ask(workers, "sleep", 0.5) for _ in range(2)]
        answers = [future.result(SECONDS) for future in futures[:2]]
        assert all(device in workers.devices and variables == ["3", "2"] for device, *variables in answers)
        wait_until(lambda: len(workers.pids()) == 2)
    finally:
        workers.close()
    monkeypatch.delenv("HAKARI_DEVICES")
    assert LocalWorkers().devices == ("auto",)


def test_a_worker_killed_in_the_middle_is_replaced_and_its_chunk_done_again(
    workers: LocalWorkers, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    futures = [ask(workers, "wait for", str(gate)), ask(workers, "pid", 0), ask(workers, "echo", "other", run_id="b")]
    wait_until(gate.with_suffix(".begun").exists)
    killed = workers.pids()
    os.kill(killed[0], signal.SIGKILL)
    gate.touch()
    assert futures[0].result(SECONDS) == [str(gate)]
    assert futures[1].result(SECONDS)[0] not in killed
    assert futures[2].result(SECONDS) == ["other"]
    # And killed when it has nothing to do.
    os.kill(workers.pids()[0], signal.SIGKILL)
    assert ask(workers, "echo", 1).result(SECONDS) == [1]


def test_a_worker_that_dies_while_it_answers_is_replaced(workers: LocalWorkers, tmp_path: Path) -> None:
    answer = ask(workers, "die while answering", str(tmp_path / "marker")).result(SECONDS)
    assert answer == [b"x" * 100_000]


@pytest.fixture
def no_counters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Then SIGKILL is taken for what the system does when memory runs out."""
    monkeypatch.setattr(deaths, "_COUNTERS", tmp_path / "none")


def test_a_chunk_whose_worker_is_killed_from_outside_is_done_in_the_end(workers: LocalWorkers, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    answer, killed = ask(workers, "wait for", str(gate)), 0
    while killed < TRIES + 1:
        wait_until(gate.with_suffix(".begun").exists)
        gate.with_suffix(".begun").unlink()
        os.kill(workers.pids()[0], signal.SIGKILL)
        killed += 1
    gate.touch()
    assert answer.result(SECONDS) == [str(gate)]


def test_a_worker_that_hangs_is_said_and_replaced(
    workers: LocalWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_process, "BEAT_SECONDS", 0.1)
    monkeypatch.setattr(worker_process, "UNHEARD_SECONDS", 0.2)
    gate = tmp_path / "gate"
    answer = ask(workers, "wait for", str(gate))
    wait_until(gate.with_suffix(".begun").exists)
    (stopped,) = workers.pids()
    os.kill(stopped, signal.SIGSTOP)
    wait_until(lambda: "hakari-worker-cpu has given no sign of life for" in workers.fault())
    monkeypatch.setattr(worker_process, "SILENT_SECONDS", 0.5)
    wait_until(lambda: not alive(stopped))
    monkeypatch.setattr(worker_process, "SILENT_SECONDS", 60)
    gate.touch()
    assert answer.result(SECONDS) == [str(gate)] and workers.fault() == ""


def test_a_worker_that_computes_for_long_gives_signs_of_life(workers: LocalWorkers, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    answer = ask(workers, "wait for", str(gate))
    wait_until(gate.with_suffix(".begun").exists)
    worker = workers._workers[0]
    heard = worker._heard
    wait_until(lambda: worker._heard > heard)
    gate.touch()
    assert answer.result(SECONDS) == [str(gate)]


@pytest.mark.usefixtures("no_counters")
def test_a_chunk_that_always_kills_its_worker_fails_alone(workers: LocalWorkers) -> None:
    deadly = ask(workers, "die", "one", "two", run_id="a")
    echoes = [ask(workers, "echo", i, run_id=run_id) for run_id in ("b", "c") for i in range(3)]
    with pytest.raises(WorkerDied, match=r"ended 2 times during die of 2 items with fake/model: .*SIGKILL.*memory"):
        deadly.result(SECONDS)
    assert [future.result(SECONDS) for future in echoes] == [[0], [1], [2]] * 2
    with pytest.raises(WorkerDied, match="exit code 7"):
        ask(workers, "exit", 7).result(SECONDS)


def test_the_next_chunk_is_prepared_while_one_is_computed(shared: LocalWorkers, tmp_path: Path) -> None:
    gates = [tmp_path / str(number) for number in range(3)]
    futures = [ask(shared, "wait for", str(gate)) for gate in gates]
    wait_until(gates[1].with_suffix(".prepared").exists)
    assert gates[0].with_suffix(".begun").exists() and not gates[1].with_suffix(".begun").exists()
    assert not gates[2].with_suffix(".prepared").exists() and not futures[0].done()
    for gate, future in zip(gates, futures, strict=True):
        gate.touch()
        assert future.result(SECONDS) == [str(gate)]


def test_the_next_chunk_begins_before_the_answer_has_arrived(shared: LocalWorkers, tmp_path: Path) -> None:
    answer, following = tmp_path / "answer", tmp_path / "following"
    slow, fast = ask(shared, "answer slowly", str(answer)), ask(shared, "wait for", str(following))
    wait_until(following.with_suffix(".begun").exists)
    assert not slow.done()
    following.touch()
    assert not fast.done()  # answers arrive in the order of the chunks
    answer.touch()
    assert (slow.result(SECONDS), fast.result(SECONDS)) == ([str(answer)], [str(following)])


def test_a_prepared_chunk_can_be_cancelled_by_its_run(shared: LocalWorkers, tmp_path: Path) -> None:
    gate, unwanted = tmp_path / "gate", tmp_path / "unwanted"
    running, prepared = ask(shared, "wait for", str(gate), run_id="a"), ask(shared, "wait for", str(unwanted))
    wait_until(unwanted.with_suffix(".prepared").exists)
    shared.cancel("run")
    assert prepared.cancelled() and not running.done()
    gate.touch()
    running.result(SECONDS)
    assert ask(shared, "echo", 1).result(SECONDS) == [1] and not unwanted.with_suffix(".begun").exists()


def test_a_run_that_comes_while_a_chunk_is_prepared_waits_for_that_one_alone(
    shared: LocalWorkers, tmp_path: Path
) -> None:
    gates = [tmp_path / str(number) for number in range(2)]
    futures = [ask(shared, "wait for", str(gate), run_id="big") for gate in gates]
    wait_until(gates[1].with_suffix(".prepared").exists)
    finished: list[str] = []
    for run_id in ("big", "big", "small", "small"):
        future = ask(shared, "echo", 1, run_id=run_id)
        future.add_done_callback(partial(lambda run_id, _: finished.append(run_id), run_id))
        futures.append(future)
    for gate in gates:
        gate.touch()
    for future in futures:
        future.result(SECONDS)
    assert finished == ["small", "big", "small", "big"]


@pytest.mark.usefixtures("no_counters")
def test_a_chunk_whose_preparation_kills_the_worker_fails_alone(workers: LocalWorkers, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    innocent = ask(workers, "wait for", str(gate))
    wait_until(gate.with_suffix(".begun").exists)
    first = workers.pids()
    deadly, others = ask(workers, "die prepared", 0), [ask(workers, "echo", number) for number in range(3)]
    gate.touch()
    assert innocent.result(SECONDS) == [str(gate)]
    with pytest.raises(WorkerDied, match="ended 2 times during die prepared"):
        deadly.result(SECONDS)
    assert [future.result(SECONDS) for future in others] == [[0], [1], [2]] and workers.pids() != first


def test_a_preparation_that_panics_keeps_nobody_waiting(workers: LocalWorkers, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    innocent = ask(workers, "wait for", str(gate))
    wait_until(gate.with_suffix(".begun").exists)
    panicking = ask(workers, "panic prepared", str(tmp_path / "other"))
    wait_until((tmp_path / "other.prepared").exists)
    gate.touch()
    assert innocent.result(SECONDS) == [str(gate)] and panicking.result(SECONDS) == [str(tmp_path / "other")]
    assert ask(workers, "echo", 1).result(SECONDS) == [1]


def test_devices_of_several_kinds_are_refused() -> None:
    with pytest.raises(InputError, match="of one kind; got cpu, cuda"):
        LocalWorkers(("cuda:0", "cpu"))
    with pytest.raises(InputError, match="of one kind; got cpu, cuda"):
        LocalWorkers(("cuda:0+cpu",))


@pytest.mark.parametrize("opened", [0, 1])
def test_an_idle_device_computes_what_a_busy_one_has_prepared(tmp_path: Path, opened: int) -> None:
    workers = made(2)
    try:
        gates = [tmp_path / str(number) for number in range(2)]
        busy = [ask(workers, "wait for", str(gate)) for gate in gates]
        wait_until(lambda: all(gate.with_suffix(".begun").exists() for gate in gates))
        waiting = [ask(workers, "echo", number) for number in range(4)]
        gates[opened].touch()
        assert [future.result(SECONDS) for future in waiting] == [[0], [1], [2], [3]]
        assert not busy[1 - opened].done()
        gates[1 - opened].touch()
        assert busy[1 - opened].result(SECONDS)
    finally:
        workers.close()


def test_close_ends_what_runs_and_what_waits(workers: LocalWorkers, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    running, queued = ask(workers, "wait for", str(gate)), ask(workers, "echo", 1)
    wait_until(gate.with_suffix(".begun").exists)
    pid = workers.pids()[0]
    start = time.monotonic()
    workers.close()
    assert time.monotonic() - start < 10
    with pytest.raises(RunError, match="closed"):
        running.result(SECONDS)
    with pytest.raises(CancelledError):
        queued.result(SECONDS)
    assert not alive(pid)
    with pytest.raises(RunError, match="closed"):
        ask(workers, "echo", 1)
    workers.close()


def test_a_chunk_that_runs_may_finish_when_closed(workers: LocalWorkers, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    running, queued = ask(workers, "wait for", str(gate)), ask(workers, "echo", 1)
    wait_until(gate.with_suffix(".begun").exists)
    threading.Timer(0.3, gate.touch).start()
    workers.close(grace_seconds=SECONDS)
    assert len(running.result(0)) == 1 and queued.cancelled() and workers.pids() == []


def test_an_idle_worker_ends_in_order_when_closed(workers: LocalWorkers, tmp_path: Path) -> None:
    ask(workers, "leave a mark", str(tmp_path / "mark")).result(SECONDS)
    workers.close()
    assert (tmp_path / "mark").exists() and workers.pids() == []


def test_by_default_the_models_compute(tmp_path: Path) -> None:
    workers = LocalWorkers()
    try:
        with pytest.raises(InputError, match="sentence_vectors"):  # the operations there are
            ask(workers, "no such operation", "猫").result(4 * SECONDS)
    finally:
        workers.close()


def program(tmp_path: Path, body: str, *, guarded: bool = True) -> subprocess.Popen[str]:
    """A Python program that has workers."""
    text = textwrap.dedent(body)
    if guarded:
        text = 'if __name__ == "__main__":\n' + textwrap.indent(text, "    ")
    path = tmp_path / "program.py"
    path.write_text(
        "import sys, time\n"
        "from pathlib import Path\n"
        "from engine.inference.local.workers import LocalWorkers\n"
        "from tests.support import fake_chunks\n\n" + text,
        encoding="utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, str(path)],
        cwd=tmp_path,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


BUSY = """
    workers = LocalWorkers(["cpu"], chunk_function=fake_chunks.run_chunk)
    running = workers.run("wait for", {"items": [str(Path("gate").resolve())]}, "run")
    while not Path("gate.begun").exists():
        time.sleep(0.01)
    print(workers.pids()[0], flush=True)
"""


def test_a_program_that_does_not_close_ends_at_once_and_its_worker_too(tmp_path: Path) -> None:
    done = program(tmp_path, BUSY)
    out, err = done.communicate(timeout=SECONDS)  # the chunk itself would go on for 30 s
    assert done.returncode == 0, err
    assert "Traceback" not in err
    wait_until(lambda: not alive(int(out)))


@pytest.mark.parametrize("state", ["busy", "idle"])
def test_a_parent_that_is_killed_leaves_no_worker(tmp_path: Path, state: str) -> None:
    end = 'Path("gate").touch(); running.result()\n    ' if state == "idle" else ""
    parent = program(tmp_path, BUSY.rstrip().replace("print(", end + "print(") + "\n    time.sleep(600)\n")
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert alive(pid)
    parent.kill()
    parent.communicate()
    wait_until(lambda: not alive(pid))


def test_a_script_without_a_main_guard_is_told_so(tmp_path: Path) -> None:
    done = program(
        tmp_path,
        """
        workers = LocalWorkers(["cpu"], chunk_function=fake_chunks.run_chunk)
        print(workers.run("echo", {"items": [1]}, "run").result())
    """,
        guarded=False,
    )
    out, err = done.communicate(timeout=SECONDS)
    assert done.returncode == 1 and out == ""
    assert "WorkerDied" in err and "it could not start" in err and 'if __name__ == "__main__":' in err


def test_neither_the_parent_nor_a_worker_imports_what_it_does_not_need(tmp_path: Path) -> None:
    done = program(
        tmp_path,
        """
        import engine.inference.cache, engine.inference.gateway
        heavy = {"torch", "transformers", "umap", "numba", "streamlit"}
        workers = LocalWorkers(["cpu"], chunk_function=fake_chunks.run_chunk)
        worker_modules = workers.run("modules", {"items": [0]}, "run").result()[0]
        print(sorted(heavy & set(sys.modules)), sorted(heavy & set(worker_modules)))
        workers.close()
    """,
    )
    out, err = done.communicate(timeout=SECONDS)
    assert out.strip() == "[] []", err
