"""One state, one address, in a real browser: reload, the copied link in another browser, back and forward.

Runs that are stored with the tests, so that no model computes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.server import Server, serving
from tests.browser.visitor import QUIET, WAIT_MILLISECONDS, address, closed, press, settled
from tests.stored_runs import directories as stored_runs

VERSION = "0.1.0"
# What the page says, and what its choices are set to: without its canvases, whose text depends on what is in sight, and
# without its figures, which another test of each page compares, and what the clock changes.
TEXT = """() => {
    const drawn = document.querySelector('[data-testid="stMain"]'), main = drawn.cloneNode(true);
    const state = (part) => part.getAttribute("aria-pressed") ?? part.getAttribute("aria-checked") ?? part.value;
    const roots = [drawn, ...[...drawn.querySelectorAll("*")].map((part) => part.shadowRoot).filter(Boolean)];
    const choices = roots.flatMap((root) => [...root.querySelectorAll('[aria-pressed], [aria-checked], input')])
        .map(state).join("|");
    const left = '[data-testid="stPopoverBody"], [data-testid="stPlotlyChart"], [data-testid*="Icon"], '
        + 'canvas, style, script';
    main.querySelectorAll(left).forEach((part) => part.remove());
    return main.textContent.replace(/finished .*? ago|just now/g, "") + choices;
}"""

# True once that has been the same for a second, with no script running and no part still on its way: a script on a busy
# machine stands still for longer than a second.
STEADY = f"""() => {{
    if (!({QUIET})()) window.lastText = undefined;
    const now = ({TEXT})() + document.querySelectorAll('[data-testid="stSkeleton"]').length;
    if (now !== window.lastText) [window.lastText, window.since] = [now, performance.now()];
    return now.endsWith("0") && performance.now() - window.since >= 1000;
}}"""


def segment(key: str, label: str) -> Callable[[Page], None]:
    return lambda page: press(page.locator(f'[class*="st-key-{key}"]').get_by_text(label, exact=True).first)


def option(label: str, name: str | re.Pattern[str]) -> Callable[[Page], None]:
    def choose(page: Page) -> None:
        press(page.get_by_role("combobox", name=re.compile(label)).first)
        press(page.get_by_role("option", name=name).first)

    return choose


def hide_a_class(page: Page) -> None:
    press(page.locator(".legend button").first)


def idf_none(page: Page) -> None:
    press(page.locator('[class*="st-key-alignment-scoring-"] summary'))
    option("idf", "none")(page)


def open_section(page: Page) -> None:
    press(page.get_by_text("Scores by class and sentence"))


@dataclass(frozen=True)
class Case:
    """A page with a run of a kind, two choices on it, and what the address then says of them."""

    page: str
    kind: str
    choices: tuple[Callable[[Page], None], ...]
    names: tuple[str, ...]
    run: str = "run"


CASES = (
    Case(
        "alignment",
        "alignment",
        (segment("alignment-penalty-", "none"), idf_none),
        ("penalty", "idf"),
    ),
    Case(
        "minimal_pairs",
        "minimal-pairs",
        (segment("minimal-pairs-normalization-", "MeanLP"), lambda page: press(page.get_by_role("tab", name="Scores"))),
        ("normalization", "section"),
    ),
    Case("clusters", "clusters", (hide_a_class, open_section), ("hidden", "section")),
    Case("classification", "classification", (), ()),
    Case("fill_mask", "fill-mask", (option("Domains", re.compile(".")),), ("domain",)),
    Case(
        "metric_study",
        "metric-study",
        (
            segment("metric-measure-", "Kendall"),
            lambda page: press(page.get_by_text("Show the published correlations")),
        ),
        ("correlation", "published"),
    ),
    Case("agreement", "clusters", (segment("agreement-pair-", "Fill-mask – Classification"),), ("pair",), "clusters"),
    Case("compare", "minimal-pairs", (option("Score", "MeanLP"),), ("a-normalization",), "a-run"),
    Case(
        "dictionary",
        "dictionary",
        (segment("corpora-by-", "idf"), lambda page: press(page.get_by_text("Only low-frequency"))),
        ("threshold-by", "low"),
    ),
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A dashboard over the runs of an earlier version."""
    data_dir = tmp_path_factory.mktemp("stored") / "data"
    stored_runs.copied(VERSION, data_dir)
    with serving(data_dir) as running:
        yield running


@pytest.fixture(scope="module")
def runs() -> dict[str, str]:
    """A run of each kind: its id by kind."""
    return {kind: run_id for run_id, kind in stored_runs.kinds(VERSION).items()}


def shown(page: Page) -> str:
    """What the page says once it is drawn."""
    settled(page)
    page.evaluate("() => { window.lastText = undefined; }")
    page.wait_for_function(STEADY, polling=250, timeout=2 * WAIT_MILLISECONDS)
    return str(page.evaluate(TEXT))


def same(text: str, wanted: str) -> None:
    """Equal texts; of others, what differs."""
    matcher = SequenceMatcher(None, wanted, text, autojunk=False)
    assert not [(wanted[a:b], text[c:d]) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]


def query_of(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def copied(page: Page) -> str:
    press(page.get_by_role("button", name="Copy link"))
    code = page.locator('[data-testid="stPopoverBody"] code').first
    expect(code).to_be_visible()
    settled(page)
    link = code.inner_text().strip()
    closed(page)
    return link


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.page)
def test_reload_another_browser_back_and_forward_show_the_same(
    case: Case, page: Page, chromium: Browser, stored: Server, runs: dict[str, str]
) -> None:
    page.goto(address(stored, "home"))
    settled(page)
    page.goto(f"{address(stored, case.page)}?{urlencode({case.run: runs[case.kind]})}")
    states = [(page.url, shown(page))]
    assert list(query_of(page)) == [case.run]  # an opened page leaves its address
    for choose, name in zip(case.choices, case.names, strict=True):
        choose(page)
        page.wait_for_url(re.compile(rf"[?&]{name}="))
        states.append((page.url, shown(page)))
    assert len({text for _, text in states}) == len(states)
    last_url, last = states[-1]

    page.reload()
    same(shown(page), last)
    assert page.url == last_url
    link = copied(page)
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    other = context.new_page()
    other.set_default_timeout(WAIT_MILLISECONDS)
    other.goto(link)
    same(shown(other), last)
    context.close()

    for url, text in states[-2::-1]:
        page.go_back()
        page.wait_for_url(url)
        same(shown(page), text)
    for url, text in states[1:]:
        page.go_forward()
        page.wait_for_url(url)
        same(shown(page), text)
    for _ in states:
        page.go_back()
        settled(page)
    page.wait_for_url(address(stored, "home"))  # no step of its own for any page's first drawing
