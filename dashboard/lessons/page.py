"""Lessons: how are the results of the samples read, step by step?"""

from dataclasses import dataclass
from datetime import UTC, datetime

import streamlit as st

from dashboard import pages
from dashboard.lessons import evidence, progress
from dashboard.lessons.catalog import LESSONS
from dashboard.lessons.printed import lesson_file
from dashboard.lessons.records import Lesson
from dashboard.lessons.step_view import WIDTH, draw_step
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.written_later import in_readers_language
from dashboard.shared.wording import show_error
from engine.errors import EngineError
from engine.messages.languages import tr
from engine.options import option, options_of

AT = "lessons-at"  # in the session: lesson -> number of the step that was open last


@dataclass(frozen=True)
class Chosen:
    """What the page shows, as written in its URL."""

    lesson: str = option(next(iter(LESSONS)), "The lesson.", choices=tuple(LESSONS))  # untranslated
    step: int = option(1, "The step that is open, from 1.", least=1)  # untranslated


LESSON, STEP = options_of(Chosen).values()


def chosen_lesson(address: PageAddress) -> Lesson:
    """Draw the choice of the lesson, at first that of the address."""
    name = st.segmented_control(
        tr("Lesson"),
        list(LESSONS),
        default=address.first(LESSON, LESSON.default),
        required=True,
        key=address.key("lesson"),
        format_func=lambda name: tr(LESSONS[name].title),
        label_visibility="collapsed",
    )
    address.keep(LESSON, name, None)
    return LESSONS[str(name)]


def chosen_step(address: PageAddress, lesson: Lesson, passed: list[bool]) -> tuple[int, str]:
    """Draw the progress and the choice of the step; its number from 1, and the key of the choice."""
    numbers = range(1, len(lesson.steps) + 1)
    left = st.session_state.get(AT, {}).get(lesson.name, 1)
    linked = address.first(STEP, left, offered=numbers)
    first = linked if address.opened and address.first(LESSON, LESSON.default) == lesson.name else left
    st.progress(sum(passed) / len(passed), text=tr("{done} of {n} steps done", done=sum(passed), n=len(passed)))
    key = address.key(f"step-{lesson.name}")
    number = st.segmented_control(
        tr("Step"),
        list(numbers),
        default=first,
        required=True,
        key=key,
        format_func=lambda number: f":material/check: {number}" if passed[number - 1] else str(number),  # untranslated
        label_visibility="collapsed",
    )
    address.keep(STEP, number, None)
    st.session_state.setdefault(AT, {})[lesson.name] = number
    return int(number), key


def go_to(key: str, number: int) -> None:
    """Open another step."""
    st.session_state[key] = number


def printing(lesson: Lesson, found: evidence.RunIds) -> None:
    """Draw the download of the lesson as a page to print; nothing while samples of it are not evaluated."""
    if any(run_id is None for run_id in found.values()):
        return
    results = [(step, evidence.results_of(step, found)) for step in lesson.steps]
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        with_answers = st.toggle(tr("With answers"), key="lessons-with-answers")
        st.download_button(
            tr("Print (HTML)"),
            in_readers_language(lambda: lesson_file(lesson, results, datetime.now(UTC), with_answers=with_answers)),
            file_name=f"lesson-{lesson.name}.html",
            mime="text/html",
            key="lessons-print",
            on_click="ignore",
            icon=":material/print:",
        )


pages.heading("lessons")
address = PageAddress("lessons", "course", anchor="lesson")
address.notices()
try:
    lesson = chosen_lesson(address)
    st.caption(tr(lesson.learned))
    found = evidence.run_ids(lesson)
    bar = st.container()
    body = st.container(width=WIDTH)
    with bar:
        number, key = chosen_step(address, lesson, progress.passed(lesson, found))
    address.write()
    step = lesson.steps[number - 1]
    with body:
        st.header(f"{number}. {tr(step.title)}", anchor=False)  # untranslated
        if None in evidence.ids_of(step, found):
            evidence.offer_samples(step, found)
        else:
            ids = {
                kind: run_id for kind, run_id in zip(step.kinds, evidence.ids_of(step, found), strict=True) if run_id
            }
            posed = step.pose(evidence.results_of(step, found))
            draw_step(lesson, step, posed, ids)
        with st.container(horizontal=True, vertical_alignment="center"):
            if number > 1:
                st.button(tr("Back"), key="lessons-back", on_click=go_to, args=(key, number - 1))
            if number < len(lesson.steps):
                st.button(tr("Next"), key="lessons-next", on_click=go_to, args=(key, number + 1))
            printing(lesson, found)
except EngineError as error:
    show_error(error)
