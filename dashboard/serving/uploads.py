"""Uploads of a page: bounded for each tab and each member, taken from whoever has the tab open alone, gone with the tab.

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
from dashboard.streamlit_internals import UPLOADS, header_of_tab, held_by_tab, tabs_with_files
from engine.errors import EngineError
from engine.runs.access.membership import Membership

MOST_FILES = 100  # in one tab
MOST_OF_LARGEST = 2  # so many times the largest file, in one tab
MOST_TABS = 2  # so many times that, in all tabs of one member
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
        tabs = await asyncio.to_thread(self._tabs_of_sender, tab, headers.get(SIGN_IN_HEADER, ""))
        if tab not in tabs:
            await PlainTextResponse("This page is somebody else's.", 403)(scope, receive, send)  # untranslated
            return
        if scope["method"] == "DELETE":
            await self._app(scope, receive, send)
            return
        n_bytes = _announced(headers)
        n_held, held = held_by_tab(tab)
        has_room = n_held + self._n_coming[tab] < MOST_FILES and held + self._coming[tab] + n_bytes <= most_bytes()
        of_sender = sum(held_by_tab(other)[1] + self._coming[other] for other in tabs)
        if not has_room or of_sender + n_bytes > MOST_TABS * most_bytes():
            bounds = (
                f"A tab holds {MOST_FILES} files of {most_bytes() // MIB} MiB at most, "  # untranslated
                f"all tabs of a member {MOST_TABS * most_bytes() // MIB} MiB."
            )
            await PlainTextResponse(bounds, 413)(scope, receive, send)
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

    def _tabs_of_sender(self, tab: str, key: str) -> set[str]:
        """The tabs with files that whoever sends has open, this one among them; without it where it is somebody else's.

        Where nobody signs in, nobody's tabs are told from another's.
        """
        opened_by = header_of_tab(tab, SIGN_IN_HEADER)
        if opened_by is None:  # there is no such tab, which Streamlit refuses itself
            return {tab}
        try:
            membership = self._membership()
            if membership is None:
                return {tab} if opened_by == key else set()
            sender = membership.member_of(key)
            keys = {other: header_of_tab(other, SIGN_IN_HEADER) for other in {tab, *tabs_with_files(), *self._coming}}
            members = {one: membership.member_of(one) for one in keys.values() if one is not None and one != key}
        except EngineError:
            return {tab} if opened_by == key else set()

        def is_senders(one: str | None) -> bool:
            other = members.get(one or "")
            return one == key or (sender is not None and other is not None and other.id == sender.id)

        return {other for other, one in keys.items() if is_senders(one)}


def most_bytes() -> int:
    """The bytes that the files of one tab may have together."""
    return MOST_OF_LARGEST * int(st.get_option("server.maxUploadSize")) * MIB


def _announced(headers: Headers) -> int:
    """The bytes that a request says it has; the most it may have where it says nothing."""
    length = headers.get("content-length", "")
    return int(length) if length.isdigit() else int(st.get_option("server.maxUploadSize")) * MIB
