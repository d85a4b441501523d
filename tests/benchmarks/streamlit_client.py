"""A visitor without a browser: speaks to the server over the same websocket and in the same messages as the pages do.

Light enough that dozens fit on a small machine, which thirty browsers do not.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import httpx
from websockets.asyncio.client import ClientConnection, connect

from tests.streamlit_internals import BackMsg, ForwardMsg, WidgetState

COOKIE = "_streamlit_xsrf"
LARGEST_MESSAGE = 2**28
OPEN_SECONDS = 300.0
KEY = re.compile(r"^\$\$(?:ID|GENERATED)-[0-9a-f]{32}-(.+)$")


class PageError(Exception):
    """A page showed an exception, or an error of its own."""


@dataclass
class Visitor:
    """One session: the widgets it sees by their keys, what it set them to, and the run that its address names.

    cookies: of the browser, which visits of the same person share. texts, metrics, tables: what the page showed since
    it was last asked for: words, numbers, and data frames as Arrow.
    """

    host: str
    page: str
    ids: dict[str, str] = field(default_factory=dict)
    states: dict[str, WidgetState] = field(default_factory=dict)
    run_id: str = ""
    session_id: str = ""
    seen_keys: set[str] = field(default_factory=set)
    page_hash: str = ""
    n_scripts: int = 0
    progress: list[tuple[float, str]] = field(default_factory=list)  # when which text of a progress bar came
    # The part of the page that wants to be drawn again, and after how many seconds; what this drawing asked for so far.
    auto_rerun: tuple[str, float] = ("", 0.0)
    next_return: tuple[str, float] = ("", 0.0)
    cookies: httpx.Cookies = field(default_factory=httpx.Cookies)
    texts: list[str] = field(default_factory=list)
    metrics: list[tuple[str, str]] = field(default_factory=list)
    tables: list[bytes] = field(default_factory=list)
    sign_in_url: str = ""

    async def connect(self) -> None:
        """Open the page."""
        self.http = httpx.AsyncClient(base_url=f"http://{self.host}", timeout=OPEN_SECONDS, cookies=self.cookies)
        await self.http.get("/_stcore/health")
        self.token = self.http.cookies[COOKIE]
        self.socket: ClientConnection = await connect(
            f"ws://{self.host}/_stcore/stream",
            subprotocols=["streamlit", self.token],  # type: ignore[list-item]
            additional_headers={"Cookie": self._sent_cookies()},
            max_size=LARGEST_MESSAGE,
            open_timeout=OPEN_SECONDS,
            origin=f"http://{self.host}",  # type: ignore[arg-type]  # without it a sign-in does not count
            ping_interval=None,
        )  # browsers send none either
        await self.rerun()

    async def close(self) -> None:
        """Close the tab."""
        await self.socket.close()
        await self.http.aclose()

    async def sign_in(self, account: str) -> None:
        """Sign in as an account of `tests.browser.provider`, from a page that asks for it; then connect anew."""
        await self.press("sign-in", until=lambda visitor: bool(visitor.sign_in_url))
        form = await self.http.get(self.sign_in_url, follow_redirects=True)
        back = await self.http.post(form.url, data={"sub": account}, follow_redirects=True)
        back.raise_for_status()
        self.cookies = httpx.Cookies(self.http.cookies)
        await self.close()

    async def toggle(self, key: str, value: bool) -> None:
        """Set a toggle."""
        self._state(key).bool_value = value
        await self.rerun()

    async def choose(self, key: str, value: str) -> None:
        """Choose one option of a segmented control."""
        state = self._state(key)
        del state.string_array_value.data[:]
        state.string_array_value.data.append(value)
        await self.rerun()

    def type(self, key: str, text: str) -> None:
        """Type a text into a field of a form; the server has it with the next press."""
        self._state(key).string_value = text

    async def upload(self, key: str, name: str, content: bytes) -> None:
        """Give a file to an uploader."""
        message = BackMsg()
        message.file_urls_request.request_id = name
        message.file_urls_request.file_names.append(name)
        message.file_urls_request.session_id = self.session_id
        await self._send(message)
        answer = await self._until(lambda got: got.WhichOneof("type") == "file_urls_response")
        urls = answer.file_urls_response.file_urls[0]
        put = await self.http.put(
            urls.upload_url,
            files={"file": (name, content)},
            headers={"X-Xsrftoken": self.token, "Cookie": self._sent_cookies()},
        )
        put.raise_for_status()
        info = self._state(key).file_uploader_state_value.uploaded_file_info.add()
        info.name, info.size, info.file_id = name, len(content), urls.file_id
        info.file_urls.CopyFrom(urls)
        await self.rerun()

    async def press(self, key: str, until: Callable[[Visitor], bool] | None = None) -> None:
        """Press a button, and read until the page is drawn, or shows what `until` waits for."""
        self._state(key).trigger_value = True
        try:
            if until is None:
                await self.rerun()
            else:
                await self._rerun()
                await self._until(lambda _: until(self))
        finally:
            del self.states[key]

    async def watch(self, done: Callable[[Visitor], bool], seconds: float) -> None:
        """Stay on the page, which redraws itself, until it shows what `done` waits for."""
        async with asyncio.timeout(seconds):
            while not done(self):
                # A page that watches a run asks its browser to come back every moment.
                fragment, interval = self.auto_rerun
                try:
                    self._take(await asyncio.wait_for(self._receive(), interval if fragment else None))
                except TimeoutError:
                    await self._rerun(fragment)

    async def rerun(self) -> None:
        """Have the page drawn with the widgets as they are set, and read all of it."""
        self.texts, self.metrics, self.tables = [], [], []
        await self._rerun()
        await self._until(
            lambda got: (
                got.WhichOneof("type") == "script_finished" and got.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
            )
        )
        self.n_scripts += 1

    async def _rerun(self, fragment: str = "") -> None:
        message = BackMsg()
        client = message.rerun_script
        client.page_name = "" if self.page_hash else self.page
        client.page_script_hash = self.page_hash
        client.query_string = f"run={self.run_id}" if self.run_id else ""
        client.fragment_id, client.is_auto_rerun = fragment, bool(fragment)
        client.widget_states.widgets.extend(self.states.values())
        await self._send(message)

    def _sent_cookies(self) -> str:
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.http.cookies.jar)

    def _state(self, key: str) -> WidgetState:
        if key not in self.ids:
            raise PageError(f"The page shows no widget {key!r}; it shows {', '.join(self.ids)}.")
        return self.states.setdefault(key, WidgetState(id=self.ids[key]))

    async def _until(self, condition: Callable[[ForwardMsg], bool]) -> ForwardMsg:
        while True:
            message = await self._receive()
            self._take(message)
            if condition(message):
                return message

    async def _send(self, message: BackMsg) -> None:
        await self.socket.send(message.SerializeToString())

    async def _receive(self) -> ForwardMsg:
        raw = await self.socket.recv()
        assert isinstance(raw, bytes)
        message = ForwardMsg()
        message.ParseFromString(raw)
        return message

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session_id = message.new_session.initialize.session_id or self.session_id
            self.next_return = ("", 0.0)
        elif kind == "navigation":
            self.page_hash = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            self.next_return = self.auto_rerun = (message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            self.auto_rerun = self.next_return  # the whole page was drawn anew, with or without such a part
        elif kind == "page_info_changed":
            self.run_id = parse_qs(message.page_info_changed.query_string).get("run", [""])[0]
        elif kind == "auth_redirect":
            self.sign_in_url = message.auth_redirect.url
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            name = element.WhichOneof("type") or ""
            if name == "progress":
                self.progress.append((time.time(), element.progress.text))
            if name == "exception":
                raise PageError(f"{element.exception.type}: {element.exception.message}")
            if name == "alert" and element.alert.format == element.alert.ERROR:
                raise PageError(element.alert.body)
            if name in ("markdown", "alert", "heading"):
                self.texts.append(getattr(element, name).body)
            elif name == "metric":
                self.metrics.append((element.metric.label, element.metric.body))
            elif name == "dataframe":
                self.tables.append(element.dataframe.arrow_data.data)
            widget_id = getattr(getattr(element, name, None), "id", "")
            if key_match := KEY.match(widget_id if isinstance(widget_id, str) else ""):
                # An uploader's key and the like may go on with what changes; the last one drawn counts.
                self.ids[key_match[1]] = widget_id
                self.seen_keys.add(key_match[1])
