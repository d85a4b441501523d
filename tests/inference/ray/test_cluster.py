"""A real Ray cluster on this machine: the same numbers as without it, whatever is lost on the way."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets import sample_data
from engine.errors import InputError, ModelError, RunError, WorkerDied
from engine.evaluations.minimal_pairs import evaluate as minimal_pairs
from engine.inference.backend import Backend
from engine.inference.gateway import Gateway
from engine.inference.local.workers import LocalWorkers
from engine.inference.ray.cluster import RayWorkers, backend_of_environment
from engine.inference.ray.settings import RaySettings
from engine.inference.run_client import RunClient
from engine.models.sources.cards import built_in_directory
from tests.support import fake_chunks
from tests.support.loopback_ray import ENVIRONMENT, ROOT, LoopbackCluster
from tests.waiting import SECONDS, alive, wait_until

BERT = "builtin/bert-mini-ja"
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install -r deploy/requirements-ray.txt"
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[LoopbackCluster]:
    """A head node with one processor; tests that need more nodes start them."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**ENVIRONMENT, "HAKARI_THREADS": "1"}.items():
            patch.setenv(name, value)
        cluster = LoopbackCluster()
        try:
            cluster.start_head()
            yield cluster
        finally:
            cluster.close()


@pytest.fixture(scope="module")
def shared(cluster: LoopbackCluster) -> Iterator[RayWorkers]:
    """One replica that computes `fake_chunks`."""
    workers = RayWorkers(RaySettings(cluster.address, 1, 1), chunk_function=fake_chunks.run_chunk, grace_seconds=0.5)
    yield workers
    workers.close()


def ask(
    workers: RayWorkers, operation: str, *items: Any, model: str = "fake/model", run_id: str = "run"
) -> Future[list[Any]]:
    return workers.run(operation, {"model": model, "revision": None, "items": list(items), "settings": {}}, run_id)


def evaluated(backend: Backend) -> minimal_pairs.Result:
    settings = minimal_pairs.Settings((BERT,))
    return minimal_pairs.evaluate(settings, sample_data.minimal_pairs(), Gateway(backend, None).session("run"))


@needs_ray
class TestOneReplica:
    """A replica behaves like a local worker; see the tests of `local`."""

    def test_it_computes_with_its_share_of_the_node(self, shared: RayWorkers) -> None:
        assert shared.workers() == () and shared.fault() == ""  # nothing starts before the first chunk
        answer = ask(shared, "environment", "HAKARI_THREADS", "HAKARI_DEVICE", "HAKARI_WORKERS", "OMP_NUM_THREADS")
        assert answer.result(SECONDS) == ["1", "cpu", "1", "1"]
        [state] = shared.workers()
        assert state.device.startswith("cpu on ") and state.memory_bytes and state.memory_bytes > 10**7
        assert shared.pids()[1:] == [state.pid] == ask(shared, "pid", 0).result(SECONDS)
        assert shared.fault() == "" and shared.statistics.read().chunks == 2

    def test_what_it_holds_is_known_without_asking_it(self, shared: RayWorkers) -> None:
        resident = {"name": "fake/model", "task": "encode", "device": "cpu", "parameters": 10, "bytes": 40}
        ask(shared, "hold", resident).result(SECONDS)
        assert [model.name for model in shared.workers()[0].models] == ["fake/model"]

    def test_errors_come_back_as_themselves(self, shared: RayWorkers) -> None:
        with pytest.raises(InputError, match="Two rows are bad") as caught:
            ask(shared, "raise", "input").result(SECONDS)
        assert [bad.row for bad in caught.value.rows] == [3, 5]
        with pytest.raises(RunError, match=r"not enough memory.*fake/model.*17 GB"):
            ask(shared, "raise", "memory").result(SECONDS)
        with pytest.raises(RuntimeError, match="ZeroDivisionError in a worker during raise: by zero"):
            ask(shared, "raise", "bug").result(SECONDS)
        with pytest.raises(RuntimeError, match="worker during unpicklable"):
            ask(shared, "unpicklable", "").result(SECONDS)
        with pytest.raises(Exception, match="pickle"):
            ask(shared, "echo", lambda: None).result(SECONDS)
        assert ask(shared, "echo", "猫").result(SECONDS) == ["猫"]

    def test_arrays_may_be_written_to(self, shared: RayWorkers) -> None:
        # Ray itself hands out arrays in its store, which are read-only; large ones only.
        [array] = ask(shared, "echo", np.zeros(10**6)).result(SECONDS)
        array[0] = 1.0
        assert array.sum() == 1.0

    def test_cancelling_drops_what_is_queued(self, shared: RayWorkers, tmp_path: Path) -> None:
        gate = tmp_path / "gate"
        running = ask(shared, "wait for", str(gate), run_id="a")
        wait_until(gate.with_suffix(".begun").exists)
        queued, other_run = ask(shared, "echo", 1, run_id="a"), ask(shared, "echo", 2, run_id="b")
        shared.cancel("a")
        gate.touch()
        assert queued.cancelled() and other_run.result(SECONDS) == [2] and running.result(SECONDS) == [str(gate)]

    def test_a_killed_replica_is_replaced_and_its_chunk_done_again(self, shared: RayWorkers, tmp_path: Path) -> None:
        gate = tmp_path / "gate"
        futures = [ask(shared, "wait for", str(gate)), ask(shared, "pid", 0)]
        wait_until(gate.with_suffix(".begun").exists)
        [killed] = [state.pid for state in shared.workers()]
        gate.with_suffix(".begun").unlink()
        os.kill(killed, signal.SIGKILL)
        wait_until(gate.with_suffix(".begun").exists)  # it begins anew
        gate.touch()
        assert futures[0].result(SECONDS) == [str(gate)] and futures[1].result(SECONDS) != [killed]

    def test_a_killed_driver_is_replaced_too(self, shared: RayWorkers, tmp_path: Path) -> None:
        gate = tmp_path / "gate"
        running = ask(shared, "wait for", str(gate))
        wait_until(gate.with_suffix(".begun").exists)
        gate.with_suffix(".begun").unlink()
        pids = shared.pids()
        os.kill(pids[0], signal.SIGKILL)
        wait_until(gate.with_suffix(".begun").exists)
        gate.touch()
        assert running.result(SECONDS) == [str(gate)] and shared.fault() == ""
        assert not {*shared.pids()} & {*pids}
        wait_until(lambda: not any(map(alive, pids)))  # the replica has lost its driver, and ends

    def test_a_chunk_that_always_kills_its_replica_fails_alone(self, shared: RayWorkers) -> None:
        deadly, other_run = ask(shared, "die", "one", "two", run_id="a"), ask(shared, "echo", 1, run_id="b")
        with pytest.raises(WorkerDied, match=r"lost 2 times during die of 2 items with fake/model: .*memory"):
            deadly.result(SECONDS)
        assert other_run.result(SECONDS) == [1]

    def test_a_directory_must_be_the_same_on_the_node(self, shared: RayWorkers, tmp_path: Path) -> None:
        model = tmp_path / "model"
        shutil.copytree(built_in_directory(BERT), model)
        address = shared.locate(str(model)).address
        assert ask(shared, "echo", 1, model=address).result(SECONDS) == [1]
        config = model / "config.json"
        config.write_text(config.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        with pytest.raises(ModelError, match=r"files of .*/model on node \S+ .* are not those of the web server"):
            ask(shared, "echo", 1, model=address).result(SECONDS)
        shutil.rmtree(model)
        with pytest.raises(ModelError, match=r"directory .*/model is not on node \S+"):
            ask(shared, "echo", 1, model=address).result(SECONDS)

    def test_closing_ends_everything(self, cluster: LoopbackCluster, shared: RayWorkers, tmp_path: Path) -> None:
        gate = tmp_path / "gate"
        running, queued = ask(shared, "wait for", str(gate)), ask(shared, "echo", 1)
        wait_until(gate.with_suffix(".begun").exists)
        pids = shared.pids()
        assert len(pids) == 2 and all(map(alive, pids))
        shared.close()
        with pytest.raises(RunError, match="closed"):
            running.result(0)
        with pytest.raises(CancelledError):
            queued.result(0)
        with pytest.raises(RunError, match="closed"):
            ask(shared, "echo", 1)
        wait_until(lambda: not any(map(alive, pids)))
        assert shared.pids() == [] and "closed" in shared.fault()


@needs_ray
def test_a_server_that_is_killed_leaves_nothing(cluster: LoopbackCluster, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        f"""
import time
from engine.inference.ray.cluster import RayWorkers
from engine.inference.ray.settings import RaySettings
from tests.support import fake_chunks
if __name__ == "__main__":
    workers = RayWorkers(RaySettings("{cluster.address}", 1, 1), chunk_function=fake_chunks.run_chunk)
    workers.run("echo", {{"items": [1]}}, "run").result()
    print(*workers.pids(), flush=True)
    time.sleep(600)
""",
        encoding="utf-8",
    )
    with subprocess.Popen(
        [sys.executable, str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdout is not None
        pids = [int(pid) for pid in server.stdout.readline().split()]
        assert len(pids) == 2 and all(map(alive, pids))
        server.kill()
    wait_until(lambda: not any(map(alive, pids)))


@needs_ray
def test_a_node_lost_in_the_middle_of_a_run_changes_no_number(
    cluster: LoopbackCluster, caplog: pytest.LogCaptureFixture
) -> None:
    node = cluster.start_node()
    local, workers = LocalWorkers(["cpu"]), RayWorkers(RaySettings(cluster.address, 2, 2))
    try:
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(evaluated, workers)
            # Each node has one processor, so two that compute are on both nodes.
            wait_until(
                lambda: (
                    workers.statistics.read().chunks >= 3
                    and sum(bool(state.computing) for state in workers.workers()) == 2
                )
            )
            cluster.kill(node)
            result = running.result(3 * SECONDS)
        assert "was lost" in caplog.text and len(workers.workers()) == 1
        expected = evaluated(local)
        pd.testing.assert_frame_equal(result.pairs, expected.pairs, check_exact=True)
        pd.testing.assert_frame_equal(result.tokens, expected.tokens, check_exact=True)
        assert result.signature == expected.signature and len(result.pairs) == 200
    finally:
        workers.close()
        local.close()


@needs_ray
def test_a_node_of_other_code_computes_nothing(
    cluster: LoopbackCluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(ROOT / "engine", tmp_path / "engine", ignore=shutil.ignore_patterns("__pycache__", "*.safetensors"))
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "engine" / "models" / "sources" / "names.py").open("a", encoding="utf-8") as file:
        file.write("# edited on one node\n")
    node = cluster.start_node(PYTHONPATH=str(tmp_path))
    workers = RayWorkers(RaySettings(cluster.address, 2, 2), chunk_function=fake_chunks.run_chunk, grace_seconds=0.5)
    try:
        futures = [ask(workers, "pid", 0) for _ in range(8)]
        wait_until(lambda: "the code of Hakari there differs" in caplog.text)
        assert {future.result(SECONDS)[0] for future in futures} == {state.pid for state in workers.workers()}
        time.sleep(2)  # it is not offered the other node again
        assert len(workers.workers()) == 1 and caplog.text.count("was refused") == 1 and workers.fault() == ""
    finally:
        workers.close()
        cluster.kill(node)


@needs_ray
def test_runs_wait_for_a_lost_head_and_say_so_and_go_on(cluster: LoopbackCluster, tmp_path: Path) -> None:
    gate, labels, answers = tmp_path / "gate", list[str](), list[Any]()
    workers = RayWorkers(RaySettings(cluster.address, 1, 1), chunk_function=fake_chunks.run_chunk, grace_seconds=0.5)
    client = RunClient(workers, "run", lambda done, total, label: labels.append(label), None)
    request = {"model": "fake/model", "items": [str(gate)], "settings": {}}
    run = threading.Thread(target=lambda: answers.extend(client.as_completed("wait for", [request])))
    try:
        run.start()
        wait_until(gate.with_suffix(".begun").exists)
        cluster.kill(cluster.head)
        wait_until(lambda: labels)
        assert labels[0].startswith(f"The Ray cluster at {cluster.address} does not answer; runs wait")
        assert workers.fault() == labels[0]
        queued = ask(workers, "echo", "later")
        gate.touch()
        cluster.start_head()
        run.join(SECONDS)
        assert answers == [(0, [str(gate)])]
        assert queued.result(SECONDS) == ["later"] and workers.fault() == ""
    finally:
        workers.close()


@needs_ray
def test_a_cluster_that_is_not_there_is_waited_for_and_closing_does_not_wait() -> None:
    workers = RayWorkers(RaySettings("127.0.0.1:9", 1, 1), chunk_function=fake_chunks.run_chunk)
    waiting = ask(workers, "echo", 1)
    wait_until(workers.fault)
    assert "127.0.0.1:9 does not answer; runs wait" in workers.fault()
    own = [each for each in threading.enumerate() if each.name.startswith("hakari-ray")]
    assert own and all(each.daemon for each in own)  # a program that does not close ends all the same
    start = time.monotonic()
    workers.close()
    assert time.monotonic() - start < 5 and waiting.cancelled()


def test_the_environment_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HAKARI_RAY_ADDRESS", raising=False)
    assert isinstance(backend_of_environment(), LocalWorkers)
    monkeypatch.setenv("HAKARI_RAY_ADDRESS", "head:6379")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install -r deploy/requirements-ray\.txt"):
        backend_of_environment()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setenv("HAKARI_RAY_GPUS", "0.5")
    workers = backend_of_environment()
    assert isinstance(workers, RayWorkers) and workers.devices == ("cuda",)
    workers.close()
