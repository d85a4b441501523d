"""How the pairs of a run were scored: the rule for each model, and the precision of the pairs."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.shared.inputs.settings import label_of
from dashboard.shared.wording import model_name, verbatim
from engine.evaluations.minimal_pairs.prompts.tables import by_template
from engine.evaluations.minimal_pairs.records import Result, Settings
from engine.messages.earlier_texts import read_message
from engine.messages.languages import tr, translated
from engine.models.sources.names import shown_name
from engine.options import option_of
from engine.precision import DTYPES

OPTION = option_of(Settings, "precision")


def scoring_section(result: Result, clustered_by: str = "") -> dict[str, go.Figure]:
    """Draw the rules, the precision and its measured error; there is no figure.

    clustered_by: the column of the clusters that the intervals by template are over, as in `views.clusters_of`.
    """
    for model, rule in result.rules.items():
        st.markdown(f"**{model_name(model)}** :gray[{verbatim(translated(read_message(rule)))}]")  # untranslated
    if len(result.prompted):
        _templates(result, clustered_by)
    precision = result.settings.precision
    st.markdown(
        tr(
            "**Precision** {precision} :gray[{meaning}]",
            precision=label_of(OPTION, precision),
            meaning=verbatim(translated(OPTION.choices[precision])),
        )
    )
    if "scored_in" in result.pairs.columns:
        st.dataframe(
            precision_table(result),
            hide_index=True,
            placeholder="–",
            alt=tr("How many pairs were scored in which precision"),
            column_config={
                "model": tr("Model"),
                **{name: tr("in {precision}", precision=name) for name in DTYPES},
                "sampled": tr("Sampled"),
                "rounds": tr("Rounds"),
                "largest_error": st.column_config.NumberColumn(
                    tr("Largest error"),
                    format="%.2g",
                    help=tr("The largest observed difference between bf16 and fp32, in nats per square root of |S|."),
                ),
                "safety": st.column_config.NumberColumn(
                    tr("Safety factor"),
                    format="%g ×",
                    help=tr("A pair whose winner would change within this multiple of that error is scored in fp32."),
                ),
            },
        )
        if (result.pairs["scored_in"] != "fp32").any():
            st.caption(tr("The column “Scored in” of the table below shows the precision of each pair."))
    return {}


def _templates(result: Result, clustered_by: str) -> None:
    """How right each model is in each template alone; of single sentences the templates."""
    st.markdown(tr("**Templates** :gray[each sentence was scored in them, too]"))
    table = by_template(result, clustered_by)
    is_of_pairs = result.data_kind.n_sentences > 1
    shown = table.assign(model=table["model"].map(shown_name), score=table["score"].map(translated))
    st.dataframe(
        shown[
            [
                "model",
                "template",
                "score",
                "text",
                *(["accuracy", "ci_low", "ci_high", "n_tied"] if is_of_pairs else []),
            ]
        ],
        hide_index=True,
        placeholder="–",
        alt=tr("The accuracy of each model in each template"),
        column_config={
            "model": tr("Model"),
            "template": tr("No."),
            "score": tr("Score"),
            "text": tr("Template"),
            "accuracy": st.column_config.NumberColumn(tr("Accuracy"), format="percent"),
            "ci_low": st.column_config.NumberColumn(tr("95% from"), format="percent"),
            "ci_high": st.column_config.NumberColumn(tr("to"), format="percent"),
            "n_tied": tr("Ties"),
        },
    )


def precision_table(result: Result) -> pd.DataFrame:
    """A row for each model: model, the number of pairs in each precision, and how the error bound was measured."""
    pairs = result.pairs
    report_by_model = {report["model"]: report for report in result.precision.to_dict("records")}
    others = [name for name in DTYPES if name != "fp32" and (pairs["scored_in"] == name).any()]
    names = ("fp32", *(others or ["bf16"]))
    rows = []
    for model in result.scored_models:
        scored_in = pairs.loc[(pairs["model"] == model).to_numpy(), "scored_in"]
        row = {"model": shown_name(model), **{name: int((scored_in == name).sum()) for name in names}}
        if model in report_by_model:
            report = report_by_model[model]
            row |= {
                "sampled": report["n_sampled"],
                "rounds": report["rounds"],
                "largest_error": report["largest_error"],
                "safety": report["safety"],
            }
        rows.append(row)
    return pd.DataFrame(rows)
