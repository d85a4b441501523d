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
from engine.datasets.formats.files import max_file_bytes
from engine.errors import EngineError, InputError
from engine.runs.access.membership import Membership

MOST_FILES = 100  # in one tab
# Times the largest file that a tab holds at most, and all tabs of a member together.
OF_TAB, OF_MEMBER = 2, 4
MIB = 2**20


class TabUploads:
    """Passes an upload, or its removal, on to Streamlit where the tab is the sender's and has room for it.

    membership: called at each of them, after `SignInCookies`; None where nobody signs in.
    """

    def __init__(self, app: ASGIApp, membership: Callable[[], Membership | None]) -> None:
        self._app, self._membership = app, membership
        self._coming: Counter[str] = Counter()  # bytes on their way, by tab
        self._n_coming: Counter[str] = Counter()
        self._opened_by: dict[str, str] = {}  # tab -> sign-in: a tab that was just closed still has its files

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
        has_room = n_held + self._n_coming[tab] < MOST_FILES and held + self._coming[tab] + n_bytes <= most_bytes(
            OF_TAB
        )
        of_sender = sum(held_by_tab(other)[1] + self._coming[other] for other in tabs)
        if not has_room or of_sender + n_bytes > most_bytes(OF_MEMBER):
            bounds = (
                f"A tab holds {MOST_FILES} files of {most_bytes(OF_TAB) // MIB} MiB at most, "  # untranslated
                f"all tabs of a member {most_bytes(OF_MEMBER) // MIB} MiB."
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
        """The tabs with files of whoever sends, this one among them; without it where it is somebody else's.

        Where nobody signs in, nobody's tabs are told from another's.
        """
        opened_by = header_of_tab(tab, SIGN_IN_HEADER)
        if opened_by is None:  # there is no such tab, which Streamlit refuses itself
            return {tab}
        own = {tab} if opened_by == key else set()
        try:
            membership = self._membership()
            if membership is None:
                return own
            keys = self._keys_of_tabs(tab)
            accounts = {one: account.id for one in {key, *keys.values()} if (account := membership.member_of(one))}
        except EngineError:
            return own
        return own | {other for other, one in keys.items() if key in accounts and accounts.get(one) == accounts[key]}

    def _keys_of_tabs(self, tab: str) -> dict[str, str]:
        """The sign-ins that a tab, and all of which files are held or coming, were opened with."""
        keys: dict[str, str] = {}
        for one in {tab, *tabs_with_files(), *self._coming}:
            opened_by = header_of_tab(one, SIGN_IN_HEADER)
            keys[one] = self._opened_by.get(one, "") if opened_by is None else opened_by
        self._opened_by = keys
        return keys


def most_bytes(times: int) -> int:
    """So many times the largest file that is taken and read, in bytes."""
    largest = int(st.get_option("server.maxUploadSize")) * MIB
    try:
        return times * min(largest, max_file_bytes())
    except InputError:  # the variable is no number, which every reader says
        return times * largest


def _announced(headers: Headers) -> int:
    """The bytes that a request says it has; the most it may have where it says nothing."""
    length = headers.get("content-length", "")
    return int(length) if length.isdigit() else most_bytes(1)
