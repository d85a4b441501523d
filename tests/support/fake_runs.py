"""A tiny evaluation, its dataset, and a gateway without models, for the tests of the queue.

The result of the fake model depends on every character of a text, so that a mix-up of rows is detected. It records what
it computes, and can store finished pieces in a file, like the real cache.
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
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.store import Store


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
    idf: str = ""


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
        values = session.weights(model, dataset.texts, deaf=settings.fault == "deaf")
        rows += [
            (model, i, text, value * settings.factor)
            for i, (text, value) in enumerate(zip(dataset.texts, values, strict=True))
        ]
        vectors[model] = np.array(values, dtype=np.float32)
    return Result(
        settings,
        dataset.name,
        pd.DataFrame(rows, columns=["model", "row", "text", "weight"]),
        np.stack(list(vectors.values())),
        vectors,
        dataset.notices,
        {"seed": 0, "undefined": float("nan")},
    )


class FakeGateway:
    """Computes pieces one by one, each in `seconds`, and none before `go` is set."""

    def __init__(self, seconds: float = 0.0, kept_in: Path | None = None) -> None:
        self.seconds = seconds
        self.kept_in = kept_in
        self.go = threading.Event()
        self.go.set()
        self.computed: list[str] = []
        self.runs: list[str] = []

    def session(
        self,
        run_id: str,
        on_progress: Callable[[int, int, str], None],
        is_cancelled: Callable[[], bool],
        owner: str = "",
    ) -> FakeSession:
        self.runs.append(run_id)
        return FakeSession(self, on_progress, is_cancelled)

    def stored_pieces(self) -> dict[str, float]:
        if self.kept_in is None or not self.kept_in.exists():
            return {}
        lines = self.kept_in.read_text(encoding="utf-8").splitlines()
        return dict(json.loads(line) for line in lines if line.endswith("]"))


@dataclass
class FakeSession:
    gateway: FakeGateway
    on_progress: Callable[[int, int, str], None]
    is_cancelled: Callable[[], bool]

    def weights(self, model: str, texts: tuple[str, ...], deaf: bool = False) -> list[float]:
        values, stored = [], self.gateway.stored_pieces()
        for done, text in enumerate(texts):
            self.on_progress(done, len(texts), f"Weights: {model}")
            while not self.gateway.go.wait(0.005):
                if self.is_cancelled() and not deaf:
                    raise Cancelled("The run was cancelled.")
            if self.is_cancelled() and not deaf:
                raise Cancelled("The run was cancelled.")
            if text not in stored:
                time.sleep(self.gateway.seconds)
                self.gateway.computed.append(text)
                stored[text] = weight(model, text)
                if self.gateway.kept_in:
                    with self.gateway.kept_in.open("a", encoding="utf-8") as file:
                        file.write(json.dumps([text, stored[text]]) + "\n")
            values.append(stored[text])
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
    """A function that opens queues over one directory; all are closed in the end."""
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


def run_record(queue: RunQueue, run_id: str) -> RunRecord:
    run = queue.get(run_id)
    assert run is not None
    return run


def is_running(queue: RunQueue, run_id: str) -> Callable[[], bool]:
    return lambda: run_record(queue, run_id).state == "running" and run_record(queue, run_id).total > 0


def main(directory: Path) -> None:
    """A server that the test kills: prints the id of its run and works until then."""
    with queues(directory, FakeGateway(0.02, kept_in=directory / "pieces.jsonl")) as open_one:
        print(open_one().submit("weights", Settings(), words(100, notices=("2 rows repeat.",))).run_id, flush=True)
        time.sleep(60)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
