"""A figure as a file of its own: HTML that opens without a network, with the signature of its numbers. Pure."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from dashboard.shared.exports.signing import digest, line
from dashboard.shared.theme import ACCENT, PALETTES

FONT = "'Noto Sans CJK JP', 'Noto Sans JP', 'Hiragino Sans', 'Yu Gothic UI', system-ui, sans-serif"
PALE = "#f4f5f8"


def on_white(figure: go.Figure) -> go.Figure:
    """A copy of a figure with the colours of the light theme, which a file does not get from the page around it."""
    kept = go.Figure(figure)
    kept.update_layout(
        template="plotly_white", colorway=PALETTES["light"], font={"family": FONT}, hoverlabel={"align": "left"},
        coloraxis_colorscale=[[0, PALE], [1, ACCENT]],
    )
    kept.update_traces(colorscale=[[0, PALE], [1, ACCENT]], selector={"type": "heatmap"})
    return kept


def figure_html(figure: go.Figure, title: str, signature: Mapping[str, Any]) -> str:
    """`figure` as a page: Plotly itself is in it (about 5 MB), so it needs no network; colours are those on white.

    Under the figure stands the signature in a line; in full it is in the page as JSON, in an element of the id
    "signature".
    """
    config = {"displaylogo": False, "responsive": True}
    page = on_white(figure).to_html(include_plotlyjs=True, full_html=True, config=config)
    # "</" would end the script; its escape is the same string in JSON.
    full = json.dumps(signature, ensure_ascii=False, indent=1, default=str).replace("</", "<\\/")
    meta = '<meta charset="utf-8" />'
    foot = (f'<p style="font: 11px {html.escape(FONT)}; color: #667085">{html.escape(line(signature))} · signature '
            f'{digest(signature)}</p><script type="application/json" id="signature">{full}</script>')
    page = page.replace(meta, f"{meta}<title>{html.escape(title)}</title>", 1)
    return page.replace("</body>", f"{foot}</body>", 1)
