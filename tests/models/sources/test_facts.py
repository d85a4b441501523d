import dataclasses
import json

import pytest

from engine.models.sources.facts import ModelFacts

FACTS = ModelFacts(
    name="斉藤/bert",
    source="hub",
    path="/cache/snapshots/0123",
    revision=None,
    fingerprint="0123",
    tokenizer_fingerprint="4567",
    architecture="BertForMaskedLM",
    kind="masked",
    n_layers=12,
    hidden_size=768,
    vocab_size=32000,
    max_tokens=512,
    n_parameters=110_000_000,
    tokenizer="BertJapaneseTokenizer",
    has_mask=True,
    has_cls=True,
    has_bos=False,
    device="cpu",
    dtype="float32",
    weights_bytes=440_000_000,
)


def test_facts_are_rebuilt_from_their_fields() -> None:
    assert ModelFacts.from_dict(FACTS.to_dict()) == FACTS
    glm = dataclasses.replace(FACTS, opening=("[gMASK]", "<sop>"))
    assert ModelFacts.from_dict(json.loads(json.dumps(glm.to_dict()))) == glm  # JSON has no tuples


def test_facts_of_another_shape_are_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        ModelFacts.from_dict({**FACTS.to_dict(), "colour": "red"})
