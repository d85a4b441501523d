"""A kind of model in the zoo, and one specimen of it: a directory as published, and the very model that was saved."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from engine.models.loading.model_description import DescribedModel, describe
from engine.models.loading.weights import LoadedModel, load_from_description
from engine.models.sources.facts import Kind
from engine.models.sources.model_location import locate
from tests.models.zoo.tokenizer_files.published import Published, Writer

# Embeddings beyond the tokenizer's pieces, as many published models have; images of packaged models are among them.
SPARE = 6
# The standard deviation of the weights, ten times the usual, so that different tokens give clearly different numbers.
DEVIATION = 0.2


@dataclass(frozen=True)
class ModelKind:
    """One architecture with a tokenizer of its family.

    architecture: the class of transformers that it is published as. config: that of its configuration, with these
    settings. kind: what the engine has to take it for. tokens: writes the tokenizer. part: settings that belong to
    the text part of a multimodal configuration. cls: where the CLS stands, None without one. deviation: of weights.
    changes_with_use: the model is another one after a text, by its length.
    layers: those that can be asked for together; None: all, and () for none at all.
    """

    name: str
    architecture: str
    kind: Kind
    tokens: Writer = field(repr=False)
    settings: dict[str, Any] = field(default_factory=dict)
    part: dict[str, Any] | None = None
    cls: int | None = None
    deviation: float = DEVIATION
    changes_with_use: bool = False
    layers: tuple[tuple[int, ...], ...] | None = None


@dataclass
class Specimen:
    """A directory with the model that was saved into it, and the same as the engine loads it.

    rounding: how far its numbers may be from those of the engine where that is more than the tolerance of `checks`.
    """

    kind: ModelKind
    folder: Path
    model: PreTrainedModel
    published: Published
    rounding: float = 0.0

    def unused(self) -> PreTrainedModel:
        """The model before it has read any text: the length of one changes BigBird, and those with dynamic rope."""
        return deepcopy(self.model) if self.kind.changes_with_use else self.model

    @cached_property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        """As transformers alone loads it."""
        return AutoTokenizer.from_pretrained(self.folder)

    @cached_property
    def described(self) -> DescribedModel:
        return describe(locate(str(self.folder), None))

    @cached_property
    def encoder(self) -> LoadedModel:
        return load_from_description(self.described, "encode")

    @cached_property
    def scorer(self) -> LoadedModel:
        assert self.kind.kind in ("masked", "causal")
        return load_from_description(self.described, "causal" if self.kind.kind == "causal" else "masked")


def build(kind: ModelKind, folder: Path, most: int | None = None) -> Specimen:
    """Write a kind of model into an empty directory, as `save_pretrained` lays it out.

    most: of how many numbers a model is made at all; a ValueError says how many it would have.
    """
    folder.mkdir(parents=True)
    published = kind.tokens(folder)
    model = make_model(kind, published, most)
    model.save_pretrained(folder)
    return Specimen(kind, folder, model, published)


def make_model(kind: ModelKind, published: Published, most: int | None = None) -> PreTrainedModel:
    """The model with random weights, drawn with a seed."""
    model_class = getattr(transformers, kind.architecture)
    special = {
        f"{role}_id": number
        for role, number in published.roles.items()
        if role in ("bos_token", "eos_token", "pad_token")
    }
    sizes = {"vocab_size": published.size + SPARE, **special}
    if kind.part is None:
        config = model_class.config_class(**{**sizes, **kind.settings})
    else:
        config = model_class.config_class(
            text_config={**sizes, **kind.part},
            **{name: published.size if value == "image" else value for name, value in kind.settings.items()},
        )
    if most is not None:
        with torch.device("meta"):  # which has no memory
            n_numbers = model_class(config).num_parameters()
        if n_numbers > most:
            raise ValueError(f"{n_numbers:,} numbers")
    torch.manual_seed(0)
    with warnings.catch_warnings(action="ignore"):  # MobileBERT has a matrix without a row
        model = model_class(config).eval()
    draw_weights(model, kind.deviation)
    return model


@torch.no_grad()
def draw_weights(model: PreTrainedModel, deviation: float = DEVIATION) -> None:
    """Widen the matrices and shake biases and norms, which transformers begins with zeros and ones."""
    for parameter in model.parameters():
        if parameter.requires_grad and parameter.dtype == torch.float32:
            if parameter.dim() > 1:
                parameter.normal_(std=deviation)
            else:
                parameter.add_(torch.randn_like(parameter) * deviation / 2)


def names(kinds: Sequence[ModelKind]) -> list[str]:
    """Ids of tests."""
    return [kind.name for kind in kinds]
