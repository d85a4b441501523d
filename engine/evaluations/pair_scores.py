"""All pairs of a run scored at once: BERTScore and the reading penalty as arithmetic on flat arrays.

The measures themselves are `engine.measures.matching`, `.idf` and `.reading_penalty`, which define them
for one pair; here the tokens of all pairs lie end to end, and a sentence is a slice of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine.measures.idf import IdfDictionary
from engine.measures.reading_penalty import agreement


@dataclass(frozen=True)
class PairTokens:
    """The tokens of all pairs of one model, end to end: reference, candidate, reference, candidate, …

    `starts` (n_sentences,) holds where each sentence begins; sentence 2p is pair p's reference and
    2p + 1 its candidate; `sentence` (n_tokens,) says which sentence a token belongs to.
    """

    model: str
    table: pd.DataFrame
    starts: np.ndarray
    sentence: np.ndarray

    @classmethod
    def from_table(cls, model: str, table: pd.DataFrame) -> PairTokens:
        """From the rows of one model in a result's token table, in their order."""
        table = table.reset_index(drop=True)
        begins = (table["position"] == 0).to_numpy()
        return cls(model, table, np.flatnonzero(begins), np.cumsum(begins) - 1)

    def references(self) -> list[list[str]]:
        """The tokens of each reference, special tokens left out."""
        table = self.table[(self.table["side"] == "reference") & ~self.table["special"]]
        rows = self.table.loc[self.starts[::2], "row"]
        by_row = table.groupby("row", sort=False)["token"].agg(list)
        return [by_row.get(row, []) for row in rows]

    def matches(self, match_special: bool) -> tuple[np.ndarray, np.ndarray]:
        """Position of each token's best match on the other side, and that match's place among all tokens."""
        name = "match_position" if match_special else "word_match_position"
        position = self.table[name].to_numpy()
        other = self.starts[self.sentence ^ 1]  # where the other side of the token's pair begins
        return position, np.where(position >= 0, other + position, 0)


def score_pairs(
    tokens: PairTokens, dictionary: IdfDictionary | None, threshold: float, *,
    penalised: bool, joined: bool, match_special: bool,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pair table and the token table of `bertscore.Scores` for one model.

    Without a dictionary every token weighs 1 and special tokens 0. Without the penalty every M is 1.
    A sentence whose weights are all 0 has no score (NaN), and so has a pair with P + R = 0.
    """
    table, starts = tokens.table, tokens.starts
    special = table["special"].to_numpy(dtype=bool)
    weight = _weights(table["token"], special, dictionary)
    similarity = table["similarity" if match_special else "word_similarity"].to_numpy(dtype=np.float64)
    position, match = tokens.matches(match_special)

    # a special token weighs nothing, so a similarity that it lacks must not spoil the sum
    weighted = np.where(weight > 0, weight * similarity, 0.0)
    total = np.add.reduceat(weight, starts)  # (n_sentences,)
    means = _divide(np.add.reduceat(weighted, starts), total)  # (n_sentences,)
    share = _divide(weight, total[tokens.sentence])  # (n_tokens,)
    recall, precision = means[::2], means[1::2]

    low_frequency = ~special & (weight > threshold) if dictionary else np.zeros(len(table), dtype=bool)
    readings = table["reading"].to_numpy(dtype=object)
    match_readings = np.where(position >= 0, readings[match], "")
    distance, agreements = _agreements(readings, match_readings, low_frequency, tokens.sentence, joined)
    counted = np.where(special, 0.0, agreements if penalised else 1.0)
    penalties = _divide(np.add.reduceat(counted, starts), np.add.reduceat((~special).astype(float), starts))
    recall_penalty, precision_penalty = penalties[::2], penalties[1::2]

    pairs = pd.DataFrame({
        "model": tokens.model, "row": table["row"].to_numpy()[starts[::2]],
        "precision": precision, "recall": recall, "f1": _harmonic(precision, recall),
        "precision_penalty": precision_penalty, "recall_penalty": recall_penalty,
        "penalized_precision": precision * precision_penalty, "penalized_recall": recall * recall_penalty,
        "penalized_f1": _harmonic(precision * precision_penalty, recall * recall_penalty),
    })
    surfaces = table["surface"].to_numpy(dtype=object)
    explained = pd.DataFrame({
        "model": tokens.model, "row": table["row"], "side": table["side"], "position": table["position"],
        "token": table["token"], "reading": readings, "idf": weight if dictionary else np.nan,
        "low_frequency": low_frequency, "match_position": position,
        "match_token": np.where(position >= 0, table["token"].to_numpy(dtype=object)[match], ""),
        "similarity": similarity, "reading_distance": distance,
        "agreement": np.where(special, np.nan, agreements),
        "surface": surfaces, "start": table["start"], "end": table["end"], "special": special,
        "match_reading": match_readings, "match_special": np.where(position >= 0, special[match], False),
        "weight": share,
    })
    return pairs, explained


def _weights(tokens: pd.Series[Any], special: np.ndarray, dictionary: IdfDictionary | None) -> np.ndarray:
    if dictionary is None:
        return np.where(special, 0.0, 1.0)
    codes, pieces = pd.factorize(tokens)
    return np.where(special, 0.0, dictionary.idf(list(pieces), np.zeros(len(pieces), dtype=bool))[codes])


def _agreements(
    readings: np.ndarray, match_readings: np.ndarray, low_frequency: np.ndarray, sentence: np.ndarray, joined: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Edit distance (NaN where none was taken) and M (1 where the token is not low-frequency), each (n_tokens,)."""
    distance, value = np.full(len(readings), np.nan), np.ones(len(readings))
    chosen = np.flatnonzero(low_frequency)
    if joined:
        compared = pd.DataFrame({"sentence": sentence[chosen], "own": readings[chosen],
                                 "match": match_readings[chosen]})
        whole = compared.groupby("sentence", sort=False)[["own", "match"]].agg("".join)
        own, other = (whole[name].reindex(compared["sentence"]).to_numpy(dtype=object) for name in ("own", "match"))
    else:
        own, other = readings[chosen], match_readings[chosen]
    known = {pair: agreement(*pair) for pair in set(zip(own, other, strict=True))}
    for place, pair in zip(chosen, zip(own, other, strict=True), strict=True):
        distance[place], value[place] = known[pair].distance, known[pair].value
    return distance, value


def _divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Quotient, NaN where the denominator is 0: an undefined score is not a number, never 0."""
    return np.divide(numerator, denominator, out=np.full(len(numerator), np.nan), where=denominator > 0)


def _harmonic(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.full(len(total), np.nan), where=total != 0)
