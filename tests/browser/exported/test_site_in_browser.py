"""A site that `hakari export` wrote, opened from its files: figures, search, pairs, and every page by axe-core."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from engine.runs.storage.database import URL_VARIABLE
from tests.browser.test_accessibility import AXE, NARROW, RUN_AXE, VERSION, WIDE
from tests.browser.visitor import WAIT_MILLISECONDS
from tests.stored_runs import directories as stored_runs
from tests.support import postgres
from tests.support.database import url_for

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of runs that are stored with the tests, one of each kind."""
    folder = tmp_path_factory.mktemp("exported")
    environment = {"HAKARI_DATA_DIR": str(folder / "data"), URL_VARIABLE: url_for(folder / "data", postgres.current)}
    with pytest.MonkeyPatch.context() as patched:
        for name, value in environment.items():
            patched.setenv(name, value)
        stored_runs.copied(VERSION, folder / "data")
        run_ids = list({kind: run_id for run_id, kind in stored_runs.kinds(VERSION).items()}.values())
        command = [sys.executable, "-m", "hakari", "export", "--site", str(folder / "site"), *run_ids]
        done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture
def reader(chromium: Browser) -> Iterator[Page]:
    """A page whose errors and requests beyond files end the test."""
    context = chromium.new_context(viewport=WIDE, locale="en-GB")
    context.set_default_timeout(WAIT_MILLISECONDS)
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: request.url.startswith(("file:", "data:", "blob:")) or wrong.append(request.url))
    yield page
    context.close()
    assert not wrong


def opened(page: Page, path: Path) -> None:
    page.goto(path.as_uri())


def test_a_reader_finds_every_run_from_the_first_page(site: Path, reader: Page) -> None:
    opened(reader, site / "index.html")
    expect(reader).to_have_url((site / "en" / "index.html").as_uri())
    headings = reader.locator("h2 a")
    n_runs = headings.count()
    assert n_runs == len(set(stored_runs.kinds(VERSION).values()))
    headings.first.click()
    expect(reader.locator("h1")).to_be_visible()
    reader.get_by_role("link", name="日本語").click()
    expect(reader.locator("html")).to_have_attribute("lang", "ja")
    reader.locator("nav a").first.click()
    expect(reader).to_have_url((site / "ja" / "index.html").as_uri())


def test_another_pair_is_drawn_and_explained(site: Path, reader: Page) -> None:
    (path,) = (site / "en").glob("alignment-*.html")
    opened(reader, path)
    tokens = reader.locator("#live-1 .row.reference .token")
    first = tokens.all_inner_texts()
    choice = reader.get_by_label("Show")
    last = choice.locator("option").count() - 1
    assert first and last > 0
    choice.select_option(index=last)
    expect(tokens.first).to_be_visible()
    assert tokens.all_inner_texts() != first
    tokens.nth(1).click()
    expect(reader.locator("#live-1 .tip")).to_contain_text("similarity")
    expect(reader.locator(".js-plotly-plot").first).to_be_visible()


def test_rows_are_searched(site: Path, reader: Page) -> None:
    (path,) = (site / "ja").glob("minimal-pairs-*.html")
    opened(reader, path)
    table = reader.locator("section", has=reader.get_by_role("searchbox")).first
    box = table.get_by_role("searchbox")
    rows = table.locator("tbody tr")
    n_rows = rows.count()
    words = rows.nth(2).locator("td").all_inner_texts()
    box.fill(" ".join(words[:2]).upper())
    expect(rows.nth(2)).to_be_visible()
    n_left = table.locator("tbody tr:visible").count()
    assert 0 < n_left < n_rows
    expect(table.locator("output")).to_have_text(f"{n_left} / {n_rows}")
    box.fill("no such row")
    expect(table.locator("tbody tr:visible")).to_have_count(0)
    box.fill("")
    expect(table.locator("tbody tr:visible")).to_have_count(n_rows)


@pytest.mark.nightly
def test_no_page_violates_a_rule_or_is_wider_than_a_phone(site: Path, reader: Page) -> None:
    violated = {}
    for path in sorted(site.rglob("*.html")):
        if path.parent == site:
            continue  # leads on
        opened(reader, path)
        reader.evaluate(AXE)
        violated[path.name] = reader.evaluate(RUN_AXE)
        reader.set_viewport_size(NARROW)
        opened(reader, path)
        assert reader.evaluate("document.documentElement.scrollWidth") <= NARROW["width"], path.name
        reader.set_viewport_size(WIDE)
    assert not {name: nodes for name, nodes in violated.items() if nodes}
