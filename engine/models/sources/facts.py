"""The facts of a model, read from its configuration and tokenizer. Imports no torch."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from engine.models.sources.published_vectors import PublishedVectors

Source = Literal["built-in", "directory", "hub"]
Kind = Literal["masked", "causal", "encoder"]


@dataclass(frozen=True)
class ModelFacts:
    """Facts of one model as it was loaded.

    `fingerprint` changes whenever the weights, the configuration or the tokenizer do: for a directory a
    SHA-256 over its files, for a hub model the commit. `tokenizer_fingerprint` is a SHA-256 over what decides
    the tokens alone. `kind` is what the architecture published in the configuration scores: "masked" and
    "causal" have a language-model head, an "encoder" has hidden states only. `max_tokens` counts special tokens.
    `recipe`: the recipe of its tokenization, with the versions of its software; "" where the files determine it.
    `latin_tokens`: tokens per character of the Latin alphabet, measured on one English sentence.
    `published`: how sentence-transformers makes a sentence's vector of it; None for a directory that does not say.
    `template_tokens`: the special tokens that the tokenizer puts round every text. `cls_and_sep`: what it calls its
    cls_token and sep_token, where it has them; a template may write others.
    """

    name: str
    source: Source
    path: str
    revision: str | None
    fingerprint: str
    tokenizer_fingerprint: str
    architecture: str
    kind: Kind
    n_layers: int
    hidden_size: int
    vocab_size: int
    max_tokens: int
    n_parameters: int
    tokenizer: str
    has_mask: bool
    has_cls: bool
    has_bos: bool
    device: str
    dtype: str
    weights_bytes: int
    recipe: str = ""
    latin_tokens: float = 1.0
    published: PublishedVectors | None = None
    template_tokens: tuple[str, ...] = ()
    cls_and_sep: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The facts as values that JSON has, lists in place of tuples: what the worker's "describe" returns."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> ModelFacts:
        """The facts from `to_dict`. Raises TypeError when a field is missing or unknown."""
        restored: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                                    for name, value in fields.items()}
        if isinstance(restored.get("published"), dict):
            restored["published"] = PublishedVectors.from_dict(restored["published"])
        return cls(**restored)
