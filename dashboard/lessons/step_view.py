"""One step of a lesson on the page: the idea, where to look, the question, and what the answer shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard import pages
from dashboard.lessons import progress
from dashboard.lessons.evidence import own_runs
from dashboard.lessons.records import Choice, Deed, Lesson, Look, Number, Posed, Step
from dashboard.shared.wording import verbatim
from engine.messages.languages import tr

WIDTH = 760  # pixels of a line that is read with ease
SHORT = 14  # characters of an option of which several stand on a line


def draw_step(lesson: Lesson, step: Step, posed: Posed, run_ids: Mapping[str, str]) -> bool:
    """Draw a step, its answer and what that shows; whether it was answered rightly. run_ids: kind -> sample's run."""
    st.markdown(verbatim(posed.text))
    if posed.table is not None:
        st.dataframe(
            posed.table,
            hide_index=True,
            width="content",
            alt=tr(step.title),
            column_config={
                str(name): st.column_config.NumberColumn(format="%d" if (column % 1 == 0).all() else "%.2f")
                for name, column in posed.table.select_dtypes("number").items()
            },
        )
    if posed.look is not None:
        _link(posed.look, run_ids)
    st.markdown(f"**{verbatim(posed.question)}**")
    ids = tuple(run_ids[kind] for kind in step.kinds)
    explanation = (
        _deed(lesson, step, posed.answer, ids) if isinstance(posed.answer, Deed) else _asked(lesson, step, posed, ids)
    )
    is_right = progress.outcome(lesson.name, step.name, ids)
    if is_right:
        st.success(_verdict(tr("Right."), explanation), icon=":material/check_circle:")
    elif is_right is False:
        # The hint of something to do says itself that it is not done.
        said = verbatim(posed.hint) if isinstance(posed.answer, Deed) else _verdict(tr("Not right yet."), posed.hint)
        st.warning(said, icon=":material/lightbulb:")
    return bool(is_right)


def _verdict(verdict: str, text: str) -> str:
    return f"**{verdict}** {verbatim(text)}"


def _link(look: Look, run_ids: Mapping[str, str]) -> None:
    page = pages.card(pages.name_of(look.kind))
    st.page_link(
        pages.path(page.name),
        label=tr("Open {page}", page=tr(page.title)),
        icon=page.icon,
        query_params={"run": run_ids[look.kind], **look.query},
    )


def _asked(lesson: Lesson, step: Step, posed: Posed, ids: progress.Ids) -> str:
    """Draw the field of an answer with its button; the explanation."""
    of_step = f"{lesson.name}-{step.name}"
    key = f"lessons-answer-{of_step}"

    def check() -> None:
        given = st.session_state.get(key)
        if given is not None and not isinstance(posed.answer, Deed):
            progress.keep(lesson.name, step.name, ids, posed.answer.is_right(given))

    with st.form(f"lessons-form-{of_step}", border=False):
        given = _field(posed, key)
        if st.form_submit_button(tr("Check"), key=f"lessons-check-{of_step}", type="primary", on_click=check):
            st.caption(tr("Give an answer first.") if given is None else "")
    return posed.explanation


def _field(posed: Posed, key: str) -> Any:
    answer = posed.answer
    if isinstance(answer, Choice):
        return st.radio(
            posed.question,
            list(answer.options),
            index=None,
            format_func=lambda option: verbatim(answer.options[option]),
            key=key,
            label_visibility="collapsed",
            horizontal=max(map(len, answer.options.values())) <= SHORT,
        )
    if isinstance(answer, Number):
        return st.number_input(
            tr("Answer ({unit})", unit=answer.unit) if answer.unit else tr("Answer"),
            value=None,
            step=10.0**-answer.digits,
            format=f"%.{answer.digits}f",
            key=key,
            width=220,
        )
    return None


def _deed(lesson: Lesson, step: Step, answer: Deed, ids: progress.Ids) -> str:
    """Look whether it is done, and draw the button that looks again; what it shows."""
    with st.spinner(tr("Looking at your runs …")):
        shown = answer.done(own_runs(answer.kind))
    before = progress.outcome(lesson.name, step.name, ids)
    if shown and not before:
        progress.keep(lesson.name, step.name, ids, True)
        st.rerun()  # the progress above has one step more
    if not before and st.button(tr("Check"), key=f"lessons-check-{lesson.name}-{step.name}", type="primary"):
        progress.keep(lesson.name, step.name, ids, False)
    return shown or tr("Done earlier; the run is not among your newest ones any more.")
