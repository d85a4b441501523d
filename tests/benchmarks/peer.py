"""Runs one peer on one job in the peers' own environment (`peers.txt`), controlled over a pipe.

The first line of input is the job (JSON: peer, folder, texts, threads, clock; for minicons scores, causal or masked);
the answer is the best batch size, the versions, the scores and the token ids of the texts. Each further line "run" is
answered with the seconds of one run. Imports nothing of the project.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

BATCH_SIZES = {
    "bert-score": (8, 16, 32, 64, 128),
    "sentence-transformers": (8, 16, 32, 64, 128),
    "minicons, causal": (4, 8, 16, 32, 64),
    "minicons, masked": (1, 2, 4, 8),
}
Run = Callable[[int], list[Any]]  # batch size -> scores


def main() -> None:
    """Answer on standard output, which nothing else may write to."""
    answers, sys.stdout = sys.stdout, sys.stderr
    warnings.simplefilter("ignore")
    import torch

    request = json.loads(sys.stdin.readline())
    torch.set_num_threads(request["threads"])
    kind = request["peer"]
    if kind == "minicons":
        kind += f", {request['scores']}"
    run, sizes = PEERS[request["peer"]](request), BATCH_SIZES[kind]
    run(sizes[-1])
    clock = time.process_time if request["clock"] == "cpu" else time.perf_counter
    seconds = {size: _seconds(run, size, clock) for size in sizes}
    best = min(seconds, key=lambda size: seconds[size])
    versions = {name: version(name) for name in (request["peer"], "transformers", "torch")}
    answer = {"batch_size": best, "versions": versions, "scores": run(best), "ids": _token_ids(request)}
    print(json.dumps(answer), file=answers, flush=True)
    for _ in sys.stdin:
        print(json.dumps(_seconds(run, best, clock)), file=answers, flush=True)


def _seconds(run: Run, size: int, clock: Callable[[], float]) -> float:
    start = clock()
    run(size)
    return clock() - start


def _token_ids(request: dict[str, Any]) -> list[list[int]]:
    """What this transformers' tokenizer makes of every text, special tokens included."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(request["folder"])
    return [list(tokenizer(text)["input_ids"]) for sides in request["texts"] for text in sides]


def _bert_score(request: dict[str, Any]) -> Run:
    from bert_score import BERTScorer

    # four threads are its default for cutting words into tokens
    scorer = BERTScorer(model_type=request["folder"], num_layers=request["layers"], device="cpu", nthreads=4)
    references, candidates = map(list, zip(*request["texts"], strict=True))
    return lambda size: scorer.score(candidates, references, batch_size=size)[2].tolist()


def _sentence_transformers(request: dict[str, Any]) -> Run:
    from sentence_transformers import SentenceTransformer, models

    encoder = models.Transformer(request["folder"])
    pooling = models.Pooling(encoder.get_word_embedding_dimension(), pooling_mode="cls")
    model = SentenceTransformer(modules=[encoder, pooling], device="cpu")
    texts = [text for (text,) in request["texts"]]
    return lambda size: [float(vector[0]) for vector in model.encode(texts, batch_size=size, show_progress_bar=False)]


def _minicons(request: dict[str, Any]) -> Run:
    from minicons import scorer

    texts = [text for sides in request["texts"] for text in sides]
    if request["scores"] == "causal":
        model: Any = scorer.IncrementalLMScorer(request["folder"], "cpu")
        settings = {"bos_token": request["bos"]}
    else:
        model = scorer.MaskedLMScorer(request["folder"], "cpu")
        settings = {"PLL_metric": "within_word_l2r"}

    def run(size: int) -> list[Any]:
        return [
            score
            for start in range(0, len(texts), size)
            for score in model.sequence_score(
                texts[start : start + size], reduction=lambda scores: scores.sum(0).item(), **settings
            )
        ]

    return run


PEERS = {"bert-score": _bert_score, "sentence-transformers": _sentence_transformers, "minicons": _minicons}


if __name__ == "__main__":
    main()
