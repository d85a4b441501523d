"""The dashboard as a server for a team: the pages of app.py, health and metrics for operators, an orderly shutdown.

    python -m streamlit run dashboard/server.py

Without sign-in each browser gets a cookie, by which it has its own list of runs. The engine is opened before the first
visitor comes, so that runs which a restart interrupted go on at once.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

# `streamlit run` puts only this folder on the path; `engine` and `dashboard` are one above.
if (ROOT := str(Path(__file__).resolve().parents[1])) not in sys.path:
    sys.path.insert(0, ROOT)

import streamlit as st
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from dashboard.browser_cookie import BrowserCookie, cookie_path
from dashboard.local_routes import LocalRoutes
from dashboard.shared import session
from engine.errors import EngineError
from engine.runs.access.browsers import Browsers
from engine.runs.operation.health import health
from engine.runs.operation.logs import set_up_logs
from engine.runs.operation.metrics import exposition


async def healthz(_: Request) -> Response:
    """200 when the database answers and the workers are alive, else 503; the body names the part that is not."""
    try:
        status = await asyncio.to_thread(lambda: health(session.engine()))
    except EngineError as error:
        return JSONResponse({"ok": False, "engine": str(error)}, 503)
    notices = {"notices": list(status.notices)} if status.notices else {}
    return JSONResponse({"ok": status.ok, **status.parts, **notices}, 200 if status.ok else 503)


async def metrics(_: Request) -> Response:
    """The metrics in Prometheus' text format."""
    try:
        text = await asyncio.to_thread(lambda: exposition(session.engine()))
    except EngineError as error:
        return PlainTextResponse(f"# {error}\n", 503)
    return Response(text, media_type=CONTENT_TYPE_LATEST)


@asynccontextmanager
async def engine_lifespan(_: st.App) -> AsyncIterator[None]:
    """Keep the engine open as long as the server is up."""
    set_up_logs()
    try:
        await asyncio.to_thread(session.engine)
    except EngineError as error:  # every page shows it too, and /healthz answers 503 until it is fixed
        print(f"error: {error}", file=sys.stderr)  # untranslated
    yield
    await asyncio.to_thread(_close)


def _close() -> None:
    try:
        session.engine().close()
    except EngineError:  # it was never opened
        return


def _browsers() -> Browsers | None:
    return None if session.hosted() else session.browsers()


def _base_path() -> str:
    return cookie_path(str(st.get_option("server.baseUrlPath") or ""))


app = st.App(
    Path(__file__).with_name("app.py"), routes=[Route("/healthz", healthz), Route("/metrics", metrics)],
    middleware=[Middleware(LocalRoutes), Middleware(BrowserCookie, browsers=_browsers, path=_base_path)],
    lifespan=engine_lifespan,
)
