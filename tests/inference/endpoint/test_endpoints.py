"""The backend beside the workers: queues, cancelling, the cache, and what it passes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import AccessError, Cancelled, InputError, ModelError, RunError
from engine.inference import chunks
from engine.inference.cache import Cache
from engine.inference.endpoint.endpoints import WithEndpoints, with_endpoints
from engine.inference.endpoint.settings import ENDPOINTS, Endpoint
from engine.inference.gateway import Gateway, GatewaySession
from engine.models.sources.allowed_models import allowed_models
from engine.models.sources.model_location import locate
from engine.runs.run_key import run_key
from tests.inference.endpoint.completions_server import SERVED, Served, completions_server
from tests.support import tiny_models
from tests.support.in_process import InProcess

NAME = "endpoint/x"
TEXTS = [f"{number} {text}" for number in range(12) for text in tiny_models.ENGLISH]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.gpt2_byte_level(tmp_path_factory.mktemp("models") / "bytes")


@pytest.fixture
def server(model: Path) -> Iterator[Served]:
    with completions_server(model) as served:
        yield served


@pytest.fixture
def backend(server: Served) -> Iterator[WithEndpoints]:
    backend = WithEndpoints(InProcess(), {NAME: Endpoint("x", server.address, SERVED, requests=3)}, first_pause=0.01)
    yield backend
    backend.close()


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    cache = Cache(tmp_path / "cache.sqlite", 2**26)
    yield cache
    cache.close()


def scored(session: GatewaySession, texts: list[str] = TEXTS, **settings: Any) -> list[dict[str, Any]]:
    return session.token_log_likelihoods(NAME, texts, scoring="causal", **settings)


def test_several_requests_are_in_flight_and_answers_stand_in_order(
    server: Served, backend: WithEndpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "TOKENS_AT_ENDPOINT", 100)

    def slow(handler: BaseHTTPRequestHandler, body: Mapping[str, Any] | None) -> bool:
        # The later a sentence, the sooner its answer.
        time.sleep(0.15 if body and body["prompt"][0].startswith("0") else 0.05)
        return False

    session = Gateway(backend, None).session("run")
    session.describe(NAME)
    n_trial = len(server.bodies)
    server.misbehave = slow
    progress: list[int] = []
    session = Gateway(backend, None).session("run", on_progress=lambda done, total, label: progress.append(done))
    pieces = scored(session)
    alone = [scored(session, [text])[0] for text in TEXTS[::7]]
    for piece, expected in zip(pieces[::7], alone, strict=True):
        np.testing.assert_allclose(piece["log_likelihoods"], expected["log_likelihoods"], atol=1e-5)
    assert server.most_at_once == 3
    n_requests = len([body for body in server.bodies[n_trial:] if len(body["prompt"]) > 1])
    assert n_requests > 10
    assert max(progress) == len(TEXTS) and len(set(progress)) > 5
    assert backend.statistics.read().chunks >= n_requests


def test_what_was_scored_is_not_asked_for_again_unless_the_server_says_it_changed(
    server: Served, backend: WithEndpoints, cache: Cache
) -> None:
    scored(Gateway(backend, cache).session("first"))
    n_bodies = len(server.bodies)
    gateway = Gateway(backend, cache)  # another process
    scored(gateway.session("second"))
    assert len(server.bodies) == n_bodies
    scored(gateway.session("third"), leading_space=True)
    assert len(server.bodies) > n_bodies
    fingerprint = gateway.session("fourth").describe(NAME).fingerprint
    n_bodies, server.root = len(server.bodies), "/weights/two"
    session = gateway.session("fifth")
    scored(session)
    assert len(server.bodies) > n_bodies and session.describe(NAME).fingerprint != fingerprint
    facts = session.describe(NAME)
    assert facts.endpoint is not None and facts.endpoint.reported["root"] == "/weights/two"


def test_a_change_of_address_model_or_bos_is_another_model(server: Served, model: Path) -> None:
    fingerprints = set()
    with completions_server(model) as other:
        for endpoint in (
            Endpoint("x", server.address, SERVED),
            Endpoint("x", other.address, SERVED),
            Endpoint("x", server.address, SERVED, bos="<|endoftext|>"),
            Endpoint("x", server.address, SERVED, key="k", timeout=7.0),
        ):
            backend = WithEndpoints(InProcess(), {NAME: endpoint})
            fingerprints.add(Gateway(backend, None).session("run").describe(NAME).fingerprint)
            backend.close()
    assert len(fingerprints) == 3  # neither key nor timeout changes a number


def test_cancelling_breaks_off_what_is_in_flight(
    server: Served, backend: WithEndpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "TOKENS_AT_ENDPOINT", 100)
    gateway = Gateway(backend, None)
    gateway.session("other").describe(NAME)
    is_asked, may_answer = threading.Event(), threading.Event()

    def wait(handler: BaseHTTPRequestHandler, body: Mapping[str, Any] | None) -> bool:
        if body is not None:
            is_asked.set()
            may_answer.wait(30)
        return False

    server.misbehave = wait
    n_bodies = len(server.bodies)
    session = gateway.session("run", is_cancelled=is_asked.is_set)
    start = time.monotonic()
    with pytest.raises(Cancelled):
        scored(session)
    assert time.monotonic() - start < 10
    assert isinstance(backend._backend, InProcess) and backend._backend.cancelled == ["run"]
    server.misbehave = lambda handler, body: False
    assert len(scored(gateway.session("other"), TEXTS[:2])) == 2  # its connections are free again
    may_answer.set()
    # Three were in flight; the rest of the run's chunks never left.
    assert len(server.bodies) <= n_bodies + 3 + 1


def test_a_chunk_that_follows_a_cancelling_is_computed(backend: WithEndpoints) -> None:
    """A run that failed, or was stopped, cancels what it has; the same name may ask again at once."""
    session = Gateway(backend, None).session("run")
    request, _ = session._model(NAME)
    settings = {"scoring": "causal", "precision": "server", "prefix": [], "leading_space": False}
    for text in TEXTS[:30]:
        first = backend.run("token_log_likelihoods", {**request, "items": [text], "settings": settings}, "run")
        backend.cancel("run")
        [piece] = backend.run(
            "token_log_likelihoods", {**request, "items": [text], "settings": settings}, "run"
        ).result(20)
        assert len(piece["ids"])
        assert first.cancelled() or isinstance(first.exception(20), Cancelled | None)


def test_closing_breaks_off_and_refuses_more(server: Served, backend: WithEndpoints) -> None:
    session = Gateway(backend, None).session("run")
    session.describe(NAME)
    is_asked = threading.Event()
    may_answer = threading.Event()

    def wait(handler: BaseHTTPRequestHandler, body: Mapping[str, Any] | None) -> bool:
        is_asked.set()
        return not may_answer.wait(30)

    server.misbehave = wait
    request, _ = session._model(NAME)
    settings = {"scoring": "causal", "precision": "server", "prefix": [], "leading_space": False}
    future = backend.run("token_log_likelihoods", {**request, "items": ["a cat"], "settings": settings}, "run")
    assert is_asked.wait(10)
    backend.close()
    assert isinstance(future.exception(5), Cancelled)
    assert isinstance(backend._backend, InProcess) and backend._backend.is_closed
    with pytest.raises(RunError, match="closed"):
        backend.run("describe", {**request, "items": [""], "settings": {}}, "run")
    with pytest.raises(RunError, match="closed"):
        backend.locate(NAME)
    may_answer.set()


def test_other_models_and_questions_are_the_workers(backend: WithEndpoints, model: Path) -> None:
    session = Gateway(backend, None).session("run")
    assert session.describe(str(model)).source == "directory"
    assert (backend.devices, backend.pids(), backend.fault(), backend.workers()) == (("cpu",), [1], "of the other", ())


def test_only_probabilities_can_be_had(backend: WithEndpoints) -> None:
    session = Gateway(backend, None).session("run")
    for ask in (
        lambda: session.token_lists(NAME, ["a"]),
        lambda: session.document_counts(NAME, [["a"]]),
        lambda: session.loading_checks(NAME),
        lambda: session.tokenized(NAME, ["a"]),
        lambda: session.fill_masks(NAME, [("a", "b", "c")]),
    ):
        with pytest.raises(ModelError, match="can be evaluated on minimal pairs alone"):
            ask()
    with pytest.raises(ModelError, match="scores from left to right"):
        session.token_log_likelihoods(NAME, ["a"], scoring="pll-original")
    with pytest.raises(InputError, match=r"does not put </s> before a text"):
        facts = session.describe(NAME)
        request = {
            **session._model(NAME)[0],
            "items": ["a"],
            "settings": {"scoring": "causal", "prefix": ["</s>"], "leading_space": False},
        }
        assert facts.opening == ()
        backend.run("token_log_likelihoods", request, "run").result(10)


def test_nobody_names_an_address(backend: WithEndpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what the operator has named: another name, a revision or an address is refused without a request."""
    session = Gateway(backend, None).session("run")
    for name in ("endpoint/other", "endpoint/http://169.254.169.254/v1", "endpoint/", "endpoint/x/../y"):
        with pytest.raises(ModelError, match=r"There is no endpoint .* has named endpoint/x \(HAKARI_ENDPOINTS\)"):
            session.describe(name)
    with pytest.raises(ModelError, match="has no revisions"):
        session.describe("endpoint/x@main")
    monkeypatch.delenv(ENDPOINTS, raising=False)
    with pytest.raises(ModelError, match="has named none"):
        locate("endpoint/other")


def test_the_operators_list_is_what_is_allowed() -> None:
    for environment in ({}, {"HAKARI_ALLOWED_MODELS": "cl-tohoku/*"}):
        allowed_models(environment, hosted=True).require("endpoint/x")
    with pytest.raises(AccessError):
        allowed_models({"HAKARI_ALLOWED_MODELS": "cl-tohoku/*"}, hosted=True).require("owner/endpoint")


def test_a_run_of_another_model_behind_the_name_is_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = set()
    for value in ("x=http://h/v1 model=m", "x=http://h/v1 model=n", "x=http://i/v1 model=m"):
        monkeypatch.setenv(ENDPOINTS, value)
        keys.add(run_key("minimal-pairs", {"models": [NAME]}, "d"))
    assert len(keys) == 3


def test_the_environment_names_endpoints_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = InProcess()
    monkeypatch.delenv(ENDPOINTS, raising=False)
    assert with_endpoints(inner) is inner
    monkeypatch.setenv(ENDPOINTS, "x=http://127.0.0.1:1/v1 model=m")
    backend = with_endpoints(inner)
    assert isinstance(backend, WithEndpoints)
    backend.close()
    monkeypatch.setenv(ENDPOINTS, "x")
    inner = InProcess()
    with pytest.raises(InputError, match="NAME=ADDRESS"):
        with_endpoints(inner)
    assert inner.is_closed
