"""The interface to models for evaluations: results come from the cache, or are computed by the workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.inference import keys
from engine.inference.backend import Backend, Piece, Request
from engine.inference.cache import Cache
from engine.inference.chunks import shares_of_documents
from engine.inference.computed_items import Operation
from engine.inference.document_shares import in_shares, joined
from engine.inference.owned_pieces import pieces_for
from engine.inference.piece_columns import PieceColumns
from engine.inference.run_client import Progress, RunClient
from engine.inference.scoring_settings import continuation_settings, scoring_settings
from engine.inference.without_model import ProgressSpan, computed, in_order
from engine.layer_numbers import resolve_layers
from engine.messages.message import Message
from engine.models.sources.facts import LoadingChecks, ModelFacts
from engine.models.sources.model_files import has_weights
from engine.models.sources.names import local_directory, split_label, split_revision
from engine.models.tokenization.prefix_tokens import AUTO
from engine.precision import DEFAULT_PRECISION, resolved

OPERATIONS_WITH_LAYERS = ("sentence_vectors", "token_similarities")
TOKENIZED_TEXTS = 5_000  # per chunk of a tokenizer without its model
SURFACE_PAIRS = 500  # per chunk: about a tenth of a second of sacrebleu


class Gateway:
    """A backend and a cache, shared by all sessions; thread-safe."""

    def __init__(self, backend: Backend, cache: Cache | None, public_owner: str | None = None) -> None:
        """Without a cache every piece is computed again. `public_owner` as in `owned_pieces.pieces_for`."""
        self.backend, self.cache, self.public_owner = backend, cache, public_owner
        # By owner ("" where pieces answer all) and key. Needed by every call, also when the cache cannot be written.
        self.facts_by_key: dict[tuple[str, str], ModelFacts] = {}

    def session(
        self,
        run_id: str,
        on_progress: Progress | None = None,
        is_cancelled: Callable[[], bool] | None = None,
        *,
        owner: str = "",
    ) -> GatewaySession:
        """A session for one run of `owner`; its chunks are scheduled in turn with those of other runs."""
        return GatewaySession(self, RunClient(self.backend, run_id, on_progress, is_cancelled), owner)


# What is told of the progress of each operation on a model's texts.
LABELS = {
    "sentence_vectors": Message("Sentence vectors"),
    "token_similarities": Message("Token similarities"),
    "token_log_likelihoods": Message("Token log-likelihoods"),
    "continuation_log_likelihoods": Message("Sentences in templates"),
    "document_log_likelihoods": Message("Token log-likelihoods"),
    "shared_token_log_likelihoods": Message("Shared tokens"),
    "document_counts": Message("Counting tokens (KiB of text)"),
    "control_tokens_read": Message("Control tokens"),
    "fill_masks": Message("Filling masks"),
    "token_lists": Message("Tokens"),
    "tokenized": Message("Tokens"),
}


class GatewaySession:
    """The model operations of one run. Every list that is returned is aligned with its inputs.

    A piece is the result of `engine.models.worker` for one item; an item that could not be computed has the field
    "excluded" with the reason. Equal inputs are computed once and share one piece, which must not be modified.
    Each call reports its progress, in which cached items count as done, and raises Cancelled soon after
    `is_cancelled` returns true, WorkerDied, or what the worker raised (ModelError, InputError, RunError).
    A model is resolved once per session, even if its files or its branch change meanwhile.
    `precision` is a choice of `engine.precision`; what it stands for is in the request and in the keys of the pieces.
    """

    def __init__(self, gateway: Gateway, client: RunClient, owner: str) -> None:
        """Use `Gateway.session`."""
        self._gateway, self._client = gateway, client
        self._owner = "" if gateway.public_owner is None else owner
        self._cache = pieces_for(owner, gateway.cache, gateway.public_owner)
        self._described: dict[str, tuple[Request, ModelFacts]] = {}

    def describe(self, model: str) -> ModelFacts:
        """The facts of a model: "builtin/…", a directory, or a Hugging Face id with or without "@revision".

        A model of the hub is downloaded first. A label stays in the name of the facts alone. Raises ModelError.
        """
        return self._model(model)[1]

    def loading_checks(self, model: str) -> LoadingChecks:
        """What loading a model and trying it on a few tokens finds, once for each fingerprint. Raises ModelError."""
        request, facts = self._model(model)
        settings = {"precision": resolved(DEFAULT_PRECISION, facts.dtype, facts.device)}
        request = {**request, "items": [""], "settings": settings}
        [key] = keys.item_keys("loading_checks", facts, settings, [""])
        return LoadingChecks.from_dict(
            self._compute_one(key, "loading_checks", request, Message("Loading {model}", model=model))
        )

    def sentence_vectors(
        self,
        model: str,
        texts: Sequence[str],
        *,
        layers: Sequence[int] | None = None,
        pooling: str = "cls",
        prompt: str = "",
        truncate_dim: int | None = None,
        precision: str = DEFAULT_PRECISION,
    ) -> list[Piece]:
        """One vector per text and layer: {"vectors": float32 (n_layers, d), "n_tokens": int}.

        `pooling`, `prompt` and `truncate_dim` as in `engine.models.scoring.sentence_vectors`.
        `layers`: hidden states by number, 0 = embeddings, negative from the end; None = the last alone. Raises
        InputError for a layer the model does not have.
        """
        settings: dict[str, Any] = {"pooling": pooling, "precision": precision}  # equal vectors have equal keys
        settings |= {"prompt": prompt} if prompt else {}
        settings |= {"truncate_dim": truncate_dim} if truncate_dim is not None else {}
        return self._compute_each("sentence_vectors", model, list(texts), settings, layers=layers)

    def token_similarities(
        self,
        model: str,
        pairs: Sequence[tuple[str, str]],
        *,
        layers: Sequence[int] | None = None,
        precision: str = DEFAULT_PRECISION,
        within: ProgressSpan | None = None,
    ) -> list[Piece]:
        """Cosines between all tokens of each (reference, candidate): {"similarity": (n_layers, n_ref, n_cand), …}.

        `layers` as in `sentence_vectors`.
        """
        return self._compute_each(
            "token_similarities",
            model,
            [list(pair) for pair in pairs],
            {"precision": precision},
            layers=layers,
            within=within,
        )

    def token_log_likelihoods(
        self,
        model: str,
        texts: Sequence[str],
        *,
        scoring: str,
        words: str = "auto",
        precision: str = DEFAULT_PRECISION,
        prefix: str = AUTO,
        leading_space: bool = False,
        word_boundaries: bool = False,
        all_layers: bool = False,
        encoder_reads: str = "nothing",
        encoder_text: str = "",
    ) -> Sequence[Piece]:
        """Log-likelihood of every scored token, in nats: {"log_likelihoods": float32 (|S|,), "tokens": …}.

        `scoring`: "causal", to which `prefix` (a choice of `prefix_tokens`), `leading_space`, `word_boundaries` and
        `all_layers` apply (`models.scoring.causal_lm`); "seq2seq", to which `encoder_reads` and `encoder_text` do
        (`models.scoring.seq2seq_lm`); or one of `models.scoring.masked_lm`, to which `words` does.
        """
        settings = scoring_settings(
            self._model(model)[1],
            scoring,
            precision,
            words=words,
            prefix=prefix,
            leading_space=leading_space,
            word_boundaries=word_boundaries,
            all_layers=all_layers,
            encoder_reads=encoder_reads,
            encoder_text=encoder_text,
        )
        return self._compute_columns("token_log_likelihoods", model, texts, settings)

    def continuation_log_likelihoods(
        self,
        model: str,
        items: Sequence[Sequence[str]],
        *,
        precision: str = DEFAULT_PRECISION,
        prefix: str = AUTO,
        chat: bool = False,
    ) -> list[Piece]:
        """Log-likelihoods of what follows a context, (context, continuation, …), under a causal model, in nats.

        {"log_likelihoods": float64 (n_continuations,), "n_tokens": …}; `prefix` as in `token_log_likelihoods`. chat: in
        place of a prefix the context is put into the tokenizer's chat template; see `models.scoring.prompted.continuations`.
        Raises InputError where it has none.
        """
        settings = continuation_settings(self._model(model)[1], precision, prefix=prefix, chat=chat)
        return self._compute_each("continuation_log_likelihoods", model, list(map(list, items)), settings)

    def document_log_likelihoods(
        self,
        model: str,
        texts: Sequence[str],
        *,
        scoring: str,
        window: int,
        stride: int,
        window_prefix: str = "each",
        words: str = "auto",
        precision: str = DEFAULT_PRECISION,
        prefix: str = AUTO,
        leading_space: bool = False,
    ) -> list[Piece]:
        """As `token_log_likelihoods`, of texts of any length, read in windows: see `models.scoring.running_text`.

        Pieces have "unscored_spans" int32 (n, 2), the characters of tokens without any before them in their window,
        and "n_windows", too. A long text is computed and kept in shares.
        """
        facts = self._model(model)[1]
        precision = resolved(precision, facts.dtype, facts.device)
        settings = scoring_settings(facts, scoring, precision, words=words, prefix=prefix, leading_space=leading_space)
        settings |= {"window": window, "stride": stride}
        settings |= {"window_prefix": window_prefix} if scoring == "causal" else {}
        n_shares = shares_of_documents(facts, settings, texts)
        pieces = self._compute_each("document_log_likelihoods", model, in_shares(texts, n_shares), settings)
        return joined(pieces, n_shares)

    def shared_token_log_likelihoods(
        self,
        model: str,
        pairs: Sequence[tuple[str, str]],
        *,
        precision: str = DEFAULT_PRECISION,
        next_token: bool = False,
    ) -> list[Piece]:
        """Log-likelihoods of the tokens that the two sentences of each pair share, under a masked model, in nats.

        {"first_log_likelihoods": float32 (n_shared,), "second_log_likelihoods": …}; see `models.scoring.shared_tokens`.
        """
        return self._compute_each(
            "shared_token_log_likelihoods",
            model,
            [list(pair) for pair in pairs],
            {"precision": precision, **({"next_token": True} if next_token else {})},
        )

    def token_lists(self, model: str, texts: Sequence[str]) -> list[Piece]:
        """The tokens of each text without special tokens: {"tokens": [str]}. Fast to compute, so never cached."""
        return self._compute_each("token_lists", model, list(texts), {}, cached=False)

    def document_counts(
        self, model: str, parts: Sequence[Sequence[str]], *, within: ProgressSpan | None = None
    ) -> list[Piece]:
        """Document and token frequencies in each list of documents; see `engine.models.tokenization.token_counts`."""
        items = [list(texts) for texts in parts]
        return self._compute_each("document_counts", model, items, {}, within=within)

    def word_counts(self, parts: Sequence[Sequence[str]], *, within: ProgressSpan | None = None) -> list[Piece]:
        """As `document_counts`, of MeCab's words. They need no model, and are never cached: MeCab is as fast."""
        self._client.raise_if_cancelled()
        lists = list(map(list, parts))
        return in_order(
            computed(self._client, "word_counts", lists, {}, Message("Counting words (KiB of text)"), within)
        )

    def tokenized(self, model: str, texts: Sequence[str]) -> list[Piece]:
        """Everything known of the tokens of each text; see `engine.models.tokenization.token_details`. Never cached."""
        return self._compute_each("tokenized", model, list(texts), {}, cached=False)

    def tokenized_alone(self, model: str, texts: Sequence[str]) -> tuple[list[Piece], str]:
        """As `tokenized`, and the fingerprint of the tokenizer, of a model or of a directory that holds no model.

        Raises ModelError where there is no tokenizer.
        """
        directory = local_directory(model)
        if directory is None or has_weights(directory):
            return self.tokenized(model, texts), self.describe(model).tokenizer_fingerprint
        self._client.raise_if_cancelled()
        parts = [list(texts[start : start + TOKENIZED_TEXTS]) for start in range(0, len(texts), TOKENIZED_TEXTS)]
        requests: list[Request] = [
            {"model": str(directory), "revision": None, "items": part, "settings": {}} for part in parts
        ]
        label = Message("{label}: {model}", label=LABELS["tokenized"], model=model)
        by_part: dict[int, list[Piece]] = {}
        for index, pieces in self._client.as_completed("tokenized_alone", requests):
            by_part[index] = pieces
            self._client.report(len(by_part), len(parts), label)
        found = [piece for index in range(len(parts)) for piece in by_part[index]]
        return found, str(found[0]["fingerprint"]) if found else ""

    def control_tokens_read(self, model: str, texts: Sequence[str]) -> list[Piece]:
        """Control tokens in each text that the tokenizer cannot read as text: {"tokens": [str]}. Never cached."""
        return self._compute_each("control_tokens_read", model, list(texts), {}, cached=False)

    def fill_masks(
        self, model: str, sentences: Sequence[Sequence[str]], *, top: int = 10, precision: str = DEFAULT_PRECISION
    ) -> list[Piece]:
        """Log-likelihood of the word in each (before, word, after) at its mask: {"log_likelihoods": float32 (n,), …}.

        Includes the `top` predictions at each mask; see `engine.models.scoring.fill_mask`.
        """
        return self._compute_each(
            "fill_masks", model, [list(parts) for parts in sentences], {"top": top, "precision": precision}
        )

    def project(self, vectors: np.ndarray, *, method: str, **settings: Any) -> np.ndarray:
        """A projection of vectors (n, d), float32 (n, n_components); `method` "umap" or "pca" with its settings."""
        self._client.raise_if_cancelled()
        all_settings = {"method": method, **settings}
        key = keys.array_key("project", vectors, all_settings)
        request = {"model": "", "revision": None, "items": [vectors], "settings": all_settings}
        coordinates: np.ndarray = self._compute_one(key, "project", request, Message("Map: {method}", method=method))[
            "coordinates"
        ]
        return coordinates

    def on_vectors(self, operation: str, vectors: np.ndarray, *, label: str, **settings: Any) -> Piece:
        """A result of `engine.models.scoring.vector_operations` on vectors (n, d); `label` names it in progress."""
        self._client.raise_if_cancelled()
        request = {"model": "", "revision": None, "items": [vectors], "settings": settings}
        return self._compute_one(keys.array_key(operation, vectors, settings), operation, request, label)

    def classify(
        self, vectors: np.ndarray, labels: Sequence[int], is_test: Sequence[bool], *, label: str, **settings: Any
    ) -> Piece:
        """Train a classifier on the vectors (n, d) outside the test set, and predict the classes of the test set.

        {"predicted": int32 (n_test,), "train_accuracy": float}; settings of `engine.models.scoring.classifier`.
        `label` names it in progress.
        """
        self._client.raise_if_cancelled()
        all_settings = {
            "labels": [int(class_id) for class_id in labels],
            "is_test": [bool(flag) for flag in is_test],
            **settings,
        }
        request = {"model": "", "revision": None, "items": [vectors], "settings": all_settings}
        return self._compute_one(keys.array_key("classify", vectors, all_settings), "classify", request, label)

    def surface_scores(self, pairs: Sequence[Sequence[str]], *, tokenizer: str) -> dict[str, np.ndarray]:
        """SentBLEU and chrF of pairs, each the candidate and then its references: float64 (n,) by name of the measure.

        `tokenizer` as in `engine.measures.surface`. Raises InputError.
        """
        settings, label = {"tokenizer": tokenizer}, Message("SentBLEU and chrF")
        parts = [
            [list(texts) for texts in pairs[start : start + SURFACE_PAIRS]]
            for start in range(0, len(pairs), SURFACE_PAIRS)
        ]
        part_by_key = dict(zip(part_keys := [keys.surface_key(part, settings) for part in parts], parts, strict=True))

        def compute(missing: list[str]) -> Iterator[dict[str, Piece]]:
            n, items = len(part_by_key), [part_by_key[key] for key in missing]
            within = n - len(missing), n, n
            for index, piece in computed(self._client, "surface_scores", items, settings, label, within):
                yield {missing[index]: piece}

        pieces = self._read_through(part_keys, compute, cached=True)
        return {
            name: np.concatenate([pieces[key][name] for key in part_keys]) if parts else np.empty(0)
            for name in ("sentbleu", "chrf")
        }

    def _model(self, model: str) -> tuple[Request, ModelFacts]:
        """The fields of a request that identify the files or the commit, and the facts."""
        if model not in self._described:
            self._client.raise_if_cancelled()
            name, revision = split_revision(split_label(model)[1])
            backend = self._gateway.backend
            located = backend.locate(name, revision, self._client.report)
            request: Request = {"model": located.address, "revision": located.pinned_revision}
            if located.own_code:
                request["own_code"] = located.own_code.entries
            key, facts_by_key = keys.facts_key(located, backend.devices), self._gateway.facts_by_key
            if (self._owner, key) not in facts_by_key:
                describe_request = {**request, "items": [""], "settings": {}}
                facts = self._compute_one(key, "describe", describe_request, Message("Opening {model}", model=model))
                facts_by_key[self._owner, key] = ModelFacts.from_dict(facts)
            self._described[model] = (request, replace(facts_by_key[self._owner, key], name=model))
        return self._described[model]

    def _compute_each(
        self,
        operation: str,
        model: str,
        items: list[Any],
        settings: dict[str, Any],
        *,
        layers: Sequence[int] | None = None,
        cached: bool = True,
        within: ProgressSpan | None = None,
    ) -> list[Piece]:
        asked = self._operation(operation, model, settings, cached=cached)
        if operation in OPERATIONS_WITH_LAYERS:
            settings["layers"] = resolve_layers(layers, asked.facts.n_layers, asked.facts.name)
        item_keys = asked.keys_of(items)
        item_by_key = dict(zip(item_keys, items, strict=True))
        _, after, total = within or (0, len(items), len(items))
        compute = asked.computing(item_by_key, Counter(item_keys), len(items), within)
        self._client.raise_if_cancelled()
        pieces = self._read_through(item_keys, compute, cached=cached)
        self._client.report(after, total, asked.label)
        return [pieces[key] for key in item_keys]

    def _compute_columns(
        self, operation: str, model: str, items: Sequence[str], settings: dict[str, Any]
    ) -> PieceColumns:
        """As `_compute_each`, of texts."""
        asked = self._operation(operation, model, settings)
        self._client.raise_if_cancelled()
        pieces, n_found, n_missing = asked.in_columns(items)
        if self._cache is not None:
            self._gateway.backend.statistics.record_lookups(n_found, n_missing)
        self._client.report(len(items), len(items), asked.label)
        return pieces

    def _operation(self, name: str, model: str, settings: dict[str, Any], *, cached: bool = True) -> Operation:
        """An operation of a model, with the precision that is computed in put into the settings."""
        request, facts = self._model(model)
        if "precision" in settings and not facts.endpoint:
            settings["precision"] = resolved(settings["precision"], facts.dtype, facts.device)
        label = Message("{label}: {model}", label=LABELS[name], model=model)
        return Operation(name, request, facts, settings, label, self._client, self._cache if cached else None)

    def _compute_one(self, key: str, operation: str, request: Request, label: str) -> Piece:
        """The piece of a request with one item; progress is reported only if it has to be computed."""

        def compute(missing: list[str]) -> Iterator[dict[str, Piece]]:
            self._client.report(0, 1, label)
            for _, pieces in self._client.as_completed(operation, [request]):
                yield {key: pieces[0]}
                self._client.report(1, 1, label)

        return self._read_through([key], compute, cached=True)[key]

    def _read_through(
        self, item_keys: list[str], compute: Callable[[list[str]], Iterator[dict[str, Piece]]], *, cached: bool
    ) -> dict[str, Piece]:
        if cached and self._cache is not None:
            n_missing = 0

            def compute_counted(missing: list[str]) -> Iterator[dict[str, Piece]]:
                nonlocal n_missing
                n_missing = len(missing)
                return compute(missing)

            cached_pieces = self._cache.cached(item_keys, compute_counted)
            self._gateway.backend.statistics.record_lookups(len(cached_pieces) - n_missing, n_missing)
            return cached_pieces
        pieces: dict[str, Piece] = {}
        for part in compute(list(dict.fromkeys(item_keys))) if item_keys else ():
            pieces.update(part)
        return pieces
