"""Sign-ins that end: requests whose sign-in has ended go on without it, and their open pages are closed.

Streamlit keeps who has signed in in a signed cookie alone, which is good for 30 days whoever holds a copy. Here the
server knows each cookie that it gave out (`engine.runs.access.membership`); one that it does not know, or whose sign-in
has ended, is taken out of a request before Streamlit sees it.

    oauth2callback          the cookie that is given out becomes a sign-in
    auth/logout             the sign-in ends
    websocket of a page     is told the sign-in by a header, and closed when the sign-in ends
    media, uploads          need the sign-in of a member
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from http.cookies import SimpleCookie
from pathlib import PurePosixPath

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.serving.open_pages import EndingPage, OpenPages
from dashboard.serving.tls import is_secure
from dashboard.shared.session import SIGN_IN_HEADER
from dashboard.streamlit_internals import (
    CALLBACK,
    DOWNLOADS,
    LOGOUT,
    SIGN_IN_COOKIE,
    UPLOADS,
    claims_of,
    is_sign_in_cookie,
)
from engine.errors import EngineError
from engine.runs.access.membership import Membership

HEADER = SIGN_IN_HEADER.lower()  # to the page: the key of the sign-in, or NO_SIGN_IN
NO_SIGN_IN = "none"
FOR_MEMBERS = (DOWNLOADS, UPLOADS)
NOT_RECORDED = (
    "Your sign-in cannot be written down: the disk of this instance is full or its database away. "  # untranslated
    "Tell whoever runs it, who finds the reason at /healthz, and sign in again later."  # untranslated
)
SIGNED_IN_PATHS = (CALLBACK, LOGOUT, *FOR_MEMBERS)

logger = logging.getLogger("engine.dashboard.sign_in")


class SignInCookies:
    """Lets only sign-ins that have not ended through to Streamlit.

    membership: called at each request; None without sign-in. It may raise EngineError; then nobody is signed in.
    """

    def __init__(self, app: ASGIApp, membership: Callable[[], Membership | None], pages: OpenPages) -> None:
        self._app = app
        self._membership = membership
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with its sign-in or without."""
        if scope["type"] == "http" and not any(part in scope["path"] for part in SIGNED_IN_PATHS):
            await self._app(scope, receive, partial(_send_secure, send, scope))
            return
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        sent_key = key_of(cookie_parser(Headers(scope=scope).get("cookie", "")))
        try:
            membership = await asyncio.to_thread(self._membership)
            is_open = (
                membership is not None
                and sent_key is not None
                and await asyncio.to_thread(membership.is_open, sent_key)
            )
        except EngineError:  # every page shows it
            membership, is_open = None, False
        key = sent_key if is_open else None
        keeps_cookie = is_open or LOGOUT in scope["path"]  # which only deletes it
        scope = {
            **scope,
            "headers": [
                *_headers_without(scope["headers"], sign_in=not keeps_cookie),
                (HEADER.encode(), (key or NO_SIGN_IN).encode()),
            ],
        }
        if scope["type"] == "websocket":
            await self._page(scope, receive, send, key)
        else:
            await self._request(scope, receive, send, membership, key)

    async def _request(
        self, scope: Scope, receive: Receive, send: Send, membership: Membership | None, key: str | None
    ) -> None:
        path = scope["path"]
        member = None
        if membership is not None and any(part in path for part in FOR_MEMBERS):
            member = None if key is None else await asyncio.to_thread(membership.member_of, key)
            if member is None:
                await PlainTextResponse("Sign in to use this instance.", 403)(scope, receive, send)  # untranslated
                return
        if membership is not None and key is not None and LOGOUT in path:
            await asyncio.to_thread(membership.end, key)
            await self._pages.close_ended(membership)

        is_refused = False

        async def send_checked(message: Message) -> None:
            nonlocal is_refused
            if is_refused:  # the rest of the answer that this one took the place of
                return
            if membership is not None and message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                if CALLBACK in path and not await self._start(membership, answer):
                    is_refused = True
                    await PlainTextResponse(NOT_RECORDED, 503)(scope, receive, partial(_send_secure, send, scope))
                    return
                if member is not None and "attachment" in answer.get("content-disposition", ""):
                    membership.audit.record("download", member, type=PurePosixPath(path).suffix)
            await _send_secure(send, scope, message)

        await self._app(scope, receive, send_checked)

    async def _start(self, membership: Membership, answer: MutableHeaders) -> bool:
        """Record the sign-in whose cookie an answer gives out, which is worth nothing else; False where that fails."""
        cookies: dict[str, str] = {}
        for value in answer.getlist("set-cookie"):
            cookies |= {name: morsel.value for name, morsel in SimpleCookie(value).items()}
        key, claims = key_of(cookies), claims_of(cookies)
        if key is None or claims is None:
            return True
        try:
            await asyncio.to_thread(membership.start, claims, key)
        except EngineError:
            logger.exception("A sign-in cannot be recorded.")  # untranslated
            return False
        return True

    async def _page(self, scope: Scope, receive: Receive, send: Send, key: str | None) -> None:
        if key is None:
            await self._app(scope, receive, send)
            return
        ended = self._pages.add(key)
        page = EndingPage(receive, send, ended)
        try:
            await self._app(scope, page.receive, page.send)
        finally:
            self._pages.remove(ended)


def key_of(cookies: Mapping[str, str]) -> str | None:
    """The key of the sign-in whose cookie this is: its SHA-256, with its parts where it is long. None for no cookie.

    >>> key_of({"other": "x"}) is None, key_of({"_streamlit_user": ""}) is None
    (True, True)
    """
    parts = {name: cookies[name] for name in cookies if is_sign_in_cookie(name)}
    if not parts.get(SIGN_IN_COOKIE):
        return None
    return hashlib.sha256(json.dumps(sorted(parts.items())).encode()).hexdigest()


def _headers_without(headers: Iterable[tuple[bytes, bytes]], *, sign_in: bool) -> list[tuple[bytes, bytes]]:
    """The headers without one that only this server sets and, with `sign_in`, without the cookies of a sign-in."""
    kept = []
    for name, value in headers:
        if name.lower() == HEADER.encode():
            continue
        if name.lower() == b"cookie" and sign_in:
            pairs = value.decode("latin-1").split(";")
            value = ";".join(pair for pair in pairs if not pair.strip().startswith(SIGN_IN_COOKIE)).encode("latin-1")
        kept.append((name, value))
    return kept


async def _send_secure(send: Send, scope: Scope, message: Message) -> None:
    """Send a message; over TLS every cookie that it sets is for TLS alone."""
    if message["type"] == "http.response.start" and is_secure(scope, Headers(scope=scope)):
        answer = MutableHeaders(scope=message)
        if cookies := answer.getlist("set-cookie"):
            del answer["set-cookie"]
            for cookie in cookies:
                attributes = {part.strip().lower() for part in cookie.split(";")[1:]}
                answer.append("set-cookie", cookie if "secure" in attributes else f"{cookie}; Secure")
    await send(message)
