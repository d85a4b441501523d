"""Colours of Plotly as matplotlib takes them, and the colours of print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from matplotlib.colors import Colormap, LinearSegmentedColormap, to_rgba

from dashboard.shared.exports.standalone import PALE
from dashboard.shared.theme import ACCENT, PALETTES

RGBA = re.compile(r"rgba?\(([^)]*)\)")
INK, MUTED, GRID, LINE = "#15181f", "#5b6475", "#e2e5ea", "#9aa3b2"
DARK = 0.55  # luminance below which letters on a ground are white
Color = tuple[float, float, float, float]


def color(value: Any, opacity: float | None = 1.0) -> Color:
    """A colour with its opacity, which multiplies that of an rgba().

    >>> color("rgba(255, 0, 0, 0.5)", 0.5)
    (1.0, 0.0, 0.0, 0.25)
    """
    match = RGBA.fullmatch(str(value).strip())
    if match:
        parts = [float(part) for part in match[1].split(",")]
        red, green, blue = (part / 255 for part in parts[:3])
        alpha = parts[3] if len(parts) > 3 else 1.0
    else:
        red, green, blue, alpha = to_rgba(str(value))
    return red, green, blue, alpha * (1.0 if opacity is None else opacity)


def of_series(index: int) -> str:
    """The colour that the `index`-th trace of a figure takes from the light theme, as in the HTML downloads."""
    return PALETTES["light"][index % len(PALETTES["light"])]


def colormap(scale: Sequence[Sequence[Any]] | None, *, reverse: bool) -> Colormap:
    """A colour scale; by default the light theme's, from pale to the accent."""
    stops = [(float(place), color(name)) for place, name in scale or ((0, PALE), (1, ACCENT))]
    built = LinearSegmentedColormap.from_list("scale", stops, N=512).with_extremes(bad=(1, 1, 1, 0))
    return built.reversed() if reverse else built


def ink_on(ground: Color) -> str:
    """The colour of letters that are legible on a ground, itself on white paper."""
    red, green, blue, alpha = ground
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#ffffff" if alpha * luminance + 1 - alpha < DARK else INK
