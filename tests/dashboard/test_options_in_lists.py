r"""Options of lists are plain text: st.selectbox and st.multiselect would show `length\_metric`.

Pills, segmented controls and radio buttons show Markdown, in which users' words are escaped.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import dashboard
from tests.waiting import SECONDS

LISTS, ESCAPING = {"selectbox", "multiselect"}, {"verbatim", "model_name"}
FILES = sorted(Path(dashboard.__file__).parent.rglob("*.py"))

FORM = """
import streamlit as st

from dashboard.metric_study.form import _columns
from engine.datasets.formats.files import read_table
from engine.datasets.sentence_pairs import from_table

text = "reference,candidate,human,length_metric\\n猫,犬,1,2\\n空,海,2,3\\n"
_columns(from_table(read_table(text.encode(), "mine.csv")))
"""


def names_in(node: ast.AST) -> set[str]:
    return {getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(node)}


def test_no_list_escapes_markdown() -> None:
    escaped = [
        f"{path.name}:{call.lineno}"
        for path in FILES
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in LISTS
        for keyword in call.keywords
        if keyword.arg == "format_func" and names_in(keyword.value) & ESCAPING
    ]
    assert escaped == []


@pytest.mark.parametrize("key", ["metric-annotators", "metric-columns", "metric-system-column"])
def test_a_column_is_offered_by_its_name(key: str) -> None:
    app = AppTest.from_string(FORM, default_timeout=SECONDS).run()
    assert not app.exception and "length_metric" in app.get_by_key(key).options
