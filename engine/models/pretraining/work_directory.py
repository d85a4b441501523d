"""The folder where a pretraining run keeps its work: whose it is, and its checkpoints."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

from engine.errors import InputError
from engine.messages.message import Message, together
from engine.models.pretraining.settings import Settings


def claim_directory(work: Path, settings: Settings) -> None:
    """Make `work` this run's folder, or refuse one that was begun with other settings."""
    own_settings = asdict(settings)
    settings_path = work / "settings.json"
    if settings_path.exists():
        # A run that was begun before a setting was there has its default.
        stored_settings = {"language": "ja", **json.loads(settings_path.read_text(encoding="utf-8"))}
        differing = [
            Message("{key}: {former} there, {value} now", key=key, former=stored_settings.get(key), value=value)
            for key, value in own_settings.items()
            if stored_settings.get(key) != value
        ]
        if differing:
            raise InputError(
                Message(
                    "{work} was begun with other settings ({differing}). Choose another directory, "
                    "or repeat the first command to continue.",
                    work=work,
                    differing=together("; ", differing),
                )
            )
        return
    if work.exists() and any(work.iterdir()):
        raise InputError(
            Message(
                "{work} holds other files: it is where a run keeps its work, and is removed at its "
                "end. Choose another directory.",
                work=work,
            )
        )
    work.mkdir(parents=True, exist_ok=True)
    settings_path.write_text(json.dumps(own_settings, indent=2), encoding="utf-8")


def last_complete_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint whose last-written file is complete; incomplete ones are removed."""
    complete = []
    for checkpoint in folder.glob("checkpoint-*"):
        try:
            json.loads((checkpoint / "trainer_state.json").read_text(encoding="utf-8"))
            complete.append(checkpoint)
        except (OSError, json.JSONDecodeError):
            shutil.rmtree(checkpoint)
    return max(complete, key=lambda path: int(path.name.rsplit("-", 1)[1]), default=None)
