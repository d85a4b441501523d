"""The scripts of large maps, without a browser: what is in view, what a density of it looks like, how it is saved."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.clusters import linked_maps
from tests.dashboard import node

FOLDER = Path(linked_maps.__file__).parent
FILES = [FOLDER / name for name in ("geometry.js", "style.js", "labels.js", "density.js", "picture.js")]
N = 26_000  # more than DENSE_POINTS
# Elements of a picture, and canvases that keep what is put on them, as far as the scripts need them.
DOCUMENT = """
const drawn = [];
class ImageData { constructor(data, width, height) { Object.assign(this, { data, width, height }); } }
const document = {
  createElement: () => ({
    getContext: () => ({ putImageData: (image) => drawn.push(image), drawImage() {} }), toDataURL: () => "data:image/png;base64,",
  }),
  createElementNS: (_, tag) => ({
    tag, attributes: {}, children: [], textContent: "",
    setAttribute(name, value) { this.attributes[name] = String(value); },
    getAttribute(name) { return this.attributes[name]; },
    append(child) { this.children.push(child); },
  }),
};
"""
CELLS = """
const at = (picture, width, x, y) => [...picture.slice(4 * (y * width + x), 4 * (y * width + x) + 4)];
"""


def scene(x: list[float], y: list[float]) -> str:
    """A scene of points that are already on the screen; the sentences are in the reverse order."""
    n = len(x)
    return f"""
    const scene = {{ n: {n}, sentences: Uint32Array.from({{ length: {n} }}, (_, i) => {n} - 1 - i),
      order: Uint32Array.from({{ length: {n} }}, (_, i) => i),
      screen: {{ x: Float32Array.of({", ".join(map(str, x))}), y: Float32Array.of({", ".join(map(str, y))}) }} }};
    """


def carried_out(script: str) -> Any:
    return node.carried_out(FILES, CELLS + script, DOCUMENT)


def test_in_view_is_what_the_map_shows_of_the_classes_that_are_not_hidden() -> None:
    # at the left edge within reach, beyond it, in the middle, and below; sentences 3, 2, 1, 0 of classes 0, 0, 1, 1
    given = scene([-2, -4, 10, 10], [5, 5, 5, 21]) + "const classes = [1, 1, 0, 0];"
    seen = "const of = (selected, shows, reach) => layersInView(scene, classes, selected, shows, 20, 10, reach);"
    plain = "(({ rest, top }) => [[...rest], [...top]])"
    assert carried_out(f"{given} {seen} return {plain}(of(null, [true, true], 3));") == [[], [0, 2]]
    assert carried_out(f"{given} {seen} return {plain}(of(null, [true, true], 12));") == [[], [0, 1, 2, 3]]
    assert carried_out(f"{given} {seen} return {plain}(of(null, [true, false], 3));") == [[], [0]]
    assert carried_out(f"{given} {seen} return {plain}(of([0, 0, 0, 1], [true, true], 3));") == [[2], [0]]


def test_by_hand_a_cell_has_the_mean_colour_and_is_the_more_opaque_the_more_points_there_are() -> None:
    # three points of red and one of blue in one cell, one of blue far away, one out of sight
    given = scene([4.5, 4.9, 4.1, 4.2, 12.0, 40], [3.5, 3.1, 3.0, 3.9, 6.0, 3]) + "const classes = [0, 1, 1, 0, 0, 0];"
    script = f"""{given}
    const picture = densityOf(scene, scene.order, classes, [[200, 0, 0], [0, 0, 100]], 20, 10);
    return [[4, 3], [12, 6], [5, 3], [5, 4], [13, 6], [6, 3], [0, 0], [19, 9]].map(([x, y]) => at(picture, 20, x, y));
    """
    middle, alone, beside, corner, beside_alone, *others = carried_out(script)
    assert (
        middle[:3] == beside[:3] == corner[:3] == [150, 0, 25]
    )  # (3 · 200, 0, 100) / 4, by the classes of the sentences
    assert alone[:3] == beside_alone[:3] == [0, 0, 100]
    # Σ of 1 2 1 by 1 2 1 is 16: of four points a share of 4 / 16 is 1, and the most there is, so it is opaque
    assert middle[3] == 255
    least, scale = 0.35, 0.65 / np.log(2)
    assert alone[3] == round(255 * (least + scale * np.log1p(0.25)))
    assert beside[3] == round(255 * (least + scale * np.log1p(0.5)))
    assert corner[3] == alone[3]  # 4 points x 1 / 16 = 1 point x 4 / 16
    assert beside_alone[3] == round(255 * 0.5 * (least + scale * np.log1p(0.125)))  # less than a whole point is paler
    assert others == [[0, 0, 0, 0]] * 3


def test_nothing_of_a_point_at_one_edge_is_seen_at_the_other() -> None:
    given = scene([19.5, 0.5], [4.5, 9.5]) + "const classes = [0, 0];"
    script = f"""{given}
    densityOf(scene, scene.order, classes, [[9, 9, 9]], 20, 10); // what an earlier drawing left is not seen either
    const picture = densityOf(scene, scene.order.subarray(0, 1), classes, [[9, 9, 9]], 20, 10);
    return [[19, 4], [18, 4], [0, 4], [0, 5], [0, 3], [0, 9]].map(([x, y]) => at(picture, 20, x, y)[3] > 0);
    """
    assert carried_out(script) == [True, True, False, False, False, False]


def test_a_point_outside_colours_no_cell() -> None:
    """On each side: -2 of the next row would be a cell of the row before, 21 one of the row after."""
    given = scene([-2, 21, 4.5, 4.5], [4.5, 4.5, -2, 11]) + "const classes = [0, 0, 0, 0];"
    script = f"""{given}
    return [0, 1, 2, 3].map((i) => densityOf(scene, Uint32Array.of(i), classes, [[9, 9, 9]], 20, 10).some((v) => v > 0));
    """
    assert carried_out(script) == [False] * 4


@pytest.mark.parametrize(
    ("color", "expected"), [("#3b5bdb", [59, 91, 219]), (" #000000", [0, 0, 0]), ("rgb(1, 20, 255)", [1, 20, 255])]
)
def test_colours_are_read_as_they_are_written(color: str, expected: list[int]) -> None:
    assert carried_out(f"return channels({json.dumps(color)});") == expected


def large_picture(zoom: float, state: str = "") -> tuple[list[dict[str, Any]], int]:
    """The elements of the map of a saved picture of N points in two classes, and how many densities were drawn.

    Half of them lie left, half right of the middle, within a unit; the last one at 5.
    """
    random = np.random.default_rng(0)
    x = np.where(np.arange(N) % 2, -1, 1) * random.uniform(0.1, 1, N)
    y = random.uniform(-1, 1, N)
    x[-1], y[-1] = 5, 0

    def encoded(values: np.ndarray, kind: str) -> str:
        return base64.b64encode(values.astype(kind).tobytes()).decode()

    model = json.dumps(
        {
            "x": encoded(x, "<f4"),
            "y": encoded(y, "<f4"),
            "sentences": encoded(np.arange(N), "<u4"),
            "centroids": [],
            "neighbours": "",
            "n_neighbours": 0,
        }
    )
    # zoomed, the middle of the picture is the place 5 of the last point
    view = f"{{ ...FIRST_VIEW, zoom: {zoom}, x: {zoom} * -222 }}" if zoom > 1 else "FIRST_VIEW"
    script = f"""
    const model = {model};
    const scene = createScene(model, {N}, 2);
    const shared = {{
      data: {{ picture: {{ signature: "s", name: "n", palette: ["#0000ff", "#ff0000"] }}, classes: [{{}}, {{}}] }},
      classes: Uint16Array.from({{ length: {N} }}, (_, i) => i % 2), pointStyle: {{ radius: 2 }},
      state: {{ hidden: new Set(), nSelected: 0, selected: [], centroids: false, {state} }} }};
    const cell = {{ children: [], append(child) {{ this.children.push(child); }} }};
    drawMap(cell, {{ scene, size: () => [480, 400], view: () => ({view}), isVisible: () => true }}, shared);
    const red = drawn.map(({{ data, width }}) => {{
      const part = (from, to) => {{
        let [sum, n] = [0, 0];
        for (let i = 0; i < data.length; i += 4) {{
          const column = (i / 4) % width;
          if (data[i + 3] && column >= from && column < to) [sum, n] = [sum + data[i], n + 1];
        }}
        return n ? sum / n : null;
      }};
      return [part(0, 182), part(187, 900)];
    }});
    return [cell.children.map(({{ tag, attributes }}) => ({{ tag, ...attributes }})), drawn.length, red, scene.order[1]];
    """
    elements, n_drawn, red, second = carried_out(script)
    assert second == 1  # the map on the page is as it was
    if n_drawn and not state:
        assert red == [[255, 0]]  # 18 pixels and 74 for each unit: 0 is at 92 of 480
    return elements, n_drawn


def test_a_saved_picture_has_many_points_as_an_image_and_few_as_points() -> None:
    elements, n_drawn = large_picture(1)
    assert [(element["tag"], element["width"], element["height"]) for element in elements] == [("image", "480", "400")]
    assert n_drawn == 1 and elements[0]["href"].startswith("data:image/png")
    elements, n_drawn = large_picture(20)
    assert [element["href"] for element in elements] == ["#c1"] and n_drawn == 0  # the last sentence is of class 1
    # One sentence is selected: the others are a grey density, it is a point.
    selected = f"nSelected: 1, selected: Uint8Array.from({{ length: {N} }}, (_, i) => i === 7)"
    elements, n_drawn = large_picture(1, selected)
    assert [element["tag"] for element in elements] == ["image", "use"] and n_drawn == 1
    hidden = "hidden: new Set([1])"  # 13,000 are left
    elements, n_drawn = large_picture(1, hidden)
    assert n_drawn == 0 and {element["href"] for element in elements} == {"#c0"} and len(elements) == N // 2
