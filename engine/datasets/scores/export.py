"""The scores of a dataset as files in long form, so that a command reads them again."""

from __future__ import annotations

import json
from collections.abc import Iterator

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.minimal_pairs.scores import UNKNOWN, OutsideScores
from engine.datasets.outside_names import PREFIX, file_stem


def score_files(dataset: MinimalPairs) -> dict[str, tuple[str, bytes]]:
    """By the name of a file the label that its model has, "" for none, and the content: JSON lines in long form."""
    files: dict[str, tuple[str, bytes]] = {}
    for scores in dataset.scores:
        label, equals, name = scores.name.partition("=")
        label, name = (label, name) if equals else ("", scores.name)
        bare = name.removeprefix(PREFIX)
        stem = file_stem(bare, "scores")
        number, path = 1, f"scores-{stem}.jsonl"
        while path in files:
            number += 1
            path = f"scores-{stem}-{number}.jsonl"
        lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in _lines(dataset, scores, bare))
        files[path] = (label, lines.encode())
    return files


def score_options(files: dict[str, tuple[str, bytes]], folder: str = "") -> tuple[str, ...]:
    """The options of a command that reads `score_files`, which lie in a folder."""
    words = (f"{label}={folder}{path}" if label else f"{folder}{path}" for path, (label, _) in files.items())
    return tuple(word for path in words for word in ("--scores", path))


def _lines(dataset: MinimalPairs, scores: OutsideScores, model: str) -> Iterator[dict[str, object]]:
    seen = set()
    for texts, side in zip((dataset.acceptable, dataset.unacceptable), scores.sides, strict=True):
        for i, text in enumerate(texts):
            value = float(side.log_likelihoods[i])
            if text in seen or value != value:
                continue
            seen.add(text)
            line: dict[str, object] = {"model": model, "sentence": text, "log_likelihood": value}
            if side.n_tokens[i] != UNKNOWN:
                line["n_tokens"] = int(side.n_tokens[i])
            if side.tokens and side.tokens[i]:
                line["tokens"] = json.loads(side.tokens[i])
            yield line
