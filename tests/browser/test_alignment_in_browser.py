"""Alignment in a real browser: a pair typed, pointed at, walked by keyboard, moved through layers, swapped; a file."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from engine.datasets.sample_data import path as sample_path
from tests.browser.server import Server
from tests.browser.visitor import (
    RUN_MILLISECONDS,
    WAIT_MILLISECONDS,
    address,
    click_until,
    downloaded,
    evaluate,
    inside,
    press,
    settled,
    too_wide,
    unfold,
    upload,
)

REFERENCE, CANDIDATE = "斉藤さんは今、最高の環境にいる。", "尾崎は良い場所にいる。"
VIEW = ".alignment"


def chips(page: Page, side: str) -> Locator:
    return page.locator(f"{VIEW} .row.{side} .token")


def texts(page: Page, side: str) -> str:
    return "".join(page.locator(f"{VIEW} .row.{side} .token:not(.special) .text").all_inner_texts())


def wait_until_clear(page: Page, tip: Locator, token: Locator, side: str) -> None:
    """Wait until an explanation stands on a side of its token, "above" or "below", and not over it."""
    page.wait_for_function(
        """([tip, token, side]) => {
            const [own, other] = [tip, token].map((element) => element.getBoundingClientRect());
            return side === "above" ? own.bottom <= other.top : own.top >= other.bottom;
        }""",
        arg=[tip.element_handle(), token.element_handle(), side],
    )


def cards(page: Page) -> list[str]:
    return page.locator('[data-testid="stMetricValue"]').all_inner_texts()


def run_of(page: Page) -> str:
    """The run in the address."""
    return parse_qs(urlsplit(page.url).query)["run"][0]


def drawn(page: Page) -> None:
    chips(page, "candidate").first.wait_for(timeout=RUN_MILLISECONDS)
    settled(page)


def open_scoring(page: Page) -> None:
    """Open the drawer of the scoring where it is closed."""
    drawer = page.locator('[class*="st-key-alignment-scoring-"]')
    if drawer.locator("details[open]").count() == 0:
        press(drawer.locator("summary"))


def typed(page: Page, server: Server, reference: str, candidate: str) -> None:
    page.goto(address(server, "alignment"))
    settled(page)
    unfold(page.get_by_label("Reference").first)
    page.get_by_label("Reference").first.fill(reference)
    page.get_by_label("Candidate").first.fill(candidate)
    evaluate(page)
    drawn(page)


def test_a_typed_pair_is_explained_by_mouse_keyboard_and_slider(page: Page, server: Server) -> None:
    typed(page, server, REFERENCE, CANDIDATE)
    assert (texts(page, "reference"), texts(page, "candidate")) == (REFERENCE, CANDIDATE)
    tip = page.locator(f"{VIEW} .tip")

    last = chips(page, "candidate").nth(-2)  # 。
    last.evaluate("token => token.scrollIntoView({ block: 'center' })")  # with room above and below
    last.hover()
    expect(tip).to_be_visible()
    expect(tip).to_contain_text("。 → 。")
    expect(tip).to_contain_text(re.compile(r"similarity 0\.\d\d"))
    expect(tip).to_contain_text(re.compile(r"share of precision \d+\.\d%"))
    expect(page.locator(f"{VIEW} .row.reference .token.on .text")).to_have_text("。")
    wait_until_clear(page, tip, last, "below")  # where it hides no link
    expect(last.locator(".number")).to_have_text(re.compile(r"^[01]\.\d\d$"))  # no name, which has M
    expect(
        chips(page, "reference").locator(".number").filter(has_text=re.compile(r"^M [01]\.\d\d$")).first
    ).to_be_visible()
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()

    # Tab stops once in each sentence; the arrow keys go from token to token, and down to the match.
    page.keyboard.press("Tab")
    chips(page, "reference").first.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    expect(tip).to_contain_text("。 → 。")
    wait_until_clear(page, tip, page.locator(f"{VIEW} .row.reference .token:focus"), "above")
    page.keyboard.press("ArrowDown")
    expect(tip).to_contain_text("share of precision")
    expect(page.locator(f"{VIEW} .row.candidate .token:focus .text")).to_have_text("。")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()

    run, before = run_of(page), cards(page)
    open_scoring(page)
    slider = page.get_by_role("slider", name="Layer")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text(re.compile(r"layers builtin/bert-mini-ja 3"))).to_be_visible()
    expect(page.locator('[data-testid="stMetricValue"]').first).not_to_have_text(before[0])
    page.wait_for_url(re.compile(r"layer=3"))
    assert run_of(page) == run  # no new run


def test_the_reading_of_a_token_that_is_chosen_by_key_is_set_and_the_token_stays_in_focus(
    page: Page, server: Server
) -> None:
    typed(page, server, REFERENCE, CANDIDATE)
    before = page.locator('[data-testid="stMetricDelta"]').first.inner_text()
    chips(page, "candidate").nth(1).focus()
    page.keyboard.press("Enter")
    settled(page)
    expect(page.locator(f"{VIEW} .token:focus[aria-pressed=true]")).to_have_count(1)
    press(page.get_by_role("button", name="Set the reading of a name"))
    name, kana = page.get_by_label("Name", exact=True), page.get_by_label("Reading", exact=True)
    expect(name).to_have_value("尾崎")
    kana.fill("さいとう")
    press(page.get_by_role("button", name="Add to the list"))
    expect(page.get_by_text("Added: 尾崎=さいとう")).to_be_visible()
    expect(page.locator('[data-testid="stMetricDelta"]').first).not_to_have_text(before)
    page.wait_for_url(re.compile("readings="))
    # The choice of a token is none of what the address says: the browser's back button is obeyed after it.
    page.keyboard.press("Escape")
    chips(page, "reference").nth(2).click()
    settled(page)
    page.go_back()
    expect(page.locator('[data-testid="stMetricDelta"]').first).to_have_text(before)
    assert "readings=" not in page.url


def test_the_shown_pair_is_swapped_and_evaluated(page: Page, server: Server) -> None:
    typed(page, server, CANDIDATE, REFERENCE)
    before, run = cards(page), run_of(page)
    press(page.get_by_role("button", name="Swap and rescore"))
    page.wait_for_url(lambda url: run not in url and "run=" in url)
    expect(page.locator(f"{VIEW} .row.reference .token .text").nth(1)).to_have_text("斉", timeout=RUN_MILLISECONDS)
    settled(page)
    assert (texts(page, "reference"), texts(page, "candidate")) == (REFERENCE, CANDIDATE)
    after = cards(page)
    assert (after[0], after[1]) == (before[1], before[0]) and after[2] == before[2]  # P and R change places


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of a user's own: a part of the sample with its three annotators."""
    lines = sample_path("scored_pairs").read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path_factory.mktemp("uploads") / "three_annotators.csv"
    path.write_text("".join(lines[:25]), encoding="utf-8")
    return path


def test_of_a_file_a_row_opens_and_the_penalty_is_a_toggle(page: Page, server: Server, scored: Path) -> None:
    page.goto(address(server, "alignment"))
    settled(page)
    press(page.get_by_text("Many pairs", exact=True))
    upload(page, scored)
    evaluate(page)
    drawn(page)
    expect(page.get_by_text("Human scores: r = ")).to_be_visible()
    run = run_of(page)
    page.goto(f"{page.url}&idf=novel&penalty=reading")
    drawn(page)
    lines = downloaded(page, "pairs")
    assert len(lines) == 24 and cards(page)[2] == f"{float(lines[0]['f1']):.3f}"

    # The row that is chosen is the pair shown; the head of the table is a row high, and so are the others.
    table = page.locator('[class*="st-key-alignment-pairs-"] [data-testid="stDataFrame"]').first
    click_until(
        page,
        inside(table, 14, 35 * 3.5),
        page.locator('[data-testid="stMetricValue"]').nth(2).filter(has_text=f"{float(lines[2]['f1']):.3f}"),
    )

    order = page.get_by_role("combobox", name=re.compile("Order"))
    press(order)
    press(page.get_by_role("option", name="largest penalty first"))
    worst = max(lines, key=lambda line: float(line["f1"]) - float(line["penalized_f1"]))
    expect(page.locator('[data-testid="stMetricValue"]').nth(2)).to_have_text(f"{float(worst['f1']):.3f}")
    expect(page.locator('[data-testid="stMetric"]').nth(2)).to_contain_text(
        f"{float(worst['penalized_f1']):.3f} with penalty"
    )
    expect(page.get_by_text(re.compile("the penalty (lowers F1|has no effect)"))).to_be_visible()

    penalty = page.locator('[class*="st-key-alignment-penalty-"]')
    press(penalty.get_by_text("none", exact=True))
    expect(page.get_by_text("with penalty", exact=False)).to_have_count(0)
    expect(page.get_by_text(re.compile("penalty none")).last).to_be_visible()
    expect(page.locator(f"{VIEW} .number").filter(has_text="M ")).to_have_count(0)
    assert run_of(page) == run


def choose_idf(page: Page, name: str) -> None:
    open_scoring(page)
    page.locator("h1").first.scroll_into_view_if_needed()  # a list that opens while the page scrolls closes again
    press(page.get_by_role("combobox", name=re.compile("idf weights")).first)
    press(page.get_by_role("option", name=name, exact=True).first)


def test_reload_back_and_another_browser_show_the_same_numbers(page: Page, server: Server, chromium: Browser) -> None:
    typed(page, server, REFERENCE, CANDIDATE)
    plain, run = cards(page), run_of(page)
    choose_idf(page, "novel")
    page.wait_for_url(re.compile("idf=novel"))
    settled(page)
    press(page.locator('[class*="st-key-alignment-penalty-"]').get_by_text("as in the paper", exact=True))
    page.wait_for_url(re.compile("penalty=reading"))
    settled(page)
    expect(page.get_by_text(re.compile("the penalty (lowers F1|has no effect)"))).to_be_visible()
    penalised, link = cards(page), page.url
    assert penalised != plain and "row=" not in link and "threshold" not in link

    page.reload()
    drawn(page)
    assert cards(page) == penalised and page.url == link

    press(page.get_by_role("button", name="Copy link"))
    shown = page.locator('[data-testid="stPopoverBody"] code')
    expect(shown).to_contain_text("penalty=reading")
    copied = shown.inner_text().strip()
    page.keyboard.press("Escape")
    context = chromium.new_context()
    other = context.new_page()
    other.set_default_timeout(WAIT_MILLISECONDS)
    other.goto(copied)
    drawn(other)
    assert cards(other) == penalised
    context.close()

    choose_idf(page, "wiki")
    page.wait_for_url(re.compile("idf=wiki"))
    settled(page)
    page.go_back()
    expect(page.get_by_text(re.compile("idf novel")).last).to_be_visible()
    settled(page)
    assert cards(page) == penalised and run_of(page) == run


def test_html_in_a_pair_is_escaped_and_fits_a_phone(server: Server, chromium) -> None:  # type: ignore[no-untyped-def]
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True)
    context.set_default_timeout(WAIT_MILLISECONDS)
    page = context.new_page()
    typed(page, server, '<img src=x onerror="window.hit=1">猫がいる。', "<b>犬</b>がいる。" * 10)
    assert page.evaluate("window.hit") is None and page.locator("img[src='x']").count() == 0
    overflow = too_wide(page)
    assert overflow <= 1
    # of so many lines the links are drawn for the chosen token alone
    links = page.locator(f"{VIEW} .links path")
    assert links.count()
    for link in links.all():
        expect(link).to_have_css("opacity", "0")
    chip = chips(page, "candidate").nth(-2)
    chip.scroll_into_view_if_needed()
    chip.tap()
    expect(page.locator(f"{VIEW} .links path.on").first).to_have_css("opacity", "1")
    tip = page.locator(f"{VIEW} .tip")
    expect(tip).to_be_visible()
    box = tip.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
    context.close()
