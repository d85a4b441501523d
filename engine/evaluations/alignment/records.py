"""The records of alignment: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.options import Option, option

WITHOUT_DICTIONARY = ("none", "references")
PRECISIONS = ("fp32", "bf16", "fp16")
PRECISION_HELP = "Precision of the models; bf16 and fp16 are faster on a GPU and less exact."
# Where low-frequency tokens begin, by `Scoring.threshold_kind`.
THRESHOLDS: Mapping[str, Option] = {
    "quantile": Option("Share of the dictionary's entries that is not low-frequency; the paper has 0.7.", 0.7, least=0,
                       most=1, unit="share of the entries", flag="threshold", metavar="SHARE", name="threshold",
                       kind=float),
    "value": Option("idf above which a token is low-frequency.", 3.0, least=0, shown_most=15, unit="nats",
                    flag="threshold-value", metavar="IDF", name="threshold", kind=float),
}


@dataclass(frozen=True)
class Scoring:
    """How similarities become P, R and F1; every field has the paper's or bert_score's choice as its default."""

    idf: str = option("none", "Weights of the tokens: none (every token weighs the same), references (rareness among "
                              "the references of the run, as in bert_score; with one pair all weights are 0), novel or "
                              "wiki (rareness in a corpus, counted with the tokenizer of the model), or the file of a "
                              "dictionary.", metavar="D")
    threshold: float = option(THRESHOLDS["quantile"].default, "Where low-frequency tokens begin: a "
                              "share of the dictionary's entries, or an idf, as the kind of threshold says.", least=0,
                              metavar="X")
    threshold_kind: str = option("quantile", "How the threshold of low-frequency tokens is given.", choices={
        "quantile": "as the share of the dictionary's entries that is not low-frequency (the paper: 0.7)",
        "value": "as an idf in nats"})
    penalty: str = option("none", "Penalty on P and R.", choices={
        "none": "", "reading": "tokens that are read otherwise than their best match count against P and R"})
    criterion: str = option("idf", "Tokens that the penalty concerns.", choices={
        "idf": "low-frequency tokens, as in the paper",
        "proper-nouns": "what MeCab tags as names, which the paper suggests next: rare words such as ハンター are no "
                        "names",
        "either": "tokens that are the one or the other", "both": "tokens that are both"})
    pairing: str = option("token", "What readings are compared.", choices={
        "token": "those of each token and its match, with one M for each",
        "joined": "those of all such tokens of a sentence together, so that the pieces of a name count as the name"})
    match_special: bool = option(True, "Let a token take [CLS] or [SEP] of the other sentence as its best match, as in "
                                       "bert_score.", off="no-special-matches")
    reading_engine: str = option("pykakasi", "What reads the tokens.", choices={
        "pykakasi": "reads a string by itself", "unidic": "UniDic (MeCab), which reads a word in its sentence"})
    reading_scope: str = option("piece", "What is read.", choices={
        "piece": "the token alone (斉 is せい)",
        "word": "the whole word that it belongs to (斉藤 is さいとう); a token across several words joins them"})
    unit: str = option("subword", "What is matched and weighted.", choices={
        "subword": "the pieces of the tokenizer",
        "word": "the words of MeCab: two are as similar as their pieces are in the mean, and a word has the weights of "
                "its pieces together"})

    @property
    def dictionary(self) -> str | None:
        """The name or path of the dictionary, None where `idf` needs none."""
        return None if self.idf in WITHOUT_DICTIONARY else self.idf


# The paper's own scoring, which the page opens with where the dictionary fits the models; where it does not and there
# are several references, the second.
PAPER_SCORING = Scoring(idf="novel", penalty="reading")
REFERENCES_SCORING = Scoring(idf="references", penalty="reading")


@dataclass(frozen=True)
class Settings:
    """What to align and how; `scoring` is what the result is first shown with."""

    models: tuple[str, ...]
    layer: int | None = option(None, "Hidden state that is compared: 0 = embeddings, -1 = the last.", unset="the last")
    all_layers: bool = option(False, "Keep the similarities of every layer, to choose among them afterwards: no second "
                                     "forward pass, but memory for each layer.")
    precision: str = option("fp32", PRECISION_HELP, choices=PRECISIONS)
    scoring: Scoring = field(default_factory=Scoring)


# A single typed pair is small enough to be kept at every layer.
ONE_PAIR = Settings((), all_layers=True)


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
            raise InputError(f"The run holds layer {', '.join(map(str, held))} of {model}; got layer {layer}. Weigh "
                             "with all layers to choose among them.")
        return held.index(resolved)
