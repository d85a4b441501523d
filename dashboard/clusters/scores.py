"""The models' scores as a table with ranks and intervals, and what the significance tests say of them."""

from __future__ import annotations

from itertools import combinations

import pandas as pd

from dashboard.clusters.charts import interval_text
from dashboard.shared.ranks import UNBROKEN, rank_labels
from dashboard.shared.score_tables import draw_score_table
from dashboard.shared.theme import short_names, shortened
from dashboard.shared.wording import column_label, verbatim
from engine.evaluations.clusters.records import VALIDITY, Result
from engine.evaluations.shared.finding import FEWEST, p_value
from engine.evaluations.shared.rank_ranges import ranges_of, says_who_differs
from engine.evaluations.shared.unknown_tokens import NOTICED
from engine.language.quantities import decimals
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import tr, tr_n, translated
from engine.messages.message import list_of

# measure -> its column in Result.models
MEASURES = {
    "dispersion_score": "score",
    "in_class_dispersion": "in_class_dispersion",
    "out_of_class_dispersion": "out_of_class_dispersion",
}
VARIANCES = ("in_class_variance", "out_of_class_variance")
SIGNIFICANCE = 0.05


def score_table(result: Result) -> None:
    """Draw a row for each model, the best first: rank, the three measures with their intervals, the two variances.

    The share of unknown tokens is beside them where it is notable for one of the models.
    """
    ranked = result.models.sort_values("rank", na_position="last", kind="stable")
    intervals = result.intervals
    ends = dict(
        zip(
            zip(intervals["model"], intervals["measure"], strict=True),
            zip(intervals["ci_low"], intervals["ci_high"], strict=True),
            strict=True,
        )
    )
    digits = {measure: decimals(ranked[column]) for measure, column in MEASURES.items()}
    header = [tr("Rank"), tr("Model"), *(verbatim(column_label(measure)) for measure in (*MEASURES, *VARIANCES))]
    shows_unknown = bool((ranked["unknown_share"] >= NOTICED).any())
    header += [tr("Unknown tokens")] if shows_unknown else []
    rows, short = [], short_names(ranked["model"])
    for row, rank in zip(ranked.to_dict("records"), rank_labels(ranked, result.comparisons), strict=True):
        cells = [rank, verbatim(short[row["model"]])]
        for measure, column in MEASURES.items():
            number = _number(float(row[column]), digits[measure])
            low, high = ends.get((row["model"], measure), (float("nan"), float("nan")))
            cells.append(f"**{number}** {_interval(low, high)}".strip())
        cells += [_number(float(row[column]), decimals(ranked[column])) for column in VARIANCES]
        cells += [f"{row['unknown_share']:.0%}"] if shows_unknown else []
        rows.append(cells)
    draw_score_table(header, rows)


def size_summary(result: Result) -> str:
    """The numbers of sentences and classes; the largest, where a run of an earlier version has several."""
    n_sentences, n_classes = result.models["n_sentences"].max(), result.models["n_classes"].max()
    return tr("{n:,} sentences of {n_classes:,} classes.", n=n_sentences, n_classes=n_classes)


def ranking_statements(result: Result) -> list[str]:
    """What supports the ranking that the finding names: no tie at all, and scores far from those of shuffled labels."""
    support = []
    ranked = result.models.dropna(subset=["rank"])
    is_enough = result.models["n_sentences"].max() >= FEWEST
    is_one_place = all(places and places[0] == places[1] for places in ranges_of(ranked, result.comparisons))
    if len(ranked) > 1 and is_enough and is_one_place and says_who_differs(result.comparisons):
        support.append(
            tr(
                "No two models share a rank: all neighbours in the ranking differ significantly (paired "
                "bootstrap, {resamples:,} resamples).",
                resamples=result.settings.resamples,
            )
        )
    null = result.null.dropna(subset=["p_value"])
    if null.empty or (null["p_value"] > SIGNIFICANCE).any():
        return support
    if len(null) == 1:
        low, high = null[["null_low", "null_high"]].iloc[0]
        digits = decimals([low, high])
        support.append(
            tr(
                "With shuffled labels M_m would be {low} to {high} (95%; {p}).",
                low=f"{low:,.{digits}f}",
                high=f"{high:,.{digits}f}",
                p=translated(p_value(float(null["p_value"].iloc[0]))),
            )
        )
    elif len(null) == len(result.models):
        support.append(
            tr(
                "All models score significantly better than with shuffled labels (greatest {p}).",
                p=translated(p_value(float(null["p_value"].max()))),
            )
        )
    return support


def disagreement_of_indices(result: Result) -> list[str]:
    """One sentence that names the validity indices that do not rank the models as M_m does; none where all do.

    A tie of an index is no disagreement; an index that is undefined for a model ranks nothing.
    """
    scored = result.models.dropna(subset=["rank"]).set_index("model")["score"]
    indices = result.validity.set_index("model").loc[scored.index]
    others = []
    for column in VALIDITY.columns:
        if not column.card or column.better == "neither" or indices[column.name].isna().any():
            continue
        values = indices[column.name] * (1 if column.better == "lower" else -1)
        pairs = combinations(range(len(scored)), 2)
        if any((scored.iloc[a] - scored.iloc[b]) * (values.iloc[a] - values.iloc[b]) < 0 for a, b in pairs):
            others.append(
                tr(
                    "{index} (best: {model})",
                    index=translated(CARDS[column.card].name),
                    model=shortened(str(values.idxmin()), result.settings.models),
                )
            )
    if not others:
        return []
    return [
        tr_n(
            "{indices} does not rank the models as M_m does.",
            "These {n} indices do not rank the models as M_m does: {indices}.",
            len(others),
            indices=translated(list_of(others)),
        )
    ]


def _interval(low: float, high: float) -> str:
    """An interval, small and grey; "" where there is none."""
    if pd.isna(low) or pd.isna(high):
        return ""
    return f":small[:gray[{interval_text(low, high).replace('–', UNBROKEN)}]]"


def _number(value: float, digits: int) -> str:
    return tr("undefined") if pd.isna(value) else f"{value:,.{digits}f}"
