"""Runs drawn without a server for a site: each page once in each language, by the page that a browser would see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from streamlit.testing.v1 import AppTest

from dashboard import language as reader
from dashboard import pages, streamlit_internals
from dashboard.shared import session
from dashboard.shared.exports.site.collected import Collected, collecting
from engine.errors import InputError, RunError
from engine.messages.languages import LANGUAGES
from engine.messages.message import Message
from engine.runs.naming import unknown_run
from engine.runs.open import Engine

APP = Path(__file__).parents[3] / "app.py"
SECONDS = 900  # a page of a large run, on a busy machine


@dataclass(frozen=True)
class Asked:
    """A run as it shall be shown: its id, and the choices of a link to it."""

    run_id: str
    query: dict[str, list[str]]


def asked_for(text: str) -> Asked:
    """A run by its id, or by a link to it with the choices of its page. Raises InputError for a link without a run.

    >>> asked_for("http://localhost:8501/clusters?run=ab12&map=pca")
    Asked(run_id='ab12', query={'run': ['ab12'], 'map': ['pca']})
    """
    if "?" not in text and "/" not in text:
        return Asked(text, {"run": [text]})
    query = parse_qs(urlsplit(text).query, keep_blank_values=True)
    if not query.get("run"):
        raise InputError(Message("{text}: no link to a run; the link of a run has ?run=… in it.", text=text))
    return Asked(query["run"][0], query)


def drawn(
    engine: Engine, asked: Sequence[Asked], on_drawn: Callable[[int, int], None] = lambda done, total: None
) -> dict[str, list[Collected]]:
    """The reports of the runs in each language. Raises RunError for a run that is not there or not done."""
    pages_of_runs = [_page_of(engine, run.run_id) for run in asked]
    found: dict[str, list[Collected]] = {language: [] for language in LANGUAGES}
    with session.of_command(engine):
        for number, (run, page) in enumerate(zip(asked, pages_of_runs, strict=True)):
            for language in LANGUAGES:
                found[language].append(_collected(run, page, language))
            on_drawn(number + 1, len(asked))
    return found


def _page_of(engine: Engine, run_id: str) -> str:
    run = engine.access(session.of_operator(engine)).get(run_id)
    if run is None:
        raise unknown_run(run_id)
    if run.state != "done":
        raise RunError(Message("Run {run} is not done, but {state}.", run=run_id, state=run.state))
    if (page := pages.of_kind(run.kind)) is None:
        raise RunError(
            Message("Run {run} is of a kind that this version does not have: {kind}.", run=run_id, kind=run.kind)
        )
    return page.name


def _collected(run: Asked, page: str, language: str) -> Collected:
    app = AppTest.from_file(str(APP), default_timeout=SECONDS)
    streamlit_internals.open_at(app, page)
    app.session_state[reader.KEY] = language
    for name, values in run.query.items():
        app.query_params[name] = values
    with collecting() as kept:
        app.run()
    if app.exception or not kept:
        words = "; ".join(element.value for element in (*app.exception, *app.error))
        raise RunError(Message("Run {run} cannot be shown: {reason}", run=run.run_id, reason=words))
    return kept[-1]
