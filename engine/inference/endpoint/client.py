"""Requests to one endpoint: JSON in, JSON out, with bounds on size and time, retries, and no word of the API key.

Redirects are not followed, so that a server cannot send the key or a sentence elsewhere. Certificates are verified.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from typing import Any

from engine.errors import ModelError, RunError
from engine.inference.endpoint.settings import Endpoint
from engine.messages.message import Message

TRIES = 6
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds between two tries, doubled each time
CONNECT_SECONDS = 10.0
ABOUT_SECONDS = 10.0  # for what the server says of itself
MOST_BYTES = 32 * 2**20  # of a reply; one of 2,000 tokens has about 0.3 MB
MOST_BYTES_ABOUT = 2**20
MESSAGE_CHARACTERS = 200
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 529})


class Refused(Exception):
    """The server refused this request (status 4xx), which another request may not be; the message is the server's."""

    def __init__(self, reason: str, status: int) -> None:
        super().__init__(reason)
        self.status = status


class _Unusable(Exception):
    """A reply that another try may better: the server is busy, or what came back is no JSON."""

    def __init__(self, reason: str, status: int, pause: float | None = None) -> None:
        super().__init__(reason)
        self.status, self.pause = status, pause


class Client:
    """The connections to one endpoint; belongs to one event loop."""

    def __init__(self, endpoint: Endpoint, *, first_pause: float = FIRST_PAUSE) -> None:
        import httpx2  # a tenth of a second, for which nobody without an endpoint waits

        # Not compressed: a small reply could unpack to any size.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "hakari"}
        if endpoint.key:
            headers["Authorization"] = Message("Bearer {key}", key=endpoint.key)
        self._endpoint = endpoint
        self._first_pause = first_pause
        self._http = httpx2.AsyncClient(
            headers=headers,
            follow_redirects=False,
            timeout=httpx2.Timeout(endpoint.timeout, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=endpoint.requests + 1),
        )

    async def complete(self, body: Mapping[str, Any], *, on_trial: bool = False) -> Any:
        """The reply to a completions request.

        on_trial: a status of 500 twice is a refusal, as of a server that fails at a form of request that it does not
        know. Raises Refused, ModelError for what no other request would mend, RunError after TRIES.
        """
        return await self._asked(
            "POST", f"{self._endpoint.address}/completions", body, self._endpoint.timeout, MOST_BYTES, on_trial=on_trial
        )

    async def about(self, url: str) -> Any:
        """What the server says of itself at an address of its own; None where it says nothing there (a status 4xx).

        Raises ModelError where the key or a redirect is the reason, RunError after TRIES.
        """
        try:
            return await self._asked("GET", url, None, min(ABOUT_SECONDS, self._endpoint.timeout), MOST_BYTES_ABOUT)
        except Refused:
            return None

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def without_key(self, text: str) -> str:
        """A text of the server in one line, cut, and without the API key should it hold it."""
        plain = text.replace(self._endpoint.key, "***") if self._endpoint.key else text
        line = " ".join("".join(c if c.isprintable() else " " for c in plain[: 4 * MESSAGE_CHARACTERS]).split())
        return line if len(line) <= MESSAGE_CHARACTERS else f"{line[:MESSAGE_CHARACTERS]}…"

    async def _asked(
        self,
        method: str,
        url: str,
        body: Mapping[str, Any] | None,
        seconds: float,
        most_bytes: int,
        *,
        on_trial: bool = False,
    ) -> Any:
        import httpx2

        reason = ""
        for number in range(TRIES):
            try:
                async with asyncio.timeout(seconds):  # for all of it, however slowly it drips
                    return await self._once(method, url, body, most_bytes)
            except TimeoutError:
                reason, pause = Message("no complete reply within {seconds:g} s", seconds=seconds), None
            except httpx2.TimeoutException:
                reason, pause = Message("no reply in time"), None
            except httpx2.HTTPError as error:
                reason, pause = self.without_key(str(error)) or type(error).__name__, None
            except _Unusable as error:
                if on_trial and error.status == 500 and number:
                    raise Refused(str(error), error.status) from None
                reason, pause = str(error), error.pause
            if number < TRIES - 1:
                doubled = min(self._first_pause * 2**number, LONGEST_PAUSE)
                await asyncio.sleep(
                    min(pause, LONGEST_PAUSE) if pause is not None else doubled * random.uniform(0.5, 1)
                )
        raise RunError(
            Message(
                "The server of {full_name} ({host}) gave no usable reply in {TRIES} tries: {reason}. "
                "What was computed until then is kept; run it again when the server answers.",
                full_name=self._endpoint.full_name,
                host=self._endpoint.host,
                TRIES=TRIES,
                reason=reason,
            )
        )

    async def _once(self, method: str, url: str, body: Mapping[str, Any] | None, most_bytes: int) -> Any:
        async with self._http.stream(method, url, json=body) as response:
            status = response.status_code
            if 300 <= status < 400:
                raise ModelError(
                    Message(
                        "The server of {full_name} ({host}) redirects to another address, which is "
                        "not followed. The operator names the final address.",
                        full_name=self._endpoint.full_name,
                        host=self._endpoint.host,
                    )
                )
            if status in (401, 403):
                raise ModelError(
                    Message(
                        "The server of {full_name} ({host}) refuses the request (status {status}). "
                        "The operator names the variable with a valid API key by key=.",
                        full_name=self._endpoint.full_name,
                        host=self._endpoint.host,
                        status=status,
                    )
                )
            if response.headers.get("content-encoding", "identity") != "identity":
                raise _Unusable(Message("its reply is compressed, which was not asked for"), status)
            content = bytearray()
            async for part in response.aiter_raw():
                content += part
                if len(content) > most_bytes:
                    raise RunError(
                        Message(
                            "The server of {full_name} ({host}) sent more than {most_bytes:g} MiB in "
                            "one reply, which is not read.",
                            full_name=self._endpoint.full_name,
                            host=self._endpoint.host,
                            most_bytes=most_bytes / 2**20,
                        )
                    )
        if status in _BUSY:
            raise _Unusable(self._described(status, content), status, _retry_after(response.headers.get("retry-after")))
        if status >= 400:
            raise Refused(self._described(status, content), status)
        try:
            return json.loads(bytes(content))
        except (ValueError, RecursionError):
            raise _Unusable(Message("its reply (status {status}) is no JSON", status=status), status) from None

    def _described(self, status: int, content: bytearray) -> str:
        try:
            value = json.loads(bytes(content))
            for key in ("error", "message", "detail"):
                value = value[key] if isinstance(value, dict) and key in value else value
            message = value if isinstance(value, str) else ""
        except (ValueError, RecursionError):
            message = ""
        return Message(
            "status {status}{message}", status=status, message=f", {self.without_key(message)}" if message else ""
        )


def _retry_after(header: str | None) -> float | None:
    return float(header) if header and header.isdecimal() and len(header) <= 6 else None
