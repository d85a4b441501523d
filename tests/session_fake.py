"""A gateway session without models: every piece depends on its text, so a mix-up of rows cannot go unseen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

from engine.models.facts import ModelFacts

TOO_LONG = 60  # characters; each character is one token here


def facts(name: str, kind: str = "masked") -> ModelFacts:
    given: dict[str, Any] = {
        "name": name, "source": "directory", "path": "/nowhere", "revision": None, "fingerprint": "f" * 64,
        "tokenizer_fingerprint": "t" * 64, "architecture": "BertForMaskedLM", "kind": kind, "n_layers": 4,
        "hidden_size": 8, "vocab_size": 100, "max_tokens": TOO_LONG, "n_parameters": 1000, "tokenizer": "Fake",
        "has_mask": kind == "masked", "has_cls": kind != "causal", "has_bos": kind == "causal", "device": "cpu",
        "dtype": "float32", "weights_bytes": 4000,
    }
    return ModelFacts(**given)


def noise(*parts: object) -> np.random.Generator:
    return np.random.default_rng(crc32("|".join(map(str, parts)).encode()))


class SessionFake:
    """Answers as `GatewaySession` does. Tokens are characters; vectors and likelihoods are noise from the text."""

    def __init__(self, kinds: dict[str, str] | None = None) -> None:
        self.kinds, self.calls = kinds or {}, []  # type: ignore[var-annotated]

    def describe(self, model: str) -> ModelFacts:
        return facts(model, self.kinds.get(model, "masked"))

    def sentence_vectors(self, model: str, texts: Sequence[str], *, layers: Sequence[int], pooling: str = "cls",
                         precision: str = "fp32") -> list[dict[str, Any]]:
        self.calls.append(("sentence_vectors", model, tuple(layers), pooling))
        return [{"excluded": f"{len(text)} tokens", "n_tokens": len(text)} if len(text) > TOO_LONG else
                {"vectors": np.stack([vector(model, text, layer) for layer in layers]), "n_tokens": len(text)}
                for text in texts]

    def token_similarities(self, model: str, pairs: Sequence[tuple[str, str]], *, layers: Sequence[int],
                           precision: str = "fp32") -> list[dict[str, Any]]:
        self.calls.append(("token_similarities", model, tuple(layers)))
        return [{"excluded": "too long"} if max(map(len, pair)) > TOO_LONG else similarities(model, *pair)
                for pair in pairs]

    def token_log_likelihoods(self, model: str, texts: Sequence[str], *, scoring: str,
                              **_: Any) -> list[dict[str, Any]]:
        self.calls.append(("token_log_likelihoods", model, scoring))
        return [{"excluded": "too long", "n_tokens": len(text)} if len(text) > TOO_LONG else {
            "tokens": list(text), "ids": np.array([ord(c) for c in text.lower()], dtype=np.int32),
            "spans": np.array([(i, i + 1) for i in range(len(text))], dtype=np.int32),
            "log_likelihoods": likelihoods(model, text),
        } for text in texts]

    def token_lists(self, model: str, texts: Sequence[str]) -> list[dict[str, Any]]:
        return [{"tokens": list(text)} for text in texts]

    def project(self, vectors: np.ndarray, *, method: str, **settings: Any) -> np.ndarray:
        self.calls.append(("project", method, settings))
        return np.asarray(vectors)[:, :2].astype(np.float32)


def vector(model: str, text: str, layer: int) -> np.ndarray:
    return noise(model, text, layer).normal(size=8).astype(np.float32)


def likelihoods(model: str, text: str) -> np.ndarray:
    return -noise(model, text).exponential(3, len(text)).astype(np.float32)


def similarities(model: str, reference: str, candidate: str) -> dict[str, Any]:
    """A token is like another by their characters alone: the same one 1, others by noise."""
    sides = {"reference": reference.strip(), "candidate": candidate.strip()}
    tokens = {side: ["[CLS]", *text, "[SEP]"] for side, text in sides.items()}
    cosine = [[1.0 if r == c else noise(model, *sorted((r, c))).uniform(0, 0.9) for c in tokens["candidate"]]
              for r in tokens["reference"]]
    piece: dict[str, Any] = {"similarity": np.array([cosine], dtype=np.float32)}
    for side, text in sides.items():
        piece[f"{side}_tokens"] = tokens[side]
        piece[f"{side}_special"] = np.array([True, *[False] * len(text), True])
        piece[f"{side}_spans"] = np.array([(-1, -1), *[(i, i + 1) for i in range(len(text))], (-1, -1)], dtype=np.int32)
    return piece
