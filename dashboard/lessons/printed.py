"""A lesson as a page to print: its texts and questions with room for answers, then, if wanted, the answers."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from dashboard.faces import FACES
from dashboard.lessons.records import Answer, Choice, Deed, Lesson, Number, Posed, Results, Step
from dashboard.shared.exports.report import STYLE
from dashboard.shared.exports.signing import digest, signature_line
from engine.messages.languages import language, tr

OWN_STYLE = Path(__file__).with_name("printed.css")


@dataclass(frozen=True)
class PrintedStep:
    """A step on paper. where: title of the page to look at, "" for none."""

    title: str
    posed: Posed
    where: str = ""


def lesson_file(lesson: Lesson, results: Sequence[tuple[Step, Results]], made: datetime, *, with_answers: bool) -> str:
    """The whole file as text; results: each step with those that it is posed from."""
    steps: list[PrintedStep] = []
    signatures: dict[str, Mapping[str, Any]] = {}
    for step, of_step in results:
        posed = step.pose(of_step)
        where = tr(FACES[posed.look.kind].page.title) if posed.look is not None else ""
        steps.append(PrintedStep(tr(step.title), posed, where))
        signatures |= {digest(result.signature): result.signature for result in of_step.values()}
    return lesson_html(lesson, steps, list(signatures.values()), made, with_answers=with_answers)


def lesson_html(
    lesson: Lesson,
    steps: Sequence[PrintedStep],
    signatures: Sequence[Mapping[str, Any]],
    made: datetime,
    *,
    with_answers: bool,
) -> str:
    """The whole file as text. signatures: of the results that the numbers are of."""
    head = html.escape(tr(lesson.title))
    parts = [
        f"<h1>{head}</h1>",
        f'<p class="quiet">{html.escape(tr(lesson.learned))}<br>Hakari, {made:%Y-%m-%d %H:%M} UTC</p>',
        *(_question(number, step) for number, step in enumerate(steps, 1)),
    ]
    if with_answers:
        parts.append(f'<div class="answers"><h2>{html.escape(tr("Answers"))}</h2>')
        parts += [_solution(number, step) for number, step in enumerate(steps, 1)]
        parts.append("</div>")
    parts.append(f"<h2>{html.escape(tr('Signatures'))}</h2>")
    parts += [
        f'<p class="quiet">{digest(signature)}: {html.escape(signature_line(signature))}</p>'
        for signature in signatures
    ]
    style = "".join(path.read_text(encoding="utf-8") for path in (STYLE, OWN_STYLE))
    return (
        f'<!DOCTYPE html><html lang="{language()}"><head><meta charset="utf-8"><title>{head}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>'
        f"<body><main>{''.join(parts)}</main></body></html>"
    )


def right_answer(answer: Answer) -> str:
    """The right answer as text; of a deed that it is the reader's own run."""
    if isinstance(answer, Choice):
        return " / ".join(text for key, text in answer.options.items() if key in answer.right)
    if isinstance(answer, Number):
        return f"{answer.value:,.{answer.digits}f} {answer.unit}".rstrip()
    return tr("A run of your own.")


def _question(number: int, step: PrintedStep) -> str:
    posed = step.posed
    parts = [f"<h3>{number}. {html.escape(step.title)}</h3>", _paragraphs(posed.text)]
    if posed.table is not None:
        parts.append(_table(posed.table))
    if step.where:
        parts.append(f'<p class="quiet">{html.escape(tr("Page: {page}", page=step.where))}</p>')
    parts.append(f'<p class="question">{html.escape(posed.question)}</p>')
    if isinstance(posed.answer, Choice):
        options = "".join(f"<li>{html.escape(text)}</li>" for text in posed.answer.options.values())
        parts.append(f'<ul class="options">{options}</ul>')
    else:
        parts.append(f'<div class="room{" tall" if isinstance(posed.answer, Deed) else ""}"></div>')
    return f'<section class="step">{"".join(parts)}</section>'


def _solution(number: int, step: PrintedStep) -> str:
    told = f"<br>{html.escape(step.posed.explanation)}" if step.posed.explanation else ""
    return f"<p>{number}. <strong>{html.escape(right_answer(step.posed.answer))}</strong>{told}</p>"


def _paragraphs(text: str) -> str:
    return "".join(
        f"<p>{html.escape(paragraph).replace(chr(10), '<br>')}</p>" for paragraph in text.split("\n\n") if paragraph
    )


def _table(table: pd.DataFrame) -> str:
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in table.columns)
    rows = "".join(
        "<tr>" + "".join(_cell(value) for value in row) + "</tr>" for row in table.itertuples(index=False, name=None)
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f'<td class="number">{value:g}</td>'
    return f"<td>{html.escape(str(value))}</td>"
