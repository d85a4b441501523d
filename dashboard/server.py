"""The dashboard as a server for a team: the pages of app.py, the operator's port, an orderly shutdown.

    python -m streamlit run dashboard/server.py

Without sign-in each browser gets a cookie, by which it has its own list of runs; with it, sign-ins can be ended. The
engine is opened before the first visitor comes, so that runs which a restart interrupted go on at once.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

# `streamlit run` puts only this folder on the path; `engine` and `dashboard` are one above, if they are not installed.
if not ((ROOT := Path(__file__).resolve().parents[1]) / "__init__.py").exists() and str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from engine.processes.freed_memory import set_up_heaps

set_up_heaps()  # before an import starts threads

import streamlit as st
from starlette.middleware import Middleware

from dashboard import streamlit_internals
from dashboard.serving.browser_cookie import BrowserCookie, cookie_path
from dashboard.serving.link_previews import LinkPreviews
from dashboard.serving.open_pages import OpenPages
from dashboard.serving.operator_port import operator_port
from dashboard.serving.response_headers import ResponseHeaders
from dashboard.serving.sign_in_cookies import SignInCookies
from dashboard.serving.tab_bounds import MessageBounds, TabBounds
from dashboard.serving.thread_turns import collect, collect_at_intervals, drop_at_intervals, take_short_turns
from dashboard.serving.uploads import TabUploads
from dashboard.shared import session
from dashboard.shared.caches.large import large
from engine.errors import EngineError, InputError
from engine.messages.catalogues import JAPANESE, compiled
from engine.processes.import_path import keep_folders_in_packages
from engine.runs.access.browsers import Browsers
from engine.runs.access.membership import Membership
from engine.runs.operation.logs import set_up_logs

keep_folders_in_packages()
PAGES = OpenPages()


@asynccontextmanager
async def engine_lifespan(_: st.App) -> AsyncIterator[None]:
    """Keep the engine and the operator's port open as long as the server is up, and close pages of ended sign-ins."""
    set_up_logs()
    take_short_turns()
    try:
        await asyncio.to_thread(session.engine)
    except EngineError as error:  # every page shows it too, and /healthz answers 503 until it is fixed
        print(f"error: {error}", file=sys.stderr)  # untranslated
    tasks = [
        asyncio.create_task(PAGES.watch(_membership)),
        asyncio.create_task(asyncio.to_thread(_warm_up)),
        asyncio.create_task(collect_at_intervals(before=streamlit_internals.free_closed_tabs)),
        asyncio.create_task(drop_at_intervals(lambda: large().drop_idle(streamlit_internals.open_addresses()))),
    ]
    try:
        with ExitStack() as stack:
            try:
                stack.enter_context(operator_port(session.engine, streamlit_internals.metrics))
            except InputError as error:
                print(f"error: {error}", file=sys.stderr)  # untranslated
            yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.to_thread(_close)


def _warm_up() -> None:
    """What the first visitors would each wait for, all at once."""
    compiled(JAPANESE)
    collect()


def _close() -> None:
    try:
        session.engine().close()
    except EngineError:  # it was never opened
        return


def _membership() -> Membership | None:
    return session.engine().membership


def _most_tabs() -> int | None:
    return session.engine().configuration.limits.tabs


def _browsers() -> Browsers | None:
    return None if session.hosted() else session.browsers()


def _base_path() -> str:
    return cookie_path(str(st.get_option("server.baseUrlPath") or ""))


app = st.App(
    Path(__file__).with_name("app.py"),
    lifespan=engine_lifespan,
    middleware=[
        Middleware(MessageBounds),
        Middleware(ResponseHeaders),
        Middleware(SignInCookies, membership=_membership, pages=PAGES),
        Middleware(TabBounds, membership=_membership, most=_most_tabs),
        Middleware(TabUploads, membership=_membership),
        Middleware(BrowserCookie, browsers=_browsers, path=_base_path),
        Middleware(LinkPreviews, engine=session.engine, by_link=session.opens_by_link),
    ],
)
