"""A run as one HTML file that needs no network: interactive figures, tables, signature, papers.

Pure: no streamlit. All texts of users are escaped.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from dashboard.shared.comments.exported import CommentLine
from dashboard.shared.exports.live import LiveView, live_html
from dashboard.shared.exports.signing import digest, signature_line
from dashboard.shared.exports.standalone import on_white
from dashboard.shared.figures.axis_titles import fitted_titles
from engine.messages.languages import language, mark, tr, tr_n, translated

ROWS_SHOWN = 200
PHONE = 360  # pixels that every reader has; a figure that needs more is moved to the side
PART, CELL, AROUND_CELLS = 260, 32, 110  # of a part beside others, of a column of a heat map, of what is around these
ROWS_SEARCHED = 20  # a table with more has a search
STYLE, SEARCH = (Path(__file__).with_name(f"report.{ending}") for ending in ("css", "js"))
CITATIONS = {
    "shibayama": "N. Shibayama, R. Cao, J. Bai, W. Ma, H. Shinnou: Evaluation of Pretrained BERT Model by "  # untranslated
    "Using Sentence Clustering. PACLIC 34, 2020.",
    "shibayama-ja": "芝山直希, 曹鋭, 白静, 馬ブン, 新納浩幸: 文のクラスタリングを用いた BERT 事前学習モデルの評価. "
    "言語処理学会第26回年次大会 (NLP 2020).",
    "bertscore": "T. Zhang, V. Kishore, F. Wu, K. Q. Weinberger, Y. Artzi: BERTScore: Evaluating Text "  # untranslated
    "Generation with BERT. ICLR 2020.",
    "novels": mark(
        "The paper on BERTScore for the translation of Japanese novels with a penalty by the edit distance of readings."
    ),
    "length": "上田直生也, 三田雅人, 小町守: Minimal-pair Paradigm データセットにおける"  # untranslated
    "トークン長バイアスの分析と改善. 言語処理学会第30回年次大会 (NLP 2024).",
}


@dataclass(frozen=True)
class Report:
    """What goes into the file. figures: caption -> figure. tables: name -> rows, of which the first 200 are shown.

    papers: keys of CITATIONS. found: the finding, in the reader's language. live: components that work in the file.
    """

    title: str
    question: str
    made: datetime
    signature: Mapping[str, Any]
    figures: Mapping[str, go.Figure]
    tables: Mapping[str, pd.DataFrame]
    papers: Sequence[str] = ()
    notices: Sequence[str] = ()
    note: str = ""
    comments: Sequence[CommentLine] = ()
    found: str = ""
    command: str = ""
    live: Sequence[LiveView] = ()


@dataclass(frozen=True)
class Surroundings:
    """What is around a report that is a page of a site. plotly: address of Plotly's script; where it is "" the report
    has it within (about 5 MB). links: label -> address, above the report. tables: address of a file with all tables.
    """

    plotly: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    tables: str = ""


ALONE = Surroundings()


def report_html(report: Report, around: Surroundings = ALONE) -> str:
    """The whole file as text."""
    parts = [
        f"<h1>{html.escape(report.title)}</h1>",
        f'<p class="quiet">{html.escape(report.question)}<br>Hakari, {report.made:%Y-%m-%d %H:%M} UTC</p>',
    ]
    if report.found:
        parts.append(f"<p><strong>{html.escape(report.found)}</strong></p>")
    if report.note:
        parts.append(f"<p>{html.escape(report.note)}</p>")
    parts += [f'<p class="quiet">{html.escape(notice)}</p>' for notice in report.notices]
    parts += [live_html(view, f"live-{number}") for number, view in enumerate(report.live, 1)]
    for caption, figure in report.figures.items():
        parts.append(f"<figure>{_embedded(figure)}<figcaption>{html.escape(translated(caption))}</figcaption></figure>")
    if around.tables:
        parts.append(
            f'<p><a href="{html.escape(around.tables)}">{html.escape(tr("All tables in full (CSV, zip)"))}</a></p>'
        )
    for name, table in report.tables.items():
        parts += [_heading(name), _table(name, table)]
    if report.comments:
        parts.append(_heading(tr("Comments")))
        parts += [_comment(line) for line in report.comments]
    if report.command:
        parts += [_heading(tr("The same from a terminal")), f"<pre>{html.escape(report.command)}</pre>"]
    parts += [_heading(tr("Sources")), *(f"<p>{html.escape(tr(CITATIONS[key]))}</p>" for key in report.papers)]
    full = json.dumps(dict(report.signature), ensure_ascii=False, indent=1, default=str)
    parts += [
        _heading(tr("Signature")),
        f'<p class="quiet">{html.escape(signature_line(report.signature))}</p>',
        f"<pre>{html.escape(full)}</pre>",
    ]
    return (
        f'<!DOCTYPE html><html lang="{language()}"><head><meta charset="utf-8">'
        f"<title>{html.escape(report.title)}</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="hakari-signature" content="{digest(report.signature)}">'
        f"<style>{STYLE.read_text(encoding='utf-8')}</style>{_plotly(around.plotly) if report.figures else ''}</head>"
        f"<body>{_navigation(around.links)}<main>{''.join(parts)}</main><script>{SEARCH.read_text(encoding='utf-8')}</script></body></html>"
    )


def _plotly(address: str) -> str:
    return f'<script src="{html.escape(address)}"></script>' if address else f"<script>{get_plotlyjs()}</script>"


def _navigation(links: Mapping[str, str]) -> str:
    shown = (f'<a href="{html.escape(address)}">{html.escape(label)}</a>' for label, address in links.items())
    return f"<nav>{' · '.join(shown)}</nav>" if links else ""


def _comment(line: CommentLine) -> str:
    """A comment in plain text, its lines kept."""
    text = html.escape(line.text).replace("\n", "<br>")
    return f'<p><span class="quiet">{html.escape(" · ".join(filter(None, line.about())))}</span><br>{text}</p>'


def _heading(text: str) -> str:
    return f"<h2>{html.escape(text)}</h2>"


def _embedded(figure: go.Figure) -> str:
    # Plotly writes "<" in a figure's texts as an escape, so none of them can end the enclosing script.
    config = {"displaylogo": False, "responsive": True}
    drawn = on_white(figure)
    with fitted_titles(drawn):
        shown = str(drawn.to_html(include_plotlyjs=False, full_html=False, config=config))
    least = least_width(figure)
    return f'<div class="wide"><div style="min-width: {least}px">{shown}</div></div>' if least else shown


def least_width(figure: go.Figure) -> int:
    """How many pixels a figure needs for its parts side by side, or the columns of a heat map; 0 where a phone has them."""
    n_parts = len({axis.domain[0] for axis in figure.select_xaxes() if axis.domain})
    n_parts = max(n_parts, len({scene.domain.x[0] for scene in figure.select_scenes() if scene.domain.x}))
    n_columns = max((len(trace.z[0]) for trace in figure.select_traces({"type": "heatmap"}) if len(trace.z)), default=0)
    wanted = max(PART * n_parts if n_parts > 1 else 0, CELL * n_columns + AROUND_CELLS if n_columns else 0)
    return wanted if wanted > PHONE else 0


def _table(name: str, table: pd.DataFrame) -> str:
    shown = table.head(ROWS_SHOWN)
    numeric = [pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype) for dtype in table.dtypes]
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in table.columns)
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td class="number">{_number(value)}</td>' if is_number else f"<td>{html.escape(_text(value))}</td>"
            for value, is_number in zip(row, numeric, strict=True)
        )
        + "</tr>"
        for row in shown.itertuples(index=False)
    )
    n_hidden = len(table) - len(shown)
    hidden = tr_n(
        "… and {n} more row: see the download of the table.",
        "… and {n:,} more rows: see the download of the table.",
        n_hidden,
    )
    rest = f'<p class="quiet">{html.escape(hidden)}</p>' if n_hidden else ""
    search = (
        f'<p><label>{html.escape(tr("Search the rows"))} <input type="search"></label> <output></output></p>'
        if len(shown) > ROWS_SEARCHED
        else ""
    )
    # A region of its own for the keyboard, which scrolls it.
    region = f'<div class="wide" tabindex="0" role="region" aria-label="{html.escape(name)}">'
    body = f"{region}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    return f"<section>{search}{body}{rest}</section>"


def _number(value: Any) -> str:
    if pd.isna(value):
        return "–"
    if isinstance(value, int | np.integer):  # also rows, years and seeds, which no comma divides
        return str(value)
    return f"{value:,}" if float(value).is_integer() else f"{value:,.6g}"


def _text(value: Any) -> str:
    return "" if value is None or value is pd.NA or (isinstance(value, float) and pd.isna(value)) else str(value)
