"""The settings of an evaluation on sentence vectors: pooling, prompt and dimensions, declared once for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from engine.evaluations.shared.precision import computed_in_fp32
from engine.messages.message import Message
from engine.options import Choice, option

PUBLISHED = "published"
POOLINGS = (
    Choice(
        "cls",
        "CLS",
        "the first token's vector; a model without a CLS token has none",
        "the vector of its first token ([CLS])",
    ),
    Choice(
        "mean",
        "Mean of all tokens",
        "the mean over the vectors of all tokens, special ones included, as sentence-transformers takes it",
        "the mean of the vectors of all its tokens",
    ),
    Choice(
        "mean-without-special",
        "Mean without special tokens",
        "the mean over the vectors of the sentence's own tokens",
        "the mean of the vectors of its own tokens, special ones left out",
    ),
    Choice(
        "last",
        "Last token",
        "the last token's vector, as embedding models made from causal ones take it",
        "the vector of its last token",
    ),
    Choice(
        "weighted-mean",
        "Weighted mean",
        "the mean in which the k-th token weighs k",
        "the mean of the vectors of its tokens, the k-th with weight k",
    ),
)


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


def pooling_option(help: str, *, otherwise: str, more: tuple[Choice, ...] = ()) -> Any:
    """The field `pooling`; `otherwise`: of models whose files do not say; `more`: choices of one evaluation alone."""
    published = Message(
        "as the model's files say (modules.json of sentence-transformers: pooling, Dense, Normalize, "
        "prompt, lower-casing, longest input); {otherwise} where they do not say",
        otherwise=otherwise,
    )
    return option(PUBLISHED, help, choices=(Choice(PUBLISHED, "As published", published), *POOLINGS, *more))


def prompt_option() -> Any:
    """The field `prompt`."""
    return option(
        None,
        'Text put before each sentence, such as "query: " or "検索クエリ: ".',
        metavar="TEXT",
        unset="none, or as published",
    )


def prompt_name_option() -> Any:
    """The field `prompt_name`."""
    return option(
        None,
        "Name of a prompt that each model was published with (query, document …), in place of a text.",
        metavar="NAME",
        unset="as published",
    )


def truncate_dim_option() -> Any:
    """The field `truncate_dim`."""
    return option(
        None,
        "Numbers of a vector that are kept, the first ones: for models trained so that fewer do (Matryoshka).",
        least=1,
        metavar="N",
        unset="all, or as published",
    )


def upgraded(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """The stored settings of an earlier version: "mean" left special tokens out, and all was computed in float32.

    >>> upgraded({"pooling": "mean"})["pooling"], upgraded({"pooling": "mean", "prompt": None})["pooling"]
    ('mean-without-special', 'mean')
    """
    stored = computed_in_fp32(stored)
    if stored.get("pooling") == "mean" and "prompt" not in stored:
        return {**stored, "pooling": "mean-without-special"}
    return stored
