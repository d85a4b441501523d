"""The cookie by which a browser has its own list of runs without sign-in (`engine.runs.access.browsers`).

It is set on the response to every page that a browser opens, so that its time begins anew. Scripts cannot read it,
other sites do not send it with their requests, and over TLS it is never sent in the clear.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.serving.tls import is_secure
from engine.errors import EngineError
from engine.runs.access.browsers import Browsers

COOKIE_SECONDS = 400 * 86_400  # the longest that browsers keep one


class BrowserCookie:
    """Gives every browser that opens a page its cookie, or the one that it has for another time.

    browsers: called at each page; None where members sign in. path: the path of the dashboard on its host.
    """

    def __init__(self, app: ASGIApp, browsers: Callable[[], Browsers | None], path: Callable[[], str]) -> None:
        self._app = app
        self._browsers = browsers
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the cookie to the answer where a page is asked for."""
        cookie = await asyncio.to_thread(self._cookie, scope) if is_page(scope) else None

        async def send_with_cookie(message: Message) -> None:
            if cookie is not None and message["type"] == "http.response.start" and message["status"] < 400:
                MutableHeaders(scope=message).append("set-cookie", cookie)
            await send(message)

        await self._app(scope, receive, send_with_cookie)

    def _cookie(self, scope: Scope) -> str | None:
        try:
            browsers = self._browsers()
        except EngineError:  # every page shows it
            return None
        if browsers is None:
            return None
        headers = Headers(scope=scope)
        sent = cookie_parser(headers.get("cookie", "")).get(browsers.cookie_name)
        value = sent if sent is not None and browsers.viewer(sent) is not None else browsers.issue()
        cookie = f"{browsers.cookie_name}={value}; Path={self._path()}; Max-Age={COOKIE_SECONDS}"  # untranslated
        return (
            f"{cookie}; HttpOnly; SameSite=Lax"  # untranslated
            + ("; Secure" if is_secure(scope, headers) else "")
        )


def is_page(scope: Scope) -> bool:
    """Whether a browser asks for a page to show it, and not for a part of one."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    headers = Headers(scope=scope)
    return headers.get("sec-fetch-dest", "document") == "document" and "text/html" in headers.get("accept", "")


def cookie_path(base_path: str) -> str:
    """The path of the cookie for Streamlit's `server.baseUrlPath`.

    >>> cookie_path(""), cookie_path("hakari/")
    ('/', '/hakari')
    """
    return "/" + base_path.strip("/")
