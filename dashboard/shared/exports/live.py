"""A component of a page in a file: what it drew on the page it draws there, for each of several choices. Pure."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from dashboard.shared.exports.standalone import in_script
from engine.messages.languages import tr

FOLDER = Path(__file__).parent
EXPORT = re.compile(r"^export default function ?\(", re.MULTILINE)  # untranslated
DRAW = "const draw = function ("  # untranslated


@dataclass(frozen=True)
class LiveView:
    """A component of a page with its data, for a file.

    title: its heading. markup, style, script: as `st.components.v2.component` gets them; the script's default export
    draws. choices: label and data of each choice. common: data of all choices. chosen: the choice at first. left_out:
    a sentence where the page has more choices.
    """

    title: str
    markup: str
    style: str
    script: str
    choices: Sequence[tuple[str, Mapping[str, Any]]]
    common: Mapping[str, Any]
    chosen: int = 0
    left_out: str = ""


def live_html(view: LiveView, name: str) -> str:
    """The view as a part of a page, with the choice above it; name: an id that no other part of the page has."""
    options = "".join(
        f"<option{' selected' if number == view.chosen else ''}>{html.escape(label)}</option>"
        for number, (label, _) in enumerate(view.choices)
    )
    left_out = f'<p class="quiet">{html.escape(view.left_out)}</p>' if view.left_out else ""
    data = {"choices": [choice for _, choice in view.choices], "common": dict(view.common)}
    style, host = ((FOLDER / f"live.{ending}").read_text(encoding="utf-8") for ending in ("css", "js"))
    script = EXPORT.sub(DRAW, view.script, count=1)
    return (
        f"<h2>{html.escape(view.title)}</h2>"
        f'<p><label>{html.escape(tr("Show"))} <select id="{name}-choice">{options}</select></label></p>'
        f'<template id="{name}-content"><style>{style}{view.style}</style>{view.markup}</template>'
        f'<div id="{name}"></div>{left_out}'
        f'<script type="application/json" id="{name}-data">{_json(data)}</script>'
        f'<script type="module">const name = "{name}";\n{script}\n{host}</script>'
    )


def within(choices: Sequence[tuple[str, Mapping[str, Any]]], n_bytes: int) -> list[tuple[str, Mapping[str, Any]]]:
    """The first choices, as many as take no more than so many bytes together; the first one in any case."""
    sizes = accumulate(len(_json(data).encode()) for _, data in choices)
    return [choice for n, (choice, size) in enumerate(zip(choices, sizes, strict=True)) if n == 0 or size <= n_bytes]


def _json(data: Any) -> str:
    return in_script(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
