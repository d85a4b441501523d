"""The metric study in a real browser: a file with three annotators, the grid, its best cell, that cell's alignment."""

from __future__ import annotations

import csv
import re
from functools import partial
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
    click_until,
    downloaded,
    evaluate,
    press,
    settled,
    too_wide,
    unfold,
    upload,
)

GRID = '[class*="st-key-metric-grid-"] .js-plotly-plot'
# Cells of the paper's grid for one model: rows novel and wiki, without and with the penalty.
ROWS, PENALTIES = ("novel", "wiki"), ("none", "reading")


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of a user's own: half of the sample, three annotators, one score missing."""
    lines = sample_path("scored_pairs").read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path_factory.mktemp("uploads") / "three_annotators.csv"
    path.write_text("".join(lines[:31]), encoding="utf-8")
    return path


def cell(page: Page, idf: str, penalty: str) -> tuple[float, float]:
    """Where a cell of the grid is on the screen: other methods have rows of their own below the cells."""
    plot: Locator = page.locator(GRID).first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    x, y = plot.evaluate(
        """(figure, [idf, penalty]) => {
            const {xaxis, yaxis} = figure._fullLayout, line = figure._fullData.find(one => one.type === "scatter");
            const of_cell = line.customdata.flatMap(([key], at) => {
                const [, , row, column] = key.split("\\n");
                return row === idf && column === penalty ? [at] : [];
            });
            const at = of_cell[Math.floor(of_cell.length / 2)];
            return [xaxis._offset + xaxis.l2p(line.x[at]), yaxis._offset + yaxis.l2p(line.y[at])];
        }""",
        [idf, penalty],
    )
    return box["x"] + x, box["y"] + y


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
    unfold(page.get_by_text("Human scores of annotator_a, annotator_b, annotator_c"))
    expect(page.get_by_text("Human scores of annotator_a, annotator_b, annotator_c")).to_be_visible()

    def heading(line: dict[str, str]) -> re.Pattern[str]:
        words = "with" if line["penalty"] == "reading" else "without"
        return re.compile(rf"{line['model']}, idf {line['idf']}, {words} penalty.*r = {number(float(line['pearson']))}")

    for line in (other, best):
        click_until(page, partial(cell, page, line["idf"], line["penalty"]), page.get_by_text(heading(line)))
    expect(page.locator('[class*="st-key-metric-scatter-"] .js-plotly-plot .point')).to_have_count(30)

    press(page.get_by_role("button", name="Align with this setting"))
    link = page.get_by_role("link", name="Open in Alignment")
    expect(link).to_be_visible()
    settled(page)
    press(link)
    page.wait_for_url(re.compile(r"/alignment\?run=.+"))
    expect(page.locator(".alignment .token").first).to_be_visible(timeout=RUN_MILLISECONDS)
    settled(page)
    page.go_back()
    expect(page.locator(f"{GRID} .heatmaplayer")).to_be_visible()
    assert page.url == study


def test_the_study_fits_a_dark_phone_and_its_texts_are_escaped(server: Server, chromium, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
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
    overflow = too_wide(page)
    assert overflow <= 1 and alerts == [] and page.locator("img[src='x']").count() == 0
    context.close()


@pytest.mark.nightly
def test_systems_are_ranked_by_people_and_by_every_setting(page: Page, server: Server, tmp_path: Path) -> None:
    with sample_path("scored_pairs").open(encoding="utf-8") as file:
        changes: dict[str, dict[str, str]] = {}
        for row in csv.DictReader(file):
            changes.setdefault(row["reference"], {})[row["change"]] = row["candidate"]
    whole = [(reference, of) for reference, of in changes.items() if {"小さな変更", "別の意味"} <= set(of)][:8]
    path = tmp_path / "systems.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["reference", "candidate", "score", "system"])
        for number_of_pair, (reference, of) in enumerate(whole):
            writer.writerows(
                [
                    (reference, reference, 5, "copy"),
                    (reference, of["小さな変更"], 4, "near"),
                    (reference, of["別の意味"], number_of_pair % 3, "far"),
                ]
            )
    page.goto(address(server, "metric_study"))
    settled(page)
    upload(page, path)
    expect(page.get_by_role("button", name=re.compile("See the .* rows"))).to_be_visible()
    evaluate(page)
    section = page.locator('[class*="st-key-metric-systems-"]')
    section.wait_for(timeout=RUN_MILLISECONDS)
    settled(page)
    press(section.locator("summary"))
    for name in ("Ranking of systems", "System scores", "Tests of systems"):
        press(section.get_by_role("tab", name=name))
        expect(section.locator('[data-testid="stDataFrame"]').locator("visible=true")).to_have_count(1)
    scores = downloaded(page, "system_scores")
    human = {line["system"]: float(line["score"]) for line in scores if line["kind"] == "human"}
    # Means of 5, 4 and (of 0, 1, 2, 0, 1, 2, 0, 1) 7 / 8, standardized: differences keep their proportions.
    assert human["copy"] - human["near"] == pytest.approx((human["near"] - human["far"]) / (4 - 7 / 8))
    # A candidate that is the reference has the highest score there is, and another meaning none like a slight change.
    ranking = downloaded(page, "system_agreement")
    assert len(ranking) >= len(ROWS) * len(PENALTIES)
    assert {float(line["pairwise_accuracy"]) for line in ranking} == {1.0}
