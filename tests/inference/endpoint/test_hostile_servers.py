"""What a server may send instead of log-probabilities: refused in words, bounded in size and time, without the key."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from engine.errors import EngineError, ModelError, RunError
from engine.inference.endpoint import client
from engine.inference.endpoint.endpoints import WithEndpoints
from engine.inference.endpoint.settings import Endpoint
from engine.inference.gateway import Gateway, GatewaySession
from tests.inference.endpoint.completions_server import KEY, SERVED, Served, completions_server, send_bytes, send_json
from tests.support import tiny_models
from tests.support.in_process import InProcess

NAME = "endpoint/x"
TEXTS = ["The cat sleeps.", "She will go.", "He bought three books."]
Misbehaviour = Callable[[BaseHTTPRequestHandler, dict[str, Any] | None], bool]
Change = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.gpt2_byte_level(tmp_path_factory.mktemp("models") / "bytes")


@contextmanager
def served(model: Path, *, timeout: float = 20.0, **abilities: Any) -> Iterator[tuple[Served, GatewaySession]]:
    with completions_server(model, key=KEY, **abilities) as server:
        endpoint = Endpoint("x", server.address, SERVED, key=KEY, timeout=timeout)
        backend = WithEndpoints(InProcess(), {NAME: endpoint}, first_pause=0.01)
        try:
            yield server, Gateway(backend, None).session("run")
        finally:
            backend.close()


def scored(session: GatewaySession, texts: list[str] = TEXTS) -> list[dict[str, Any]]:
    return session.token_log_likelihoods(NAME, texts, scoring="causal")


def replying(status: int, content: bytes, media_type: str = "application/json", **headers: str) -> Misbehaviour:
    def misbehave(handler: BaseHTTPRequestHandler, body: Mapping[str, Any] | None) -> bool:
        if body is not None:
            send_bytes(handler, status, content, media_type, **headers)
        return body is not None

    return misbehave


HTML = b"<html><body>Welcome to nginx</body></html>"


@pytest.mark.parametrize(
    ("misbehave", "error", "says"),
    [
        (replying(200, HTML, "text/html"), RunError, "its reply (status 200) is no JSON"),
        (replying(200, b"[" * 100_000), RunError, "is no JSON"),
        (replying(200, b"{}"), ModelError, "returns no log-probabilities of the prompt"),
        (replying(200, b"[]"), ModelError, "returns no log-probabilities of the prompt"),
        (replying(200, b"null"), ModelError, "--logits_all true"),
        (replying(200, b'{"choices": [{"index": 0}, {"index": 0}]}'), ModelError, "not numbered as the prompts are"),
        (replying(200, b'{"choices": {"0": 1}}'), ModelError, "no choices for 2 prompts"),
        (replying(302, b"", Location="http://169.254.169.254/latest"), ModelError, "redirects to another address"),
        (replying(307, b"", Location="/v1/completions"), ModelError, "redirects to another address"),
        (replying(401, KEY.encode()), ModelError, "refuses the request (status 401)"),
        (replying(403, b"{}"), ModelError, "valid API key"),
        (
            replying(400, json.dumps({"error": {"message": f"Bearer {KEY} may not\n echo"}}).encode()),
            ModelError,
            "Bearer *** may not echo",
        ),
        (replying(404, b'{"detail": "Not Found"}'), ModelError, "status 404, Not Found"),
        (replying(500, json.dumps({"message": KEY}).encode()), ModelError, "status 500, ***"),
        (replying(503, json.dumps({"message": KEY}).encode()), RunError, "in 6 tries: status 503, ***"),
        (replying(429, b"", Retry_After="0"), RunError, "in 6 tries: status 429"),
        (replying(200, b"\x1f\x8b", Content_Encoding="gzip"), RunError, "compressed"),
    ],
)
def test_what_is_no_reply_is_refused_in_words(
    model: Path, misbehave: Misbehaviour, error: type[EngineError], says: str
) -> None:
    with served(model, misbehave=misbehave) as (_, session), pytest.raises(error) as caught:
        session.describe(NAME)
    assert says in str(caught.value) and NAME in str(caught.value)
    assert KEY not in str(caught.value) and KEY not in repr(caught.value)


def test_a_server_that_is_not_there(model: Path) -> None:
    with completions_server(model) as server:
        address = server.address
    backend = WithEndpoints(InProcess(), {NAME: Endpoint("x", address, SERVED, key=KEY)}, first_pause=0.001)
    try:
        with pytest.raises(RunError, match=r"gave no usable reply in 6 tries: .*run it again when the server answers"):
            Gateway(backend, None).session("run").describe(NAME)
    finally:
        backend.close()


def test_redirects_are_not_followed(model: Path) -> None:
    with (
        completions_server(model) as elsewhere,
        served(model, misbehave=replying(307, b"", Location=f"{elsewhere.address}/completions")) as (_, session),
    ):
        with pytest.raises(ModelError, match="redirects"):
            session.describe(NAME)
        assert elsewhere.bodies == []


def test_a_huge_reply_is_read_only_in_part(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MOST_BYTES", 2**20)
    sent = 0

    def endless(handler: BaseHTTPRequestHandler, body: Mapping[str, Any] | None) -> bool:
        nonlocal sent
        if body is None:
            return False
        handler.send_response(200)
        handler.end_headers()
        handler.close_connection = True
        try:
            while sent < 2**28:
                sent += handler.wfile.write(b" " * 2**16)
        except OSError:  # the client hung up
            pass
        return True

    with served(model, misbehave=endless) as (_, session), pytest.raises(RunError, match="more than 1 MiB"):
        session.describe(NAME)
    assert sent < 2**26


@pytest.mark.parametrize("of_headers", [False, True])
def test_a_reply_that_drips_is_given_up(model: Path, monkeypatch: pytest.MonkeyPatch, of_headers: bool) -> None:
    monkeypatch.setattr(client, "TRIES", 2)

    def drip(handler: BaseHTTPRequestHandler, body: Mapping[str, Any] | None) -> bool:
        if body is None:
            return False
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + (b"" if of_headers else b"Content-Length: 1000\r\n\r\n"))
        try:
            for _ in range(200):
                handler.wfile.write(b"X: y\r\n" if of_headers else b" ")
                handler.wfile.flush()
                time.sleep(0.05)
        except OSError:
            pass
        return True

    with served(model, misbehave=drip, timeout=0.6) as (_, session):
        start = time.monotonic()
        with pytest.raises(RunError, match=r"no complete reply within 0.6 s"):
            session.describe(NAME)
        assert time.monotonic() - start < 8  # 2 tries of 0.6 s; each drip would take 10 s


def test_a_busy_server_is_asked_again(model: Path) -> None:
    refusals = iter([503, 429, 502])

    def busy(handler: BaseHTTPRequestHandler, body: Mapping[str, Any] | None) -> bool:
        status = next(refusals, None) if body is not None else None
        if status:
            send_json(handler, status, {"error": "busy"})
        return status is not None

    with served(model, misbehave=busy) as (_, session):
        pieces = scored(session)
    assert not any("excluded" in piece for piece in pieces)


def after_trial(change: Callable[[dict[str, Any]], None]) -> Change:
    """Change the choices whose tokens begin with those of TEXTS[1]."""

    def changed(reply: dict[str, Any]) -> dict[str, Any]:
        for choice in reply["choices"]:
            if choice["logprobs"] and "".join(choice["logprobs"]["tokens"]).startswith(TEXTS[1]):
                change(choice)
        return reply

    return changed


def with_value(value: object) -> Callable[[dict[str, Any]], None]:
    return lambda choice: choice["logprobs"]["token_logprobs"].__setitem__(2, value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (with_value(None), "a token has no log-probability"),
        (with_value(math.nan), "log-probability nan"),
        (with_value(-math.inf), "log-probability -inf"),
        (with_value(-9999.0), "which stands for a probability of 0"),
        (with_value(0.5), "0.5, above 0"),
        (with_value("-1.0"), "a log-probability is no number"),
        (with_value(True), "a log-probability is no number"),
        (with_value(-(10**400)), "a log-probability is no number"),
        (with_value([1]), "a log-probability is no number"),
        (lambda choice: choice["logprobs"]["tokens"].__setitem__(1, 7), "a token is no text"),
        (lambda choice: choice["logprobs"]["tokens"].__setitem__(1, "another"), "do not join to the sentence"),
        (lambda choice: choice["logprobs"]["tokens"].pop(), "tokens and"),
        (lambda choice: [choice["logprobs"][name].pop() for name in ("tokens", "token_logprobs")], "tokens of the"),
        (
            lambda choice: choice["logprobs"].update(tokens=["a"] * 5000, token_logprobs=[-1.0] * 5000),
            "it holds 4999 tokens",
        ),
        (lambda choice: choice.update(logprobs=None), "logprobs is missing"),
        (lambda choice: choice.update(logprobs=[]), "logprobs is no object"),
    ],
)
def test_a_sentence_whose_numbers_are_none_is_left_out_and_no_other(
    model: Path, change: Callable[[dict[str, Any]], None], says: str
) -> None:
    with served(model, change=after_trial(change)) as (server, session):
        pieces = scored(session)
        assert [TEXTS[1]] in [body["prompt"] for body in server.bodies]  # asked for once more, alone
    assert ["excluded" in piece for piece in pieces] == [False, True, False]
    assert pieces[1]["excluded"].startswith("The server's reply cannot be used: ") and says in pieces[1]["excluded"]


def test_a_fault_that_passes_leaves_nothing_out(model: Path) -> None:
    """A reply that is wrong in a batch is asked for again alone, and is right then."""
    faults = iter([None])

    def once(choice: dict[str, Any]) -> None:
        if next(faults, 0) is None:
            choice["logprobs"]["token_logprobs"][2] = math.nan

    with served(model, change=after_trial(once)) as (_, session):
        assert not any("excluded" in piece for piece in scored(session))


def test_a_server_that_answers_otherwise_than_in_its_trial_fails_the_run_and_leaves_nothing_out(model: Path) -> None:
    """As after a restart with other options: no sentence of it is kept as one that cannot be scored."""

    def without(reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "choices": [{**choice, "logprobs": None} for choice in reply["choices"]]}

    for misbehave, change in ((replying(404, b'{"message": "no such model"}'), None), (None, without)):
        with served(model) as (server, session):
            assert not any("excluded" in piece for piece in scored(session))
            server.misbehave = misbehave or server.misbehave
            server.change = change or server.change
            for texts in (["Another one."], ["Two others.", "And one more."]):
                with pytest.raises(RunError, match="no longer answers as it did when it was tried"):
                    scored(session, texts)


@pytest.mark.parametrize("listed", [b"<html>", b"[]", b'{"data": 7}', b'{"data": [{"id": 7}, 8]}', b"null"])
def test_a_list_of_models_that_says_nothing_is_no_hindrance(model: Path, listed: bytes) -> None:
    def odd(handler: BaseHTTPRequestHandler, body: Mapping[str, Any] | None) -> bool:
        if body is None:
            send_bytes(handler, 200 if listed != b"<html>" else 404, listed, "text/html")
        return body is None

    with served(model, misbehave=odd) as (_, session):
        facts = session.describe(NAME)
    assert facts.endpoint is not None and facts.endpoint.reported == {} and facts.endpoint.version == ""


def test_a_model_that_is_not_served_is_named(model: Path) -> None:
    def others(handler: BaseHTTPRequestHandler, body: Mapping[str, Any] | None) -> bool:
        if body is None:
            send_json(handler, 200, {"data": [{"id": f"org/other\n{KEY}"}]})
        return body is None

    with (
        served(model, misbehave=others) as (_, session),
        pytest.raises(ModelError, match=r"serves no model 'org/served'; it serves org/other \*\*\*\."),
    ):
        session.describe(NAME)


def test_what_a_server_reports_is_bounded(model: Path) -> None:
    def much(handler: BaseHTTPRequestHandler, body: Mapping[str, Any] | None) -> bool:
        if body is None:
            send_json(
                handler,
                200,
                {
                    "version": "9" * 10**5,
                    "data": [
                        {
                            "id": SERVED,
                            "root": "r" * 10**5,
                            "meta": {str(i): "x" * 1000 for i in range(500)} | {"a": {"b": 1}},
                            "max_model_len": 10**30,
                            "secret": "no",
                        }
                    ],
                },
            )
        return body is None

    with served(model, misbehave=much) as (_, session):
        endpoint = session.describe(NAME).endpoint
    assert endpoint is not None and len(json.dumps(endpoint.reported)) < 8000 and len(endpoint.version) < 210
    assert set(endpoint.reported) == {"id", "root", "meta"}
