"""What differs between two sides: their settings, and their numbers with interval and test."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from dashboard.compare.sides import ChosenSide
from dashboard.runs.comparing import differing_settings
from dashboard.shared.theme import decimals, measure_name
from dashboard.shared.wording import verbatim
from engine.evaluations.comparison.records import Comparison

PER_CENT = ("accuracy", "classification_accuracy", "mask_probability", "nearest_own_centroid")


def settings_that_differ(first: ChosenSide, second: ChosenSide) -> pd.DataFrame:
    """A row for each setting, dataset or choice in which two sides differ; columns what, A, B."""
    models = [{"Model": chosen.side.model, **chosen.shown} for chosen in (first, second)]
    # The models and the scoring of a run are its side's: what is shown counts, not what was submitted.
    runs = [replace(chosen.run, settings={name: value for name, value in chosen.run.settings.items()
                                          if name not in ("models", "scoring")}) for chosen in (first, second)]
    return differing_settings(runs, ["A", "B"], models)


def numbers_table(comparison: Comparison) -> str:
    """The numbers as a table in Markdown: shares in per cent, the interval beside the difference, bold if significant.
    """
    header = ["Number", "A", "B", "A − B :small[:gray[95 %]]", "p :small[:gray[Holm]]"]
    rows = [header, [":--", "--:", "--:", "--:", "--:"]]
    for row in comparison.numbers.to_dict("records"):
        scale, unit = (100, "\u00a0%") if row["measure"] in PER_CENT else (1, "")
        digits = 1 if unit else decimals(row[side] for side in ("first", "second"))
        first, second, difference, low, high = (_number(scale * row[name], digits) for name in (
            "first", "second", "difference", "ci_low", "ci_high"))
        difference = f"**{_signed(difference)}**" if row["separable"] else _signed(difference)
        if not pd.isna(row["ci_low"]):
            difference += f" :small[:gray[{_signed(low)} to {_signed(high)}]]"
        facts = [f"{row['items']}, n = {row['n']:,}", *([row["test"]] if row["test"] else []),
                 *([row["reason"]] if row["reason"] else [])]
        rows.append([f"{verbatim(measure_name(row['measure']))} :small[:gray[{verbatim('; '.join(facts))}]]",
                     f"{first}{unit}", f"{second}{unit}", difference, _p_value(row["p_holm"])])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def numbers_section(comparison: Comparison, names: tuple[str, str]) -> None:
    """Draw the numbers of both sides, their differences and tests."""
    st.markdown("  \n".join(f"**{verbatim(name[:1])}**{verbatim(name[1:])}" for name in names))
    st.markdown(numbers_table(comparison))
    if comparison.numbers["separable"].any():
        st.caption("In bold: differences that are significant (p below 0.05 after Holm's correction, or an interval "
                   "without 0).")
    for notice in comparison.notices:
        st.caption(f":orange[:material/info:] {verbatim(notice)}")


def _p_value(value: float) -> str:
    if pd.isna(value):
        return ""
    return "<\u00a00.001" if value < 0.001 else f"{value:.3f}"


def _number(value: float, digits: int) -> str:
    return "undefined" if pd.isna(value) else f"{value:,.{digits}f}".replace("-", "−")


def _signed(text: str) -> str:
    return text if text.startswith("−") or text == "undefined" else f"+{text}"
