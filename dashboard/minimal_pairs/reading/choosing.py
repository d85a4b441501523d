"""The choices that the tabs of reading times share, each kept in the address under one name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard.minimal_pairs.view import SectionChoices
from engine.evaluations.minimal_pairs.reading.times import BASELINES, WITH_PREVIOUS
from engine.messages.languages import tr


def chosen_time_column(choices: SectionChoices, measures: Sequence[str], part: str = "") -> str:
    """Draw the choice of a column of times where there are several; the chosen one. part: begins the widget's key."""
    measure = str(choices.first("time_column", measures[0], measures))
    if len(measures) > 1:
        measure = str(
            st.selectbox(
                tr("Reading time"),
                measures,
                index=measures.index(measure),
                key=choices.key(f"{part}time_column"),
                width=260,
            )
        )
    choices.keep("time_column", measure, measures[0])
    return measure


def chosen_baseline(choices: SectionChoices, part: str = "", **drawn: Any) -> str:
    """Draw the choice of the baseline; the chosen one. part: begins the widget's key. drawn: as st.segmented_control."""
    baseline = str(
        st.segmented_control(
            tr("Baseline"),
            BASELINES,
            default=str(choices.first("baseline", WITH_PREVIOUS, BASELINES)),
            required=True,
            format_func=tr,
            key=choices.key(f"{part}baseline"),
            **drawn,
        )
    )
    choices.keep("baseline", baseline, WITH_PREVIOUS)
    return baseline
