"""Accuracy in all pairs and in each stratum as cards, a row for each model; many models as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.minimal_pairs.charts import misleads
from dashboard.shared.wording import measure_help, verbatim
from engine.language.quantities import count

# The strata from the easiest to the hardest for a model that likes short sentences.
ORDER = {"all": "All", "A<U": "A < U", "A=U": "A = U", "A>U": "A > U"}
ROWS_OF_CARDS = 3
HALF = "50 %"


def accuracy_cards(summary: pd.DataFrame, *, stereotypes: bool = False) -> None:
    """Draw `pair_views.summary` of one normalisation; where length misleads A > U is warm and a sentence says so.

    `stereotypes`: no sentence is the better one, and the numbers say how often `sent_more` is preferred.
    """
    if stereotypes:
        st.markdown(f":gray[Share of pairs in which the whole sentence that stereotypes more is likelier; {HALF} is no "
                    "preference]")
    models = list(dict.fromkeys(summary["model"]))
    if len(models) > ROWS_OF_CARDS:
        _table(summary, models)
    else:
        for model in models:
            _row(model, summary[summary["model"] == model], "stereotype_preference" if stereotypes else "accuracy")
    by_model = {model: summary[summary["model"] == model] for model in models}
    told = [length_sentence(model, strata, stereotypes=stereotypes)
            for model, strata in by_model.items() if misleads(strata)]
    if told:
        st.warning("\n\n".join(verbatim(sentence) for sentence in told), icon=":material/straighten:")


def length_sentence(model: str, strata: pd.DataFrame, *, stereotypes: bool = False) -> str:
    """What it means that A > U is right much less often than A < U."""
    accuracy = strata.set_index("stratum")["accuracy"]
    if stereotypes:
        return (f"{model} prefers the sentence that stereotypes more in {accuracy['A<U']:.1%} of the pairs where it is "
                f"the shorter one, and in {accuracy['A>U']:.1%} where it is the longer one: it prefers fewer tokens.")
    return (f"{model} is right in {accuracy['A<U']:.1%} of the pairs whose acceptable sentence is the shorter one, and "
            f"in {accuracy['A>U']:.1%} where it is the longer one: it prefers fewer tokens.")


def interval(line: Mapping[Any, Any]) -> str:
    """The 95 % interval in per cent points, and the ties where there are any."""
    if not line["n"]:
        return "no such pair"
    ties = f" · {count(line['n_tied'], 'tie')}" if line["n_tied"] else ""
    return f"{100 * line['ci_low']:.1f}–{100 * line['ci_high']:.1f}{ties}"


def _row(model: str, strata: pd.DataFrame, measure: str) -> None:
    warm = misleads(strata)
    st.markdown(f":gray[{verbatim(model)}]")
    with st.grid(4, min_column_width=140, gap="small"):
        by_stratum = {line["stratum"]: line for line in strata.to_dict("records")}
        for line in (by_stratum[stratum] for stratum in ORDER):
            hot = warm and line["stratum"] == "A>U"
            label = f"{verbatim(ORDER[line['stratum']])} · {count(line['n'], 'pair')}"
            value = "–" if not line["n"] else f"{line['accuracy']:.1%}"
            st.metric(
                label, f":orange[{value}]" if hot else value,
                interval(line), delta_color="orange" if hot else "off", delta_arrow="off", border=True,
                help=measure_help(measure) if line["stratum"] == "all" else None,
            )


def _table(summary: pd.DataFrame, models: list[str]) -> None:
    lines = []
    for model in models:
        line = {"Model": model}
        for stratum in summary[summary["model"] == model].to_dict("records"):
            accuracy = "–" if not stratum["n"] else f"{stratum['accuracy']:.1%}"
            line[ORDER[stratum["stratum"]]] = f"{accuracy} ({interval(stratum)}), n = {stratum['n']:,}"
        lines.append(line)
    st.dataframe(pd.DataFrame(lines), hide_index=True, column_order=["Model", *ORDER.values()],
                 placeholder="–", alt="Accuracy of each model by stratum")
