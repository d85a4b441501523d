"""Tables of rows on the pages: none is higher than its rows."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from dashboard.shared.theme import list_height

PAGES = Path(__file__).parents[4] / "dashboard"


@pytest.mark.parametrize(("n_rows", "height"), [(0, "auto"), (1, "auto"), (7, "auto"), (8, 320), (5000, 320)])
def test_a_list_is_as_high_as_its_rows_up_to_a_height(n_rows: int, height: int | str) -> None:
    assert list_height(n_rows) == height


def test_no_table_has_a_height_whatever_its_rows() -> None:
    """One row in a table of a fixed height is a screen of empty lines."""
    fixed = [
        f"{path.relative_to(PAGES)}:{node.lineno}"
        for path in sorted(PAGES.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "dataframe"
        for keyword in node.keywords
        if keyword.arg == "height"
        and isinstance(keyword.value, ast.Name | ast.Constant)
        and ast.unparse(keyword.value) not in ("'auto'", "'content'")
    ]
    assert fixed == []
