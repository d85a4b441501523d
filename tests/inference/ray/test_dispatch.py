"""Scheduling on a Ray cluster, with a fake driver that records the messages sent to it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from engine.errors import InputError, WorkerDied
from engine.inference.fair_queue import FairQueue
from engine.inference.ray.dispatch import PATIENCE, REFUSED_SECONDS, ROOM_SECONDS, Dispatcher
from engine.inference.ray.fleet import Job
from engine.inference.ray.replica import ReplicaInfo, ReplicaStatus, replicas_on
from engine.inference.ray.settings import RaySettings, ray_settings
from engine.inference.statistics import Statistics
from engine.inference.worker_state import ModelInMemory

LOCAL_VERSIONS = {"code": "abc", "torch": "2.13.0"}
NO_MODELS = ReplicaStatus(10**6, ())


class FakeDriver:
    """Records the messages sent to it."""

    def __init__(self) -> None:
        self.messages: list[tuple[Any, ...]] = []
        self.ended = False

    def send(self, *message: Any) -> None:
        self.messages.append(message)

    def end(self) -> None:
        self.ended = True

    def numbers(self, kind: str) -> list[int]:
        return [message[1] for message in self.messages if message[0] == kind]


class Scheduler:
    """A dispatcher with its queue, its fake drivers, and a manual clock."""

    def __init__(self, minimum: int = 1, maximum: int = 4) -> None:
        self.queue: FairQueue[Job] = FairQueue()
        self.drivers: list[FakeDriver] = []
        self.now = 100.0
        settings = RaySettings("head:6379", minimum, maximum, idle_seconds=300)
        self.dispatcher = Dispatcher(settings, self.queue, Statistics(), LOCAL_VERSIONS, self._driver)

    def _driver(self) -> FakeDriver:
        self.drivers.append(FakeDriver())
        return self.drivers[-1]

    @property
    def driver(self) -> FakeDriver:
        return self.drivers[-1]

    def put(self, *models: str, run_id: str = "run") -> list[Job]:
        jobs = [Job("sentence_vectors", {"model": model, "items": ["猫"]}, run_id) for model in models]
        for job in jobs:
            self.queue.put(run_id, job)
        self.receive("work")
        return jobs

    def receive(self, *message: Any, after: float = 0.0) -> list[Any]:
        self.now += after
        outcomes = self.dispatcher.handle_message(message, self.now)
        return outcomes + self.dispatcher.schedule(self.now)

    def ready(self, number: int, node: str = "a", **versions: str) -> None:
        self.receive("ready", number, ReplicaInfo(node, f"id-{node}", "elsewhere", 7, {**LOCAL_VERSIONS, **versions}))

    def model_by_replica(self) -> dict[int, str]:
        return {replica.number: replica.job.model for replica in self.dispatcher.fleet.busy() if replica.job}


def connected(minimum: int = 1, maximum: int = 4, n_ready: int = 0) -> Scheduler:
    """A scheduler with a connected driver and `n_ready` started replicas."""
    scheduler = Scheduler(minimum, maximum)
    scheduler.put("")
    scheduler.queue.drop("run")
    scheduler.receive("connected")
    for number in range(1, n_ready + 1):
        scheduler.ready(number)
    return scheduler


def loaded_model(name: str, size: int = 1) -> ModelInMemory:
    return ModelInMemory(name, "encode", "cpu", size, size)


def test_nothing_is_connected_before_there_is_work() -> None:
    scheduler = Scheduler()
    scheduler.receive("work")
    assert scheduler.drivers == [] and scheduler.dispatcher.fault(scheduler.now) == ""
    scheduler.put("m")
    assert scheduler.driver.messages == []  # it connects by itself
    scheduler.receive("connected")
    assert scheduler.driver.numbers("start") == [1]


class TestScaling:
    def test_replicas_follow_the_queue_within_their_bounds(self) -> None:
        # one for every four chunks that wait or are computed: ceil(9 / 4) = 3
        scheduler = connected(1, 4)
        scheduler.put(*["m"] * 9)
        assert scheduler.driver.numbers("start") == [1, 2, 3]
        scheduler.put(*["m"] * 40)
        assert scheduler.driver.numbers("start") == [1, 2, 3, 4]

    def test_what_was_asked_for_in_vain_is_taken_back(self) -> None:
        scheduler = connected(1, 4)
        scheduler.put(*["m"] * 16)
        scheduler.queue.drop("run")
        scheduler.receive("work")
        assert scheduler.driver.numbers("end") == [4, 3, 2]  # the minimum stays

    def test_idle_replicas_beyond_the_minimum_end_after_their_time(self) -> None:
        scheduler = connected(1, 3)
        scheduler.put(*["m"] * 12)
        for number in (1, 2, 3):
            scheduler.ready(number)
        scheduler.queue.drop("run")
        for number in (2, 1):
            scheduler.receive("answer", number, b"", NO_MODELS, after=10)
        scheduler.receive("work", after=289)  # 299 s after the first answer, while the third chunk still runs
        assert scheduler.driver.numbers("end") == []
        scheduler.receive("work", after=1.5)
        assert scheduler.driver.numbers("end") == [2]
        scheduler.receive("work", after=10_000)
        assert scheduler.driver.numbers("end") == [2, 1] and list(scheduler.dispatcher.fleet.replicas) == [3]
        scheduler.receive("answer", 3, b"", NO_MODELS)
        scheduler.receive("work", after=10_000)
        assert list(scheduler.dispatcher.fleet.replicas) == [3]  # the minimum

    def test_with_a_minimum_of_none_the_last_ends_too(self) -> None:
        scheduler = connected(0, 2)
        scheduler.put("m")
        scheduler.ready(1)
        scheduler.receive("answer", 1, b"", NO_MODELS)
        scheduler.receive("work", after=301)
        assert scheduler.dispatcher.fleet.replicas == {} and scheduler.driver.numbers("end") == [1]


class TestChoice:
    def test_a_chunk_goes_where_its_model_is(self) -> None:
        scheduler = connected(3, 3, n_ready=3)
        scheduler.put("a", "b", "c")
        replica_by_model = {model: number for number, model in scheduler.model_by_replica().items()}
        for model, number in replica_by_model.items():
            scheduler.receive("answer", number, b"", ReplicaStatus(1, (loaded_model(model),)))
        scheduler.put("c", "a")
        assert scheduler.model_by_replica() == {replica_by_model["c"]: "c", replica_by_model["a"]: "a"}

    def test_a_new_model_goes_where_most_room_is(self) -> None:
        scheduler = connected(2, 2, n_ready=2)
        scheduler.put("a", "b")
        scheduler.receive("answer", 1, b"", ReplicaStatus(1, (loaded_model("a", 500),)))
        scheduler.receive("answer", 2, b"", ReplicaStatus(1, (loaded_model("b", 20),)))
        scheduler.put("c")
        assert scheduler.model_by_replica() == {2: "c"}

    def test_work_without_a_model_leaves_it_be(self) -> None:
        scheduler = connected(1, 1, n_ready=1)
        scheduler.put("a")
        scheduler.receive("answer", 1, b"", ReplicaStatus(1, ()))
        scheduler.put("")
        scheduler.receive("answer", 1, b"", ReplicaStatus(1, ()))
        replica = scheduler.dispatcher.fleet.replicas[1]
        assert replica.holds("a") and not replica.holds("b")

    def test_a_run_is_passed_over_for_a_models_sake_only_so_often(self) -> None:
        scheduler = connected(1, 1, n_ready=1)
        scheduler.put("held", run_id="first")
        scheduler.put(*["other"] * 2, run_id="waits")
        scheduler.put(*["held"] * 40, run_id="goes on")
        order = []
        for _ in range(2 * PATIENCE + 4):
            order.append(scheduler.model_by_replica()[1])
            scheduler.receive("answer", 1, b"", ReplicaStatus(1, (loaded_model(scheduler.model_by_replica()[1]),)))
        # the first chunk, then PATIENCE of the same model; the model that is loaded for the other run then stays for it
        assert order[: PATIENCE + 3] == ["held"] * (PATIENCE + 1) + ["other"] * 2

    def test_the_queue_keeps_each_runs_order_and_takes_back_to_the_front(self) -> None:
        queue: FairQueue[str] = FairQueue()
        for job in ("a1", "a2", "b1"):
            queue.put(job[0], job)
        assert len(queue) == 3
        assert queue.choose(lambda job: job == "a2", 9) == "a1"  # nothing suits: whose turn it is
        assert queue.choose(lambda job: job == "a2", 9) == "a2"  # b waits once
        assert queue.put_back("a", "a2") and queue.take() == "a2"
        assert queue.choose(lambda job: False, 9) == "b1" and queue.choose(lambda job: True, 9) is None
        queue.close()
        assert not queue.put_back("a", "a1") and queue.choose(lambda job: True, 9) is None

    def test_nobody_computes_what_was_cancelled(self) -> None:
        scheduler = connected(1, 1)
        first, second = scheduler.put("m", "m")
        first.future.cancel()
        scheduler.ready(1)
        assert scheduler.driver.numbers("compute") == [1] and scheduler.dispatcher.fleet.replicas[1].job is second

    def test_the_answer_of_a_replica_is_its_chunks(self) -> None:
        scheduler = connected(2, 2, n_ready=2)
        first, second = scheduler.put("a", "b")
        number_by_job = {replica.job: replica.number for replica in scheduler.dispatcher.fleet.busy()}
        assert scheduler.receive("answer", number_by_job[second], b"two", NO_MODELS) == [(second, b"two")]
        assert scheduler.receive("answer", number_by_job[first], b"one", NO_MODELS) == [(first, b"one")]
        assert scheduler.receive("answer", number_by_job[first], b"again", NO_MODELS) == []


class TestLosses:
    def test_a_lost_chunk_comes_first_and_fails_the_second_time(self) -> None:
        scheduler = connected(1, 1, n_ready=1)
        job, second_job = scheduler.put("m", "m")
        assert scheduler.receive("lost", 1, "no power") == [] and scheduler.driver.numbers("start") == [1, 2]
        scheduler.ready(2)
        assert scheduler.dispatcher.fleet.replicas[2].job is job
        [(failed, error)] = scheduler.receive("lost", 2, "killed again.")
        assert failed is job and isinstance(error, WorkerDied) and "lost 2 times" in str(error)
        assert "killed again." in str(error)
        scheduler.ready(3)
        assert scheduler.dispatcher.fleet.replicas[3].job is second_job

    def test_an_idle_replica_that_is_lost_is_not_counted_as_a_failure(self) -> None:
        scheduler = connected(1, 1, n_ready=1)
        assert scheduler.receive("lost", 1, "gone") == [] and scheduler.driver.numbers("start") == [1, 2]

    def test_a_head_that_is_gone_counts_against_no_chunk(self) -> None:
        scheduler = connected(1, 1, n_ready=1)
        [job] = scheduler.put("m")
        for _ in range(3):
            scheduler.receive("unreachable", "refused")
            assert "head:6379 does not answer; runs wait (refused)" in scheduler.dispatcher.fault(scheduler.now)
            assert scheduler.receive("exited", "ended") == [] and scheduler.driver.ended
            n_drivers = len(scheduler.drivers)
            scheduler.receive("work")
            assert len(scheduler.drivers) == n_drivers  # not at once
            scheduler.receive("work", after=1.1)
            assert len(scheduler.drivers) == n_drivers + 1
            scheduler.receive("connected")
            assert scheduler.dispatcher.fault(scheduler.now) == ""
            [number] = scheduler.dispatcher.fleet.replicas
            scheduler.ready(number)
            assert scheduler.dispatcher.fleet.replicas[number].job is job
        assert job.deaths == []

    def test_a_chunk_that_takes_the_driver_along_fails_the_second_time(self) -> None:
        scheduler = connected(1, 1, n_ready=1)
        [job] = scheduler.put("m")
        assert scheduler.receive("exited", "code -9") == []
        scheduler.receive("work", after=2)
        scheduler.receive("connected")
        scheduler.ready(*scheduler.dispatcher.fleet.replicas)
        [(failed, error)] = scheduler.receive("exited", "code -9")
        assert failed is job and "code -9" in str(error)

    def test_while_the_head_is_silent_nothing_is_given_out(self) -> None:
        scheduler = connected(1, 1, n_ready=1)
        scheduler.receive("unreachable", "refused")
        scheduler.put("m")
        assert scheduler.driver.numbers("compute") == []
        scheduler.receive("reachable")
        assert scheduler.driver.numbers("compute") == [1] and scheduler.dispatcher.fault(scheduler.now) == ""

    def test_it_connects_again_without_work_so_that_the_fault_ends(self) -> None:
        scheduler = connected(1, 1, n_ready=1)
        scheduler.receive("exited", "ended")
        scheduler.receive("work", after=2)
        assert len(scheduler.drivers) == 2
        scheduler.receive("connected")
        assert scheduler.dispatcher.fault(scheduler.now) == ""

    def test_attempts_become_rarer_while_replicas_cannot_start(self) -> None:
        scheduler = connected(1, 1)
        times = []
        for _ in range(400):
            if pending := scheduler.dispatcher.fleet.pending():
                times.append(scheduler.now)
                scheduler.receive("lost", pending[0].number, "ModuleNotFoundError: No module named 'engine'")
            scheduler.receive("work", after=0.25)
        pauses = [round(later - earlier) for earlier, later in pairwise(times)]
        assert pauses[:6] == [1, 2, 4, 8, 10, 10]
        assert "has no replica; runs wait (ModuleNotFoundError" in scheduler.dispatcher.fault(scheduler.now)


class TestRefusal:
    def test_a_replica_of_other_libraries_is_ended_and_its_node_avoided_for_a_while(self) -> None:
        scheduler = connected(1, 1)
        scheduler.put("m")
        scheduler.ready(1, "b", torch="2.12.0")
        assert scheduler.driver.numbers("compute") == [] and scheduler.driver.numbers("end") == [1]
        assert scheduler.driver.messages[-1] == ("start", 2, ("id-b",))
        fault = scheduler.dispatcher.fault(scheduler.now)
        assert "node b" in fault and "torch 2.12.0 there and 2.13.0 here" in fault
        scheduler.ready(2, "c")
        assert scheduler.dispatcher.fault(scheduler.now) == "" and scheduler.driver.numbers("compute") == [2]
        scheduler.receive("lost", 2, "x", after=REFUSED_SECONDS + 1)
        assert scheduler.driver.messages[-1] == ("start", 3, ())

    def test_other_code_is_named(self) -> None:
        scheduler = connected(1, 1)
        scheduler.ready(1, "b", code="xyz")
        assert "the code of Hakari there differs" in scheduler.dispatcher.fault(scheduler.now)


def test_a_cluster_without_room_is_told_of_after_a_while() -> None:
    scheduler = connected(1, 1)
    scheduler.put("m")
    scheduler.receive("work", after=ROOM_SECONDS - 1)
    assert scheduler.dispatcher.fault(scheduler.now) == ""
    scheduler.receive("work", after=2)
    assert "has no room for a replica of 1 CPU; runs wait" in scheduler.dispatcher.fault(scheduler.now)
    scheduler.ready(1)
    assert scheduler.dispatcher.fault(scheduler.now) == ""


class TestSettings:
    def test_no_address_means_no_cluster(self) -> None:
        assert ray_settings({}) is None and ray_settings({"HAKARI_RAY_ADDRESS": " "}) is None

    def test_all_of_it(self) -> None:
        settings = ray_settings(
            {
                "HAKARI_RAY_ADDRESS": "ray-head:6379",
                "HAKARI_RAY_REPLICAS": "0 - 12",
                "HAKARI_RAY_CPUS": "4",
                "HAKARI_RAY_GPUS": "0.5",
                "HAKARI_RAY_IDLE_SECONDS": "60",
            }
        )
        assert settings == RaySettings("ray-head:6379", 0, 12, 4.0, 0.5, 60.0)
        assert settings.host == ("ray-head", 6379) and settings.share == "4 CPU and 0.5 GPU"
        few = ray_settings({"HAKARI_RAY_ADDRESS": "[fd00::1]:6379", "HAKARI_RAY_REPLICAS": "3"})
        assert few is not None and (few.minimum, few.maximum, few.host) == (3, 3, ("fd00::1", 6379))

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("HAKARI_RAY_ADDRESS", "ray://head:10001"),
            ("HAKARI_RAY_ADDRESS", "head"),
            ("HAKARI_RAY_REPLICAS", "4-1"),
            ("HAKARI_RAY_REPLICAS", "0"),
            ("HAKARI_RAY_REPLICAS", "many"),
            ("HAKARI_RAY_CPUS", "0"),
            ("HAKARI_RAY_CPUS", "1.5"),
            ("HAKARI_RAY_GPUS", "-1"),
            ("HAKARI_RAY_IDLE_SECONDS", "nan"),
        ],
    )
    def test_what_makes_no_sense_is_named(self, name: str, value: str) -> None:
        with pytest.raises(InputError, match=name):
            ray_settings({"HAKARI_RAY_ADDRESS": "head:6379", name: value})

    def test_memory_is_shared_by_those_who_fit_on_a_node(self) -> None:
        # 16 processors / 4 = 4, 2 cards / 0.5 = 4, at most 3
        settings = RaySettings("head:6379", maximum=3, cpus=4, gpus=0.5)
        assert replicas_on({"CPU": 16.0, "GPU": 2.0}, settings) == 3
        assert replicas_on({"CPU": 8.0, "GPU": 2.0}, settings) == 2
        assert replicas_on({"CPU": 8.0}, settings) == 1
