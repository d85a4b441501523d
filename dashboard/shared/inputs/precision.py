"""The choice of the precision, the same on every page that computes a model."""

from __future__ import annotations

from typing import Any

from dashboard.shared.inputs import settings
from dashboard.shared.inputs.presets import Start
from engine.options import Option
from engine.precision import AS_PUBLISHED, AUTO, EXACT_DECISIONS
from engine.translation import mark, tr

# As a reader sees them; the others go by their own names.
NAMES = {AUTO: mark("Automatic"), AS_PUBLISHED: mark("As published"), "tf32": mark("fp32 with TF32"),
         EXACT_DECISIONS: mark("Exact decisions")}


def precision_input(option: Option, start: Start, **look: Any) -> str:
    """Draws the list of precisions; `option`: of the page's record."""
    offered = {choice: tr(NAMES.get(choice, str(choice))) for choice in option.choices}
    return str(settings.list_of(tr("Numeric precision"), option, offered, **start.at("precision"), **look))
