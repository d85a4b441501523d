"""How well each score follows human judgements of the sentences, and the coefficients that MORCELA needs for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from engine.evaluations.minimal_pairs.judgements import of_pairs, preferences_of_pairs
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.views import DEFAULT_ALPHA, NORMALIZATION, available, by_model, scores
from engine.evaluations.shared.common_columns import MODEL, WHY_UNDEFINED, interval
from engine.evaluations.shared.declared_tables import Column, Table, measured, returns
from engine.measures.statistics.correlation import pearson

LINKING = Table("linking", "A row for each model and normalisation: how its scores follow human judgements of the "
                "sentences.", (
    MODEL, NORMALIZATION, Column("n", "integer", "sentences that were judged", "sentences"),
    measured("pearson", meaning="of scores and judgements; MORCELA's score of a sentence is from coefficients that "
             "were fitted to other pairs"), *interval(),
    WHY_UNDEFINED,
    Column("beta", "number", "mean of MORCELA's beta over the parts, how much of word frequency is taken off; NaN for "
           "other scores"),
    Column("gamma", "number", "mean of MORCELA's gamma over the parts, what is added before dividing by the length; "
           "NaN for other scores", "nats"),
    Column("n_pairs", "integer", "pairs of which both sentences, or their difference, were judged", "pairs"),
    measured("pearson", "difference_pearson", "of the differences, of score and of judgement, between the acceptable "
             "and the unacceptable sentence of a pair: what the two sentences share cancels out. Where people judged "
             "the difference itself, of that judgement"),
    *interval(names="difference", of="difference_pearson"),
), only_with_rows=True, since="0.3.0")


@returns(LINKING)
def linking(result: Result, normalizations: Sequence[str] | None = None, alpha: float = DEFAULT_ALPHA) -> pd.DataFrame:
    """Pearson's correlation of every score with the judgements, over all judged sentences; empty without judgements.

    And that of the differences inside the pairs, over the pairs with two judgements, or with one of the difference:
    graded, where an accuracy asks only for their sign. The reason is that of the first of the two that is undefined;
    where only differences were judged, that of these.

    None = every normalisation that is `available`.
    """
    rows = []
    for model, pairs in by_model(result):
        rated, preferred = of_pairs(pairs, result.items), preferences_of_pairs(pairs, result.items)
        is_judged = rated is not None or preferred is not None
        nothing = np.full(len(pairs), np.nan)
        judgements = rated or (nothing, nothing)
        judged_differences = judgements[0] - judgements[1] if preferred is None else preferred
        for normalization in (available(pairs) if normalizations is None else normalizations) if is_judged else ():
            of_sides = [np.where(np.isfinite(values), values, np.nan)
                        for values in scores(pairs, normalization, alpha)]
            fit = pearson(np.concatenate(of_sides), np.concatenate(judgements), names=("the score", "the judgement"))
            differences = pearson(of_sides[0] - of_sides[1], judged_differences,
                                  names=("the difference of scores", "the difference of judgements"))
            fitted = normalization == "MORCELA"
            rows.append({"model": model, "normalization": normalization, "n": fit.n, "pearson": fit.value,
                         "ci_low": fit.ci_low, "ci_high": fit.ci_high,
                         "reason": (fit.reason if rated else "") or differences.reason,
                         "n_pairs": differences.n, "difference_pearson": differences.value,
                         "difference_low": differences.ci_low, "difference_high": differences.ci_high,
                         "beta": pairs["morcela_beta"].mean() if fitted else np.nan,
                         "gamma": pairs["morcela_gamma"].mean() if fitted else np.nan})
    return LINKING.frame_of_records(rows)
