"""A gateway session without models: every piece depends on its text, so that a mix-up of rows is detected."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

from engine.measures.surface import surface_scores
from engine.models.scoring.vector_operations import VECTOR_OPERATIONS
from engine.models.sources.facts import ModelFacts
from engine.models.tokenization.prefix_tokens import AUTO, prefix_tokens
from engine.models.tokenization.words.counts import word_document_counts
from tests.support.fakes import UNREADABLE, character_counts, classified, control_tokens_read, hash_of_token
from tests.support.mask_fakes import filled

TOO_LONG = 60  # characters; each character is one token here


def facts(name: str, kind: str = "masked") -> ModelFacts:
    fields: dict[str, Any] = {
        "name": name,
        "source": "directory",
        "path": "/nowhere",
        "revision": None,
        "fingerprint": "f" * 64,
        "tokenizer_fingerprint": "t" * 64,
        "architecture": "BertForMaskedLM",
        "kind": kind,
        "n_layers": 4,
        "hidden_size": 8,
        "vocab_size": 100,
        "max_tokens": TOO_LONG,
        "n_parameters": 1000,
        "tokenizer": "Fake",
        "has_mask": kind == "masked",
        "has_cls": kind != "causal",
        "has_bos": kind == "causal",
        "device": "cpu",
        "dtype": "float32",
        "weights_bytes": 4000,
        "template_tokens": ("[CLS]", "[SEP]"),
        "cls_and_sep": ("[CLS]", "[SEP]"),
        "bos_token": "<s>" if kind == "causal" else "",
        "control_tokens": ("[SEP]", UNREADABLE),
    }
    return ModelFacts(**fields)


def noise(*parts: object) -> np.random.Generator:
    return np.random.default_rng(crc32("|".join(map(str, parts)).encode()))


class SessionFake:
    """Stands in for `GatewaySession`. Tokens are characters; vectors and likelihoods are noise seeded by the text."""

    def __init__(self, kinds: dict[str, str] | None = None) -> None:
        self.kinds, self.calls = kinds or {}, []  # type: ignore[var-annotated]

    def describe(self, model: str) -> ModelFacts:
        return facts(model, self.kinds.get(model, "masked"))

    def sentence_vectors(
        self,
        model: str,
        texts: Sequence[str],
        *,
        layers: Sequence[int],
        pooling: str = "cls",
        prompt: str = "",
        truncate_dim: int | None = None,
        precision: str = "fp32",
    ) -> list[dict[str, Any]]:
        self.calls.append(("sentence_vectors", model, tuple(layers), pooling))
        return [
            {"excluded": f"{len(text)} tokens", "n_tokens": len(text)}
            if len(text) > TOO_LONG
            else {"vectors": np.stack([vector(model, text, layer) for layer in layers]), "n_tokens": len(text)}
            for text in texts
        ]

    def token_similarities(
        self,
        model: str,
        pairs: Sequence[tuple[str, str]],
        *,
        layers: Sequence[int],
        precision: str = "fp32",
        within: object = None,
    ) -> list[dict[str, Any]]:
        self.calls.append(("token_similarities", model, tuple(layers)))
        return [
            {"excluded": "too long"}
            if max(map(len, pair)) > TOO_LONG
            else at_layers(similarities(model, *pair), layers)
            for pair in pairs
        ]

    def token_log_likelihoods(
        self, model: str, texts: Sequence[str], *, scoring: str, prefix: str = AUTO, **_: Any
    ) -> list[dict[str, Any]]:
        self.calls.append(("token_log_likelihoods", model, scoring))
        tokens = prefix_tokens(self.describe(model), prefix) if scoring == "causal" else ()
        before = [hash_of_token(token) for token in tokens]
        return [
            {"excluded": "too long", "n_tokens": len(text)}
            if len(text) > TOO_LONG
            else {
                "tokens": list(text),
                "ids": np.array([ord(c) for c in text.lower()], dtype=np.int32),
                "read_ids": np.array([*before, *map(ord, text.lower())], dtype=np.int32),
                "spans": np.array([(i, i + 1) for i in range(len(text))], dtype=np.int32),
                "log_likelihoods": likelihoods(model, text),
                "n_unknown": text.count("\ufffd"),
            }
            for text in texts
        ]

    def document_log_likelihoods(
        self, model: str, texts: Sequence[str], *, scoring: str, window: int, stride: int, **_: Any
    ) -> list[dict[str, Any]]:
        """Characters of any text; likelihoods depend on the windows, too."""
        self.calls.append(("document_log_likelihoods", model, scoring, window, stride))
        return [
            {
                "tokens": list(text),
                "ids": np.array([ord(c) for c in text], dtype=np.int32),
                "read_ids": np.array([0, *map(ord, text)], dtype=np.int32),
                "spans": np.array([(i, i + 1) for i in range(len(text))], dtype=np.int32),
                "log_likelihoods": likelihoods(f"{model} {window} {stride}" if len(text) > window else model, text),
                "n_unknown": text.count("\ufffd"),
                "unscored_spans": np.zeros((0, 2), dtype=np.int32),
                "n_windows": 1 + max(0, -(-(len(text) - window) // stride)),
            }
            for text in texts
        ]

    def shared_token_log_likelihoods(
        self, model: str, pairs: Sequence[tuple[str, str]], *, precision: str = "fp32", next_token: bool = False
    ) -> list[dict[str, Any]]:
        self.calls.append(("shared_token_log_likelihoods", model, precision))
        return [shared_tokens(model, *pair) for pair in pairs]

    def token_lists(self, model: str, texts: Sequence[str]) -> list[dict[str, Any]]:
        return [{"tokens": list(text)} for text in texts]

    def control_tokens_read(self, model: str, texts: Sequence[str]) -> list[dict[str, Any]]:
        self.calls.append(("control_tokens_read", model, tuple(texts)))
        return [control_tokens_read(text) for text in texts]

    def document_counts(
        self, model: str, parts: Sequence[Sequence[str]], *, within: object = None
    ) -> list[dict[str, Any]]:
        self.calls.append(("document_counts", model, tuple(map(len, parts)), within))
        return [character_counts(texts) for texts in parts]

    def word_counts(self, parts: Sequence[Sequence[str]], *, within: object = None) -> list[dict[str, Any]]:
        self.calls.append(("word_counts", tuple(map(len, parts)), within))
        return [word_document_counts(texts) for texts in parts]

    def fill_masks(
        self, model: str, sentences: Sequence[Sequence[str]], *, top: int = 10, precision: str = "fp32"
    ) -> list[dict[str, Any]]:
        self.calls.append(("fill_masks", model, top))
        return [filled(model, sentence, top=top, max_tokens=TOO_LONG) for sentence in sentences]

    def project(self, vectors: np.ndarray, *, method: str, **settings: Any) -> np.ndarray:
        self.calls.append(("project", method, settings))
        return np.asarray(vectors)[:, : settings.get("n_components", 2)].astype(np.float32)

    def on_vectors(self, operation: str, vectors: np.ndarray, *, label: str, **settings: Any) -> dict[str, Any]:
        self.calls.append((operation, label, settings))
        return VECTOR_OPERATIONS[operation](vectors, **settings)

    def classify(
        self, vectors: np.ndarray, labels: Sequence[int], is_test: Sequence[bool], *, label: str, **settings: Any
    ) -> dict[str, Any]:
        self.calls.append(("classify", label, settings))
        return classified(vectors, labels=list(labels), is_test=list(is_test), **settings)

    def surface_scores(self, pairs: Sequence[Sequence[str]], *, tokenizer: str) -> dict[str, np.ndarray]:
        self.calls.append(("surface_scores", len(pairs), tokenizer))
        return surface_scores(pairs, tokenizer)


def vector(model: str, text: str, layer: int) -> np.ndarray:
    return noise(model, text, layer).normal(size=8).astype(np.float32)


@functools.lru_cache(100_000)
def unlike(model: str, first: str, second: str) -> float:
    """The cosine of two characters that differ."""
    return noise(model, first, second).uniform(0, 0.9)


def likelihoods(model: str, text: str) -> np.ndarray:
    return -noise(model, text).exponential(3, len(text)).astype(np.float32)


def at_layers(piece: dict[str, Any], layers: Sequence[int]) -> dict[str, Any]:
    """The similarities of `layers`, weaker the lower the layer; the given ones are of the last layer, 4."""
    return {
        **piece,
        "similarity": np.concatenate([piece["similarity"] * np.float32(1 - (4 - layer) / 8) for layer in layers]),
    }


def shared_tokens(model: str, first: str, second: str) -> dict[str, Any]:
    """Characters that stand in the same place of both texts are shared."""
    if max(len(first), len(second)) > TOO_LONG:
        return {"excluded": "too long"}
    shared = [i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a == b]
    return {
        "tokens": [first[i] for i in shared],
        "first_log_likelihoods": likelihoods(model, first)[shared],
        "second_log_likelihoods": likelihoods(model, second)[shared],
        "identical": first == second,
    }


def similarities(model: str, reference: str, candidate: str) -> dict[str, Any]:
    """Cosine 1 for equal characters, noise for others."""
    sides = {"reference": reference.strip(), "candidate": candidate.strip()}
    tokens = {side: ["[CLS]", *text, "[SEP]"] for side, text in sides.items()}
    cosine = [
        [1.0 if r == c else unlike(model, *sorted((r, c))) for c in tokens["candidate"]] for r in tokens["reference"]
    ]
    piece: dict[str, Any] = {"similarity": np.array([cosine], dtype=np.float32)}
    for side, text in sides.items():
        piece[f"{side}_tokens"] = tokens[side]
        piece[f"{side}_special"] = np.array([True, *[False] * len(text), True])
        piece[f"{side}_spans"] = np.array([(-1, -1), *[(i, i + 1) for i in range(len(text))], (-1, -1)], dtype=np.int32)
    return piece
