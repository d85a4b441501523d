"""What the paper on BERTScore for Japanese novel translation printed: its tables, to lay beside one's own results.

Never mixed with what is measured here: other sentences, other annotators, other models. Transcribed number by number
from sections 4.1, 4.3 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from engine.evaluations.paper_tables.printed import PaperTable
from engine.messages.message import Message

SOURCE = Message(
    "The paper on BERTScore for Japanese novel translation, with a penalty by the edit distance of readings"
)
N_PAIRS = 200
N_ANNOTATORS = 3
# "the average value of the correlation was 0.657 to 0.548" (section 4.1), over every two of the three annotators
ANNOTATOR_AGREEMENT = (0.548, 0.657)

# Section 4.3, both tables: model, idf dictionary, with penalty, without penalty.
_PRELIMINARY = (
    ("Multilingual", "novel", 0.169, 0.197),
    ("Wikipedia", "novel", 0.395, 0.387),
    ("SNS", "novel", 0.153, 0.094),
    ("Novel", "novel", 0.456, 0.451),
    ("Multilingual", "wiki", 0.303, 0.292),
    ("Wikipedia", "wiki", 0.405, 0.397),
    ("SNS", "wiki", 0.094, 0.083),
    ("Novel", "wiki", 0.438, 0.451),
)
# Section 5, first table.
_METHODS = (("Our method", 0.456), ("Sent BLEU", 0.093), ("Quick-Thought", 0.067))


@dataclass(frozen=True)
class PaperCase:
    """One pair of the paper's case table: the scores of human and metric, and which setting is nearer.

    The paper takes the differences between scores that it does not say how to have brought to one scale.
    """

    nearer: str
    reference: str
    candidate: str
    human: float
    base: float
    base_difference: float
    penalized: float
    penalized_difference: float


# Section 5, second table.
CASES = (
    PaperCase(
        "With penalty",
        "斉藤さんは今最高の環境にいると思った。",
        "尾崎は自分がこれまでにないほど良い場所にいると思った。",
        0.477,
        0.514,
        0.037,
        0.492,
        0.015,
    ),
    PaperCase(
        "Without Penalty",
        "あなたは猟師のように槍を握っていなかったから失敗したのよ。",
        "あなたはハンターがすべきように槍を持っていなかった、そしてあなたが逃したのでそれはあなたのせいです。",
        0.790,
        0.617,
        0.173,
        0.605,
        0.185,
    ),
)


def printed_correlations() -> pd.DataFrame:
    """The 16 settings: model, idf, penalty ("none", "reading"), pearson."""
    return pd.DataFrame(
        [
            (model, idf, penalty, value)
            for model, idf, penalized, plain in _PRELIMINARY
            for penalty, value in (("none", plain), ("reading", penalized))
        ],
        columns=["model", "idf", "penalty", "pearson"],
    )


def printed_methods() -> pd.DataFrame:
    """The comparison with other methods: method, pearson."""
    return pd.DataFrame(_METHODS, columns=["method", "pearson"])


def _column(idf: str, penalty: str) -> Message:
    return (
        Message("{idf} dictionary, with penalty", idf=idf)
        if penalty == "reading"
        else Message("{idf} dictionary, without penalty", idf=idf)
    )


def _grid_table() -> PaperTable:
    grid = printed_correlations()
    settings = list(dict.fromkeys(zip(grid["idf"], grid["penalty"], strict=True)))
    values = {(row["model"], row["idf"], row["penalty"]): f"{row['pearson']:.3f}" for row in grid.to_dict("records")}
    columns = tuple(_column(*setting) for setting in settings)
    return PaperTable(
        "novels-1",
        "Pearson's correlation with the human scores, 16 settings",
        SOURCE,
        "section 4.3, both tables",
        ("model", *columns),
        tuple((model, *(values[model, *setting] for setting in settings)) for model in dict.fromkeys(grid["model"])),
        dict.fromkeys(columns, "pearson"),
        Message(
            "{N_PAIRS} pairs, scores of {N_ANNOTATORS} evaluators; no intervals were printed.",
            N_PAIRS=N_PAIRS,
            N_ANNOTATORS=N_ANNOTATORS,
        ),
    )


GRID_TABLE = _grid_table()
# (idf dictionary, penalty) -> its column of GRID_TABLE.
COLUMNS = {(idf, penalty): _column(idf, penalty) for idf in ("novel", "wiki") for penalty in ("none", "reading")}
