"""What a visitor waits for, in the machine's own Chromium: the start, the first page, a change of page, large runs."""

from __future__ import annotations

import shutil
import statistics
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
from playwright.sync_api import Page, sync_playwright

from tests.benchmarks.measuring import Budget, ProcessorTime, wall_seconds
from tests.benchmarks.stored_runs import MOST_POINTS, N_PAIRS, N_POINTS, stored
from tests.browser.conftest import ARGUMENTS
from tests.browser.server import Server, serving

READY_SECONDS, HOME_SECONDS, PAGE_SECONDS = 3, 5, 2
RUN_SECONDS, TOGGLE_SECONDS, CLASS_SECONDS, COMPARE_SECONDS = 3, 0.3, 0.3, 1
MOST_SECONDS = 8  # until maps of MOST_POINTS are drawn
FRAMES = 30.0
DRAWN_BY = "Chromium without a display draws with the processor, not with a graphics card."
MEMORY_MIB, MOST_MEMORY_MIB = 500e6 / 2**20, 1e9 / 2**20
ROUNDS = 3
TIMEOUT = 120_000  # milliseconds
NOT_RUNNING = "!document.querySelector('[data-testid=\"stStatusWidget\"]')"
# Two canvases have coloured pixels; what lies over a map has none.
MAPS_DRAWN = """canvases => {
  const maps = canvases.filter(canvas => canvas.width > 200 && canvas.getContext('2d'));
  return 2 <= maps.filter(map => {
    const { data } = map.getContext('2d').getImageData(0, 0, map.width, map.height);
    for (let i = 0; i < data.length; i += 4) {
      const parts = [data[i], data[i + 1], data[i + 2]];
      if (data[i + 3] > 200 && Math.max(...parts) - Math.min(...parts) > 60) return true;
    }
    return false;
  }).length;
}"""
# A promise that is kept once the script of the page has run again.
WATCH_RERUN = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  let ran = false;
  window.rerun = new Promise(done => new MutationObserver((_, observer) => {
    const state = app.getAttribute('data-test-script-state');
    if (state === 'running') ran = true;
    else if (ran && state === 'notRunning') { observer.disconnect(); done(); }
  }).observe(app, { attributes: true }));
}"""
# Frames a second while the first map is moved a step to and fro in every frame, as a dragged map is.
MOVED_FRAMES = """(canvas, seconds) => new Promise(done => {
  let [frames, start] = [0, null];
  function frame(now) {
    start ??= now;
    if (now - start >= 1000 * seconds) return done(1000 * frames / (now - start));
    const key = frames++ % 2 ? 'ArrowLeft' : 'ArrowRight';
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    requestAnimationFrame(frame);
  }
  requestAnimationFrame(frame);
})"""
MOVED_SECONDS = 3
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


class Waits:
    """Seconds that a visitor waited, by what for, and what computed the last time."""

    def __init__(self) -> None:
        self.samples: dict[str, list[float]] = defaultdict(list)
        self.reasons: dict[str, str] = {}

    def measure(self, name: str, server: Server, call: Callable[[], object]) -> None:
        """Measure one more wait."""
        processors = ProcessorTime(server.process.pid)
        self.samples[name].append(wall_seconds(call))
        self.reasons[name] = processors.words("the server")


def budgets(folder: Path) -> list[Budget]:
    """Nothing, where there is no Chromium. The home page is complete when its two figures stand on it."""
    executable = shutil.which("chromium")
    if executable is None:
        return []
    waits, memory = Waits(), defaultdict[str, list[float]](list)
    pairs, clusters, two_models, large = stored(folder / "data")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        for number in range(ROUNDS):
            # the first round evaluates the samples; later ones reuse the runs, as every later visit does
            with serving(folder / "data") as server:
                waits.samples["ready"].append(server.ready_seconds)
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                page.set_default_timeout(TIMEOUT)
                waits.measure("home" if number else "first", server, partial(_home, page, server.url))
                waits.measure("change", server, partial(_change, page))
                memory["start"].append(_mib(server))
                _large_runs(page, server, pairs, clusters, waits)
                page.goto(f"{server.url}/minimal_pairs?run={two_models}")  # as whoever compares has it open
                page.wait_for_selector(".js-plotly-plot")
                waits.measure("compare", server, partial(_compare, page, server.url, two_models))
                memory["end"].append(_mib(server))
                _maps(page, server, large, waits, "most ")
                memory["most"].append(_mib(server))
                page.close()
        browser.close()

    def budget(work: str, name: str, limit: float) -> Budget:
        return Budget(work, statistics.median(waits.samples[name]), limit, why=waits.reasons.get(name, ""))

    return [
        budget("Server ready after its start", "ready", READY_SECONDS),
        budget("Home page complete at the first visit after a start", "home", HOME_SECONDS),
        budget("Home page at the very first visit, had `make run` not evaluated the samples", "first", HOME_SECONDS),
        budget("Change to another page", "change", PAGE_SECONDS),
        budget(f"A run of {N_PAIRS:,} minimal pairs opened by its link", "pairs", RUN_SECONDS),
        budget(f"Another normalisation at {N_PAIRS:,} pairs, the whole page drawn", "toggle", TOGGLE_SECONDS),
        budget(
            f"Two models of {N_PAIRS:,} minimal pairs compared, numbers, figure and pairs drawn",
            "compare",
            COMPARE_SECONDS,
        ),
        budget(f"A run of {N_POINTS:,} points opened by its link, two maps drawn", "maps", RUN_SECONDS),
        budget(f"A class hidden in two maps of {N_POINTS:,} points", "class", CLASS_SECONDS),
        Budget(
            f"Frames a second while one of two maps of {N_POINTS:,} points is moved",
            statistics.median(waits.samples["frames"]),
            FRAMES,
            "/s",
            waits.reasons["frames"],
            more_is_better=True,
        ),
        budget(f"A run of {MOST_POINTS:,} points opened by its link, two maps drawn", "most maps", MOST_SECONDS),
        budget(f"A class hidden in two maps of {MOST_POINTS:,} points", "most class", CLASS_SECONDS),
        Budget(
            f"Frames a second while one of two maps of {MOST_POINTS:,} points is moved",
            statistics.median(waits.samples["most frames"]),
            FRAMES,
            "/s",
            waits.reasons["most frames"],
            more_is_better=True,
        ),
        Budget(
            "Memory of the web process after the home page and one other",
            statistics.median(memory["start"]),
            MEMORY_MIB,
            "MiB",
        ),
        Budget("Memory of the web process after both large runs", statistics.median(memory["end"]), MEMORY_MIB, "MiB"),
        Budget(
            f"Memory of the web process after the run of {MOST_POINTS:,} points too",
            statistics.median(memory["most"]),
            MOST_MEMORY_MIB,
            "MiB",
        ),
    ]


def _home(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length >= 2")


def _change(page: Page) -> None:
    page.locator('[data-testid="stSidebarNavLink"]').filter(has_text="Models").click()
    page.wait_for_function("document.querySelector('h1')?.innerText.includes('Models')")


def _compare(page: Page, url: str, run_id: str) -> None:
    page.goto(f"{url}/compare?a-run={run_id}&a-model=m&b-run={run_id}&b-model=n")
    page.wait_for_selector(".js-plotly-plot")
    page.wait_for_function(NOT_RUNNING)


def _large_runs(page: Page, server: Server, pairs: str, clusters: str, waits: Waits) -> None:
    def open_pairs() -> None:
        page.goto(f"{server.url}/minimal_pairs?run={pairs}")
        page.get_by_text(f"{N_PAIRS:,}").first.wait_for()
        page.wait_for_selector(".js-plotly-plot")
        page.wait_for_function(NOT_RUNNING)

    def toggle(score: str) -> None:
        page.evaluate(WATCH_RERUN)
        page.locator('[class*="st-key-minimal-pairs-normalization"] button', has_text=score).first.click()
        page.evaluate("() => window.rerun")

    waits.measure("pairs", server, open_pairs)
    for score in ("MeanLP", "PenLP"):
        waits.measure("toggle", server, partial(toggle, score))
    _maps(page, server, clusters, waits)


def _maps(page: Page, server: Server, clusters: str, waits: Waits, prefix: str = "") -> None:
    """Open a run with two maps, hide a class and move a map; the waits are named with the prefix."""

    def open_maps() -> None:
        page.goto(f"{server.url}/clusters?run={clusters}")
        # in a shadow tree, which locators look into
        while not page.locator("canvas").evaluate_all(MAPS_DRAWN):
            page.wait_for_timeout(20)

    def hide_class() -> None:
        page.locator('.legend [aria-pressed="true"]').first.click()
        page.wait_for_selector('.legend [aria-pressed="false"]')
        page.evaluate(TWO_FRAMES)

    waits.measure(f"{prefix}maps", server, open_maps)
    waits.measure(f"{prefix}class", server, hide_class)
    processors = ProcessorTime(server.process.pid)
    waits.samples[f"{prefix}frames"].append(
        page.locator('canvas[role="img"]').first.evaluate(MOVED_FRAMES, MOVED_SECONDS)
    )
    waits.reasons[f"{prefix}frames"] = f"{DRAWN_BY} {processors.words('the server')}"


def _mib(server: Server) -> float:
    return float(psutil.Process(server.process.pid).memory_info().rss / 2**20)
