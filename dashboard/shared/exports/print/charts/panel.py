"""One plot area of a figure: its axes with their ranges, scales and ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.collections import PathCollection
from matplotlib.text import Text
from matplotlib.ticker import Formatter, LogLocator, MaxNLocator, MultipleLocator, NullLocator

from dashboard.shared.exports.print.charts.number_format import formatted, tick_text
from dashboard.shared.exports.print.charts.values import Scale
from dashboard.shared.exports.print.colors import GRID, INK, LINE, color
from dashboard.shared.exports.print.rich_text import plain_text
from dashboard.shared.exports.print.sheet import TEXT_SIZE, Sheet

STEPS = (1, 2, 5, 10)
MARGIN = 0.05  # of an axis without a range, at both ends of the data
MOST_TICKS = {"x": 6, "y": 7}
TICK_PAD = 4  # pixels between an axis and its labels
HAIRLINE = 0.5


@dataclass
class Panel:
    """A plot area. domain: its share of the figure's (left, bottom, width, height), each from 0 to 1.

    heading: the text above it, of a figure with several plot areas.
    """

    axes: Axes
    settings: dict[str, Any]  # "x" and "y": the axes of the Plotly layout
    scales: dict[str, Scale]
    domain: tuple[float, float, float, float]
    bars: list[tuple[Axes, float, float]] = field(default_factory=list)  # colour bars: width in points, share of height
    labels: dict[str, list[tuple[float, str]]] = field(default_factory=dict)  # of "x" and "y": those at given places
    heading: Text | None = None

    def axis(self, letter: str) -> XAxis | YAxis:
        """The matplotlib axis of a letter."""
        return self.axes.xaxis if letter == "x" else self.axes.yaxis

    def show_points_at_the_edge(self) -> None:
        """Draw whole the points that lie on the edge of the plot area, where none lies beyond it."""
        (x0, x1), (y0, y1) = sorted(self.axes.get_xlim()), sorted(self.axes.get_ylim())
        for points in self.axes.collections:
            if isinstance(points, PathCollection):
                places = np.ma.getdata(points.get_offsets())  # (n_points, 2)
                inside = (places >= np.array([x0, y0])) & (places <= np.array([x1, y1]))
                points.set_clip_on(points.get_clip_on() and not bool(inside.all()))

    def free_height(self) -> bool:
        """Whether the vertical axis is a scale of numbers, not rows that need their height."""
        vertical = self.settings["y"]
        return (
            vertical.visible is not False
            and vertical.ticktext is None
            and not self.scales["y"].is_category
            and vertical.scaleanchor is None
        )


class TickFormatter(Formatter):
    """Labels of the ticks of an axis of numbers."""

    def __init__(self, tick_format: str | None, suffix: str) -> None:
        self._format, self._suffix = tick_format, suffix
        self._places: list[float] = []

    def set_locs(self, locs: Sequence[float]) -> None:
        """All places of ticks, which say how many decimals distinguish them."""
        self._places = sorted({float(place) for place in locs})

    def __call__(self, value: float, pos: int | None = None) -> str:
        """The label of the tick at `value`."""
        if self._format:
            return formatted(value, self._format) + self._suffix
        return tick_text(value, smallest_gap(self._places)) + self._suffix


class PowerFormatter(Formatter):
    """Labels of the ticks of a logarithmic axis."""

    def __call__(self, value: float, pos: int | None = None) -> str:
        """The label of the tick at `value`, a power of ten."""
        return tick_text(value, value)


def set_range(panel: Panel, letter: str) -> None:
    """The limits of an axis: those of the layout, else those of the data; categories from end to end."""
    settings, scale, axes = panel.settings[letter], panel.scales[letter], panel.axes
    is_reversed = settings.autorange == "reversed"
    if settings.range is not None and None not in settings.range:
        ends = [10**end for end in settings.range] if settings.type == "log" else list(settings.range)
    elif scale.is_category:
        ends = [-0.5, max(len(scale.categories), 1) - 0.5]
    elif panel.settings["y"].scaleanchor:
        return  # both axes grow until a unit is as long on either
    else:
        axes.autoscale_view()
        ends = list(axes.get_xlim() if letter == "x" else axes.get_ylim())
        if settings.rangemode == "tozero":
            ends = (
                [min(0.0, ends[0]), max(0.0, ends[1])]
                if ends[0] * ends[1] < 0
                else ([0.0, ends[1]] if ends[1] > 0 else [ends[0], 0.0])
            )
    ends = ends[::-1] if is_reversed else ends
    (axes.set_xlim if letter == "x" else axes.set_ylim)(*ends)


def set_ticks(sheet: Sheet, panel: Panel, letter: str) -> None:
    """The ticks of an axis with their labels and grid lines, its line, side and title."""
    settings, axis = panel.settings[letter], panel.axis(letter)
    suffix = (settings.ticksuffix or "").rstrip()
    side: Any = settings.side or {"x": "bottom", "y": "left"}[letter]
    if isinstance(axis, XAxis) and side == "top":  # before the labels: each side has its own
        axis.tick_top()
    elif isinstance(axis, YAxis) and side == "right":
        axis.tick_right()
    axis.set_minor_locator(NullLocator())
    size = settings.tickfont.size or TEXT_SIZE
    labels = _fixed_labels(panel, letter, suffix)
    if labels is not None:
        put_labels(sheet, panel, letter, *labels, size)
    else:
        _free_ticks(settings, axis, letter, suffix)
        axis.set_tick_params(labelsize=size * sheet.unit, labelcolor=INK, labelfontfamily=sheet.look("0")["fontfamily"])
    axis.set_tick_params(length=0, pad=TICK_PAD * sheet.unit, rotation=-(settings.tickangle or 0))
    axis.set_label_position(side)
    if settings.tickangle and abs(settings.tickangle) < 90:
        for tick_label in axis.get_ticklabels():
            tick_label.set(
                ha="right" if (settings.tickangle < 0) == (side == "bottom") else "left", rotation_mode="anchor"
            )
    if settings.showticklabels is False:
        axis.set_tick_params(labelleft=False, labelright=False, labeltop=False, labelbottom=False)
    if settings.showgrid is not False:
        axis.grid(True, color=GRID, linewidth=HAIRLINE)
    _lines(panel, letter, side)
    if settings.title.text:
        label = axis.set_label_text(
            plain_text(settings.title.text),
            color=INK,
            **sheet.look(settings.title.text, settings.title.font.size or TEXT_SIZE),
        )
        sheet.finish(label, settings.title.text)
    axis.set_visible(settings.visible is not False)


def put_labels(
    sheet: Sheet, panel: Panel, letter: str, places: Sequence[float], texts: Sequence[str], size: float
) -> None:
    """Put labels at places of an axis, each in the fonts that it needs; size in pixels of the page."""
    axis = panel.axis(letter)
    axis.set_ticks(
        places, labels=[plain_text(text) for text in texts], fontsize=size * sheet.unit, color=INK, parse_math=False
    )
    for tick_label, text in zip(axis.get_ticklabels(), texts, strict=True):
        tick_label.set_fontfamily(sheet.look(text, size)["fontfamily"])
        sheet.finish(tick_label, text)
    panel.labels[letter] = list(zip(places, texts, strict=True))


def _fixed_labels(panel: Panel, letter: str, suffix: str) -> tuple[list[float], list[str]] | None:
    settings, scale = panel.settings[letter], panel.scales[letter]
    if settings.tickvals is not None:
        places = [float(place) for place in scale.places(settings.tickvals)]
        texts = (
            settings.ticktext
            if settings.ticktext is not None
            else [tick_text(place, smallest_gap(places)) for place in places]
        )
    elif scale.is_category:
        places, texts = [float(place) for place in range(len(scale.categories))], scale.categories
    else:
        return None
    return places, [f"{text}{suffix}" for text in texts]


def _free_ticks(settings: Any, axis: XAxis | YAxis, letter: str, suffix: str) -> None:
    if settings.type == "log":
        axis.set_major_locator(LogLocator(10))
        axis.set_major_formatter(PowerFormatter())
        return
    if settings.dtick:
        axis.set_major_locator(MultipleLocator(float(settings.dtick)))
    else:
        axis.set_major_locator(MaxNLocator(min(settings.nticks or MOST_TICKS[letter], MOST_TICKS[letter]), steps=STEPS))
    axis.set_major_formatter(TickFormatter(settings.tickformat or None, suffix))


def _lines(panel: Panel, letter: str, side: str) -> None:
    """The line of the axis and, unless it is switched off, the line at 0."""
    settings = panel.settings[letter]
    for name in ("bottom", "top") if letter == "x" else ("left", "right"):
        spine = panel.axes.spines[name]
        spine.set(
            visible=name == side and settings.visible is not False and settings.showticklabels is not False,
            linewidth=HAIRLINE,
            color=LINE,
        )
    low, high = sorted(panel.axes.get_xlim() if letter == "x" else panel.axes.get_ylim())
    has_names = panel.scales[letter].is_category or settings.ticktext is not None
    if settings.zeroline is not False and not has_names and settings.visible is not False and low < 0 < high:
        draw = panel.axes.axvline if letter == "x" else panel.axes.axhline
        draw(0, color=color(LINE), linewidth=HAIRLINE, zorder=0.8)


def smallest_gap(places: Sequence[float]) -> float:
    """The smallest distance between two ticks; of one tick alone the place of its first digit."""
    steps = [abs(second - first) for first, second in pairwise(places) if second != first]
    return min(steps) if steps else 10 ** math.floor(math.log10(abs(places[0]))) if places and places[0] else 1.0
