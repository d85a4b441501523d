"""Texts of a printed figure that lie over each other, by the rectangles that they fill."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray

ALLOWED = 0.2  # of the height of the letters: boxes of text hold room for accents and descenders that it lacks


def overlapping(printed: Figure) -> list[tuple[str, str]]:
    """Each two texts that overlap, drawn as they are saved."""
    printed.draw_without_rendering()
    renderer = printed.canvas.get_renderer()  # type: ignore[attr-defined]
    texts = [(text.get_text(), corners(text, renderer)) for text in drawn_texts(printed)]
    boxes = np.array([corner for _, corner in texts]).reshape(-1, 4, 2)
    low, high = boxes.min(axis=1), boxes.max(axis=1)
    near = (low[:, None] < high[None]).all(axis=2) & (low[None] < high[:, None]).all(axis=2)
    return [(texts[i][0], texts[j][0]) for i, j in np.argwhere(np.triu(near, 1)) if overlap(boxes[i], boxes[j])]


def drawn_texts(printed: Figure) -> Iterator[Text]:
    """Every text that is visible: of axes, ticks within the limits, legends, annotations and labels."""
    seen: set[int] = set()
    for text in _within(printed):
        if id(text) not in seen and text.get_text().strip():
            seen.add(id(text))
            yield text


def _within(artist: Artist) -> Iterator[Text]:
    if not artist.get_visible():
        return
    if isinstance(artist, Text):
        yield artist
    axis_labels = getattr(artist, "_update_ticks", None)  # of an axis: ticks beyond its limits are not drawn
    if axis_labels is not None:
        for tick in axis_labels():
            for label in (tick.label1, tick.label2):
                yield from _within(label)
        yield from _within(artist.get_label())  # type: ignore[attr-defined]
        return
    for child in artist.get_children():
        yield from _within(child)


def corners(text: Text, renderer: object) -> NDArray[np.float64]:
    """The four corners of a text (4, 2) in pixels, turned as it is."""
    if text.get_rotation() % 90 == 0:
        box = text.get_window_extent(renderer)  # type: ignore[arg-type]
        return np.array([(box.x0, box.y0), (box.x1, box.y0), (box.x1, box.y1), (box.x0, box.y1)])
    _, _, (corner, (width, height)) = text._get_layout(renderer)  # type: ignore[attr-defined]
    lowest = np.array(corner) + text.get_transform().transform(text.get_unitless_position())
    turn = np.deg2rad(text.get_rotation())
    along, up = np.array([np.cos(turn), np.sin(turn)]) * width, np.array([-np.sin(turn), np.cos(turn)]) * height
    return np.array([lowest, lowest + along, lowest + along + up, lowest + up])


def overlap(first: NDArray[np.float64], second: NDArray[np.float64]) -> bool:
    """Whether two rectangles overlap by more than is allowed, by the axis that separates them best."""
    size = min(np.linalg.norm(box[3] - box[0]) for box in (first, second))
    line = min(size, min(np.linalg.norm(box[1] - box[0]) for box in (first, second)))
    for box in (first, second):
        for side in (box[1] - box[0], box[3] - box[0]):
            length = np.linalg.norm(side)
            if length == 0:
                return False
            a, b = first @ side / length, second @ side / length
            if min(a.max(), b.max()) - max(a.min(), b.min()) <= ALLOWED * line:
                return False
    return True
