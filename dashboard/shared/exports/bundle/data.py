"""The data of a run as a file that its command reads. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from engine.datasets.masked.masked_sentences import MARKER, MaskedSentences
from engine.datasets.minimal_pairs.export import export_pairs
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError

DATA = "data.csv"


class DataFile(NamedTuple):
    """A file of data: its name and content."""

    name: str
    content: bytes


def data_file(dataset: Any) -> DataFile:
    """The file: of minimal pairs their own, where a command recognises its columns; else a table of texts and roles."""
    if isinstance(dataset, MinimalPairs):
        exported = export_pairs(dataset, dataset.rows, "data")
        name = exported.name.rpartition("/")[2]
        try:
            again = read_pairs([(name, exported.content)])
        except InputError:
            again = None
        if again is not None and (again.acceptable, again.unacceptable) == (dataset.acceptable, dataset.unacceptable):
            return DataFile(name, exported.content)
    return DataFile(DATA, data_csv(dataset))


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
    return frame.to_csv(index=False).encode("utf-8-sig")
