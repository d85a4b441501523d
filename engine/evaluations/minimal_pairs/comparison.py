"""Models compared on the same minimal pairs: who is right more often beyond chance, and where they differ."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.evaluations.minimal_pairs.clustered.intervals import (
    ACCURACY_INTERVAL,
    OVER,
    SIGNIFICANT,
    corrected,
    share_over,
    tested_over,
)
from engine.evaluations.minimal_pairs.records import CATEGORY_COLUMN, PAIR_ROW, PAIRS, Result
from engine.evaluations.minimal_pairs.views import DEFAULT_ALPHA, by_model, clusters_of, decided, of_model, scores
from engine.evaluations.shared.common_columns import (
    MODEL,
    OTHER,
    RANK_FIRST,
    RANK_GROUP,
    RANK_LAST,
    best_in_bold,
    interval,
    separable_in_bold,
)
from engine.evaluations.shared.declared_tables import Column, Table, measured, returns
from engine.evaluations.shared.rank_ranges import range_columns
from engine.measures.cards.catalog import CARDS
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.measures.statistics.own_spread import in_own_spread
from engine.measures.statistics.paired_tests import mcnemar
from engine.measures.statistics.rank_groups import rank_groups, rank_ranges
from engine.messages.message import Message, list_of

METHOD = Message("McNemar's exact test, Holm-corrected")
OVER_METHOD = Message("McNemar's exact test, or Student's paired test over clusters, Holm-corrected")

COMPARISONS = Table(
    "comparisons",
    Message("Each two models once, over the pairs that all models scored."),
    (
        MODEL,
        OTHER,
        Column("n", "integer", "pairs", "pairs"),
        Column("n_only_model", "integer", "pairs that the model alone gets right; a tie is not right", "pairs"),
        Column("n_only_other", "integer", "pairs that the other alone gets right", "pairs"),
        measured("accuracy_difference", "difference", "accuracy of the model less that of the other"),
        *interval(),
        Column("p_value", "number", "of McNemar's exact test"),
        Column("p_holm", "number", "the same, corrected for the number of comparisons by Holm's method"),
        Column("separable", "boolean", Message("whether p_holm is below {SIGNIFICANT}", SIGNIFICANT=SIGNIFICANT)),
    ),
    only_with_rows=True,
    bold=separable_in_bold("difference", METHOD),
)
DIFFERING = Table(
    "differing",
    Message("The pairs that two models decide differently, then those they see most differently."),
    (
        PAIR_ROW,
        CATEGORY_COLUMN,
        PAIRS["acceptable"],
        PAIRS["unacceptable"],
        Column(
            "margin",
            "number",
            "score of the acceptable sentence less that of the other, under the model",
            better="higher",
        ),
        Column("other_margin", "number", "the same under the other model", better="higher"),
        Column(
            "difference",
            "number",
            "margin less other_margin, each over the root mean square of its model's margins, "
            "because a sum and a pseudo-log-likelihood have no common unit",
        ),
        Column("decision", "integer", "1 right, 0 tie, -1 wrong", better="higher", dtype="int8"),
        Column("other_decision", "integer", "the same of the other model", better="higher", dtype="int8"),
    ),
)
RANKING = Table(
    "ranking",
    Message("The models, the best first, over the pairs that all models scored."),
    (
        MODEL,
        Column("n", "integer", "pairs", "pairs"),
        Column("n_correct", "integer", "pairs whose acceptable sentence has the higher score", "pairs", "higher"),
        measured("accuracy"),
        *interval(ACCURACY_INTERVAL),
        Column("rank", "integer or none", "1 is the best accuracy, equal ones share a rank", better="lower"),
        RANK_GROUP,
        RANK_FIRST,
        RANK_LAST,
        *OVER,
    ),
    bold=best_in_bold("accuracy", OVER_METHOD),
)


@returns(COMPARISONS)
def comparisons(result: Result, normalization: str, alpha: float = DEFAULT_ALPHA) -> pd.DataFrame:
    """McNemar's exact test for every two models, each once, on the pairs that all models scored; empty for one model."""
    right = _right_by_model(result, normalization, alpha)
    rows = []
    for model, other in combinations(right.columns, 2):
        test = mcnemar(right[model].to_numpy(), right[other].to_numpy())
        rows.append(
            (
                model,
                other,
                test.n,
                test.n_only_first,
                test.n_only_second,
                test.difference,
                test.ci_low,
                test.ci_high,
                test.p_value,
                np.nan,
                False,
            )
        )
    table = COMPARISONS.frame(rows)
    p = corrected(table["p_value"].to_numpy(dtype=np.float64))
    return table.assign(p_holm=p, separable=p < SIGNIFICANT)


@returns(RANKING)
def ranking(result: Result, normalization: str, alpha: float = DEFAULT_ALPHA, clustered_by: str = "") -> pd.DataFrame:
    """The models, the best first, on the pairs that all of them scored; read the ranges, not the ranks.

    Models are told apart by McNemar's test (`comparisons`), or with
    `clustered_by`, a column as in `views.clusters_of`, by Student's over clusters, of the same pairs. Too few clusters
    tell no models apart.
    """
    right = _right_by_model(result, normalization, alpha)
    models, n = list(right.columns), len(right)
    first = of_model(result, models[0])
    clusters = clusters_of(result, first[first["row"].isin(right.index).to_numpy()], clustered_by)
    over = [share_over(right[model].to_numpy(), clusters) for model in models]
    tests = [(right[model].to_numpy(), right[other].to_numpy()) for model, other in combinations(models, 2)]
    p = corrected(
        np.array(
            [mcnemar(*two).p_value if clusters is None else tested_over(*two, clusters)["p_value"] for two in tests],
            dtype=np.float64,
        )
    )
    separable = np.zeros((len(models), len(models)), dtype=bool)
    separable[np.triu_indices(len(models), 1)] = p < SIGNIFICANT
    separable |= separable.T
    accuracy = np.array([share["accuracy"] for share in over], dtype=np.float64)
    table = pd.DataFrame(
        {
            "model": models,
            "n": n,
            "n_correct": right.sum().to_numpy(dtype=np.int64),
            "accuracy": accuracy,
            **{name: [share[name] for share in over] for name in ("ci_low", "ci_high", "n_clusters", "note")},
            "clustered_by": clustered_by,
            "rank_group": rank_groups(-accuracy, separable),
        }
    )
    table["rank"] = table["accuracy"].rank(ascending=False, method="min").astype("Int64")
    ranges = rank_ranges(table["rank"].to_numpy(dtype=np.float64, na_value=np.nan), separable)
    return (
        table.assign(**range_columns(ranges))
        .astype({"clustered_by": "str", "note": "str"})
        .sort_values("rank", kind="stable")[list(RANKING.headers)]
        .reset_index(drop=True)
    )


@returns(DIFFERING)
def differing_pairs(
    result: Result, model: str, other: str, normalization: str, alpha: float = DEFAULT_ALPHA, most: int = 100
) -> pd.DataFrame:
    """The pairs that two models decide differently, then the others, of both the farthest apart first.

    A margin is the acceptable score less the unacceptable one, in `margin_unit`. Raises InputError for
    a model that the result does not hold.
    """
    tables = []
    for name in (model, other):
        if name not in (models := result.scored_models):
            raise InputError(
                Message("The result holds no model {name!r}; it holds {models}.", name=name, models=list_of(models))
            )
        pairs = of_model(result, name)
        margin = np.subtract(*scores(pairs, normalization, alpha))
        tables.append(
            pairs[["row", "category", "acceptable", "unacceptable"]]
            .assign(margin=margin, decision=decided(pairs, normalization, alpha))
            .set_index("row")
        )
    second = tables[1][["margin", "decision"]].add_prefix("other_")
    both = tables[0].join(second, how="inner").reset_index()
    both["difference"] = np.subtract(
        *(in_own_spread(both[name].to_numpy(), centred=False) for name in ("margin", "other_margin"))
    )
    alike = (both["decision"] == both["other_decision"]).to_numpy()
    order = np.lexsort((-both["difference"].abs().fillna(-1).to_numpy(), alike))
    return DIFFERING.selected(both.iloc[order[:most]]).reset_index(drop=True)


def margin_unit(normalization: str) -> str:
    """The unit of a margin under a normalisation, as its measure card says.

    >>> margin_unit("LP"), margin_unit("per character")
    ('nats', 'nats per character')
    """
    return CARDS[NORMALIZATIONS[normalization].card].unit


def _right_by_model(result: Result, normalization: str, alpha: float) -> pd.DataFrame:
    """Whether each model is right, bool (n_pairs, n_models), on the pairs that all scored; the index is their rows."""
    columns = {
        model: pd.Series(decided(pairs, normalization, alpha) == 1, index=pairs["row"].to_numpy())
        for model, pairs in by_model(result)
    }
    return pd.concat(columns, axis=1, join="inner")
