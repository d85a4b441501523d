"""Each page in a real browser: it opens, takes a CSV, waits for the run, and shows what the command line computes."""

from __future__ import annotations

import csv
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard.faces import FACES
from dashboard.pages import SECTIONS
from dashboard.shared import guided_reading, samples
from engine.__main__ import main
from engine.datasets.sample_data import path as sample_path
from engine.runs.open import Engine, open_engine
from tests.browser.server import Server, serving
from tests.browser.visitor import (
    RUN_MILLISECONDS,
    WAIT_MILLISECONDS,
    address,
    downloaded,
    evaluate,
    press,
    settled,
    too_wide,
    upload,
    violations,
)

PAGES = [page for pages in SECTIONS.values() for page in pages]
# page, kind, table, the columns whose numbers must be equal; and what the page sets where the command line does not
EVALUATIONS = [
    ("clusters", "clusters", "models", ["in_class_dispersion", "out_of_class_dispersion", "score"]),
    ("alignment", "alignment", "pairs", ["precision", "recall", "f1"]),
    ("minimal_pairs", "minimal-pairs", "summary", ["n", "n_correct", "n_tied", "accuracy", "ci_low", "ci_high"]),
]


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The first rows of each sample, as files of a user's own."""
    folder = tmp_path_factory.mktemp("uploads")
    kinds = {"clusters": "labelled_sentences", "alignment": "sentence_pairs", "minimal-pairs": "minimal_pairs"}
    for kind, sample in kinds.items():
        lines = sample_path(sample).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / f"{kind}.csv").write_text("".join(lines[:1] + lines[1::4]), encoding="utf-8")
    return {kind: folder / f"{kind}.csv" for kind in kinds}


@pytest.mark.parametrize("card", PAGES, ids=lambda card: card.name)
def test_every_page_opens_at_both_widths(page: Page, server: Server, card) -> None:  # type: ignore[no-untyped-def]
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(address(server, card.name))
        settled(page)
        expect(page.get_by_text(card.question).first).to_be_visible()
        overflow = too_wide(page)
        assert overflow <= 1, f"{card.name} is {overflow} px too wide at {width}"
        assert violations(page) == []


def test_a_page_reaches_no_other_host(page: Page, server: Server) -> None:
    page.goto(address(server, "models"))
    settled(page)
    page.evaluate("fetch('https://elsewhere.example/').catch(() => null)")
    page.evaluate("document.body.append(Object.assign(new Image(), {src: 'https://elsewhere.example/x.png'}))")
    page.wait_for_function("(window.violations ?? []).length >= 2")
    blocked = {violation.split(" (")[0] for violation in violations(page)}
    assert blocked == {"connect-src: https://elsewhere.example/", "img-src: https://elsewhere.example/x.png"}


@pytest.mark.parametrize(("name", "kind", "table", "columns"), EVALUATIONS, ids=lambda value: str(value))
def test_an_uploaded_file_gives_the_numbers_of_the_command_line(
    page: Page,
    server: Server,
    head: dict[str, Path],
    tmp_path: Path,
    name: str,
    kind: str,
    table: str,
    columns: list[str],
) -> None:
    page.goto(address(server, name))
    settled(page)
    if name == "alignment":
        press(page.get_by_text("Many pairs", exact=True))
    upload(page, head[kind])
    expect(page.get_by_role("button", name=re.compile("rows")).first).to_be_visible()
    evaluate(page)
    shown = downloaded(page, table)
    settled(page)
    assert violations(page) == []

    models = list(dict.fromkeys(row["model"] for row in shown))
    paths = ["--data", str(head[kind]), "--out", str(tmp_path / "out"), "--cache", str(tmp_path / "cache")]
    assert main([kind, *paths, *(word for model in models for word in ("--model", model))]) == 0
    with (tmp_path / "out" / f"{table}.csv").open(encoding="utf-8") as file:
        computed = list(csv.DictReader(file))
    by = [column for column in ("model", "row", "normalization", "stratum") if column in computed[0]]
    keyed = {tuple(row[column] for column in by): row for row in shown}
    assert len(keyed) == len(computed)
    for row in computed:
        there = keyed[tuple(row[column] for column in by)]
        for column in columns:
            # the same engine in another process: batches, and so the last digits of float32, may differ
            assert float(there[column] or "nan") == pytest.approx(
                float(row[column] or "nan"), rel=1e-5, abs=1e-7, nan_ok=True
            )


def test_a_link_opens_in_a_second_browser_and_after_reload_and_back(
    page: Page, server: Server, head: dict[str, Path], chromium
) -> None:  # type: ignore[no-untyped-def]
    page.goto(address(server, "clusters"))
    settled(page)
    upload(page, head["clusters"])
    evaluate(page)
    expect(page.get_by_role("button", name=re.compile(r"\bTables\b")).first).to_be_visible(timeout=RUN_MILLISECONDS)
    link = page.url
    page.reload()
    expect(page.get_by_role("button", name=re.compile(r"\bTables\b")).first).to_be_visible()
    page.goto(address(server, "models"))
    settled(page)
    page.go_back()
    expect(page.get_by_role("button", name=re.compile(r"\bTables\b")).first).to_be_visible()
    other = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    other.set_default_timeout(WAIT_MILLISECONDS)
    second = other.new_page()
    second.goto(link)
    expect(second.get_by_role("button", name=re.compile(r"\bTables\b")).first).to_be_visible()
    other.close()


def test_the_error_of_a_bad_file_is_shown_and_the_page_still_works(page: Page, server: Server, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("text,label\n今日は晴れ,天気\n,天気\n明日は雨,\n", encoding="utf-8")
    page.goto(address(server, "clusters"))
    settled(page)
    upload(page, bad)
    alert = page.locator('[data-testid="stAlert"]').first
    expect(alert).to_be_visible()
    expect(page.get_by_text(re.compile("row 2")).first).to_be_visible()
    expect(page.get_by_text(re.compile("row 3")).first).to_be_visible()
    expect(page.locator('[data-testid="stException"]')).to_have_count(0)
    press(page.get_by_text("Sample", exact=True).first)
    expect(page.get_by_role("button", name=re.compile("180 rows")).first).to_be_visible()


def test_the_guided_reading_is_closed_for_good(page: Page, tmp_path: Path) -> None:
    with serving(tmp_path / "data") as own, open_engine(tmp_path / "data", resume=False) as engine:
        run_id = samples.submit(engine.runs, FACES["alignment"], FACES["alignment"].sample)
        assert wait_for(engine, run_id) == "done"
        page.goto(address(own, "alignment"))
        settled(page)
        marks = [page.get_by_text(heading).locator("visible=true") for heading in guided_reading.HEADINGS]
        for mark in marks:
            expect(mark).to_have_count(1)
        press(page.get_by_role("button", name="Close the guided reading"))
        for mark in marks:
            expect(mark).to_have_count(0)
        settled(page)
        page.reload()
        settled(page)
        expect(page.get_by_role("button", name="How to read this")).to_be_visible()
        for mark in marks:
            expect(mark).to_have_count(0)
        press(page.get_by_role("button", name="How to read this"))
        for mark in marks:
            expect(mark).to_have_count(1)
        assert violations(page) == []


def wait_for(engine: Engine, run_id: str) -> str:
    """The state of a run of another process once it has ended."""
    end = time.monotonic() + RUN_MILLISECONDS / 1000
    while (run := engine.runs.get(run_id)) is not None and run.state in ("queued", "running"):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert run is not None
    return run.state


def test_an_unknown_run_is_explained(page: Page, server: Server) -> None:
    page.goto(address(server, "clusters") + "?run=no-such-run")
    settled(page)
    expect(page.get_by_text(re.compile("no run at this link")).first).to_be_visible()


def test_html_in_a_sentence_is_shown_as_text(page: Page, server: Server, tmp_path: Path) -> None:
    hostile = tmp_path / "hostile.csv"
    sentences = [f'<img src=x onerror="window.hit=1">文{i}' for i in range(8)]
    hostile.write_text(
        "text,label\n"
        + "".join(f'"{s.replace(chr(34), chr(34) * 2)}",<b>{i % 2}</b>\n' for i, s in enumerate(sentences)),
        encoding="utf-8",
    )
    page.goto(address(server, "clusters"))
    settled(page)
    upload(page, hostile)
    evaluate(page)
    expect(page.get_by_role("button", name=re.compile(r"\bTables\b")).first).to_be_visible(timeout=RUN_MILLISECONDS)
    settled(page)
    assert page.evaluate("window.hit") is None
