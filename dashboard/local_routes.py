"""Routes of the server that are for its own machine: Streamlit's metrics, which say who uses what."""

from __future__ import annotations

from ipaddress import ip_address

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOCAL_PATHS = ("/_stcore/metrics",)
PROXY_HEADERS = (b"x-forwarded-for", b"forwarded")


class LocalRoutes:
    """Answers 404 to requests for LOCAL_PATHS (below any base path) that do not come straight from this machine."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else on."""
        if scope["type"] == "http" and scope["path"].rstrip("/").endswith(LOCAL_PATHS) and not is_local(scope):
            await PlainTextResponse("Not Found", 404)(scope, receive, send)  # untranslated
            return
        await self._app(scope, receive, send)


def is_local(scope: Scope) -> bool:
    """Whether a request was sent by a process of this machine for itself, and not by a proxy for somebody."""
    if any(name.lower() in PROXY_HEADERS for name, _ in scope["headers"]):
        return False
    host = (scope.get("client") or ("", 0))[0]
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback
