"""What a reader has answered in this session: kept with the runs that it was checked against."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.lessons.evidence import RunIds, ids_of
from dashboard.lessons.records import Lesson

OUTCOMES = "lessons-outcomes"  # in the session: (lesson, step) -> the runs and whether the answer was right

Ids = Sequence[str | None]


def keep(lesson: str, step: str, ids: Ids, is_right: bool) -> None:
    """Keep the outcome of an answer."""
    st.session_state.setdefault(OUTCOMES, {})[lesson, step] = (tuple(ids), is_right)


def outcome(lesson: str, step: str, ids: Ids) -> bool | None:
    """Whether the last answer was right; None without one, also where the results are others since."""
    known, is_right = st.session_state.get(OUTCOMES, {}).get((lesson, step), ((), None))
    return is_right if known == tuple(ids) else None


def passed(lesson: Lesson, found: RunIds) -> list[bool]:
    """For each step whether its answer was right."""
    return [outcome(lesson.name, step.name, ids_of(step, found)) is True for step in lesson.steps]
