"""Minimal pairs under a model behind a server: the numbers of the same directory, and all that is said of them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.__main__ import main
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError, ModelError
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.records import Result, Settings
from engine.evaluations.minimal_pairs.unigrams import with_unigrams
from engine.evaluations.minimal_pairs.views import available, scores, summary
from engine.evaluations.shared.signature import require_models
from engine.inference.endpoint.endpoints import WithEndpoints
from engine.inference.endpoint.settings import ENDPOINTS, Endpoint
from engine.inference.gateway import Gateway, GatewaySession
from tests.inference.endpoint.completions_server import KEY, SERVED, Served, completions_server
from tests.support import tiny_models
from tests.support.in_process import InProcess

NAME, EOT = "endpoint/x", "<|endoftext|>"
PAIRS = MinimalPairs.from_frame(
    pd.DataFrame(
        [
            ("The cat sleeps quietly.", "The cat sleep quietly."),
            ("猫が魚を食べた。", "猫が魚に食べた。"),
            ("He bought books.", "Him bought books."),
            ("雨が降った。", "雨を降った。"),
            ("She will go.", "She will goes."),
            ("same", "same"),
            ("長い" * 60, "短い"),
        ],
        columns=["acceptable", "unacceptable"],
    ),
    "pairs",
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.gpt2_byte_level(tmp_path_factory.mktemp("models") / "bytes")


@pytest.fixture(
    scope="module",
    params=[{"styles": ("tokens",), "ids": True}, {"styles": ("content",)}, {"styles": ("prompt_logprobs",)}],
    ids=lambda each: each["styles"][0],
)
def server(model: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    with completions_server(model, key=KEY, **request.param) as served:
        yield served


def session_for(server: Served, **fields: Any) -> Iterator[GatewaySession]:
    backend = WithEndpoints(InProcess(), {NAME: replace(Endpoint("x", server.address, SERVED, KEY), **fields)})
    yield Gateway(backend, None).session("run")
    backend.close()


@pytest.fixture(scope="module")
def session(server: Served) -> Iterator[GatewaySession]:
    yield from session_for(server, bos=EOT)


@pytest.fixture(scope="module")
def result(session: GatewaySession, model: Path) -> Result:
    return evaluate(Settings((NAME, str(model))), PAIRS, session)


def of(result: Result, model: str) -> pd.DataFrame:
    return result.pairs[result.pairs["model"] == model].reset_index(drop=True)


def test_every_number_is_that_of_the_directory(result: Result, model: Path) -> None:
    served, local = of(result, NAME), of(result, str(model))
    assert served["row"].tolist() == local["row"].tolist() == list(PAIRS.rows[:6])
    for side in ("acceptable", "unacceptable"):
        np.testing.assert_allclose(served[f"{side}_log_likelihood"], local[f"{side}_log_likelihood"], atol=1e-4)
        assert served[f"{side}_tokens"].tolist() == local[f"{side}_tokens"].tolist()
        assert served[f"{side}_unknown"].tolist() == local[f"{side}_unknown"].tolist()
    for column in ("identical", "first_token_differs"):
        assert served[column].tolist() == local[column].tolist()
    by_served, by_local = (
        summary(result, ("LP", "MeanLP", "PenLP")).query("model == @name").select_dtypes("number")
        for name in (NAME, str(model))
    )
    np.testing.assert_allclose(by_served, by_local)
    assert set(served["scored_in"]) == {"server"} and set(local["scored_in"]) == {"fp32"}
    assert served["error_bound"].isna().all()
    [reason] = result.excluded.query("model == @NAME")["reason"]
    assert "maximum context length" in reason


def test_slor_counts_tokens_only_where_the_server_tells_them_apart(result: Result, server: Served, model: Path) -> None:
    if server.styles == ("content",):  # 猫 is three tokens, all shown as parts of a character, without ids
        assert "SLOR" not in available(result.pairs)
        assert of(result, NAME)["acceptable_unigrams"].isna().all()
        assert of(result, str(model))["acceptable_unigrams"].notna().all()
        with pytest.raises(InputError, match="does not tell their tokens apart"):
            scores(result.pairs, "SLOR")
        assert any("there is no SLOR" in notice for notice in result.notices)
        return
    np.testing.assert_allclose(of(result, NAME)["acceptable_unigrams"], of(result, str(model))["acceptable_unigrams"])
    by_served, by_local = (scores(of(result, name), "SLOR")[1] for name in (NAME, str(model)))
    np.testing.assert_allclose(by_served, by_local, atol=1e-4)
    assert not any("there is no SLOR" in notice for notice in result.notices)


def test_a_served_model_is_not_scored_in_templates_and_a_notice_says_so(session: GatewaySession, model: Path) -> None:
    own = {"prompts": "own", "in_template": ("A:\n{sentence}",), "yes_no": ("{sentence}?",)}  # few tokens at most
    result = evaluate(Settings((NAME, str(model)), **own), PAIRS, session)  # type: ignore[arg-type]
    assert of(result, NAME)["acceptable_in_template"].isna().all()
    assert of(result, str(model))["acceptable_in_template"].notna().all()
    assert any(notice.startswith(f"{NAME}: only causal models that are loaded here") for notice in result.notices)


def test_slor_of_latin_text_needs_no_ids(model: Path) -> None:
    with completions_server(model, styles=("content",), key=KEY) as server:
        for session in session_for(server):
            dataset = MinimalPairs.from_frame(
                pd.DataFrame([("The cat.", "The cats.")], columns=["acceptable", "unacceptable"]), "latin"
            )
            assert "SLOR" in available(evaluate(Settings((NAME,)), dataset, session).pairs)


def test_another_corpus_of_unigrams_is_refused_in_words(result: Result, server: Served) -> None:
    if server.styles != ("content",):
        with pytest.raises(InputError, match=NAME):
            with_unigrams(result, "novel")


def test_the_signature_leads_back_to_the_server_and_holds_no_key(result: Result, server: Served) -> None:
    [described] = [entry for entry in result.signature["models"] if entry["name"] == NAME]
    endpoint = described["endpoint"]
    assert endpoint["host"] == server.address.split("/")[2] and endpoint["model"] == SERVED
    assert endpoint["version"] == "0.99.1" and endpoint["reported"]["root"] == "/weights/one"
    assert described["device"] == "server" and len(described["fingerprint"]) == 12
    assert KEY not in json.dumps([result.signature, result.rules, result.notices, result.tokenizers])
    json.dumps(result.signature)


def test_what_was_read_before_a_sentence_is_said(result: Result, server: Served) -> None:
    assert result.prefixes[NAME] == EOT
    assert f"Each sentence is read after {EOT} (BOS, sent), so its first token is scored." in result.rules[NAME]
    assert "The server computes it, in its own precision" in result.rules[NAME]
    assert any(
        notice.startswith(f"{NAME}: scored by the server at 127.0.0.1:") and "version 0.99.1" in notice
        for notice in result.notices
    )
    for session in session_for(server):
        without = evaluate(Settings((NAME,)), PAIRS, session)
    assert without.prefixes[NAME] == "" and "The first token is not scored" in without.rules[NAME]
    assert (without.pairs["acceptable_tokens"] == of(result, NAME)["acceptable_tokens"] - 1).all()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"precision": "exact-decisions"}, "cannot be asked for exact decisions"),
        ({"prefix": "eos"}, "Which token is EOS"),
        ({"prefix": "bos"}, "puts no token before a text"),
    ],
)
def test_settings_that_a_server_cannot_follow_are_refused(server: Served, settings: dict[str, Any], says: str) -> None:
    for session in session_for(server):
        with pytest.raises(InputError, match=says):
            evaluate(Settings((NAME,), **settings), PAIRS, session)


def test_the_precision_of_other_models_changes_no_number_of_a_server(result: Result, session: GatewaySession) -> None:
    again = evaluate(Settings((NAME,), precision="bf16"), PAIRS, session)
    np.testing.assert_array_equal(
        of(again, NAME)["acceptable_log_likelihood"], of(result, NAME)["acceptable_log_likelihood"]
    )


def test_no_other_evaluation_takes_an_endpoint() -> None:
    require_models((NAME,), endpoints=True)
    with pytest.raises(ModelError, match="can be evaluated on minimal pairs alone"):
        require_models(("builtin/bert-mini-ja", NAME))


def test_the_command_writes_what_the_server_says(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = tmp_path / "pairs.csv", tmp_path / "out"
    data.write_text(
        "acceptable,unacceptable\nThe cat sleeps.,The cat sleep.\n猫が鳴く。,猫を鳴く。\n", encoding="utf-8"
    )
    monkeypatch.setenv("HAKARI_DATA_DIR", str(tmp_path / "hakari"))
    monkeypatch.setenv("A_KEY", KEY)
    with completions_server(model, key=KEY) as server:
        monkeypatch.setenv(ENDPOINTS, f"x={server.address} model={SERVED} key=A_KEY")
        command = ["minimal-pairs", "--data", str(data), "--model", NAME, "--out", str(out)]
        assert main(command) == 0
        n_bodies = len(server.bodies)
        assert main(command) == 0 and len(server.bodies) <= n_bodies  # from the cache
        clusters = tmp_path / "labels.csv"
        clusters.write_text("text,label\na,x\nb,y\nc,x\nd,y\n", encoding="utf-8")
        capsys.readouterr()
        assert main(["clusters", "--data", str(clusters), "--model", NAME, "--out", str(tmp_path / "c")]) == 2
        assert "can be evaluated on minimal pairs alone" in capsys.readouterr().err
    with (out / "pairs.csv").open(encoding="utf-8", newline="") as file:
        assert [line["scored_in"] for line in csv.DictReader(file)] == ["server"] * 2
    signature = json.loads((out / "settings.json").read_text(encoding="utf-8"))
    assert signature["models"][0]["endpoint"]["model"] == SERVED
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in written


def test_conditions_have_the_numbers_of_a_run_with_that_prefix_alone(session: GatewaySession, model: Path) -> None:
    both = evaluate(Settings((NAME, str(model)), other_prefixes=("none", "eos")), PAIRS, session)
    alone = evaluate(Settings((NAME, str(model)), prefix="none"), PAIRS, session)
    served, local = (f"{stem} (prefix none)={name}" for stem, name in (("x", NAME), (model.name, str(model))))
    assert both.conditions == {served: "none", local: "none"}
    for condition, name in ((served, NAME), (local, str(model))):
        pd.testing.assert_frame_equal(
            of(both, condition).drop(columns="model"), of(alone, name).drop(columns="model"), check_exact=name != NAME
        )
        assert not of(both, condition)["acceptable_log_likelihood"].equals(of(both, name)["acceptable_log_likelihood"])
        assert both.rules[condition] == alone.rules[name]
    told = [notice for notice in both.notices if notice.startswith(f"{NAME} is not scored after the prefix eos: ")]
    assert len(told) == 1 and "Which token is EOS" in told[0]
    assert f"{model}: with the prefix eos it reads the same as with auto, so that is no further condition." in (
        both.notices
    )


def test_a_server_that_always_puts_a_token_first_has_no_condition_without_one(tmp_path: Path) -> None:
    with completions_server(tiny_models.gpt2_unigram(tmp_path / "unigram"), strict=True, key=KEY) as server:
        for session in session_for(server):
            result = evaluate(Settings((NAME,), other_prefixes=("none",)), PAIRS, session)
            assert result.conditions == {} and result.scored_models == (NAME,)
            (told,) = [text for text in result.notices if text.startswith(f"{NAME} is not scored after")]
            assert "cannot be told not to" in told
