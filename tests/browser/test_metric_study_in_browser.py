"""The metric study in a real browser: a file with three annotators, the grid, its best cell, that cell's alignment."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard.metric_study.labels import number
from engine.datasets.sample_data import path as sample_path
from tests.browser.server import Server
from tests.browser.visitor import (
    RUN_MILLISECONDS,
    WAIT_MILLISECONDS,
    address,
    downloaded,
    evaluate,
    press,
    settled,
    upload,
)

GRID = '[class*="st-key-metric-grid-"] .js-plotly-plot'
# Cells of the paper's grid for one model: rows novel and wiki, without and with the penalty.
ROWS, PENALTIES = ("novel", "wiki"), ("none", "reading")
HEAD, ROW = 26, 46  # pixels of a model's name, of a row


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of a user's own: half of the sample, three annotators, one score missing."""
    lines = sample_path("scored_pairs").read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path_factory.mktemp("uploads") / "three_annotators.csv"
    path.write_text("".join(lines[:31]), encoding="utf-8")
    return path


def cell(page: Page, idf: str, penalty: str) -> tuple[float, float]:
    """Where a cell of the grid is on the screen."""
    plot: Locator = page.locator(f"{GRID} .nsewdrag").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    x = box["x"] + box["width"] * (PENALTIES.index(penalty) + 0.5) / len(PENALTIES)
    height = HEAD + ROW * len(ROWS)
    return x, box["y"] + box["height"] * (HEAD + ROW * (ROWS.index(idf) + 0.5)) / height


def test_three_annotators_the_grid_and_its_best_cell(page: Page, server: Server, scored: Path) -> None:
    page.goto(address(server, "metric_study"))
    settled(page)
    upload(page, scored)
    for name in ("annotator_a", "annotator_b", "annotator_c"):
        expect(page.get_by_text(name).first).to_be_visible()
    evaluate(page)
    expect(page.locator(f"{GRID} .heatmaplayer")).to_be_visible(timeout=RUN_MILLISECONDS)
    settled(page)
    study = page.url

    lines = downloaded(page, "settings")
    cells = [(idf, penalty) for idf in ROWS for penalty in PENALTIES]
    assert [(line["idf"], line["penalty"]) for line in lines] == cells
    best = max(lines, key=lambda line: float(line["pearson"]))
    other = min(lines, key=lambda line: float(line["pearson"]))
    shown = page.locator(GRID).first
    for line in lines:
        expect(shown).to_contain_text(number(float(line["pearson"])))
    expect(page.get_by_text("Human scores of annotator_a, annotator_b, annotator_c")).to_be_visible()

    def heading(line: dict[str, str]) -> re.Pattern[str]:
        words = "with" if line["penalty"] == "reading" else "without"
        return re.compile(rf"{line['model']}, idf {line['idf']}, {words} penalty.*r = {number(float(line['pearson']))}")

    page.mouse.click(*cell(page, other["idf"], other["penalty"]))
    expect(page.get_by_text(heading(other))).to_be_visible()
    page.mouse.click(*cell(page, best["idf"], best["penalty"]))
    expect(page.get_by_text(heading(best))).to_be_visible()
    expect(page.locator('[class*="st-key-metric-scatter-"] .js-plotly-plot .point')).to_have_count(30)

    press(page.get_by_role("button", name="Align with this setting"))
    link = page.get_by_role("link", name="Open in Alignment")
    expect(link).to_be_visible()
    settled(page)
    press(link)
    page.wait_for_url(re.compile(r"/alignment\?run=.+"), timeout=60_000)
    expect(page.locator('[data-testid="stDataFrame"]').first).to_be_visible(timeout=RUN_MILLISECONDS)
    settled(page)
    page.go_back()
    expect(page.locator(f"{GRID} .heatmaplayer")).to_be_visible()
    assert page.url == study


def test_the_study_fits_a_dark_phone_and_its_texts_are_escaped(
    server: Server, chromium, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    rows = [(f"<img src=x onerror=alert({i})>雨", f"<b>雪{i}</b>", i % 5, 5 - i % 3, i) for i in range(12)]
    path = tmp_path / "html.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("reference", "candidate", "rater_a", "rater_b", "rater_c"), *rows])
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    context.set_default_timeout(WAIT_MILLISECONDS)
    page = context.new_page()
    alerts: list[str] = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    page.goto(address(server, "metric_study"))
    settled(page)
    upload(page, path)
    expect(page.get_by_text("rater_c").first).to_be_visible()
    evaluate(page)
    expect(page.locator(f"{GRID} .heatmaplayer")).to_be_visible(timeout=RUN_MILLISECONDS)
    settled(page)
    page.locator('[class*="st-key-metric-scatter-"] .js-plotly-plot .point').first.hover(force=True)
    page.wait_for_timeout(500)
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 1 and alerts == [] and page.locator("img[src='x']").count() == 0
    context.close()
