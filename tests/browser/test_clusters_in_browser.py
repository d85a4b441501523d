"""The clusters page in a real browser: two models' maps, linked: a selection in one is highlighted in the other."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from tests.benchmarks.stored_runs import stored_clusters
from tests.browser.server import Server, serving
from tests.browser.visitor import (
    RUN_MILLISECONDS,
    WAIT_MILLISECONDS,
    address,
    choose_one_model,
    choose_pca,
    click_until,
    closed,
    evaluate,
    inside,
    press,
    settled,
    upload,
)
from tests.support import tiny_models

LABELS = ("料理", "天気", "電車")
HOSTILE = '<img src=x onerror="window.hit=1">雨が降ったので、試合は中止になった。'
STARTS = ("昨日、私は", "彼女は明日", "猫が庭で", "斉藤さんは")
ENDS = ("ラーメンを食べました", "静かに眠っている", "京都へ行く予定です", "新しい本を買った", "電車が遅れて困った")
SENTENCES = [f"{start}{end}。" for start in STARTS for end in ENDS]
N = len(SENTENCES) + 1
COLOURED = """canvas => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let n = 0;
  for (let i = 0; i < data.length; i += 4) {
    const parts = [data[i], data[i + 1], data[i + 2]];
    if (data[i + 3] > 200 && Math.max(...parts) - Math.min(...parts) > 60) n++;
  }
  return n;
}"""
N_LARGE = 26_000  # points beyond which a map is a density
PICTURE = "canvas => canvas.toDataURL()"


@pytest.fixture(scope="module")
def link(chromium: Browser, server: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run of an uploaded file under the built-in model and a tiny one in a directory."""
    folder = tmp_path_factory.mktemp("clusters")
    tiny = tiny_models.bert_japanese(folder / "tiny")
    file = folder / "mine.csv"
    rows = [f'"{text}",{LABELS[i % 3]}\n' for i, text in enumerate([*SENTENCES, HOSTILE.replace('"', '""')])]
    file.write_text("text,label\n" + "".join(rows), encoding="utf-8")
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(WAIT_MILLISECONDS)
    page = context.new_page()
    page.goto(address(server, "clusters"))
    settled(page)
    upload(page, file)
    expect(page.get_by_role("button", name=re.compile(f"{N} rows")).first).to_be_visible()
    choose_one_model(page)
    settled(page)
    models = page.get_by_role("combobox", name=re.compile("Models"))
    models.fill(str(tiny))
    models.press("Enter")
    models.press("Escape")  # the list of the other models lies over what follows
    expect(page.locator('[class*="st-key-clusters-models"] [data-tag]')).to_have_count(2)
    choose_pca(page)
    settled(page)
    evaluate(page)
    expect(page.get_by_role("button", name=re.compile(r"\bTables\b")).first).to_be_visible(timeout=RUN_MILLISECONDS)
    context.close()
    return page.url


@pytest.fixture(scope="module")
def shown(chromium: Browser, link: str) -> Iterator[Page]:
    """The run on a page that the tests below share; each finds it as `maps` leaves it."""
    context = chromium.new_context(viewport={"width": 1280, "height": 1000}, accept_downloads=True)
    context.set_default_timeout(WAIT_MILLISECONDS)
    page = context.new_page()
    page.goto(link)
    yield page
    context.close()


@pytest.fixture
def maps(shown: Page) -> list[Locator]:
    """The two maps in sight, with nothing selected, hidden or zoomed, and the box for a tool."""
    figures = shown.locator(".maps .map")
    figures.nth(1).wait_for(timeout=RUN_MILLISECONDS)
    settled(shown)
    press(shown.get_by_role("button", name="Box", exact=True))
    clear = shown.get_by_role("button", name="Clear", exact=True)
    if clear.is_visible():
        press(clear)
    while shown.locator('.legend [aria-pressed="false"]').count():
        press(shown.locator('.legend [aria-pressed="false"]').first)
    for figure in figures.all():
        figure.get_by_role("button", name=re.compile("whole map")).click(force=True)
    settled(shown)
    return figures.all()


def in_sight(figure: Locator) -> FloatRect:
    """Where on the screen a map is, after it was brought there as a whole."""
    figure.evaluate("figure => figure.scrollIntoView({block: 'center'})")
    box = figure.locator(".stage").bounding_box()
    assert box
    return box


def coloured(figure: Locator) -> int:
    """How many pixels of a map's points are in colour."""
    return int(figure.locator("canvas").first.evaluate(COLOURED))


def drag(page: Page, figure: Locator, *path: tuple[float, float]) -> None:
    """Draw with the mouse over a map, along shares of its width and height."""
    box = in_sight(figure)
    points = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in path]
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point, steps=6)
    page.mouse.up()


def a_point(page: Page, figure: Locator) -> tuple[float, float]:
    """The page position of some sentence of a map: the first point, row by row, whose tip opens."""
    box = in_sight(figure)
    for y in range(10, int(box["height"]) - 10, 14):
        for x in range(10, int(box["width"]) - 90, 14):
            page.mouse.move(box["x"] + x, box["y"] + y)
            if page.locator(".tip").is_visible():
                return box["x"] + x, box["y"] + y
    raise AssertionError("no sentence was found on the map")


def test_a_box_in_one_map_highlights_the_same_sentences_in_the_other(shown: Page, maps: list[Locator]) -> None:
    first, second = maps
    left, right = first.bounding_box(), second.bounding_box()
    assert left and right and left["y"] == right["y"] and left["x"] + left["width"] <= right["x"]  # side by side
    before = coloured(second)
    press(shown.get_by_role("button", name="Box", exact=True))
    drag(shown, first, (0.01, 0.01), (0.5, 0.99))
    n = int(first.get_attribute("data-selected") or 0)
    assert 0 < n < N and second.get_attribute("data-selected") == str(n)
    assert 0 < coloured(second) < before  # the rest is grey
    expect(shown.get_by_text(f"{n} sentences selected")).to_be_visible()
    expect(shown.get_by_role("img", name=re.compile(rf"\b{n} selected")).first).to_be_visible()
    press(shown.get_by_role("button", name="Clear", exact=True))
    assert coloured(second) == before
    expect(shown.get_by_text("sentences selected")).to_have_count(0)


def test_a_lasso_selects_what_it_encloses_and_shift_adds(shown: Page, maps: list[Locator]) -> None:
    press(shown.get_by_role("button", name="Lasso", exact=True))
    drag(shown, maps[1], (0.01, 0.01), (0.99, 0.01), (0.99, 0.5), (0.01, 0.5))
    n = int(maps[0].get_attribute("data-selected") or 0)
    shown.keyboard.down("Shift")
    drag(shown, maps[1], (0.01, 0.5), (0.99, 0.5), (0.99, 0.99), (0.01, 0.99))
    shown.keyboard.up("Shift")
    assert 0 < n < N and maps[0].get_attribute("data-selected") == str(N)


def test_a_clicked_sentence_shows_its_neighbours_under_both_models(shown: Page, maps: list[Locator]) -> None:
    x, y = a_point(shown, maps[0])
    tip = shown.locator(".tip").inner_text()
    assert any(label in tip for label in LABELS) and "row" in tip
    shown.mouse.click(x, y)
    expect(shown.get_by_text("Nearest neighbours of “")).to_be_visible()
    assert [figure.get_attribute("data-selected") for figure in maps] == ["1", "1"]
    expect(shown.get_by_text(re.compile(r"share \d+ of these 10"))).to_be_visible()
    shown.keyboard.press("Escape")  # the map that was clicked has the keys
    expect(shown.get_by_text("Nearest neighbours of “")).to_have_count(0)


def test_zoom_and_selection_are_kept_over_a_rerun_and_another_page(shown: Page, maps: list[Locator]) -> None:
    first, second = maps
    drag(shown, first, (0.01, 0.01), (0.6, 0.6))
    n = first.get_attribute("data-selected")
    second.hover()
    press(second.get_by_role("button", name=re.compile("Zoom in")))
    zoomed = second.locator("canvas").first.evaluate(PICTURE)
    press(shown.get_by_text("Uncertainty of the ranking"))
    expect(shown.get_by_text("Permutation test")).to_be_visible()
    assert second.locator("canvas").first.evaluate(PICTURE) == zoomed
    press(shown.get_by_role("link", name=re.compile("Dictionaries")).first)
    expect(shown.get_by_role("heading", name="Dictionaries")).to_be_visible()
    shown.go_back()
    expect(shown.locator(".maps .map").first).to_have_attribute("data-selected", str(n))
    expect(shown.get_by_text(f"{n} sentences selected")).to_be_visible()


def test_a_class_can_be_hidden_and_shown_alone(shown: Page, maps: list[Locator]) -> None:
    before = coloured(maps[1])
    chip = shown.locator(".legend").get_by_role("button", name=re.compile(LABELS[0]))
    press(chip)
    fewer = coloured(maps[1])
    assert fewer < before and chip.get_attribute("aria-pressed") == "false"
    press(chip)
    assert coloured(maps[1]) == before
    chip.dblclick()
    alone = coloured(maps[1])
    assert alone < before and shown.locator('.legend [aria-pressed="false"]').count() == 2
    # What is hidden is not selected.
    drag(shown, maps[0], (0.01, 0.01), (0.99, 0.99))
    assert int(maps[0].get_attribute("data-selected") or 0) == sum(1 for i in range(N) if i % 3 == 0)


def test_a_sentence_of_a_list_is_highlighted_in_the_maps(shown: Page, maps: list[Locator]) -> None:
    press(shown.get_by_text("Scores by class and sentence"))
    press(shown.get_by_text("Farthest from their own class"))
    expect(shown.get_by_text("farthest from the centroid of their class")).to_be_visible()
    settled(shown)
    table = shown.get_by_role("region", name=re.compile("Farthest from their own class"))
    # The mark that chooses the first line.
    click_until(shown, inside(table, 15, 52), shown.get_by_text("Nearest neighbours of “"))
    assert [figure.get_attribute("data-selected") for figure in maps] == ["1", "1"]


def test_the_maps_can_be_saved_in_three_formats_with_their_signature(shown: Page, maps: list[Locator]) -> None:
    kept: dict[str, Path] = {}
    for button in ("SVG", "PNG", re.compile(r"maps\.html")):
        with shown.expect_download() as caught:
            press(shown.get_by_role("button", name=button))
        kept[caught.value.suggested_filename.rsplit(".")[-1]] = Path(caught.value.path())
    assert kept["png"].read_bytes().startswith(b"\x89PNG")
    svg = ElementTree.parse(kept["svg"]).getroot()
    space = {"svg": "http://www.w3.org/2000/svg"}
    assert len(svg.findall(".//svg:svg/svg:use", space)) == 2 * (N + 3)  # two maps, each with three centroids
    assert "pooling published" in "".join(svg.itertext())
    html = kept["html"].read_text(encoding="utf-8")
    assert "pooling published" in html and HOSTILE not in html
    assert shown.evaluate("window.hit") is None  # nor was it markup in the maps and lists of the tests before


@pytest.mark.nightly
def test_a_map_in_three_dimensions_rotates_and_selects(page: Page, link: str, server: Server) -> None:
    page.goto(address(server, "clusters"))
    settled(page)
    choose_pca(page)
    press(page.get_by_role("button", name="Advanced options"))
    press(page.get_by_text("3-D", exact=True))
    settled(page)
    closed(page)
    settled(page)
    evaluate(page)
    figure = page.locator(".maps .map").first
    figure.wait_for(timeout=RUN_MILLISECONDS)
    settled(page)
    expect(page.get_by_role("button", name="Rotate", exact=True)).to_have_attribute("aria-pressed", "true")
    canvas = figure.locator("canvas").first
    before = canvas.evaluate(PICTURE)
    drag(page, figure, (0.3, 0.5), (0.7, 0.5))
    assert canvas.evaluate(PICTURE) != before
    press(page.get_by_role("button", name="Box", exact=True))
    turned = canvas.evaluate(PICTURE)
    drag(page, figure, (0.01, 0.01), (0.5, 0.99))
    assert 0 < int(figure.get_attribute("data-selected") or 0) < 180 and canvas.evaluate(PICTURE) != turned


@pytest.mark.nightly
def test_a_large_map_is_a_density_and_its_points_are_there_on_zoom(chromium: Browser, tmp_path: Path) -> None:
    run_id = stored_clusters(tmp_path / "data", N_LARGE)
    with serving(tmp_path / "data") as server:
        context = chromium.new_context(viewport={"width": 1280, "height": 1000}, accept_downloads=True)
        context.set_default_timeout(WAIT_MILLISECONDS)
        page = context.new_page()
        page.goto(f"{server.url}/clusters?run={run_id}")
        figures = page.locator(".maps .map")
        figures.nth(1).wait_for()
        settled(page)
        first, second = figures.all()
        said = first.get_by_text("Density of the sentences")
        expect(said).to_be_visible()
        faint = COLOURED.replace("> 200", "> 20")  # where few points are a density is translucent
        blue = faint.replace(
            "Math.max(...parts) - Math.min(...parts) > 60", "parts[2] > Math.max(parts[0], parts[1]) + 60"
        )
        assert blue != faint != COLOURED

        def inked(script: str = faint) -> int:
            return int(second.locator("canvas").first.evaluate(script))

        everything = inked()
        assert everything > 5_000
        with page.expect_download() as caught:
            press(page.get_by_role("button", name="SVG"))
        svg = ElementTree.parse(caught.value.path()).getroot()
        space = {"svg": "http://www.w3.org/2000/svg"}
        assert len(svg.findall(".//svg:svg/svg:image", space)) == 2  # two densities
        assert len(svg.findall(".//svg:svg/svg:use", space)) == 2 * 5  # and the centroids
        # Hidden classes are gone from it, and what is left is few enough for points.
        chip = page.locator(".legend").get_by_role("button", name=re.compile("組1"))
        press(chip)
        assert inked(blue) == 0 and not said.is_visible()
        press(chip)
        assert inked() == everything and inked(blue) > 0 and said.is_visible()
        # Selected sentences are points over a grey density, in both maps.
        press(page.get_by_role("button", name="Box", exact=True))
        drag(page, first, (0.01, 0.01), (0.99, 0.5))
        n = int(second.get_attribute("data-selected") or 0)
        assert 0 < n < N_LARGE and 0 < inked() < everything and first.get_attribute("data-selected") == str(n)
        press(page.get_by_role("button", name="Clear", exact=True))
        # Zoomed in, each sentence is a point that tells its text, and is drawn with its neighbours once it is clicked.
        first.hover()
        for _ in range(3):
            press(first.get_by_role("button", name=re.compile("Zoom in")))
        assert not said.is_visible()
        x, y = a_point(page, first)
        assert re.search(r"\d+番目の文 \d+", page.locator(".tip").inner_text())
        page.mouse.click(x, y)
        drawn = """canvas => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return data.filter((value, i) => i % 4 === 3 && value > 20).length;
        }"""
        expect(page.get_by_text("Nearest neighbours of “")).to_be_visible()
        settled(page)
        # A ring is some 260 pixels; the lines to the neighbours came with the highlighted sentence.
        assert all(figure.locator("canvas").nth(1).evaluate(drawn) > 500 for figure in (first, second))
        context.close()
