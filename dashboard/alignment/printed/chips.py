"""Draws an alignment with matplotlib: tokens as chips in two rows, links between them, several lines for long pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path

from dashboard.alignment.printed.legend import legend_words
from dashboard.alignment.printed.links import Link, costs, depth, links_of, number_of
from dashboard.alignment.printed.segments import Segment, segments
from dashboard.shared.exports.print.colors import INK, MUTED, color
from dashboard.shared.exports.print.sheet import BETWEEN_LINES, PAD, TEXT_SIZE, blank
from dashboard.shared.exports.print.style import PrintStyle
from dashboard.shared.theme import ACCENT, WARM
from engine.evaluations.alignment.token_table import SIDES

SMALL = 0.72  # size of readings and numbers, of that of the tokens
PADDING, GAP = 4.0, 3.5  # pixels within a chip beside its text, and between chips
LINKS_HEIGHT, BETWEEN_SEGMENTS = 62.0, 14.0  # pixels
STUB = 0.3  # length of the end of a link that leads to another line, of the height of the links
LONGEST_STUB = 4  # characters of the token it leads to
DEEPEST_SHADE = 0.42


@dataclass(frozen=True)
class Chip:
    """A token in its place: middle, lower and upper edge of its frame, in points from the lower left corner."""

    x: float
    bottom: float
    top: float


class Picture:
    """An alignment on a sheet, drawn from top to bottom."""

    def __init__(self, data: Mapping[str, Any], words: Mapping[str, str], style: PrintStyle, caption: str) -> None:
        self.data, self.words, self.sheet = data, words, blank(style)
        self.unit, self.links = self.sheet.unit, links_of(data)
        self.widths = {side: [self._width(token) for token in data[side]] for side in SIDES}
        self.has_ruby = {side: any(token["ruby"] for token in data[side]) for side in SIDES}
        self.cuts = segments(
            (self.widths["reference"], self.widths["candidate"]),
            [(link.reference, link.candidate) for link in self.links],
            style.width - 2 * PAD,
            ([token["inside"] for token in data["reference"]], [token["inside"] for token in data["candidate"]]),
        )
        room = style.width - 2 * PAD
        self.caption = self.sheet.broken(caption, room)
        self.legend = self.sheet.broken(legend_words(data, words, cut=len(self.cuts) > 1), room, SMALL * TEXT_SIZE)
        self.chips: dict[tuple[str, int], Chip] = {}

    def drawn(self) -> Figure:
        """The figure."""
        height = self._height()
        figure = self.sheet.figure
        figure.set_size_inches(self.sheet.style.width / 72, height / 72)
        self.axes = figure.add_axes((0, 0, 1, 1), label="alignment")  # untranslated
        self.axes.set_axis_off()
        self.axes.set(xlim=(0, self.sheet.style.width), ylim=(0, height))
        top = height - PAD
        for number, cut in enumerate(self.cuts):
            top = self._segment(cut, top, is_first=number == 0)
        for link in self.links:
            self._link(link)
        self.sheet.write(
            self.legend.replace("\n", "<br>"),
            PAD,
            top,
            self.axes.transData,
            across="left",
            up="top",
            size=SMALL * TEXT_SIZE,
            ink=MUTED,
        )
        if self.caption:
            shown = escaped(self.caption).replace("\n", "<br>")
            self.sheet.write(shown, PAD, PAD, self.axes.transData, across="left", up="bottom")
        return figure

    def _width(self, token: Mapping[str, Any]) -> float:
        size, small = TEXT_SIZE * (SMALL if token["special"] else 1.0), SMALL * TEXT_SIZE
        widest = max(
            self.sheet.width_of(token["text"] or " ", size),
            self.sheet.width_of(token["ruby"], small),
            self.sheet.width_of(number_of(self.data, token), small),
        )
        return widest + (2 * PADDING + GAP) * self.unit

    def _line(self, share: float = 1.0) -> float:
        """The height of a line of text, in points."""
        return share * self.sheet.style.font_size * 1.3

    def _row(self, side: str) -> float:
        return self._line(SMALL) * (2 if self.has_ruby[side] else 1) + self._line() + PADDING * self.unit

    def _height(self) -> float:
        segment = self._row("reference") + self._row("candidate") + LINKS_HEIGHT * self.unit
        legend = (self.legend.count("\n") + 1) * SMALL * self.sheet.style.font_size * BETWEEN_LINES * 1.25
        caption = (self.caption.count("\n") + 1) * self._line() + PAD if self.caption else 0.0
        segments_height = len(self.cuts) * (segment + BETWEEN_SEGMENTS * self.unit)
        return 2 * PAD + 2 * self._line(SMALL) + segments_height + legend + caption

    def _segment(self, cut: Segment, top: float, *, is_first: bool) -> float:
        """Draw a segment below `top`; returns its lower end."""
        if is_first:
            self._label("reference", top)
            top -= self._line(SMALL)
        bottom = top - self._row("reference")
        self._chips("reference", cut.reference, bottom)
        top = bottom - LINKS_HEIGHT * self.unit
        bottom = top - self._row("candidate")
        self._chips("candidate", cut.candidate, bottom)
        if is_first:
            bottom -= self._line(SMALL)
            self._label("candidate", bottom + self._line(SMALL))
        return bottom - BETWEEN_SEGMENTS * self.unit

    def _label(self, side: str, top: float) -> None:
        self.sheet.write(
            self.words[side], PAD, top, self.axes.transData, across="left", up="top", size=SMALL * TEXT_SIZE, ink=MUTED
        )

    def _chips(self, side: str, span: tuple[int, int], bottom: float) -> None:
        """Draw the tokens of a line, in the middle of the sheet."""
        widths = self.widths[side][span[0] : span[1]]
        left = max(PAD, (self.sheet.style.width - sum(widths)) / 2)
        for index, width in zip(range(*span), widths, strict=True):
            self._chip(side, index, left + width / 2, width - GAP * self.unit, bottom)
            left += width

    def _chip(self, side: str, index: int, x: float, width: float, bottom: float) -> None:
        token, height = self.data[side][index], self._row(side)
        self.chips[side, index] = Chip(x, bottom, bottom + height)
        at = self.axes.transData
        dashes = (0, (0.8, 1.6)) if token["unknown"] else (0, (2.5, 1.8)) if token["low"] else None
        shade = DEEPEST_SHADE * depth(self.data, token)
        if not token["special"]:
            red, green, blue, _ = color(ACCENT)
            ground = tuple(1 - shade + shade * part for part in (red, green, blue))  # opaque: links run behind it
            radius = 3 * self.unit
            self.axes.add_patch(
                FancyBboxPatch(
                    (x - width / 2 + radius, bottom + radius),
                    width - 2 * radius,
                    height - 2 * radius,
                    facecolor=ground,
                    boxstyle=f"round,pad={radius}",
                    edgecolor=WARM if dashes else ground,
                    zorder=2,
                    linewidth=1.2 * self.unit,
                    linestyle=dashes or "-",
                    gid=f"token-{side}-{index}",
                )
            )
        number_y = bottom + PADDING * self.unit / 2 + self._line(SMALL) / 2
        text_y = number_y + (self._line(SMALL) + self._line()) / 2
        ink = MUTED if token["special"] else INK
        size = TEXT_SIZE * (SMALL if token["special"] else 1.0)
        self._write(token["text"], x, text_y, at, size, ink)
        warm = costs(self.data, token)
        number = number_of(self.data, token)
        self._write(
            f"<b>{number}</b>" if warm else number,
            x,
            number_y,
            at,
            SMALL * TEXT_SIZE,
            WARM if warm else MUTED,
            is_label=warm,
        )
        self._write(token["ruby"], x, text_y + (self._line(SMALL) + self._line()) / 2, at, SMALL * TEXT_SIZE, MUTED)
        if token["name"] and self.data["names"]:
            half = self.sheet.width_of(token["text"]) / 2
            self.axes.add_patch(
                Rectangle(
                    (x - half, text_y - 0.62 * self.sheet.style.font_size),
                    2 * half,
                    self.unit,
                    color=WARM,
                    linewidth=0,
                    zorder=3,
                )
            )

    def _write(
        self, text: str, x: float, y: float, transform: Any, size: float, ink: str, *, is_label: bool = False
    ) -> None:
        if text:
            label = text if is_label else escaped(text)
            self.sheet.write(label, x, y, transform, size=size, ink=ink)

    def _link(self, link: Link) -> None:
        is_mutual = len(link.chosen_by) == 2
        width = 2.2 if link.warm else (1.3 if is_mutual else 0.9) + link.depth
        opacity = 0.9 if link.warm else (0.3 if is_mutual else 0.16) + 0.45 * link.depth
        ink = WARM if link.warm else MUTED if link.special else ACCENT
        dashes = (0, (1.2, 2.2)) if link.special else "-"
        look = {
            "edgecolor": color(ink, opacity),
            "linewidth": width * self.unit,
            "facecolor": "none",
            "zorder": 1,
            "linestyle": dashes,
        }
        above, below = self.chips["reference", link.reference], self.chips["candidate", link.candidate]
        if any(
            cut.reference[0] <= link.reference < cut.reference[1]
            and cut.candidate[0] <= link.candidate < cut.candidate[1]
            for cut in self.cuts
        ):
            middle = (above.bottom + below.top) / 2
            path = [(above.x, above.bottom), (above.x, middle), (below.x, middle), (below.x, below.top)]
            self.axes.add_patch(
                PathPatch(
                    Path(path, [Path.MOVETO, *[Path.CURVE4] * 3]), **look, gid=f"link-{link.reference}-{link.candidate}"
                )
            )
            return
        for side in link.chosen_by:
            self._stub(link, side, look)

    def _stub(self, link: Link, side: str, look: Mapping[str, Any]) -> None:
        """The beginning of a link to another line, with the token that it leads to."""
        other = "candidate" if side == "reference" else "reference"
        chip, partner = self.chips[side, link.end(side)], self.data[other][link.end(other)]["text"]
        sign = -1 if side == "reference" else 1
        start = chip.bottom if side == "reference" else chip.top
        end = start + sign * STUB * LINKS_HEIGHT * self.unit / 2
        self.axes.add_patch(
            PathPatch(Path([(chip.x, start), (chip.x, end)]), **look, gid=f"stub-{side}-{link.end(side)}")
        )
        is_later = self._segment_of(other, link.end(other)) > self._segment_of(side, link.end(side))
        short = partner if len(partner) <= LONGEST_STUB else f"{partner[: LONGEST_STUB - 1]}…"
        self.sheet.write(
            escaped(f"→{short}" if is_later else f"←{short}"),
            chip.x,
            end + sign * self.unit,
            self.axes.transData,
            up="top" if sign < 0 else "bottom",
            size=0.62 * TEXT_SIZE,
            ink=WARM if link.warm else MUTED,
        )

    def _segment_of(self, side: str, index: int) -> int:
        spans: Sequence[tuple[int, int]] = [getattr(cut, side) for cut in self.cuts]
        return next(number for number, (start, end) in enumerate(spans) if start <= index < end)


def draw_alignment(data: Mapping[str, Any], words: Mapping[str, str], style: PrintStyle, caption: str = "") -> Figure:
    """The picture of `view.view_data` with `view_texts.printed_texts`, in a style, with a caption below it."""
    return Picture(data, words, style, caption).drawn()


def escaped(text: str) -> str:
    """A text as a label that looks like it."""
    return text.replace("&", "&amp;").replace("<", "&lt;")
