"""What stands beside the plot areas of a sheet, measured as it is drawn: labels of axes, their limits and overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.legend import Legend
from matplotlib.text import Text

from dashboard.shared.exports.print.charts.heatmaps import Cells
from dashboard.shared.exports.print.charts.panel import Panel
from dashboard.shared.exports.print.sheet import TEXT_SIZE, Sheet

SMALLEST = 4.5  # points of letters that are made smaller to fit; what needs less is left out
CELL_USED = 0.94


def labels_of(panel: Panel, letter: str) -> list[Text]:
    """The labels of an axis that are drawn."""
    axis = panel.axis(letter)
    if not axis.get_visible() or panel.settings[letter].showticklabels is False:
        return []
    low, high = limits_of(panel, letter)
    return [
        label
        for place, label in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=False)
        if label.get_text() and low - 1e-9 <= place <= high + 1e-9
    ]


def limits_of(panel: Panel, letter: str) -> tuple[float, float]:
    """The ends of an axis, the lower first."""
    low, high = sorted(panel.axes.get_xlim() if letter == "x" else panel.axes.get_ylim())
    return low, high


def pixels_of(panel: Panel, letter: str) -> float:
    """The size of the labels of an axis, in pixels of the page."""
    return float(panel.settings[letter].tickfont.size or TEXT_SIZE)


def overlap(sheet: Sheet, labels: Sequence[Text], letter: str) -> bool:
    """Whether labels of an axis overlap, or are nearer than words are to each other."""
    renderer = sheet.figure.canvas.get_renderer()  # type: ignore[attr-defined]
    boxes = sorted(
        (label.get_window_extent(renderer) for label in labels), key=lambda box: box.x0 if letter == "x" else box.y0
    )
    if labels and labels[0].get_rotation() not in (0.0, 90.0):
        return False  # slanted labels may be as near as their letters are high
    gap = 0.3 * sheet.style.font_size * sheet.figure.dpi / 72 if letter == "x" else 0.0
    ends = [(box.x0, box.x1) if letter == "x" else (box.y0, box.y1) for box in boxes]
    return any(
        following[0] < before[1] + (gap if labels[0].get_rotation() == 0 else 0) for before, following in pairwise(ends)
    )


def height_of(sheet: Sheet, item: Text | Legend) -> float:
    """The height of a text or a legend, in points."""
    renderer = sheet.figure.canvas.get_renderer()  # type: ignore[attr-defined]
    return float(item.get_window_extent(renderer).height / sheet.figure.dpi * 72)


def shrunk_to_cells(sheet: Sheet, cells: Cells) -> bool:
    """Make the texts of a heat map as small as its cells need; whether they are legible, else they are left out."""
    if not cells.texts:
        return True
    renderer, axes = sheet.figure.canvas.get_renderer(), cells.panel.axes  # type: ignore[attr-defined]
    area = axes.get_window_extent()
    (x0, x1), (y0, y1) = limits_of(cells.panel, "x"), limits_of(cells.panel, "y")
    width, height = area.width * cells.size[0] / (x1 - x0), area.height * cells.size[1] / (y1 - y0)
    boxes = [text.get_window_extent(renderer) for text in cells.texts]
    share = CELL_USED * min(width / max(box.width for box in boxes), height / max(box.height for box in boxes))
    size = min(1.0, share) * float(cells.texts[0].get_fontsize())
    for text in cells.texts:
        text.set_fontsize(size)
        text.set_visible(size >= SMALLEST)
    return size >= SMALLEST
