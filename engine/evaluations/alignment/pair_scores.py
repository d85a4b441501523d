"""All pairs of a run scored at once: BERTScore and the reading penalty as arithmetic on flat arrays.

The measures themselves are `engine.measures.matching`, `.idf` and `.reading_penalty`, which define them
for one pair; here the units of all pairs lie end to end, and a sentence is a slice of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.evaluations.alignment.pair_tokens import PairTokens, Units, texts
from engine.evaluations.alignment.records import TOKEN_SCORES, Scoring
from engine.measures.batched_matching import best_of_blocks
from engine.measures.reading_penalty import agreement

SCORES = ("precision", "recall", "f1", "precision_penalty", "recall_penalty", "penalized_precision",
          "penalized_recall", "penalized_f1")


@dataclass(frozen=True, eq=False)
class PairScores:
    """The scores of one model, and what they were made of; `frame` explains the tokens.

    pairs: one line for each row (`bertscore.Scores`). explained: int (n_rows,), the alignment that each row's tokens
    tell of. The arrays are of all units: position of the match in its sentence (-1 none) and among all units (0
    where there is none), similarity, share of the sentence's weight, edit distance, M, and which the penalty counts.
    """

    tokens: PairTokens
    units: Units
    with_idf: bool
    unit: str
    pairs: pd.DataFrame
    explained: np.ndarray
    match_position: np.ndarray
    match: np.ndarray
    similarity: np.ndarray
    share: np.ndarray
    distance: np.ndarray
    agreement: np.ndarray
    penalised: np.ndarray

    def frame(self, first: int = 0, last: int | None = None) -> pd.DataFrame:
        """The token table of `bertscore.Scores` for the rows at places `first` to before `last`, None for all."""
        units, table = self.units, self.tokens.table
        alignments = self.explained[first:last]
        sentences = np.stack([2 * alignments, 2 * alignments + 1], axis=1).ravel()
        lengths, starts = units.lengths[sentences], units.starts[sentences]
        # the places, among all units, of the units of these sentences
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        chosen = np.repeat(starts, lengths) + within
        match, position = self.match[chosen], self.match_position[chosen]
        own, surfaces = self._texts(chosen)
        other, _ = self._texts(match)
        at = table.iloc[units.first[chosen]]
        special = units.special[chosen]
        return pd.DataFrame({
            "model": self.tokens.model, "row": at["row"].to_numpy(), "side": texts(at["side"]), "position": within,
            "token": own, "reading": units.readings[chosen],
            "idf": units.weight[chosen] if self.with_idf else np.nan, "low_frequency": units.low_frequency[chosen],
            "match_position": position, "match_token": np.where(position >= 0, other, ""),
            "similarity": self.similarity[chosen], "reading_distance": self.distance[chosen],
            "agreement": np.where(special, np.nan, self.agreement[chosen]), "surface": surfaces,
            "start": at["start"].to_numpy(), "end": table["end"].to_numpy()[units.last[chosen] - 1],
            "special": special, "match_reading": np.where(position >= 0, units.readings[match], ""),
            "match_special": np.where(position >= 0, units.special[match], False), "weight": self.share[chosen],
            "proper_noun": units.proper_noun[chosen], "penalised": self.penalised[chosen],
            "word": units.word[chosen], "best_reference": at["reference"].to_numpy(),
        }, columns=TOKEN_SCORES.headers)

    def _texts(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How the tokenizer writes the units at those places, and how the sentence does; of a word the latter twice."""
        table, units = self.tokens.table, self.units
        pieces, surfaces = (texts(table[name].iloc[units.first[chosen]]) for name in ("token", "surface"))
        if self.unit == "word":
            ends = table["end"].to_numpy()[units.last[chosen] - 1]
            starts = table["start"].to_numpy()[units.first[chosen]]
            sentences = self.tokens.sentences
            for place in np.flatnonzero(units.last[chosen] - units.first[chosen] > 1):
                surfaces[place] = sentences[units.sentence[chosen[place]]][starts[place]:ends[place]]
            return np.where(units.special[chosen], pieces, surfaces), surfaces
        return pieces, surfaces


def score_pairs(tokens: PairTokens, units: Units, scoring: Scoring) -> PairScores:
    """The scores of one model: weights, matches, penalty, then the best of each row's references.

    Without the penalty every M costs nothing. A sentence whose weights are all 0 has no score (NaN), and so has a
    pair with P + R = 0. Of several references each score of the row is the greatest, whichever reference it comes
    from, as in bert_score; the penalties and the tokens are those of the reference with the greatest penalised F1
    (without the penalty: F1), the first of equals.
    """
    special, starts, sentence = units.special, units.starts, units.sentence
    position, similarity = _matches(units, match_special=scoring.match_special)
    match = np.where(position >= 0, starts[sentence ^ 1] + position, 0)  # where the other side of the alignment begins

    # a special token weighs nothing, so a similarity that it lacks must not spoil the sum
    weighted = np.where(units.weight > 0, units.weight * similarity, 0.0)
    total = np.add.reduceat(units.weight, starts)  # (n_sentences,)
    means = _divide(np.add.reduceat(weighted, starts), total)  # (n_sentences,)
    share = _divide(units.weight, total[sentence])  # (n_units,)
    recall, precision = means[::2], means[1::2]

    penalised = ~special & _criterion(units, scoring.criterion)
    match_readings = np.where(position >= 0, units.readings[match], "")
    if scoring.pairing == "joined":
        once = scoring.reading_scope == "word" and scoring.unit == "subword"
        distance, agreements = _joined_agreements(units, match, match_readings, penalised, once=once)
    else:
        distance, agreements = _agreements(units.readings, match_readings, penalised)
    counted = np.where(special, 0.0, agreements if scoring.penalty == "reading" else 1.0)
    penalties = _divide(np.add.reduceat(counted, starts), np.add.reduceat((~special).astype(float), starts))
    recall_penalty, precision_penalty = penalties[::2], penalties[1::2]

    alignments = pd.DataFrame(dict(zip(SCORES, (
        precision, recall, _harmonic(precision, recall), precision_penalty, recall_penalty,
        precision * precision_penalty, recall * recall_penalty,
        _harmonic(precision * precision_penalty, recall * recall_penalty),
    ), strict=True)))
    pairs, explained = _best_references(tokens, alignments)
    return PairScores(tokens, units, scoring.idf != "none", scoring.unit, pairs, explained, position, match,
                      similarity, share, distance, agreements, penalised)


def _matches(units: Units, *, match_special: bool) -> tuple[np.ndarray, np.ndarray]:
    """Position of each unit's best match on the other side, and how similar it is, each (n_units,)."""
    of_reference = units.sentence % 2 == 0
    barred = units.special & (not match_special)
    found = best_of_blocks(units.similarity, units.lengths[::2], units.lengths[1::2], barred[of_reference],
                           barred[~of_reference])
    position = np.empty(len(barred), dtype=np.int64)
    similarity = np.empty(len(barred))
    position[of_reference], position[~of_reference] = found.row_match, found.column_match
    similarity[of_reference], similarity[~of_reference] = found.row_similarity, found.column_similarity
    return position, similarity


def _criterion(units: Units, criterion: str) -> np.ndarray:
    """Which units the penalty concerns, bool (n_units,)."""
    if criterion == "proper-nouns":
        return units.proper_noun
    if criterion == "either":
        return units.low_frequency | units.proper_noun
    return units.low_frequency & units.proper_noun if criterion == "both" else units.low_frequency


def _best_references(tokens: PairTokens, alignments: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    rows = tokens.shapes["row"].to_numpy()
    first = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])  # (n_rows,) the first alignment of each row
    explained = first
    if len(first) < len(rows):
        group = np.cumsum(np.r_[False, rows[1:] != rows[:-1]])
        # NaN is the worst, for the reference that is shown should have a score; the sort keeps equals in their order
        worst_last = -alignments["penalized_f1"].fillna(-np.inf).to_numpy()
        explained = np.lexsort((worst_last, group))[first]
    best = {name: np.fmax.reduceat(alignments[name].to_numpy(), first) for name in SCORES}
    for name in ("precision_penalty", "recall_penalty"):
        best[name] = alignments[name].to_numpy()[explained]
    pairs = pd.DataFrame({"model": tokens.model, "row": rows[first], **best,
                          "best_reference": tokens.shapes["reference"].to_numpy()[explained]})
    return pairs, explained


def _agreements(readings: np.ndarray, match_readings: np.ndarray, penalised: np.ndarray
                ) -> tuple[np.ndarray, np.ndarray]:
    """Edit distance (NaN where none was taken) and M (1 where the unit is not penalised), each (n_units,)."""
    distance, value = np.full(len(readings), np.nan), np.ones(len(readings))
    chosen = np.flatnonzero(penalised)
    compared = list(zip(readings[chosen].tolist(), match_readings[chosen].tolist(), strict=True))
    known = {pair: agreement(*pair) for pair in set(compared)}
    distance[chosen] = [known[pair].distance for pair in compared]
    value[chosen] = [known[pair].value for pair in compared]
    return distance, value


def _joined_agreements(units: Units, match: np.ndarray, match_readings: np.ndarray, penalised: np.ndarray, *,
                       once: bool) -> tuple[np.ndarray, np.ndarray]:
    """The same, all penalised units of a sentence having one M; `once`: neighbours of one word give it once."""
    chosen = np.flatnonzero(penalised)
    sentence = units.sentence[chosen]
    own, other = units.readings[chosen], match_readings[chosen]
    if once and len(chosen):
        same = np.r_[False, sentence[1:] == sentence[:-1]]
        for texts_of, word in ((own, units.word[chosen]), (other, units.word[match[chosen]])):
            texts_of[same & np.r_[False, word[1:] == word[:-1]]] = ""
    compared = pd.DataFrame({"sentence": sentence, "own": own, "match": other})
    whole = compared.groupby("sentence", sort=False)[["own", "match"]].agg("".join)
    joined_own, joined_match = (np.full(len(units.readings), "", dtype=object) for _ in range(2))
    joined_own[chosen], joined_match[chosen] = (whole[name].reindex(sentence).to_numpy(dtype=object)
                                                for name in ("own", "match"))
    return _agreements(joined_own, joined_match, penalised)


def _divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Quotient, NaN where the denominator is 0: an undefined score is not a number, never 0."""
    return np.divide(numerator, denominator, out=np.full(len(numerator), np.nan), where=denominator > 0)


def _harmonic(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.full(len(total), np.nan), where=total != 0)
