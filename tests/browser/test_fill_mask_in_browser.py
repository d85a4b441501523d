"""The fill-mask page in a real browser: evaluate the sample, choose a sentence, edit it, and predict again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.datasets import sample_data
from tests.browser.server import Server
from tests.browser.visitor import (
    RUN_MILLISECONDS,
    WAIT_MILLISECONDS,
    choose_one_model,
    click_until,
    evaluate,
    inside,
    press,
    settled,
    too_wide,
    upload,
)

SAMPLE = sample_data.masked_sentences()


@pytest.fixture(scope="module")
def evaluated(server: Server, chromium) -> str:  # type: ignore[no-untyped-def]
    """The address of the sample's run."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(WAIT_MILLISECONDS)
    page = context.new_page()
    page.goto(f"{server.url}/fill_mask")
    settled(page)
    choose_one_model(page)
    evaluate(page)
    expect(page.get_by_role("button", name=re.compile(r"\bTables\b")).first).to_be_visible(timeout=RUN_MILLISECONDS)
    address = page.url
    context.close()
    return address


def chart(page: Page, key: str) -> Locator:
    return page.locator(f'[class*="st-key-{key}"]').first


def sentence(page: Page, words: str) -> Locator:
    """Markdown puts the set-off word into an element of its own, so the sentence is looked for as a whole."""
    return page.locator("[data-testid=stMarkdownContainer]").filter(has_text=words).first


def shown(page: Page, words: str) -> None:
    expect(sentence(page, words)).to_be_visible()


def test_a_chosen_sentence_shows_what_the_model_predicts(page: Page, evaluated: str) -> None:
    page.goto(evaluated)
    settled(page)
    expect(chart(page, "fill-mask-means")).to_be_visible()
    shown(page, SAMPLE.texts[0])
    bars = chart(page, "fill-mask-predictions").locator(".ytick")
    expect(bars).to_have_count(11)  # ten predictions, and the word below them
    before = bars.all_text_contents()
    table = chart(page, "fill-mask-items").locator("[data-testid=stDataFrame]")
    # The box at the third row.
    click_until(page, inside(table, 18, 35 * 3 + 18), sentence(page, SAMPLE.texts[2]))
    settled(page)
    expect(bars.first).not_to_have_text(before[0])
    expect(page.get_by_text(re.compile(r"rank [\d,]+")).first).to_be_visible()


def test_an_edited_sentence_is_predicted_again_and_survives_a_reload(page: Page, evaluated: str) -> None:
    page.goto(evaluated)
    settled(page)
    page.get_by_label(re.compile("Sentence, with")).fill("雪が降って、庭の＿＿が白くなった。")
    page.get_by_role("textbox", name="Word", exact=True).fill("冷蔵庫")
    press(page.get_by_role("button", name=re.compile("Predict again")))
    page.wait_for_url(re.compile("edited="))
    for _ in range(2):
        shown(page, "雪が降って、庭の冷蔵庫が白くなった。")
        shown(page, "3 subwords: 冷")
        figures = page.locator('[class*="st-key-fill-mask-predictions"] .js-plotly-plot')
        expect(figures).to_have_count(2)
        page.reload()
        settled(page)
    press(page.get_by_role("button", name=re.compile("Close")))
    expect(page.get_by_text("Edited", exact=True)).to_have_count(0)
    assert "edited" not in page.url and "run=" in page.url


def test_everything_fits_a_dark_phone(server: Server, evaluated: str, chromium) -> None:  # type: ignore[no-untyped-def]
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    context.set_default_timeout(WAIT_MILLISECONDS)
    page = context.new_page()
    page.goto(evaluated)
    settled(page)
    expect(chart(page, "fill-mask-predictions")).to_be_visible()
    overflow = too_wide(page)
    assert overflow <= 1
    context.close()


def test_html_in_sentences_words_and_domains_is_shown_as_text(page: Page, server: Server, tmp_path: Path) -> None:
    hostile = tmp_path / "hostile.csv"
    markup = '<img src=x onerror=""window.hit=1"">'
    hostile.write_text(
        "text,label,domain\n" + "".join(f'"{markup}庭の木{i}",木,"<b>{i % 2}</b>{markup}"\n' for i in range(4)),
        encoding="utf-8",
    )
    page.goto(f"{server.url}/fill_mask")
    settled(page)
    upload(page, hostile)
    expect(page.get_by_role("button", name=re.compile("4 rows")).first).to_be_visible()
    evaluate(page)
    expect(page.get_by_role("button", name=re.compile(r"\bTables\b")).first).to_be_visible(timeout=RUN_MILLISECONDS)
    settled(page)
    shown(page, "<img src=x")
    assert page.evaluate("window.hit") is None
