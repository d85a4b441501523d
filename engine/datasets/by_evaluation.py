"""The data of each kind of evaluation: how a file becomes its dataset, and which sample is its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine.datasets import reader_process, sample_data, sentence_pairs
from engine.datasets.formats.files import read_table
from engine.datasets.labelled import labelled_sentences
from engine.datasets.masked import masked_sentences
from engine.datasets.minimal_pairs import pairs as minimal_pairs
from engine.datasets.minimal_pairs.files import read_pairs

FROM_TABLE: Mapping[str, Callable[..., Any]] = {
    "clusters": labelled_sentences.from_table, "classification": labelled_sentences.from_table,
    "fill-mask": masked_sentences.from_table, "alignment": sentence_pairs.from_table,
    "metric-study": sentence_pairs.from_table, "minimal-pairs": minimal_pairs.from_table,
}
SAMPLES: Mapping[str, Callable[[], Any]] = {
    "clusters": sample_data.labelled_sentences, "classification": sample_data.labelled_sentences,
    "fill-mask": sample_data.masked_sentences, "alignment": sample_data.sentence_pairs,
    "metric-study": sample_data.scored_pairs, "minimal-pairs": sample_data.minimal_pairs,
}


def read_dataset(kind: str, path: Path, columns: Mapping[str, Any] | None = None, **reading: Any) -> Any:
    """The dataset of a file for an evaluation of `kind`; minimal pairs also of archives and folders of benchmarks.

    columns: role -> name of a column that is not guessed. reading: fields of `engine.datasets.rows.Reading`. Raises
    InputError with every bad row.
    """
    chosen = dict(columns) if columns else None
    if kind == "minimal-pairs":
        return reader_process.read(read_pairs, [(path.name, path)], columns=chosen, **reading)
    table = reader_process.read(read_table, path, **reading)
    return FROM_TABLE[kind](table, chosen, skip_bad_rows=bool(reading.get("skip_bad_rows")))
