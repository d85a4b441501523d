"""Rows of a table appended to a dataset of the same kind; the dataset itself stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from engine.datasets import rows, sentence_pairs
from engine.datasets.formats.files import Table
from engine.datasets.labelled import labelled_sentences
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.masked import masked_sentences
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.datasets.minimal_pairs import pairs as minimal_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import BadRow

READERS: Mapping[type[Any], Callable[..., Any]] = {
    LabelledSentences: labelled_sentences.part_from_table,
    MaskedSentences: masked_sentences.from_table,
    SentencePairs: sentence_pairs.from_table,
    MinimalPairs: minimal_pairs.from_table,
}


def appended(
    dataset: Any, table: Table, columns: Mapping[str, Any] | None = None, *, skip_bad_rows: bool = False
) -> Any:
    """`dataset` with the rows of a table appended, numbered on from its last row; its name stays.

    columns: which column has which role, if not as guessed. A column that only one of them has (a score, a further
    reference, a field) is empty in the rows of the other; a second file of one name has a number appended. Raises
    InputError as `from_table` of the kind does, and for too many labels of both parts together.
    """
    further = READERS[type(dataset)](table, columns, skip_bad_rows=skip_bad_rows)
    if isinstance(dataset, MinimalPairs):
        dataset, further = _of_different_files(dataset, further)
    last = max((*dataset.rows, *(bad.row for bad in dataset.left_out)), default=0)
    after = further.to_frame()
    after["row"] += last
    frame = pd.concat([dataset.to_frame(), after], ignore_index=True)
    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    frame[texts] = frame[texts].fillna("")
    left_out = (*dataset.left_out, *(BadRow(last + bad.row, bad.reason) for bad in further.left_out))
    frame.attrs.clear()
    joined = type(dataset).from_frame(rows.with_left_out(frame, left_out), dataset.name)
    if isinstance(joined, LabelledSentences):
        labelled_sentences.check_labels(joined.name, "label", joined.labels)
    return replace(joined, notices=rows.left_out_notice(left_out) + joined.notices)


def _of_different_files(dataset: MinimalPairs, further: MinimalPairs) -> tuple[MinimalPairs, MinimalPairs]:
    """Both with the file of each pair, none of which is a file of the other; pairs from no file have the name."""
    sources = dataset.sources or (dataset.name,) * dataset.n
    known, label, number = set(sources), further.name, 1
    while label in known:
        number += 1
        label = f"{further.name} ({number})"
    # Scores from a file are of the pairs that were there.
    return replace(dataset, sources=sources, scores=()), replace(further, sources=(label,) * further.n)
