"""How many tabs of a member, and of an address where nobody has signed in, are drawn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
import uvicorn
from streamlit.testing.v1 import AppTest
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import connect

from dashboard.serving import tab_bounds
from dashboard.serving.tab_bounds import ANONYMOUS, LARGEST, SMALL, TOO_BIG, TRY_LATER, MessageBounds, TabBounds
from dashboard.shared import session
from dashboard.shared.session import SIGN_IN_HEADER, TABS_HEADER
from engine.errors import RunError
from engine.hosted import ADDRESSES
from engine.runs.access.member_list import MemberList
from engine.runs.access.membership import Membership
from engine.runs.storage.database import database_url
from engine.runs.storage.store import Store
from tests.waiting import finished, wait_until

CLAIMS = {"iss": "https://accounts.example", "email_verified": True}
HERE, THERE = ("192.0.2.1", 1), ("192.0.2.2", 1)


@pytest.fixture
def membership(tmp_path: Path) -> Iterator[Membership]:
    with closing(Store(database_url(tmp_path))) as store:
        made = Membership(store, MemberList({ADDRESSES: "ann@lab.example ben@lab.example"}))
        for name, key in (("ann", "a1"), ("ann", "a2"), ("ben", "b1")):
            made.start({**CLAIMS, "sub": name, "email": f"{name}@lab.example"}, key)
        yield made


class Browser:
    """Opens tabs of a server; what each was sent, and what Streamlit was passed."""

    def __init__(self, membership: Membership | None, most: int | None) -> None:
        self.passed: list[dict[str, str]] = []
        self.received: list[int] = []
        self.middleware = TabBounds(self.app, lambda: membership, lambda: most)

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        self.passed.append({name.decode(): value.decode() for name, value in scope["headers"]})
        while (message := await receive())["type"] != "websocket.disconnect":
            self.received.append(len(message.get("bytes") or b""))
            await send({"type": "websocket.accept"})

    async def open(self, key: str = "none", client: tuple[str, int] = HERE, forged: str = "") -> tuple[Any, Any, Any]:
        """A tab: its task, what it sends, and what it is sent."""
        headers = [(SIGN_IN_HEADER.lower().encode(), key.encode())]
        headers += [(TABS_HEADER.lower().encode(), forged.encode())] if forged else []
        inbox, outbox = asyncio.Queue[Any](), list[Any]()

        async def send(message: Any) -> None:
            outbox.append(message)

        scope = {"type": "websocket", "headers": headers, "client": client}
        task = asyncio.create_task(self.middleware(scope, inbox.get, send))  # type: ignore[arg-type]
        inbox.put_nowait({"type": "websocket.connect"})
        while not outbox:
            await asyncio.sleep(0.01)
        return task, inbox, outbox

    async def opened(self, n: int, key: str = "none", client: tuple[str, int] = HERE) -> list[str]:
        """Opens so many tabs; of each "drawn", "told" or "refused"."""
        found = []
        for _ in range(n):
            n_passed = len(self.passed)
            _, _, sent = await self.open(key, client)
            refused = sent[0] == {"type": "websocket.close", "code": TRY_LATER}
            found.append("refused" if refused else "told" if TABS_HEADER.lower() in self.passed[-1] else "drawn")
            assert len(self.passed) == n_passed + (not refused)
        return found


def test_the_tabs_of_a_member_are_counted_together_and_no_others_with_them(membership: Membership) -> None:
    async def visit() -> None:
        browser = Browser(membership, 2)
        first, inbox, _ = await browser.open("a1")
        assert await browser.opened(4, "a2") == ["drawn", "told", "told", "refused"]  # signed in again
        assert browser.passed[-1][TABS_HEADER.lower()] == "2"
        assert await browser.opened(1, "b1") == ["drawn"] == await browser.opened(1)
        inbox.put_nowait({"type": "websocket.disconnect"})
        await first
        assert await browser.opened(2, "a1") == ["told", "refused"]
        assert set(browser.middleware._open.values()) == {4, 1}

    finished(visit())


def test_a_closed_tab_makes_room(membership: Membership) -> None:
    async def visit() -> None:
        browser = Browser(membership, 1)
        for _ in range(3):
            task, inbox, _ = await browser.open("a1", forged="99")
            assert TABS_HEADER.lower() not in browser.passed[-1]
            inbox.put_nowait({"type": "websocket.disconnect"})
            await task
        await asyncio.sleep(0.05)
        assert not browser.middleware._open and not browser.middleware._sent

    finished(visit())


def test_who_has_not_signed_in_is_counted_by_address(membership: Membership) -> None:
    async def visit() -> None:
        browser = Browser(membership, 1)
        here = await browser.opened(2 * ANONYMOUS + 1, "of nobody")
        assert here == ["drawn"] * ANONYMOUS + ["told"] * ANONYMOUS + ["refused"]
        assert await browser.opened(1, client=THERE) == ["drawn"] == await browser.opened(1, "a1")

    finished(visit())


def test_only_a_member_sends_much_at_once(membership: Membership) -> None:
    async def visit() -> None:
        browser = Browser(membership, 1)
        for key, closed in (("a1", False), ("a1", True), ("none", True)):  # the second is one too many
            task, inbox, sent = await browser.open(key)
            inbox.put_nowait({"type": "websocket.receive", "bytes": bytes(SMALL)})
            inbox.put_nowait({"type": "websocket.receive", "bytes": bytes(SMALL + 1)})
            while not inbox.empty():
                await asyncio.sleep(0.01)
            if closed:
                await task
            assert (sent[-1] == {"type": "websocket.close", "code": TOO_BIG}) == closed
        assert browser.received.count(SMALL) == 3 and browser.received.count(SMALL + 1) == 1

    finished(visit())


def test_what_all_tabs_of_a_member_send_is_bounded(membership: Membership, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tab_bounds, "MOST_SENT", 4 * SMALL)

    async def visit() -> None:
        browser = Browser(membership, 9)

        async def sends(tab: tuple[Any, Any, Any], n_bytes: int) -> bool:
            tab[1].put_nowait({"type": "websocket.receive", "bytes": bytes(n_bytes)})
            while not tab[1].empty():
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.01)
            return bool(tab[2][-1] != {"type": "websocket.close", "code": TOO_BIG})

        first, second, of_ben = await browser.open("a1"), await browser.open("a2"), await browser.open("b1")
        assert [await sends(first, 3 * SMALL) for _ in range(3)] == [True] * 3  # the same again, in place of the former
        assert await sends(second, SMALL) and await sends(of_ben, 3 * SMALL)
        assert not await sends(second, 2 * SMALL)
        await second[0]
        await asyncio.sleep(0.05)
        assert await sends(first, 4 * SMALL) and browser.middleware._sent.total() == 7 * SMALL
        first[1].put_nowait({"type": "websocket.disconnect"})
        await first[0]
        assert not await sends(
            await browser.open("a1"), 2 * SMALL
        )  # Streamlit has what the closed tab sent for some time

    finished(visit())


@contextmanager
def served(app: Any) -> Iterator[int]:
    """The port of a server of websockets such as Streamlit starts one."""
    config = uvicorn.Config(app, port=0, ws="websockets-sansio", ws_max_size=2**28, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    yield int(server.servers[0].sockets[0].getsockname()[1])
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize(("key", "largest"), [("a1", LARGEST), ("none", SMALL)])
def test_a_message_is_refused_by_its_length_before_it_is_received(
    membership: Membership, key: str, largest: int
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            await send({"type": "websocket.send", "text": "received"})

    behind_sign_in = MessageBounds(TabBounds(app, lambda: membership, lambda: 9))
    with served(behind_sign_in) as port:
        for n_bytes, closed in ((largest, False), (largest + 1, True)):
            with connect(f"ws://127.0.0.1:{port}/", additional_headers={SIGN_IN_HEADER: key}) as tab:
                if not closed:
                    tab.send(bytes(n_bytes))
                    assert tab.recv(60) == "received"
                    continue
                tab.socket.sendall(b"\x82\xff" + n_bytes.to_bytes(8, "big") + bytes(4))  # and nothing of it
                with pytest.raises(ConnectionClosedError, match="1009"):
                    tab.recv(5)


def test_without_a_bound_or_while_the_engine_is_away_every_tab_is_drawn(membership: Membership) -> None:
    async def visit() -> None:
        assert await Browser(membership, None).opened(5, "a1") == ["drawn"] * 5
        browser = Browser(membership, 1)
        browser.middleware._membership = lambda: (_ for _ in ()).throw(RunError("away"))
        assert await browser.opened(5, "a1") == ["drawn"] * 5
        assert await Browser(None, 2).opened(4) == ["drawn", "drawn", "told", "told"]

    finished(visit())


def test_a_tab_too_many_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> None:
        import streamlit as st

        from dashboard.shared import session
        from engine.errors import EngineError

        try:
            st.text(session.viewer().id)
        except EngineError as error:
            st.text(f"{type(error).__name__}: {error}")

    monkeypatch.setattr(type(st.context), "headers", property(lambda _: {TABS_HEADER: "50"}))
    monkeypatch.setattr(session, "engine", lambda: SimpleNamespace(membership=None))
    app = AppTest.from_function(page).run()
    assert not app.exception
    assert app.text[0].value.startswith("RunError: Too many tabs of this instance are open: it draws 50 of one user")
