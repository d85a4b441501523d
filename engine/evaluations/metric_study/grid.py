"""The settings of a metric study: how each follows the humans, and which cannot be told from the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.alignment.scoring import check_scoring
from engine.evaluations.metric_study.records import BERTSCORE, CORRELATIONS
from engine.evaluations.shared.declared_tables import returns
from engine.measures.statistics.correlations.correlation import kendall, pearson, spearman
from engine.measures.statistics.correlations.williams import best_against_others, williams_test
from engine.messages.message import Message

SIGNIFICANT = 0.05
MEASURES = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


@dataclass(frozen=True)
class Cell:
    """One setting of the grid; of another kind than "bertscore" without idf and penalty, and `model` is the method."""

    kind: str
    model: str
    idf: str = ""
    penalty: str = ""


def scorings(base: Scoring, idfs: Sequence[str], penalties: Sequence[str]) -> list[Scoring]:
    """`base` with each dictionary and each penalty, dictionary by dictionary; what does not go together is left out.

    The penalty of the paper needs a dictionary, unless its criterion is one of words. Raises InputError when a choice
    is not valid, and when nothing is left.
    """
    check_scoring(replace(base, idf="references"))
    possible = []
    for idf in idfs:
        for penalty in penalties:
            scoring = replace(base, idf=idf, penalty=penalty)
            try:
                check_scoring(scoring)
            except InputError:
                if penalty == "reading" and idf == "none":
                    continue
                raise
            possible.append(scoring)
    if not possible:
        raise InputError(
            Message("No setting is left: the penalty needs an idf dictionary, or the criterion 'proper-nouns'.")
        )
    return possible


@returns(CORRELATIONS)
def correlations(cells: Sequence[Cell], scores: np.ndarray, gold: np.ndarray, reason: str = "") -> pd.DataFrame:
    """How each setting follows the humans, and whether it can be told from the best.

    `scores` (n_cells, n_pairs) and `gold` (n_pairs,) have nan where there is none; `reason`: why there is no gold.
    """
    lines, reasons = [], []
    for cell, values in zip(cells, scores, strict=True):
        by_measure = {
            name: measure(values, gold, names=(Message("the score"), Message("the human score")))
            for name, measure in MEASURES.items()
        }
        line = {**asdict(cell), "n": by_measure["pearson"].n}
        for name, correlation in by_measure.items():
            low, high = ("ci_low", "ci_high") if name == "pearson" else (f"{name}_low", f"{name}_high")
            line |= {name: correlation.value, low: correlation.ci_low, high: correlation.ci_high}
        undefined = by_measure["pearson"].reason
        lines.append(line)
        reasons.append((reason or undefined) if undefined else "")
    return _compared(pd.DataFrame(lines), reasons, scores, gold)


def best_place(table: pd.DataFrame) -> int | None:
    """Which line of `correlations` is the best BERTScore; None where no correlation is defined."""
    ours = table["pearson"].where(table["kind"] == BERTSCORE).to_numpy(dtype=np.float64)
    return None if np.isnan(ours).all() else int(np.nanargmax(ours))


def _compared(table: pd.DataFrame, undefined: Sequence[str], scores: np.ndarray, gold: np.ndarray) -> pd.DataFrame:
    best = best_place(table)
    tests = [
        williams_test(gold, scores[best], values) if best is not None and index != best else None
        for index, values in enumerate(scores)
    ]
    reasons = [reason or (test.reason if test else "") for reason, test in zip(undefined, tests, strict=True)]
    return table.assign(
        williams_t=[test.t if test else np.nan for test in tests],
        williams_p=[test.p_value if test else np.nan for test in tests],
        williams_holm_p=np.full(len(table), np.nan) if best is None else best_against_others(gold, scores, best),
        williams_n=[test.n if test else 0 for test in tests],
        best=[index == best for index in range(len(table))],
        separable=[bool(test and test.p_value < SIGNIFICANT) for test in tests],
        reason=pd.Series(reasons, table.index, dtype=object),  # messages
    )
