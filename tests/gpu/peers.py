"""sentence-transformers, bert_score and minicons on the same weights and texts, at their best batch size.

Each is run in this process, on the device and in the data type of ours; one that is not installed is left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import torch

from tests.gpu import devices

MODULES = {"sentence-transformers": "sentence_transformers", "bert_score": "bert_score", "minicons": "minicons"}
BATCH_SIZES = (32, 128, 512)
# A batch size is left out once its first run took longer.
LONGEST_RUN = 10.0

Run = Callable[[int], object]  # batch size -> scores


@dataclass(frozen=True)
class Peer:
    """A peer's seconds at its best batch size, or why there are none."""

    name: str
    seconds: float | None
    batch_size: int = 0
    why: str = ""


def timed(name: str, make: Callable[[], Run], device: str, *, sizes: Sequence[int] = BATCH_SIZES) -> Peer:
    """The fastest of the batch sizes, each run once; the first size also once before, to warm up."""
    if find_spec(MODULES[name]) is None:
        return Peer(name, None, why="not installed")
    try:
        run = make()
        run(sizes[0])
        seconds_by_size: dict[int, float] = {}
        for size in sizes:
            start = time.perf_counter()
            run(size)
            devices.wait(device)
            seconds_by_size[size] = time.perf_counter() - start
            if seconds_by_size[size] > LONGEST_RUN:
                break
    except Exception as error:  # a peer that fails is a line of the table, not the end of the bench
        return Peer(name, None, why=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
    best = min(seconds_by_size, key=lambda size: seconds_by_size[size])
    return Peer(name, seconds_by_size[best], best)


def vectors(folder: str, texts: list[str], device: str, dtype: torch.dtype) -> Run:
    """CLS vectors by sentence-transformers."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    encoder = modules.Transformer(folder)
    pooling = modules.Pooling(encoder.get_embedding_dimension(), pooling_mode="cls")
    model = SentenceTransformer(modules=[encoder, pooling], device=device).to(dtype)
    return lambda size: model.encode(texts, batch_size=size, show_progress_bar=False)


def similarities(folder: str, pairs: list[tuple[str, str]], n_layers: int, device: str, dtype: torch.dtype) -> Run:
    """BERTScore by bert_score."""
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=folder, num_layers=n_layers, device=device)
    scorer._model.to(dtype)
    references, candidates = map(list, zip(*pairs, strict=True))
    return lambda size: scorer.score(candidates, references, batch_size=size)


def masked(folder: str, texts: list[str], device: str, dtype: torch.dtype) -> Run:
    """PLL word-l2r by minicons."""
    from minicons import scorer

    model: Any = scorer.MaskedLMScorer(folder, device)
    model.model.to(dtype)
    if not hasattr(model.tokenizer, "batch_encode_plus"):  # transformers 5 dropped what minicons calls
        model.tokenizer.batch_encode_plus = model.tokenizer
    return _sequence_scores(model, texts, {"PLL_metric": "within_word_l2r"})


def causal(model_or_folder: Any, tokenizer: Any, texts: list[str], device: str, dtype: torch.dtype) -> Run:
    """Causal log-likelihoods by minicons."""
    from minicons import scorer

    model: Any = scorer.IncrementalLMScorer(model_or_folder, device, tokenizer=tokenizer)
    model.model.to(dtype)
    return _sequence_scores(model, texts, {"bos_token": True})


def _sequence_scores(model: Any, texts: list[str], settings: dict[str, Any]) -> Run:
    def run(size: int) -> list[Any]:
        with torch.inference_mode():
            return [
                score
                for start in range(0, len(texts), size)
                for score in model.sequence_score(
                    texts[start : start + size], reduction=lambda scores: scores.sum(0).item(), **settings
                )
            ]

    return run
