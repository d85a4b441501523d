"""The operator's port: `/healthz` and `/metrics`, and nothing else. The port of the pages has neither.

A server of its own in threads: it answers while the pages' event loop is busy.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6
from threading import Thread

from prometheus_client import CONTENT_TYPE_LATEST

from engine.errors import EngineError, InputError, reason_of
from engine.messages.message import Message
from engine.runs.open import Engine
from engine.runs.operation.health import health
from engine.runs.operation.metrics import exposition

PORT_VARIABLE, ADDRESS_VARIABLE = "HAKARI_OPERATOR_PORT", "HAKARI_OPERATOR_ADDRESS"
DEFAULT_ADDRESS = "127.0.0.1"
REQUEST_SECONDS = 10.0  # after which a client that sends nothing is dropped


class OperatorServer(ThreadingHTTPServer):
    """Answers with the state of the engine. engine: called for each request; more_metrics: text beside the engine's."""

    daemon_threads = True

    def __init__(
        self, address: str, port: int, engine: Callable[[], Engine], more_metrics: Callable[[], str] = lambda: ""
    ) -> None:
        self.address_family = AF_INET6 if ":" in address else AF_INET
        self.engine = engine
        self.more_metrics = more_metrics
        super().__init__((address, port), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: OperatorServer
    timeout = REQUEST_SECONDS
    server_version, sys_version = "Hakari", ""

    def do_GET(self) -> None:
        """Answer the two paths."""
        answers = {"/healthz": self._health, "/metrics": self._metrics}
        answer = answers.get(self.path.partition("?")[0])
        if answer is None:
            self._send(404, "text/plain; charset=utf-8", b"Not Found")  # untranslated
        else:
            self._send(*answer())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the log is for what happens to runs."""

    def _health(self) -> tuple[int, str, bytes]:
        """200 when every part is well, else 503; the body says what is wrong."""
        try:
            state = health(self.server.engine())
            body = {"ok": state.ok, **state.parts, **({"notices": list(state.notices)} if state.notices else {})}
        except EngineError as error:
            body = {"ok": False, "engine": str(error)}
        return (200 if body["ok"] else 503), "application/json", json.dumps(body, ensure_ascii=False).encode()

    def _metrics(self) -> tuple[int, str, bytes]:
        """The metrics in Prometheus' text format."""
        try:
            return 200, CONTENT_TYPE_LATEST, exposition(self.server.engine()) + self.server.more_metrics().encode()
        except EngineError as error:
            reason = " ".join(str(error).split())
            return 503, "text/plain; charset=utf-8", f"# {reason}\n".encode()  # untranslated

    def _send(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def operator_port(
    engine: Callable[[], Engine],
    more_metrics: Callable[[], str] = lambda: "",
    environment: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Serve the operator's port while the block runs, where HAKARI_OPERATOR_PORT names one.

    Raises InputError for an invalid port or address, and one that is taken.
    """
    address_and_port = operator_address(os.environ if environment is None else environment)
    if address_and_port is None:
        yield
        return
    try:
        server = OperatorServer(*address_and_port, engine, more_metrics)
    except OSError as error:
        raise InputError(
            Message(
                "The operator's port {address_and_port} ({PORT_VARIABLE}) cannot be opened: {error}. "
                "Choose another one.",
                address_and_port=":".join(map(str, address_and_port)),
                PORT_VARIABLE=PORT_VARIABLE,
                error=reason_of(error),
            )
        ) from error
    thread = Thread(target=server.serve_forever, name="operator-port", daemon=True)  # untranslated
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def operator_address(environment: Mapping[str, str]) -> tuple[str, int] | None:
    """Address and port of HAKARI_OPERATOR_ADDRESS and HAKARI_OPERATOR_PORT; None where no port is set.

    >>> operator_address({"HAKARI_OPERATOR_PORT": "8502"}), operator_address({})
    (('127.0.0.1', 8502), None)
    """
    text = environment.get(PORT_VARIABLE, "").strip()
    if not text:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise InputError(
            Message(
                "{PORT_VARIABLE} is the number of a port, 1 to 65535; got {text!r}.",
                PORT_VARIABLE=PORT_VARIABLE,
                text=text,
            )
        )
    return environment.get(ADDRESS_VARIABLE, "").strip() or DEFAULT_ADDRESS, int(text)
