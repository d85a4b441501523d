"""The doorway to models: evaluations ask here, and get pieces from the cache or from the workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from engine.errors import InputError
from engine.inference import keys
from engine.inference.backend import Backend, Piece, Request
from engine.inference.cache import Cache
from engine.inference.chunks import arranged, cut
from engine.inference.run_line import Progress, RunLine
from engine.models.sources.facts import ModelFacts
from engine.models.sources.names import split_revision

LAYERED = ("sentence_vectors", "token_similarities")
# What a call is of longer work: how far that was before, how far it will be after, and the whole of it.
Within = tuple[int, int, int]
SURFACE_PAIRS = 500  # about a tenth of a second of sacrebleu's work


class Gateway:
    """A backend and a cache, shared by all sessions; safe across threads."""

    def __init__(self, backend: Backend, cache: Cache | None) -> None:
        """Without a cache every piece is computed anew."""
        self.backend = backend
        self.cache = cache
        # Facts are wanted at every step; here they outlive a cache that cannot be written.
        self.facts_by_key: dict[str, ModelFacts] = {}

    def session(
        self, run_id: str, on_progress: Progress | None = None, is_cancelled: Callable[[], bool] | None = None
    ) -> GatewaySession:
        """The gateway as one run sees it: its chunks take turns with other runs' chunks."""
        return GatewaySession(self, RunLine(self.backend, run_id, on_progress, is_cancelled))


class GatewaySession:
    """What one run asks of models. Every list that comes back is aligned with its inputs.

    A piece is what `engine.models.worker` says of one item; an item that could not be computed has the field
    "excluded" with the reason. Equal inputs are computed once and share one piece: read it, do not write to it.
    Each call tells its progress from the first known number (cached items count at once) and raises Cancelled
    within a moment of `is_cancelled`, WorkerDied, or what the worker raised (ModelError, InputError, RunError).
    A model is the same for a whole session, even when its files or its branch change meanwhile.
    """

    def __init__(self, gateway: Gateway, line: RunLine) -> None:
        """Made by `Gateway.session`."""
        self._gateway = gateway
        self._line = line
        self._described: dict[str, tuple[Request, ModelFacts]] = {}

    def describe(self, model: str) -> ModelFacts:
        """The facts of a model: "builtin/…", a directory, or a Hugging Face id with or without "@revision".

        A model of the hub is fetched first, which progress tells in bytes. Raises ModelError.
        """
        return self._model(model)[1]

    def sentence_vectors(
        self, model: str, texts: Sequence[str], *, layers: Sequence[int] | None = None, pooling: str = "cls",
        precision: str = "fp32",
    ) -> list[Piece]:
        """One vector per text and layer: {"vectors": float32 (n_layers, hidden), "n_tokens": int}.

        `layers`: hidden states by number, 0 = embeddings, negative from the end; None = the last alone. Raises
        InputError for a layer the model does not have.
        """
        settings = {"pooling": pooling, "precision": precision}
        return self._ask("sentence_vectors", "Sentence vectors", model, list(texts), settings, layers=layers)

    def token_similarities(
        self, model: str, pairs: Sequence[tuple[str, str]], *, layers: Sequence[int] | None = None,
        precision: str = "fp32", within: Within | None = None,
    ) -> list[Piece]:
        """Cosines between all tokens of each (reference, candidate): {"similarity": (n_layers, n_ref, n_cand), …}.

        `layers` as in `sentence_vectors`.
        """
        items = [list(pair) for pair in pairs]
        settings = {"precision": precision}
        return self._ask("token_similarities", "Token similarities", model, items, settings, layers=layers,
                         within=within)

    def token_log_likelihoods(
        self, model: str, texts: Sequence[str], *, scoring: str, words: str = "auto", precision: str = "fp32",
        bos: bool = True, leading_space: bool = False,
    ) -> list[Piece]:
        """Log-likelihood of every scored token, in nats: {"log_likelihoods": float32 (|S|,), "tokens": …}.

        `scoring`: "causal", to which `bos` and `leading_space` apply, or "pll-original" or "pll-word-l2r", to which
        `words` does.
        """
        # Only what applies: the rest would make the same number another entry of the cache.
        own = {"bos": bos, "leading_space": leading_space} if scoring == "causal" else {"words": words}
        settings = {"scoring": scoring, "precision": precision, **own}
        return self._ask("token_log_likelihoods", "Token log-likelihoods", model, list(texts), settings)

    def shared_token_log_likelihoods(
        self, model: str, pairs: Sequence[tuple[str, str]], *, precision: str = "fp32"
    ) -> list[Piece]:
        """Log-likelihoods of the tokens that the two sentences of each pair share, under a masked model, in nats.

        {"first_log_likelihoods": float32 (n_shared,), "second_log_likelihoods": …}; see `models.scoring.shared_tokens`.
        """
        items = [list(pair) for pair in pairs]
        settings = {"precision": precision}
        return self._ask("shared_token_log_likelihoods", "Shared tokens", model, items, settings)

    def token_lists(self, model: str, texts: Sequence[str]) -> list[Piece]:
        """The tokens of each text without special tokens: {"tokens": [str]}. Quick to make, so never cached."""
        return self._ask("token_lists", "Tokens", model, list(texts), {}, kept=False)

    def document_counts(self, model: str, parts: Sequence[Sequence[str]], *, within: Within | None = None
                        ) -> list[Piece]:
        """For each list of documents, how many of them have each token, and how often: see `models.token_counts`."""
        items = [list(texts) for texts in parts]
        return self._ask("document_counts", "Counting tokens (KiB of text)", model, items, {}, within=within)

    def tokenized(self, model: str, texts: Sequence[str]) -> list[Piece]:
        """Everything known of the tokens of each text; see `models.tokenization.token_details`. Never cached."""
        return self._ask("tokenized", "Tokens", model, list(texts), {}, kept=False)

    def fill_masks(self, model: str, sentences: Sequence[Sequence[str]], *, top: int = 10) -> list[Piece]:
        """How probable the word of each (before, word, after) is at its mask: {"log_likelihoods": float32 (n,), …}.

        With the `top` predictions at each mask; see `engine.models.scoring.fill_mask`.
        """
        items = [list(parts) for parts in sentences]
        return self._ask("fill_masks", "Filling masks", model, items, {"top": top})

    def project(self, vectors: np.ndarray, *, method: str, **settings: Any) -> np.ndarray:
        """A map of vectors (n, d), float32 (n, n_components); `method` "umap" or "pca", settings of its measure."""
        self._line.stop_if_cancelled()
        asked = {"method": method, **settings}
        key = keys.array_key("project", vectors, asked)
        request = {"model": "", "revision": None, "items": [vectors], "settings": asked}
        coordinates: np.ndarray = self._alone(key, "project", request, f"Map: {method}")["coordinates"]
        return coordinates

    def on_vectors(self, operation: str, vectors: np.ndarray, *, label: str, **settings: Any) -> Piece:
        """What one of `engine.models.scoring.vector_operations` measures on vectors (n, d), told as `label`."""
        self._line.stop_if_cancelled()
        request = {"model": "", "revision": None, "items": [vectors], "settings": settings}
        return self._alone(keys.array_key(operation, vectors, settings), operation, request, label)

    def classify(self, vectors: np.ndarray, labels: Sequence[int], is_test: Sequence[bool], *, label: str,
                 **settings: Any) -> Piece:
        """Train on the vectors (n, d) that are no test, and say the classes of those that are, told as `label`.

        {"predicted": int32 (n_test,), "train_accuracy": float}; settings of `engine.models.scoring.classifier`.
        """
        self._line.stop_if_cancelled()
        asked = {"labels": [int(one) for one in labels], "is_test": [bool(one) for one in is_test], **settings}
        request = {"model": "", "revision": None, "items": [vectors], "settings": asked}
        return self._alone(keys.array_key("classify", vectors, asked), "classify", request, label)

    def surface_scores(self, pairs: Sequence[Sequence[str]], *, tokenizer: str) -> dict[str, np.ndarray]:
        """SentBLEU and chrF of pairs, each the candidate and then its references: float64 (n,) by name of the measure.

        `tokenizer` as in `engine.measures.surface`. Raises InputError.
        """
        asked, label = {"tokenizer": tokenizer}, "SentBLEU and chrF"
        parts = [[list(texts) for texts in pairs[start:start + SURFACE_PAIRS]]
                 for start in range(0, len(pairs), SURFACE_PAIRS)]
        part_keys = [keys.surface_key(part, asked) for part in parts]
        part_by_key = dict(zip(part_keys, parts, strict=True))

        def compute(missing: list[str]) -> Iterator[dict[str, Piece]]:
            done = len(part_by_key) - len(missing)
            self._line.tell(done, len(part_by_key), label)
            requests = [{"model": "", "revision": None, "items": [part_by_key[key]], "settings": asked}
                        for key in missing]
            for number, pieces in self._line.finished("surface_scores", requests):
                yield {missing[number]: pieces[0]}
                done += 1
                self._line.tell(done, len(part_by_key), label)

        pieces = self._read_through(part_keys, compute, kept=True)
        return {name: np.concatenate([pieces[key][name] for key in part_keys]) if parts else np.empty(0)
                for name in ("sentbleu", "chrf")}

    def _model(self, model: str) -> tuple[Request, ModelFacts]:
        """The fields of a request that name exactly these files or this commit, and the facts."""
        if model not in self._described:
            self._line.stop_if_cancelled()
            name, revision = split_revision(model)
            backend = self._gateway.backend
            located = backend.locate(name, revision, self._line.tell)
            request: Request = {
                "model": located.address, "revision": located.commit,
            }
            key = keys.facts_key(located, backend.devices)
            if key not in self._gateway.facts_by_key:
                asked = {**request, "items": [""], "settings": {}}
                described = self._alone(key, "describe", asked, f"Opening {model}")
                self._gateway.facts_by_key[key] = ModelFacts.from_dict(described)
            self._described[model] = (request, replace(self._gateway.facts_by_key[key], name=model))
        return self._described[model]

    def _ask(
        self, operation: str, label: str, model: str, items: list[Any], settings: dict[str, Any], *,
        layers: Sequence[int] | None = None, kept: bool = True, within: Within | None = None,
    ) -> list[Piece]:
        request, facts = self._model(model)
        if operation in LAYERED:
            settings["layers"] = resolved_layers(facts, layers)
        item_keys = keys.item_keys(operation, facts, settings, items)
        item_by_key = dict(zip(item_keys, items, strict=True))
        times = Counter(item_keys)
        label = f"{label}: {model}"
        done = len(items)
        before, after, total = within or (0, len(items), len(items))

        def tell() -> None:
            self._line.tell(before + (after - before) * done // max(len(items), 1), total, label)

        def compute(missing: list[str]) -> Iterator[dict[str, Piece]]:
            nonlocal done
            done -= sum(times[key] for key in missing)
            tell()
            missing = [missing[i] for i in arranged(operation, settings, [item_by_key[key] for key in missing])]
            asked = [item_by_key[key] for key in missing]
            chunks = [missing[part] for part in cut(operation, facts, settings, asked)]
            requests = [{**request, "items": [item_by_key[key] for key in chunk], "settings": settings}
                        for chunk in chunks]
            keep = self._gateway.cache.put_many if kept and self._gateway.cache is not None else None
            on_late = None if keep is None else lambda n, pieces: keep(dict(zip(chunks[n], pieces, strict=True)))
            with closing(self._line.finished(operation, requests, on_late)) as parts:
                for number, pieces in parts:
                    yield dict(zip(chunks[number], pieces, strict=True))
                    # The part that was handed out is in the cache by now.
                    done += sum(times[key] for key in chunks[number])
                    if done < len(items):
                        tell()

        self._line.stop_if_cancelled()
        pieces = self._read_through(item_keys, compute, kept=kept)
        self._line.tell(after, total, label)
        return [pieces[key] for key in item_keys]

    def _alone(self, key: str, operation: str, request: Request, label: str) -> Piece:
        """The one piece of a request with one item; it is told only when it has to be computed."""
        def compute(missing: list[str]) -> Iterator[dict[str, Piece]]:
            self._line.tell(0, 1, label)
            for _, pieces in self._line.finished(operation, [request]):
                yield {key: pieces[0]}
                self._line.tell(1, 1, label)

        return self._read_through([key], compute, kept=True)[key]

    def _read_through(
        self, item_keys: list[str], compute: Callable[[list[str]], Iterator[dict[str, Piece]]], *, kept: bool
    ) -> dict[str, Piece]:
        if kept and self._gateway.cache is not None:
            n_missing = 0

            def counted(missing: list[str]) -> Iterator[dict[str, Piece]]:
                nonlocal n_missing
                n_missing = len(missing)
                return compute(missing)

            found = self._gateway.cache.cached(item_keys, counted)
            self._gateway.backend.statistics.looked_up(len(found) - n_missing, n_missing)
            return found
        pieces: dict[str, Piece] = {}
        for part in compute(list(dict.fromkeys(item_keys))) if item_keys else ():
            pieces.update(part)
        return pieces


def resolved_layers(facts: ModelFacts, layers: Sequence[int] | None) -> list[int]:
    """Hidden states by number from 0 (embeddings) to n_layers; None = the last. Raises InputError beyond them."""
    if layers is None:
        return [facts.n_layers]
    n_states = facts.n_layers + 1
    wrong = [layer for layer in layers if not -n_states <= layer < n_states]
    if wrong or not layers:
        raise InputError(f"{facts.name} has hidden states 0 (embeddings) to {facts.n_layers}, or -1 to -{n_states} "
                         f"from the end; got {', '.join(map(str, wrong)) or 'none'}.")
    return [int(layer) % n_states for layer in layers]
