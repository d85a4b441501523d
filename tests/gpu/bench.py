"""`make bench-gpu`: tokens a second and the share of the card's rate of matrix products, beside the peers.

Texts of 128 tokens, of the lengths of JSTS and of BLiMP; models of the size of BERT-base and GPT-2, and one of seven
billion parameters, with random weights. Each work is measured with and without packing, so that what pays is seen.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from engine.models.loading.weights import LoadedModel, Task, load
from engine.models.scoring import causal_lm, encoder, masked_lm, sentence_vectors
from engine.models.scoring.attention.packing import PACKING_VARIABLE
from engine.models.tokenization.encoding import token_ids
from tests.benchmarks import limits
from tests.gpu import devices, material, peers
from tests.gpu.peers import Peer

# Seconds of a work: as many texts are taken as that allows, so that all of it ends within eight minutes.
SECONDS_OF_A_WORK, FIRST_TEXTS, MOST_TEXTS = 2.0, 64, 20_000
# The share of the texts that a peer is given, whose rate does not depend on it.
PEER_SHARE, FEWEST_OF_A_PEER = 0.1, 32
GOAL_OF_RATE, GOAL_OF_PEERS = 0.5, 5.0
HALF, WHOLE = torch.bfloat16, torch.float32
DTYPE_OF = {"bf16": HALF, "fp32": WHOLE}
MATRIX_SIZE = 8192


@dataclass(frozen=True)
class Work:
    """One kind of work: what is scored, on which model; items are texts or pairs.

    score: scores the items with the loaded model. operations: of the matrix products that they need. peer: makes a
    peer's run for the items, the name being that of `peers.MODULES`. goal: whether half of the rate is asked of bf16.
    """

    name: str
    task: Task
    folder: str
    items: Sequence[Any]
    score: Callable[[LoadedModel, Sequence[Any]], object]
    operations: Callable[[LoadedModel, Sequence[Any]], float]
    peer_name: str
    peer: Callable[[LoadedModel, Sequence[Any], torch.dtype], peers.Run]
    goal: bool = False


@dataclass(frozen=True)
class Measured:
    """A work in one precision, packed or padded: rates of tokens read once, and of a peer on fewer of the texts.

    share: of the rate of matrix products in the same precision.
    """

    work: Work
    precision: str
    packing: str
    n_items: int
    tokens_a_second: float
    share: float
    times: float | None
    peer: Peer


def measured(device: str, *, is_small: bool) -> list[str]:
    """The lines of the results file."""
    rates = {
        precision: matrix_rate(device, dtype, 256 if is_small else MATRIX_SIZE) for precision, dtype in DTYPE_OF.items()
    }
    rows: list[Measured] = []
    with tempfile.TemporaryDirectory() as folder, devices.variables(**devices.on(device)):
        for work in _works(Path(folder), device, is_small):
            for precision in DTYPE_OF:
                loaded = load(work.folder, work.task, precision=precision)
                rows += _of_loaded(work, loaded, precision, rates[precision], device, is_small)
                del loaded
                _release()
        rows += _seven_billion(Path(folder) / "llama", device, rates["bf16"], is_small)
    return _report(device, rates, rows)


def matrix_rate(device: str, dtype: torch.dtype, size: int) -> float:
    """Operations a second of a product of two large square matrices of random numbers; the median of seven."""
    generator = torch.Generator(device).manual_seed(0)
    a, b = (torch.randn(size, size, dtype=dtype, device=device, generator=generator) for _ in range(2))
    for _ in range(2):
        a @ b
    seconds = []
    for _ in range(7):
        devices.wait(device)
        start = time.perf_counter()
        a @ b
        devices.wait(device)
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / statistics.median(seconds)


def _works(folder: Path, device: str, is_small: bool) -> list[Work]:
    n_entries = (600, 600) if is_small else (30_522, 50_257)
    size = material.SMALL if is_small else material.BASE
    bert = material.make("bert", folder / "bert", size, n_entries[0])
    gpt2 = material.make("gpt2", folder / "gpt2", size, n_entries[1])
    n, layers = 24 if is_small else MOST_TEXTS, size["num_hidden_layers"]
    as_jsts = material.masked_texts(material.drawn(material.JSTS_LENGTHS, n), n_entries[0])
    of_128 = material.masked_texts([128] * (n // 4), n_entries[0], seed=1)
    sentences = _sides(material.minimal_pairs(n // 2, n_entries[1]))
    works = []
    for name, texts, is_goal in (("128 tokens", of_128, True), ("lengths of JSTS", as_jsts, False)):
        works.append(
            Work(
                f"CLS vectors, BERT-base, {name}",
                "encode",
                bert,
                texts,
                lambda loaded, items: sentence_vectors.sentence_vectors(loaded, items, layers=[layers]),
                lambda loaded, items: limits.read_at_one_position(_size_of(loaded), _lengths(loaded, items)),
                "sentence-transformers",
                lambda loaded, items, dtype: peers.vectors(loaded.facts.path, list(items), device, dtype),
                is_goal,
            )
        )
        works.append(
            Work(
                f"BERTScore, BERT-base, {name}",
                "encode",
                bert,
                list(zip(texts[::2], texts[1::2], strict=False)),
                lambda loaded, items: encoder.token_similarities(loaded, items, layers=[layers]),
                lambda loaded, items: limits.encoded(_size_of(loaded), _lengths(loaded, _sides(items))),
                "bert_score",
                lambda loaded, items, dtype: peers.similarities(loaded.facts.path, list(items), layers, device, dtype),
                is_goal,
            )
        )
    works.append(
        Work(
            "PLL word-l2r, BERT-base, lengths of JSTS",
            "masked",
            bert,
            as_jsts,
            lambda loaded, items: masked_lm.token_log_likelihoods(
                loaded, items, scoring="pll-word-l2r", words="tokenizer"
            ),
            lambda loaded, items: limits.masked_copies(
                _size_of(loaded), _lengths(loaded, items), [length - 2 for length in _lengths(loaded, items)]
            ),
            "minicons",
            lambda loaded, items, dtype: peers.masked(loaded.facts.path, list(items), device, dtype),
        )
    )
    works.append(_causal("Log-likelihoods, GPT-2, minimal pairs of the lengths of BLiMP", gpt2, sentences, device))
    return works


def _causal(name: str, folder: str, sentences: list[str], device: str) -> Work:
    def operations(loaded: LoadedModel, items: Sequence[Any]) -> float:
        opening = int(loaded.tokenizer.bos_token_id or 0)
        # The last token is scored and not read.
        return limits.read_once(
            _size_of(loaded), [[opening, *token_ids(loaded.tokenizer, text)][:-1] for text in items]
        )

    return Work(
        name,
        "causal",
        folder,
        sentences,
        lambda loaded, items: causal_lm.token_log_likelihoods(loaded, items),
        operations,
        "minicons",
        lambda loaded, items, dtype: peers.causal(loaded.model, loaded.tokenizer, list(items), device, dtype),
    )


def _of_loaded(
    work: Work, loaded: LoadedModel, precision: str, rate: float, device: str, is_small: bool
) -> list[Measured]:
    with devices.variables(**{PACKING_VARIABLE: "on"}):
        items = work.items[: _affordable(work, loaded, device, is_small)]
    needed, n_tokens = work.operations(loaded, items), sum(_lengths(loaded, _sides(items)))
    seconds_by_packing = {}
    for packing in ("on", "off"):
        with devices.variables(**{PACKING_VARIABLE: packing}):
            work.score(loaded, items[:FIRST_TEXTS])  # the trials of a model, and a warm card
            seconds_by_packing[packing] = min(_seconds(work, loaded, items, device) for _ in range(2))
    of_peer = items[: max(FEWEST_OF_A_PEER, int(len(items) * PEER_SHARE))]
    peer = peers.timed(
        work.peer_name,
        lambda: work.peer(loaded, of_peer, DTYPE_OF[precision]),
        device,
        sizes=(4, 8) if is_small else peers.BATCH_SIZES,
    )
    tokens_of_peer = sum(_lengths(loaded, _sides(of_peer)))
    rows = []
    for packing, seconds in seconds_by_packing.items():
        times = None if peer.seconds is None else (n_tokens / seconds) / (tokens_of_peer / peer.seconds)
        rows.append(
            Measured(work, precision, packing, len(items), n_tokens / seconds, needed / seconds / rate, times, peer)
        )
        print(_row(rows[-1]), flush=True)
    return rows


def _seven_billion(folder: Path, device: str, rate: float, is_small: bool) -> list[Measured]:
    """The causal work on a model of seven billion parameters, made on the device in bfloat16."""
    size = material.SMALL if is_small else material.SEVEN_BILLION
    n_entries = 600 if is_small else 32_000
    described = load(material.make("llama", folder, material.SMALL, n_entries), "causal", precision="bf16")
    default = torch.get_default_dtype()
    torch.set_default_dtype(HALF)
    try:
        with torch.device(device):
            model = material.untrained("llama", {**size, "num_key_value_heads": size["num_attention_heads"]}, n_entries)
    finally:
        torch.set_default_dtype(default)
    n_parameters = sum(weight.numel() for weight in model.parameters())
    loaded = replace(
        described,
        model=model.requires_grad_(False),
        facts=replace(
            described.facts,
            n_parameters=n_parameters,
            hidden_size=size["hidden_size"],
            n_layers=size["num_hidden_layers"],
        ),
    )
    sentences = _sides(material.minimal_pairs(16 if is_small else MOST_TEXTS // 2, n_entries))
    work = replace(
        _causal(
            f"Log-likelihoods, Llama of {n_parameters / 1e9:.1f} billion, minimal pairs of the lengths of BLiMP",
            str(folder),
            sentences,
            device,
        ),
        goal=True,
    )
    rows = _of_loaded(work, loaded, "bf16", rate, device, is_small)
    del model, loaded, described
    _release()
    return rows


def _affordable(work: Work, loaded: LoadedModel, device: str, is_small: bool) -> int:
    """How many items take about SECONDS_OF_A_WORK."""
    if is_small:
        return len(work.items)
    first = work.items[:FIRST_TEXTS]
    work.score(loaded, first)
    few = _seconds(work, loaded, first, device)
    more = work.items[: 8 * FIRST_TEXTS]
    a_item = max(1e-6, (_seconds(work, loaded, more, device) - few) / max(1, len(more) - len(first)))
    return max(FIRST_TEXTS, min(len(work.items), int(SECONDS_OF_A_WORK / a_item)))


def _seconds(work: Work, loaded: LoadedModel, items: Sequence[Any], device: str) -> float:
    devices.wait(device)
    start = time.perf_counter()
    work.score(loaded, items)
    devices.wait(device)
    return time.perf_counter() - start


def _report(device: str, rates: dict[str, float], rows: Sequence[Measured]) -> list[str]:
    lines = [
        "# Hakari on a card",
        "",
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {devices.in_words(device)}. Written by `make bench-gpu`; weights and "
        "texts are random, of the lengths in `tests/gpu/material.py`.",
        "",
        "Measured rate of matrix products: "
        + ", ".join(f"{rate / 1e12:.1f} TFLOP/s in {precision}" for precision, rate in rates.items())
        + ".",
        "",
        "Tokens are those of the texts, each once, tokenisation and results on the host included; the share is that of "
        "the products which the work needs, at that rate. A peer computes in the same data type.",
        "",
        "| Work | Precision | Packing | Items | Tokens/s | Share of the rate | Peer | Times as fast |",
        "|---|---|---|---|---|---|---|---|",
        *map(_row, rows),
        "",
        *_missed(rows),
    ]
    return lines


def _row(row: Measured) -> str:
    peer = row.peer
    beside = f"{peer.name}, {peer.why}" if row.times is None else f"{peer.name}, batches of {peer.batch_size}"
    return (
        f"| {row.work.name} | {row.precision} | {row.packing} | {row.n_items:,} | {row.tokens_a_second:,.0f} | "
        f"{row.share:.1%} | {beside} | {'' if row.times is None else f'{row.times:.1f}'} |"
    )


def _missed(rows: Sequence[Measured]) -> list[str]:
    """The goals that the better of packed and padded does not reach."""
    lines = []
    best = {(row.work.name, row.precision): row for row in sorted(rows, key=lambda row: row.tokens_a_second)}
    for (name, precision), row in best.items():
        if precision == "bf16" and row.work.goal and row.share < GOAL_OF_RATE:
            lines.append(f"- {name}, {precision}: {row.share:.1%} of the rate where {GOAL_OF_RATE:.0%} are asked.")
        if row.times is not None and row.times < GOAL_OF_PEERS:
            lines.append(
                f"- {name}, {precision}: {row.times:.1f} times {row.peer.name} where {GOAL_OF_PEERS:.0f} are asked."
            )
    return ["Missed:", "", *lines] if lines else ["No goal was missed."]


def _lengths(loaded: LoadedModel, texts: Sequence[str]) -> list[int]:
    return [len(token_ids(loaded.tokenizer, text)) for text in texts]


def _sides(items: Sequence[Any]) -> list[str]:
    return [text for item in items for text in ([item] if isinstance(item, str) else item)]


def _size_of(loaded: LoadedModel) -> limits.Size:
    return limits.Size.of(loaded.model.config)


def _release() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
