"""The two sentences of one pair, typed into a form."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import run_view
from dashboard.wording import show_error
from engine.datasets import sample_data
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import EngineError, InputError
from engine.evaluations.bertscore import Result, Settings

KIND = "bertscore"
NAME = "typed pair"
FIRST_SHOWN = "swapped name"  # of the sample's categories, the one the penalty is about


def pair_input(run_id: str | None, result: Result | None) -> tuple[str, str]:
    """The reference and the candidate as typed; at first the only pair of the run on show, or one of the sample."""
    reference, candidate = _given(result)
    typed = []
    for slot, role, text in zip(st.columns(2), ("Reference", "Candidate"), (reference, candidate), strict=True):
        typed.append(slot.text_area(role, text, height=96, key=f"alignment-{role.lower()}-{run_id or 'new'}",
                                    persist_state="session"))
    return typed[0], typed[1]


def submit_pair(settings: Settings, reference: str, candidate: str) -> None:
    """Submit a run of one pair and go to its link, or say what is missing."""
    try:
        if not reference.strip() or not candidate.strip():
            raise InputError("A pair is two sentences; one of them is empty. Type both.")
        if not settings.models:
            raise InputError("No model is chosen. Name at least one.")
        pair = SentencePairs.from_frame(pd.DataFrame({"reference": [reference], "candidate": [candidate]}), NAME)
    except EngineError as error:
        show_error(error)
        return
    run_view.submit(KIND, settings, pair)


def _given(result: Result | None) -> tuple[str, str]:
    if result is not None and len(result.pairs) == 1:
        return str(result.pairs["reference"].iloc[0]), str(result.pairs["candidate"].iloc[0])
    sample = sample_data.sentence_pairs()
    first = sample.categories.index(FIRST_SHOWN)
    return sample.references[first], sample.candidates[first]
