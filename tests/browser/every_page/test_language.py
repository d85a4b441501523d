"""The language of the pages, as a reader changes pages: by the menu, a link, a second tab, a reload, after a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from dashboard.pages import SECTIONS, PageCard
from engine.messages.catalogues import ENGLISH, JAPANESE, compiled
from engine.messages.languages import LANGUAGES
from tests.browser.server import Server
from tests.browser.visitor import RUN_MILLISECONDS, WAIT_MILLISECONDS, address, evaluate, press, settled

PAGES = [page for pages in SECTIONS.values() for page in pages]
OTHER = {JAPANESE: ENGLISH, ENGLISH: JAPANESE}


@pytest.fixture(scope="module", params=["ja-JP", "en-GB"])
def context(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport={"width": 1366, "height": 768}, locale=request.param)
    context.set_default_timeout(WAIT_MILLISECONDS)
    yield context
    context.close()


def shown_in(text: str, language: str) -> str:
    return text if language == ENGLISH else compiled(language).gettext(text)


def expect_language(page: Page, card: PageCard, language: str) -> None:
    """Document, title, question, menu and the lit button are of one language."""
    settled(page)
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.locator("h1")).to_have_text("Hakari" if card.name == "home" else shown_in(card.title, language))
    expect(page.locator('[data-testid="stMain"]').get_by_text(shown_in(card.question, language)).first).to_be_visible()
    menu = page.locator('[data-testid="stSidebarNav"]')
    for section in filter(None, SECTIONS):
        expect(menu.get_by_text(shown_in(section, language)).first).to_be_visible()
    for name, button in LANGUAGES.items():
        own = page.get_by_role("radiogroup", name=shown_in("Language", language), exact=True).first
        expect(own.get_by_role("radio", name=button, exact=True)).to_have_attribute(
            "aria-checked", str(name == language).lower()
        )


def walk(page: Page, language: str) -> PageCard:
    """All pages of the menu; returns the last."""
    for card in (card for card in PAGES if card.in_menu):
        press(
            page.locator('[data-testid="stSidebarNav"]').get_by_role(
                "link", name=shown_in(card.title, language), exact=True
            )
        )
        page.wait_for_url(lambda url, name=card.name: url.split("?")[0].endswith("/" + name.removeprefix("home")))
        expect_language(page, card, language)
    return card


def test_every_page_in_both_languages(context: BrowserContext, server: Server) -> None:
    page, current = context.new_page(), PAGES[0]
    page.goto(address(server, "home"))
    settled(page)
    first = page.locator("html").get_attribute("lang") or ""
    for language in (first, OTHER[first]):
        if language != page.locator("html").get_attribute("lang"):
            press(page.get_by_role("radio", name=LANGUAGES[language], exact=True))
        expect_language(page, current, language)
        current = walk(page, language)
    press(page.get_by_role("radio", name=LANGUAGES[first], exact=True))
    expect_language(page, current, first)
    for card in (card for card in PAGES if not card.in_menu):  # others lead to them
        page.goto(address(server, card.name))
        expect_language(page, card, first)
    press(page.get_by_role("radio", name=LANGUAGES[OTHER[first]], exact=True))
    expect_language(page, card, OTHER[first])
    second = context.new_page()  # the browser remembers the choice
    second.goto(address(server, "home"))
    expect_language(second, PAGES[0], OTHER[first])
    second.reload()
    expect_language(second, PAGES[0], OTHER[first])
    second.goto(address(server, "clusters"))
    for language in (OTHER[first], first, OTHER[first]):  # what Streamlit's own widgets say follows, too
        press(second.get_by_role("radio", name=LANGUAGES[language], exact=True).first)
        press(
            second.locator('[class*="st-key-clusters-source"]').get_by_text(shown_in("My file", language), exact=True)
        )
        upload = second.locator('[data-testid="stFileUploaderDropzone"] button').first
        expect(upload.get_by_text(shown_in("Upload", language), exact=True)).to_be_visible()
    second.close()


def test_after_a_run_and_by_links(context: BrowserContext, server: Server) -> None:
    page, card = context.new_page(), PAGES_BY_NAME["fill_mask"]
    page.goto(address(server, "fill_mask"))
    settled(page)
    language = page.locator("html").get_attribute("lang") or ""
    evaluate(page)
    page.locator('[data-testid="stPlotlyChart"]').first.wait_for(timeout=RUN_MILLISECONDS)
    expect_language(page, card, language)
    press(page.get_by_role("radio", name=LANGUAGES[OTHER[language]], exact=True))
    expect_language(page, card, OTHER[language])
    press(
        page.locator('[data-testid="stMain"]')
        .get_by_role("link", name=shown_in("Compare with …", OTHER[language]))
        .first
    )
    expect_language(page, PAGES_BY_NAME["compare"], OTHER[language])
    page.go_back()
    expect_language(page, card, OTHER[language])


PAGES_BY_NAME = {card.name: card for card in PAGES}
