"""The vector of a sentence as an evaluation asks for it: pooling, prompt and dimensions, settled for each model.

What a model's files say of its pooling (`ModelFacts.published`) is the default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.datasets.formats.grid import quoted
from engine.errors import InputError, ModelError
from engine.evaluations.shared.vector_settings import PUBLISHED, VectorSettings
from engine.models.sources.facts import ModelFacts

ROWS_IN_NOTICE = 10


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


def vector_requests(settings: VectorSettings, all_facts: Iterable[ModelFacts], *, otherwise: str = "cls"
                    ) -> dict[str, VectorRequest]:
    """The request of each model by its name; `otherwise`: the pooling of models whose files do not say.

    Raises InputError for a prompt given twice, and ModelError for the models that cannot be pooled so: before any model
    has worked.
    """
    if settings.prompt is not None and settings.prompt_name is not None:
        raise InputError("A prompt is given as a text or by its name, not both. Leave one of them out.")
    all_facts = list(all_facts)
    requests = {facts.name: _request(settings, facts, otherwise) for facts in all_facts}
    if without := [facts.name for facts in all_facts if requests[facts.name].pooling == "cls" and not facts.has_cls]:
        raise ModelError(f"No CLS token: {', '.join(without)}. Choose mean pooling, or models that have one.")
    return requests


def cut_notices(pieces_by_model: Mapping[str, Sequence[Mapping[str, Any]]], rows: Sequence[int]) -> list[str]:
    """Says which sentences a model read in part, because it was published with a longest input; `rows` of the file."""
    notices = []
    for model, pieces in pieces_by_model.items():
        cut = [(rows[i], int(piece["n_read"])) for i, piece in enumerate(pieces) if "n_read" in piece]
        if cut:
            listed = quoted([str(row) for row, _ in cut], ROWS_IN_NOTICE).replace("'", "")
            notices.append(f"{model}: {len(cut):,} of {len(pieces):,} sentences are longer than the {cut[0][1]:,} "
                           f"tokens it reads as published, and were cut there (row {listed}).")
    return notices


def _request(settings: VectorSettings, facts: ModelFacts, otherwise: str) -> VectorRequest:
    published, pooling = facts.published, settings.pooling
    if pooling == PUBLISHED and published is None:
        pooling = otherwise
    if pooling == PUBLISHED and published is not None and published.problem:
        raise ModelError(f"{facts.name} cannot be pooled as published: {published.problem}. Choose another pooling, "
                         "such as mean.")
    prompts = published.prompts if published is not None else {}
    if settings.prompt_name is not None and settings.prompt_name not in prompts:
        raise ModelError(f"{facts.name} was not published with a prompt {settings.prompt_name!r}; it has "
                         f"{', '.join(map(repr, prompts)) or 'none'}. Give the prompt as a text.")
    default = prompts.get(published.default_prompt, "") if pooling == PUBLISHED and published is not None else ""
    prompt = settings.prompt if settings.prompt is not None else prompts.get(settings.prompt_name or "", default)
    truncate_dim = settings.truncate_dim
    if truncate_dim is None and pooling == PUBLISHED and published is not None:
        truncate_dim = published.truncate_dim
    words = [f"as published ({published.description})" if pooling == PUBLISHED and published is not None else pooling]
    words += [f"prompt {prompt!r}"] if prompt else []
    words += [f"{truncate_dim} dimensions"] if truncate_dim is not None else []
    return VectorRequest(pooling, prompt, truncate_dim, ", ".join(words))
