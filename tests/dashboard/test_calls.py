"""What every call of a kind on the pages says, read from their source: choices in words, tables without numbered rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import dashboard

ROOT = Path(dashboard.__file__).parent
CHOICES = ("selectbox", "segmented_control", "pills", "radio")
# Options that are shown as they are: words of users and of their data, names of models and files, numbers.
SHOWN_AS_THEY_ARE = {
    ("alignment/compared.py", "tr('Layer')"),
    ("datasets/catalogue.py", "tr('Benchmark')"),
    ("dictionary/build.py", "tr('Tokenizer of the model')"),
    ("metric_study/form.py", "tr('Column of the systems')"),
    ("metric_study/form.py", "tr('Column of accepted entity forms')"),
    ("minimal_pairs/acquisition/sections.py", "tr('Word')"),
    ("minimal_pairs/reading/choosing.py", "tr('Reading time')"),
    ("model_card/choice.py", "tr('Model')"),
    ("models/pretrain.py", "tr('Tokenizer')"),
    ("rating/page.py", "label"),
    ("runs/search.py", "tr('Model')"),
    ("runs/search.py", "tr('Dataset')"),
    ("shared/inputs/inputs.py", "tr('Data set of the Hugging Face Hub')"),
}
# Whole numbers, and numbers of a user's file, which are shown as they are.
COUNTED = {
    "tr('Row')",
    "tr('Row on the right')",
    "tr('Training sentences')",
    "tr('Test sentences')",
    "tr('Training runs')",
    "tr('Sentences of RSA')",
    "tr('Rank')",
    "tr('Subwords')",
    "tr('Sentences')",
    "tr('Of several subwords')",
    "tr('Left out')",
    "tr('Pairs')",
    "tr('Word')",
    "f'|{letter}|'",
    "texts[name][0]",
    "verbatim(name.removeprefix(HUMAN))",
}
# What no two rows have in common, so that there are no ties.
OF_ONE_ROW = {"difference", "layer", "model_order", "piece", "position", "region", "row", "step"}
NO_CHOICE = "choices.first('direction', '', directions)"  # every pair, of whatever direction


@cache
def calls() -> dict[str, list[tuple[str, int, ast.Call]]]:
    """The calls of a method or function by its name: file, line, call."""
    found: dict[str, list[tuple[str, int, ast.Call]]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
                place = path.relative_to(ROOT).as_posix()
                name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
                found.setdefault(name, []).append((place, node.lineno, node))
    return found


def given(call: ast.Call) -> dict[str, str]:
    """The named arguments as they are written; "**" where a mapping of them is handed over."""
    return {keyword.arg or "**": ast.unparse(keyword.value) for keyword in call.keywords}


def each(*names: str) -> Iterator[tuple[str, int, ast.Call, dict[str, str]]]:
    for name in names:
        yield from ((path, line, call, given(call)) for path, line, call in calls()[name])


def test_options_are_words_not_the_values_of_the_code() -> None:
    bare = {
        (path, ast.unparse(call.args[0])): line
        for path, line, call, named in each(*CHOICES)
        if "format_func" not in named and "**" not in named
    }
    assert {place: line for place, line in bare.items() if place not in SHOWN_AS_THEY_ARE} == {}
    assert set(bare) >= SHOWN_AS_THEY_ARE  # no exception for what is gone


def test_a_choice_that_a_page_begins_with_cannot_be_taken_back() -> None:
    """A second press on the chosen option would leave a page with nothing to draw."""
    open_to_none = [
        f"{path}:{line}"
        for path, line, _, named in each("segmented_control", "pills")
        if named.get("default", NO_CHOICE) != NO_CHOICE
        if named.get("selection_mode") != "'multi'" and named.get("required") != "True"
    ]
    assert open_to_none == []


def test_tables_have_no_numbered_rows_and_a_dash_where_nothing_is_known() -> None:
    numbered = [f"{path}:{line}" for path, line, _, named in each("dataframe") if named.get("hide_index") != "True"]
    assert [place.partition(":")[0] for place in numbered] == ["metric_study/systems.py"]  # the index names the systems
    assert [f"{path}:{line}" for path, line, _, named in each("dataframe") if "alt" not in named] == []
    without = [path for path, _, _, named in each("dataframe") if named.get("placeholder") != "'–'"]
    assert sorted(without) == ["datasets/table.py", "lessons/step_view.py"]  # whose cells are never empty


def test_no_spinner_names_a_function() -> None:
    """Streamlit's own words would be "Running `_tables(...)`."."""
    loud = [
        f"{path}:{line}"
        for path, line, _, named in each("cache_resource", "cache_data")
        if named.get("show_spinner") != "False" and not named.get("show_spinner", "").startswith("tr(")
    ]
    assert loud == []


def test_a_download_has_a_name_and_leaves_the_page_as_it_is() -> None:
    for path, line, _, named in each("download_button"):
        assert {"file_name", "key"} <= set(named), f"{path}:{line}"
        assert named["on_click"] in ("'ignore'", "_note_lacking"), f"{path}:{line}"


def test_of_a_figure_that_can_be_clicked_single_points_are_chosen() -> None:
    clicked = [place for place in each("draw_figure") if "on_select" in place[3]]
    assert len(clicked) > 3
    assert [f"{path}:{line}" for path, line, _, named in clicked if named.get("selection_mode") != "'points'"] == []


def test_what_is_sorted_keeps_its_order_where_it_is_equal() -> None:
    """Models of one accuracy are listed in the order of the run, on every machine."""
    shuffled = [
        f"{path}:{line}"
        for path, line, call, named in each("sort_values")
        if named.get("kind") != "'stable'"
        if not OF_ONE_ROW
        & {part.value for argument in call.args for part in ast.walk(argument) if isinstance(part, ast.Constant)}
    ]
    assert shuffled == []


def test_measured_numbers_have_as_many_decimals_as_they_are_given() -> None:
    raw = [
        f"{path}:{line} {ast.unparse(call.args[0])}"
        for path, line, call, named in each("NumberColumn")
        if "format" not in named and call.args and ast.unparse(call.args[0]) not in COUNTED
    ]
    assert raw == []


def test_lines_beyond_the_colours_have_points_of_another_shape() -> None:
    lines = [place for place in each("Scatter") if place[3].get("mode") == "'lines+markers'"]
    assert len(lines) > 5
    assert [f"{path}:{line}" for path, line, _, named in lines if "'symbol'" not in named.get("marker", "")] == []
