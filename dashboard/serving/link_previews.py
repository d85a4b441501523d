"""What a link opens with where no script runs, as in a chat: title and description of the page, and a run's finding.

Streamlit serves one page for every address, called "Streamlit". A preview says no more than whoever has the link may
read: on an instance without sign-in everybody reads every run by its link; where members sign in, nobody has signed in who
asks for a preview, so a run is not named there.
"""

from __future__ import annotations

import asyncio
import html
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard import pages
from dashboard.faces import FACES
from dashboard.language import COOKIE
from dashboard.shared.headlines import run_title, stored_finding
from dashboard.streamlit_internals import SERVED_LANGUAGE, SERVED_TITLE
from engine.errors import EngineError
from engine.messages.languages import in_language, known, tr, translated
from engine.runs.access.viewers import LOCAL
from engine.runs.open import Engine

NAME = "Hakari"
LONGEST = 300  # characters of a description
# Downloads, an exported report among them, and the files and sockets of the page: none is a page.
NO_PAGES = re.compile(r"/(media|static|component|_stcore)/")
# What would give a page in another form: compressed, in part, or not at all.
FORMS = ("accept-encoding", "range")
UNSEEN = ("etag", "last-modified")  # of the file that is served, which says nothing of the run
logger = logging.getLogger("engine.dashboard.link_previews")


@dataclass(frozen=True)
class Preview:
    """What is said of a page: in `language`."""

    title: str
    description: str
    language: str

    def of_page(self, page: bytes) -> bytes:
        """A served page with this title and description."""
        title, description = (html.escape(text) for text in (self.title, self.description))
        head = "".join(
            (
                f"<title>{title}</title>",
                f'<meta name="description" content="{description}"/>',  # untranslated
                '<meta property="og:type" content="website"/>',  # untranslated
                f'<meta property="og:site_name" content="{NAME}"/>',  # untranslated
                f'<meta property="og:title" content="{title}"/>',  # untranslated
                f'<meta property="og:description" content="{description}"/>',  # untranslated
            )
        )
        page = page.replace(SERVED_LANGUAGE, f'<html lang="{self.language}">'.encode(), 1)  # untranslated
        return page.replace(SERVED_TITLE, head.encode(), 1)


class LinkPreviews:
    """Writes a preview into the page that answers a request.

    engine: called at each. by_link: whether whoever has the link of a run may read it. A preview that fails is logged, and
    the page is answered as it is.
    """

    def __init__(self, app: ASGIApp, engine: Callable[[], Engine], by_link: Callable[[], bool]) -> None:
        self._app, self._engine, self._by_link = app, engine, by_link

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and write into the answer where that is a page."""
        if scope["type"] != "http" or scope["method"] != "GET" or NO_PAGES.search(scope["path"]):
            await self._app(scope, receive, send)
            return
        start: Message | None = None
        parts: list[bytes] = []

        async def send_with_preview(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_page(message):
                start = message
                return
            if start is None or message["type"] != "http.response.body":
                await send(message)
                return
            parts.append(message.get("body", b""))
            if message.get("more_body"):
                return
            page = await asyncio.to_thread(self._with_preview, scope, b"".join(parts))
            answer = MutableHeaders(scope=start)
            answer["content-length"] = str(len(page))
            for name in UNSEEN:
                del answer[name]
            await send(start)
            await send({"type": "http.response.body", "body": page})

        whole = [pair for pair in scope["headers"] if not _is_of_form(pair[0].decode("latin-1").lower())]
        await self._app({**scope, "headers": whole}, receive, send_with_preview)

    def _with_preview(self, scope: Scope, page: bytes) -> bytes:
        try:
            return preview_of(scope, self._engine, self._by_link).of_page(page)
        except Exception:  # a preview never costs the page
            logger.exception("A link has no preview.")  # untranslated
            return page


def preview_of(scope: Scope, engine: Callable[[], Engine], by_link: Callable[[], bool]) -> Preview:
    """The preview of the page that a request asks for; engine, by_link: as `LinkPreviews` has them."""
    headers = Headers(scope=scope)
    query = parse_qs(scope["query_string"].decode("latin-1"))
    accepted = headers.get("accept-language", "").split(",")[0].split(";")[0].strip()
    wanted = known(cookie_parser(headers.get("cookie", "")).get(COOKIE, accepted))
    name = scope["path"].rstrip("/").rpartition("/")[2]
    with in_language(wanted):
        card = next((card for cards in pages.SECTIONS.values() for card in cards if card.name == name), None)
        general = Preview(
            NAME if card is None or card.name == "home" else f"{tr(card.title)} · {NAME}",
            tr((card or pages.card("home")).question),
            wanted,
        )
        if "run" not in query:
            return general
        try:
            return _of_run(query["run"][0], engine(), general, is_plain=len(query) == 1) if by_link() else general
        except EngineError:  # the page shows it
            return general


def _of_run(run_id: str, engine: Engine, general: Preview, *, is_plain: bool) -> Preview:
    """The preview of a finished run that everybody with the link may read; any other link has that of its page.

    The finding is the one that was stored when the run was first shown; a result is never read here, as anybody may ask
    for any number of previews. is_plain: whether the link has no choices; with some, the finding on the page may be
    another one.
    """
    run = engine.access(LOCAL).get(run_id)
    if run is None or run.state != "done" or run.kind not in FACES:
        return general
    title = f"{run_title(run)} · {NAME}"
    found = translated(stored_finding(run.headline))
    if not found:
        return Preview(title, general.description, general.language)
    said = found if is_plain else tr("With the settings of the run: {finding}", finding=found)
    return Preview(title, said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…", general.language)


def _is_of_form(header: str) -> bool:
    return header in FORMS or header.startswith("if-")


def _is_page(start: Message) -> bool:
    headers = MutableHeaders(scope=start)
    is_html = headers.get("content-type", "").startswith("text/html")
    return bool(start["status"] == 200 and is_html and "content-encoding" not in headers)
