"""axe-core on every page, empty and with a result: WCAG 2.2 AA and best practices, light and dark, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from dashboard.pages import PAGE_BY_KIND
from tests.browser.server import Server, serving
from tests.browser.visitor import WAIT_MILLISECONDS, settled
from tests.stored_runs import directories as stored_runs

VERSION = max(stored_runs.VERSIONS)
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RUN_AXE = """async () => (await axe.run(document, {runOnly: [
    "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})).violations.flatMap((rule) =>
    rule.nodes.map((node) => ({rule: rule.id, target: node.target.join(" "), html: node.html.slice(0, 200),
                               why: node.failureSummary, inside: document.querySelector(node.target[0])
                                   ?.closest('[data-testid="stDataFrame"]') ? "dataframe" : ""})))"""
# Streamlit's own, which no style or role from outside mends: (rule, inside which part) -> why.
STREAMLITS = {("empty-table-header", "dataframe"): "the column of boxes by which rows are chosen has no heading"}
LOOKS = {"light-wide": ({"width": 1440, "height": 1000}, "light"),
         "dark-narrow": ({"width": 390, "height": 844}, "dark")}
EMPTY = ("", *sorted({*PAGE_BY_KIND.values(), "compare", "agreement", "runs", "datasets", "models"}))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A dashboard over runs that are stored with the tests."""
    data_dir = tmp_path_factory.mktemp("stored") / "data"
    stored_runs.copied(VERSION, data_dir)
    with serving(data_dir) as running:
        yield running


@pytest.fixture(scope="module", params=LOOKS)
def visitor(request: pytest.FixtureRequest, chromium: Browser) -> Iterator[Page]:
    size, scheme = LOOKS[request.param]
    context = chromium.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    context.set_default_timeout(WAIT_MILLISECONDS)
    yield context.new_page()
    context.close()


def violations(page: Page, address: str) -> list[dict[str, Any]]:
    page.goto(address)
    settled(page)
    page.evaluate(AXE)
    return [found for found in page.evaluate(RUN_AXE) if (found["rule"], found["inside"]) not in STREAMLITS]


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_page_violates_no_rule(name: str, visitor: Page, stored: Server) -> None:
    assert violations(visitor, f"{stored.url}/{name}") == []


@pytest.mark.parametrize("kind", PAGE_BY_KIND)
def test_a_page_with_a_result_violates_no_rule(kind: str, visitor: Page, stored: Server) -> None:
    runs = {of_kind: run_id for run_id, of_kind in stored_runs.kinds(VERSION).items()}
    assert violations(visitor, f"{stored.url}/{PAGE_BY_KIND[kind]}?run={runs[kind]}") == []


def test_two_compared_runs_violate_no_rule(visitor: Page, stored: Server) -> None:
    runs = {of_kind: run_id for run_id, of_kind in stored_runs.kinds(VERSION).items()}
    assert violations(visitor, f"{stored.url}/compare?a-run={runs['alignment']}") == []


@pytest.mark.parametrize(("locale", "language"), [("ja-JP", "ja"), ("en-GB", "en"), ("fr-FR", "en")])
def test_the_document_has_the_language_of_its_texts(locale: str, language: str, chromium: Browser, stored: Server
                                                    ) -> None:
    context = chromium.new_context(locale=locale)
    page = context.new_page()
    page.goto(f"{stored.url}/runs")
    settled(page)
    assert page.locator("html").get_attribute("lang") == language
    context.close()
