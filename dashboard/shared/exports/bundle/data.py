"""The data of a run as a file that its command reads. Pure."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import pandas as pd

from engine.datasets.formats.delimited import csv_text
from engine.datasets.masked.masked_sentences import MARKER, MaskedSentences
from engine.datasets.minimal_pairs.export import export_pairs
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError

DATA = "data.csv"
ROWS_TRIED = 20


class DataFile(NamedTuple):
    """A file of data: its name and content."""

    name: str
    content: bytes


def data_file(dataset: Any) -> DataFile:
    """The file: of minimal pairs their own, where a command recognises its columns; else a table of texts and roles."""
    if isinstance(dataset, MinimalPairs) and _is_recognised(dataset):
        exported = export_pairs(dataset, dataset.rows, "data")
        return DataFile(exported.name.rpartition("/")[2], exported.content)
    return DataFile(DATA, data_csv(dataset))


def is_renumbered(dataset: Any) -> bool:
    """Whether the rows of the file have other numbers than those of the dataset, because some are left out."""
    return tuple(dataset.rows) != tuple(range(1, len(dataset) + 1))


def _is_recognised(pairs: MinimalPairs) -> bool:
    """Whether the sentences are found by the columns' names in every file of the pairs, by the first rows of each."""
    n_by_source: Counter[str] = Counter()
    first = []
    for row, source in zip(pairs.rows, pairs.sources or ("",) * pairs.n, strict=True):
        n_by_source[source] += 1
        first += [row] if n_by_source[source] <= ROWS_TRIED else []
    some = pairs.subset(first)
    exported = export_pairs(some, first, "data")
    try:
        again = read_pairs([(exported.name, exported.content)])
    except InputError:
        return False
    return (again.acceptable, again.unacceptable) == (some.acceptable, some.unacceptable)


def data_csv(dataset: Any) -> bytes:
    """A dataset as CSV whose columns are recognised by their names, without the numbers of its rows."""
    if isinstance(dataset, MinimalPairs):
        roles = {"acceptable": dataset.acceptable, "unacceptable": dataset.unacceptable, "category": dataset.categories}
        others = {name: values for name, values in dataset.further.items() if name not in roles}
        frame = pd.DataFrame({**roles, **others})
    elif isinstance(dataset, MaskedSentences):
        # The mask stands in the text, because the reader would mask the first occurrence of the word.
        frame = dataset.to_frame().drop(columns=["row", "start"])
        frame["text"] = [f"{before}{MARKER}{after}" for before, _, after in dataset.parts]
    else:
        frame = dataset.to_frame().drop(columns="row")
    return csv_text(frame).encode("utf-8-sig")
