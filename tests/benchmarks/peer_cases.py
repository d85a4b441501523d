"""Hakari beside bert_score, sentence-transformers and minicons: the same weights, texts and threads, in alternation."""

from __future__ import annotations

import gc
import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs.exact_decisions import score_pairs
from engine.evaluations.minimal_pairs.tables import pair_table, sentence_words
from engine.evaluations.minimal_pairs.views import decided
from engine.measures.bertscore import bertscore, best_matches
from engine.models.loading.weights import LoadedModel, Task, load
from engine.models.scoring import causal_lm, encoder, masked_lm, sentence_vectors
from engine.models.tokenization.encoding import token_ids
from engine.precision import processor_computes_bf16
from tests.benchmarks import base_models, limits
from tests.benchmarks.base_models import Job
from tests.benchmarks.measuring import CLOCK, clock_seconds
from tests.benchmarks.peers import Peer, peer

ROUNDS = int(os.environ.get("HAKARI_BENCH_ROUNDS", "5"))
# Of the rate of a large matrix product, asked of fp32.
LIMIT_SHARE = 0.85
IN_FLOAT32 = "The head stays in float32, because logits rounded to bfloat16 would say little."
Score = Callable[[str], list[float]]  # precision -> a score for each text or pair


@dataclass(frozen=True)
class Beside:
    """Hakari's median seconds beside a peer's at its best batch size; `target` times as fast is asked.

    `times`: the median of the rounds' ratios. `limit_share`: of the machine's rate of matrix products in the same
    precision, None where the work is not one count of them. `deviation`: the largest difference of a score, `unit`.
    `why`: what keeps it from being faster.
    """

    work: str
    peer: str
    batch_size: int
    hakari_seconds: float
    peer_seconds: float
    times: float
    target: float
    limit_share: float | None
    deviation: float
    unit: str
    why: str = ""


def measured(folder: Path) -> tuple[list[Beside], dict[str, str]]:
    """All cases, and the peers' versions."""
    alignment = base_models.alignment(folder / "bert")
    cases: list[Beside] = []
    jobs: list[Callable[[], tuple[list[Beside], dict[str, str]]]] = [
        lambda: _alignment(alignment),
        lambda: _vectors(base_models.titles(folder / "bert")),
        lambda: _masked(base_models.masked(folder / "masked", alignment)),
        lambda: _causal(base_models.causal(folder / "gpt2")),
    ]
    versions: dict[str, str] = {}
    for job in jobs:
        cases_of_job, job_versions = job()
        for case in cases_of_job:
            print(f"{case.work}: {case.times:.2f} times {case.peer}", flush=True)
        cases += cases_of_job
        versions |= job_versions
        gc.collect()
    return cases, versions


def _loaded(job: Job, task: Task) -> dict[str, LoadedModel]:
    """The model in each precision that is measured: bf16 where the processor has instructions for it."""
    precisions = ("fp32", "bf16") if processor_computes_bf16() else ("fp32",)
    return {precision: load(str(job.folder), task, precision=precision) for precision in precisions}


def _alignment(job: Job) -> tuple[list[Beside], dict[str, str]]:
    by_precision = _loaded(job, "encode")
    loaded = by_precision["fp32"]
    layer = loaded.facts.n_layers
    texts = dict.fromkeys(text for pair in job.texts for text in pair)
    needed = limits.encoded(limits.Size.of(loaded.model.config), _lengths(loaded, texts))

    def score(precision: str) -> list[float]:
        pieces = encoder.token_similarities(by_precision[precision], job.texts, layers=[layer])
        flags = [piece[f"{side}_special"] for piece in pieces for side in ("reference", "candidate")]
        lengths, special = [len(sentence) for sentence in flags], np.concatenate(flags)
        similarity = np.concatenate([piece["similarity"][0].ravel() for piece in pieces])
        score = bertscore(best_matches(similarity, lengths, special), lengths, 1.0 - special)
        return [float(f1) for f1 in score.f1]

    with peer("bert-score", **_request(job), layers=layer) as peer_process:
        _require_equal_ids(loaded, job, peer_process)
        return _both(f"BERTScore of {len(job.texts)} pairs of {job.source}", score, peer_process, needed, 2.0, "F1")


def _vectors(job: Job) -> tuple[list[Beside], dict[str, str]]:
    by_precision = _loaded(job, "encode")
    loaded = by_precision["fp32"]
    texts = [text for (text,) in job.texts]
    needed = limits.read_at_one_position(limits.Size.of(loaded.model.config), _lengths(loaded, texts))

    def score(precision: str) -> list[float]:
        pieces = sentence_vectors.sentence_vectors(by_precision[precision], texts, layers=[loaded.facts.n_layers])
        return [float(piece["vectors"][0, 0]) for piece in pieces]

    with peer("sentence-transformers", **_request(job)) as peer_process:
        _require_equal_ids(loaded, job, peer_process)
        return _both(
            f"CLS vectors of {len(texts)} texts of {job.source}",
            score,
            peer_process,
            needed,
            1.2,
            "first number of a vector",
        )


def _masked(job: Job) -> tuple[list[Beside], dict[str, str]]:
    by_precision = _loaded(job, "masked")
    loaded = by_precision["fp32"]
    texts = [text for (text,) in job.texts]
    lengths = _lengths(loaded, texts)
    # [CLS] and [SEP] are not scored
    needed = limits.masked_copies(limits.Size.of(loaded.model.config), lengths, [length - 2 for length in lengths])
    scoring = "pll-word-l2r"

    def score(precision: str) -> list[float]:
        return _sums(
            masked_lm.token_log_likelihoods(by_precision[precision], texts, scoring=scoring, words="tokenizer")
        )

    with peer("minicons", **_request(job), scores="masked") as peer_process:
        _require_equal_ids(loaded, job, peer_process)
        return _both(f"{scoring} of {len(texts)} sentences of {job.source}", score, peer_process, needed, 1.7, "nats")


def _causal(job: Job) -> tuple[list[Beside], dict[str, str]]:
    by_precision = _loaded(job, "causal")
    loaded = by_precision["fp32"]
    texts = [text for pair in job.texts for text in pair]
    ids = [token_ids(loaded.tokenizer, text) for text in texts]
    opening = loaded.tokenizer.bos_token_id
    opened = ids[0][0] == opening
    # The last token is scored and not read.
    needed = limits.read_once(
        limits.Size.of(loaded.model.config), [(row if opened else [opening, *row])[:-1] for row in ids]
    )

    def score(precision: str) -> list[float]:
        return _sums(causal_lm.token_log_likelihoods(by_precision[precision], texts))

    with peer("minicons", **_request(job), scores="causal", bos=not opened) as peer_process:
        _require_equal_ids(loaded, job, peer_process)
        work = f"Causal log-likelihood of {len(texts)} sentences of {job.source}"
        cases, versions = _both(work, score, peer_process, needed, 1.8, "nats")
        why = _rate_of_head(limits.Size.of(loaded.model.config))
        in_fp32, *in_bf16 = cases
        cases = [
            replace(in_fp32, why=f"{in_fp32.why} {why}"),
            *(replace(case, why=f"{case.why} {IN_FLOAT32} {why}") for case in in_bf16),
        ]
        return [*cases, *([_exact(by_precision, job, peer_process)] if in_bf16 else [])], versions


def _rate_of_head(size: limits.Size) -> str:
    shares = [
        limits.operations_a_second(inner=size.hidden, columns=size.vocabulary) / limits.operations_a_second()
        for _ in range(ROUNDS)
    ]
    return (
        f"A product with the head's {size.vocabulary:,} columns alone runs at {statistics.median(shares):.0%} of "
        "the limit's rate."
    )


def _exact(by_precision: dict[str, LoadedModel], job: Job, peer_process: Peer) -> Beside:
    """Decisions of fp32 with the time of bf16, as far as that goes; the deviation is the share decided otherwise."""
    n = len(job.texts)
    pairs = MinimalPairs(
        "bench", tuple(a for a, _ in job.texts), tuple(u for _, u in job.texts), ("",) * n, tuple(range(1, n + 1))
    )

    reports: list[dict[str, float | int]] = []

    def decisions(precision: str) -> np.ndarray:
        scored = score_pairs(
            pairs, lambda texts, how: causal_lm.token_log_likelihoods(by_precision[how], texts), precision, seed=0
        )
        reports.append(scored.report)
        return decided(pair_table("m", pairs, scored, None, sentence_words(pairs)), "LP")

    share_changed = float((decisions("exact-decisions") != decisions("fp32")).mean())
    hakari_seconds, peer_seconds, times = _alternated(lambda: decisions("exact-decisions"), peer_process)
    return Beside(
        f"Exact decisions on {n} pairs of {job.source}",
        peer_process.name,
        peer_process.batch_size,
        hakari_seconds,
        peer_seconds,
        times,
        4.0,
        None,
        share_changed,
        "share of decisions",
        f"{reports[-1]['n_fp32']} of the pairs were scored in bf16 and again in fp32, "
        f"{reports[-1]['n_sampled']} of them as the sample that measures the error, "
        "which more pairs would share; random weights leave many margins small.",
    )


def _both(
    work: str, score: Score, peer_process: Peer, needed: float, target: float, unit: str
) -> tuple[list[Beside], dict[str, str]]:
    """The case in fp32 and, where the processor has instructions for it, in bf16; the peer computes in fp32."""
    cases = []
    measured = [("fp32", torch.float32, target), ("bf16", torch.bfloat16, 5.0)][: 1 + processor_computes_bf16()]
    for precision, dtype, aim in measured:
        deviation = float(np.abs(np.array(score(precision)) - np.array(peer_process.scores)).max())  # and warms up
        shares: list[float] = []
        hakari_seconds, peer_seconds, times = _alternated(
            lambda precision=precision: score(precision),
            peer_process,  # type: ignore[misc]
            lambda seconds, dtype=dtype, shares=shares: shares.append(  # type: ignore[misc]
                needed / seconds / limits.operations_a_second(dtype)
            ),
        )
        products = limits.share_of_products(lambda precision=precision: score(precision))  # type: ignore[misc]
        cases.append(
            Beside(
                f"{work}, {precision}",
                peer_process.name,
                peer_process.batch_size,
                hakari_seconds,
                peer_seconds,
                times,
                aim,
                statistics.median(shares),
                deviation,
                unit,
                f"Matrix products and attention take {products:.0%} of its time.",
            )
        )
    return cases, peer_process.versions


def _alternated(
    hakari_run: Callable[[], object], peer_process: Peer, after: Callable[[float], object] = lambda seconds: None
) -> tuple[float, float, float]:
    """Median seconds of Hakari and of the peer, and the median of the rounds' ratios."""
    rounds = []
    for _ in range(ROUNDS):
        seconds = clock_seconds(hakari_run)
        after(seconds)
        rounds.append((seconds, peer_process.seconds()))
    hakari_rounds, peer_rounds = zip(*rounds, strict=True)
    return statistics.median(hakari_rounds), statistics.median(peer_rounds), statistics.median(b / a for a, b in rounds)


def _request(job: Job) -> dict[str, Any]:
    return {"folder": str(job.folder), "texts": job.texts, "threads": torch.get_num_threads(), "clock": CLOCK}


def _require_equal_ids(loaded: LoadedModel, job: Job, peer_process: Peer) -> None:
    """Refuse a comparison over other tokens: the peers' transformers is older and reads the tokenizer itself."""
    texts = [text for sides in job.texts for text in sides]
    differing = [
        text for text, ids in zip(texts, peer_process.ids, strict=True) if token_ids(loaded.tokenizer, text) != ids
    ]
    if differing:
        raise RuntimeError(
            f"{peer_process.name} reads {len(differing)} of {len(texts)} texts as other tokens than "
            f"Hakari; the first: {differing[0]!r}."
        )


def _lengths(loaded: LoadedModel, texts: Sequence[str] | dict[str, None]) -> list[int]:
    return [len(token_ids(loaded.tokenizer, text)) for text in texts]


def _sums(pieces: Sequence[dict[str, Any]]) -> list[float]:
    return [float(np.sum(piece["log_likelihoods"], dtype=np.float64)) for piece in pieces]
