"""What a visitor does on every page: open it, wait until it is drawn, press, upload, evaluate, download."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as Lost

from tests.browser.server import Server

WAIT_MILLISECONDS = 180_000  # for the effect of a click; a machine that runs tests is busy
RUN_MILLISECONDS = 600_000
PRESSES, PRESS_MILLISECONDS = 3, 20_000
# True once for 200 ms of this call no script has run, nothing that was asked of the server lacks an answer, and no part
# of the page is stale or on its way: until then elements move. A page that asks by the clock may never be without a
# question, on a busy machine: after 15 s it is enough that no script runs and nothing is stale.
QUIET = """(call) => {
    const isStrict = () => performance.now() - window.callSince < 15000;
    if (window.asked === undefined) {
        window.asked = 0;
        const send = WebSocket.prototype.send;
        const turn = (asked) => {
            window.asked = asked;
            if (isStrict()) window.quietSince = undefined;
        };
        WebSocket.prototype.send = function (...given) {
            if (!this.isHeard) {
                this.isHeard = true;
                this.addEventListener("message", () => turn(0));
            }
            turn(1);
            return send.apply(this, given);
        };
    }
    const app = document.querySelector('[data-testid="stApp"]'), now = performance.now();
    if (window.quietCall !== call) [window.quietCall, window.quietSince, window.callSince] = [call, undefined, now];
    const isUnderWay = isStrict() && (window.asked || app?.querySelector('[data-testid="stSkeleton"]'));
    const quiet = app && !isUnderWay && app.dataset.testConnectionState === "CONNECTED"
        && app.dataset.testScriptState === "notRunning" && !app.querySelector('[data-stale="true"]');
    window.quietSince = quiet ? window.quietSince ?? now : undefined;
    return quiet && now - window.quietSince >= 200;
}"""
CALLS = itertools.count(1)


def settled(page: Page) -> None:
    """Until the page is drawn, however long it computes; no error of Streamlit's own on it.

    The first visit of the home page evaluates the samples.
    """
    page.wait_for_selector("h1", timeout=WAIT_MILLISECONDS)
    page.wait_for_function(QUIET, arg=next(CALLS), timeout=RUN_MILLISECONDS)
    expect(page.locator('[data-testid="stException"]')).to_have_count(0)


def too_wide(page: Page) -> int:
    """By how many pixels a page goes on to the side: Streamlit scrolls its main part, so the document always fits."""
    return int(page.locator('[data-testid="stMain"]').evaluate("(main) => main.scrollWidth - main.clientWidth"))


def violations(page: Page) -> list[str]:
    """What the Content-Security-Policy kept the page from since it was loaded."""
    return list(page.evaluate("window.violations ?? []"))


def unfold(element: Locator) -> None:
    """Open the drawer that an element is in, where that is closed."""
    settled(element.page)
    drawer = element.locator("xpath=self::*[not(ancestor-or-self::summary)]/ancestor::details[not(@open)]")
    if drawer.count():
        drawer.first.locator("summary").first.click()
        settled(element.page)


def press(button: Locator) -> None:
    """Click it where it stays: one that moves between the button's going down and up is missed."""
    unfold(button)
    button.wait_for()
    settled(button.page)
    button.click()


def press_key(page: Page, key: str, effect: Locator) -> None:
    """A key that falls into a redraw is lost, so it is pressed again, as a person would."""
    for _ in range(PRESSES):
        if effect.is_visible():
            return
        page.keyboard.press(key)
        try:
            effect.wait_for(timeout=PRESS_MILLISECONDS)
        except Lost:
            settled(page)
    expect(effect).to_be_visible()


def click_until(page: Page, place: Callable[[], tuple[float, float]], effect: Locator) -> None:
    """Click at a place that is measured just before, until there is the effect.

    A click into a redraw, or on what has moved since it was measured, is lost.
    """
    for _ in range(PRESSES):
        settled(page)
        if effect.is_visible():
            return
        page.mouse.click(*place())
        try:
            effect.wait_for(timeout=PRESS_MILLISECONDS)
        except Lost:
            continue
        return
    raise AssertionError(f"no effect of {PRESSES} clicks")


def inside(element: Locator, x: float, y: float) -> Callable[[], tuple[float, float]]:
    """Where on the screen a place of an element is, in pixels from its upper left corner, whenever it is asked."""

    def place() -> tuple[float, float]:
        element.scroll_into_view_if_needed()
        box = element.bounding_box()
        assert box is not None
        return box["x"] + x, box["y"] + y

    return place


def address(server: Server, name: str) -> str:
    return server.url + ("/" if name == "home" else f"/{name}")


def upload(page: Page, path: Path) -> None:
    # A guided reading names the choice, too.
    press(page.locator('[class*="st-key-"][class*="-source"]').get_by_text("My file", exact=True).first)
    page.locator('input[type="file"]').first.set_input_files(path)


def choose_one_model(page: Page) -> None:
    """Leave the first of the models that the form begins with."""
    chosen = page.locator('[class*="st-key-"][class*="-models"] [data-tag]')
    unfold(chosen.first)
    chosen.first.wait_for()
    while (n_before := chosen.count()) > 1:
        press(chosen.last.get_by_role("button"))
        expect(chosen).to_have_count(n_before - 1)


def choose_models(page: Page, *names: str) -> None:
    """Have these models in the form, and no others: each is typed, as a path or an id is."""
    choose_one_model(page)
    kind = page.url.split("?")[0].rsplit("/", 1)[1].replace("_", "-")
    box, chosen = (page.locator(f'[class*="st-key-{kind}-models"]').locator(inner) for inner in ("input", "[data-tag]"))
    for n, name in enumerate(names, start=2):
        box.fill(name)
        box.press("Enter")
        box.press("Escape")  # the list of the other models lies over what follows
        expect(chosen).to_have_count(n)
        settled(page)
    press(chosen.first.get_by_role("button"))
    expect(chosen).to_have_count(len(names))


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
            if re.search(r"run=.+", page.url):
                return
        else:
            return
    raise AssertionError(f"no run after {PRESSES} presses")


def closed(page: Page) -> None:
    """Close the menu that is open; an Escape that falls into a redraw is lost."""
    for _ in range(PRESSES):
        page.keyboard.press("Escape")
        try:
            page.locator('[data-testid="stPopoverBody"]').first.wait_for(state="hidden", timeout=PRESS_MILLISECONDS)
        except Lost:
            continue
        return
    raise AssertionError("the menu stays open")


def downloaded(page: Page, table: str) -> list[dict[str, str]]:
    menu = page.get_by_role("button", name=re.compile(r"\bTables\b")).first
    menu.wait_for(timeout=RUN_MILLISECONDS)
    button = page.get_by_role("button", name=re.compile(rf"\b{table}\.csv")).first
    for _ in range(2 * PRESSES):  # a page that is still drawn closes what was opened
        # One that is open and still empty would be closed by another press.
        if not page.locator('[data-testid="stPopoverBody"]').first.is_visible():
            press(menu)
        try:
            button.wait_for(timeout=PRESS_MILLISECONDS)
        except Lost:
            continue
        break
    with page.expect_download() as caught:
        press(button)
    closed(page)
    raw = Path(caught.value.path()).read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")  # Excel reads UTF-8 by this mark
    return list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"))))
