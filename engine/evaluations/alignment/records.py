"""The records of alignment: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from engine.errors import InputError

PRECISIONS = ("fp32", "bf16", "fp16")


PENALTIES = ("none", "reading")
THRESHOLD_KINDS = ("quantile", "value")
CRITERIA = ("idf", "proper-nouns", "either", "both")
PAIRINGS = ("token", "joined")
READING_ENGINES = ("pykakasi", "unidic")
READING_SCOPES = ("piece", "word")
UNITS = ("subword", "word")
WITHOUT_DICTIONARY = ("none", "references")


@dataclass(frozen=True)
class Scoring:
    """How similarities become P, R and F1; every field has the paper's or bert_score's choice as its default.

    idf: "none", "references" (bert_score's own), a dictionary by name ("novel", "wiki", one of the corpora page) or
    the path of one.
    threshold: idf above which a token is low-frequency: as the share of the dictionary's entries that is not
    (threshold_kind "quantile", the paper's 70 %), or as an idf in nats ("value").
    penalty: "reading" holds tokens that are read otherwise than their match against P and R.
    criterion: which tokens that concerns: the low-frequency ones ("idf", the paper's), proper nouns by MeCab's part
    of speech ("proper-nouns", what the paper suggests next), tokens that are "either" or "both".
    pairing: one M for each such token ("token"), or one for all of a sentence together ("joined").
    match_special: whether a token may take [CLS] or [SEP] of the other side as its match, as in bert_score.
    reading_engine, reading_scope: who reads, and what: the piece alone, or the whole word that it belongs to, which
    UniDic reads in its sentence.
    unit: what is matched and weighed: the tokenizer's pieces, or words (`engine.evaluations.word_units`).
    """

    idf: str = "none"
    threshold: float = 0.7
    threshold_kind: str = "quantile"
    penalty: str = "none"
    criterion: str = "idf"
    pairing: str = "token"
    match_special: bool = True
    reading_engine: str = "pykakasi"
    reading_scope: str = "piece"
    unit: str = "subword"

    @property
    def dictionary(self) -> str | None:
        """The name or path of the dictionary, None where `idf` needs none."""
        return None if self.idf in WITHOUT_DICTIONARY else self.idf


@dataclass(frozen=True)
class Settings:
    """What to align and how; `layer` None is the last. `all_layers` keeps the similarities of every layer.

    `scoring` is what the result is first shown with.
    """

    models: tuple[str, ...]
    layer: int | None = None
    all_layers: bool = False
    precision: str = "fp32"
    scoring: Scoring = field(default_factory=Scoring)


@dataclass(frozen=True)
class Result:
    """Similarities of every pair under every model; `rescore` makes numbers of them.

    pairs: row, reference, candidate, category, then "reference 2" … and "human:<name>" … as the dataset has them.
    tokens: `token_table.TokenTable.frame` of every model. shapes: model, row, reference (1 the first), n_reference,
    n_candidate, offset: where in `similarity[model]`, float32 (n_layers, n_cells), the block (n_reference,
    n_candidate) of each layer begins. layers: the layers held, by number, for each model. excluded: model, row, reason.
    """

    settings: Settings
    dataset_name: str
    pairs: pd.DataFrame
    tokens: pd.DataFrame
    shapes: pd.DataFrame
    similarity: dict[str, np.ndarray]
    layers: dict[str, tuple[int, ...]]
    n_layers: dict[str, int]
    tokenizers: dict[str, str]
    excluded: pd.DataFrame
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)

    def layer_place(self, model: str, layer: int | None = None) -> int:
        """Where `similarity[model]` has a layer; None is the one of the settings. InputError when it is not held."""
        held, asked = self.layers[model], self.settings.layer if layer is None else layer
        resolved = self.n_layers[model] if asked is None else asked if asked >= 0 else asked + self.n_layers[model] + 1
        if resolved not in held:
            raise InputError(f"The run holds layer {', '.join(map(str, held))} of {model}; got layer {layer}. Evaluate "
                             "with all layers to choose among them.")
        return held.index(resolved)
