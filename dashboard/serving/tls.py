"""Whether a request came over TLS, to this server or to the proxy before it."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import Scope


def is_secure(scope: Scope, headers: Headers) -> bool:
    """Whether the browser sees https: cookies are then sent over TLS alone."""
    return "https" in (scope.get("scheme"), headers.get("x-forwarded-proto", "").split(",")[0].strip())
