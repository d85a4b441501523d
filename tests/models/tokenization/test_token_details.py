from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.models.tokenization.token_details import token_details
from engine.models.tokenization.tokenizer_loading import load_tokenizer
from tests.models.test_worker import request, run_chunk
from tests.support import tiny_models
from tests.support.layouts import papers as paper_layouts


def test_every_token_is_told_with_its_place(tmp_path: Path) -> None:
    folder = paper_layouts.japanese_bert(tmp_path / "nict", widen=True)
    text = "図書館でGPUを龘"
    [piece] = run_chunk("tokenized", request(f"paper/nict={folder}", [text]))
    assert piece["tokens"] == ["[CLS]", "図書", "館", "で", "ＧＰＵ", "を", "[UNK]", "[SEP]"]
    assert piece["special"].tolist() == [True, *[False] * 6, True]
    assert piece["unknown"].tolist() == [False] * 6 + [True, False]
    assert [text[start:end] for start, end in piece["spans"][1:-1]] == ["図書", "館", "で", "GPU", "を", "龘"]
    assert piece["words"].tolist() == [-1, 0, 1, 2, 3, 4, 5, -1]
    assert piece["prepared"] == "図書 館 で ＧＰＵ を 龘"
    assert piece["ids"].dtype == np.int32


def test_a_published_tokenizer_prepares_nothing_that_could_be_shown(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(tiny_models.gpt2_unigram(tmp_path / "gpt2"))
    first, second = token_details(tokenizer, ["東京タワー", "猫"])
    assert first["prepared"] == "" and first["tokens"][0] == "<s>" and "".join(first["tokens"][1:]) == "東京タワー"
    assert second["tokens"][1:] == ["猫"]
