"""A run as one HTML file that needs no network: interactive figures, tables, signature, papers.

Pure: no streamlit. All texts of users are escaped.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from dashboard.shared.exports.signing import digest, signature_line
from dashboard.shared.exports.standalone import on_white

ROWS_SHOWN = 200
STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.55 'Noto Sans CJK JP', 'Noto Sans JP', 'Hiragino Sans', 'Yu Gothic UI', system-ui, sans-serif;
       color: #1f2430; background: #fff; max-width: 1080px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.quiet { color: #5b6475; font-size: .87rem; }
figure { margin: 1rem 0; } figcaption { color: #5b6475; font-size: .87rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .87rem; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #e4e7ec; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { background: #f4f5f8; padding: .8rem; border-radius: 9px; overflow-x: auto; font-size: .8rem; }
"""
PAPERS = {
    "clusters": ("shibayama",), "fill-mask": ("shibayama",), "classification": ("shibayama", "shibayama-ja"),
    "alignment": ("bertscore", "novels"), "metric-study": ("bertscore", "novels"), "minimal-pairs": ("length",),
}
CITATIONS = {
    "shibayama": "N. Shibayama, R. Cao, J. Bai, W. Ma, H. Shinnou: Evaluation of Pretrained BERT Model by Using "
                 "Sentence Clustering. PACLIC 34, 2020.",
    "shibayama-ja": "芝山直希, 曹鋭, 白静, 馬ブン, 新納浩幸: 文のクラスタリングを用いた BERT 事前学習モデルの評価. "
                    "言語処理学会第26回年次大会 (NLP 2020).",
    "bertscore": "T. Zhang, V. Kishore, F. Wu, K. Q. Weinberger, Y. Artzi: BERTScore: Evaluating Text Generation with "
                 "BERT. ICLR 2020.",
    "novels": "The paper on BERTScore for the translation of Japanese novels with a penalty by the edit distance of "
              "readings.",
    "length": "上田直生也, 三田雅人, 小町守: Minimal-pair Paradigm データセットにおけるトークン長バイアスの分析と改善. "
              "言語処理学会第30回年次大会 (NLP 2024).",
}


@dataclass(frozen=True)
class Report:
    """What goes into the file. figures: caption -> figure. tables: name -> rows, of which the first 200 are shown."""

    title: str
    kind: str
    question: str
    made: datetime
    signature: Mapping[str, Any]
    figures: Mapping[str, go.Figure]
    tables: Mapping[str, pd.DataFrame]
    notices: Sequence[str] = ()
    note: str = ""
    command: str = ""


def report_html(report: Report) -> str:
    """The whole file as text; with Plotly embedded once (about 5 MB)."""
    parts = [
        f"<h1>{html.escape(report.title)}</h1>",
        f'<p class="quiet">{html.escape(report.question)}<br>Hakari, {report.made:%Y-%m-%d %H:%M} UTC</p>',
    ]
    if report.note:
        parts.append(f"<p>{html.escape(report.note)}</p>")
    parts += [f'<p class="quiet">{html.escape(notice)}</p>' for notice in report.notices]
    for caption, figure in report.figures.items():
        parts.append(f"<figure>{_embedded(figure)}<figcaption>{html.escape(caption)}</figcaption></figure>")
    for name, table in report.tables.items():
        parts += [f"<h2>{html.escape(name)}</h2>", _table(table)]
    if report.command:
        parts += ["<h2>The same from a terminal</h2>", f"<pre>{html.escape(report.command)}</pre>"]
    parts += ["<h2>Sources</h2>", *(f"<p>{html.escape(CITATIONS[key])}</p>" for key in PAPERS.get(report.kind, ()))]
    full = json.dumps(dict(report.signature), ensure_ascii=False, indent=1, default=str)
    parts += ["<h2>Signature</h2>", f'<p class="quiet">{html.escape(signature_line(report.signature))}</p>',
              f"<pre>{html.escape(full)}</pre>"]
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(report.title)}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta name="hakari-signature" content="{digest(report.signature)}"><style>{STYLE}</style>'
            f"<script>{get_plotlyjs()}</script></head><body>{''.join(parts)}</body></html>")


def _embedded(figure: go.Figure) -> str:
    # Plotly writes "<" in a figure's texts as an escape, so none of them can end the enclosing script.
    config = {"displaylogo": False, "responsive": True}
    return str(on_white(figure).to_html(include_plotlyjs=False, full_html=False, config=config))


def _table(table: pd.DataFrame) -> str:
    shown = table.head(ROWS_SHOWN)
    numeric = [pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype) for dtype in table.dtypes]
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in table.columns)
    rows = "".join(
        "<tr>" + "".join(f'<td class="number">{_number(value)}</td>' if is_number else
                         f"<td>{html.escape(_text(value))}</td>" for value, is_number in zip(row, numeric, strict=True))
        + "</tr>" for row in shown.itertuples(index=False))
    n_hidden = len(table) - len(shown)
    rest = f'<p class="quiet">… and {n_hidden:,} more rows: see the table\'s own download.</p>' if n_hidden else ""
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{rest}'


def _number(value: Any) -> str:
    if pd.isna(value):
        return "–"
    return f"{value:,}" if isinstance(value, int) or float(value).is_integer() else f"{value:,.6g}"


def _text(value: Any) -> str:
    return "" if value is None or (isinstance(value, float) and pd.isna(value)) else str(value)
