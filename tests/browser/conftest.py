"""The machine's own Chromium, driven by Playwright; without one these tests are skipped with a reason."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from engine.runs.storage.database import URL_VARIABLE
from tests.browser.server import Server, serving
from tests.browser.visitor import WAIT_MILLISECONDS
from tests.support import postgres
from tests.support.database import url_for

expect.set_options(timeout=WAIT_MILLISECONDS)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# What the Content-Security-Policy kept a page from, for `visitor.violations`.
RECORD_VIOLATIONS = """addEventListener("securitypolicyviolation", (event) => {
    (window.violations ??= []).push(`${event.violatedDirective}: ${event.blockedURI} (${event.sourceFile})`);
});"""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        pytest.skip("needs Chromium, which is not on this machine (apt-get install chromium fonts-noto-cjk)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(WAIT_MILLISECONDS)
    context.add_init_script(RECORD_VIOLATIONS)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("hakari") / "data") as running:
        yield running


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A server's directory, whose database this process may open too."""
    monkeypatch.setenv(URL_VARIABLE, url_for(tmp_path / "data", postgres.current))
    return tmp_path / "data"
