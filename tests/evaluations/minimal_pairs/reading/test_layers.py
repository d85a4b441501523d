"""Reading times by layer: surprisals against transformers by hand, gains, what is refused, tables of the command."""

from __future__ import annotations

import json
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats
from transformers import AutoModelForCausalLM, AutoTokenizer

from engine.__main__ import main
from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from engine.errors import InputError
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.kinds.finding import finding
from engine.evaluations.minimal_pairs.reading.layers import layers
from engine.evaluations.minimal_pairs.reading.times import WITH_PREVIOUS, gains, word_surprisals
from engine.evaluations.minimal_pairs.records import LAYERS, Result, Settings
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.measures.reading_times import gain
from engine.measures.statistics.paired_tests import holm
from engine.models.sources.cards import built_in_directory
from tests.evaluations.minimal_pairs.reading.test_reading_times import GPT, as_csv, challenge_rows, read
from tests.support.in_process import InProcess
from tests.support.session_fake import SessionFake

N_LAYERS = 4


class Counting(InProcess):
    """Counts the chunks of sentences that are scored."""

    n_scored = 0

    def run(self, operation: str, request: dict[str, Any], run_id: str) -> Future[list[dict[str, Any]]]:
        self.n_scored += operation == "token_log_likelihoods"
        return super().run(operation, request, run_id)


@pytest.fixture(scope="module")
def dataset() -> MinimalPairs:
    return read(as_csv(challenge_rows()))


@pytest.fixture(scope="module")
def session_and_backend(tmp_path_factory: pytest.TempPathFactory) -> tuple[Gateway, Counting]:
    backend = Counting()
    return Gateway(backend, Cache(tmp_path_factory.mktemp("cache") / "cache.sqlite", 10**8)), backend


@pytest.fixture(scope="module")
def result(dataset: MinimalPairs, session_and_backend: tuple[Gateway, Counting]) -> Result:
    return evaluate(
        Settings((GPT,), prefix="template", all_layers=True), dataset, session_and_backend[0].session("run")
    )


def at_layer(result: Result, layer: int) -> np.ndarray:
    table = result.layer_words
    assert isinstance(table, pd.DataFrame)
    return table[table["layer"] == layer].sort_values(["row", "region"])["surprisal"].to_numpy()


def test_a_middle_layer_is_final_norm_and_head_on_its_states_by_hand(result: Result, dataset: MinimalPairs) -> None:
    folder = built_in_directory(GPT)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    text = dataset.acceptable[0]
    encoded = tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
    ids, offsets = encoded["input_ids"], encoded["offset_mapping"][0].tolist()
    ends = np.cumsum([len(word) + 1 for word in text.split()])  # of each word, with the space after it
    for layer in (1, 2):
        with torch.inference_mode():
            state = model(input_ids=ids, output_hidden_states=True).hidden_states[layer]
            logits = model.lm_head(model.transformer.ln_f(state))
        scores = torch.log_softmax(logits[0, :-1].double(), dim=-1).gather(1, ids[0, 1:, None])[:, 0].numpy()
        expected = np.zeros(len(ends))
        for (_, end), score in zip(offsets[1:], scores, strict=True):
            if end > 0:
                expected[np.searchsorted(ends, end - 1, side="right")] -= score / np.log(2)
        first = result.layer_words[result.layer_words["row"] == result.pairs["row"].iloc[0]]  # type: ignore[index]
        found = first[first["layer"] == layer].set_index("region")["surprisal"]
        assert found.to_numpy() == pytest.approx(expected[found.index.to_numpy() - 1], abs=1e-4)


def test_the_last_layer_is_the_run_without_layers(
    result: Result, dataset: MinimalPairs, session_and_backend: tuple[Gateway, Counting]
) -> None:
    plain = evaluate(Settings((GPT,), prefix="template"), dataset, session_and_backend[0].session("run"))
    assert not len(plain.layer_words) and not len(plain.layers)
    words = word_surprisals(plain)
    assert word_surprisals(result)["surprisal"].to_numpy() == pytest.approx(words["surprisal"].to_numpy(), abs=1e-5)
    n_layers = int(result.layers["layer"].max())
    last = result.layers[result.layers["layer"] == n_layers].reset_index(drop=True)
    own = gains(result)
    assert n_layers == N_LAYERS and len(result.layers) == (N_LAYERS + 1) * len(own)
    assert last["measure"].tolist() == own["measure"].tolist() and last["baseline"].tolist() == own["baseline"].tolist()
    for name in ("gain", "gain_low", "gain_high", "share", "share_low", "share_high", "n", "n_items"):
        assert last[name].to_numpy() == pytest.approx(own[name].to_numpy(), abs=1e-9), name
    assert (
        last["over_last"].isna().all() and result.layers[result.layers["layer"] < n_layers]["over_last"].notna().all()
    )


def test_a_line_is_the_measure_of_the_surprisals_of_its_layer(result: Result) -> None:
    words = word_surprisals(result)
    of_layer = result.layer_words[result.layer_words["layer"] == 2]  # type: ignore[index]
    surprisal, previous = {}, {}
    for row, of_text in of_layer.groupby("row"):
        values = of_text.sort_values("region")["surprisal"].tolist()
        for place, value in enumerate(values):
            surprisal[row, place] = value
            previous[row, place] = values[place - 1] if place else np.nan
    # Words of the file are those of a sentence but its first and its last.
    texts = result.pairs["row"].tolist()
    places = words.groupby("item", sort=False).cumcount() + 1
    keys = [
        (texts[number], place) for number, place in zip(words.groupby("item", sort=False).ngroup(), places, strict=True)
    ]
    own = [surprisal[key] for key in keys]
    has_previous = words["previous_surprisal"].notna().to_numpy()
    before = np.where(has_previous, [previous[key] for key in keys], np.nan)
    controls = [words[name] for name in ("frequency", "length", "position", "previous_length")]
    items = words["item"].to_numpy()
    found = gain(words["time:N400"], own, [*controls, before], items)
    line = result.layers.query("layer == 2 and measure == 'N400' and baseline == @WITH_PREVIOUS").iloc[0]
    assert (line["gain"], line["share"], line["n"]) == pytest.approx((found.delta, found.share, found.n), abs=1e-9)
    # Against the last layer, by Student's t over items by hand.
    last = gain(words["time:N400"], words["surprisal"], [*controls, words["previous_surprisal"]], items)
    difference = found.changes - last.changes
    assert line["over_last"] == pytest.approx(difference.mean(), abs=1e-9)
    sums = pd.Series(difference - difference.mean()).groupby(items[has_previous]).sum().to_numpy()
    n_items = len(sums)
    error = np.sqrt(n_items / (n_items - 1) * ((sums - sums.mean()) ** 2).sum()) / len(difference)
    half = stats.t.ppf(0.975, n_items - 1) * error
    assert (line["over_last_low"], line["over_last_high"]) == pytest.approx(
        (difference.mean() - half, difference.mean() + half), abs=1e-9
    )
    of_measure = result.layers.query("measure == 'N400' and baseline == @WITH_PREVIOUS and layer < 4")
    halves = (of_measure["over_last_high"] - of_measure["over_last_low"]) / 2
    t = of_measure["over_last"] / (halves / stats.t.ppf(0.975, n_items - 1))
    assert of_measure["p_holm"].to_numpy() == pytest.approx(
        holm((2 * stats.t.sf(abs(t), n_items - 1)).tolist()), abs=1e-9
    )


def test_layers_are_cached_and_other_folds_are_taken_from_what_is_stored(
    result: Result, dataset: MinimalPairs, session_and_backend: tuple[Gateway, Counting]
) -> None:
    gateway, backend = session_and_backend
    evaluate(Settings((GPT,), prefix="template", all_layers=True), dataset, gateway.session("first"))
    before = backend.n_scored
    again = evaluate(Settings((GPT,), prefix="template", all_layers=True), dataset, gateway.session("again"))
    assert backend.n_scored == before > 0
    pd.testing.assert_frame_equal(again.layers, result.layers)
    others = layers(result, folds=3)
    assert others["gain"].tolist() != result.layers["gain"].tolist() and layers(result) is result.layers
    assert others["share"].tolist() == pytest.approx(result.layers["share"].tolist())


def test_boundaries_are_those_of_each_layer(
    dataset: MinimalPairs, session_and_backend: tuple[Gateway, Counting]
) -> None:
    settings = Settings((GPT,), prefix="template", all_layers=True, word_boundaries=True)
    found = evaluate(settings, dataset, session_and_backend[0].session("run"))
    n_layers = int(found.layers["layer"].max())
    last, own = found.layers[found.layers["layer"] == n_layers], gains(found)
    assert last["gain"].to_numpy() == pytest.approx(own["gain"].to_numpy(), abs=1e-9)
    plain = evaluate(replace(settings, word_boundaries=False), dataset, session_and_backend[0].session("run"))
    assert np.abs(at_layer(found, 2) - at_layer(plain, 2)).max() > 1e-3


def test_the_finding_names_a_layer_only_where_a_test_does(result: Result) -> None:
    measure = result.layers["measure"].iloc[0]
    is_first = (result.layers["measure"] == measure) & (result.layers["baseline"] == WITH_PREVIOUS)

    def said(p_holm: float, over_last: float) -> str:
        table = result.layers.copy()
        below = is_first & (table["layer"] < N_LAYERS)
        table.loc[below, "p_holm"] = 1.0
        chosen = is_first & (table["layer"] == 2)
        table.loc[chosen, ["p_holm", "over_last", "gain"]] = [p_holm, over_last, 0.5]
        return str(finding(replace(result, layers=table)))

    named = said(0.0123, 0.25)
    assert (
        "gains most at layer 2 of 4: 0.5000" in named and "0.2500 above the last layer (p = 0.012, Holm over 4" in named
    )
    assert "chosen after looking at all" in named
    for other in (said(0.2, 0.25), said(0.01, -0.25)):
        assert "no layer of gpt2-mini-en gains significantly more than the last (Holm over the layers of each)" in other
        assert "gains most" not in other
    in_japanese = finding(result).in_language("ja")
    assert "ロジットレンズ" in in_japanese and "layer" not in in_japanese
    assert "layer" not in str(finding(replace(result, layers=LAYERS.frame())))


@pytest.mark.parametrize("kind", ["masked", "encoder"])
def test_models_without_a_lens_are_refused_before_they_are_scored(dataset: MinimalPairs, kind: str) -> None:
    session = SessionFake({"c": "causal", "m": kind})
    with pytest.raises(InputError, match="m: the logit lens is of causal models"):
        evaluate(Settings(("c", "m"), all_layers=True), dataset, session)  # type: ignore[arg-type]
    assert not [call for call in session.calls if call[0] == "token_log_likelihoods"]


def test_other_data_are_refused() -> None:
    pairs = from_table(read_table(b"acceptable,unacceptable\nA cat sleeps.,A cat sleep.\n", "pairs.csv"))
    with pytest.raises(InputError, match="Leave --all-layers out"):
        evaluate(Settings(("c",), all_layers=True), pairs, SessionFake({"c": "causal"}))  # type: ignore[arg-type]


def test_the_command_writes_layers(tmp_path: Path) -> None:
    path, out = tmp_path / "reading_data.csv", tmp_path / "out"
    path.write_text(as_csv(challenge_rows()), encoding="utf-8")
    common = ["minimal-pairs", "--data", str(path), "--model", GPT, "--out"]
    assert main([*common, str(out), "--all-layers", "--folds", "4"]) == 0
    table = pd.read_csv(out / "layers.csv", keep_default_na=False)
    assert set(table["layer"]) == set(range(N_LAYERS + 1)) and list(table.columns) == LAYERS.headers
    assert json.loads((out / "settings.json").read_text(encoding="utf-8"))["settings"]["all_layers"] is True
    assert main([*common, str(tmp_path / "plain")]) == 0 and not (tmp_path / "plain" / "layers.csv").exists()
