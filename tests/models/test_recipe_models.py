"""Models in the publishers' layouts, weighed through a worker's operations: as published, number by number."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ipadic
import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForPreTraining

from engine.language.mecab import NEOLOGD_VARIABLE
from engine.models.worker import run_chunk
from tests.models.tokenization.test_recipe_tokenizer import CARDS, by_hand
from tests.support import fake_jumanpp
from tests.support.layouts import papers as paper_layouts

TEXTS = ["昨日、図書館でＧＰＵの小説を読んだ。", "<b>猫</b>が２０２０年に ｶﾞｽ㍿で龘龘", "東京タワー New York"]


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", fake_jumanpp.install(folder / "bin") + os.pathsep + os.environ["PATH"])
        patch.setenv(NEOLOGD_VARIABLE, ipadic.DICDIR)
        made = {}
        for card in CARDS:
            place = folder / card.removeprefix("paper/")
            if card in ("paper/sp", "paper/laboro"):
                made[card] = paper_layouts.sentencepiece_bert(place)
            else:
                words = card == "paper/mecab"
                wide = card in ("paper/kyoto-univ", "paper/nict")
                made[card] = paper_layouts.japanese_bert(place, widen=wide, subwords=not words)
        yield made


def ask(operation: str, card: str, folder: Path, items: list[Any], **settings: Any) -> list[dict[str, Any]]:
    return run_chunk(operation, {"model": f"{card}={folder}", "revision": None, "items": items, "settings": settings})


def published_model(folder: Path) -> BertForPreTraining:
    model = BertForPreTraining(BertConfig.from_json_file(folder / "config.json")).eval()
    numbers = torch.load(folder / "pytorch_model.bin", weights_only=True)
    renamed = {name.replace("gamma", "weight").replace("beta", "bias"): value for name, value in numbers.items()}
    renamed["cls.predictions.decoder.bias"] = renamed["cls.predictions.bias"]
    model.load_state_dict(renamed)
    return model


@pytest.mark.parametrize("card", CARDS)
def test_vectors_and_log_likelihoods_are_the_published_models_own(card: str, directories: dict[str, Path]) -> None:
    folder = directories[card]
    model = published_model(folder)
    vectors = ask("sentence_vectors", card, folder, TEXTS, layers=[2], pooling="cls")
    scores = ask("token_log_likelihoods", card, folder, TEXTS[:1], scoring="pll-original")
    for text, piece in zip(TEXTS, vectors, strict=True):
        ids = torch.tensor([by_hand(card, folder, text)])
        with torch.inference_mode():
            expected = model.bert(ids).last_hidden_state[0, 0].numpy()
        # Rounding of float32 in sums over another padding.
        np.testing.assert_allclose(piece["vectors"][0], expected, atol=2e-5)
    ids = torch.tensor([by_hand(card, folder, TEXTS[0])])
    masked = ids.clone()
    [mask] = [i for i, name in enumerate(names(folder)) if name == "[MASK]"]
    masked[0, 1] = mask
    with torch.inference_mode():
        expected = model(masked).prediction_logits[0, 1].log_softmax(-1)[ids[0, 1]]
    assert scores[0]["log_likelihoods"][0] == pytest.approx(float(expected), abs=2e-5)


@pytest.mark.parametrize("card", CARDS)
def test_every_operation_gives_spans_of_the_text_as_given(card: str, directories: dict[str, Path]) -> None:
    [piece] = ask("token_similarities", card, directories[card], [[f"  {TEXTS[1]} ", TEXTS[0]]], layers=[2])
    for side, text in (("reference", f"  {TEXTS[1]} "), ("candidate", TEXTS[0])):
        spans = piece[f"{side}_spans"][~piece[f"{side}_special"]]
        covered = {i for start, end in spans for i in range(start, end)}
        assert {i for i, character in enumerate(text) if not character.isspace()} <= covered
    [scored] = ask("token_log_likelihoods", card, directories[card], [TEXTS[0]], scoring="pll-word-l2r", words="mecab")
    assert len(scored["tokens"]) == len(scored["spans"]) == len(scored["log_likelihoods"])


@pytest.mark.parametrize("card", CARDS)
def test_masks_are_filled(card: str, directories: dict[str, Path]) -> None:
    [piece] = ask("fill_masks", card, directories[card], [["昨日、", "東京", "で猫を見た。"]], top=3)
    assert "excluded" not in piece and (piece["log_likelihoods"] < 0).all() and piece["ranks"].min() >= 1


def test_a_text_beyond_what_the_model_was_trained_on_is_excluded(directories: dict[str, Path]) -> None:
    [piece] = ask(
        "sentence_vectors", "paper/kyoto-univ", directories["paper/kyoto-univ"], ["猫" * 127], layers=[2], pooling="cls"
    )
    assert "takes at most 128" in piece["excluded"]


def names(folder: Path) -> list[str]:
    path = next(path for path in (folder / "vocab.txt", folder / "wiki-ja.vocab") if path.exists())
    return [line.split("\t")[0] for line in path.read_text(encoding="utf-8").splitlines()]
