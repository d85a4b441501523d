"""Settings that a viewer keeps by name for the pages: one's own, as runs are, and nobody else's.

They are checked when they are read: what an earlier version kept, or another one, may no longer be a valid setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.errors import InputError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.presets import PRESETS
from engine.messages.message import Message
from engine.options import check
from engine.runs.access.access import RunAccess
from engine.runs.storage import kept
from engine.runs.storage.json_codec import record_from_json, to_json_value

MOST_KEPT, MOST_CHARACTERS = 50, 60  # for each kind; of a name
MODELS = "models"  # the field that a preset leaves to the page


@dataclass(frozen=True)
class KeptPreset:
    """settings: of the kind, without models; None where they cannot be used, and `problem` says why."""

    name: str
    settings: Any | None
    problem: str = ""


@dataclass(frozen=True)
class PresetAccess:
    """The presets of the viewer of `runs`."""

    runs: RunAccess

    def mine(self, kind: str) -> list[KeptPreset]:
        """The viewer's presets for a kind, by name."""
        stored = kept.settings_by_name(self.runs.store, self.runs.viewer.id, kind)
        return [_read(kind, name, settings) for name, settings in stored.items()]

    def keep(self, kind: str, name: str, settings: Any) -> str:
        """Keep settings, without their models, by a name, in place of those that have it; returns the name as kept.

        Raises InputError for a name that is empty, too long or of a built-in preset, for settings that cannot be, and
        beyond MOST_KEPT.
        """
        name = " ".join(name.split())
        if not name or not name.isprintable():
            raise InputError(Message("A preset needs a name of printable characters."))
        if len(name) > MOST_CHARACTERS:
            raise InputError(
                Message(
                    "The name of a preset has at most {MOST_CHARACTERS} characters; got {name}.",
                    MOST_CHARACTERS=MOST_CHARACTERS,
                    name=len(name),
                )
            )
        if any(name in (built_in.name, built_in.title) for built_in in PRESETS.get(kind, ())):
            raise InputError(Message("{name!r} is the name of a built-in preset. Choose another.", name=name))
        check(settings)
        known = kept.settings_by_name(self.runs.store, self.runs.viewer.id, kind)
        if name not in known and len(known) >= MOST_KEPT:
            raise InputError(
                Message(
                    "You keep {MOST_KEPT} presets for this page, which is the most. Delete one first.",
                    MOST_KEPT=MOST_KEPT,
                )
            )
        values = {field: value for field, value in to_json_value(settings).items() if field != MODELS}
        kept.keep_settings(self.runs.store, self.runs.viewer.id, kind, name, values)
        return name

    def delete(self, kind: str, name: str) -> None:
        """Keep a preset of the viewer no longer."""
        kept.remove_settings(self.runs.store, self.runs.viewer.id, kind, name)


def _read(kind: str, name: str, stored: dict[str, Any]) -> KeptPreset:
    try:
        settings = record_from_json(EVALUATIONS[kind].settings_type, {**stored, MODELS: []})
        check(settings)
    except InputError as error:
        return KeptPreset(name, None, str(error))
    return KeptPreset(name, settings)
