"""The operations of a worker process: each runs on one chunk of items at a time, with models kept in memory.

A request is {"model": name, "revision": str or None, "items": [...], "settings": {...}}, the settings with a resolved
precision where a model computes; the result is one piece for each item, in order: numpy arrays, strings and numbers
only, no tensor, so that it can be pickled and cached.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import torch
import transformers
from transformers import PreTrainedTokenizerBase

from engine.errors import EngineError, InputError, ModelError
from engine.messages.message import Message, list_of
from engine.models.loading.model_cache import ModelCache
from engine.models.loading.weights import LoadedModel, Task
from engine.models.preparation import tokenize_ahead
from engine.models.scoring import (
    causal_lm,
    classifier,
    encoder,
    fill_mask,
    masked_lm,
    sentence_vectors,
    seq2seq_lm,
    shared_tokens,
)
from engine.models.scoring.batching import is_out_of_memory
from engine.models.scoring.probes import batching_of, reads_ahead
from engine.models.scoring.prompted import continuations
from engine.models.scoring.running_text import causal as causal_text
from engine.models.scoring.running_text import masked as masked_text
from engine.models.scoring.vector_operations import VECTOR_OPERATIONS
from engine.models.silence_transformers import one_line_message
from engine.models.sources.facts import LoadingChecks
from engine.models.sources.model_files import fingerprint_alone, read_config
from engine.models.sources.model_location import locate
from engine.models.tokenization.offsets import control_ids, control_tokens_read
from engine.models.tokenization.token_cache import TOKENS
from engine.models.tokenization.token_counts import document_counts
from engine.models.tokenization.token_details import token_details
from engine.models.tokenization.tokenizer_loading import load_tokenizer_alone
from engine.models.tokenization.words.counts import word_document_counts
from engine.processes.garbage_collection import spare_garbage_collection

Piece = dict[str, Any]
Request = dict[str, Any]

THREADS_VARIABLE = "HAKARI_THREADS"
UNUSED_SHOWN = 5  # names of weights

_logger = logging.getLogger(__name__)


def run_chunk(operation: str, request: Request) -> list[Piece]:
    """Run one of OPERATIONS on `request["items"]`.

    Raises InputError for an unknown operation; ModelError and InputError from the operation, ModelError also for
    whatever the code of a model raises; RunError when one item alone does not fit into memory. All can be pickled.
    """
    if operation not in OPERATIONS:
        raise InputError(
            Message(
                "There is no operation {operation!r}; there are {OPERATIONS}.",
                operation=operation,
                OPERATIONS=list_of(OPERATIONS),
            )
        )
    _set_threads()
    spare_garbage_collection()
    try:
        return OPERATIONS[operation](request)
    except EngineError:
        raise
    except Exception as error:  # the code of a model, or of its tokenizer, raises errors of any class
        if operation not in _STEPS or is_out_of_memory(error):
            raise
        _logger.exception("%s of %s failed", operation, request["model"])
        raise _model_error(operation, request, error) from error


def prepare_chunk(operation: str, request: Request) -> None:
    """Tokenize the texts of a chunk that is computed later, from another thread than `run_chunk`.

    Without effect for a model that no chunk has used yet: loading it is left to the computation.
    """
    tokenizer = _tokenizers.get((request["model"], request.get("revision")))
    if tokenizer is not None:
        tokenize_ahead(tokenizer, operation, request["items"], request["settings"])


def models_in_memory() -> list[dict[str, Any]]:
    """The models that this process holds in memory, the most recently used first; see `ModelCache.contents`."""
    return _model_cache().contents()


def _describe(request: Request) -> list[Piece]:
    described = _model_cache().describe(request["model"], request.get("revision"))
    return [described.facts.to_dict()]


def _loading_checks(request: Request) -> list[Piece]:
    """What loading the model and trying it on a few tokens found, for the task that its published head has."""
    start = time.monotonic()
    kind = _model_cache().describe(request["model"], request.get("revision")).facts.kind
    task: Task = kind if kind in ("masked", "causal") else "encode"
    loaded = _model(request, task)
    unused, missing = loaded.weight_check.unused, loaded.weight_check.missing
    return [
        asdict(
            LoadingChecks(
                task,
                batching_of(loaded.model),
                reads_ahead(loaded.model) if kind == "causal" else None,
                len(unused),
                unused[:UNUSED_SHOWN],
                missing,
                round(time.monotonic() - start, 2),
            )
        )
    ]


def _sentence_vectors(request: Request) -> list[Piece]:
    return sentence_vectors.sentence_vectors(_model(request, "encode"), request["items"], **_settings(request))


def _token_similarities(request: Request) -> list[Piece]:
    return encoder.token_similarities(_model(request, "encode"), request["items"], **_settings(request))


def _token_log_likelihoods(request: Request) -> list[Piece]:
    """By the setting `scoring`: causal, of a decoder, or pseudo-log-likelihoods; settings of others are ignored."""
    settings = dict(request["settings"])
    if settings["scoring"] == "seq2seq":
        return seq2seq_lm.token_log_likelihoods(
            _model(request, "seq2seq"),
            request["items"],
            encoder_reads=settings.get("encoder_reads", seq2seq_lm.NOTHING),
            encoder_text=settings.get("encoder_text", ""),
        )
    if settings["scoring"] == "causal":
        return causal_lm.token_log_likelihoods(
            _model(request, "causal"),
            request["items"],
            prefix=settings.get("prefix"),
            leading_space=settings.get("leading_space", False),
            word_boundaries=settings.get("word_boundaries", False),
            all_layers=settings.get("all_layers", False),
        )
    return masked_lm.token_log_likelihoods(
        _model(request, "masked"),
        request["items"],
        scoring=settings["scoring"],
        words=settings.get("words", "auto"),
    )


def _continuation_log_likelihoods(request: Request) -> list[Piece]:
    return continuations.continuation_log_likelihoods(_model(request, "causal"), request["items"], **_settings(request))


def _document_log_likelihoods(request: Request) -> list[Piece]:
    """By the setting `scoring`, as of sentences; the other settings are those of the scorer."""
    settings = _settings(request)
    if settings["scoring"] == "causal":
        del settings["scoring"]
        return causal_text.document_log_likelihoods(_model(request, "causal"), request["items"], **settings)
    return masked_text.document_log_likelihoods(_model(request, "masked"), request["items"], **settings)


def _shared_token_log_likelihoods(request: Request) -> list[Piece]:
    loaded = _model(request, "masked")
    return shared_tokens.shared_token_log_likelihoods(loaded, request["items"], **_settings(request))


def _token_lists(request: Request) -> list[Piece]:
    """Tokens without special ones, of texts of any length."""
    tokenizer = _tokenizer(request)
    control = control_ids(tokenizer)
    ids_by_text = [
        [token for token in ids if token not in control] for ids in TOKENS.token_ids(tokenizer, request["items"])
    ]
    return [{"tokens": list(tokenizer.convert_ids_to_tokens(ids))} for ids in ids_by_text]


def _document_counts(request: Request) -> list[Piece]:
    tokenizer = _tokenizer(request)
    return [document_counts(tokenizer, texts) for texts in request["items"]]


def _word_counts(request: Request) -> list[Piece]:
    return [word_document_counts(texts) for texts in request["items"]]


def _fill_masks(request: Request) -> list[Piece]:
    return fill_mask.fill_masks(_model(request, "masked"), request["items"], **_settings(request))


def _project(request: Request) -> list[Piece]:
    # scikit-learn takes a second to import; a worker that draws no map does not need it.
    from engine.measures.clusters import projection

    methods: dict[str, Callable[..., np.ndarray]] = {
        "umap": projection.umap_projection,
        "pca": projection.pca_projection,
    }
    settings = dict(request["settings"])
    method = settings.pop("method")
    if method not in methods:
        raise InputError(
            Message("A map is drawn by one of {methods}; got {method!r}.", methods=list_of(methods), method=method)
        )
    return [
        {"coordinates": np.asarray(methods[method](vectors, **settings), dtype=np.float32)}
        for vectors in request["items"]
    ]


def _classify(request: Request) -> list[Piece]:
    return [classifier.train_and_predict(vectors, **request["settings"]) for vectors in request["items"]]


def _surface_scores(request: Request) -> list[Piece]:
    # Only a worker of the metric study needs sacrebleu.
    from engine.measures.surface import surface_scores

    return [surface_scores(pairs, **request["settings"]) for pairs in request["items"]]


def _on_vectors(measure: Callable[..., Piece]) -> Callable[[Request], list[Piece]]:
    return lambda request: [measure(vectors, **request["settings"]) for vectors in request["items"]]


def _token_details(request: Request) -> list[Piece]:
    tokenizer = _tokenizer(request)
    return token_details(tokenizer, request["items"])


def _tokenized_alone(request: Request) -> list[Piece]:
    """As `_token_details`, of a directory that holds a tokenizer and no model; each piece has its fingerprint."""
    directory = Path(request["model"])
    fingerprint = fingerprint_alone(directory)
    pieces = token_details(_tokenizer_alone(directory, fingerprint), request["items"])
    return [{**piece, "fingerprint": fingerprint} for piece in pieces]


@lru_cache(maxsize=4)
def _tokenizer_alone(directory: Path, fingerprint: str) -> PreTrainedTokenizerBase:
    return load_tokenizer_alone(directory)


def _control_tokens_read(request: Request) -> list[Piece]:
    tokenizer = _tokenizer(request)
    return [{"tokens": control_tokens_read(tokenizer, text)} for text in request["items"]]


OPERATIONS: dict[str, Callable[[Request], list[Piece]]] = {
    "describe": _describe,
    "loading_checks": _loading_checks,
    "sentence_vectors": _sentence_vectors,
    "token_similarities": _token_similarities,
    "token_log_likelihoods": _token_log_likelihoods,
    "continuation_log_likelihoods": _continuation_log_likelihoods,
    "document_log_likelihoods": _document_log_likelihoods,
    "shared_token_log_likelihoods": _shared_token_log_likelihoods,
    "token_lists": _token_lists,
    "tokenized": _token_details,
    "tokenized_alone": _tokenized_alone,
    "control_tokens_read": _control_tokens_read,
    "document_counts": _document_counts,
    "word_counts": _word_counts,
    "fill_masks": _fill_masks,
    "project": _project,
    "classify": _classify,
    **{name: _on_vectors(measure) for name, measure in VECTOR_OPERATIONS.items()},
    "surface_scores": _surface_scores,
}


# What models and their tokenizers are asked, for readers.
_STEPS: dict[str, str] = {
    "describe": Message("when its configuration and its tokenizer were read"),
    "loading_checks": Message("when it was loaded and tried on a few tokens"),
    "sentence_vectors": Message("when it read sentences for their vectors"),
    "token_similarities": Message("when it read pairs of sentences"),
    "token_log_likelihoods": Message("when it scored sentences"),
    "continuation_log_likelihoods": Message("when it scored sentences"),
    "document_log_likelihoods": Message("when it scored texts"),
    "shared_token_log_likelihoods": Message("when it scored sentences"),
    "fill_masks": Message("when it filled masks"),
    **dict.fromkeys(
        ("token_lists", "tokenized", "tokenized_alone", "control_tokens_read", "document_counts"),
        Message("when its tokenizer read texts"),
    ),
}


def _model_error(operation: str, request: Request, error: Exception) -> ModelError:
    """The error of a model whose code, or whose tokenizer's, failed: no fault of the input, and none of the run."""
    try:
        config = read_config(locate(request["model"], request.get("revision")).weights_directory)
        architecture = (config.get("architectures") or [config.get("model_type")])[0]
    except EngineError:
        architecture = None
    return ModelError(
        Message(
            "{name} ({architecture}) cannot be evaluated: its code failed {step} ({class_name}: {error}). The installed "
            "transformers {version} may not run this model. Choose another one, or one of its kind in another format.",
            name=request["model"],
            architecture=architecture or Message("architecture unknown"),
            step=_STEPS[operation],
            class_name=type(error).__name__,
            error=one_line_message(error),
            version=transformers.__version__,
        )
    )


def _model(request: Request, task: Task) -> LoadedModel:
    precision = request["settings"].get("precision", "fp32")
    loaded = _model_cache().load(request["model"], request.get("revision"), task, precision)
    _tokenizers[request["model"], request.get("revision")] = loaded.tokenizer
    return loaded


def _tokenizer(request: Request) -> PreTrainedTokenizerBase:
    tokenizer = _model_cache().describe(request["model"], request.get("revision")).tokenizer
    _tokenizers[request["model"], request.get("revision")] = tokenizer
    return tokenizer


# Of the models in use: a description that is dropped takes its tokenizer with it.
_tokenizers: WeakValueDictionary[tuple[str, str | None], PreTrainedTokenizerBase] = WeakValueDictionary()


def _settings(request: Request) -> dict[str, Any]:
    """The settings of a request but the precision, in which its model is loaded."""
    return {name: value for name, value in request["settings"].items() if name != "precision"}


@cache
def _model_cache() -> ModelCache:
    """One cache for the life of the process."""
    return ModelCache()


@cache
def _set_threads() -> None:
    """Set the number of threads to HAKARI_THREADS, once in a process; without it torch uses every core it may."""
    raw_value = os.environ.get(THREADS_VARIABLE, "").strip()
    if not raw_value:
        return
    if not raw_value.isdecimal() or not int(raw_value):
        raise InputError(
            Message(
                "{THREADS_VARIABLE} is a whole number of threads above 0; got {raw_value!r}.",
                THREADS_VARIABLE=THREADS_VARIABLE,
                raw_value=raw_value,
            )
        )
    torch.set_num_threads(int(raw_value))
