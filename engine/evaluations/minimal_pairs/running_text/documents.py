"""The documents of a run of running text, as they were scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.minimal_pairs.texts import title_column
from engine.evaluations.minimal_pairs.exact_decisions import ScoredPairs
from engine.evaluations.minimal_pairs.records import DOCUMENTS
from engine.measures.running_text import Extent, scored_extent

_NOTHING = np.zeros((0, 2), dtype=np.int32)


def document_table(
    dataset: MinimalPairs, scored_by_model: Mapping[str, ScoredPairs], pairs: pd.DataFrame
) -> pd.DataFrame:
    """A row for each document that a model scored, as `Result.documents`; pairs: `Result.pairs` of the same."""
    named = title_column(dataset.fields)
    titles = np.array(dataset.fields[named] if named else ("",) * dataset.n, dtype=object)
    parts = [DOCUMENTS.frame()]
    for model, scored in scored_by_model.items():
        of_model = pairs[(pairs["model"] == model).to_numpy()]
        items = of_model["item"].to_numpy()
        pieces = [scored.by_side[0][item] for item in items]
        extents = [_extent(dataset.acceptable[item], piece) for item, piece in zip(items, pieces, strict=True)]
        parts.append(
            pd.DataFrame(
                {
                    "model": of_model["model"].to_numpy(),
                    "row": of_model["row"].to_numpy(),
                    "category": of_model["category"].to_numpy(),
                    "title": pd.array(titles[items], dtype="str"),
                    "n_tokens": of_model["acceptable_tokens"].astype("Int64").array,
                    "n_characters": [extent.n_characters for extent in extents],
                    "n_bytes": [extent.n_bytes for extent in extents],
                    "n_unknown": [int(piece.get("n_unknown", 0)) for piece in pieces],
                    "n_windows": [int(piece.get("n_windows", 1)) for piece in pieces],
                    "log_likelihood": of_model["acceptable_log_likelihood"].to_numpy(dtype=np.float64),
                }
            ).astype({name: "str" for name in ("model", "category")})
        )
    table = pd.concat(parts[1:] or parts, ignore_index=True)
    are_known = not table["n_tokens"].isna().any()
    return DOCUMENTS.arranged(table.astype({"n_tokens": "int64"}) if are_known else table)


def _extent(text: str, piece: dict[str, Any]) -> Extent:
    """How much of a text was scored; where only the scored tokens are known, all from the first of them on."""
    scored = piece.get("spans", _NOTHING)
    if "unscored_spans" in piece:
        return scored_extent(text, scored, piece["unscored_spans"])
    begins = int(scored[0, 0]) if len(scored) else 0
    return scored_extent(text, scored, [[0, begins]] if begins > 0 and not text[:begins].isspace() else _NOTHING)
