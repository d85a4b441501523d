"""What a visitor waits for: the server's start, the first page, a change of page, in the machine's own Chromium."""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.benchmarks.measuring import Budget, taken
from tests.browser.conftest import ARGUMENTS
from tests.browser.server import serving

READY_SECONDS, HOME_SECONDS, PAGE_SECONDS = 3, 5, 2
ROUNDS = 3


def budgets(folder: Path) -> list[Budget]:
    """Nothing, where there is no Chromium. The home page is complete when the three samples' numbers stand on it."""
    executable = shutil.which("chromium")
    if executable is None:
        return []
    ready, home, change = [], [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        for _ in range(ROUNDS):
            # the first round weighs the samples; the later ones find them weighed, as every later visit does
            with serving(folder / "data") as server:
                ready.append(server.ready_seconds)
                page = browser.new_page()
                home.append(taken(lambda page=page, url=server.url: _complete(page, url)))  # type: ignore[misc]
                change.append(taken(lambda page=page: _change(page)))  # type: ignore[misc]
                page.close()
        browser.close()
    return [
        Budget("Server ready after its start", statistics.median(ready), READY_SECONDS),
        Budget("Home page complete at the first visit after a start", statistics.median(home[1:]), HOME_SECONDS),
        Budget("Home page complete at the very first visit, samples still to be weighed", home[0], HOME_SECONDS),
        Budget("Change to another page", statistics.median(change), PAGE_SECONDS),
    ]


def _complete(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_function("document.querySelectorAll('[data-testid=\"stMetric\"]').length >= 6", timeout=120_000)


def _change(page: Page) -> None:
    page.locator('[data-testid="stSidebarNavLink"]').filter(has_text="Models").click()
    page.wait_for_function("document.querySelector('h1')?.innerText.includes('Models')")
