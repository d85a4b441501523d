"""What a visitor does on every page: open it, wait until it is drawn, press, upload, evaluate, download."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as Lost

from tests.browser.server import Server

WAIT_MILLISECONDS = 60_000  # for the effect of a click; a machine that runs tests is busy
RUN_MILLISECONDS = 400_000
PRESSES, PRESS_MILLISECONDS = 3, 20_000
# True once no script has run and no stale element has been on the page for 200 ms: until then elements move.
QUIET = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    const quiet = app && app.dataset.testConnectionState === "CONNECTED" && app.dataset.testScriptState === "notRunning"
        && !app.querySelector('[data-stale="true"]');
    const now = performance.now();
    window.quietSince = quiet ? window.quietSince ?? now : undefined;
    return quiet && now - window.quietSince >= 200;
}"""


def settled(page: Page) -> None:
    """Until the page is drawn; no error of Streamlit's own on it."""
    page.wait_for_selector("h1", timeout=WAIT_MILLISECONDS)
    page.wait_for_function(QUIET, timeout=WAIT_MILLISECONDS)
    expect(page.locator('[data-testid="stException"]')).to_have_count(0)


def violations(page: Page) -> list[str]:
    """What the Content-Security-Policy kept the page from since it was loaded."""
    return list(page.evaluate("window.violations ?? []"))


def press(button: Locator) -> None:
    """Click it where it stays: one that moves between the button's going down and up is missed."""
    settled(button.page)
    button.click()


def address(server: Server, name: str) -> str:
    return server.url + ("/" if name == "home" else f"/{name}")


def upload(page: Page, path: Path) -> None:
    # A guided reading names the choice, too.
    press(page.locator('[class*="st-key-"][class*="-source"]').get_by_text("My file", exact=True).first)
    page.locator('input[type="file"]').first.set_input_files(path)


def choose_one_model(page: Page) -> None:
    """Leave the first of the models that the form begins with."""
    chosen = page.locator('[class*="st-key-"][class*="-models"] [data-tag]')
    settled(page)
    chosen.first.wait_for()
    while (n_before := chosen.count()) > 1:
        press(chosen.last.get_by_role("button"))
        expect(chosen).to_have_count(n_before - 1)


def choose_pca(page: Page) -> None:
    """On the clusters page, for what is not about maps: UMAP is compiled for ten seconds in every new process."""
    press(page.locator('[class*="st-key-clusters-projection"]').get_by_text("PCA", exact=True))


def evaluate(page: Page) -> None:
    """Press the button. A press that falls into a redraw is lost, so it is repeated, as a person would; a run that is
    there already is only opened."""
    for _ in range(PRESSES):
        press(page.locator('[class*="st-key-"][class*="-submit"] button').first)
        try:
            page.wait_for_url(re.compile(r"run=.+"), timeout=PRESS_MILLISECONDS)
        except Lost:
            settled(page)
        else:
            return
    raise AssertionError(f"no run after {PRESSES} presses")


def downloaded(page: Page, table: str) -> list[dict[str, str]]:
    menu = page.get_by_role("button", name=re.compile(r"\bTables\b")).first
    menu.wait_for(timeout=RUN_MILLISECONDS)
    settled(page)  # a page that is still drawn closes what was opened
    press(menu)
    button = page.get_by_role("button", name=re.compile(rf"\b{table}\.csv")).first
    button.wait_for()
    with page.expect_download() as caught:
        press(button)
    page.keyboard.press("Escape")
    raw = Path(caught.value.path()).read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")  # Excel reads UTF-8 by this mark
    return list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"))))
