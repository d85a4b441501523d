"""The names of a run as units of a scoring have them: which units are compared by reading, with what, and how alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.evaluations.alignment.naming.names import Names
from engine.evaluations.alignment.pair_tokens import PairTokens
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.alignment.units import Units
from engine.language.names import NUMERAL


@dataclass(frozen=True, eq=False)
class UnitNames:
    """The name of each unit and its counterpart; arrays (n_units,).

    name: its number among `names`, -1 for none. compared: whether the name has a counterpart. position: the unit in the
    other sentence at the same place of the counterpart, or its last one; 0 where there is none. agreement, distance: nan
    there. name_reading: how the name is read in the comparison.
    """

    names: Names
    name: np.ndarray
    compared: np.ndarray
    position: np.ndarray
    agreement: np.ndarray
    distance: np.ndarray
    name_reading: np.ndarray

    @property
    def is_number(self) -> np.ndarray:
        """Whether the name of each unit is a number, bool (n_units,); False for none."""
        of_names = np.array([name.kind == NUMERAL for name in self.names.different], dtype=bool)
        is_number = np.zeros(len(self.name), dtype=bool)
        named = np.flatnonzero(self.name >= 0)
        is_number[named] = of_names[self.names.name[self.name[named]]]
        return is_number

    def reading(self, kana: np.ndarray) -> np.ndarray:
        """The readings of units, str (n_units,): of those that are compared how the name is read, else `kana`."""
        return np.where(self.compared, self.name_reading, kana)

    def texts(self, chosen: np.ndarray) -> np.ndarray:
        """The names of the chosen units as the sentences have them, str (n_chosen,); "" for none."""
        return self._of_names([name.text for name in self.names.different], chosen)

    def sources(self, chosen: np.ndarray) -> np.ndarray:
        """Where the readings of the chosen units' names are from, str (n_chosen,); "" for none."""
        return self._of_names([name.reading.source for name in self.names.different], chosen)

    def _of_names(self, values: list[str], chosen: np.ndarray) -> np.ndarray:
        """The value of each chosen unit's name, of those of the different names."""
        name = self.name[chosen]
        number = np.where(name >= 0, self.names.name[name] + 1, 0) if len(self.names.name) else np.zeros_like(name)
        return np.array(["", *values], dtype=object)[number]


def unit_names(tokens: PairTokens, units: Units, scoring: Scoring) -> UnitNames:
    """The names of the units of a scoring; a unit of several tokens has the name of the first that has one."""
    names, matches = tokens.names(scoring.readings, by_sound=scoring.by_sound)
    n_units = len(units.first)
    if not len(names.name):
        none = np.full(n_units, np.nan)
        return UnitNames(
            names,
            np.full(n_units, -1),
            np.zeros(n_units, dtype=bool),
            np.zeros(n_units, dtype=np.int64),
            none,
            none,
            np.full(n_units, "", dtype=object),
        )
    name = names.of_token
    if scoring.unit == "word":
        beyond = len(names.name)
        name = np.minimum.reduceat(np.where(name >= 0, name, beyond), units.first)
        name = np.where(name == beyond, -1, name)
    at = np.maximum(name, 0)
    counterpart = matches.counterpart[at]
    compared = (name >= 0) & (counterpart >= 0)
    # Where each name begins among the units: the first unit that has it, which is written last.
    begins = np.full(len(names.name) + 1, -1)
    last_first = np.flatnonzero(name >= 0)[::-1]
    begins[name[last_first]] = last_first
    begin = begins[counterpart]
    compared &= begin >= 0  # in words, two names may be one unit, which has the first
    # The first of a name is shown beside the first, the second beside the second: 藤 of 斉藤 beside 藤 of 斎藤.
    sizes = np.bincount(name[name >= 0], minlength=len(names.name))
    place = np.minimum(np.arange(n_units) - begins[at], sizes[counterpart] - 1)
    position = np.where(compared, begin + place - units.starts[units.sentence ^ 1], 0)
    return UnitNames(
        names,
        name,
        compared,
        position,
        np.where(compared, matches.agreement[at], np.nan),
        np.where(compared, matches.distance[at], np.nan),
        matches.reading[at],
    )
