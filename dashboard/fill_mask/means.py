"""Mean probabilities as a table, the sentences they are over, and which models differ significantly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.fill_mask.charts import MEASURE, interval, percent_digits
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.ranks import rank_labels
from dashboard.shared.theme import short_names, with_shown_models
from dashboard.shared.wording import measure_help
from engine.evaluations.fill_mask.records import ALL, Result
from engine.messages.languages import tr
from engine.options import option, option_of


@dataclass(frozen=True)
class MeansChoice:
    """The choice of means, as written in the page's URL."""

    common: bool = option(True, "Only the sentences that every model could fill.")  # untranslated


COMMON = option_of(MeansChoice, "common")


def means_input(view: PageAddress, result: Result) -> pd.DataFrame:
    """The means to show; where some model left sentences out, a toggle restricts them to those all could fill."""
    n = result.models[result.models["domain"] == ALL]["n"]
    common = result.common[result.common["domain"] == ALL]["n"]
    if common.empty or (n == common.iloc[0]).all():
        return result.models
    is_restricted = st.toggle(
        tr("Only the {n:,} sentences that every model could fill", n=common.iloc[0]),
        view.first(COMMON, COMMON.default),
        key=view.key("common"),
        help=tr(
            "Otherwise the means are over different sentences, and a model that leaves out difficult words looks "
            "better than it is."
        ),
    )
    view.keep(COMMON, is_restricted, COMMON.default)
    return result.common if is_restricted else result.models


def means_table(means: pd.DataFrame, result: Result) -> None:
    """Draw the mean of each model over all sentences, the best first, with its interval and counts."""
    overall = means[means["domain"] == ALL].sort_values("mean_probability", ascending=False, kind="stable")
    digits = percent_digits(overall["mean_probability"].tolist())
    left_out = result.excluded["model"].value_counts()
    ranks = ranks_of(overall, result)
    table = pd.DataFrame(
        {
            **({"rank": ranks} if ranks else {}),
            "model": overall["model"],
            "mean": 100 * overall["mean_probability"],
            "interval": [
                interval(low, high, digits) or tr("undefined")
                for low, high in zip(overall["ci_low"], overall["ci_high"], strict=True)
            ],
            "n": overall["n"],
            "several": overall["n_several_pieces"],
            "left_out": [int(left_out.get(model, 0)) for model in overall["model"]],
        }
    )
    columns: dict[str, Any] = {
        "rank": st.column_config.TextColumn(
            tr("Rank"),
            help=tr(
                "The places that the model may have by the tests; none where the models filled different sentences."
            ),
        ),
        "model": tr("Model"),
        "mean": st.column_config.NumberColumn(tr("Mean p ↑"), format=f"%.{digits}f%%", help=measure_help(MEASURE)),
        "interval": st.column_config.TextColumn(tr("95% interval"), help=tr("Bootstrap over the words.")),
        "n": st.column_config.NumberColumn(tr("Sentences")),
        "several": st.column_config.NumberColumn(
            tr("Of several subwords"),
            help=tr(
                "Words that the model splits into more than one subword; their probabilities are products, and small."
            ),
        ),
        "left_out": st.column_config.NumberColumn(
            tr("Left out"), help=tr("Sentences that are too long, or whose word the vocabulary cannot represent.")
        ),
    }
    st.dataframe(
        table.assign(model=table["model"].map(short_names(table["model"]))),
        hide_index=True,
        column_config=columns,
        placeholder="–",
        alt=tr("Models by mean probability of the masked words"),
    )


def ranks_of(overall: pd.DataFrame, result: Result) -> list[str]:
    """The places of several models in the order given, none where they filled different sentences; [] for a single one."""
    if len(overall) < 2:
        return []
    common = result.common[result.common["domain"] == ALL]["n"]
    if common.empty or (overall["n"] != common.iloc[0]).any():
        return ["–"] * len(overall)
    means = overall["mean_probability"]
    return rank_labels(overall.assign(rank=means.rank(method="min", ascending=False)), result.comparisons)


def comparisons(result: Result) -> None:
    """Draw, folded, every difference of two models with its interval."""
    pairs = result.comparisons
    if pairs.empty:
        return
    order = {model: index for index, model in enumerate(result.settings.models)}
    unordered = pairs[[order[a] < order[b] for a, b in zip(pairs["model"], pairs["other"], strict=True)]]
    with st.expander(tr("Differences between models"), icon=":material/compare_arrows:"):
        digits = percent_digits(unordered["difference"].tolist())
        st.dataframe(
            with_shown_models(unordered).assign(
                **{name: 100 * unordered[name] for name in ("difference", "ci_low", "ci_high")}
            ),
            hide_index=True,
            placeholder="–",
            alt=tr("Differences of mean probabilities with their intervals"),
            column_order=["model", "other", "difference", "ci_low", "ci_high", "separable"],
            column_config={
                "model": tr("Model"),
                "other": tr("Compared with"),
                "separable": tr("Significant"),
                **{
                    name: st.column_config.NumberColumn(title, format=f"%.{digits}f")
                    for name, title in (
                        ("difference", tr("Difference (points)")),
                        ("ci_low", tr("95% from")),
                        ("ci_high", tr("95% to")),
                    )
                },
            },
        )
