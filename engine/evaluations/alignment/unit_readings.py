"""What is compared of each unit of a scoring: its reading, or how it is written where it has none as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from engine.language.readings.sounds import sounds
from engine.language.readings.variants import plain_form
from engine.language.readings.words import as_written, is_read_whole


@dataclass(frozen=True, eq=False)
class UnitReadings:
    """The readings of units, and the texts that they are of.

    kana: str (n_units,), the reading in hiragana, of which parts may be missing. whole: bool (n_units,), whether none
    is. text: int (n_units,), the number of the unit's text in `texts`.
    """

    kana: np.ndarray
    whole: np.ndarray
    text: np.ndarray
    texts: list[str]

    def of_runs(self, first: np.ndarray) -> UnitReadings:
        """Those of runs of units by the first of each: the units of a run have the same text."""
        return UnitReadings(self.kana[first], self.whole[first], self.text[first], self.texts)

    def compared(
        self, chosen: np.ndarray, match: np.ndarray, has_match: np.ndarray, *, by_sound: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """What is compared of the chosen units and of their matches, objects (n_units,) each; "" for all others.

        chosen: int, numbers of units. match: (n_units,) the unit that each is matched with; has_match: False where that
        is none, or a special token. Readings where both have one, else how they are written. by_sound: readings as
        they sound.
        """
        own, other = (np.full(len(self.kana), "", dtype=object) for _ in range(2))
        partner, matched = match[chosen], has_match[chosen]
        both = matched & self.whole[chosen] & self.whole[partner]
        for compared, units in ((own, chosen), (other, partner)):
            read = self.kana[units[both]]
            if by_sound:
                sounding = {kana: sounds(kana) for kana in set(read.tolist())}
                read = _objects([sounding[kana] for kana in read.tolist()])
            compared[chosen[both]] = read
            written = {code: as_written(self.texts[code]) for code in set(self.text[units[~both]].tolist())}
            compared[chosen[~both]] = _objects([written[code] for code in self.text[units[~both]].tolist()])
        other[chosen[~matched]] = ""
        return own, other


def unit_readings(kana: np.ndarray, text: np.ndarray, texts: list[str]) -> UnitReadings:
    """The readings of units, of which those are whole that leave out nothing of their text."""
    read = np.array([is_read_whole(each) for each in texts], dtype=bool)
    return UnitReadings(kana, read[text] & (kana != "") if len(texts) else np.zeros(len(kana), dtype=bool), text, texts)


def with_own(readings: UnitReadings, own: Mapping[str, tuple[str, ...]]) -> UnitReadings:
    """The same with the first reading of a list of one's own, by `plain_form`, for every unit whose text it has."""
    listed = {code: own[form][0] for code, text in enumerate(readings.texts) if (form := plain_form(text)) in own}
    if not listed:
        return readings
    is_listed = np.zeros(len(readings.texts), dtype=bool)
    is_listed[list(listed)] = True
    units = np.flatnonzero(is_listed[readings.text])
    kana, whole = readings.kana.copy(), readings.whole.copy()
    kana[units] = [listed[code] for code in readings.text[units].tolist()]
    whole[units] = True
    return replace(readings, kana=kana, whole=whole)


def _objects(values: list[object]) -> np.ndarray:
    """An array of these objects: numpy would make tuples of one length into columns."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
