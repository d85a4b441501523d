"""The vector of a sentence as an evaluation asks for it: pooling, prompt and dimensions, settled for each model.

The settings of an evaluation on sentence vectors have the four fields of `VectorSettings`, declared by the functions
below. What a model's files say of its pooling (`ModelFacts.published`) is the default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from engine.datasets.formats.grid import quoted
from engine.errors import InputError, ModelError
from engine.models.sources.facts import ModelFacts
from engine.options import option

PUBLISHED = "published"
ROWS_IN_NOTICE = 10
_MEANINGS = {
    "cls": "the first token's vector; a model without a CLS token has none",
    "mean": "the mean over the vectors of all tokens, special ones included, as sentence-transformers takes it",
    "mean-without-special": "the mean over the vectors of the sentence's own tokens",
    "last": "the last token's vector, as embedding models made from causal ones take it",
    "weighted-mean": "the mean in which the k-th token weighs k",
}


class VectorSettings(Protocol):
    """The fields that the settings of an evaluation on sentence vectors have."""

    @property
    def pooling(self) -> str:
        """Of `pooling_option`."""

    @property
    def prompt(self) -> str | None:
        """Of `prompt_option`."""

    @property
    def prompt_name(self) -> str | None:
        """Of `prompt_name_option`."""

    @property
    def truncate_dim(self) -> int | None:
        """Of `truncate_dim_option`."""


def pooling_option(help: str, *, otherwise: str, more: Mapping[str, str] | None = None) -> Any:
    """The field `pooling`; `otherwise`: of models whose files do not say; `more`: choices of one evaluation alone."""
    published = ("as the model's files say (modules.json of sentence-transformers: pooling, Dense, Normalize, prompt, "
                 f"lower-casing, longest input); {otherwise} where they do not say")
    return option(PUBLISHED, help, choices={PUBLISHED: published, **_MEANINGS, **(more or {})})


def prompt_option() -> Any:
    """The field `prompt`."""
    return option(None, 'Text put before each sentence, such as "query: " or "検索クエリ: ".', metavar="TEXT",
                  unset="none, or the default prompt of a model pooled as published")


def prompt_name_option() -> Any:
    """The field `prompt_name`."""
    return option(None, "Name of a prompt that each model was published with (query, document …), in place of a text.",
                  metavar="NAME", unset="the model's default prompt")


def truncate_dim_option() -> Any:
    """The field `truncate_dim`."""
    return option(None, "Numbers of a vector that are kept, the first ones: for models trained so that fewer do "
                        "(Matryoshka).", least=1, metavar="N", unset="all, or as published")


def upgraded(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """The stored settings of an earlier version, in which "mean" left special tokens out and there were no prompts.

    >>> upgraded({"pooling": "mean"})["pooling"], upgraded({"pooling": "mean", "prompt": None})["pooling"]
    ('mean-without-special', 'mean')
    """
    if stored.get("pooling") == "mean" and "prompt" not in stored:
        return {**stored, "pooling": "mean-without-special"}
    return stored


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
