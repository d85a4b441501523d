"""What is matched and weighted: the tokens of the sentences, or their words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.evaluations.alignment.unit_readings import UnitReadings


@dataclass(frozen=True, eq=False)
class Units:
    """What is matched and weighted: tokens or words of all sentences, end to end; each a run of tokens.

    `first` and `last` int64 (n_units,): its tokens are first to before last. `lengths` int64 (n_sentences,) units of
    each sentence, `sentence` int64 (n_units,). `weight` float64, `low_frequency`, `unknown`, `proper_noun` and
    `special` bool, `word` int, `readings`, each (n_units,). `similarity` float: the blocks of units, by alignment.
    """

    first: np.ndarray
    last: np.ndarray
    lengths: np.ndarray
    sentence: np.ndarray
    special: np.ndarray
    weight: np.ndarray
    low_frequency: np.ndarray
    unknown: np.ndarray
    proper_noun: np.ndarray
    word: np.ndarray
    readings: UnitReadings
    similarity: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """Where the units of each sentence begin, int64 (n_sentences,)."""
        return np.asarray(np.cumsum(self.lengths) - self.lengths)
