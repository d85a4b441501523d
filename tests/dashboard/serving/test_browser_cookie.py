"""Which requests get the cookie of a browser, with which attributes; and who a page takes the sender for."""

from __future__ import annotations

from http.cookies import SimpleCookie
from types import SimpleNamespace

import pytest

from dashboard.serving.browser_cookie import COOKIE_SECONDS, BrowserCookie
from dashboard.shared import session
from engine.errors import InputError
from engine.runs.access.browsers import Browsers
from engine.runs.access.viewers import LOCAL
from tests.support.fakes import FakeBackend
from tests.waiting import finished

BROWSERS = Browsers(b"secret")
PAGE = {"accept": "text/html,*/*", "sec-fetch-dest": "document"}


def answer(
    headers: dict[str, str],
    *,
    method: str = "GET",
    scheme: str = "http",
    status: int = 200,
    browsers: Browsers | None = BROWSERS,
    broken: bool = False,
) -> list[str]:
    """The cookies that an answer with `status` to a request sets."""
    sent: list[dict[str, object]] = []

    async def app(scope: object, receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": status, "headers": [(b"x", b"y")]})  # type: ignore[operator]

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    def issued() -> Browsers | None:
        if broken:
            raise InputError("The data directory cannot be written.")
        return browsers

    scope = {
        "type": "http",
        "method": method,
        "scheme": scheme,
        "path": "/runs",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    middleware = BrowserCookie(app, issued, lambda: "/hakari")  # type: ignore[arg-type]
    finished(middleware(scope, None, send))  # type: ignore[arg-type]
    written: list[tuple[bytes, bytes]] = sent[0]["headers"]  # type: ignore[assignment]
    assert (b"x", b"y") in written
    return [value.decode() for name, value in written if name == b"set-cookie"]


def test_a_page_gets_a_signed_cookie_that_scripts_cannot_read() -> None:
    (header,) = answer(PAGE)
    (morsel,) = SimpleCookie(header).values()
    assert BROWSERS.viewer(morsel.value) is not None and morsel.key == BROWSERS.cookie_name
    assert (morsel["httponly"], morsel["samesite"], morsel["path"]) == (True, "Lax", "/hakari")
    assert morsel["max-age"] == str(COOKIE_SECONDS) and not morsel["secure"]
    assert answer(PAGE) != answer(PAGE)  # each browser has its own


def test_a_browser_keeps_its_cookie_and_a_forged_one_is_replaced() -> None:
    value = BROWSERS.issue()
    (header,) = answer({**PAGE, "cookie": f'other={{"a": 1}}; {BROWSERS.cookie_name}={value}'})
    assert header.startswith(f"{BROWSERS.cookie_name}={value};")
    forged = Browsers(b"another").issue()
    (header,) = answer({**PAGE, "cookie": f"{BROWSERS.cookie_name}={forged}"})
    assert forged not in header and BROWSERS.viewer(SimpleCookie(header)[BROWSERS.cookie_name].value) is not None


@pytest.mark.parametrize(
    ("scheme", "headers"),
    [("https", {}), ("http", {"x-forwarded-proto": "https"}), ("http", {"x-forwarded-proto": "https, http"})],
)
def test_behind_tls_the_cookie_is_secure(scheme: str, headers: dict[str, str]) -> None:
    (header,) = answer(PAGE | headers, scheme=scheme)
    assert header.endswith("; Secure")


def test_a_page_from_the_browsers_own_cache_sets_it_too() -> None:
    assert len(answer(PAGE, status=304)) == 1


def test_nothing_else_sets_a_cookie() -> None:
    assert answer({"accept": "*/*"}) == answer({**PAGE, "sec-fetch-dest": "script"}) == answer({}) == []
    assert answer(PAGE, method="POST") == answer(PAGE, status=404) == []
    assert answer(PAGE, browsers=None) == []  # members sign in
    assert answer(PAGE, broken=True) == []


@pytest.mark.usefixtures("no_cache_outlives_a_test")
def test_the_viewer_of_a_page_is_the_browser_of_the_cookie(
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    issued = session.browsers()
    value = issued.issue()

    def viewer(cookies: dict[str, str]) -> object:
        monkeypatch.setattr(session.st, "context", SimpleNamespace(cookies=cookies, headers={}))
        return session.viewer()

    assert viewer({issued.cookie_name: value}) == issued.viewer(value) != LOCAL
    assert viewer({}) == viewer({issued.cookie_name: Browsers(b"x").issue()}) == LOCAL
    assert session.engine().access(session.viewer()).mine() == []
