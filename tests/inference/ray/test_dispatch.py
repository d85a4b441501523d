"""Who computes what on a Ray cluster, decided here with a driver that only writes down what it is told."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from engine.errors import InputError, WorkerDied
from engine.inference.fair_queue import FairQueue
from engine.inference.ray.dispatch import PATIENCE, REFUSED_SECONDS, ROOM_SECONDS, Dispatch
from engine.inference.ray.fleet import Job
from engine.inference.ray.replica import Held, Introduction, replicas_on
from engine.inference.ray.settings import RaySettings, ray_settings
from engine.inference.statistics import Statistics
from engine.inference.worker_state import ResidentModel

OWN = {"code": "abc", "torch": "2.13.0"}
NOTHING = Held(10**6, ())


class FakeDriver:
    """Remembers what it was told; `sent` is by kind."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.ended = False

    def tell(self, *message: Any) -> None:
        self.told.append(message)

    def end(self) -> None:
        self.ended = True

    def numbers(self, kind: str) -> list[int]:
        return [message[1] for message in self.told if message[0] == kind]


class Desk:
    """A dispatch, its queue, its drivers, and a clock that is moved by hand."""

    def __init__(self, minimum: int = 1, maximum: int = 4) -> None:
        self.queue: FairQueue[Job] = FairQueue()
        self.drivers: list[FakeDriver] = []
        self.now = 100.0
        settings = RaySettings("head:6379", minimum, maximum, idle_seconds=300)
        self.dispatch = Dispatch(settings, self.queue, Statistics(), OWN, self._driver)

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
        self.hear("work")
        return jobs

    def hear(self, *message: Any, after: float = 0.0) -> list[Any]:
        self.now += after
        settled = self.dispatch.heed(message, self.now)
        return settled + self.dispatch.advance(self.now)

    def ready(self, number: int, node: str = "a", **surroundings: str) -> None:
        self.hear("ready", number, Introduction(node, f"id-{node}", "elsewhere", 7, {**OWN, **surroundings}))

    def computing(self) -> dict[int, str]:
        return {one.number: one.job.model for one in self.dispatch.fleet.busy() if one.job}


def connected(minimum: int = 1, maximum: int = 4, n_ready: int = 0) -> Desk:
    """Work was asked for once and is done, so that the driver is there, and so many replicas."""
    desk = Desk(minimum, maximum)
    desk.put("")
    desk.queue.drop("run")
    desk.hear("connected")
    for number in range(1, n_ready + 1):
        desk.ready(number)
    return desk


def resident(name: str, size: int = 1) -> ResidentModel:
    return ResidentModel(name, "encode", "cpu", size, size)


def test_nothing_is_connected_before_there_is_work() -> None:
    desk = Desk()
    desk.hear("work")
    assert desk.drivers == [] and desk.dispatch.fault(desk.now) == ""
    desk.put("m")
    assert desk.driver.told == []  # it connects by itself
    desk.hear("connected")
    assert desk.driver.numbers("start") == [1]


class TestScaling:
    def test_replicas_follow_the_queue_within_their_bounds(self) -> None:
        # one for every four chunks that wait or are computed: ceil(9 / 4) = 3
        desk = connected(1, 4)
        desk.put(*["m"] * 9)
        assert desk.driver.numbers("start") == [1, 2, 3]
        desk.put(*["m"] * 40)
        assert desk.driver.numbers("start") == [1, 2, 3, 4]

    def test_what_was_asked_for_in_vain_is_taken_back(self) -> None:
        desk = connected(1, 4)
        desk.put(*["m"] * 16)
        desk.queue.drop("run")
        desk.hear("work")
        assert desk.driver.numbers("end") == [4, 3, 2]  # the minimum stays

    def test_idle_replicas_beyond_the_minimum_end_after_their_time(self) -> None:
        desk = connected(1, 3)
        desk.put(*["m"] * 12)
        for number in (1, 2, 3):
            desk.ready(number)
        desk.queue.drop("run")
        for number in (2, 1):
            desk.hear("answer", number, b"", NOTHING, after=10)
        desk.hear("work", after=289)  # 299 s after the first answer, while the third chunk still runs
        assert desk.driver.numbers("end") == []
        desk.hear("work", after=1.5)
        assert desk.driver.numbers("end") == [2]
        desk.hear("work", after=10_000)
        assert desk.driver.numbers("end") == [2, 1] and list(desk.dispatch.fleet.replicas) == [3]
        desk.hear("answer", 3, b"", NOTHING)
        desk.hear("work", after=10_000)
        assert list(desk.dispatch.fleet.replicas) == [3]  # the minimum

    def test_with_a_minimum_of_none_the_last_ends_too(self) -> None:
        desk = connected(0, 2)
        desk.put("m")
        desk.ready(1)
        desk.hear("answer", 1, b"", NOTHING)
        desk.hear("work", after=301)
        assert desk.dispatch.fleet.replicas == {} and desk.driver.numbers("end") == [1]


class TestChoice:
    def test_a_chunk_goes_where_its_model_is(self) -> None:
        desk = connected(3, 3, n_ready=3)
        desk.put("a", "b", "c")
        place = {model: number for number, model in desk.computing().items()}
        for number in (1, 2, 3):
            desk.hear("answer", number, b"", Held(1, (resident({v: k for k, v in place.items()}[number]),)))
        desk.put("c", "a")
        assert desk.computing() == {place["c"]: "c", place["a"]: "a"}

    def test_a_new_model_goes_where_most_room_is(self) -> None:
        desk = connected(2, 2, n_ready=2)
        desk.put("a", "b")
        desk.hear("answer", 1, b"", Held(1, (resident("a", 500),)))
        desk.hear("answer", 2, b"", Held(1, (resident("b", 20),)))
        desk.put("c")
        assert desk.computing() == {2: "c"}

    def test_work_without_a_model_leaves_it_be(self) -> None:
        desk = connected(1, 1, n_ready=1)
        desk.put("a")
        desk.hear("answer", 1, b"", Held(1, ()))
        desk.put("")
        desk.hear("answer", 1, b"", Held(1, ()))
        assert desk.dispatch.fleet.replicas[1].holds("a") and not desk.dispatch.fleet.replicas[1].holds("b")

    def test_a_run_is_passed_over_for_a_models_sake_only_so_often(self) -> None:
        desk = connected(1, 1, n_ready=1)
        desk.put("held", run_id="first")
        desk.put(*["other"] * 2, run_id="waits")
        desk.put(*["held"] * 40, run_id="goes on")
        order = []
        for _ in range(2 * PATIENCE + 4):
            order.append(desk.computing()[1])
            desk.hear("answer", 1, b"", Held(1, (resident(desk.computing()[1]),)))
        # the first chunk, then PATIENCE of the same model; the model that is loaded for the other run then stays for it
        assert order[:PATIENCE + 3] == ["held"] * (PATIENCE + 1) + ["other"] * 2

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
        desk = connected(1, 1)
        first, second = desk.put("m", "m")
        first.future.cancel()
        desk.ready(1)
        assert desk.driver.numbers("ask") == [1] and desk.dispatch.fleet.replicas[1].job is second

    def test_the_answer_of_a_replica_is_its_chunks(self) -> None:
        desk = connected(2, 2, n_ready=2)
        first, second = desk.put("a", "b")
        at = {one.job: one.number for one in desk.dispatch.fleet.busy()}
        assert desk.hear("answer", at[second], b"two", NOTHING) == [(second, b"two")]
        assert desk.hear("answer", at[first], b"one", NOTHING) == [(first, b"one")]
        assert desk.hear("answer", at[first], b"again", NOTHING) == []


class TestLosses:
    def test_a_lost_chunk_comes_first_and_fails_the_second_time(self) -> None:
        desk = connected(1, 1, n_ready=1)
        job, other = desk.put("m", "m")
        assert desk.hear("lost", 1, "no power") == [] and desk.driver.numbers("start") == [1, 2]
        desk.ready(2)
        assert desk.dispatch.fleet.replicas[2].job is job
        [(failed, error)] = desk.hear("lost", 2, "killed again.")
        assert failed is job and isinstance(error, WorkerDied) and "lost 2 times" in str(error)
        assert "killed again." in str(error)
        desk.ready(3)
        assert desk.dispatch.fleet.replicas[3].job is other

    def test_an_idle_replica_that_is_lost_is_nobodys_fault(self) -> None:
        desk = connected(1, 1, n_ready=1)
        assert desk.hear("lost", 1, "gone") == [] and desk.driver.numbers("start") == [1, 2]

    def test_a_head_that_is_gone_counts_against_no_chunk(self) -> None:
        desk = connected(1, 1, n_ready=1)
        [job] = desk.put("m")
        for _ in range(3):
            desk.hear("silent", "refused")
            assert "head:6379 does not answer; runs wait (refused)" in desk.dispatch.fault(desk.now)
            assert desk.hear("gone", "ended") == [] and desk.driver.ended
            n_drivers = len(desk.drivers)
            desk.hear("work")
            assert len(desk.drivers) == n_drivers  # not at once
            desk.hear("work", after=1.1)
            assert len(desk.drivers) == n_drivers + 1
            desk.hear("connected")
            assert desk.dispatch.fault(desk.now) == ""
            [number] = desk.dispatch.fleet.replicas
            desk.ready(number)
            assert desk.dispatch.fleet.replicas[number].job is job
        assert job.deaths == []

    def test_a_chunk_that_takes_the_driver_along_fails_the_second_time(self) -> None:
        desk = connected(1, 1, n_ready=1)
        [job] = desk.put("m")
        assert desk.hear("gone", "code -9") == []
        desk.hear("work", after=2)
        desk.hear("connected")
        desk.ready(*desk.dispatch.fleet.replicas)
        [(failed, error)] = desk.hear("gone", "code -9")
        assert failed is job and "code -9" in str(error)

    def test_while_the_head_is_silent_nothing_is_given_out(self) -> None:
        desk = connected(1, 1, n_ready=1)
        desk.hear("silent", "refused")
        desk.put("m")
        assert desk.driver.numbers("ask") == []
        desk.hear("answers")
        assert desk.driver.numbers("ask") == [1] and desk.dispatch.fault(desk.now) == ""

    def test_it_connects_again_without_work_so_that_the_fault_ends(self) -> None:
        desk = connected(1, 1, n_ready=1)
        desk.hear("gone", "ended")
        desk.hear("work", after=2)
        assert len(desk.drivers) == 2
        desk.hear("connected")
        assert desk.dispatch.fault(desk.now) == ""

    def test_attempts_become_rarer_while_replicas_cannot_start(self) -> None:
        desk = connected(1, 1)
        times = []
        for _ in range(400):
            if pending := desk.dispatch.fleet.pending():
                times.append(desk.now)
                desk.hear("lost", pending[0].number, "ModuleNotFoundError: No module named 'engine'")
            desk.hear("work", after=0.25)
        pauses = [round(later - earlier) for earlier, later in pairwise(times)]
        assert pauses[:6] == [1, 2, 4, 8, 10, 10]
        assert "has no replica; runs wait (ModuleNotFoundError" in desk.dispatch.fault(desk.now)


class TestRefusal:
    def test_a_replica_of_other_libraries_is_ended_and_its_node_avoided_for_a_while(self) -> None:
        desk = connected(1, 1)
        desk.put("m")
        desk.ready(1, "b", torch="2.12.0")
        assert desk.driver.numbers("ask") == [] and desk.driver.numbers("end") == [1]
        assert desk.driver.told[-1] == ("start", 2, ("id-b",))
        fault = desk.dispatch.fault(desk.now)
        assert "node b" in fault and "torch 2.12.0 there and 2.13.0 here" in fault
        desk.ready(2, "c")
        assert desk.dispatch.fault(desk.now) == "" and desk.driver.numbers("ask") == [2]
        desk.hear("lost", 2, "x", after=REFUSED_SECONDS + 1)
        assert desk.driver.told[-1] == ("start", 3, ())

    def test_other_code_is_named(self) -> None:
        desk = connected(1, 1)
        desk.ready(1, "b", code="xyz")
        assert "Hakari's code there is of another state" in desk.dispatch.fault(desk.now)


def test_a_cluster_without_room_is_told_of_after_a_while() -> None:
    desk = connected(1, 1)
    desk.put("m")
    desk.hear("work", after=ROOM_SECONDS - 1)
    assert desk.dispatch.fault(desk.now) == ""
    desk.hear("work", after=2)
    assert "has no room for a replica of 1 CPU; runs wait" in desk.dispatch.fault(desk.now)
    desk.ready(1)
    assert desk.dispatch.fault(desk.now) == ""


class TestSettings:
    def test_no_address_means_no_cluster(self) -> None:
        assert ray_settings({}) is None and ray_settings({"HAKARI_RAY_ADDRESS": " "}) is None

    def test_all_of_it(self) -> None:
        told = ray_settings({
            "HAKARI_RAY_ADDRESS": "ray-head:6379", "HAKARI_RAY_REPLICAS": "0 - 12", "HAKARI_RAY_CPUS": "4",
            "HAKARI_RAY_GPUS": "0.5", "HAKARI_RAY_IDLE_SECONDS": "60"})
        assert told == RaySettings("ray-head:6379", 0, 12, 4.0, 0.5, 60.0)
        assert told.host == ("ray-head", 6379) and told.share == "4 CPU and 0.5 GPU"
        few = ray_settings({"HAKARI_RAY_ADDRESS": "[fd00::1]:6379", "HAKARI_RAY_REPLICAS": "3"})
        assert few is not None and (few.minimum, few.maximum, few.host) == (3, 3, ("fd00::1", 6379))

    @pytest.mark.parametrize(("name", "value"), [
        ("HAKARI_RAY_ADDRESS", "ray://head:10001"), ("HAKARI_RAY_ADDRESS", "head"), ("HAKARI_RAY_REPLICAS", "4-1"),
        ("HAKARI_RAY_REPLICAS", "0"), ("HAKARI_RAY_REPLICAS", "many"), ("HAKARI_RAY_CPUS", "0"),
        ("HAKARI_RAY_CPUS", "1.5"), ("HAKARI_RAY_GPUS", "-1"), ("HAKARI_RAY_IDLE_SECONDS", "nan"),
    ])
    def test_what_makes_no_sense_is_named(self, name: str, value: str) -> None:
        with pytest.raises(InputError, match=name):
            ray_settings({"HAKARI_RAY_ADDRESS": "head:6379", name: value})

    def test_memory_is_shared_by_those_who_fit_on_a_node(self) -> None:
        # 16 processors / 4 = 4, 2 cards / 0.5 = 4, at most 3
        settings = RaySettings("head:6379", maximum=3, cpus=4, gpus=0.5)
        assert replicas_on({"CPU": 16.0, "GPU": 2.0}, settings) == 3
        assert replicas_on({"CPU": 8.0, "GPU": 2.0}, settings) == 2
        assert replicas_on({"CPU": 8.0}, settings) == 1
