"""Models whose vectors come with labelled sentences: a session that answers for them as for models that are loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.labelled.outside_vectors import OutsideVectors
from engine.datasets.outside_names import has_vectors
from engine.errors import InputError
from engine.inference.backend import Piece
from engine.inference.gateway import GatewaySession
from engine.messages.message import Message, list_of
from engine.models.sources.facts import VECTORS, ModelFacts, VectorFacts, facts_of_file
from engine.models.sources.names import without_label

NO_VECTOR = Message("the file has no vector of it")
SOURCE = Message(
    "{name}: vectors from {file} ({form}), used as they are. Layer, pooling, prompt, dimensions, normalisation of the texts "
    "and precision do not apply to it, and its share of unknown tokens is not known."
)


def with_vectors(session: GatewaySession, models: Sequence[str], dataset: LabelledSentences) -> GatewaySession:
    """The session, answering for those of the models whose vectors the dataset holds.

    Raises InputError for a model that is said to have vectors and has none there.
    """
    by_name = {vectors.name: vectors for vectors in dataset.vectors}
    wanted = [model for model in models if has_vectors(without_label(model))]
    if missing := [model for model in wanted if model not in by_name]:
        raise InputError(
            Message(
                "The data hold no vectors of {missing}; they hold those of {known}. Give the file of vectors (--vectors).",
                missing=list_of(missing),
                known=list_of(by_name) or Message("no model"),
            )
        )
    if not wanted:
        return session
    return cast(GatewaySession, _WithVectors(session, {model: by_name[model] for model in wanted}))


def outside_notices(all_facts: Sequence[ModelFacts]) -> list[Message]:
    """Of each model whose vectors are from a file, where they are from and what does not apply to it."""
    return [
        SOURCE.format(name=facts.name, file=facts.vectors.file, form=Message(facts.vectors.form))
        for facts in all_facts
        if facts.vectors is not None
    ]


class _WithVectors:
    """A session of the gateway in front of models that it does not know; all else is the session's."""

    def __init__(self, session: GatewaySession, outside: Mapping[str, OutsideVectors]) -> None:
        self._session, self._outside = session, outside

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def describe(self, model: str) -> ModelFacts:
        return _facts(self._outside[model]) if model in self._outside else self._session.describe(model)

    def sentence_vectors(self, model: str, texts: Sequence[str], **asked: Any) -> list[Piece]:
        if model not in self._outside:
            return self._session.sentence_vectors(model, texts, **asked)
        vectors = self._outside[model].vectors
        if len(texts) != len(vectors):
            raise ValueError("The vectors of a file are those of all sentences of the data, in their order.")
        known = np.isfinite(vectors).all(axis=1)
        return [
            {"vectors": row[None], "n_tokens": 0} if has_it else {"excluded": NO_VECTOR}
            for row, has_it in zip(vectors, known.tolist(), strict=True)
        ]

    def document_counts(self, model: str, parts: Sequence[Sequence[str]], **asked: Any) -> list[Piece]:
        return [] if model in self._outside else self._session.document_counts(model, parts, **asked)

    def control_tokens_read(self, model: str, texts: Sequence[str]) -> list[Piece]:
        if model in self._outside:
            return [{"tokens": []} for _ in texts]
        return self._session.control_tokens_read(model, texts)


def _facts(vectors: OutsideVectors) -> ModelFacts:
    return facts_of_file(
        vectors.name,
        VECTORS,
        Message("vectors from a file"),
        vectors.digest,
        hidden_size=vectors.vectors.shape[1],
        vectors=VectorFacts(vectors.file, vectors.digest, vectors.form),
    )
