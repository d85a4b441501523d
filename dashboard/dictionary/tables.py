"""Dictionaries as tables: the entries of one, and those of two side by side. Pure: no streamlit."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.measures.idf import IdfDictionary

SIDES = ("both", "only in the first", "only in the second", "neither")  # untranslated


def entries(dictionary: IdfDictionary) -> pd.DataFrame:
    """Columns piece, documents, occurrences, idf; the pieces of most documents first, in the order of the dictionary.

    occurrences is left out where it was not counted.
    """
    pieces = list(dictionary.document_counts)
    frame = pd.DataFrame(
        {
            "piece": pd.Series(pieces, dtype="str"),
            "documents": np.fromiter(dictionary.document_counts.values(), dtype=np.int64, count=len(pieces)),
            "idf": dictionary.idf(pieces, np.zeros(len(pieces), dtype=bool)),
        }
    )
    if dictionary.token_counts:
        frame.insert(
            2,
            "occurrences",
            np.fromiter((dictionary.token_counts[piece] for piece in pieces), dtype=np.int64, count=len(pieces)),
        )
    return frame.sort_values(["documents", "piece"], ascending=[False, True], ignore_index=True)


def search_entries(frame: pd.DataFrame, query: str, only_low: bool) -> pd.DataFrame:
    """The entries whose piece holds `query`, the exact piece first; all of them for an empty query."""
    if only_low:
        frame = frame[frame["low_frequency"]]
    text = query.strip()
    if not text:
        return frame
    matching = frame[frame["piece"].str.contains(text, case=False, regex=False)]
    return matching.sort_values("piece", key=lambda pieces: pieces != text, kind="stable")


def side_by_side(first: IdfDictionary, second: IdfDictionary, share: float, *, relative: bool) -> pd.DataFrame:
    """Every piece of either dictionary under both: piece, documents_1, documents_2, idf_1, idf_2, difference, low.

    relative: idf as a share of log(N + 1), the idf of a piece absent from the corpus, so that corpora of different size
    compare. difference: idf_1 minus idf_2. low: one of SIDES, where the piece is low-frequency when `share` of each
    dictionary's entries are not. The greatest differences, of either sign, come first.
    """
    pieces = list(dict.fromkeys([*first.document_counts, *second.document_counts]))
    none_special = np.zeros(len(pieces), dtype=bool)
    columns: dict[str, np.ndarray] = {}
    low: list[np.ndarray] = []
    for number, dictionary in enumerate((first, second), start=1):
        idf = dictionary.idf(pieces, none_special)
        low.append(idf > dictionary.threshold(share))
        columns[f"documents_{number}"] = np.array([dictionary.document_counts.get(piece, 0) for piece in pieces])
        columns[f"idf_{number}"] = idf / np.log(dictionary.n_documents + 1) if relative else idf
    frame = pd.DataFrame(
        {
            "piece": pd.Series(pieces, dtype="str"),
            "documents_1": columns["documents_1"],
            "documents_2": columns["documents_2"],
            "idf_1": columns["idf_1"],
            "idf_2": columns["idf_2"],
        }
    )
    frame["difference"] = frame["idf_1"] - frame["idf_2"]
    frame["low"] = np.select([low[0] & low[1], low[0], low[1]], SIDES[:3], SIDES[3])
    return frame.sort_values("difference", key=np.abs, ascending=False, kind="stable", ignore_index=True)
