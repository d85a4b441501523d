"""The pairs behind the numbers: where the penalty brings a score nearer to the humans' and where farther away, the
paper's case table; and where the score of any method is furthest from theirs.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.evaluations.alignment.human import human_scores
from engine.evaluations.metric_study.records import IDF, OF_CELL, PAIR, Result
from engine.evaluations.shared.common_columns import MODEL
from engine.evaluations.shared.declared_tables import Column, Table, returns
from engine.measures.statistics.annotators import z_scores
from engine.messages.message import Message, named, together

FURTHEST = 100  # pairs of each setting and method in the table of files
NEARER = (Message("with penalty"), Message("without penalty"))
CASES = Table(
    "cases",
    Message("A row for each pair whose score the penalty changes, the most moved first."),
    (
        MODEL,
        IDF,
        *PAIR,
        Column("human", "number", "the human score, as a z-score", better="higher"),
        Column("base", "number", "the score without penalty, as a z-score"),
        Column("base_difference", "number", "|base - human|", better="lower"),
        Column("penalized", "number", "the score with penalty, as a z-score"),
        Column("penalized_difference", "number", "|penalized - human|", better="lower"),
        Column(
            "nearer",
            "text",
            Message("which is nearer to the human score: {NEARER}", NEARER=together(" or ", NEARER)),
            words=named,
        ),
        Column("gain", "number", "what the pair adds to the penalty's gain in Pearson's r", better="higher"),
        Column("base_score", "number", "the score without penalty"),
        Column("penalized_score", "number", "the score with penalty"),
        Column(
            "human_score",
            "number",
            "mean of the annotators' scores as they are in the file; where their scales differ, of their z-scores",
            better="higher",
            since="0.2.0",
        ),
    ),
)

METHOD_CASES = Table(
    "method_cases",
    Message(
        "The 100 pairs of each setting and method whose score is furthest from the human score, the furthest first."
    ),
    (
        *OF_CELL,
        *PAIR,
        CASES["human"],
        Column("standard_score", "number", "the score, as a z-score"),
        Column("difference", "number", "standard_score - human, above 0 where the method rates higher than the humans"),
        Column("score", "number", "the score"),
        CASES["human_score"],
    ),
    since="0.3.0",
)


@returns(CASES)
def cases(result: Result, model: str, idf: str) -> pd.DataFrame:
    """The pairs whose score the penalty changes, those first that it moves most, for good or ill.

    human, base and penalized are z-scores over the pairs that have all three, so that they can be compared; the
    differences are |base − human| and |penalized − human|; nearer says which is smaller. gain is what the pair adds to
    the penalty's gain in Pearson's r,

        gain_i = ((base_i − human_i)² − (penalized_i − human_i)²) / 2n,    Σ over all pairs = r(penalized) − r(base)

    since r = 1 − Σ (z − z')² / 2n.

    Empty where the study has not both settings, or one has no correlation. The paper (section 5) takes the differences
    of scores between 0 and 1 and does not say how they were brought there; z-scores are ours.
    """
    compared = compare(result, model, idf)
    moved = compared[compared["base_score"] != compared["penalized_score"]]
    order = moved["gain"].abs().sort_values(ascending=False, kind="stable").index
    return moved.loc[order].reset_index(drop=True)


def all_cases(result: Result) -> pd.DataFrame:
    """`cases` under every model and dictionary, one below the other."""
    chosen = result.correlations[result.correlations["penalty"] == "reading"]
    tables = [cases(result, model, idf) for model, idf in zip(chosen["model"], chosen["idf"], strict=True)]
    tables = [table for table in tables if len(table)]
    return pd.concat(tables, ignore_index=True) if tables else CASES.frame()


def compare(result: Result, model: str, idf: str) -> pd.DataFrame:
    """The table of `cases` for all pairs that have both scores and a human one, in the order of the dataset."""
    base, penalized = (result.scores_of(model, idf, penalty) for penalty in ("none", "reading"))
    if base is None or penalized is None:
        return CASES.frame()
    gold = result.pairs["gold"].to_numpy(dtype=np.float64)
    common = np.isfinite(gold) & np.isfinite(base) & np.isfinite(penalized)
    human, plain, lowered = (z_scores(values[common]) for values in (gold, base, penalized))
    if not common.any() or np.isnan([human[0], plain[0], lowered[0]]).any():
        return CASES.frame()
    before, after = np.abs(plain - human), np.abs(lowered - human)
    pairs = result.pairs[common]
    scores = _as_annotated(result)
    return pd.DataFrame(
        {
            "model": model,
            "idf": idf,
            "row": pairs["row"].to_numpy(),
            "reference": pairs["reference"].to_numpy(),
            "candidate": pairs["candidate"].to_numpy(),
            "category": pairs["category"].to_numpy(),
            "human": human,
            "base": plain,
            "base_difference": before,
            "penalized": lowered,
            "penalized_difference": after,
            "nearer": np.where(after < before, *NEARER),
            "gain": (before**2 - after**2) / (2 * common.sum()),
            "base_score": base[common],
            "penalized_score": penalized[common],
            "human_score": scores[common],
        },
        columns=CASES.headers,
    )


@returns(METHOD_CASES)
def method_cases(result: Result, place: int, most: int | None = None) -> pd.DataFrame:
    """The pairs of one setting or method, those first whose score is furthest from the human score.

    place: of its row in `Result.correlations`. most: how many pairs; None for all. Score and human score are compared
    as z-scores over the pairs that have both, so that no method's unit counts. Empty where the method has no
    correlation. The share of a pair in it: r = 1 - Σ difference² / 2n.
    """
    gold, values = result.pairs["gold"].to_numpy(dtype=np.float64), result.scores[place]
    common = np.isfinite(gold) & np.isfinite(values)
    if not common.any():
        return METHOD_CASES.frame()
    human, standard = z_scores(gold[common]), z_scores(values[common])
    if np.isnan([human[0], standard[0]]).any():
        return METHOD_CASES.frame()
    difference = standard - human
    order = np.argsort(-np.abs(difference), kind="stable")[:most]
    pairs = result.pairs[common].iloc[order]
    cell = result.correlations.iloc[place]
    return pd.DataFrame(
        {
            **{column.name: cell[column.name] for column in OF_CELL},
            **{column.name: pairs[column.name].to_numpy() for column in PAIR},
            "human": human[order],
            "standard_score": standard[order],
            "difference": difference[order],
            "score": values[common][order],
            "human_score": _as_annotated(result)[common][order],
        },
        columns=METHOD_CASES.headers,
    )


def all_method_cases(result: Result) -> pd.DataFrame:
    """`method_cases` of every setting and method, FURTHEST of each, in the order of `Result.correlations`."""
    tables = [method_cases(result, place, FURTHEST) for place in range(len(result.correlations))]
    tables = [table for table in tables if len(table)]
    return pd.concat(tables, ignore_index=True) if tables else METHOD_CASES.frame()


def _as_annotated(result: Result) -> np.ndarray:
    """The human score of each pair as it is in the file, float64 (n_pairs,); where scales differ, as z-score."""
    annotated = human_scores(result.pairs)
    return result.pairs["gold"].to_numpy(dtype=np.float64) if annotated is None else annotated.mean
