"""A corpus as rows of token ids on disk, and the steps that a trainer takes through them.

Most rows are `max_length` ids of running text and start with a sentence; the sentence that is cut
at the end of a row opens the next one. The others hold one sentence each, which is how the models
are used afterwards. A step is a fixed number of ids, of one kind of row, so that no step is larger
than another and resuming needs no more than the step's number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from engine.datasets.corpus import Document, split_sentences
from engine.models.pretrain_tokenizers import Encode

SENTENCE_ROW_PART = 8  # a sentence row is an eighth as long as a text row
DTYPE = np.uint16  # vocabularies of pretrained minis stay far below 65,536


@dataclass(frozen=True)
class RowFormat:
    """Ids that open, close and pad a row, and how long rows are."""

    opening: int
    closing: int
    padding: int
    max_length: int
    # BERT rows end with [SEP]; a causal row ends where it is cut.
    closes_row: bool
    sentence_share: float

    @property
    def sentence_length(self) -> int:
        return self.max_length // SENTENCE_ROW_PART


def write_rows(documents: Iterable[Document], encode: Encode, form: RowFormat, folder: Path, seed: int) -> None:
    """Encode `documents` into `folder`: text.bin, sentences.bin (rows of ids) and rows.json (counts).

    rows.json is written last: a folder without it is unfinished and is written again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    counts = {"text": 0, "sentences": 0, "characters": 0, "tokens": 0, "documents": 0}
    with (folder / "text.bin").open("wb") as text, (folder / "sentences.bin").open("wb") as single:
        stream: list[int] = []
        for document in documents:
            counts["documents"] += 1
            for sentence in split_sentences(document.text):
                ids = encode(sentence)
                counts["characters"] += len(sentence)
                counts["tokens"] += len(ids)
                if form.sentence_share and random.random() < form.sentence_share:
                    single.write(_row(ids, form, form.sentence_length))
                    counts["sentences"] += 1
                stream += ids
                room = form.max_length - 1 - form.closes_row
                if len(stream) >= room:
                    text.write(_row(stream, form, form.max_length))
                    counts["text"] += 1
                    # The cut sentence opens the next row, unless it alone fills a row.
                    stream = list(ids) if len(ids) < room < len(stream) else []
            stream.append(form.closing)
    (folder / "rows.json").write_text(json.dumps({**asdict(form), **counts}), encoding="utf-8")


class Steps:
    """The steps of a folder written by `write_rows`; `steps[i]` is int64 (n_rows, row_length)."""

    def __init__(self, folder: Path, tokens_per_step: int, seed: int) -> None:
        written = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
        self.counts: dict[str, int] = written
        lengths = {"text": written["max_length"], "sentences": written["max_length"] // SENTENCE_ROW_PART}
        self._rows = {
            kind: np.memmap(folder / f"{kind}.bin", dtype=DTYPE, mode="r").reshape(-1, length)
            for kind, length in lengths.items() if written[kind]
        }
        random = np.random.default_rng(seed)
        self._plan: list[tuple[str, np.ndarray]] = []
        for kind, rows in self._rows.items():
            per_step = max(1, tokens_per_step // lengths[kind])
            order = random.permutation(len(rows))
            self._plan += [(kind, order[i:i + per_step]) for i in range(0, len(order) - per_step + 1, per_step)]
        random.shuffle(self._plan)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._plan)

    def __getitem__(self, step: int) -> np.ndarray:
        kind, rows = self._plan[step]
        return np.asarray(self._rows[kind][np.sort(rows)], dtype=np.int64)

    def text_rows(self) -> Iterator[np.ndarray]:
        """The rows of running text in file order, int64 (max_length,): the held-out numbers read these."""
        for row in self._rows["text"]:
            yield np.asarray(row, dtype=np.int64)


def _row(ids: list[int], form: RowFormat, length: int) -> bytes:
    row = [form.opening, *ids[: length - 1 - form.closes_row]]
    if form.closes_row:
        row.append(form.closing)
    row += [form.padding] * (length - len(row))
    return np.array(row, dtype=DTYPE).tobytes()
