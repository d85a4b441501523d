"""The built-in idf dictionaries as tables for the corpora page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from engine.evaluations.dictionaries import built_in_paths
from engine.evaluations.idf_files import read_idf
from engine.measures.idf import IdfDictionary

DICTIONARIES_KEPT = 6


@dataclass(frozen=True, eq=False)
class Entries:
    """A dictionary and its entries as a table: piece, documents, idf; the most frequent first."""

    dictionary: IdfDictionary
    frame: pd.DataFrame


def paths(corpus: str) -> list[Path]:
    """The files of a built-in corpus, one for each tokenizer."""
    return built_in_paths(corpus)


def tokenizer_name(path: Path) -> str:
    """The model whose tokenizer made a dictionary, from its file's name.

    >>> tokenizer_name(Path("novel.bert-mini-ja.json.gz"))
    'bert-mini-ja'
    """
    return path.name.removesuffix(".gz").removesuffix(".json").partition(".")[2] or path.name


@st.cache_resource(max_entries=DICTIONARIES_KEPT, show_spinner="Opening the dictionary …")
def entries(path: str, modified: int) -> Entries:
    """The entries of the dictionary at `path`; `modified` makes a file that was written again be read again.

    Raises InputError when the file is missing or another thing.
    """
    dictionary = read_idf(Path(path))
    pieces = list(dictionary.document_counts)
    frame = pd.DataFrame({
        "piece": pieces,
        "documents": np.fromiter(dictionary.document_counts.values(), dtype=np.int64, count=len(pieces)),
        "idf": dictionary.idf(pieces, np.zeros(len(pieces), dtype=bool)),
    })
    return Entries(dictionary, frame.sort_values(["documents", "piece"], ascending=[False, True], ignore_index=True))


def found(frame: pd.DataFrame, query: str, only_low: bool) -> pd.DataFrame:
    """The entries whose piece holds `query`, the exact piece first; all of them for an empty query."""
    if only_low:
        frame = frame[frame["low_frequency"]]
    wanted = query.strip()
    if not wanted:
        return frame
    held = frame[frame["piece"].str.contains(wanted, case=False, regex=False)]
    return held.sort_values("piece", key=lambda pieces: pieces != wanted, kind="stable")
