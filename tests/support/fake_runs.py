"""A tiny evaluation, its dataset, and a gateway without models, for the tests of the queue.

What the fake model says of a text depends on every character of it, so a mix-up of rows is seen; it counts
what it computes, and keeps finished pieces in a file when told to, as the real cache does.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from engine.errors import Cancelled, InputError, ModelError
from engine.evaluations.shared.evaluation import Evaluation
from engine.inference.gateway import Gateway
from engine.runs.queue import RunQueue
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.database import database_url
from engine.runs.storage.store import Store
from engine.runs.storage.views import RunView


@dataclass(frozen=True)
class Words:
    name: str
    texts: tuple[str, ...]
    notices: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return len(self.texts)

    @property
    def content_hash(self) -> str:
        return hashlib.sha256(json.dumps(self.texts).encode()).hexdigest()

    def to_frame(self) -> pd.DataFrame:
        return pd.DataFrame({"text": self.texts})

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, name: str) -> Words:
        return cls(name, tuple(frame["text"]))


@dataclass(frozen=True)
class Settings:
    models: tuple[str, ...] = ("fake",)
    layer: int | None = None
    factor: float = 1.0
    fault: str = ""


@dataclass(frozen=True)
class Result:
    settings: Settings
    dataset_name: str
    weights: pd.DataFrame
    vectors: np.ndarray
    flat: dict[str, np.ndarray]
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)


def weight(model: str, text: str) -> float:
    return int.from_bytes(hashlib.sha256(f"{model}|{text}".encode()).digest()[:4]) / 2**32


def evaluate(settings: Settings, dataset: Words, session: Any) -> Result:
    if settings.fault == "input":
        raise InputError("layer 9 does not exist.")
    if settings.fault == "model":
        raise ModelError("fake has no tokenizer.")
    if settings.fault == "bug":
        raise ZeroDivisionError("division by zero\nTraceback (most recent call last): …")
    rows, vectors = [], {}
    for model in settings.models:
        values = session.weigh(model, dataset.texts, deaf=settings.fault == "deaf")
        rows += [(model, i, text, value * settings.factor)
                 for i, (text, value) in enumerate(zip(dataset.texts, values, strict=True))]
        vectors[model] = np.array(values, dtype=np.float32)
    return Result(settings, dataset.name, pd.DataFrame(rows, columns=["model", "row", "text", "weight"]),
                  np.stack(list(vectors.values())), vectors, dataset.notices, {"seed": 0, "undefined": float("nan")})


class FakeGateway:
    """Pieces are computed one by one, each taking `seconds`, and none before `go` is set."""

    def __init__(self, seconds: float = 0.0, kept_in: Path | None = None) -> None:
        self.seconds = seconds
        self.kept_in = kept_in
        self.go = threading.Event()
        self.go.set()
        self.computed: list[str] = []
        self.runs: list[str] = []

    def session(self, run_id: str, on_progress: Callable[[int, int, str], None],
                is_cancelled: Callable[[], bool]) -> FakeSession:
        self.runs.append(run_id)
        return FakeSession(self, on_progress, is_cancelled)

    def known(self) -> dict[str, float]:
        if self.kept_in is None or not self.kept_in.exists():
            return {}
        lines = self.kept_in.read_text(encoding="utf-8").splitlines()
        return dict(json.loads(line) for line in lines if line.endswith("]"))


@dataclass
class FakeSession:
    gateway: FakeGateway
    on_progress: Callable[[int, int, str], None]
    is_cancelled: Callable[[], bool]

    def weigh(self, model: str, texts: tuple[str, ...], deaf: bool = False) -> list[float]:
        values, known = [], self.gateway.known()
        for done, text in enumerate(texts):
            self.on_progress(done, len(texts), f"Weights: {model}")
            while not self.gateway.go.wait(0.005):
                if self.is_cancelled() and not deaf:
                    raise Cancelled("The run was cancelled.")
            if self.is_cancelled() and not deaf:
                raise Cancelled("The run was cancelled.")
            if text not in known:
                time.sleep(self.gateway.seconds)
                self.gateway.computed.append(text)
                known[text] = weight(model, text)
                if self.gateway.kept_in:
                    with self.gateway.kept_in.open("a", encoding="utf-8") as file:
                        file.write(json.dumps([text, known[text]]) + "\n")
            values.append(known[text])
        self.on_progress(len(texts), len(texts), f"Weights: {model}")
        return values


EVALUATIONS = {
    "weights": Evaluation("weights", "Weights", Settings, Words, Result, evaluate),
    "others": Evaluation("others", "Others", Settings, Words, Result, evaluate),
}


def words(n: int = 4, name: str = "words.csv", notices: tuple[str, ...] = ()) -> Words:
    return Words(name, tuple(f"文{i}" for i in range(n)), notices)


Open = Callable[..., RunQueue]


@contextmanager
def queues(directory: Path, gateway: FakeGateway) -> Iterator[Open]:
    """Opens queues over one directory, and closes them in the end."""
    opened: list[tuple[RunQueue, Store]] = []

    def open_one(with_gateway: FakeGateway = gateway, **options: Any) -> RunQueue:
        store = Store(database_url(directory))
        queue = RunQueue(store, Artifacts(directory), cast(Gateway, with_gateway), EVALUATIONS, **options)
        opened.append((queue, store))
        return queue

    yield open_one
    gateway.go.set()
    for queue, store in opened:
        queue.close()
        store.close()


def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


def view(queue: RunQueue, run_id: str) -> RunView:
    run = queue.get(run_id)
    assert run is not None
    return run


def is_running(queue: RunQueue, run_id: str) -> Callable[[], bool]:
    return lambda: view(queue, run_id).state == "running" and view(queue, run_id).total > 0


def main(directory: Path) -> None:
    """A server that will be killed: it says the id of its run and works until then."""
    with queues(directory, FakeGateway(0.02, kept_in=directory / "pieces.jsonl")) as open_one:
        print(open_one().submit("weights", Settings(), words(100, notices=("2 rows repeat.",))).run_id, flush=True)
        time.sleep(60)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
