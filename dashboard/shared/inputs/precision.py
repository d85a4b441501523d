"""The choice of the precision, the same on every page that computes a model."""

from __future__ import annotations

from typing import Any

from dashboard.shared.inputs import settings
from engine.options import Option
from engine.precision import AS_PUBLISHED, AUTO, EXACT_DECISIONS

# As a reader sees them; the others go by their own names.
NAMES = {AUTO: "Automatic", AS_PUBLISHED: "As published", "tf32": "fp32 with TF32", EXACT_DECISIONS: "Exact decisions"}


def precision_input(option: Option, page: str, **look: Any) -> str:
    """Draws the list of precisions; `option`: of the page's record, `page` begins the widget's key."""
    offered = {choice: NAMES.get(choice, str(choice)) for choice in option.choices}
    return str(settings.list_of("Precision", option, offered, key=f"{page}-precision", **look))
