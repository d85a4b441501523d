"""The facts of a model, read from its configuration and tokenizer. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

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
    `bos_token`, `eos_token`: as the tokenizer spells them, "" where it has none; `has_bos`, `has_eos`: whether the
    model has an embedding for them. `opening`: the special tokens that the tokenizer itself puts before a text.
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
    bos_token: str = ""
    eos_token: str = ""
    has_eos: bool = False
    opening: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> ModelFacts:
        """The facts from `dataclasses.asdict`, as the worker's "describe" returns them.

        Raises TypeError when a field is missing or unknown.
        """
        return cls(**fields | {"opening": tuple(fields.get("opening", ()))})
