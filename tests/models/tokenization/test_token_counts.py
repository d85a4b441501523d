"""engine.models.tokenization.token_counts: the quick count equals the tokens that the tokenizer gives."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from engine.datasets.corpora.corpus import pieces
from engine.models.loading.model_cache import ModelCache
from engine.models.tokenization.encoding import token_ids
from engine.models.tokenization.offsets import control_ids
from engine.models.tokenization.token_counts import document_counts
from engine.models.tokenization.words import counts as word_counts
from engine.models.tokenization.words.counts import word_document_counts
from tests.support import tiny_models

TEXTS = [
    "昨日、私は東京タワーでラーメンを食べました。",
    "東京タワー\n\n会議の電車" * 3,
    "",
    "斉藤[MASK]と[UNK]斉藤 ＡＢＣ ｱｲｳ",
    "?!",
]


@pytest.fixture(params=["bert", "bert_japanese", "gpt2_unigram", "gpt2_byte_level"])
def tokenizer(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return ModelCache().describe(str(getattr(tiny_models, request.param)(tmp_path / "model")), None).tokenizer


def expected(tokenizer: Any, texts: list[str]) -> tuple[Counter[str], Counter[str]]:
    control = control_ids(tokenizer)
    has: Counter[str] = Counter()
    occurs: Counter[str] = Counter()
    for text in texts:
        found = Counter(
            tokenizer.convert_ids_to_tokens(
                [one for part in pieces(text, 20) for one in token_ids(tokenizer, part) if one not in control]
            )
        )
        has.update(found.keys())
        occurs.update(found)
    return has, occurs


def test_counts_are_those_of_the_tokenizer(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_counts, "MAX_CHARACTERS_PER_CALL", 20)
    got = document_counts(tokenizer, TEXTS)
    has, occurs = expected(tokenizer, TEXTS)
    assert dict(zip(got["tokens"], got["documents"].tolist(), strict=True)) == has
    assert dict(zip(got["tokens"], got["occurrences"].tolist(), strict=True)) == occurs
    assert got["n_documents"] == len(TEXTS) and not {"[CLS]", "[SEP]"} & set(got["tokens"])


def test_words_are_counted_as_spelled(monkeypatch: pytest.MonkeyPatch) -> None:
    got = word_document_counts([*TEXTS[:2], "東京タワーのＡＢＣ"])
    counts = dict(
        zip(got["tokens"], zip(got["documents"].tolist(), got["occurrences"].tolist(), strict=True), strict=True)
    )
    # The repeated text joins its copies with 電車東京, which MeCab cuts as before.
    assert counts["東京"] == (3, 5) and counts["タワー"] == (3, 5) and counts["ABC"] == (1, 1)
    assert (got["n_documents"], got["control_tokens"], len(got["control_documents"])) == (3, [], 0)
    monkeypatch.setattr(word_counts, "MAX_CHARACTERS_PER_CALL", 12)
    assert word_document_counts(["東京タワー\n\n会議の電車" * 3])["occurrences"].sum() == 15


def test_no_documents_have_no_tokens(tokenizer: Any) -> None:
    got = document_counts(tokenizer, [])
    assert (got["tokens"], got["n_documents"], len(got["documents"])) == ([], 0, 0)
