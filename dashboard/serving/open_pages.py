"""Pages that are open under a sign-in: drawn anew without it once it has ended, and then closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from starlette.types import Message, Receive, Send

from dashboard.streamlit_internals import asks_to_draw, drawing_anew, ends_drawing
from engine.errors import EngineError
from engine.runs.access.membership import Membership

CHECK_SECONDS = 2.0
RETRY_SECONDS = 30.0
DRAW_SECONDS = 6.0  # for the last drawing of a page whose sign-in has ended
CLOSED = 4401  # of a websocket whose sign-in has ended

logger = logging.getLogger("engine.dashboard.sign_in")


class OpenPages:
    """The websockets of the pages that are open under a sign-in, and who closes them. For one event loop."""

    def __init__(self) -> None:
        self._events: dict[asyncio.Event, str] = {}

    def add(self, key: str) -> asyncio.Event:
        """Register a page; the event is set when its sign-in has ended."""
        event = asyncio.Event()
        self._events[event] = key
        return event

    def remove(self, event: asyncio.Event) -> None:
        """Forget a page that was closed."""
        self._events.pop(event, None)

    async def close_ended(self, membership: Membership) -> None:
        """Close the pages whose sign-ins have ended. Raises EngineError when the database does not answer."""
        ended = await asyncio.to_thread(membership.ended, set(self._events.values()))
        for event, key in self._events.items():
            if key in ended:
                event.set()

    async def watch(self, membership: Callable[[], Membership | None]) -> None:
        """Close the pages of ended sign-ins every CHECK_SECONDS, until cancelled.

        While the engine cannot be opened or the database does not answer, and no page is open, every RETRY_SECONDS.
        """
        wait = CHECK_SECONDS
        while True:
            await asyncio.sleep(wait)
            wait = CHECK_SECONDS
            try:
                instance = await asyncio.to_thread(membership)
                if instance is not None:
                    await self.close_ended(instance)
            except EngineError:
                logger.exception("The sign-ins cannot be checked at the moment.")  # untranslated
                wait = CHECK_SECONDS if self._events else RETRY_SECONDS


class EndingPage:
    """The websocket of one page.

    Once `ended` is set, nothing that the browser sends is passed on. Streamlit is asked to draw the page once more,
    which then shows the sign-in; without that the browser would go on showing what it has. Then it is closed.
    """

    def __init__(self, receive: Receive, send: Send, ended: asyncio.Event) -> None:
        self._receive = receive
        self._send = send
        self._ended = ended
        self._drawn = asyncio.Event()
        self._last_request = b""
        self._asked = False
        self._is_closed = False

    async def receive(self) -> Message:
        """The next message of the browser, or what takes its place when the sign-in has ended."""
        if not self._ended.is_set():
            message, end = asyncio.ensure_future(self._receive()), asyncio.ensure_future(self._ended.wait())
            try:
                await asyncio.wait({message, end}, return_when=asyncio.FIRST_COMPLETED)
                if not self._ended.is_set():
                    self._remember(message.result())
                    return message.result()
            finally:
                for waiting in (message, end):
                    waiting.cancel()
        if not self._asked:
            self._asked = True
            return {"type": "websocket.receive", "bytes": drawing_anew(self._last_request)}
        try:
            await asyncio.wait_for(self._drawn.wait(), DRAW_SECONDS)
        except TimeoutError:
            logger.warning("A page whose sign-in has ended was closed before it was drawn anew.")  # untranslated
        self._is_closed = True
        await self._send({"type": "websocket.close", "code": CLOSED})
        return {"type": "websocket.disconnect", "code": CLOSED}

    async def send(self, message: Message) -> None:
        """Pass a message on to the browser, until it is closed."""
        if self._is_closed:
            return
        await self._send(message)
        if self._asked and message.get("bytes") and ends_drawing(message["bytes"]):
            self._drawn.set()

    def _remember(self, message: Message) -> None:
        """Keep what the browser last asked to be drawn: it names the page and its query."""
        sent = message.get("bytes") or b""
        if asks_to_draw(sent):
            self._last_request = sent
