"""The sheet that a figure is printed on: its width, the size of its letters, and every text that stands on it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from matplotlib import patheffects
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea, VPacker
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation, Transform

from dashboard.shared.exports.print import fonts
from dashboard.shared.exports.print.colors import INK, color
from dashboard.shared.exports.print.labels import PointLabel
from dashboard.shared.exports.print.rich_text import Run, is_bold, lines_of, plain_text
from dashboard.shared.exports.print.style import DOTS_PER_INCH, PrintStyle

TEXT_SIZE = 12.0  # pixels of a label on a page; in print it has the size of the style
BOLDER = 0.045  # width of the stroke around bold letters, of their size: IPAexGothic has no bold face
BETWEEN_LINES = 1.15
PAD = 2.0  # points between the edge and what is next to it
BREAK_AFTER = " _-/・、。,"
ANCHORS = {"left": 0.0, "center": 0.5, "right": 1.0, "bottom": 0.0, "middle": 0.5, "top": 1.0}
PAPER_NOTE = "paper-note"  # the beginning of the name of a text whose place across is a share of the figure
VERTICAL = {"bottom": "bottom", "middle": "center", "top": "top"}


@dataclass
class Sheet:
    """The matplotlib figure and how it is lettered. texts: every text written on it, for the check of the fonts.

    labels: the names of points, which `labels.place_labels` moves apart.
    """

    style: PrintStyle
    figure: Figure
    texts: list[str] = field(default_factory=list)
    labels: list[PointLabel] = field(default_factory=list)

    @property
    def unit(self) -> float:
        """The points that a pixel of the page is in print."""
        return self.style.font_size / TEXT_SIZE

    def look(self, label: str, size: float = TEXT_SIZE) -> dict[str, Any]:
        """The properties of a text with the letters of `label`; size in pixels of the page."""
        text = plain_text(label)
        self.texts.append(text)
        return {"fontfamily": fonts.families(text), "fontsize": size * self.unit, "parse_math": False}

    def finish(self, text: Text, label: str) -> Text:
        """Make a written text bold where its label is, and outline letters of fonts that no PDF can embed."""
        if is_bold(label):
            stroke = patheffects.Stroke(linewidth=BOLDER * float(text.get_fontsize()), foreground=text.get_color())
            text.set_path_effects([stroke, patheffects.Normal()])
        elif fonts.needs_other_fonts(text.get_text()):
            text.set_path_effects([patheffects.Normal()])
        return text

    def write(
        self,
        label: str,
        x: float,
        y: float,
        transform: Transform,
        *,
        across: str = "center",
        up: str = "middle",
        size: float = TEXT_SIZE,
        ink: str = INK,
        angle: float = 0.0,
        shift: tuple[float, float] = (0.0, 0.0),
        gid: str | None = None,
    ) -> Text | None:
        """Write a label at a point; `across` and `up` name the side of it that is there, `shift` is in pixels.

        Returns the text, None for one whose parts look different.
        """
        moved = transform + ScaledTranslation(
            shift[0] * self.unit / 72, shift[1] * self.unit / 72, self.figure.dpi_scale_trans
        )
        runs = [run for line in lines_of(label) for run in line]
        if len({(run.size, run.color) for run in runs}) > 1:
            self._write_runs(label, (x, y), moved, (ANCHORS[across], ANCHORS[up]), size, ink)
            return None
        look = self.look(label, runs[0].size or size) if runs else self.look(label, size)
        if runs and runs[0].color:
            ink = runs[0].color
        text = self.figure.text(
            x,
            y,
            plain_text(label),
            transform=moved,
            ha=across,
            va=VERTICAL[up],
            color=color(ink),
            rotation=angle,
            multialignment=across,
            linespacing=BETWEEN_LINES,
            gid=gid,
            **look,
        )
        return self.finish(text, label)

    def width_of(self, text: str, size: float = TEXT_SIZE) -> float:
        """How wide a text is, in points: the widest of its lines."""
        renderer = self.figure.canvas.get_renderer()  # type: ignore[attr-defined]
        font = FontProperties(family=fonts.families(text), size=size * self.unit)
        return max(
            (
                renderer.get_text_width_height_descent(line, font, ismath=False)[0] / self.figure.dpi * 72
                for line in text.split("\n")
                if line
            ),
            default=0.0,
        )

    def broken(self, text: str, width: float, size: float = TEXT_SIZE) -> str:
        """`text` in lines of at most `width` points, broken where it has spaces or joints, else anywhere."""
        return "\n".join(self._broken(line, width, size) for line in text.split("\n"))

    def _broken(self, line: str, width: float, size: float) -> str:
        lines, rest = [], line
        while len(rest) > 1 and self.width_of(rest, size) > width:
            end = max(1, bisect_right(range(1, len(rest) + 1), width, key=lambda n: self.width_of(rest[:n], size)))
            joint = max((n for n in range(1, end + 1) if rest[n - 1] in BREAK_AFTER), default=0)
            end = joint if joint > end / 3 else end
            lines.append(rest[:end].rstrip())
            rest = rest[end:].lstrip()
        return "\n".join([*lines, rest])

    def _write_runs(
        self,
        label: str,
        point: tuple[float, float],
        transform: Transform,
        alignment: tuple[float, float],
        size: float,
        ink: str,
    ) -> None:
        lines: list[Artist] = [
            HPacker(children=[self._area(run, size, ink) for run in line], pad=0, sep=0, align="baseline")
            for line in lines_of(label)
        ]
        box = VPacker(children=lines, pad=0, sep=1, align="left")
        self.figure.add_artist(
            AnnotationBbox(
                box, point, xycoords=transform, box_alignment=alignment, frameon=False, pad=0, annotation_clip=False
            )
        )

    def _area(self, run: Run, size: float, ink: str) -> TextArea:
        look = self.look("", run.size or size) | {"fontfamily": fonts.families(run.text)}
        self.texts.append(run.text)
        area = TextArea(run.text, textprops={**look, "color": color(run.color or ink)})
        (text,) = (child for child in area.get_children() if isinstance(child, Text))
        self.finish(text, "<b>b</b>" if run.bold else "")
        return area


def blank(style: PrintStyle) -> Sheet:
    """A sheet with nothing on it. Its height is set once everything is."""
    figure = Figure(figsize=(style.width / 72, style.width / 72), dpi=DOTS_PER_INCH, facecolor="white")
    FigureCanvasAgg(figure)
    return Sheet(style, figure)
