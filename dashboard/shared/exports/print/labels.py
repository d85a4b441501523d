"""Where the names of points go: beside their point, else around it, so that no name lies over another text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox, BboxBase, IdentityTransform
from numpy.typing import NDArray

from dashboard.shared.exports.print.colors import MUTED

RINGS = (0.0, 0.8, 1.8, 3.0, 4.5, 6.5)  # lines of text between the usual distance from the point and the name
SIDES = tuple((float(np.cos(turn)), float(np.sin(turn))) for turn in np.deg2rad([90, -90, 0, 180, 45, 135, -45, -135]))
SMALLEST = 4.5  # points
SHRUNK = 0.86  # of its size, where a name finds no place
HAIRLINE = 0.4
APART = 0.08  # of a line, between two names


@dataclass(frozen=True)
class PointLabel:
    """The name of a point; `gap` points lie between the two."""

    text: Text
    axes: Axes
    point: tuple[float, float]
    gap: float


def place_labels(figure: Figure, labels: Sequence[PointLabel]) -> None:
    """Move names that lie over other texts; a line leads to those that are away from their point.

    A name that finds no place, in smaller letters neither, is left out where the legend has it, else it stays.
    """
    if not labels:
        return
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    own, legend = {id(label.text) for label in labels}, _legend_names(figure)
    taken = [box for text in _texts(figure) if id(text) not in own and (box := text.get_window_extent(renderer)).width]
    points = np.array([label.axes.transData.transform(label.point) for label in labels])
    for index, label in enumerate(labels):
        others, is_listed = np.delete(points, index, axis=0), _is_listed(label.text.get_text(), legend)
        room = label.axes.bbox if is_listed else figure.bbox
        while not _placed(figure, label, points[index], others, taken, room):
            size = float(label.text.get_fontsize())
            if size <= SMALLEST:
                label.text.set_visible(not is_listed)
                break
            label.text.set_fontsize(max(SMALLEST, SHRUNK * size))
        if label.text.get_visible():
            taken.append(label.text.get_window_extent(renderer))


def _placed(
    figure: Figure,
    label: PointLabel,
    point: NDArray[np.float64],
    others: NDArray[np.float64],
    taken: list[Bbox],
    room: BboxBase,
) -> bool:
    """Move a name to the nearest free place within `room`, there where it covers the fewest points; False without one."""
    text, scale = label.text, figure.dpi / 72
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    now = text.get_window_extent(renderer)
    if not _covers(now, taken) and _is_inside(now, room):
        return True
    line = float(text.get_fontsize()) * scale
    for ring in RINGS:
        away = label.gap * scale + ring * line
        free = [
            (box, side)
            for side in SIDES
            if _is_inside(box := _beside(point, side, away, now.width, now.height), room) and not _covers(box, taken)
        ]
        if free:
            box, _ = min(free, key=lambda place: _n_inside(place[0], others))
            text.set(
                transform=IdentityTransform(),
                x=(box.x0 + box.x1) / 2,
                y=(box.y0 + box.y1) / 2,
                ha="center",
                va="center",
                multialignment="center",
            )
            _fasten(figure, text)
            if ring:
                _lead(figure, point, np.clip(point, [box.x0, box.y0], [box.x1, box.y1]))
            return True
    return False


def _beside(point: NDArray[np.float64], side: tuple[float, float], away: float, width: float, height: float) -> Bbox:
    """The box of a name on one side of a point, `away` pixels from it."""
    middle = point + np.array(side) * (away + np.array([width, height]) / 2)
    return Bbox.from_bounds(middle[0] - width / 2, middle[1] - height / 2, width, height)


def _fasten(figure: Figure, text: Text) -> None:
    """Give the place of a text in shares of the figure, which hold at any resolution."""
    text.set_position(tuple(figure.transFigure.inverted().transform(text.get_position())))
    text.set_transform(figure.transFigure)


def _lead(figure: Figure, start: NDArray[np.float64], end: NDArray[np.float64]) -> None:
    """Draw a line from a point to its name."""
    ends = figure.transFigure.inverted().transform(np.stack([start, end]))
    figure.add_artist(
        Line2D(*ends.T, color=MUTED, linewidth=HAIRLINE, transform=figure.transFigure, zorder=2.9, gid="leader")
    )


def _covers(box: Bbox, taken: Iterable[Bbox]) -> bool:
    gap = APART * box.height
    return any(
        box.x0 < other.x1 + gap and other.x0 < box.x1 + gap and box.y0 < other.y1 and other.y0 < box.y1
        for other in taken
    )


def _is_inside(box: Bbox, room: BboxBase) -> bool:
    return bool(room.x0 <= box.x0 and box.x1 <= room.x1 and room.y0 <= box.y0 and box.y1 <= room.y1)


def _n_inside(box: Bbox, points: NDArray[np.float64]) -> int:
    inside = (points >= [box.x0, box.y0]) & (points <= [box.x1, box.y1])
    return int(inside.all(axis=1).sum())


def _legend_names(figure: Figure) -> list[str]:
    """What the legends of a figure say, on one line each."""
    return ["".join(text.get_text().split()) for legend in figure.legends for text in legend.get_texts()]


def _is_listed(name: str, legend: Sequence[str]) -> bool:
    """Whether a name, or the end of one after "…", stands in the legend.

    >>> [_is_listed(name, ["longname"]) for name in ("long name", "…name", "other", "name")]
    [True, True, False, False]
    """
    words = "".join(name.split())
    return words in legend or (words.startswith("…") and any(entry.endswith(words[1:]) for entry in legend))


def _texts(artist: Artist) -> Iterator[Text]:
    if not artist.get_visible():
        return
    if isinstance(artist, Text):
        yield artist
    for child in artist.get_children():
        yield from _texts(child)
