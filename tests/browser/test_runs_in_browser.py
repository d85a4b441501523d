"""Without sign-in: each browser's own list by its cookie, everybody's list, opening a run from the table, deleting."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from dashboard.runs.listed import ROW_HEIGHT
from engine.runs.access.browsers import COOKIE
from tests.browser.server import serving
from tests.browser.visitor import RUN_MILLISECONDS, WAIT_MILLISECONDS, click_until, evaluate, inside, press, settled
from tests.stored_runs import directories as stored_runs

BOX, HEADER, ROW = 36, 35, ROW_HEIGHT  # pixels of the table: the column of boxes, the header, a row
TABLE = '[data-testid="stDataFrame"]'


def test_a_browsers_list_is_its_own_and_a_deletion_is_undone(chromium: Browser, data_dir: Path) -> None:
    stored_runs.copied(stored_runs.VERSIONS[0], data_dir)
    n_stored = len(stored_runs.kinds(stored_runs.VERSIONS[0]))
    contexts = [chromium.new_context(viewport={"width": width, "height": 900}) for width in (1280, 390)]
    for context in contexts:
        context.set_default_timeout(WAIT_MILLISECONDS)
    ann, ben = (context.new_page() for context in contexts)
    with serving(data_dir) as server:
        for page in (ann, ben):
            page.goto(f"{server.url}/runs")
            page.locator(TABLE).last.wait_for(timeout=RUN_MILLISECONDS)
            expect(page.get_by_text(f"{n_stored} runs.")).to_be_visible()  # everybody's, from before there were lists
        cookies = [
            next(cookie for cookie in context.cookies() if cookie["name"].startswith(COOKIE)) for context in contexts
        ]
        assert all(cookie["httpOnly"] and cookie["sameSite"] == "Lax" for cookie in cookies)
        assert cookies[0]["value"] != cookies[1]["value"]
        # Ann opens a run from the table and starts the same as a run of hers.
        click_until(
            ann,
            inside(ann.locator(TABLE).last, BOX + 20, HEADER + ROW / 2),
            ann.get_by_role("button", name="Copy link"),
        )
        ann.wait_for_url(re.compile(r"run=.+"))
        ann.goto(f"{server.url}/clusters")
        settled(ann)
        evaluate(ann)
        ann.get_by_role("button", name=re.compile(r"coordinates\.csv")).first.wait_for(timeout=RUN_MILLISECONDS)
        link = ann.url
        for page, n_own in ((ann, n_stored + 1), (ben, n_stored)):
            page.goto(f"{server.url}/runs")
            expect(page.get_by_text(f"{n_own} runs.")).to_be_visible()
            press(page.get_by_text("All runs here", exact=True))
            settled(page)
            expect(page.get_by_text(f"{n_stored + 1} runs.")).to_be_visible()
            click_until(
                page,
                inside(page.locator(TABLE).last, BOX / 2, HEADER + ROW / 2),
                page.get_by_role("button", name="Star"),
            )
        expect(ben.get_by_text("Only their owners can tag or delete them.")).to_be_visible()
        expect(ben.get_by_role("button", name="Delete")).to_have_count(0)
        press(ann.get_by_role("button", name="Delete"))
        expect(ann.get_by_text("Moved to the bin")).to_be_visible()
        ben.goto(link)
        expect(ben.get_by_text("There is no run at this link.")).to_be_visible()
        press(ann.get_by_role("button", name="Undo"))
        expect(ann.get_by_text(f"{n_stored + 1} runs.")).to_be_visible()
        ben.goto(link)
        ben.get_by_role("button", name=re.compile(r"coordinates\.csv")).first.wait_for(timeout=RUN_MILLISECONDS)
    for context in contexts:
        context.close()
