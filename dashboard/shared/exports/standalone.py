"""A figure as a file of its own: HTML that opens without a network, with the signature of its numbers. Pure."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from dashboard.shared.exports.signing import digest, signature_line
from dashboard.shared.figures.axis_names import with_axis_names
from dashboard.shared.theme import ACCENT, PALETTES

FONT = "'Noto Sans CJK JP', 'Noto Sans JP', 'Hiragino Sans', 'Yu Gothic UI', system-ui, sans-serif"  # untranslated
PALE = "#f4f5f8"


def on_white(figure: go.Figure) -> go.Figure:
    """A copy of a figure with what a file does not get from the page around it: light colours, names of its axes."""
    copy = with_axis_names(figure)
    copy.update_layout(
        template="plotly_white",
        colorway=PALETTES["light"],
        font={"family": FONT},
        hoverlabel={"align": "left"},
        coloraxis_colorscale=[[0, PALE], [1, ACCENT]],
    )
    copy.update_traces(colorscale=[[0, PALE], [1, ACCENT]], selector={"type": "heatmap"})
    return copy


def in_script(text: str) -> str:
    """JSON as the text of a script element, which a "<" in it might end, or keep from ending; its escape is the same in JSON.

    >>> in_script('["</script>", "<!--"]')
    '["\\\\u003c/script>", "\\\\u003c!--"]'
    """
    return text.replace("<", "\\u003c")


def figure_html(figure: go.Figure, title: str, signature: Mapping[str, Any]) -> str:
    """`figure` as a page: with Plotly embedded (about 5 MB), so that it needs no network; in the light theme's colours.

    Under the figure is the signature in a line; the full one is embedded as JSON in the element with the id
    "signature".
    """
    config = {"displaylogo": False, "responsive": True}
    page: str = on_white(figure).to_html(include_plotlyjs=True, full_html=True, config=config)
    full = in_script(json.dumps(signature, ensure_ascii=False, indent=1, default=str))
    meta = '<meta charset="utf-8" />'
    foot = (
        f'<p style="font: 11px {html.escape(FONT)}; color: #667085">{html.escape(signature_line(signature))} '
        f'· signature {digest(signature)}</p><script type="application/json" id="signature">{full}</script>'
    )
    head = f'<p style="font: 15px {html.escape(FONT)}">{html.escape(title)}</p>'
    page = page.replace(meta, f"{meta}<title>{html.escape(title)}</title>", 1).replace("<body>", f"<body>{head}", 1)
    return page.replace("</body>", f"{foot}</body>", 1)
