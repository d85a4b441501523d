"""Every text that a page shows, wherever it stands: also those that the harness has no list of, such as hovers and help."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import Message as Proto
from streamlit.testing.v1 import AppTest

from engine.messages.catalogues import JAPANESE
from engine.messages.earlier_texts import reading

# Fields of an element that no reader sees as a text: code and its language, styles, ids and what a browser is told.
UNSEEN = re.compile(
    r"(^|\.)(id|key|form_id|element_id|icon|color|mime|url|query_string|css_content|js_content|html_content|code_text"
    r"|language|type|component_name|element_toolbar|arrow_data|formatted_value|data_type|regex|avatar|data|column_order"
    r"|autocomplete)$|^html\."
)
# Of a figure: what is shown of its points stands in their texts and hovers.
OF_FIGURE = re.compile(
    r"\.(text|hovertext|hovertemplate|customdata|name|title|ticktext|label|labels|legendgrouptitle)(\.text)?$"
)
OTHERWISE = re.compile(r"[^\x20-\x7e–−]+")  # what parts the English of a Japanese text
SIGNATURE = re.compile(r" · hakari \d")  # its settings have the names that a command has
SENTENCE = re.compile(r"(?<![\w/.=-])[a-z]{2,} [a-z]{2,} [a-z]{2,}(?![\w/=])")
MARKUP = re.compile(r"<[^>]*>|`[^`]*`|\*|\\|\u2060|(:(small|gray|orange)\[)+|\]+ *$|%\{[^}]*\}|^:\S+: ")


def shown_texts(app: AppTest) -> Iterator[tuple[str, str]]:
    """Where each text of a page stands, and the text; code, styles and hidden columns left out."""
    for node in list(app._tree):
        proto = getattr(node, "proto", None)
        kind = str(getattr(node, "type", ""))
        if isinstance(proto, Proto):
            yield from _of_proto(proto, kind)
        if kind in ("arrow_data_frame", "dataframe", "table"):
            frame = node.value  # type: ignore[union-attr]
            visible = list(getattr(proto, "column_order", ())) or list(map(str, frame.columns))
            for name in visible:
                if name in frame.columns:
                    yield from ((f"{kind}.{name}", cell) for cell in frame[name].tolist() if isinstance(cell, str))


def english(text: str) -> str:
    """What of a Japanese page's text is English: a text of the catalogues that is read otherwise, or a sentence; else ""."""
    if SIGNATURE.search(text):
        return ""
    for part in (part.strip(" :") for part in OTHERWISE.split(MARKUP.sub("", text))):
        known = reading(JAPANESE, part)
        is_alike = known.n_known and known.translation == part  # the title of a paper
        if " " in part and not is_alike and (known.n_known or SENTENCE.search(part)):
            return part
    return ""


def _of_proto(message: Proto, path: str) -> Iterator[tuple[str, str]]:
    for field, value in message.ListFields():
        place = f"{path}.{field.name}"
        if UNSEEN.search(place):
            continue
        if isinstance(value, str):
            yield from _of_text(place, value)
        elif isinstance(value, Proto):
            yield from _of_proto(value, place)
        elif hasattr(value, "items"):
            for each in value.values():
                yield from _of_proto(each, place) if isinstance(each, Proto) else _of_text(place, str(each))
        elif not isinstance(value, bytes | int | float | bool):
            for each in value:
                yield from _of_proto(each, place) if isinstance(each, Proto) else _of_text(place, str(each))


def _of_text(place: str, text: str) -> Iterator[tuple[str, str]]:
    """A text, or each text of one that is JSON: a figure, or the columns of a table with their heads and help."""
    if text[:1] in "{[" and text[-1:] in "}]":
        try:
            value = json.loads(text)
        except ValueError:
            yield place, text
            return
        wanted = OF_FIGURE if "plotly" in place else re.compile(r"\.(label|help|title|placeholder)$")
        yield from ((where, each) for where, each in _leaves(value, place) if wanted.search(where))
    elif text:
        yield place, text


def _leaves(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _leaves(each, f"{place}.{name}")
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each, place)
