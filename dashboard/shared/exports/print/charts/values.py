"""The coordinates of a trace as numbers: categories in their order, gaps as NaN, groups side by side."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

DEFAULT_GAP = 0.2  # Plotly's bargap


def with_lists(figure: go.Figure) -> go.Figure:
    """A copy of a figure with lists in place of the arrays that Plotly writes as base64 in some of its copies."""
    return go.Figure(_with_lists(figure.to_plotly_json()))


def _with_lists(value: Any) -> Any:
    if isinstance(value, Mapping):
        if "bdata" in value:
            items = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
            return (
                items.reshape([int(n) for n in str(value["shape"]).split(",")]) if "shape" in value else items
            ).tolist()
        return {key: _with_lists(item) for key, item in value.items() if key != "template"}
    return [_with_lists(item) for item in value] if isinstance(value, list | tuple) else value


@dataclass
class Scale:
    """How the values of one axis are placed. categories: their labels in order, none on an axis of numbers."""

    categories: list[str] = field(default_factory=list)
    is_category: bool = False

    def places(self, values: Any) -> NDArray[np.float64]:
        """The values as numbers (n,): those of categories are 0, 1, …; a missing one is NaN."""
        if not self.is_category:
            return numbers(values)
        place = {name: number for number, name in enumerate(self.categories)}
        return np.array([np.nan if _is_missing(value) else place[str(value)] for value in values], dtype=np.float64)


def numbers(values: Any) -> NDArray[np.float64]:
    """Values as floats, None as NaN."""
    if values is None:
        return np.empty(0)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def scale_of(axis: Any, columns: Iterable[Any]) -> Scale:
    """The scale of an axis from the values of all its traces: categories where any of them is a text."""
    values = [value for column in columns if column is not None for value in column]
    if axis.type != "category" and not any(isinstance(value, str) for value in values):
        return Scale()
    seen = [str(value) for value in values if not _is_missing(value)]
    first = [str(name) for name in axis.categoryarray] if axis.categoryarray is not None else []
    return Scale(list(dict.fromkeys([*first, *seen])), True)


def property_of(trace: Any, name: str) -> Any:
    """A property that not every type of trace has; None where it has not, or it is not set."""
    return getattr(trace, name, None)


def per_item(value: Any, n: int) -> list[Any]:
    """A property that is one for all items, or one for each."""
    if value is None or isinstance(value, str) or np.isscalar(value):
        return [value] * n
    return list(value)


def group_offsets(traces: Sequence[Any], mode: str | None, gap: float | None) -> dict[int, tuple[float, float]]:
    """Of traces by number: where in its slot of width 1 each stands (the middle), and how wide it is.

    In the mode "group" those of one `offsetgroup` (for bars without one each trace) stand beside the others.
    """
    used = 1 - (DEFAULT_GAP if gap is None else gap)
    if mode != "group":
        return {number: (0.0, used) for number in range(len(traces))}
    keys = [
        trace.offsetgroup or f"trace {number}"  # untranslated
        if isinstance(trace, go.Bar)
        else property_of(trace, "offsetgroup") or ""
        for number, trace in enumerate(traces)
    ]
    order = list(dict.fromkeys(keys))
    return {
        number: (((order.index(key) + 0.5) / len(order) - 0.5) * used, used / len(order))
        for number, key in enumerate(keys)
    }


def smallest_step(places: Sequence[NDArray[np.float64]]) -> float:
    """The smallest distance between two places of bars on an axis; 1 where there is one place only."""
    distinct = np.unique(np.concatenate([place[np.isfinite(place)] for place in places])) if places else np.empty(0)
    return float(np.diff(distinct).min()) if len(distinct) > 1 else 1.0


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)
