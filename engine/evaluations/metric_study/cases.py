"""Where does the penalty bring a score nearer to the humans', and where farther away? The paper's case table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.evaluations.alignment.human import human_scores
from engine.evaluations.metric_study.records import IDF, PAIR, Result
from engine.evaluations.shared.common_columns import MODEL
from engine.evaluations.shared.declared_tables import Column, Table, returns
from engine.measures.statistics.annotators import z_scores

NEARER = ("with penalty", "without penalty")
CASES = Table("cases", "A row for each pair whose score the penalty changes, the most moved first.", (
    MODEL, IDF, *PAIR, Column("human", "number", "the human score, as a z-score", better="higher"),
    Column("base", "number", "the score without penalty, as a z-score"),
    Column("base_difference", "number", "|base - human|", better="lower"),
    Column("penalized", "number", "the score with penalty, as a z-score"),
    Column("penalized_difference", "number", "|penalized - human|", better="lower"),
    Column("nearer", "text", f"which is nearer to the human score: {' or '.join(NEARER)}"),
    Column("gain", "number", "what the pair adds to the penalty's gain in Pearson's r", better="higher"),
    Column("base_score", "number", "the score without penalty"),
    Column("penalized_score", "number", "the score with penalty"),
    Column("human_score", "number", "mean of the annotators' scores as they stand in the file; where their scales "
           "differ, of their z-scores", better="higher", since="0.2.0"),
))


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
    annotated = human_scores(result.pairs)
    scores = gold if annotated is None else annotated.mean
    return pd.DataFrame({
        "model": model, "idf": idf, "row": pairs["row"].to_numpy(), "reference": pairs["reference"].to_numpy(),
        "candidate": pairs["candidate"].to_numpy(), "category": pairs["category"].to_numpy(), "human": human,
        "base": plain, "base_difference": before, "penalized": lowered, "penalized_difference": after,
        "nearer": np.where(after < before, *NEARER), "gain": (before**2 - after**2) / (2 * common.sum()),
        "base_score": base[common], "penalized_score": penalized[common], "human_score": scores[common],
    }, columns=CASES.headers)
