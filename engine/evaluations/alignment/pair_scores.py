"""All pairs of a run scored at once, and the tables of what `engine.measures.bertscore` and `.reading_penalty` say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.evaluations.alignment.naming.unit_names import UnitNames, unit_names
from engine.evaluations.alignment.pair_tokens import PairTokens, category_texts
from engine.evaluations.alignment.records import LEFT_OUT, TOKEN_SCORES, Scoring
from engine.evaluations.alignment.token_table import READING_COLUMNS
from engine.evaluations.alignment.units import Units
from engine.evaluations.alignment.unknown_matches import unknown_matches
from engine.measures.bertscore import PRF, BestMatches, bertscore, weight_shares
from engine.measures.best_reference import best_references, greatest_scores
from engine.measures.name_agreement import matched_names, name_weights, ratios
from engine.measures.reading_penalty import (
    TokenAgreements,
    joined_agreements,
    penalized,
    read_once,
    sentence_penalties,
    token_agreements,
)


@dataclass(frozen=True, eq=False)
class PairScores:
    """The scores of one model, and what they were made of; `frame` explains the tokens.

    pairs: one line for each row (`rescoring.Scores`). explained: int (n_rows,), the alignment whose tokens
    explain each row. The arrays are of all units: position of the match in its sentence (-1 none) and among all units
    (0 where there is none), similarity, share of the sentence's weight, edit distance, M, which the penalty counts, and
    the readings in hiragana; those of names where they are compared.
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
    kana: np.ndarray
    names: UnitNames | None

    def frame(self, first: int = 0, last: int | None = None) -> pd.DataFrame:
        """The token table of `rescoring.Scores` for the lines `first` to before `last` of `pairs`, None for all."""
        units, table = self.units, self.tokens.table
        alignments = self.explained[first:last]
        sentences = np.stack([2 * alignments, 2 * alignments + 1], axis=1).ravel()
        lengths, starts = units.lengths[sentences], units.starts[sentences]
        # the position of each unit in its sentence
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        chosen = np.repeat(starts, lengths) + within
        match, position = self.match[chosen], self.match_position[chosen]
        own, surfaces = self._texts(chosen)
        other, _ = self._texts(match)
        at = table.iloc[units.first[chosen]]
        special = units.special[chosen]
        return pd.DataFrame(
            {
                "model": self.tokens.model,
                "row": at["row"].to_numpy(),
                "side": category_texts(at["side"]),
                "position": within,
                "token": own,
                "reading": self.kana[chosen],
                "idf": units.weight[chosen] if self.with_idf else np.full(len(chosen), np.nan),
                "low_frequency": units.low_frequency[chosen],
                "match_position": position,
                "match_token": np.where(position >= 0, other, ""),
                "similarity": self.similarity[chosen],
                "reading_distance": self.distance[chosen],
                "agreement": np.where(special, np.nan, self.agreement[chosen]),
                "surface": surfaces,
                "start": at["start"].to_numpy(),
                "end": table["end"].to_numpy()[units.last[chosen] - 1],
                "special": special,
                "match_reading": np.where(position >= 0, self.kana[match], ""),
                "match_special": np.where(position >= 0, units.special[match], False),
                "weight": self.share[chosen],
                "proper_noun": units.proper_noun[chosen],
                "penalised": self.penalised[chosen],
                "word": units.word[chosen],
                "best_reference": at["reference"].to_numpy(),
                "unknown": units.unknown[chosen],
                "read_whole": self._read_whole()[chosen],
                "name": np.zeros(len(chosen), dtype=bool) if self.names is None else self.names.name[chosen] >= 0,
                "name_text": self._name_texts(chosen, surfaces),
                "reading_source": "" if self.names is None else self.names.sources(chosen),
                "word_reading": category_texts(at[READING_COLUMNS["unidic", "word"]]),
            },
            columns=TOKEN_SCORES.headers,
        )

    def _name_texts(self, chosen: np.ndarray, surfaces: np.ndarray) -> np.ndarray:
        """What the chosen units are compared as: the name of each, or the text of an unknown one; "" for others."""
        texts = self.names.texts(chosen) if self.names is not None else np.full(len(chosen), "", dtype=object)
        return np.where((texts == "") & self.units.unknown[chosen], surfaces, texts)

    def _read_whole(self) -> np.ndarray:
        """Whether the reading of each unit leaves out nothing, bool (n_units,); of compared names that of the name."""
        whole = self.units.readings.whole
        if self.names is None or self.kana is self.units.readings.kana:
            return whole
        return np.where(self.names.compared, self.kana != "", whole)

    def _texts(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The chosen units as the tokenizer writes them, and as the sentence does; of words the latter twice."""
        table, units = self.tokens.table, self.units
        pieces, surfaces = (category_texts(table[name].iloc[units.first[chosen]]) for name in ("token", "surface"))
        if self.unit == "word":
            ends = table["end"].to_numpy()[units.last[chosen] - 1]
            starts = table["start"].to_numpy()[units.first[chosen]]
            sentences = self.tokens.sentences
            for line in np.flatnonzero(units.last[chosen] - units.first[chosen] > 1):
                surfaces[line] = sentences[units.sentence[chosen[line]]][starts[line] : ends[line]]
            return np.where(units.special[chosen], pieces, surfaces), surfaces
        return pieces, surfaces


def score_pairs(tokens: PairTokens, units: Units, scoring: Scoring, key: tuple[str, int] | None = None) -> PairScores:
    """The scores of one model: weights, matches, penalty, then the best of each row's references.

    key: as in `PairTokens.matches`, under which the best matches are kept.

    Without the penalty every M costs nothing. A sentence whose weights are all 0 has no score (NaN); a pair
    with P = R = 0 has F1 = 0. Of several references each score of the row is the greatest, whichever reference it comes
    from, as in bert_score; the penalties and the tokens are those of the reference with the greatest penalised F1
    (without the penalty: F1), the first of equals.
    """
    matches = tokens.matches(units, key, match_special=scoring.match_special and scoring.special_tokens != LEFT_OUT)
    score = bertscore(matches, units.lengths, units.weight)
    names = unit_names(tokens, units, scoring) if scoring.penalty == "names" or scoring.criterion == "names" else None
    weight, kana = units.weight, units.readings.kana
    if names is not None and scoring.penalty == "names":
        unknown = unknown_matches(units, matches, _matched_units(units, matches), by_sound=scoring.by_sound)
        agreements = TokenAgreements(
            np.where(names.compared, names.distance, unknown.agreements.distance),
            np.where(names.compared, names.agreement, unknown.agreements.value),
        )
        penalised = names.compared | unknown.compared
        matches = matched_names(
            matches, penalised, np.where(names.compared, names.position, unknown.position), agreements.value
        )
        weight = name_weights(weight, names.compared, ~names.is_number, units.lengths)
        kana = names.reading(kana)
        after = bertscore(matches, units.lengths, weight)
        penalties = ratios(after, score)
        match = _matched_units(units, matches)
    else:
        match = _matched_units(units, matches)
        penalised = ~units.special & _criterion(units, scoring.criterion, names)
        agreements = _agreements(units, matches, match, penalised, scoring)
        penalties = sentence_penalties(
            agreements.value if scoring.penalty == "reading" else np.ones(len(match)), ~units.special, units.lengths
        )
        after = penalized(score, penalties)
    pairs, explained = _best_references(tokens, score, after, penalties)
    return PairScores(
        tokens,
        units,
        scoring.idf != "none",
        scoring.unit,
        pairs,
        explained,
        matches.position,
        match,
        matches.similarity,
        weight_shares(units.lengths, weight),
        agreements.distance,
        agreements.value,
        penalised,
        kana,
        names,
    )


def _matched_units(units: Units, matches: BestMatches) -> np.ndarray:
    """The place of each unit's best match among all units, int64 (n_units,); 0 where it has none."""
    other_starts = units.starts[units.sentence ^ 1]  # where the other sentence of the pair begins
    return np.where(matches.position >= 0, other_starts + matches.position, 0)


def _criterion(units: Units, criterion: str, names: UnitNames | None) -> np.ndarray:
    """Which units the penalty concerns, bool (n_units,); unknown ones in any case."""
    if names is not None:
        return np.asarray((names.name >= 0) | units.unknown)
    by_criterion = {
        "idf": units.low_frequency,
        "proper-nouns": units.proper_noun,
        "either": units.low_frequency | units.proper_noun,
        "both": units.low_frequency & units.proper_noun,
    }
    return np.asarray(by_criterion[criterion] | units.unknown)


def _agreements(
    units: Units, matches: BestMatches, match: np.ndarray, penalised: np.ndarray, scoring: Scoring
) -> TokenAgreements:
    """M of each unit, or one M of all penalised units of a sentence, as the scoring pairs them."""
    has_match = (matches.position >= 0) & ~units.special[match]
    own, match_readings = units.readings.compared(
        np.flatnonzero(penalised), match, has_match, by_sound=scoring.by_sound
    )
    if scoring.pairing != "joined":
        return token_agreements(own, match_readings, penalised)
    if scoring.reading_scope == "word" and scoring.unit == "subword":
        # A match is read once for the pieces of one word; two words that it is the match of read it twice.
        match_word = units.word * (units.word.max(initial=0) + 1) + units.word[match]
        own, match_readings = (
            read_once(readings, words, penalised, units.lengths)
            for readings, words in ((own, units.word), (match_readings, match_word))
        )
    return joined_agreements(own, match_readings, penalised, units.lengths)


def _best_references(
    tokens: PairTokens, score: PRF, after: PRF, penalties: np.ndarray
) -> tuple[pd.DataFrame, np.ndarray]:
    """One line for each row, and the alignment that its penalties and tokens are of, int64 (n_rows,)."""
    rows = tokens.shapes["row"].to_numpy()
    first = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])  # (n_rows,) the first alignment of each row
    n_references = np.diff(first, append=len(rows))
    explained = best_references(after.f1, n_references)
    precision, recall, f1, penalized_precision, penalized_recall, penalized_f1 = (
        greatest_scores(values, n_references)
        for values in (score.precision, score.recall, score.f1, after.precision, after.recall, after.f1)
    )
    pairs = pd.DataFrame(
        {
            "model": tokens.model,
            "row": rows[first],
            "precision": precision,
            "recall": recall,
            "f1": f1,
            "precision_penalty": penalties[1::2][explained],
            "recall_penalty": penalties[::2][explained],
            "penalized_precision": penalized_precision,
            "penalized_recall": penalized_recall,
            "penalized_f1": penalized_f1,
            "best_reference": tokens.shapes["reference"].to_numpy()[explained],
        }
    )
    return pairs, explained
