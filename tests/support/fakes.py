"""A compute backend without models: what it returns depends on each text, and it counts its calls.

A character is a token. Two equal characters have cosine 1; vectors and log-likelihoods depend on the whole
text, the model and the settings, so rows in the wrong order, or a setting that is not passed on, are seen.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from engine.errors import InputError, ModelError
from engine.inference.backend import DownloadProgress, Piece, Request
from engine.inference.statistics import Statistics
from engine.inference.worker_state import WorkerState
from engine.measures.surface import surface_scores
from engine.models.scoring.vector_operations import VECTOR_OPERATIONS
from engine.models.sources.facts import Kind, LoadingChecks, ModelFacts
from engine.models.sources.model_location import LocatedModel
from engine.models.tokenization.words.counts import word_document_counts
from tests.support.mask_fakes import filled

HIDDEN = 8
UNREADABLE = "<|fake|>"  # a control token that its tokenizer cannot read as text


@dataclass(frozen=True)
class Call:
    """One requested chunk."""

    operation: str
    request: Request
    run_id: str


class FakeBackend:
    """Any name is a model, unless it starts with "missing/": causal with "gpt" in it, an encoder with "encoder".

    `n_parameters` makes chunks small when large (1e9: 200 characters each). `errors` are raised by the chunk that
    holds the text. `gate`, if given, blocks every chunk until it is set. `weights` stands for the files of the
    models: another value gives every model another fingerprint and other numbers.
    """

    devices = ("cpu",)

    def __init__(
        self,
        *,
        n_layers: int = 4,
        max_tokens: int = 512,
        n_parameters: int = 1_000_000,
        weights: str = "first",
        errors: Mapping[str, Exception] | None = None,
        gate: threading.Event | None = None,
    ) -> None:
        """One thread computes, in the order of the calls."""
        self.statistics = Statistics()
        self.calls: list[Call] = []
        self.cancelled: list[str] = []
        self.states: tuple[WorkerState, ...] = ()
        self.fault_message = ""
        self.n_located = 0
        self._n_layers, self._max_tokens, self._n_parameters = n_layers, max_tokens, n_parameters
        self._weights, self._errors, self._gate = weights, dict(errors or {}), gate
        self._thread = ThreadPoolExecutor(1)
        self._futures: list[tuple[str, Future[list[Piece]]]] = []

    def n_items(self, operation: str) -> int:
        """How many items of an operation were requested."""
        return sum(len(call.request["items"]) for call in self.calls if call.operation == operation)

    def locate(self, model: str, revision: str | None = None, report: DownloadProgress | None = None) -> LocatedModel:
        """A hub model whose commit is a hash of its name, its revision and the weights."""
        self.n_located += 1
        if model.startswith("missing/"):
            raise ModelError(f"There is no model {model!r}.")
        return LocatedModel(model, "hub", Path("nowhere"), revision, _digest(model, revision, self._weights)[:40])

    def run(self, operation: str, request: Request, run_id: str) -> Future[list[Piece]]:
        """Compute in the background."""
        self.calls.append(Call(operation, request, run_id))
        future = self._thread.submit(self._chunk, operation, request)
        self._futures.append((run_id, future))
        return future

    def cancel(self, run_id: str) -> None:
        """Cancel the chunks that have not started."""
        self.cancelled.append(run_id)
        for owner, future in self._futures:
            if owner == run_id:
                future.cancel()

    def workers(self) -> tuple[WorkerState, ...]:
        """The states that the test assigned to `states`."""
        return self.states

    def pids(self) -> list[int]:
        """None: it computes in a thread."""
        return []

    def fault(self) -> str:
        """The text that the test assigned to `fault_message`."""
        return self.fault_message

    def close(self) -> None:
        """Start no further chunk."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _chunk(self, operation: str, request: Request) -> list[Piece]:
        if self._gate is not None:
            self._gate.wait(timeout=30)
        for item in request["items"]:
            if isinstance(item, str) and item in self._errors:
                raise self._errors[item]
        settings = request["settings"]
        model = (request["model"], request["revision"])
        if operation == "describe":
            return [self._facts(request["model"], request["revision"]).to_dict()]
        if operation == "loading_checks":
            if "unloadable" in request["model"]:
                raise ModelError("Its weights hold layers that its config.json does not count.")
            return [asdict(LoadingChecks("masked", "equal lengths", None, 7, ("cls.bias",), ("pooler.dense",), 0.1))]
        if operation == "project":
            return [_projected(vectors, settings) for vectors in request["items"]]
        if operation == "word_counts":
            return [word_document_counts(texts) for texts in request["items"]]
        if operation == "surface_scores":
            return [surface_scores(pairs, **settings) for pairs in request["items"]]
        if operation in VECTOR_OPERATIONS:
            return [VECTOR_OPERATIONS[operation](vectors, **settings) for vectors in request["items"]]
        if operation == "classify":
            return [classified(vectors, **settings) for vectors in request["items"]]
        computed: dict[str, Callable[[Any, Any, dict[str, Any]], Piece]] = {
            "sentence_vectors": self._vectors,
            "token_similarities": self._similarities,
            "token_log_likelihoods": self._log_likelihoods,
            "continuation_log_likelihoods": self._continuations,
            "document_log_likelihoods": self._documents,
            "token_lists": self._tokens,
            "document_counts": lambda model, texts, settings: character_counts(texts),
            "tokenized": self._tokenized,
            "shared_token_log_likelihoods": self._shared,
            "control_tokens_read": lambda model, text, settings: control_tokens_read(text),
            "fill_masks": self._fill,
        }
        return [computed[operation](model, item, settings) for item in request["items"]]

    def _facts(self, name: str, revision: str | None) -> ModelFacts:
        kind: Kind = "causal" if "gpt" in name else "encoder" if "encoder" in name else "masked"
        return ModelFacts(
            name=name,
            source="hub",
            path="nowhere",
            revision=revision,
            fingerprint=_digest(name, revision),
            tokenizer_fingerprint=_digest("characters"),
            architecture="Fake",
            kind=kind,
            n_layers=self._n_layers,
            hidden_size=HIDDEN,
            vocab_size=100,
            max_tokens=self._max_tokens,
            n_parameters=self._n_parameters,
            tokenizer="Characters",
            has_mask=kind == "masked",
            has_cls=kind != "causal",
            has_bos=kind == "causal",
            device="cpu",
            dtype="float32",
            weights_bytes=4 * self._n_parameters,
            template_tokens=("[CLS]", "[SEP]"),
            cls_and_sep=("[CLS]", "[SEP]"),
            bos_token="<s>" * (kind == "causal"),
            control_tokens=("[SEP]", UNREADABLE),
            own_code=f"{name}@sha256:{_digest(name)[:40]}" if "own-code" in name else "",
        )

    def _too_long(self, text: str) -> Piece | None:
        n_tokens = len(text) + 2
        if n_tokens <= self._max_tokens:
            return None
        return {"excluded": f"{n_tokens} tokens; the model takes {self._max_tokens}", "n_tokens": n_tokens}

    def _vectors(self, model: tuple[str, str], text: str, settings: dict[str, Any]) -> Piece:
        rows = [
            _numbers(model, text, layer, settings["pooling"], settings["precision"], n=HIDDEN)
            for layer in settings["layers"]
        ]
        return self._too_long(text) or {"vectors": np.stack(rows), "n_tokens": len(text) + 2}  # (n_layers, HIDDEN)

    def _similarities(self, model: tuple[str, str], pair: list[str], settings: dict[str, Any]) -> Piece:
        texts = [text.strip() for text in pair]
        piece: Piece = {}
        vectors = []
        for side, text in zip(("reference", "candidate"), texts, strict=True):
            if long := self._too_long(text):
                return {"excluded": f"{side}: {long['excluded']}"}
            tokens = ["[CLS]", *text, "[SEP]"]
            piece[f"{side}_tokens"] = tokens
            piece[f"{side}_special"] = np.array([len(token) > 1 for token in tokens])
            piece[f"{side}_spans"] = np.array([[-1, -1], *([i, i + 1] for i in range(len(text))), [-1, -1]], np.int32)
            rows = np.stack(
                [
                    [_numbers(model, token, layer, settings["precision"], n=HIDDEN) for token in tokens]
                    for layer in settings["layers"]
                ]
            )  # (n_layers, n_tokens, HIDDEN)
            vectors.append(rows / np.linalg.norm(rows, axis=-1, keepdims=True))
        return {**piece, "similarity": np.einsum("lih,ljh->lij", *vectors).astype(np.float32)}

    def _log_likelihoods(self, model: tuple[str, str], text: str, settings: dict[str, Any]) -> Piece:
        if long := self._too_long(text):
            return long
        causal = settings["scoring"] == "causal"
        values = [
            -abs(_numbers(model, text[: i + 1] if causal else text, i, sorted(settings.items()), n=1)[0])
            for i in range(len(text))
        ]
        ids = np.array([ord(character) for character in text], np.int32)
        before = [hash_of_token(token) for token in settings.get("prefix", ())]
        return {
            "tokens": list(text),
            "ids": ids,
            "read_ids": np.array([*before, *ids], np.int32),
            "spans": np.array([[i, i + 1] for i in range(len(text))], np.int32).reshape(-1, 2),
            "log_likelihoods": np.array(values, np.float32),
            "n_unknown": text.count("\ufffd"),
            **({"layer_log_likelihoods": self._of_layers(values)} if settings.get("all_layers") else {}),
        }

    def _of_layers(self, values: list[float]) -> np.ndarray:
        """The last layer has the numbers; those below it more and more of another text's."""
        others = np.roll(values, 1)
        shares = np.linspace(0, 1, self._n_layers + 1)
        return np.outer(values, shares).astype(np.float32) + np.outer(others, 1 - shares).astype(np.float32)

    def _continuations(self, model: tuple[str, str], item: list[str], settings: dict[str, Any]) -> Piece:
        """Of any length, so that a template may be longer than what the model takes of a sentence."""
        context, *continuations = item
        known = sorted((name, str(value)) for name, value in settings.items())
        values = [-abs(_numbers(model, context + text, len(context), known, n=1)[0]) for text in continuations]
        return {"log_likelihoods": np.array(values), "n_tokens": np.array([*map(len, continuations)], np.int32)}

    def _documents(self, model: tuple[str, str], item: tuple[str, int, int], settings: dict[str, Any]) -> Piece:
        """A share of the characters of a text; its first character is not scored without a prefix."""
        text, share, n_shares = item
        first, end = (len(text) * part // n_shares for part in (share, share + 1))
        begins = 1 if settings["scoring"] == "causal" and not settings["prefix"] and not share else first
        known = sorted((name, str(value)) for name, value in settings.items())
        values = [-abs(_numbers(model, text[i], i, known, n=1)[0]) for i in range(begins, end)]
        spans = np.array([[i, i + 1] for i in range(begins, end)], np.int32).reshape(-1, 2)
        return {
            "tokens": list(text[begins:end]),
            "ids": np.array([ord(character) for character in text[begins:end]], np.int32),
            "read_ids": np.array([0, *map(ord, text)] if not share else [], np.int32),
            "spans": spans,
            "log_likelihoods": np.array(values, np.float32),
            "n_unknown": text[begins:end].count("\ufffd"),
            "unscored_spans": np.array([[0, 1]] if begins > first else [], np.int32).reshape(-1, 2),
            "n_windows": 1,
        }

    def _shared(self, model: tuple[str, str], pair: list[str], settings: dict[str, Any]) -> Piece:
        """Characters that stand in the same place of both texts are shared."""
        if any(self._too_long(text) for text in pair):
            return {"excluded": "too long"}
        shared = [i for i, (first, second) in enumerate(zip(*pair, strict=False)) if first == second]
        sides = [
            np.array([-abs(_numbers(model, text, i, settings["precision"], n=1)[0]) for i in shared], np.float32)
            for text in pair
        ]
        return {
            "tokens": [pair[0][i] for i in shared],
            "first_log_likelihoods": sides[0],
            "second_log_likelihoods": sides[1],
            "identical": pair[0] == pair[1],
        }

    def _fill(self, model: tuple[str, str], sentence: list[str], settings: dict[str, Any]) -> Piece:
        return filled(model, sentence, max_tokens=self._max_tokens, top=settings["top"])

    def _tokenized(self, model: tuple[str, str], text: str, settings: dict[str, Any]) -> Piece:
        special = np.array([True, *[False] * len(text), True])
        spans = np.array([(-1, -1), *[(i, i + 1) for i in range(len(text))], (-1, -1)], np.int32)
        return {
            "tokens": ["[CLS]", *text, "[SEP]"],
            "ids": np.arange(len(text) + 2, dtype=np.int32),
            "spans": spans,
            "special": special,
            "words": np.array([-1, *range(len(text)), -1], np.int32),
            "unknown": np.array([False, *[c == "龘" for c in text], False]),
            "prepared": text.upper(),
        }

    def _tokens(self, model: tuple[str, str], text: str, settings: dict[str, Any]) -> Piece:
        return {"tokens": list(text)}


def control_tokens_read(text: str) -> Piece:
    """[SEP] is read as text, UNREADABLE is not."""
    return {"tokens": [UNREADABLE] if UNREADABLE in text else []}


def hash_of_token(token: str) -> int:
    """An id for a special token, which no character has."""
    return -1 - crc32(token.encode()) % 2**30


def character_counts(texts: list[str]) -> Piece:
    """The result of `engine.models.tokenization.token_counts` if every character except white space is a token."""
    documents = [Counter("".join(text.split())) for text in texts]
    tokens = sorted(set().union(*documents))
    control = [text.count(UNREADABLE) > 0 for text in texts]
    return {
        "tokens": tokens,
        "n_documents": len(texts),
        "control_tokens": [UNREADABLE] if any(control) else [],
        "control_documents": np.array([sum(control)] if any(control) else [], np.int32),
        "documents": np.array([sum(token in document for document in documents) for token in tokens], np.int32),
        "occurrences": np.array([sum(document[token] for document in documents) for token in tokens], np.int32),
    }


def _projected(vectors: np.ndarray, settings: dict[str, Any]) -> Piece:
    """The first coordinates, shifted by the seed."""
    if settings["method"] == "umap" and len(vectors) < 4:
        raise InputError(f"UMAP needs at least 4 vectors; got {len(vectors)}.")
    coordinates = vectors[:, : settings.get("n_components", 2)] + settings.get("seed", 0)
    return {"coordinates": coordinates.astype(np.float32)}


def classified(vectors: np.ndarray, *, labels: list[int], is_test: list[bool], seed: int, **settings: Any) -> Piece:
    """The class of the training vector that is nearest by one coordinate, which the seed and the settings choose."""
    test, coordinate = np.array(is_test), (seed + len(settings["hidden"]) + settings["epochs"]) % vectors.shape[1]
    gaps = np.abs(vectors[test][:, None, coordinate] - vectors[~test][None, :, coordinate])  # (n_test, n_train)
    return {"predicted": np.array(labels, dtype=np.int32)[~test][gaps.argmin(axis=1)], "train_accuracy": 1.0}


def _numbers(*content: object, n: int) -> np.ndarray:
    return _drawn(int(_digest(*content)[:16], 16), n)


@functools.lru_cache(100_000)  # a generator takes longer to make than its numbers, and samples are asked for again
def _drawn(seed: int, n: int) -> np.ndarray:
    numbers = np.random.default_rng(seed).standard_normal(n).astype(np.float32)
    numbers.setflags(write=False)
    return numbers


def _digest(*content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()
