"""Every page by axe-core, empty and with a result: WCAG 2.2 AA and best practices, light and dark, wide and narrow.

And each evaluation from the keyboard alone: the form is reached, its sample run, the result and its choices reached.
All over the same server and in the same browser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard.faces import FACES
from dashboard.language import COOKIE
from engine.messages.languages import LANGUAGES
from tests.browser.server import Server, serving
from tests.browser.visitor import WAIT_MILLISECONDS, closed, press_key, settled
from tests.stored_runs import directories as stored_runs

VERSION = max(stored_runs.VERSIONS)
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RUN_AXE = """async () => (await axe.run(document, {rules: {"label-content-name-mismatch": {enabled: true}}, runOnly: [
    "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})).violations.flatMap((rule) =>
    rule.nodes.map((node) => ({rule: rule.id, target: node.target.join(" "), html: node.html.slice(0, 200),
                               why: node.failureSummary, inside: document.querySelector(node.target[0])
                                   ?.closest('[data-testid="stDataFrame"]') ? "dataframe" : ""})))"""
# Streamlit's own, which no style or role from outside mends: (rule, inside which part) -> why.
STREAMLITS = {("empty-table-header", "dataframe"): "the column of boxes by which rows are chosen has no heading"}
IS_DARK = "() => getComputedStyle(document.querySelector('.stApp')).colorScheme === 'dark'"
# Whether no colour is on its way from light to dark. What follows how far a table is scrolled is not of time.
STILL = """() => document.getAnimations().every((one) => one.playState !== "running"
    || one.timeline !== document.timeline || one.effect.getComputedTiming().endTime === Infinity)"""
WIDE, NARROW = {"width": 1440, "height": 1000}, {"width": 390, "height": 844}
EMPTY = (
    "",
    *sorted(
        {*(face.page.name for face in FACES.values()), "compare", "agreement", "lessons", "runs", "datasets", "models"}
    ),
)
KINDS = [kind for kind in FACES if kind != "dictionary"]  # which has a form on a tab of its own
MOST_STOPS = 220
# Where the focus is: whether it is in what matches a selector, also through the shadow root of a component.
FOCUSED = """selector => {
  let element = document.activeElement;
  for (; element; element = element.shadowRoot ? element.shadowRoot.activeElement : null) {
    if (element.closest(selector)) return true;
  }
  return false;
}"""
# Where the finding, the first number or figure of a result begins, how high the notices above it are, and the controls
# above it: a group of buttons of which one is chosen is one.
FIRST_RESULT = """() => {
    const main = document.querySelector('[data-testid="stMain"]');
    const seen = (one) => one.checkVisibility({visibilityProperty: true}) && one.getBoundingClientRect().height > 0;
    const top = (one) => one.getBoundingClientRect().top + main.scrollTop;
    const all = (selector) => [...main.querySelectorAll(selector)].filter(seen);
    const numbers = all("summary").filter((one) => /\\d\\.\\d\\d/.test(one.textContent));
    const first = Math.min(...numbers.map(top), ...all(`.st-key-finding, [data-testid="stMetric"],
        [data-testid="stMarkdown"] table, [data-testid="stDataFrame"], .js-plotly-plot`).map(top));
    const above = (selector) => all(selector).filter((one) => top(one) < first);
    const controls = above('button, input, textarea, summary, a[href], [role="slider"]').filter(
        (one) => !one.closest('[data-testid="stTooltipIcon"], [data-testid="stDataFrame"]'));
    const notices = above('[data-testid="stCaptionContainer"]');
    return {
        first: first - notices.reduce((sum, one) => sum + one.getBoundingClientRect().height + 16, 0),
        controls: [...new Set(controls.map((one) => one.closest('[data-testid="stButtonGroup"]') ?? one))].length,
    };
}"""
LOWEST_FIRST_RESULT = {(1366, 768): 330, (390, 844): 420}
MOST_CONTROLS = 6
RESULT = ", ".join(f'[class*="st-key-{name}"] button' for name in ("figure-downloads", "table-downloads", "export"))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A dashboard over runs that are stored with the tests; of those that the keyboard submits it begins one."""
    data_dir = tmp_path_factory.mktemp("stored") / "data"
    stored_runs.copied(VERSION, data_dir)
    with serving(data_dir, environment={"HAKARI_RUNNING": "1"}) as running:
        yield running


@pytest.fixture(scope="module")
def visitor(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context()
    context.set_default_timeout(WAIT_MILLISECONDS)
    yield context.new_page()
    context.close()


def violations(page: Page, address: str) -> dict[str, list[dict[str, Any]]]:
    """Those of the page as it is opened, light and wide, and once the browser is dark and narrow."""
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light")
    page.goto(address)
    by_look = {"light and wide": violated(page)}
    page.set_viewport_size(NARROW)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(IS_DARK)
    by_look["dark and narrow"] = violated(page)
    return {look: nodes for look, nodes in by_look.items() if nodes}


def violated(page: Page) -> list[dict[str, Any]]:
    settled(page)
    page.wait_for_function(STILL)
    page.evaluate(AXE)
    return [node for node in page.evaluate(RUN_AXE) if (node["rule"], node["inside"]) not in STREAMLITS]


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_page_violates_no_rule(name: str, visitor: Page, stored: Server) -> None:
    assert violations(visitor, f"{stored.url}/{name}") == {}


@pytest.mark.parametrize("kind", FACES)
def test_a_page_with_a_result_violates_no_rule(kind: str, visitor: Page, stored: Server) -> None:
    runs = {of_kind: run_id for run_id, of_kind in stored_runs.kinds(VERSION).items()}
    assert violations(visitor, f"{stored.url}/{FACES[kind].page.name}?run={runs[kind]}") == {}


def test_a_popover_is_as_dark_as_the_app(visitor: Page, stored: Server) -> None:
    visitor.set_viewport_size(WIDE)
    visitor.emulate_media(color_scheme="dark")
    visitor.goto(f"{stored.url}/minimal_pairs")
    settled(visitor)
    if visitor.locator('[class*="-inputs"] details:not([open])').count():  # the sample's result is shown
        visitor.locator('[class*="-inputs"] summary').first.click()
        settled(visitor)
    visitor.locator('[class*="minimal-pairs-settings"] button').first.click()
    body = visitor.locator('[data-testid="stPopoverBody"]')
    body.locator('[data-testid="stButtonGroup"]').first.wait_for()
    assert body.evaluate("one => getComputedStyle(one).colorScheme") == "dark"
    assert [
        node for node in violated(visitor) if "stPopoverBody" in node["target"] or node["rule"] == "color-contrast"
    ] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_result_comes_first(kind: str, visitor: Page, stored: Server) -> None:
    runs = {of_kind: run_id for run_id, of_kind in stored_runs.kinds(VERSION).items()}
    for (width, height), lowest in LOWEST_FIRST_RESULT.items():
        visitor.set_viewport_size({"width": width, "height": height})
        for language in LANGUAGES:
            visitor.context.add_cookies([{"name": COOKIE, "value": language, "url": stored.url}])
            visitor.goto(f"{stored.url}/{FACES[kind].page.name}?run={runs[kind]}")
            settled(visitor)
            found = visitor.evaluate(FIRST_RESULT)
            assert found["first"] <= lowest and found["controls"] <= MOST_CONTROLS, (width, language, found)
    visitor.context.clear_cookies(name=COOKIE)


def test_two_compared_runs_violate_no_rule(visitor: Page, stored: Server) -> None:
    runs = {of_kind: run_id for run_id, of_kind in stored_runs.kinds(VERSION).items()}
    assert violations(visitor, f"{stored.url}/compare?a-run={runs['alignment']}") == {}


@pytest.mark.parametrize(("locale", "language"), [("ja-JP", "ja"), ("en-GB", "en"), ("fr-FR", "en")])
def test_the_document_has_the_language_of_its_texts(
    locale: str, language: str, chromium: Browser, stored: Server
) -> None:
    context = chromium.new_context(locale=locale)
    context.set_default_timeout(WAIT_MILLISECONDS)
    page = context.new_page()
    page.goto(f"{stored.url}/runs")
    settled(page)
    expect(page.locator("html")).to_have_attribute("lang", language)
    context.close()


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the focus is in what matches; the focus never stays where it is."""
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED, selector):
            return
    raise AssertionError(f"no Tab reaches {selector}")


@pytest.mark.parametrize("kind", KINDS)
def test_an_evaluation_needs_no_mouse(kind: str, visitor: Page, stored: Server) -> None:
    visitor.set_viewport_size(WIDE)
    visitor.goto(f"{stored.url}/{FACES[kind].page.name}")
    settled(visitor)
    if visitor.locator('[class*="-inputs"] details:not([open])').count():  # the sample's result is shown
        tab_to(visitor, '[class*="-inputs"] summary')
        visitor.keyboard.press("Enter")
        settled(visitor)
    tab_to(visitor, '[class*="-submit"] button')
    visitor.keyboard.press("Enter")
    visitor.wait_for_url(re.compile("run=.+"))
    # The result is one that is stored: what is proved here is the way to it, not the time that a sample takes.
    run_id = next(run_id for run_id, of_kind in stored_runs.kinds(VERSION).items() if of_kind == kind)
    visitor.goto(f"{stored.url}/{FACES[kind].page.name}?run={run_id}")
    settled(visitor)
    tab_to(visitor, RESULT)
    press_key(visitor, "Enter", visitor.locator('[data-testid="stPopoverBody"]'))
    closed(visitor)
    expect(visitor.locator('[data-testid="stPopoverBody"]')).to_have_count(0)


def test_the_tokens_of_a_pair_are_walked_chosen_and_released(visitor: Page, stored: Server) -> None:
    visitor.set_viewport_size(WIDE)
    run_id = next(run_id for run_id, of_kind in stored_runs.kinds(VERSION).items() if of_kind == "alignment")
    visitor.goto(f"{stored.url}/{FACES['alignment'].page.name}?run={run_id}")
    visitor.locator(".alignment .token").first.wait_for()
    settled(visitor)
    tab_to(visitor, ".alignment .token")
    visitor.keyboard.press("ArrowRight")
    chosen = visitor.locator('.alignment .token[aria-pressed="true"]')
    visitor.keyboard.press("Enter")
    expect(chosen).to_have_count(1)
    visitor.keyboard.press("Enter")
    expect(chosen).to_have_count(0)
    visitor.keyboard.press(" ")
    expect(chosen).to_have_count(1)
    visitor.keyboard.press("Escape")
    expect(chosen).to_have_count(0)
    tab_to(visitor, ".matrix .frame")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        visitor.keyboard.press(key)
    cell = visitor.locator(".matrix .status")
    expect(cell).to_contain_text("similarity")
    visitor.keyboard.press("Escape")
    expect(cell).to_contain_text("Reference across")
