"""The challenge's numbers and files of predictions, held against plain versions of what its script does.

`scored_plainly` and `predicted_plainly` are written from its description: a text is tokenized whole, the tokens that
reach into the part after the context are summed, the first of the highest sums is predicted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs.babylm.predictions import place_of, prediction_files, prediction_paths, zipped
from engine.evaluations.minimal_pairs.babylm.scores import babylm
from engine.evaluations.minimal_pairs.babylm.tasks import parts_of
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.presets import preset
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from tests.support import tiny_models
from tests.support.in_process import InProcess
from tests.support.layouts.babylm import FILES, written

SUBSETS = {
    "comps_base": "base",
    "comps_wugs_dist-in-between": "wugs_dist_in_between",
}


def options_plainly(task: str, stem: str, row: dict[str, Any]) -> tuple[str, list[str], list[str], list[str]]:
    """The subset of a row, its sentences, what of each is scored, and what is written of it."""
    if task == "ewok":
        sentences = [f"{row['Context1']} {row[target]}" for target in ("Target1", "Target2")]
        completions = [f" {row[target]}" for target in ("Target1", "Target2")]
        return row["Domain"], sentences, completions, completions
    if task == "comps":
        sentences = [f"{row[name]} {row['property_phrase']}" for name in ("prefix_acceptable", "prefix_unacceptable")]
        return SUBSETS[stem], sentences, [row["property_phrase"]] * 2, sentences
    if task == "entity_tracking":
        sentences = [row["input_prefix"] + option for option in row["options"]]
        return f"{stem}_{row['numops']}_ops", sentences, row["options"], row["options"]
    if task.startswith("wug"):
        sentences = row["sentences"].split("\t")
        return task, sentences, sentences, sentences
    sentences = [row["sentence_good"], row["sentence_bad"]]
    return row.get("UID", stem), sentences, sentences, sentences


class Plainly:
    """Scores as the challenge's script has them, of a causal or a masked model."""

    def __init__(self, folder: Path, backend: str) -> None:
        self.backend = backend
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        kind = AutoModelForCausalLM if backend == "causal" else AutoModelForMaskedLM
        self.model = kind.from_pretrained(folder).eval()

    def __call__(self, sentence: str, completion: str) -> float:
        read = self.tokenizer(sentence, return_offsets_mapping=True)
        ids = torch.tensor(read["input_ids"])
        start = len(sentence) - len(completion)
        counted = [place for place, (_, end) in enumerate(read["offset_mapping"]) if end > start]
        total = torch.tensor(0.0)
        with torch.no_grad():
            if self.backend == "causal":
                terms = torch.log_softmax(self.model(input_ids=ids[None]).logits[0], dim=-1)
                return float(sum(terms[place - 1, ids[place]] for place in counted if place))
            for place in counted:
                masked = ids.clone()
                masked[place] = self.tokenizer.mask_token_id
                total += torch.log_softmax(self.model(input_ids=masked[None]).logits[0, place], dim=-1)[ids[place]]
        return float(total)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("babylm") / "full_eval")


@pytest.fixture(scope="module")
def dataset(folder: Path) -> MinimalPairs:
    return read_pairs([("full_eval", folder)])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("baby")
    return {
        "causal": tiny_models.gpt2_byte_level(root / "chck_1M", max_tokens=128),
        "mlm": tiny_models.bert(root / "babybert", max_tokens=128),
    }


@pytest.fixture(scope="module")
def result(dataset: MinimalPairs, models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Result:
    settings = replace(preset("minimal-pairs", "babylm").settings, models=tuple(map(str, models.values())))
    gateway = Gateway(InProcess(), Cache(tmp_path_factory.mktemp("cache") / "cache.sqlite", 10**8))
    return evaluate(settings, dataset, gateway.session("run"))


@pytest.fixture(scope="module")
def plain(models: dict[str, Path], folder: Path) -> dict[str, dict[str, list[tuple[str, list[float], list[str], Any]]]]:
    """Of each backend and task the rows: subset, scores, texts, share of people."""
    found: dict[str, dict[str, list[tuple[str, list[float], list[str], Any]]]] = {}
    for backend, path in models.items():
        score = Plainly(path, backend)
        for name, files in FILES.items():
            task = name.split("/")[0]
            for stem in sorted(files):
                for row in files[stem]:
                    uid, sentences, completions, texts = options_plainly(task, stem, row)
                    scores = [score(*of_option) for of_option in zip(sentences, completions, strict=True)]
                    found.setdefault(backend, {}).setdefault(name, []).append((uid, scores, texts, row.get("ratio")))
    return found


def test_scores_and_counts_are_those_of_the_challenge(
    result: Result, dataset: MinimalPairs, models: dict[str, Path], plain: Any
) -> None:
    table = babylm(result, dataset).set_index(["model", "folder"])
    assert len(table) == len(models) * len(FILES)
    for backend, path in models.items():
        for name, rows in plain[backend].items():
            task, of_folder = name.split("/")
            line = table.loc[(str(path), of_folder)]
            assert line["task"] == task and line["n"] == len(rows) and line["n_unscored"] == 0
            if task.startswith("wug"):
                first = [float(torch.softmax(torch.tensor(scores), dim=0)[0]) for _, scores, _, _ in rows]
                expected = spearmanr(first, [ratio for *_, ratio in rows])[0]
                assert line["challenge"] == pytest.approx(expected, abs=1e-9)
                continue
            right = pd.DataFrame(
                [(uid, float(np.argmax(np.float32(scores))) == 0) for uid, scores, *_ in rows], columns=["uid", "right"]
            )
            assert line["challenge"] == pytest.approx(right.groupby("uid")["right"].mean().mean(), abs=1e-12)
            assert line["n_subsets"] == right["uid"].nunique()
            strictly = [scores[0] > max(scores[1:]) for _, scores, *_ in rows]
            assert line["n_correct"] == sum(strictly) and line["accuracy"] == pytest.approx(np.mean(strictly))


def test_a_tie_is_right_there_and_not_here(result: Result, dataset: MinimalPairs) -> None:
    blimp = babylm(result, dataset).query("folder == 'blimp_filtered'")
    assert (blimp["n_tied"] == 1).all()
    # The tied pair is alone in its file, but counted with the first subset, as its row says.
    assert (blimp["n_subsets"] == 2).all() and (blimp["n"] == 4).all()
    assert (blimp["challenge"] * 4 - blimp["n_correct"] > 0).all()


def test_the_files_of_predictions_are_byte_for_byte_those_of_a_plain_version(
    result: Result, dataset: MinimalPairs, models: dict[str, Path], plain: Any
) -> None:
    files = prediction_files(result, dataset)
    assert len(files) == len(models) * len(FILES)
    for backend, path in models.items():
        place = "/".join(place_of(str(path)))
        for name, rows in plain[backend].items():
            written = files[f"{place}/zero_shot/{backend}/{name}/predictions.json"]
            kept: dict[str, list[dict[str, Any]]] = defaultdict(list)
            probabilities = []
            for uid, scores, texts, ratio in rows:
                of_options = torch.tensor(scores)
                entry = {"id": f"{uid}_{len(kept[uid])}", "pred": texts[int(torch.max(of_options, dim=0)[1])]}
                if ratio is not None:
                    probabilities.append(float(torch.softmax(of_options, dim=0)[0]))
                    entry["prob"] = probabilities[-1]
                kept[uid].append(entry)
            expected = json.dumps({uid: {"predictions": entries} for uid, entries in kept.items()})
            if probabilities:
                # Sums of likelihoods in another order differ in their last digits, and so does what follows from them.
                here = [
                    entry.pop("prob")
                    for of_subset in json.loads(written).values()
                    for entry in of_subset["predictions"]
                ]
                assert here == pytest.approx(probabilities, rel=1e-4)
                expected = json.dumps(without_probabilities(json.loads(expected)))
                written = json.dumps(without_probabilities(json.loads(written))).encode()
            assert written.decode("ascii") == expected


def without_probabilities(content: dict[str, Any]) -> dict[str, Any]:
    for of_subset in content.values():
        for entry in of_subset["predictions"]:
            entry.pop("prob", None)
    return content


def test_a_zip_of_them_has_the_same_bytes_each_time(result: Result, dataset: MinimalPairs) -> None:
    files = prediction_files(result, dataset)
    assert zipped(files) == zipped(dict(files)) and place_of("babylm/gpt@chck_1M") == ("gpt", "chck_1M")


def test_other_data_have_no_tasks(result: Result) -> None:
    other = MinimalPairs("mine.csv", ("a b",), ("b a",), ("",), (1,))
    assert babylm(result, other).empty
    with pytest.raises(InputError, match="holds no task of the BabyLM challenge"):
        prediction_files(result, other)


def test_an_item_without_a_score_is_no_prediction(result: Result, dataset: MinimalPairs) -> None:
    without = replace(result, pairs=result.pairs[result.pairs["row"] != 1], tokens=result.tokens)
    with pytest.raises(InputError, match="has no score of 1 item of blimp"):
        prediction_files(without, dataset)
    assert (babylm(without, dataset).query("folder == 'blimp_filtered'")["n_unscored"] == 1).all()


def test_two_models_of_one_place_are_refused(result: Result, dataset: MinimalPairs) -> None:
    name = result.settings.models[0]
    twice = replace(result, settings=replace(result.settings, models=(name, f"1M={name}")))
    with pytest.raises(InputError, match=r"would be written to .*chck_1M"):
        prediction_files(twice, dataset)


def test_an_encoder_decoder_is_written_as_it_was_scored(result: Result, dataset: MinimalPairs) -> None:
    for reads, backend in (("masked", "enc_dec_mask"), ("nothing", "enc_dec_prefix")):
        settings = replace(result.settings, models=("babylm/t5",), encoder_reads=reads)
        of_decoder = replace(result, settings=settings, signature={"scoring": {"babylm/t5": "seq2seq"}})
        paths = prediction_paths(of_decoder, dataset, parts_of(dataset)).values()
        assert len(paths) == len(FILES) and all(path.startswith(f"t5/main/zero_shot/{backend}/") for path in paths)
