"""How many tabs somebody has open: each holds memory of the server, whether it is looked at or not.

The tabs of a member are counted together. Where nobody has signed in, those of an address are, ANONYMOUS times as many,
because a team may come from one. A tab too many is told so in place of its page, and as many again are let in for that;
beyond them the connection is refused.

What a browser sends is kept as long as the tab, and some minutes longer: what was typed and chosen, and the address. A tab
too many, and one of nobody who has signed in, sends SMALL bytes at once; the largest that all tabs of a member have sent are
MOST_SENT together. A message is refused by the length that it announces: else the server would hold it until it is whole.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.shared.session import SIGN_IN_HEADER, TABS_HEADER
from engine.errors import EngineError
from engine.runs.access.membership import Membership

ANONYMOUS = 10
SMALL, MOST_SENT = 2**18, 2**27
CLOSED_SECONDS = 180.0  # for so long Streamlit keeps what a closed tab had
LARGEST = 25_000_000  # of a message, as Streamlit takes it
BOUND = "hakari.largest_message"  # of a scope: a function that sets the largest message of its page
TRY_LATER, TOO_BIG = 1013, 1009  # codes of a websocket that is closed


@dataclass(frozen=True)
class Sender:
    """Whose tab it is, told apart from others; the most tabs of theirs; is_known: whether a member has signed in."""

    id: str
    most: int
    is_known: bool


class MessageBounds:
    """Lets the middleware behind it bound the messages of a page. The first of all: it asks uvicorn's own `receive`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on."""
        if scope["type"] == "websocket":
            scope = {**scope, BOUND: partial(_bound_messages, receive)}
        await self._app(scope, receive, send)


def _bound_messages(receive: Receive, n_bytes: int) -> None:
    # uvicorn's protocol, whose method `receive` is, and in it that of the package websockets
    protocol: Any = getattr(getattr(receive, "__self__", None), "conn", None)
    if hasattr(protocol, "max_message_size"):
        protocol.max_message_size = n_bytes


class TabBounds:
    """Passes a page on while its sender has few enough open; after `SignInCookies`.

    membership: called at each page; None where nobody signs in. most: the tabs of one user; None for no bound.
    """

    def __init__(
        self, app: ASGIApp, membership: Callable[[], Membership | None], most: Callable[[], int | None]
    ) -> None:
        self._app, self._membership, self._most = app, membership, most
        self._open: Counter[str] = Counter()
        self._sent: Counter[str] = Counter()  # bytes: the largest message of each tab

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a page on, with the bound in a header where it is one too many, or refuse it."""
        sender = await asyncio.to_thread(self._sender, scope) if scope["type"] == "websocket" else None
        bound = scope.get(BOUND, lambda n_bytes: None)
        bound(LARGEST)
        if sender is None:
            await self._app(scope, receive, send)
            return
        n_open = self._open[sender.id]
        if n_open >= 2 * sender.most:
            await receive()
            await send({"type": "websocket.close", "code": TRY_LATER})
            return
        is_one_too_many = n_open >= sender.most
        headers = [pair for pair in scope["headers"] if pair[0].lower() != TABS_HEADER.lower().encode()]
        if is_one_too_many:
            headers.append((TABS_HEADER.lower().encode(), str(sender.most).encode()))
        is_small = is_one_too_many or not sender.is_known
        bound(SMALL if is_small else LARGEST)
        tab = _Tab(receive, send, sender, self._sent, is_small=is_small)
        self._open[sender.id] += 1
        try:
            await self._app({**scope, "headers": headers}, tab.receive, tab.send)
        finally:
            self._open[sender.id] -= 1
            if not self._open[sender.id]:
                del self._open[sender.id]
            seconds = CLOSED_SECONDS if tab.largest > SMALL else 0.0
            asyncio.get_running_loop().call_later(seconds, self._give_back, sender.id, tab.largest)

    def _give_back(self, sender_id: str, n_bytes: int) -> None:
        self._sent[sender_id] -= n_bytes
        if not self._sent[sender_id]:
            del self._sent[sender_id]

    def _sender(self, scope: Scope) -> Sender | None:
        try:
            most, membership = self._most(), self._membership()
            if most is None:
                return None
            member = membership.member_of(Headers(scope=scope).get(SIGN_IN_HEADER, "")) if membership else None
        except EngineError:  # every page shows it
            return None
        if member is not None:
            return Sender(member.id, most, is_known=True)
        address = (scope.get("client") or ("",))[0]
        return Sender(
            f"address:{address}", most if membership is None else most * ANONYMOUS, is_known=membership is None
        )


class _Tab:
    """What a browser sends over the websocket of one page, until that is too much: then it is closed.

    sent: the bytes of all tabs by sender, to which `largest`, those of its own largest message, are added.
    """

    def __init__(self, receive: Receive, send: Send, sender: Sender, sent: Counter[str], *, is_small: bool) -> None:
        self._receive, self._send, self._sender, self._sent, self._is_small = receive, send, sender, sent, is_small
        self.largest = 0
        self._is_closed = False

    async def receive(self) -> Message:
        """The next message of the browser, or what takes its place."""
        message = await self._receive()
        n_bytes = len(message.get("bytes") or b"")
        more = max(0, n_bytes - self.largest)
        if n_bytes > SMALL and (self._is_small or self._sent[self._sender.id] + more > MOST_SENT):
            self._is_closed = True
            await self._send({"type": "websocket.close", "code": TOO_BIG})
            return {"type": "websocket.disconnect", "code": TOO_BIG}
        self.largest += more
        self._sent[self._sender.id] += more
        return message

    async def send(self, message: Message) -> None:
        """Pass a message on to the browser, until the page is closed."""
        if not self._is_closed:
            await self._send(message)
