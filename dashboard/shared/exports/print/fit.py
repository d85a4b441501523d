"""The arrangement of a sheet: margins as wide as what stands in them, so that nothing is cut off or overlaps."""

from __future__ import annotations

import re
from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox, BboxBase, ScaledTranslation

from dashboard.shared.exports.print.charts.heatmaps import Cells
from dashboard.shared.exports.print.charts.panel import Panel, put_labels
from dashboard.shared.exports.print.measured import (
    SMALLEST,
    height_of,
    labels_of,
    limits_of,
    overlap,
    pixels_of,
    shrunk_to_cells,
)
from dashboard.shared.exports.print.sheet import PAD, PAPER_NOTE, Sheet

APART, TITLE_APART = 5.0, 1.5  # points between the plot, the legend and the title; between the lines of titles
ROUNDS = 5
AT_REST = 0.05  # points
WIDEST_LABELS = 0.4  # of the width of the sheet, for the labels beside the plot
NUMBER = re.compile(r"[≤≥ ]*[+−-]?[\d,.]+ ?%?(\n[\d,.]+)?")
SMALLER = 0.85  # of their size that numbers beside an axis have before some are left out


class Arrangement:
    """The sheet's plot areas between the margins. paper: the box of all plot areas, in shares of the figure."""

    def __init__(self, sheet: Sheet, panels: Sequence[Panel], plot_height: float, paper: Bbox) -> None:
        self._sheet, self._panels, self._plot_height, self._paper = sheet, panels, plot_height, paper
        self._margins = {"left": PAD, "right": PAD, "top": PAD, "bottom": PAD}
        self._heading_room = 0.0  # points that headings of several lines take from the plot areas below them

    def fit(
        self,
        maps: Sequence[Cells],
        titles: Sequence[Text],
        legend: Legend | None,
        caption: Text | None,
        *,
        legend_above: bool,
    ) -> None:
        """Set margins and height; then the legend, the titles and the caption, for which the sheet grows."""
        for text in (*titles, *([caption] if caption is not None else [])):
            text.set_visible(False)
        self._settle()
        if self._headings_broken() | self._labels_fitted(maps):
            self._settle()
        self._keep_notes_inside()
        self._titles_parted()
        above: list[Text | Legend] = [*titles, *([legend] if legend is not None and legend_above else [])]
        below: list[Text | Legend] = [legend] if legend is not None and not legend_above else []
        below += [caption] if caption is not None else []
        for item in (*titles, *below):
            item.set_visible(True)
        heights = [
            height_of(self._sheet, item) + (TITLE_APART if item in titles[:-1] else APART) for item in (*above, *below)
        ]
        self._margins["top"] += sum(heights[: len(above)])
        self._margins["bottom"] += sum(heights[len(above) :])
        self._place()
        width, height = self._size()
        from_top = PAD
        for item, needed in zip(above, heights, strict=False):
            _set_top(item, PAD / width, 1 - from_top / height)
            from_top += needed
        from_bottom = PAD + sum(heights[len(above) :]) - APART
        for item, needed in zip(below, heights[len(above) :], strict=True):
            _set_top(item, PAD / width, from_bottom / height)
            from_bottom -= needed

    def _headings_broken(self) -> bool:
        """Break headings to the width of their plot areas, which make room for the lines. Whether any was broken."""
        width, _ = self._size()
        wide = width - self._margins["left"] - self._margins["right"]
        room = 0.0
        for panel in self._panels:
            if panel.heading is None:
                continue
            before, size = height_of(self._sheet, panel.heading), float(panel.heading.get_fontsize()) / self._sheet.unit
            panel.heading.set_text(self._sheet.broken(panel.heading.get_text(), panel.domain[2] * wide, size))
            room = max(room, height_of(self._sheet, panel.heading) - before)
        self._heading_room = room
        self._plot_height += room * len({panel.domain[1] for panel in self._panels})
        return room > 0

    def _keep_notes_inside(self) -> None:
        """Move texts on paper that would leave the sheet to its edge, broken where they are wider than it."""
        figure, scale = self._sheet.figure, 72 / self._sheet.figure.dpi
        renderer, width = figure.canvas.get_renderer(), self._sheet.style.width  # type: ignore[attr-defined]
        broken = False
        for note in filter(_is_paper_note, figure.texts):
            if note.get_window_extent(renderer).width * scale > width - 2 * PAD:
                size = float(note.get_fontsize()) / self._sheet.unit
                note.set_text(self._sheet.broken(note.get_text(), width - 2 * PAD, size))
                broken = True
        if broken:
            self._settle()
        for note in filter(_is_paper_note, figure.texts):
            box = note.get_window_extent(renderer)
            beyond = max(0.0, box.x1 * scale - (width - PAD)) - max(0.0, PAD - box.x0 * scale)
            if beyond:
                note.set_transform(note.get_transform() + ScaledTranslation(-beyond / 72, 0, figure.dpi_scale_trans))

    def _titles_parted(self) -> None:
        """Move the name of a horizontal axis away from texts on paper that stand where it is."""
        renderer = self._sheet.figure.canvas.get_renderer()  # type: ignore[attr-defined]
        notes = [note.get_window_extent(renderer) for note in filter(_is_paper_note, self._sheet.figure.texts)]
        moved = False
        for panel in self._panels:
            label, axis = panel.axes.xaxis.get_label(), panel.axes.xaxis
            box = label.get_window_extent(renderer)
            hit = [note for note in notes if label.get_text() and note.overlaps(box)]
            if hit:
                is_above = axis.get_label_position() == "top"
                away = max(note.y1 for note in hit) - box.y0 if is_above else box.y1 - min(note.y0 for note in hit)
                axis.labelpad += away * 72 / self._sheet.figure.dpi + TITLE_APART
                moved = True
        if moved:
            self._settle()

    def _settle(self) -> None:
        """Widen or narrow the margins until what is drawn reaches from edge to edge."""
        for _ in range(ROUNDS):
            self._place()
            width, height = self._size()
            left, bottom, right, top = self._extent()
            change = {
                "left": PAD - left,
                "right": right - (width - PAD),
                "bottom": PAD - bottom,
                "top": top - (height - PAD),
            }
            self._margins = {side: max(PAD, margin + change[side]) for side, margin in self._margins.items()}
            if max(abs(amount) for amount in change.values()) < AT_REST:
                break
        self._place()

    def _size(self) -> tuple[float, float]:
        height = self._plot_height + self._margins["top"] + self._margins["bottom"]
        return self._sheet.style.width, height

    def _place(self) -> None:
        width, height = self._size()
        self._sheet.figure.set_size_inches(width / 72, height / 72)
        left, bottom = self._margins["left"] / width, self._margins["bottom"] / height
        wide = max(0.1, 1 - left - self._margins["right"] / width)
        tall = self._plot_height / height
        self._paper.set(Bbox([[left, bottom], [left + wide, bottom + tall]]))
        for panel in self._panels:
            x, y, share_x, share_y = panel.domain
            lowered = 0.0
            if panel.heading is not None:
                lowered = self._heading_room / height
                panel.heading.set_y(y + share_y - lowered / tall)
            panel.axes.set_position((left + x * wide, bottom + y * tall, share_x * wide, share_y * tall - lowered))
            for axes, thickness, length in panel.bars:
                axes.set_position(
                    (
                        left + (x + share_x) * wide + APART / width,
                        bottom + (y + share_y * (1 - length) / 2) * tall,
                        thickness / width,
                        share_y * length * tall,
                    )
                )

    def _extent(self) -> tuple[float, float, float, float]:
        """What is drawn reaches from here to there, in points: left, bottom, right, top."""
        figure = self._sheet.figure
        renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
        tight = [axes.get_tightbbox(renderer) for axes in figure.axes]
        boxes: list[BboxBase] = [box for box in tight if box is not None]
        for item in (*figure.texts, *figure.artists):
            if item.get_visible() and (box := item.get_window_extent(renderer)).width > 0:
                # a text on paper is moved into the sheet instead: a margin for it would be a margin beside the plot
                boxes.append(Bbox([[boxes[0].x0, box.y0], [boxes[0].x0, box.y1]]) if _is_paper_note(item) else box)
        box = Bbox.union(boxes)
        scale = 72 / figure.dpi
        return box.x0 * scale, box.y0 * scale, box.x1 * scale, box.y1 * scale

    def _labels_fitted(self, maps: Sequence[Cells]) -> bool:
        """Make labels fit: break long ones, turn or thin those that overlap. Whether anything was changed."""
        changed = False
        for panel in self._panels:
            changed |= self._break_labels(panel) | self._part_labels(panel, "x") | self._part_labels(panel, "y")
            changed |= self._break_title(panel, "x") | self._break_title(panel, "y")
        if changed:
            self._settle()
        for cells in maps:
            if not shrunk_to_cells(self._sheet, cells):
                cells.add_bar()
                self._settle()
                self._part_labels(cells.panel, "x")  # the bar has taken of the width
                changed = True
        return changed

    def _break_labels(self, panel: Panel) -> bool:
        """Break words beside the plot that would take too much of its width."""
        labels, size = panel.labels.get("y", []), pixels_of(panel, "y")
        widest = WIDEST_LABELS * self._sheet.style.width
        broken = [self._sheet.broken(text, widest, size) if "<" not in text else text for _, text in labels]
        if broken == [text for _, text in labels]:
            return False
        put_labels(
            self._sheet,
            panel,
            "y",
            [place for place, _ in labels],
            [text.replace("\n", "<br>") for text in broken],
            size,
        )
        return True

    def _part_labels(self, panel: Panel, letter: str) -> bool:
        """Where labels of an axis overlap: leave out some numbers, or turn words and make them smaller."""
        labels = labels_of(panel, letter)
        if not overlap(self._sheet, labels, letter):
            return False
        texts = [label.get_text() for label in labels]
        if all(NUMBER.fullmatch(text) for text in texts if text):
            for label in labels:
                label.set_fontsize(SMALLER * float(label.get_fontsize()))
            if overlap(self._sheet, labels, letter):
                self._thin(panel, letter)
            return True
        if letter == "x" and not panel.settings["x"].tickangle:
            panel.axes.xaxis.set_tick_params(rotation=90)
        while overlap(self._sheet, labels, letter) and float(labels[0].get_fontsize()) > SMALLEST:
            for label in labels:
                label.set_fontsize(max(SMALLEST, float(label.get_fontsize()) - 0.5))
        size = float(labels[0].get_fontsize()) / self._sheet.unit
        while len(labels) > 2 and overlap(self._sheet, labels, letter):  # every second word, and of these again
            places, kept = zip(*panel.labels[letter][::2], strict=True)
            put_labels(self._sheet, panel, letter, places, kept, size)
            labels = labels_of(panel, letter)
        return True

    def _thin(self, panel: Panel, letter: str) -> None:
        """Leave out every second label of numbers, or more, never that of 0."""
        texts = dict(panel.labels.get(letter, []))
        low, high = limits_of(panel, letter)
        inside = [place for place in panel.axis(letter).get_majorticklocs() if low - 1e-9 <= place <= high + 1e-9]
        for step in range(2, len(inside)):
            middle = inside.index(0) % step if 0 in inside else 0
            kept = inside[middle::step]
            if texts:
                put_labels(self._sheet, panel, letter, kept, [texts[place] for place in kept], pixels_of(panel, letter))
            else:
                panel.axis(letter).set_ticks(kept)
            if not overlap(self._sheet, labels_of(panel, letter), letter):
                return

    def _break_title(self, panel: Panel, letter: str) -> bool:
        label = panel.axis(letter).get_label()
        box = panel.axes.get_window_extent()
        room = (box.width if letter == "x" else box.height) / self._sheet.figure.dpi * 72
        if letter == "x":
            # The name stands over the middle of the plot: what is wider than it would make the margins grow, and the plot
            # narrow. Of several plots side by side it may be as wide as the sheet.
            beside = self._margins["left"] if len(self._panels) == 1 else PAD
            room = self._sheet.style.width - PAD - beside
        broken = self._sheet.broken(label.get_text(), max(room, 10 * PAD))
        if broken == label.get_text():
            return False
        label.set(text=broken, multialignment="center")
        return True


def _is_paper_note(item: Artist) -> bool:
    return str(item.get_gid()).startswith(PAPER_NOTE)


def _set_top(item: Text | Legend, left: float, top: float) -> None:
    """Place the upper left corner of a title or a legend, in shares of the figure."""
    if isinstance(item, Text):
        item.set_position((left, top))
    else:
        item.set_bbox_to_anchor((left, top))
