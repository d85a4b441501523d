"""How well each score follows human judgements of the sentences, and the coefficients that MORCELA needs for it.

And what pairing is worth: how alike the scores within pairs are, and how well they separate the sentences without them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from engine.evaluations.minimal_pairs.judgements import cross_fit, of_pairs, preferences_of_pairs
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.views import DEFAULT_ALPHA, NORMALIZATION, available, by_model, decided, scores
from engine.evaluations.shared.common_columns import MODEL, WHY_UNDEFINED, interval
from engine.evaluations.shared.declared_tables import Column, Table, measured, returns
from engine.measures.minimal_pairs.judged_sentences import PARTITIONS
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.measures.statistics.correlations.correlation import pearson
from engine.measures.statistics.ranked_area import area_of_pairs
from engine.messages.message import Message

# The numbers of MORCELA that depend on the partition into parts: what each is, unit, decimals.
_IN_PARTS = {
    "pearson": ("pearson", "", 3),
    "difference": ("difference_pearson", "", 3),
    "beta": ("beta", "", 2),
    "gamma": ("gamma", "nats", 2),
    "accuracy": (Message("MORCELA's accuracy over all pairs"), "", 3),
}
_DEVIATIONS = tuple(f"{name}_deviation" for name in _IN_PARTS)

LINKING = Table(
    "linking",
    Message("A row for each model and normalisation: how its scores follow human judgements of the sentences."),
    (
        MODEL,
        NORMALIZATION,
        Column("n", "integer", "sentences that were judged", "sentences"),
        measured(
            "pearson",
            meaning="of scores and judgements; MORCELA's score of a sentence is from coefficients that "
            "were fitted to other pairs",
        ),
        *interval(),
        WHY_UNDEFINED,
        Column(
            "beta",
            "number",
            "mean of MORCELA's beta over the parts, how much of word frequency is taken off; NaN for other scores",
        ),
        Column(
            "gamma",
            "number",
            "mean of MORCELA's gamma over the parts, what is added before dividing by the length; NaN for other scores",
            "nats",
        ),
        Column("n_pairs", "integer", "pairs of which both sentences, or their difference, were judged", "pairs"),
        measured(
            "pearson",
            "difference_pearson",
            "of the differences, of score and of judgement, between the acceptable "
            "and the unacceptable sentence of a pair: what the two sentences share cancels out. Where people judged "
            "the difference itself, of that judgement",
        ),
        *interval(names="difference", of="difference_pearson"),
        *(
            Column(
                f"{name}_deviation",
                "number",
                Message(
                    "standard deviation of {of} over {PARTITIONS} partitions into "
                    "parts, that is over seeds; NaN for other scores than MORCELA, "
                    "and where a subset of the pairs is counted",
                    of=of,
                    PARTITIONS=PARTITIONS,
                ),
                unit,
                better="lower",
                digits=digits,
            )
            for name, (of, unit, digits) in _IN_PARTS.items()
        ),
    ),
    only_with_rows=True,
    since="0.3.0",
)

PAIRING = Table(
    "pairing",
    Message(
        "A row for each model and normalisation: how alike the scores of the two sentences of a pair are, and how well "
        "the scores tell acceptable from unacceptable sentences within pairs and without them."
    ),
    (
        MODEL,
        NORMALIZATION,
        Column("n", "integer", "pairs whose two scores are finite", "pairs"),
        measured("pearson", meaning="of the scores of the two sentences, over the pairs"),
        *interval(),
        Column(
            "accuracy",
            "number",
            "share of these pairs whose acceptable sentence has the higher score",
            better="higher",
            digits=3,
        ),
        measured("judgement_auc", "auc", "of all sentences of these pairs, whichever pair they belong to"),
        *interval(names="auc", of="auc"),
        WHY_UNDEFINED,
    ),
    since="0.3.0",
)


@returns(PAIRING)
def pairing(result: Result, normalizations: Sequence[str] | None = None, alpha: float = DEFAULT_ALPHA) -> pd.DataFrame:
    """Two of three predictions on string probabilities: scores within pairs are correlated, and sentences are hardly
    separated without their pairs. The third, of differences and judgements, is in `linking`.

    The interval of the area takes each pair as a cluster. None = every normalisation that is `available`.

    Source: Hu, Wilcox, Song, Mahowald, Levy 2026 (TACL 14), section 3, for log-probabilities; they have no intervals.
    """
    rows = []
    for model, pairs in by_model(result):
        for normalization in available(pairs) if normalizations is None else normalizations:
            acceptable, unacceptable = scores(pairs, normalization, alpha)
            there = np.isfinite(acceptable) & np.isfinite(unacceptable)
            names = (Message("the score of the acceptable sentence"), Message("the score of the unacceptable sentence"))
            within = pearson(acceptable[there], unacceptable[there], names=names)
            area = area_of_pairs(acceptable[there], unacceptable[there])
            right = decided(pairs, normalization, alpha)[there] == 1
            rows.append(
                {
                    "model": model,
                    "normalization": normalization,
                    "n": within.n,
                    "pearson": within.value,
                    "ci_low": within.ci_low,
                    "ci_high": within.ci_high,
                    "accuracy": right.mean() if right.size else np.nan,
                    "auc": area.value,
                    "auc_low": area.ci_low,
                    "auc_high": area.ci_high,
                    "reason": within.reason or area.reason,
                }
            )
    return PAIRING.frame_of_records(rows)


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
        is_rated = rated is not None or preferred is not None
        nothing = np.full(len(pairs), np.nan)
        judgements = rated or (nothing, nothing)
        judged_differences = judgements[0] - judgements[1] if preferred is None else preferred
        for normalization in (available(pairs) if normalizations is None else normalizations) if is_rated else ():
            of_sides = [np.where(np.isfinite(values), values, np.nan) for values in scores(pairs, normalization, alpha)]
            fit = pearson(
                np.concatenate(of_sides),
                np.concatenate(judgements),
                names=(Message("the score"), Message("the judgement")),
            )
            differences = pearson(
                of_sides[0] - of_sides[1],
                judged_differences,
                names=(Message("the difference of scores"), Message("the difference of judgements")),
            )
            fitted = NORMALIZATIONS[normalization].is_fitted
            rows.append(
                {
                    "model": model,
                    "normalization": normalization,
                    "n": fit.n,
                    "pearson": fit.value,
                    "ci_low": fit.ci_low,
                    "ci_high": fit.ci_high,
                    "reason": (fit.reason if rated else "") or differences.reason,
                    "n_pairs": differences.n,
                    "difference_pearson": differences.value,
                    "difference_low": differences.ci_low,
                    "difference_high": differences.ci_high,
                    "beta": pairs["morcela_beta"].mean() if fitted else np.nan,
                    "gamma": pairs["morcela_gamma"].mean() if fitted else np.nan,
                    **(
                        _spread(pairs, result, judgements, judged_differences)
                        if fitted
                        else dict.fromkeys(_DEVIATIONS, np.nan)
                    ),
                }
            )
    return LINKING.frame_of_records(rows)


def _spread(
    pairs: pd.DataFrame, result: Result, judgements: tuple[np.ndarray, np.ndarray], judged_differences: np.ndarray
) -> dict[str, float]:
    """Standard deviations of MORCELA's numbers over partitions of the pairs of one model, by the name of the column.

    nan where a partition has no fit, and where these are some of the pairs that the coefficients were fitted to: those
    are not partitioned here. The seeds are those from the run's own on.
    """
    rows: list[tuple[float, ...]] = []
    for seed in range(result.settings.seed, result.settings.seed + PARTITIONS):
        fit = cross_fit(pairs, result.items, seed)
        if fit is None or fit.reason:
            return dict.fromkeys(_DEVIATIONS, np.nan)
        if not rows and not np.allclose(fit.beta[: len(pairs)], pairs["morcela_beta"], rtol=1e-6, atol=1e-9):
            return dict.fromkeys(_DEVIATIONS, np.nan)
        fitted = pairs.assign(morcela_beta=fit.beta[: len(pairs)], morcela_gamma=fit.gamma[: len(pairs)])
        of_sides = scores(fitted, "MORCELA")
        rows.append(
            (
                pearson(np.concatenate(of_sides), np.concatenate(judgements)).value,
                pearson(of_sides[0] - of_sides[1], judged_differences).value,
                fit.beta.mean(),
                fit.gamma.mean(),
                (decided(fitted, "MORCELA") == 1).mean(),
            )
        )
    return dict(zip(_DEVIATIONS, np.std(rows, axis=0, ddof=1).tolist(), strict=True))
