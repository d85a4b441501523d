"""A model behind a server gives what the same directory gives here, in every style of reply."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import InputError, ModelError
from engine.inference.endpoint.endpoints import WithEndpoints
from engine.inference.endpoint.settings import Endpoint
from engine.inference.gateway import Gateway, GatewaySession
from tests.inference.endpoint.completions_server import KEY, SERVED, Served, completions_server
from tests.support import tiny_models
from tests.support.in_process import InProcess

NAME = "endpoint/x"
TEXTS = [*tiny_models.JAPANESE, *tiny_models.ENGLISH, "量子", "１㌔走った", "a"]
EOT = "<|endoftext|>"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A byte-level GPT-2, before whose texts nothing stands, and a Unigram one, before whose texts <s> stands."""
    folder = tmp_path_factory.mktemp("models")
    return {"bytes": tiny_models.gpt2_byte_level(folder / "bytes"), "unigram": tiny_models.gpt2_unigram(folder / "uni")}


@contextmanager
def served(model: Path, *, bos: str = "", **abilities: Any) -> Iterator[tuple[Served, GatewaySession]]:
    with completions_server(model, **abilities) as server:
        endpoint = Endpoint("x", server.address, SERVED, key=server.key, bos=bos)
        backend = WithEndpoints(InProcess(), {NAME: endpoint}, first_pause=0.01)
        try:
            yield server, Gateway(backend, None).session("run")
        finally:
            backend.close()


def scored(session: GatewaySession, model: str, texts: list[str] = TEXTS, **settings: Any) -> list[dict[str, Any]]:
    return session.token_log_likelihoods(model, texts, scoring="causal", **settings)


def require_equal(served_pieces: list[dict[str, Any]], local_pieces: list[dict[str, Any]], *, ids: bool) -> None:
    n_scored = 0
    for text, piece, local in zip(TEXTS, served_pieces, local_pieces, strict=True):
        assert ("excluded" in piece) == ("excluded" in local), (text, piece, local)
        if "excluded" in piece:
            continue
        n_scored += len(local["ids"])
        # float32 of the same weights: other batches round otherwise.
        np.testing.assert_allclose(piece["log_likelihoods"], local["log_likelihoods"], atol=1e-4, err_msg=text)
        assert piece["log_likelihoods"].dtype == np.float32
        assert len(piece["tokens"]) == len(piece["ids"]) == len(piece["spans"]) == len(local["ids"])
        assert piece["n_unknown"] == local["n_unknown"]
        assert len(piece["read_ids"]) >= len(piece["ids"])
        if ids:
            assert piece["ids"].tolist() == local["ids"].tolist()
    assert n_scored > 50


STYLES: list[dict[str, Any]] = [
    {"styles": ("tokens",), "ids": True},
    {"styles": ("tokens",), "strict": True},
    {"styles": ("tokens",), "strict": True, "least_tokens": 1, "lists": False, "status_of_lists": 500},
    {"styles": ("tokens",), "most_tokens": 0, "lists": False},
    {"styles": ("content",), "strict": True},
    {"styles": ("content",), "most_tokens": 0},
    {"styles": ("prompt_logprobs",)},
    {"styles": ("prompt_logprobs",), "ids": True, "lists": False},
]


@pytest.mark.parametrize("abilities", STYLES, ids=str)
@pytest.mark.parametrize(
    ("model", "bos", "prefix", "local_prefix"),
    [
        ("bytes", "", "auto", "none"),
        ("bytes", EOT, "auto", "auto"),
        ("bytes", EOT, "none", "none"),
        ("unigram", "", "auto", "auto"),
        ("unigram", "<s>", "bos", "bos"),
    ],
)
def test_log_likelihoods_are_those_of_the_directory(
    models: dict[str, Path], model: str, bos: str, prefix: str, local_prefix: str, abilities: dict[str, Any]
) -> None:
    with served(models[model], bos=bos, key=KEY, **abilities) as (server, session):
        pieces = scored(session, NAME, prefix=prefix)
        local = scored(session, str(models[model]), prefix=local_prefix)
        facts = session.describe(NAME)
        n_first = len(server.bodies)
    require_equal(pieces, local, ids="ids" in abilities and not abilities.get("strict"))
    assert facts.endpoint is not None and facts.endpoint.reply == abilities["styles"][0]
    assert facts.endpoint.host == server.address.split("/")[2] and facts.endpoint.model == SERVED
    assert facts.endpoint.version == "0.99.1" and facts.endpoint.reported["max_model_len"] == 64
    # The trial, and then one request for all texts where the server takes lists.
    assert n_first <= 45 if abilities.get("lists", True) else n_first > len(TEXTS)


@pytest.mark.parametrize("space", [False, True])
def test_a_space_before_each_sentence_moves_no_span(models: dict[str, Path], space: bool) -> None:
    with served(models["bytes"]) as (_, session):
        pieces = scored(session, NAME, list(tiny_models.ENGLISH), leading_space=space)
        local = scored(session, str(models["bytes"]), list(tiny_models.ENGLISH), leading_space=space, prefix="none")
    for piece, expected in zip(pieces, local, strict=True):
        np.testing.assert_allclose(piece["log_likelihoods"], expected["log_likelihoods"], atol=1e-4)
        assert piece["spans"].tolist() == expected["spans"].tolist()


@pytest.mark.parametrize(("style", "named"), [("tokens", ("<s>",)), ("prompt_logprobs", ("<special token>",))])
def test_what_the_server_puts_before_a_text_is_found_out(
    models: dict[str, Path], style: str, named: tuple[str, ...]
) -> None:
    with served(models["unigram"], styles=(style,)) as (_, session):
        facts = session.describe(NAME)
    assert facts.opening == named and facts.has_bos and facts.bos_token == named[0]
    with served(models["bytes"], styles=(style,)) as (_, session):
        facts = session.describe(NAME)
    assert facts.opening == () and not facts.has_bos


def test_an_opening_is_left_out_where_the_server_can(models: dict[str, Path]) -> None:
    with served(models["unigram"]) as (server, session):
        pieces = scored(session, NAME, prefix="none")
        assert server.bodies[-1]["add_special_tokens"] is False
        require_equal(pieces, scored(session, str(models["unigram"]), prefix="none"), ids=False)
    with served(models["unigram"], strict=True) as (_, session), pytest.raises(InputError, match="cannot be told not"):
        scored(session, NAME, prefix="none")


@pytest.mark.parametrize(
    ("model", "bos", "says"),
    [("bytes", "<bos>", "does not read bos=<bos> as one token"), ("unigram", "</s>", "itself puts <s> before a text")],
)
def test_a_bos_that_does_not_fit_is_refused(models: dict[str, Path], model: str, bos: str, says: str) -> None:
    with served(models[model], bos=bos) as (_, session), pytest.raises(ModelError, match=says):
        session.describe(NAME)


def test_numbers_of_other_positions_are_found_out(models: dict[str, Path]) -> None:
    """A server whose log-probabilities of the prompt are one position off is not believed."""
    with (
        served(models["bytes"], shifted=True) as (_, session),
        pytest.raises(ModelError, match="are not those of the model"),
    ):
        session.describe(NAME)


def test_a_text_that_is_too_long_is_left_out_alone(models: dict[str, Path]) -> None:
    texts = ["短い。", "長い" * 60, "The cat.", "もっと長い" * 40, "a cat"]
    with served(models["bytes"]) as (_, session):
        pieces = scored(session, NAME, texts)
    assert ["excluded" in piece for piece in pieces] == [False, True, False, True, False]
    assert "maximum context length is 64 tokens" in pieces[1]["excluded"]


def test_a_text_that_spells_the_bos_is_left_out(models: dict[str, Path]) -> None:
    with served(models["bytes"], bos=EOT) as (_, session):
        pieces = scored(session, NAME, ["The cat.", f"The {EOT} cat."])
    assert "excluded" not in pieces[0] and f"It spells {EOT}" in pieces[1]["excluded"]


def test_equal_texts_and_their_tokens_are_told_apart_without_ids(models: dict[str, Path]) -> None:
    """量 and 重 are other tokens although the server shows both as parts of a character."""
    with served(models["bytes"], strict=True) as (_, session):
        first, second = scored(session, NAME, ["the 量", "the 重"])
        again = scored(session, NAME, ["the 量"])[0]
    assert first["read_ids"].tolist() == again["read_ids"].tolist() != second["read_ids"].tolist()
