"""The choices of how a sentence becomes a vector, shared by the pages that have one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard.shared.inputs import settings
from engine.options import Option

# As a reader sees them.
POOLINGS = {"published": "As published", "cls": "CLS", "mean": "Mean, all tokens",
            "mean-without-special": "Mean, no special", "last": "Last token", "weighted-mean": "Weighted mean"}


def prompt_settings(options: Mapping[str, Option], page: str) -> dict[str, Any]:
    """Draws the fields of prompt and dimensions, for the record that has them; `page` begins the widgets' keys."""
    return {
        "prompt": settings.typed("Prompt before each sentence", options["prompt"], key=f"{page}-prompt"),
        "prompt_name": settings.typed("Prompt by its published name", options["prompt_name"],
                                      key=f"{page}-prompt-name"),
        "truncate_dim": settings.number("Dimensions kept", options["truncate_dim"], key=f"{page}-truncate-dim"),
    }
