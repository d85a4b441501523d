"""The matrix of similarities as its script draws it, without a browser: cells, outlines, names, and what is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.alignment.similarities import component
from tests.dashboard import node
from tests.dashboard.alignment.test_similarities import MATRIX, PAIR

SCRIPT = Path(component.__file__).parent / "matrix.js"
BESIDE, ABOVE, CELL = 92, 76, 36  # pixels of the names, and of a cell where there is room
# What the script needs of a browser: elements with sizes, and a canvas that keeps what is drawn on it.
BROWSER = """
const drawn = [];
const context = { fill: 0 };
for (const name of ["setTransform", "save", "restore", "beginPath", "rect", "clip", "translate", "rotate"])
  context[name] = (...values) => drawn.push([name, ...values]);
let dashes = [];
context.setLineDash = (pattern) => { dashes = pattern; };
context.fillRect = (x, y) => drawn.push(["cell", x, y, context.globalAlpha]);
context.strokeRect = (x, y) => drawn.push([dashes.length ? "dashed" : "solid", x, y, context.strokeStyle]);
context.fillText = (text, x, y) => drawn.push(["text", text, x, y, context.fillStyle]);
const box = { left: 0, top: 0, width: 800, height: 600 };
function element() {
  return { style: {}, attributes: {}, on: {}, scrollLeft: 0, scrollTop: 0, clientWidth: 800, clientHeight: 600, textContent: "",
    addEventListener(type, act) { this.on[type] = act; }, setAttribute(name, value) { this.attributes[name] = value; },
    prepend() {}, getContext: () => context, getBoundingClientRect: () => box };
}
const parts = Object.fromEntries([".bar", ".frame", ".room", "canvas", ".status"].map((name) => [name, element()]));
const root = { querySelector: (name) => parts[name] };
globalThis.document = { createElement: element };
globalThis.devicePixelRatio = 1;
globalThis.ResizeObserver = class { observe() {} disconnect() {} };
globalThis.getComputedStyle = () => ({ fontFamily: "sans", getPropertyValue: (name) => name.slice(2) });
const point = (i, j) => ({ clientX: 92 + 36 * i + 5, clientY: 76 + 36 * j + 30, pointerType: "mouse" });
"""


def carried_out(script: str) -> Any:
    data = component.matrix_data(MATRIX, PAIR) | {
        "texts": component.texts() | {"cell": "{reference}|{candidate}|{similarity}"}
    }
    begin = (
        f"const view = createMatrix(root); view.show({json.dumps(data)}); const {{ canvas, '.frame': frame }} = parts;"
    )
    return node.carried_out([SCRIPT], begin + script, BROWSER)


def at(i: int, j: int) -> tuple[int, int]:
    """Where the cell of a token of the reference and one of the candidate begins: reference to the right."""
    return BESIDE + CELL * i, ABOVE + CELL * j


def test_each_similarity_is_in_the_cell_of_its_tokens() -> None:
    drawn = carried_out("return drawn;")
    ground = float(np.median(MATRIX))
    cells = {(x, y): alpha for name, x, y, alpha in (row[:4] for row in drawn if row[0] == "cell")}
    expected = {at(i, j): 0.55 * max(0.0, (MATRIX[i, j] - ground) / (1 - ground)) for i in range(3) for j in range(2)}
    assert cells == pytest.approx(expected, abs=1e-6)
    numbers = {
        (row[2] - CELL / 2, row[3] - CELL / 2 - 4): row[1] for row in drawn if row[0] == "text" and row[4] == "ink"
    }
    assert {place: number for place, number in numbers.items() if place in expected} == {
        at(i, j): f"{MATRIX[i, j]:.2f}" for i in range(3) for j in range(2)
    }


def test_best_matches_are_outlined_on_their_cells() -> None:
    drawn = carried_out("return drawn;")
    # P: the candidate's 犬 has 鱻 of the reference; R: 猫 and 鱻 of the reference both have 犬.
    assert {(x - 1, y - 1) for name, x, y, _ in (row for row in drawn if row[0] == "solid")} == {at(2, 1)}
    assert {(x - 3, y - 3) for name, x, y, _ in (row for row in drawn if row[0] == "dashed")} == {at(1, 1), at(2, 1)}


def test_what_is_pointed_at_chosen_or_reached_by_keys_is_told() -> None:
    told = carried_out(
        """
        const key = (key) => frame.on.keydown({ key, preventDefault() {} });
        const said = [];
        const say = () => said.push(parts[".status"].textContent);
        canvas.on.pointermove(point(2, 1)); say();
        canvas.on.pointermove(point(1, 0)); say();
        canvas.on.pointermove({ clientX: 50, clientY: 200, pointerType: "mouse" }); say();
        canvas.on.click(point(0, 1)); say();
        key("ArrowRight"); say(); key("End"); say(); key("ArrowUp"); say(); key("Home"); say();
        key("ArrowDown"); key("Enter"); say(); key("Escape"); say();
        return said;
        """
    )
    hint = component.texts()["hint"]
    assert told == [
        "鱻|犬|0.750",
        "猫|[CLS]|0.200",
        hint,
        "[CLS]|犬|0.100",
        "猫|犬|0.500",
        "鱻|犬|0.750",
        "鱻|[CLS]|0.300",
        "[CLS]|[CLS]|1.000",
        "鱻|犬|0.750",  # the best match of 犬
        hint,
    ]


def test_the_cells_that_are_chosen_and_pointed_at_are_marked() -> None:
    drawn = carried_out(
        "canvas.on.click(point(0, 1)); drawn.length = 0; canvas.on.pointermove(point(2, 0)); return drawn;"
    )
    assert {tuple(row[1:3]) for row in drawn if row[0] == "solid" and row[3] == "ink"} == {at(0, 1), at(2, 0)}


def test_names_stand_at_their_row_and_column() -> None:
    drawn = carried_out("return drawn;")
    places = [row[1:] for row in drawn if row[0] == "translate"]
    names = [(row[1], row[4]) for row in drawn if row[0] == "text" and (row[2], row[3]) == (0, 0)]
    assert names == [("[CLS]", "ink"), ("猫", "ink"), ("鱻", "warm"), ("[CLS]", "ink"), ("犬", "ink")]
    assert places == [[at(i, 0)[0] + CELL / 2 + 4, ABOVE - 6] for i in range(3)] + [
        [BESIDE - 6, at(0, j)[1] + CELL / 2 + 4] for j in range(2)
    ]


def test_zooming_keeps_the_cell_in_the_middle_in_the_middle() -> None:
    zoomed = carried_out("""
        Object.assign(frame, { scrollLeft: 300, scrollTop: 200 });
        frame.on.wheel({ ctrlKey: true, deltaY: 1, preventDefault() {} });
        return [frame.scrollLeft, frame.scrollTop];
    """)
    # From 36 pixels a cell to 26. The middle of the cells in sight is (800 - 92) / 2 = 354 and (600 - 76) / 2 = 262 pixels
    # from where they begin: after 654 / 36 cells across and 462 / 36 down.
    assert zoomed == pytest.approx([26 * 654 / 36 - 354, 26 * 462 / 36 - 262])
