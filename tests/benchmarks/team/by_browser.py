"""A member in a real Chromium: the same visits as `by_socket` makes, for a thread of its own."""

from __future__ import annotations

import os
import random
import re
import shutil
import threading
import time
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, sync_playwright

from tests.benchmarks.team.files import MemberFile, member_file
from tests.benchmarks.team.journal import RUN, Journal, SharedRun
from tests.browser.conftest import ARGUMENTS
from tests.browser.visitor import WAIT_MILLISECONDS, evaluate, press, settled, upload

PATH, KIND = "/minimal_pairs", "minimal-pairs"
RUN_MILLISECONDS = 600_000
SCORES = ("MeanLP", "PenLP", "LP")
SUFFIX = " (Chromium)"
# Members' browsers are on machines of their own: here they draw with what the server leaves of the processors.
NICENESS = 5


def executable() -> str | None:
    """The machine's Chromium."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class BrowserMember:
    """One member with a browser of their own. The times hold the 0.2 s for which a page has to be quiet."""

    def __init__(
        self, url: str, member: int, address: str, journal: Journal, think_seconds: tuple[float, float], folder: Path
    ) -> None:
        """think_seconds: the least and the most that pass between two actions. folder: for the files of the uploads."""
        self._url, self._member, self._address, self._journal = url, member, address, journal
        self._think_seconds = think_seconds
        self._folder = folder
        self._draw = random.Random(member)
        self._n_files = 0
        self._who = f"{address} (Chromium)"

    def stay(self, until: float, arrival_seconds: float) -> None:
        """Visit again and again until `until` (of `time.monotonic`); what is under way then is finished."""
        time.sleep(self._draw.uniform(0, arrival_seconds))
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)  # of this thread and what it starts
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
            try:
                context = self._signed_in(browser.new_context(viewport={"width": 1280, "height": 900}))
                while time.monotonic() < until:
                    self._attempt(context)
            except Exception as error:
                self._journal.errors.append(f"{self._who}: {type(error).__name__}: {error}"[:400])
            finally:
                browser.close()

    def _attempt(self, context: BrowserContext) -> None:
        page = context.new_page()
        try:
            self._visit(page)
            self._journal.n_visits += 1
        except Exception as error:
            self._journal.errors.append(f"{self._who}: {type(error).__name__}: {error}"[:400])
            time.sleep(1)
        finally:
            page.close()

    def _signed_in(self, context: BrowserContext) -> BrowserContext:
        context.set_default_timeout(WAIT_MILLISECONDS)
        page = context.new_page()
        page.goto(self._url)
        press(page.get_by_role("button", name="Sign in"))
        page.get_by_role("button", name=self._address, exact=True).click()  # the provider's page
        page.wait_for_selector('[data-testid="stSidebar"]')
        page.close()
        return context

    def _visit(self, page: Page) -> None:
        self._open(page, "home page", "/")
        file = member_file(self._member, self._n_files)
        self._n_files += 1
        link = self._evaluated(page, file)
        self._open(page, "result, opened by its link", link, until='[data-testid="stMetric"]')
        self._require_answer(page, file)
        self._toggle_and_share(page, link, file)
        others = [shared for shared in self._journal.shared if shared.member != self._member]
        if others:
            shared = self._draw.choice(others)
            self._open(
                page,
                "another's result, opened by its link",
                f"{PATH}?run={shared.run_id}",
                until='[data-testid="stMetric"]',
            )
            self._require_answer(page, shared.file)
        self._open(page, "list of runs", "/runs")

    def _evaluated(self, page: Page, file: MemberFile) -> str:
        """The link of the run of a new file, once its result is on the page."""
        path = self._folder / file.name
        path.write_bytes(file.content)
        self._open(page, "page of an evaluation, with the sample's result", PATH)
        self._think()
        with self._journal.timed(f"file uploaded and read{SUFFIX}"):
            upload(page, path)
            page.get_by_text(re.compile(r"Read as ")).first.wait_for()
            settled(page)
        self._think()
        start = time.perf_counter()
        with self._journal.timed(f"run submitted, its progress shown{SUFFIX}"):
            evaluate(page)
        page.get_by_text("Shared with the team").wait_for(timeout=RUN_MILLISECONDS)
        self._journal.seconds[RUN + SUFFIX].append(time.perf_counter() - start)
        self._journal.n_runs += 1
        return page.url.removeprefix(self._url)

    def _toggle_and_share(self, page: Page, link: str, file: MemberFile) -> None:
        for score in SCORES:
            self._think()
            button = page.locator(f'[class*="st-key-{KIND}-normalization-"]').get_by_text(score, exact=True).first
            with self._journal.timed(f"another score chosen{SUFFIX}"):
                press(button)
                settled(page)
        self._require_answer(page, file)
        with self._journal.timed(f"run shared{SUFFIX}"):
            press(page.get_by_text("Shared with the team"))
            settled(page)
        run_id = re.sub(r".*run=([^&]+).*", r"\1", link)
        self._journal.shared.append(SharedRun(run_id, self._member, file))

    def _require_answer(self, page: Page, file: MemberFile) -> None:
        metrics = []
        for metric in page.locator('[data-testid="stMetric"]').all():
            lines = [line for line in metric.inner_text().splitlines() if line.strip()]
            metrics.append((lines[0], lines[1]) if len(lines) > 1 else ("", ""))
        self._journal.require_answer(self._who, file, metrics, [page.locator('[data-testid="stMain"]').inner_text()])

    def _open(self, page: Page, kind: str, path: str, until: str = "") -> None:
        """Open a page, and wait until it is quiet; where there is something to be seen, until that is there before."""
        self._think()
        with self._journal.timed(kind + SUFFIX):
            page.goto(self._url + path)
            if until:
                page.locator(until).first.wait_for()
            settled(page)

    def _think(self) -> None:
        time.sleep(self._draw.uniform(*self._think_seconds))
