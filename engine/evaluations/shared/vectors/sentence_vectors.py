"""The vector of a sentence as an evaluation asks for it: pooling, prompt and dimensions, settled for each model.

What a model's files say of its pooling (`ModelFacts.published`) is the default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.datasets.rows import row_notice
from engine.errors import InputError, ModelError
from engine.evaluations.shared.vectors.vector_settings import PUBLISHED, VectorSettings
from engine.messages.message import Message, list_of, together
from engine.models.sources.facts import ModelFacts


@dataclass(frozen=True)
class VectorRequest:
    """What one model is asked for: the arguments of `GatewaySession.sentence_vectors`, and the same in words."""

    pooling: str
    prompt: str
    truncate_dim: int | None
    description: str

    @property
    def arguments(self) -> dict[str, Any]:
        """As keyword arguments."""
        return {"pooling": self.pooling, "prompt": self.prompt, "truncate_dim": self.truncate_dim}


def vector_requests(
    settings: VectorSettings, all_facts: Iterable[ModelFacts], *, otherwise: str = "cls"
) -> dict[str, VectorRequest]:
    """The request of each model by its name; `otherwise`: the pooling of models whose files do not say.

    Raises InputError for a prompt given twice, and ModelError for the models that cannot be pooled so: before any model
    has worked.
    """
    if settings.prompt is not None and settings.prompt_name is not None:
        raise InputError(Message("A prompt is given as a text or by its name, not both. Leave one of them out."))
    all_facts = list(all_facts)
    requests = {facts.name: _request(settings, facts, otherwise) for facts in all_facts}
    pooled_by_cls = [facts for facts in all_facts if facts.vectors is None and requests[facts.name].pooling == "cls"]
    if without := [facts.name for facts in pooled_by_cls if not facts.has_cls]:
        raise ModelError(
            Message("No CLS token: {without}. Choose mean pooling, or models that have one.", without=list_of(without))
        )
    return requests


def signed(requests: Mapping[str, VectorRequest]) -> dict[str, str]:
    """The requests of the models in words as a signature holds them: texts, which no reader's language changes."""
    return {model: str.__str__(request.description) for model, request in requests.items()}


def vector_notices(descriptions: Mapping[str, str]) -> list[str]:
    """A notice where the vectors of the models are not made in one way; `descriptions` by model."""
    if len(set(descriptions.values())) < 2:
        return []
    each = together(
        "; ",
        (
            Message("{model}: {description}", model=model, description=description)
            for model, description in descriptions.items()
        ),
    )
    return [
        Message(
            "The models' sentence vectors are made in different ways ({each}). What is compared is each model "
            "with its way; choose one pooling for all to compare the models alone.",
            each=each,
        )
    ]


def cut_notice(model: str, pieces: Sequence[Mapping[str, Any]], rows: Sequence[int]) -> tuple[str, ...]:
    """Says which sentences a model read in part, because it was published with a longest input; none for none.

    pieces: of `GatewaySession.sentence_vectors`. rows: the number in the file of each.
    """
    lengths_by_row = {row: int(piece["n_read"]) for row, piece in zip(rows, pieces, strict=True) if "n_read" in piece}
    longest = next(iter(lengths_by_row.values()), 0)
    return row_notice(
        list(lengths_by_row),
        Message(
            "{model}: {rows} exceeds the {longest} tokens that it reads as published, and its sentence was cut "
            "there: {listed}."
        ),
        Message(
            "{model}: {rows} exceed the {longest} tokens that it reads as published, and their sentences were cut "
            "there: {listed}."
        ),
        model=model,
        longest=f"{longest:,}",
    )


def _request(settings: VectorSettings, facts: ModelFacts, otherwise: str) -> VectorRequest:
    if facts.vectors is not None:
        return VectorRequest(otherwise, "", None, Message("from the file {file}", file=facts.vectors.file))
    prompts = facts.published.prompts if facts.published is not None else {}
    followed = facts.published if settings.pooling == PUBLISHED else None
    if followed is not None and followed.problem:
        raise ModelError(
            Message(
                "{name} cannot be pooled as published: {problem}. Choose another pooling, such as mean.",
                name=facts.name,
                problem=followed.problem,
            )
        )
    if settings.prompt_name is not None and settings.prompt_name not in prompts:
        raise ModelError(
            Message(
                "{name} was not published with a prompt {prompt_name!r}; it has {listed}. Give the prompt as a text.",
                name=facts.name,
                prompt_name=settings.prompt_name,
                listed=list_of(map(repr, prompts)) or Message("none"),
            )
        )
    pooling, prompt, truncate_dim = settings.pooling, settings.prompt, settings.truncate_dim
    if prompt is None and settings.prompt_name is not None:
        prompt = prompts[settings.prompt_name]
    if followed is not None:
        prompt = prompts.get(followed.default_prompt) if prompt is None else prompt
        truncate_dim = followed.truncate_dim if truncate_dim is None else truncate_dim
    elif pooling == PUBLISHED:
        pooling = otherwise
    words = [pooling if followed is None else Message("as published ({description})", description=followed.description)]
    words += [Message("prompt {prompt!r}", prompt=prompt)] if prompt else []
    words += [Message("{n} dimensions", n=truncate_dim)] if truncate_dim is not None else []
    return VectorRequest(pooling, prompt or "", truncate_dim, together(", ", words))
