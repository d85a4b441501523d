"""The scripts of the maps, without a browser: where points are, which are hit, and what a picture holds."""

from __future__ import annotations

import base64
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.clusters import linked_maps
from tests.dashboard import node

FOLDER = Path(linked_maps.__file__).parent
# Five sentences; the model leaves out number 3, so that places and sentences differ.
X, Y, Z, SENTENCES = [-2.0, 2.0, 0.0, 1.0], [-1.0, 1.0, 0.5, -0.5], [0.0, 0.0, 4.0, -4.0], [0, 1, 2, 4]
WIDTH, HEIGHT = (
    436,
    236,
)  # with 18 pixels at each edge 200 and 100 beside the middle: 100 pixels a unit in two dimensions
# Elements of a picture, as far as the script needs them.
DOCUMENT = """
const document = { createElementNS: (_, tag) => ({
  tag, attributes: {}, children: [], textContent: "",
  setAttribute(name, value) { this.attributes[name] = String(value); },
  getAttribute(name) { return this.attributes[name]; },
  append(child) { this.children.push(child); },
}) };
"""


def encoded(values: list[float], dtype: str) -> str:
    return base64.b64encode(np.array(values, dtype=dtype).tobytes()).decode()


def model(dimensions: int) -> str:
    axes = dict(zip("xyz", [encoded(values, "<f4") for values in (X, Y, Z)][:dimensions], strict=False))
    return json.dumps(
        axes
        | {
            "name": "m",
            "sentences": encoded(SENTENCES, "<u4"),
            "centroids": [{"k": 0, "at": [-1, 0]}, {"k": 1, "at": [1, 0]}],
            "neighbours": encoded([1, 0, 1, 0], "<u4"),
            "n_neighbours": 1,
        }
    )


def carried_out(script: str, *, dimensions: int = 2, view: str = "FIRST_VIEW") -> Any:
    """What a script returns that has the scene of the model, arranged in a view."""
    scene = (
        f"const scene = createScene({model(dimensions)}, 5, {dimensions}); arrange(scene, {view}, {WIDTH}, {HEIGHT});"
    )
    files = [FOLDER / name for name in ("geometry.js", "style.js", "labels.js", "density.js", "picture.js")]
    return node.carried_out(files, scene + script, DOCUMENT)


def test_by_hand_a_point_lies_right_and_up_of_the_middle_by_its_coordinates() -> None:
    places = carried_out("return [[...scene.screen.x], [...scene.screen.y], [...scene.places]];")
    assert places[0] == pytest.approx([18, 418, 218, 318])  # 218 + 100 x
    assert places[1] == pytest.approx([218, 18, 68, 168])  # 118 - 100 y: a larger y is higher on the screen
    assert places[2] == [0, 1, 2, -1, 3]


def test_zooming_keeps_the_point_under_the_pointer() -> None:
    at = f"zoomed({{ ...FIRST_VIEW, zoom: 2, x: 7, y: -3 }}, 3, 100, 60, {WIDTH}, {HEIGHT})"
    before = carried_out(
        "return [scene.screen.x[0], scene.screen.y[0]];", view="{ ...FIRST_VIEW, zoom: 2, x: 7, y: -3 }"
    )
    after, zoom = carried_out(f"return [[scene.screen.x[0], scene.screen.y[0]], {at}.zoom];", view=at)
    assert zoom == 6
    # three times as far from the pointer as before, on both axes
    assert [after[0] - 100, after[1] - 60] == pytest.approx([3 * (before[0] - 100), 3 * (before[1] - 60)], rel=1e-5)
    assert carried_out(f"return zoomed({{ ...FIRST_VIEW, zoom: 2, x: 9, y: 9 }}, 0.1, 5, 5, {WIDTH}, {HEIGHT});") == {
        "zoom": 1,
        "x": 0,
        "y": 0,
        "yaw": 0.6,
        "pitch": 0.35,
    }


def test_the_nearest_visible_point_is_hit_and_none_beyond_reach() -> None:
    script = """
    const all = () => true, odd = (i) => i % 2 === 1;
    return [nearestPlace(scene, all, 220, 70, 12), nearestPlace(scene, odd, 220, 70, 12), nearestPlace(scene, odd, 220, 70, 200),
            nearestPlace(scene, all, 230, 68, 12), nearestPlace(scene, all, 231, 68, 12)];
    """
    assert carried_out(script) == [2, -1, 3, 2, -1]


def test_a_box_and_a_lasso_hold_the_visible_points_inside_them() -> None:
    script = """
    const box = [[200, 50], [330, 50], [330, 180], [200, 180]];
    const corner = [[200, 50], [330, 50], [200, 180]]; // the half of the box that has its left upper corner
    const all = () => true;
    return [placesWithin(scene, all, box), placesWithin(scene, (i) => i !== 2, box), placesWithin(scene, all, corner)];
    """
    assert carried_out(script) == [[2, 3], [3], [2]]


def test_in_three_dimensions_near_points_are_larger_and_drawn_last() -> None:
    ahead = "{ ...FIRST_VIEW, yaw: 0, pitch: 0 }"
    size, order, x, y = carried_out(
        "return [[...scene.screen.size], [...scene.order], [...scene.screen.x], [...scene.screen.y]];",
        dimensions=3,
        view=ahead,
    )
    reach = max(np.hypot(np.hypot(X, Y), Z))
    depth = np.array(Z) / reach  # from the middle of each axis, which is 0 here
    assert size == pytest.approx(1 + 0.28 * depth)
    assert order[0] == 3 and order[-1] == 2  # the farthest first
    scale = 1.1 * 100 / reach
    assert x == pytest.approx(218 + np.array(X) * scale * (1 + 0.28 * depth), rel=1e-5)
    assert y == pytest.approx(118 - np.array(Y) * scale * (1 + 0.28 * depth), rel=1e-5)
    turned = carried_out(
        "return [...scene.screen.x];", dimensions=3, view="{ ...FIRST_VIEW, yaw: Math.PI / 2, pitch: 0 }"
    )
    assert turned[2] > 218 > turned[3]  # what was near is now at the right


def picture(state: str, n_maps: int = 1) -> dict[str, Any]:
    """The elements of a saved picture of the map at twice the zoom, a quarter of its width to the right."""
    view = f"{{ ...FIRST_VIEW, zoom: 2, x: {WIDTH // 4}, y: 0 }}"
    shared = f"""{{
      data: {{ picture: {{ signature: "s", name: "n", palette: ["#111111", "#222222"] }},
               classes: [{{ name: "甲", symbol: Object.keys(SHAPES)[0] }}, {{ name: "乙", symbol: Object.keys(SHAPES)[1] }}] }},
      classes: [0, 1, 0, 1, 1], pointStyle: {{ radius: 4 }}, state: {state} }}"""
    script = f"""
    const shared = {shared};
    const map = {{ title: "m", scene, size: () => [{WIDTH}, {HEIGHT}], view: () => ({view}),
                  isVisible: (i) => !shared.state.hidden.has(shared.classes[scene.sentences[i]]) }};
    return pictureOf(Array(N_MAPS).fill(map), shared);
    """
    return dict(carried_out(script.replace("N_MAPS", str(n_maps))))


def points(drawn: dict[str, Any]) -> list[tuple[str, float, float, str]]:
    """Of each point of the map in a picture, in the order in which they are drawn: class, x, y and colour."""
    (cell,) = [child for child in drawn["children"] if child["tag"] == "svg"]
    found = []
    for child in cell["children"]:
        if child["tag"] == "use":
            place, _ = child["attributes"]["transform"].removeprefix("translate(").split(")", 1)
            x, y = map(float, place.split())
            found.append((child["attributes"]["href"], x, y, child["attributes"]["fill"]))
    return found


def test_a_picture_has_each_visible_point_at_its_place_and_the_selected_ones_on_top() -> None:
    whole = "{ hidden: new Set(), selected: [0, 0, 0, 0, 0], nSelected: 0, centroids: false }"
    scale = 2 * min(222 / 2, 182 / 1)  # a picture of 480 by 400 pixels, at twice the zoom
    middle = 240 + 480 / 4  # moved as far in its width as the map is in its own
    expected = [
        (f"#c{k}", middle + x * scale, 200 - y * scale, ("#111111", "#222222")[k])
        for x, y, k in zip(X, Y, (0, 1, 0, 1), strict=True)
    ]
    found = points(picture(whole))
    assert [(name, colour) for name, _, _, colour in found] == [(name, colour) for name, _, _, colour in expected]
    np.testing.assert_allclose([row[1:3] for row in found], [row[1:3] for row in expected], atol=0.06)

    hidden = points(picture("{ hidden: new Set([1]), selected: [0, 0, 0, 0, 0], nSelected: 0, centroids: true }"))
    assert {name for name, *_ in hidden} == {"#c0"} and len(hidden) == 3  # two points and the centroid of their class

    chosen = points(picture("{ hidden: new Set(), selected: [1, 0, 0, 0, 0], nSelected: 1, centroids: false }"))
    assert [colour for *_, colour in chosen] == ["#667085", "#667085", "#667085", "#111111"]  # the others grey, below
    assert chosen[-1][1] == pytest.approx(expected[0][1], abs=0.06)


def test_by_hand_a_picture_has_three_maps_in_a_row_and_a_legend_of_what_is_shown() -> None:
    drawn = picture("{ hidden: new Set([0]), selected: [0, 0, 0, 0, 0], nSelected: 0, centroids: false }", n_maps=4)
    cells = [
        tuple(int(child["attributes"][name]) for name in "xy") for child in drawn["children"] if child["tag"] == "svg"
    ]
    # 24 pixels around maps of 480 by 400; the legend ends at 24 + 22, a title has 24 above its map, a row 20 below
    assert cells == [(24, 70), (528, 70), (1032, 70), (24, 70 + 444)]
    assert drawn["attributes"]["width"] == str(3 * 504 + 24)
    texts = {child["textContent"]: child["attributes"] for child in drawn["children"] if child["tag"] == "text"}
    assert set(texts) == {"乙", "m", "s"} and texts["乙"]["x"] == str(24 + 16)
    height = 46 + 2 * 444 + 10 + 13 + 12  # below the maps one line of the signature, and half a gap
    assert drawn["attributes"]["height"] == str(height) and texts["s"]["y"] == str(46 + 2 * 444 + 10)


def test_a_kanji_is_as_wide_as_it_is_high_where_nothing_can_be_measured() -> None:
    assert carried_out('return roughWidth("a猫b");') == pytest.approx(2 * 0.6 * 12 + 12)


def test_every_pixel_of_a_point_is_found() -> None:
    image = "{ width: 2, getContext: () => ({ getImageData: () => ({ data: Uint8ClampedArray.from(alphas) }) }) }"
    alphas = "const alphas = [255, 0, 9, 255].flatMap((alpha) => [1, 2, 3, alpha]);"
    found = f"{alphas} const found = pixelsFor({image}, 10);"
    script = f"{found} return [found.solidAt, found.mixedAt].map((places) => [...places]);"
    assert node.carried_out([FOLDER / "pixels.js"], script) == [[0, 11], [10]]


@pytest.mark.parametrize(
    ("place", "filled"),
    [((2, 2), [5, 6, 9, 10]), ((4, 2), [7, 11]), ((2, 4), [13, 14]), ((0, 0), [0]), ((3, 3), [10, 11, 14, 15])],
)
def test_a_point_at_an_edge_is_cut_there(place: tuple[int, int], filled: list[int]) -> None:
    """Of a map of 4 by 4 pixels a point of 2 by 2, which would else go on in the next row."""
    image = "{ width: 2, getContext: () => ({ getImageData: () => ({ data: new Uint8ClampedArray(16).fill(255) }) }) }"
    context = (
        "{ canvas: { width: 4, height: 4 }, putImageData: (picture) => { drawn = picture.data; },"
        " createImageData: (width, height) => ({ data: new Uint8ClampedArray(4 * width * height) }) }"
    )
    script = f"let drawn; const painter = pixelPainter({context}, 1); painter.put({image}, {place[0]}, {place[1]});"
    found = "painter.finish(); return [...Array(16).keys()].filter((pixel) => drawn[4 * pixel + 3]);"
    assert node.carried_out([FOLDER / "pixels.js"], f"{script} {found}") == filled


def test_a_point_is_drawn_in_the_pixels_of_the_screen() -> None:
    """On a screen of two pixels for one, a disc of radius 5 in the middle of its image, with room for its outline."""
    script = (
        "const calls = [];"
        " const context = { setTransform: (...numbers) => calls.push(numbers), stroke() {}, fill() {} };"
        " globalThis.Path2D = class {};"
        ' globalThis.getComputedStyle = () => ({ getPropertyValue: () => "#000000" });'
        " globalThis.document = { createElement: () => ({ getContext: () => context }) };"
        ' const [image] = createPointStyle(null, ["circle"], 300, null).sprites("point", 2);'
        " return [[image.width, image.height], ...calls];"
    )
    size = math.ceil((5 * 1.32 + 1) * 2 * 2)
    assert node.carried_out([FOLDER / "style.js"], script) == [[size, size], [10, 0, 0, 10, size / 2, size / 2]]
