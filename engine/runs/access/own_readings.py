"""The viewer's own list of readings, kept as presets are and not shown to others: new evaluations begin with it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import InputError
from engine.language.readings.own import in_one_line
from engine.runs.access.access import RunAccess
from engine.runs.storage import kept

KIND, NAME, FIELD = "readings", "last", "readings"  # among the settings kept by name


@dataclass(frozen=True)
class ReadingsAccess:
    """The list of the viewer of `runs`."""

    runs: RunAccess

    def mine(self) -> str:
        """The viewer's list in one line, "" where there is none, or none that this version can read."""
        stored = kept.settings_by_name(self.runs.store, self.runs.viewer.id, KIND).get(NAME, {})
        try:
            return in_one_line(str(stored.get(FIELD, "")))
        except InputError:
            return ""

    def keep(self, text: str) -> None:
        """Keep a list in place of the former. Raises InputError for a text that is none."""
        kept.keep_settings(self.runs.store, self.runs.viewer.id, KIND, NAME, {FIELD: in_one_line(text)})

    def remove(self) -> None:
        """Keep no list."""
        kept.remove_settings(self.runs.store, self.runs.viewer.id, KIND, NAME)
