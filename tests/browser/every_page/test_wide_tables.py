"""Tables on a phone: one that goes on to the side says so until its end is reached, and its tools cover no text."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.browser.conftest import RECORD_VIOLATIONS
from tests.browser.server import Server
from tests.browser.visitor import RUN_MILLISECONDS, WAIT_MILLISECONDS, settled

SHADE = "(table) => Number(getComputedStyle(table, '::after').opacity)"
SCROLLER = ".dvn-scroller"


def test_a_wide_table_has_a_shade_until_its_end_and_its_tools_room_of_their_own(
    chromium: Browser, server: Server
) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    context.set_default_timeout(WAIT_MILLISECONDS)
    context.add_init_script(RECORD_VIOLATIONS)
    page = context.new_page()
    page.goto(f"{server.url}/fill_mask")
    page.locator(".st-key-finding").wait_for(timeout=RUN_MILLISECONDS)
    settled(page)
    table = page.locator('[data-testid="stDataFrame"]').first
    scroller = table.locator(SCROLLER)
    assert scroller.evaluate("(inner) => inner.scrollWidth > inner.clientWidth")
    assert table.evaluate(SHADE) == 1
    scroller.evaluate("(inner) => inner.scrollTo(inner.scrollWidth, 0)")
    page.wait_for_function(f"(table) => ({SHADE})(table) === 0", arg=table.element_handle())
    tools, found = page.locator('[data-testid="stElementToolbar"]').first, page.locator(".st-key-finding")
    expect(tools).to_be_visible()
    lower, upper = tools.bounding_box(), found.bounding_box()
    assert lower is not None and upper is not None and lower["y"] >= upper["y"] + upper["height"]
    context.close()
