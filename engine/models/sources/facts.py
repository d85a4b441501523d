"""What is known of a model once it was looked at: plain facts, free of torch."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
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
    `recipe`: by which recipe tokens are made, with the versions of what it uses; "" where the files say it themselves.
    `latin_tokens`: how many tokens a character of the Latin alphabet is, by and large.
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

    def to_json(self) -> str:
        """The facts as a JSON object, field by field."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> ModelFacts:
        """The facts that `to_json` wrote. Raises TypeError when a field is missing or unknown."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> ModelFacts:
        """The facts of `dataclasses.asdict`, as the worker's "describe" returns them."""
        return cls(**fields)
