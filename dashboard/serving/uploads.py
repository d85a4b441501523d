"""Uploads of a page: bounded for each tab, taken from whoever has the tab open alone, gone with the tab.

Streamlit bounds one file, holds all files of a tab in the memory of the server, and takes what is sent to a tab's address
from anybody who knows it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dashboard.shared.session import SIGN_IN_HEADER
from dashboard.streamlit_internals import UPLOADS, header_of_tab, held_by_tab
from engine.errors import EngineError
from engine.runs.access.membership import Membership

MOST_FILES = 100  # in one tab
MOST_OF_LARGEST = 2  # so many times the largest file, in one tab
MIB = 2**20


class TabUploads:
    """Passes an upload, or its removal, on to Streamlit where the tab is the sender's and has room for it.

    membership: called at each of them, after `SignInCookies`; None where nobody signs in.
    """

    def __init__(self, app: ASGIApp, membership: Callable[[], Membership | None]) -> None:
        self._app, self._membership = app, membership
        self._coming: Counter[str] = Counter()  # bytes on their way, by tab
        self._n_coming: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http" or UPLOADS not in scope["path"] or scope["method"] not in ("PUT", "DELETE"):
            await self._app(scope, receive, send)
            return
        tab = scope["path"].partition(UPLOADS)[2].partition("/")[0]
        headers = Headers(scope=scope)
        if not await asyncio.to_thread(self._is_senders, tab, headers.get(SIGN_IN_HEADER, "")):
            await PlainTextResponse("This page is somebody else's.", 403)(scope, receive, send)  # untranslated
            return
        if scope["method"] == "DELETE":
            await self._app(scope, receive, send)
            return
        n_bytes = _announced(headers)
        n_held, held = held_by_tab(tab)
        if n_held + self._n_coming[tab] >= MOST_FILES or held + self._coming[tab] + n_bytes > most_bytes():
            bounds = f"A tab holds {MOST_FILES} files of {most_bytes() // MIB} MiB at most."  # untranslated
            answer = PlainTextResponse(bounds, 413)
            await answer(scope, receive, send)
            return
        self._coming[tab] += n_bytes
        self._n_coming[tab] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._coming[tab] -= n_bytes
            self._n_coming[tab] -= 1
            if not self._n_coming[tab]:
                del self._coming[tab], self._n_coming[tab]

    def _is_senders(self, tab: str, key: str) -> bool:
        opened_by = header_of_tab(tab, SIGN_IN_HEADER)
        if opened_by in (None, key):  # None: there is no such tab, which Streamlit refuses itself
            return True
        try:
            membership = self._membership()
            accounts = [membership.member_of(str(one)) for one in (opened_by, key)] if membership else []
        except EngineError:
            return False
        return bool(accounts) and None not in accounts and len({account.id for account in accounts if account}) == 1


def most_bytes() -> int:
    """The bytes that the files of one tab may have together."""
    return MOST_OF_LARGEST * int(st.get_option("server.maxUploadSize")) * MIB


def _announced(headers: Headers) -> int:
    """The bytes that a request says it has; the most it may have where it says nothing."""
    length = headers.get("content-length", "")
    return int(length) if length.isdigit() else int(st.get_option("server.maxUploadSize")) * MIB
