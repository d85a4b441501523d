"""Running text under a model behind a server, which is read as a whole, and under real models in this process."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.files import file_tables
from engine.evaluations.minimal_pairs.records import Settings
from engine.evaluations.minimal_pairs.running_text.tables import comparisons, corpus, documents
from engine.inference.endpoint.endpoints import WithEndpoints
from engine.inference.endpoint.settings import Endpoint
from engine.inference.gateway import Gateway
from tests.inference.endpoint.completions_server import KEY, SERVED, completions_server
from tests.support import tiny_models
from tests.support.in_process import InProcess

NAME, EOT = "endpoint/x", "<|endoftext|>"


def texts(*given: str) -> MinimalPairs:
    return from_table(read_table("\n".join(["text", *given]).encode(), "texts.csv"))


def test_a_server_scores_what_fits_and_leaves_out_what_does_not(tmp_path: Path) -> None:
    model = tiny_models.gpt2_byte_level(tmp_path / "bytes")
    dataset = texts(*tiny_models.ENGLISH, "The cat sleeps. " * 40)
    with completions_server(model, key=KEY, styles=("tokens",), ids=True) as served:
        backend = WithEndpoints(InProcess(), {NAME: Endpoint("x", served.address, SERVED, KEY, bos=EOT)})
        result = evaluate(Settings((NAME, str(model))), dataset, Gateway(backend, None).session("run"))
        backend.close()
    assert result.signature["windows"] == {str(model): [64, 32]}
    assert result.excluded[["model", "row"]].to_numpy().tolist() == [[NAME, 6]]
    assert "A text longer than the model takes is left out." in result.rules[NAME]
    assert any("1 of 6 documents could not be scored" in str(notice) for notice in result.notices)
    table = documents(result).pivot(index="row", columns="model", values="bits_per_byte")
    np.testing.assert_allclose(table[NAME][:5], table[str(model)][:5], rtol=1e-4)
    # Compared over what both scored.
    assert corpus(result).query("category == ''")["n_documents"].tolist() == [5, 5]
    assert comparisons(result)["difference"].item() == pytest.approx(0, abs=1e-4)
    of_long = documents(result).query("row == 6")
    assert of_long["model"].tolist() == [str(model)] and of_long["n_windows"].item() > 2


def test_after_no_prefix_the_bytes_of_the_first_token_are_not_counted(tmp_path: Path) -> None:
    model = str(tiny_models.gpt2_byte_level(tmp_path / "bytes"))
    text = tiny_models.ENGLISH[0]
    result = evaluate(Settings((model,), prefix="none"), texts(text), Gateway(InProcess(), None).session("run"))
    row, tokens = documents(result).iloc[0], file_tables(result, (), 0.8, "category", 0)["tokens"]
    assert len(tokens) * 2 == len(result.tokens)  # a document stands on both sides
    first = len(text) - sum(len(str(token).replace("Ġ", " ")) for token in tokens["token"])
    assert first > 0 and row["n_bytes"] == len(text) - first
    nats = float(tokens["log_likelihood"].astype(np.float64).sum())
    assert row["bits_per_byte"] == pytest.approx(-nats / math.log(2) / (len(text) - first))
    assert row["perplexity"] == pytest.approx(math.exp(-nats / len(tokens)))
