"""Each evaluation from the keyboard alone: the form is reached, its sample run, the result and its choices reached."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard.faces import FACES
from tests.browser.server import Server, serving
from tests.browser.visitor import WAIT_MILLISECONDS, closed, press_key, settled
from tests.stored_runs import directories as stored_runs

VERSION = max(stored_runs.VERSIONS)
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
RESULT = ", ".join(f'[class*="st-key-{name}"] button' for name in ("figure-downloads", "table-downloads", "export"))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data_dir = tmp_path_factory.mktemp("keyboard") / "data"
    stored_runs.copied(VERSION, data_dir)
    with serving(data_dir) as running:
        yield running


@pytest.fixture(scope="module")
def visitor(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(WAIT_MILLISECONDS)
    yield context.new_page()
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
    visitor.goto(f"{stored.url}/{FACES[kind].page.name}")
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
