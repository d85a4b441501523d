"""What differs between two sides: their settings, and their numbers with interval and test."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.compare.sides import LEFT, RIGHT
from dashboard.runs.comparing import differing_settings, in_words
from dashboard.shared.inputs.compared import ChosenSide
from dashboard.shared.theme import ARROWS, measure_name
from dashboard.shared.wording import verbatim
from engine.evaluations.comparison.finding import SHARES
from engine.evaluations.comparison.records import Comparison
from engine.evaluations.shared.finding import FEWEST, bound_of_p
from engine.language.quantities import decimals
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import mark, tr, translated

MODEL = mark("Model")
WITHOUT_RANKS = {"accuracy": "stereotype_preference"}  # what a share is of, where no sentence is the better one


def settings_that_differ(first: ChosenSide, second: ChosenSide) -> pd.DataFrame:
    """A row for each setting, dataset or choice in which two sides differ; columns what, and one for each side."""
    models = [{MODEL: chosen.side.model, **chosen.shown} for chosen in (first, second)]
    # The models and the scoring of a run are its side's: what is shown counts, not what was submitted.
    runs = [
        replace(
            chosen.run,
            settings={name: value for name, value in chosen.run.settings.items() if name not in ("models", "scoring")},
        )
        for chosen in (first, second)
    ]
    return differing_settings(runs, [tr(LEFT), tr(RIGHT)], models)


def numbers_table(comparison: Comparison, *, ranks: bool = True) -> str:
    """The numbers as a table in Markdown: shares in per cent, the interval beside the difference, bold if significant.

    An arrow points to the better end of a number, whose unit stands beside it. ranks: whether there is one, which pairs of
    stereotypes have not.
    """
    header = [
        tr("Number"),
        tr(LEFT),
        tr(RIGHT),
        tr("Left − right :small[:gray[95%]]"),
        tr("p :small[:gray[Holm]]"),
    ]
    rows = [header, [":--", "--:", "--:", "--:", "--:"]]
    for row in comparison.numbers.to_dict("records"):
        is_share = row["measure"] in SHARES
        scale, shown = (100, tr("{value}%")) if is_share else (1, "{value}")
        digits = 1 if is_share else decimals(row[side] for side in ("first", "second"))
        first, second, difference, low, high = (
            _number(scale * row[name], digits) for name in ("first", "second", "difference", "ci_low", "ci_high")
        )
        difference = f"**{_signed(difference)}**" if _is_significant(row) else _signed(difference)
        if is_share and not pd.isna(row["difference"]):
            difference = tr("{n} points", n=difference)
        if not pd.isna(row["ci_low"]):
            difference = tr(
                "{difference} :small[:gray[{low} to {high}]]",
                difference=difference,
                low=_signed(low),
                high=_signed(high),
            )
        measure = row["measure"] if ranks else WITHOUT_RANKS.get(row["measure"], row["measure"])
        facts = [
            tr("{items}, n = {n:,}", items=translated(row["items"]), n=row["n"]),
            *(translated(row[name]) for name in ("test", "reason") if row[name]),
        ]
        rows.append(
            [
                f"{_measure(measure)} :small[:gray[{verbatim('; '.join(facts))}]]",
                shown.format(value=first),
                shown.format(value=second),
                difference,
                _verdict(row),
            ]
        )
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def settings_section(differing: pd.DataFrame, kind: str) -> None:
    """Draw `settings_that_differ` of runs of a kind, folded."""
    with st.expander(tr("Settings that differ"), icon=":material/tune:"):
        st.dataframe(
            in_words(differing, kind),
            hide_index=True,
            placeholder="–",
            alt=tr("The settings in which the two sides differ"),
            column_config={"what": st.column_config.TextColumn("", pinned=True)},
        )


def numbers_section(comparison: Comparison, names: tuple[str, str], *, ranks: bool) -> None:
    """Draw the numbers of both sides, their differences and tests."""
    st.markdown("  \n".join(_of_side(name) for name in names))
    st.markdown(numbers_table(comparison, ranks=ranks))
    if any(map(_is_significant, comparison.numbers.to_dict("records"))):
        st.caption(
            tr(
                "In bold: differences that are significant (p below 0.05 after Holm's correction, or an interval "
                "without 0)."
            )
        )
    for notice in comparison.notices:
        st.caption(f":orange[:material/info:] {verbatim(translated(notice))}")  # untranslated


def _of_side(name: str) -> str:
    """The name of a side, its place in bold."""
    place, colon, what = name.partition(tr("{place}: {what}", place="", what=""))
    return f"**{verbatim(place)}**{verbatim(colon + what)}"


def _measure(measure: str) -> str:
    """Name and unit of a measure, with the arrow to its better end."""
    name = f"{verbatim(measure_name(measure))} {ARROWS[CARDS[measure].better]}".strip()
    unit = translated(CARDS[measure].unit)
    return f"{name} ({verbatim(unit)})" if unit else name


def _verdict(row: dict[Hashable, Any]) -> str:
    """The p-value, and in words whether the difference is significant; "" where it was not tested."""
    p = _p_value(row["p_holm"])
    if not p and pd.isna(row["ci_low"]):
        return tr("not tested")
    if row["n"] < FEWEST:
        return tr("too few items")
    told = tr("significant") if row["separable"] else tr("not significant")
    return f"{p} :small[:gray[{told}]]".strip()


def _is_significant(row: Mapping[Hashable, Any]) -> bool:
    """Whether a difference is significant, over items enough to tell."""
    return bool(row["separable"]) and row["n"] >= FEWEST


def _p_value(value: float) -> str:
    if pd.isna(value):
        return ""
    bound = bound_of_p(value)
    return f"{value:.3f}" if bound is None else f"<\u00a0{bound}"


def _number(value: float, digits: int) -> str:
    return tr("undefined") if pd.isna(value) else f"{value:z,.{digits}f}".replace("-", "−")  # 0 has no sign


def _signed(text: str) -> str:
    has_none = text.startswith("−") or text == tr("undefined") or not text.strip("0.")
    return text if has_none else f"+{text}"
