"""Tables on a phone: one that goes on to the side says so until its end is reached, and its tools cover no text."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.server import serving
from tests.browser.visitor import WAIT_MILLISECONDS, settled, too_wide
from tests.stored_runs import directories as stored_runs

SHADE = "(table) => Number(getComputedStyle(table, '::after').opacity)"


def test_a_wide_table_has_a_shade_until_its_end_and_its_tools_room_of_their_own(
    chromium: Browser, tmp_path: Path
) -> None:
    version = max(stored_runs.VERSIONS)
    stored_runs.copied(version, tmp_path / "data")
    run_id = next(run_id for run_id, kind in stored_runs.kinds(version).items() if kind == "fill-mask")
    with serving(tmp_path / "data") as server:
        context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
        context.set_default_timeout(WAIT_MILLISECONDS)
        page = context.new_page()
        page.goto(f"{server.url}/fill_mask?run={run_id}")
        found = page.locator(".st-key-finding")
        found.wait_for()
        settled(page)
        table = page.locator('[data-testid="stDataFrame"]').first
        scroller = table.locator(".dvn-scroller")
        assert scroller.evaluate("(inner) => inner.scrollWidth > inner.clientWidth")
        assert table.evaluate(SHADE) == 1
        scroller.evaluate("(inner) => inner.scrollTo(inner.scrollWidth, 0)")
        page.wait_for_function(f"(table) => ({SHADE})(table) === 0", arg=table.element_handle())
        tools = page.locator('[data-testid="stElementToolbar"]').first
        expect(tools).to_be_visible()
        lower, upper = tools.bounding_box(), found.bounding_box()
        assert lower is not None and upper is not None and lower["y"] >= upper["y"] + upper["height"]
        context.close()


def test_a_wide_table_of_text_moves_alone_and_by_keys(chromium: Browser, tmp_path: Path) -> None:
    """The page of clusters went 229 pixels beyond a phone's screen, with all that stands on it."""
    version = max(stored_runs.VERSIONS)
    stored_runs.copied(version, tmp_path / "data")
    run_id = next(run_id for run_id, kind in stored_runs.kinds(version).items() if kind == "clusters")
    with serving(tmp_path / "data") as server:
        context = chromium.new_context(viewport={"width": 390, "height": 844})
        context.set_default_timeout(WAIT_MILLISECONDS)
        page = context.new_page()
        page.goto(f"{server.url}/clusters?run={run_id}")
        page.locator(".st-key-finding").wait_for()
        settled(page)
        assert too_wide(page) == 0
        box = page.locator('[data-testid="stMarkdownContainer"]:has(> table)').first
        assert box.evaluate("(box) => box.scrollWidth > box.clientWidth")
        box.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("(box) => box.scrollLeft > 0", arg=box.element_handle())
        page.set_viewport_size({"width": 1366, "height": 844})
        page.wait_for_function("(box) => !box.hasAttribute('tabindex')", arg=box.element_handle())
        context.close()
