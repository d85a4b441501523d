"""What the host does beside the model: models that cost next to nothing, from texts to results, in texts a second.

Everything runs in one thread of torch, because a second one costs these models more than it gives; tokenizers use all
cores. Each round has a new worker process and an empty cache, so that no text was ever read before.
"""

from __future__ import annotations

import os
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.inference.cache import Cache
from engine.inference.gateway import Gateway, GatewaySession
from engine.inference.local.workers import LocalWorkers
from tests.benchmarks.host import tiny_models
from tests.benchmarks.host.plain_loops import PlainLoop
from tests.benchmarks.host.tiny_models import TinyJob
from tests.benchmarks.measuring import ROUNDS, wall_seconds
from tests.benchmarks.peers import Peer, peer

TARGET = 0.6
BATCH_SIZES = (32, 64, 128, 256, 512)
WARMING_TEXTS = 8
TOKENIZER, LOOP, PEER, HAKARI = "tokenizer", "loop", "peer", "Hakari"


@dataclass(frozen=True)
class HostCase:
    """Texts a second, medians of the rounds: the tokenizer alone, a plain loop, the peer, and Hakari.

    share: the median of the rounds' ratios of Hakari to the plain loop. deviation: the largest difference of a number
    from the plain loop's, in `unit`.
    """

    work: str
    tokenizer: float
    loop: float
    loop_batch: int
    peer_name: str
    peer: float
    peer_batch: int
    hakari: float
    share: float
    deviation: float
    unit: str


@dataclass(frozen=True)
class _Work:
    """One kind of work on a job: by the plain loop (batch size -> numbers), and by Hakari."""

    name: str
    job: TinyJob
    tokenize: Callable[[], object]
    plain: Callable[[int], Sequence[np.ndarray] | np.ndarray]
    hakari: Callable[[GatewaySession, int], list[np.ndarray]]
    peer: str
    request: dict[str, Any]
    unit: str


def measured(folder: Path) -> list[HostCase]:
    """All kinds of work, in alternation."""
    with _one_thread(), ExitStack() as stack:
        works = _works(folder)
        peers = {work.name: stack.enter_context(_peer(work)) for work in works}
        batch_sizes = {work.name: _best_batch(work) for work in works}
        seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
        deviations: dict[str, float] = {}
        for number in range(ROUNDS):
            workers, cache = LocalWorkers(["cpu"]), Cache(folder / f"host-{number}.sqlite", 2**31)
            for work in works:
                work.hakari(Gateway(workers, None).session("warm"), WARMING_TEXTS)
            for work in works:
                session = Gateway(workers, cache).session("bench")
                results: list[Any] = []
                seconds[work.name, TOKENIZER].append(wall_seconds(work.tokenize))
                seconds[work.name, LOOP].append(
                    wall_seconds(lambda: results.append(work.plain(batch_sizes[work.name])))  # noqa: B023 - at once
                )
                seconds[work.name, PEER].append(peers[work.name].seconds())
                seconds[work.name, HAKARI].append(
                    wall_seconds(lambda: results.append(work.hakari(session, len(work.job.texts))))  # noqa: B023
                )
                deviations[work.name] = max(
                    float(np.abs(own - plain).max()) for plain, own in zip(*results, strict=True)
                )
            workers.close()
            cache.close()
        return [_case(work, seconds, peers[work.name], batch_sizes[work.name], deviations[work.name]) for work in works]


def _works(folder: Path) -> tuple[_Work, ...]:
    bert, gpt2 = tiny_models.bert(folder / "tiny-bert"), tiny_models.gpt2(folder / "tiny-gpt2")
    encoder, causal = PlainLoop(bert, causal=False), PlainLoop(gpt2, causal=True)
    return (
        _Work(
            f"CLS vectors of {len(bert.texts):,} texts of {bert.source}",
            bert,
            encoder.tokens,
            encoder.cls_vectors,
            lambda session, n: [
                piece["vectors"][0] for piece in session.sentence_vectors(str(bert.folder), bert.texts[:n])
            ],
            "sentence-transformers",
            {"texts": [(text,) for text in bert.texts]},
            "of a vector's numbers",
        ),
        _Work(
            f"BERTScore similarities of {len(bert.pairs):,} pairs of {bert.source}",
            bert,
            encoder.tokens,
            encoder.similarities,
            lambda session, n: [
                piece["similarity"][0] for piece in session.token_similarities(str(bert.folder), bert.pairs[:n])
            ],
            "bert-score",
            {"texts": bert.pairs, "layers": tiny_models.LAYERS},
            "of a cosine",
        ),
        _Work(
            f"Log-likelihoods of {len(gpt2.texts):,} texts of {gpt2.source}",
            gpt2,
            causal.tokens,
            causal.log_likelihoods,
            lambda session, n: [
                piece["log_likelihoods"]
                for piece in session.token_log_likelihoods(str(gpt2.folder), gpt2.texts[:n], scoring="causal")
            ],
            "minicons",
            {"texts": gpt2.pairs, "words": None, "scores": "causal", "bos": True},
            "nats",
        ),
    )


def _case(
    work: _Work, seconds: dict[tuple[str, str], list[float]], peer_process: Peer, batch_size: int, deviation: float
) -> HostCase:
    n_texts = len(work.job.texts)
    rates = {kind: n_texts / statistics.median(seconds[work.name, kind]) for kind in (TOKENIZER, LOOP, PEER, HAKARI)}
    share = statistics.median(
        loop / own for loop, own in zip(seconds[work.name, LOOP], seconds[work.name, HAKARI], strict=True)
    )
    return HostCase(
        work.name,
        rates[TOKENIZER],
        rates[LOOP],
        batch_size,
        peer_process.name,
        rates[PEER],
        peer_process.batch_size,
        rates[HAKARI],
        share,
        deviation,
        work.unit,
    )


def _best_batch(work: _Work) -> int:
    work.plain(BATCH_SIZES[0])
    return min(BATCH_SIZES, key=lambda size: wall_seconds(lambda: work.plain(size)))


@contextmanager
def _peer(work: _Work) -> Iterator[Peer]:
    with peer(work.peer, folder=str(work.job.folder), threads=1, clock="wall", **work.request) as process:
        yield process


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread of torch here and in workers."""
    n_threads, variable = torch.get_num_threads(), os.environ.get("HAKARI_THREADS")
    torch.set_num_threads(1)
    os.environ["HAKARI_THREADS"] = "1"
    try:
        yield
    finally:
        torch.set_num_threads(n_threads)
        del os.environ["HAKARI_THREADS"]
        if variable is not None:
            os.environ["HAKARI_THREADS"] = variable
