"""A corpus as rows of token ids on disk, and the steps that a trainer takes through them.

Short rows hold whole sentences, as many as fit; long rows hold running text and start with a sentence
(one that is cut at the end of a row opens the next row). The short rows come first: a masked model
that starts on long rows predicts by frequency for a long time. A step is a fixed number of ids, of
one kind of row, so that all steps cost the same and resuming needs no more than the number of the step.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from engine.datasets.corpora.corpus import Document
from engine.models.pretraining.texts import WRITINGS, Writing
from engine.models.pretraining.tokenizers import Encode

SHORT_ROW_DIVISOR = 8  # a short row is an eighth as long as a long one
DTYPE = np.uint16  # vocabularies stay below 65,536


@dataclass(frozen=True)
class RowFormat:
    """Ids that open, close and pad a row, and the length of a long row."""

    opening: int
    closing: int
    padding: int
    max_length: int
    # Rows of a BERT end with [SEP]; a row of a causal model ends where it is cut.
    closes_row: bool


def write_rows(
    documents: Iterable[Document],
    encode: Encode,
    row_format: RowFormat,
    folder: Path,
    writing: Writing = WRITINGS["ja"],
) -> None:
    """Encode `documents` into `folder`: short.bin and long.bin (rows of ids) and rows.json (counts).

    A sentence that follows another in its row is encoded with what `writing` puts between them. rows.json is written
    last: a folder without it is unfinished and is written again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    counts = {"short": 0, "long": 0, "characters": 0, "tokens": 0, "documents": 0}
    short_length = row_format.max_length // SHORT_ROW_DIVISOR
    long_capacity = row_format.max_length - 1 - row_format.closes_row
    short_capacity = short_length - 1 - row_format.closes_row
    with (folder / "long.bin").open("wb") as long, (folder / "short.bin").open("wb") as short:
        long_stream: list[int] = []  # ids of the next long row
        short_stream: list[int] = []  # ids of the next short row
        for document in documents:
            counts["documents"] += 1
            for sentence in writing.sentences(document.text):
                ids = encode(sentence)
                following = encode(writing.between + sentence) if writing.between else ids
                counts["characters"] += len(sentence)
                counts["tokens"] += len(ids)
                if short_stream and len(short_stream) + len(following) > short_capacity:
                    short.write(_row(short_stream, row_format, short_length))
                    counts["short"] += 1
                    short_stream = []
                short_stream = short_stream + (following if short_stream else ids)
                long_stream += following if long_stream and long_stream[-1] != row_format.closing else ids
                if len(long_stream) >= long_capacity:
                    long.write(_row(long_stream, row_format, row_format.max_length))
                    counts["long"] += 1
                    # The cut sentence opens the next row, unless it alone fills a row.
                    long_stream = list(ids) if len(ids) < long_capacity < len(long_stream) else []
            long_stream.append(row_format.closing)
    (folder / "rows.json").write_text(json.dumps({**asdict(row_format), **counts}), encoding="utf-8")


class Steps:
    """The first `n_steps` steps through a folder written by `write_rows`, `short_share` of them short.

    `steps[i]` is int64 (n_rows, row_length). Rows are drawn without repetition, in an order of `seed`; when
    all rows of a kind were seen, they come again in another order.
    """

    def __init__(self, folder: Path, tokens_per_step: int, n_steps: int, short_share: float, seed: int) -> None:
        counts = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
        self.counts: dict[str, int] = counts
        lengths = {"short": counts["max_length"] // SHORT_ROW_DIVISOR, "long": counts["max_length"]}
        self._rows = {
            kind: np.memmap(folder / f"{kind}.bin", dtype=DTYPE, mode="r").reshape(-1, length)
            for kind, length in lengths.items()
            if counts[kind]
        }
        self.n_short = n_short = round(n_steps * short_share)
        random = np.random.default_rng(seed)
        self._plan = [
            (kind, rows)
            for kind, n in (("short", n_short), ("long", n_steps - n_short))
            if n
            for rows in self._draw(kind, n, max(1, tokens_per_step // lengths[kind]), random)
        ]

    def __len__(self) -> int:
        return len(self._plan)

    def __getitem__(self, step: int) -> np.ndarray:
        kind, rows = self._plan[step]
        return np.asarray(self._rows[kind][np.sort(rows)], dtype=np.int64)

    def long_rows(self, most: int) -> np.ndarray:
        """At most `most` long rows, evenly spread over the file, int64 (n_rows, max_length)."""
        rows = self._rows["long"]
        interval = -(-len(rows) // most)
        return np.asarray(rows[::interval], dtype=np.int64)

    def _draw(self, kind: str, n_steps: int, per_step: int, random: np.random.Generator) -> list[np.ndarray]:
        n_rows = len(self._rows.get(kind, ()))
        steps_an_epoch = n_rows // per_step
        drawn: list[np.ndarray] = []
        while steps_an_epoch and len(drawn) < n_steps:
            drawn += list(random.permutation(n_rows)[: steps_an_epoch * per_step].reshape(-1, per_step))
        return drawn[:n_steps]


def _row(ids: list[int], row_format: RowFormat, length: int) -> bytes:
    row = [row_format.opening, *ids[: length - 1 - row_format.closes_row]]
    if row_format.closes_row:
        row.append(row_format.closing)
    row += [row_format.padding] * (length - len(row))
    return np.array(row, dtype=DTYPE).tobytes()
