"""What becomes of the cookie of a sign-in on its way to Streamlit, and of open pages whose sign-in ends."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import DecodeError

from dashboard import streamlit_internals
from dashboard.serving import open_pages
from dashboard.serving.open_pages import CLOSED, OpenPages
from dashboard.serving.sign_in_cookies import HEADER, NO_SIGN_IN, SignInCookies, key_of
from engine.errors import RunError
from engine.hosted import MEMBERS_FILE
from engine.runs.access import member_list
from engine.runs.access.audit import AuditLog
from engine.runs.access.member_list import MemberList
from engine.runs.access.membership import Membership
from engine.runs.access.viewers import member_id
from engine.runs.storage.database import database_url
from engine.runs.storage.store import Store
from tests.streamlit_internals import BackMsg, ForwardMsg, create_signed_value
from tests.waiting import finished

DEFAULT_SECONDS = open_pages.CHECK_SECONDS, open_pages.DRAW_SECONDS
SECRET = "s" * 64
CLAIMS = {
    "iss": "https://accounts.example",
    "sub": "17",
    "email": "ann@lab.example",
    "email_verified": True,
    "origin": "https://hakari.example",
    "is_logged_in": True,
}
DRAWN = {"type": "websocket.send", "bytes": ForwardMsg(hash="x").SerializeToString()}
FINISHED, FINISHED_EARLY = (
    {"type": "websocket.send", "bytes": ForwardMsg(script_finished=how).SerializeToString()}
    for how in (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN)
)
USER, TOKENS = "_streamlit_user", "_streamlit_user_tokens"


def signed(name: str, content: str) -> str:
    return create_signed_value(SECRET, name, content).decode()


def cookies_of(claims: dict[str, Any], nonce: str = "1") -> dict[str, str]:
    return {USER: signed(USER, json.dumps({**claims, "nonce": nonce})), TOKENS: signed(TOKENS, "{}")}


class Instance:
    """The middleware before an app that answers with `answer_cookies`, and what the app was sent."""

    def __init__(self, membership: Membership | None) -> None:
        self.membership, self.pages = membership, OpenPages()
        self.seen: list[dict[str, Any]] = []
        self.answer_cookies: dict[str, str] = {}
        self.answer_headers: list[tuple[bytes, bytes]] = []
        self.error: Exception | None = None
        self.asked: list[BackMsg] = []
        self.finishes = True
        self.middleware = SignInCookies(self.app, self.current, self.pages)  # type: ignore[arg-type]

    def current(self) -> Membership | None:
        if self.error is not None:
            raise self.error
        return self.membership

    async def app(
        self, scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        self.seen.append({name.decode(): value.decode() for name, value in scope["headers"]})
        if scope["type"] == "websocket":
            while (message := await receive())["type"] != "websocket.disconnect":
                with suppress(DecodeError):
                    self.asked.append(BackMsg.FromString(message.get("bytes") or b""))
                await send(DRAWN)
                if self.finishes and self.asked[-1].WhichOneof("type") == "rerun_script":
                    await send(FINISHED_EARLY)
                    await send(FINISHED)
            await send({"type": "websocket.send", "text": "a late message"})
            return
        cookies = [
            (b"set-cookie", f"{name}={value}; Path=/; HttpOnly; SameSite=lax".encode())
            for name, value in self.answer_cookies.items()
        ]
        await send({"type": "http.response.start", "status": 200, "headers": [*cookies, *self.answer_headers]})
        await send({"type": "http.response.body", "body": b""})

    async def request(
        self, path: str, cookies: dict[str, str] | None = None, scheme: str = "http", **headers: str
    ) -> dict[str, Any]:
        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.middleware(scope_of("http", path, cookies or {}, scheme, headers), None, send)  # type: ignore[arg-type]
        return sent[0]

    async def open_page(self, cookies: dict[str, str]) -> tuple[asyncio.Task[None], asyncio.Queue[Any], list[Any]]:
        """A websocket: its task, what the browser sends, and what it receives."""
        inbox: asyncio.Queue[Any] = asyncio.Queue()
        outbox: list[Any] = []

        async def send(message: Any) -> None:
            outbox.append(message)

        scope = scope_of("websocket", "/_stcore/stream", cookies, "http", {})
        task = asyncio.create_task(self.middleware(scope, inbox.get, send))  # type: ignore[arg-type]
        inbox.put_nowait({"type": "websocket.connect"})
        while not outbox:
            await asyncio.sleep(0.01)
        return task, inbox, outbox

    async def page_headers(self, cookies: dict[str, str]) -> dict[str, str]:
        """What a page that is opened and closed is sent."""
        task, inbox, _ = await self.open_page(cookies)
        inbox.put_nowait({"type": "websocket.disconnect"})
        await task
        return dict(self.seen[-1])

    async def sign_in(self, cookies: dict[str, str]) -> None:
        self.answer_cookies = cookies
        await self.request("/hakari/oauth2callback")
        self.answer_cookies = {}


def scope_of(kind: str, path: str, cookies: dict[str, str], scheme: str, headers: dict[str, str]) -> dict[str, Any]:
    cookie = "; ".join(f"{name}={value}" for name, value in {"_streamlit_xsrf": "x", **cookies}.items())
    sent = {"cookie": cookie, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return {
        "type": kind,
        "path": path,
        "scheme": scheme,
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
    }


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamlit_internals, "get_cookie_secret", lambda: SECRET)
    monkeypatch.setattr(open_pages, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(open_pages, "DRAW_SECONDS", 0.5)


@pytest.fixture
def members_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(member_list, "SHORTER_SECONDS", 0.0)
    (tmp_path / "members").write_text("ann@lab.example\n", encoding="utf-8")
    return tmp_path / "members"


@pytest.fixture
def instance(tmp_path: Path, members_file: Path) -> Iterator[Instance]:
    with closing(Store(database_url(tmp_path))) as store:
        yield Instance(
            Membership(store, MemberList({MEMBERS_FILE: str(members_file)}), AuditLog(tmp_path / "audit.jsonl"))
        )


def test_a_sign_in_that_cannot_be_recorded_is_said(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the cookie, which is worth nothing then, sends its owner back to the sign-in without a word."""

    def full(*_: object) -> None:
        raise RunError("database or disk is full")

    async def story() -> None:
        instance.answer_cookies = cookies_of(CLAIMS)
        with monkeypatch.context() as patched:
            patched.setattr(Membership, "start", full)
            refused = await instance.request("/oauth2callback")
        assert refused["status"] == 503 and not any(name == b"set-cookie" for name, _ in refused["headers"])
        assert (await instance.request("/oauth2callback"))["status"] == 200

    finished(story())


def test_a_copied_cookie_is_worth_nothing_after_its_sign_out(instance: Instance) -> None:
    async def story() -> None:
        cookies, copied = cookies_of(CLAIMS), cookies_of(CLAIMS)
        await instance.sign_in(cookies)
        headers = await instance.page_headers(copied)
        assert headers[HEADER] == key_of(cookies) and USER in headers["cookie"]
        assert (await instance.request("/media/a.csv", copied))["status"] == 200
        await instance.request("/hakari/auth/logout", cookies)
        assert USER in instance.seen[-1]["cookie"]  # Streamlit deletes it in the browser, and signs out at the provider
        headers = await instance.page_headers(copied)
        assert headers[HEADER] == NO_SIGN_IN and headers["cookie"] == "_streamlit_xsrf=x"
        for path in ("/media/a.csv", "/hakari/_stcore/upload_file/session/file"):
            assert (await instance.request(path, copied))["status"] == 403

    finished(story())


def test_a_cookie_that_the_server_did_not_give_out_is_worth_nothing(instance: Instance) -> None:
    async def story() -> None:
        await instance.sign_in(cookies_of(CLAIMS))
        of_before = cookies_of(CLAIMS, nonce="2")  # rightly signed, such as before an update, and never recorded
        assert (await instance.page_headers(of_before))[HEADER] == NO_SIGN_IN
        assert (await instance.page_headers({}))[HEADER] == NO_SIGN_IN
        forged = {name: value + "x" for name, value in cookies_of(CLAIMS, nonce="3").items()}
        await instance.sign_in(forged)
        assert (await instance.page_headers(forged))[HEADER] == NO_SIGN_IN
        instance.seen.clear()
        servers_own = {HEADER.replace("-", "_"): str(key_of(cookies_of(CLAIMS)))}
        assert (await instance.request("/media/x", **servers_own))["status"] == 403 and instance.seen == []
        await instance.request("/auth/logout", **servers_own)
        assert instance.seen[-1][HEADER] == NO_SIGN_IN

    finished(story())


def rerun(**fields: str) -> dict[str, Any]:
    request = BackMsg()
    request.rerun_script.SetInParent()
    for name, value in fields.items():
        setattr(request.rerun_script, name, value)
    widget = request.rerun_script.widget_states.widgets.add()
    widget.id, widget.trigger_value = "delete", True
    return {"type": "websocket.receive", "bytes": request.SerializeToString()}


@pytest.mark.parametrize("ending", ["sign out", "sign out everywhere", "taken off the list"])
def test_open_pages_are_drawn_without_their_sign_in_and_closed(
    instance: Instance,
    members_file: Path,
    ending: str,
) -> None:
    async def story() -> None:
        membership = instance.membership
        assert membership is not None
        cookies, elsewhere = cookies_of(CLAIMS), cookies_of(CLAIMS, nonce="2")
        await instance.sign_in(cookies)
        await instance.sign_in(elsewhere)
        watching = asyncio.create_task(instance.pages.watch(instance.current))
        second, _, of_second = await instance.open_page(elsewhere)
        first, inbox, received = await instance.open_page(cookies)
        inbox.put_nowait(rerun(page_script_hash="abc", query_string="run=1", fragment_id="f"))
        inbox.put_nowait({"type": "websocket.receive", "bytes": b"no message of Streamlit's" * 9})
        await asyncio.sleep(0.2)
        n_received = len(received)
        assert not first.done() and received[-1] == FINISHED
        begun = time.monotonic()
        if ending == "sign out":
            await instance.request("/auth/logout", cookies)
        elif ending == "sign out everywhere":
            membership.end_everywhere(membership.viewer({**CLAIMS}, str(key_of(elsewhere))))
        else:
            members_file.write_text("ben@lab.example\n", encoding="utf-8")
        await asyncio.wait_for(first, 5)
        assert time.monotonic() - begun < 5
        last = [asked for asked in instance.asked if asked.rerun_script.page_script_hash][-1].rerun_script
        assert (last.page_script_hash, last.query_string) == ("abc", "run=1")
        assert not last.widget_states.widgets and not last.fragment_id  # nothing that was pressed is done again
        assert received[n_received:] == [DRAWN, FINISHED_EARLY, FINISHED, {"type": "websocket.close", "code": CLOSED}]
        if ending == "sign out":  # this browser alone
            await asyncio.sleep(0.2)
            assert not second.done()
            second.cancel()
        else:
            await asyncio.wait_for(second, 5)
            assert of_second[-1] == {"type": "websocket.close", "code": CLOSED}
        watching.cancel()

    finished(story())


def test_a_sign_in_ends_within_ten_seconds() -> None:
    check_seconds, draw_seconds = DEFAULT_SECONDS
    assert check_seconds + draw_seconds < 10


def test_a_page_that_is_not_drawn_is_closed_all_the_same_and_hears_nothing_more(instance: Instance) -> None:
    instance.finishes = False

    async def story() -> None:
        cookies = cookies_of(CLAIMS)
        await instance.sign_in(cookies)
        task, inbox, received = await instance.open_page(cookies)
        await instance.request("/auth/logout", cookies)
        for _ in range(5):
            inbox.put_nowait(rerun(page_script_hash="after"))
        await asyncio.wait_for(task, 5)
        assert received[-1] == {"type": "websocket.close", "code": CLOSED}
        assert [asked.rerun_script.page_script_hash for asked in instance.asked] == ["", ""]

    finished(story())


def test_nothing_ends_while_the_database_does_not_answer_and_nobody_is_let_in(
    instance: Instance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> None:
        cookies = cookies_of(CLAIMS)
        await instance.sign_in(cookies)
        task, _, _ = await instance.open_page(cookies)
        watching = asyncio.create_task(instance.pages.watch(instance.current))
        instance.error = RunError("The list of runs cannot be read.")
        await asyncio.sleep(0.2)
        assert not task.done() and not watching.done()
        assert (await instance.page_headers(cookies))[HEADER] == NO_SIGN_IN
        instance.error = None
        assert (await instance.page_headers(cookies))[HEADER] == key_of(cookies)
        for waiting in (task, watching):
            waiting.cancel()

    finished(story())


def test_a_long_cookie_in_parts_is_one_sign_in(instance: Instance) -> None:
    content = json.dumps(CLAIMS)
    parts = {
        USER: signed(USER, "chunks-2"),
        f"{USER}_1": signed(f"{USER}_1", content[:40]),
        f"{USER}_2": signed(f"{USER}_2", content[40:]),
    }

    async def story() -> None:
        await instance.sign_in(parts)
        assert (await instance.page_headers(parts))[HEADER] == key_of(parts)
        other = {**parts, f"{USER}_2": signed(f"{USER}_2", content[40:].replace("ann", "bob"))}
        assert (await instance.page_headers(other))[HEADER] == NO_SIGN_IN

    finished(story())


def test_behind_tls_every_cookie_is_secure(instance: Instance) -> None:
    async def cookies_set(path: str, scheme: str = "http", **headers: str) -> list[str]:
        answer = await instance.request(path, scheme=scheme, **headers)
        return [value.decode() for name, value in answer["headers"] if name == b"set-cookie"]

    async def story() -> None:
        instance.answer_cookies = {**cookies_of(CLAIMS), "_streamlit_xsrf": "2|x"}
        for path in ("/oauth2callback", "/auth/logout", "/"):
            for scheme, headers in (("https", {}), ("http", {"x_forwarded_proto": "https"})):
                sent = await cookies_set(path, scheme, **headers)
                assert len(sent) == 3
                assert all(cookie.endswith("; Secure") and cookie.count("Secure") == 1 for cookie in sent)
            assert all("Secure" not in cookie for cookie in await cookies_set(path))

    finished(story())


def test_downloads_are_logged_by_member_and_type(instance: Instance, tmp_path: Path) -> None:
    async def story() -> None:
        cookies = cookies_of(CLAIMS)
        await instance.sign_in(cookies)
        await instance.request("/media/0123.png", cookies)
        instance.answer_headers = [(b"content-disposition", b'attachment; filename="secret.csv"')]
        await instance.request("/media/0123.csv", cookies)

    finished(story())
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["action"] for line in lines] == ["sign-in", "download"]
    assert (lines[1]["user"], lines[1]["address"], lines[1]["type"]) == (
        member_id("https://accounts.example", "17"),
        "ann@lab.example",
        ".csv",
    )
    assert "secret" not in json.dumps(lines)


def test_without_members_everything_passes(tmp_path: Path) -> None:
    async def story() -> None:
        instance = Instance(None)
        for path in ("/", "/media/a.csv", "/_stcore/upload_file/session/file", "/auth/logout"):
            assert (await instance.request(path))["status"] == 200
        assert (await instance.page_headers({}))[HEADER] == NO_SIGN_IN

    finished(story())
