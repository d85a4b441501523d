"""What a link says of itself without a script: by plain HTTP from a real server, and to whom."""

from __future__ import annotations

import html
import re
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from starlette.types import Message, Receive, Scope, Send

from dashboard.faces import FACES
from dashboard.language import COOKIE
from dashboard.serving.link_previews import LinkPreviews, preview_of
from dashboard.shared import session
from dashboard.shared.headlines import to_store
from dashboard.streamlit_internals import SERVED_TITLE
from engine.evaluations.catalog import EVALUATIONS
from engine.messages.languages import in_language, translated
from engine.runs.access.access import RunAccess
from engine.runs.access.configuration import configuration
from engine.runs.open import Engine, open_engine
from engine.runs.storage.artifacts import Artifacts
from tests.browser.server import Server, serving
from tests.stored_runs import directories as stored_runs
from tests.support.fakes import FakeBackend
from tests.waiting import finished

VERSION = stored_runs.VERSIONS[-1]
RUN_BY_KIND = {kind: run_id for run_id, kind in stored_runs.kinds(VERSION).items()}
RUN = RUN_BY_KIND["minimal-pairs"]
PAGE = b"<html>" + SERVED_TITLE + b"</html>"
META = re.compile(r'<meta (?:name|property)="([^"]+)" content="([^"]*)"/>')


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data_dir = tmp_path_factory.mktemp("previews") / "data"
    stored_runs.copied(VERSION, data_dir)
    with open_engine(data_dir, backend=FakeBackend(), resume=False) as opened:
        opened.store.change(RUN, headline=to_store([], finding(data_dir)))
    with serving(data_dir, environment={"HAKARI_RUNNING": "1"}) as running:
        yield running


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    data_dir = stored_runs.copied(VERSION, tmp_path / "data")
    with open_engine(data_dir, backend=FakeBackend(), resume=False) as opened:
        opened.store.change(RUN, headline=None)
        yield opened


def head_of(url: str, **headers: str) -> tuple[str, dict[str, str]]:
    """Title and meta texts of a page as a program reads them that runs no script."""
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.headers["content-encoding"] is None and answer.status == 200
        page = answer.read().decode()
        assert int(answer.headers["content-length"]) == len(page.encode()) and page.rstrip().endswith("</html>")
        assert answer.headers["etag"] is None
    (title,) = re.findall(r"<title>(.*?)</title>", page)
    return html.unescape(title), {name: html.unescape(text) for name, text in META.findall(page)}


def finding(folder: Path) -> str:
    return FACES["minimal-pairs"].found(Artifacts(folder).load_result(RUN, EVALUATIONS["minimal-pairs"].result_type))


def found(language: str) -> str:
    with in_language(language):
        return translated(finding(stored_runs.FOLDER / VERSION))


def test_a_link_says_what_its_run_found_in_the_language_of_who_asks(server: Server) -> None:
    for language in ("en", "ja"):
        title, texts = head_of(f"{server.url}/minimal_pairs?run={RUN}", Accept_Language=f"{language};q=0.9")
        said = found(language)
        assert said.startswith(texts["og:description"].removesuffix("…")) and len(texts["og:description"]) > 40
        assert title.endswith(" · Hakari") and texts["og:title"] == title and texts["og:site_name"] == "Hakari"
        assert texts["description"] == texts["og:description"]
    # A link with choices says whose finding it is.
    _, texts = head_of(f"{server.url}/minimal_pairs?run={RUN}&normalization=MeanLP", Accept_Language="en")
    assert texts["og:description"].startswith("With the settings of the run: ")
    # A page without a run, and one with a run that is not there, say their question alone.
    for query in ("", "?run=guessed"):
        title, texts = head_of(f"{server.url}/minimal_pairs{query}")
        assert title == "Minimal pairs · Hakari" and texts["og:description"].endswith("?")
    assert head_of(server.url)[0] == "Hakari"


def test_no_header_takes_the_preview_away(server: Server) -> None:
    url = f"{server.url}/minimal_pairs?run={RUN}"
    named, _ = head_of(url)
    for sent in (
        {"Accept_Encoding": "gzip, deflate, br", "Accept": "text/html"},  # as browsers and most chats ask
        {"Range": "bytes=0-99"},
        {"If_None_Match": "*", "Accept": "*/*"},
        {"Cookie": "a/b=1; other=x y"},
    ):
        assert head_of(url, **sent)[0] == named
    assert head_of(url, Cookie=f"a/b=1; {COOKIE}=ja", Accept_Language="en") == head_of(url, Accept_Language="ja")


def test_a_result_is_not_read_for_a_preview(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunAccess, "result", None)
    general = preview_of(scope("/minimal_pairs", ""), lambda: engine, yes)
    named = preview_of(scope("/minimal_pairs", f"run={RUN}"), lambda: engine, yes)
    assert named.description == general.description and named.title != general.title


async def _answer(app: LinkPreviews, asked: dict[str, object]) -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(asked, receive, send)
    return sent


async def _page(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": PAGE})


def test_a_preview_that_fails_costs_no_page_and_a_download_has_none(caplog: pytest.LogCaptureFixture) -> None:
    def engine() -> Engine:
        raise ValueError("broken")

    app = LinkPreviews(_page, engine, yes)
    _, body = finished(_answer(app, scope("/minimal_pairs", "run=x") | {"method": "GET"}))
    assert body["body"] == PAGE and "broken" in caplog.text
    _, body = finished(_answer(app, scope("/media/report.html", "") | {"method": "GET"}))
    assert body["body"] == PAGE
    _, body = finished(_answer(app, scope("/minimal_pairs", "") | {"method": "GET"}))
    assert b"<title>Minimal pairs" in body["body"]


def scope(path: str, query: str) -> dict[str, object]:
    return {"type": "http", "path": path, "query_string": query.encode(), "headers": []}


def test_where_members_sign_in_no_run_is_named(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, general = scope("/minimal_pairs", f"run={RUN}"), preview_of(scope("/minimal_pairs", ""), lambda: engine, yes)
    monkeypatch.setattr(session, "engine", lambda: engine)
    monkeypatch.setattr(st, "secrets", FakeSecrets())
    assert preview_of(asked, lambda: engine, session.opens_by_link) != general
    engine.store.change(RUN, shared=True)  # with the team, not with whoever has the link
    members = replace(engine, configuration=configuration({"HAKARI_ALLOWED_EMAILS": "ann@lab.example"}))
    monkeypatch.setattr(session, "engine", lambda: members)
    assert preview_of(asked, lambda: engine, session.opens_by_link) == general
    # Also where the sign-in is set up and nobody is named a member yet, so that the page is shown to nobody.
    monkeypatch.setattr(session, "engine", lambda: engine)
    monkeypatch.setattr(st, "secrets", FakeSecrets(auth={}))
    assert preview_of(asked, lambda: engine, session.opens_by_link) == general


class FakeSecrets(dict[str, object]):
    def load_if_toml_exists(self) -> bool:
        return bool(self)


def yes() -> bool:
    return True


def test_a_run_that_was_deleted_or_has_not_ended_is_not_told_and_names_are_no_markup(engine: Engine) -> None:
    general = preview_of(scope("/minimal_pairs", ""), lambda: engine, yes)
    engine.store.change(RUN, name='<script>alert("x")</script>')
    named = preview_of(scope("/minimal_pairs", f"run={RUN}"), lambda: engine, yes)
    page = named.of_page(b'<html lang="en"><title>Streamlit</title>')
    assert b"<script>" not in page and b"&lt;script&gt;" in page and page.count(b"<title>") == 1
    engine.store.change(RUN, state="failed")
    assert preview_of(scope("/minimal_pairs", f"run={RUN}"), lambda: engine, yes) == general
