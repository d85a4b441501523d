"""Headers of every answer, and the paths that the port of the pages does not have.

The policy is as strict as Streamlit lets it be: its pages set styles in place, Vega makes functions of expressions, and
components are loaded from blobs. Nothing is loaded from, or sent to, another host, and no other site may frame a page.
"""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.streamlit_internals import METRICS, SCRIPT_HEALTH

# Health and metrics are on the operator's port alone.
HIDDEN_PATHS = ("/healthz", "/metrics", METRICS, SCRIPT_HEALTH)
POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",  # untranslated
    "font-src": "'self' data:",
    "media-src": "'self' data: blob:",  # untranslated
    "connect-src": "'self' data: blob:",  # untranslated
    "worker-src": "'self' blob:",
    "frame-src": "'self' data: blob:",  # untranslated
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",  # frame-ancestors, for older browsers
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class ResponseHeaders:
    """Adds HEADERS to every answer, and answers 404 to requests for HIDDEN_PATHS, also below a base path."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answer[name] = value
            await send(message)

        app = PlainTextResponse("Not Found", 404) if is_hidden(scope["path"]) else self._app  # untranslated
        await app(scope, receive, send_with_headers)


def is_hidden(path: str) -> bool:
    """Whether the port of the pages answers as if there were nothing.

    >>> is_hidden("/metrics"), is_hidden("/hakari/healthz/"), is_hidden("/metric_study")
    (True, True, False)
    """
    return path.rstrip("/").endswith(HIDDEN_PATHS)
