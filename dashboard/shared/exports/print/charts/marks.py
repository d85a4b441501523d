"""Lines, rectangles and texts of the layout: shapes and annotations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.text import Text
from matplotlib.transforms import Transform, blended_transform_factory

from dashboard.shared.exports.print.charts.panel import Panel
from dashboard.shared.exports.print.charts.scatter import DASHES
from dashboard.shared.exports.print.colors import INK, color
from dashboard.shared.exports.print.sheet import PAPER_NOTE, TEXT_SIZE, Sheet
from engine.errors import InputError
from engine.messages.message import Message

BELOW, ABOVE = 0.7, 4.0
SIDES = {"x": ("left", "center", "right"), "y": ("bottom", "middle", "top")}
SAME_PLACE = 1e-6
HEAD = 0.35  # length of an arrow's head, of the size of the letters


def draw_shapes(sheet: Sheet, panels: Mapping[tuple[str, str], Panel], layout: Any, paper: Transform) -> None:
    """Draw the lines and rectangles."""
    for number, shape in enumerate(layout.shapes):
        panel = _panel_of(panels, shape.xref, shape.yref)
        transform = blended_transform_factory(
            _transform(panel, "x", shape.xref, paper), _transform(panel, "y", shape.yref, paper)
        )
        x0, x1, y0, y1 = (
            _place(panel, *item)
            for item in (
                ("x", shape.xref, shape.x0),
                ("x", shape.xref, shape.x1),
                ("y", shape.yref, shape.y0),
                ("y", shape.yref, shape.y1),
            )
        )
        look: dict[str, Any] = {
            "transform": transform,
            "gid": f"shape-{number}",
            "zorder": BELOW if shape.layer == "below" else ABOVE,
        }
        width = (2.0 if shape.line.width is None else shape.line.width) * sheet.unit
        ink, dash = color(shape.line.color or INK, shape.opacity), DASHES[shape.line.dash or "solid"]
        if shape.type == "line":
            panel.axes.add_artist(Line2D([x0, x1], [y0, y1], color=ink, linewidth=width, linestyle=dash, **look))
        elif shape.type == "rect":
            ground = color(shape.fillcolor, shape.opacity) if shape.fillcolor else "none"
            panel.axes.add_artist(
                Polygon(
                    [(x0, y0), (x1, y0), (x1, y1), (x0, y1)],
                    closed=True,
                    facecolor=ground,
                    linestyle=dash,
                    edgecolor=ink if width else "none",
                    linewidth=width,
                    **look,
                )
            )
        else:
            raise InputError(Message("A shape of the type '{type}' cannot be printed.", type=shape.type))


def write_annotations(sheet: Sheet, panels: Mapping[tuple[str, str], Panel], layout: Any, paper: Transform) -> None:
    """Write the texts, and draw the arrows of those that have one."""
    for number, note in enumerate(layout.annotations):
        panel = _panel_of(panels, note.xref, note.yref)
        transform = blended_transform_factory(
            _transform(panel, "x", note.xref, paper), _transform(panel, "y", note.yref, paper)
        )
        x, y = _note_place(panel, "x", note.xref, note.x), _note_place(panel, "y", note.yref, note.y)
        shift = (note.xshift or 0.0, note.yshift or 0.0)
        if note.showarrow is not False:
            shift = _arrow(sheet, panel, note, (x, y), transform, number)
        size = note.font.size or TEXT_SIZE
        if note.text:
            written = sheet.write(
                note.text,
                x,
                y,
                transform,
                across=_anchor("x", note.xanchor, note.xref, x, note),
                up=_anchor("y", note.yanchor, note.yref, y, note),
                size=size,
                shift=shift,
                ink=note.font.color or INK,
                angle=-(note.textangle or 0),
                gid=f"{PAPER_NOTE if note.xref == 'paper' else 'annotation'}-{number}",
            )
            if note.xref == note.yref == "paper" and note.yanchor == "bottom":
                _note_heading(panels, written, x, y)


def _note_heading(panels: Mapping[tuple[str, str], Panel], written: Text | None, x: float, y: float) -> None:
    """Note a text that stands above the middle of a plot area as the heading of that."""
    for panel in panels.values():
        left, bottom, wide, high = panel.domain
        if abs(x - (left + wide / 2)) < SAME_PLACE and abs(y - (bottom + high)) < SAME_PLACE:
            panel.heading = written


def _arrow(
    sheet: Sheet, panel: Panel, note: Any, tip: tuple[float, float], transform: Transform, number: int
) -> tuple[float, float]:
    """Draw an arrow to `tip` from where its text is: (ax, ay) pixels away, ay downwards; returns that distance."""
    away = (float(note.ax or 0), -float(note.ay or 0))
    panel.axes.annotate(
        "",
        xy=tip,
        xycoords=transform,
        xytext=(away[0] * sheet.unit, away[1] * sheet.unit),
        gid=f"arrow-{number}",
        textcoords="offset points",  # untranslated
        annotation_clip=False,
        zorder=ABOVE,
        arrowprops={
            "arrowstyle": f"-|>,head_length={HEAD},head_width={HEAD / 2}",
            "color": color(note.arrowcolor or INK),
            "linewidth": (note.arrowwidth or 1.5) * sheet.unit,
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": sheet.style.font_size,
        },
    )
    return away


def _panel_of(panels: Mapping[tuple[str, str], Panel], xref: str | None, yref: str | None) -> Panel:
    """The plot area that a shape or a text belongs to; the first where it belongs to the whole figure."""
    x, y = ((ref or letter).removesuffix(" domain") for ref, letter in ((xref, "x"), (yref, "y")))
    return next(
        (panel for (own_x, own_y), panel in panels.items() if x in (own_x, "paper") and y in (own_y, "paper")),
        next(iter(panels.values())),
    )


def _transform(panel: Panel, letter: str, ref: str | None, paper: Transform) -> Transform:
    if ref == "paper":
        return paper
    return panel.axes.transAxes if (ref or letter).endswith(" domain") else panel.axes.transData


def _place(panel: Panel, letter: str, ref: str | None, value: Any) -> float:
    if ref == "paper" or (ref or "").endswith(" domain"):
        return float(value)
    return float(panel.scales[letter].places([value])[0]) if isinstance(value, str) else float(value)


def _note_place(panel: Panel, letter: str, ref: str | None, value: Any) -> float:
    """As `_place`; on a logarithmic axis Plotly gives the place of a text, but not of a shape, by its logarithm."""
    is_power = (
        (ref or letter)[0] == letter and not (ref or "").endswith(" domain") and (panel.settings[letter].type == "log")
    )
    return 10 ** float(value) if is_power else _place(panel, letter, ref, value)


def _anchor(letter: str, anchor: str | None, ref: str | None, place: float, note: Any) -> str:
    """The side of a text at its point; by default, on paper the nearest side of the figure."""
    if anchor not in (None, "auto"):
        return str(anchor)
    if ref != "paper" or note.showarrow is not False:
        return SIDES[letter][1]
    return SIDES[letter][0 if place < 1 / 3 else 2 if place > 2 / 3 else 1]
