"""The choices of how a sentence becomes a vector, shared by the pages that have one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard.shared.inputs import settings
from dashboard.shared.inputs.presets import Start
from engine.messages.languages import tr
from engine.options import Option


def prompt_settings(options: Mapping[str, Option], start: Start) -> dict[str, Any]:
    """Draws the fields of prompt and dimensions, for the record that has them."""
    return {
        "prompt": settings.typed(tr("Prompt before each sentence"), options["prompt"], **start.at("prompt")),
        "prompt_name": settings.typed(
            tr("Prompt by its published name"), options["prompt_name"], **start.at("prompt-name")
        ),
        "truncate_dim": settings.number(tr("Dimensions kept"), options["truncate_dim"], **start.at("truncate-dim")),
    }
