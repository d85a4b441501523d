"""The card of a model in a browser: two evaluations by one press, one job in two browsers, the card, its files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.server import serving
from tests.browser.visitor import RUN_MILLISECONDS, WAIT_MILLISECONDS, press, settled

MODEL = "builtin/bert-mini-ja-char"
JOB = re.compile(r"\d of 2 evaluations have ended")
NUMBERS = '[data-testid="stMetric"]'


@pytest.mark.nightly
def test_two_evaluations_by_one_press_are_one_job_and_then_the_card(chromium: Browser, data_dir: Path) -> None:
    contexts = [
        chromium.new_context(viewport={"width": width, "height": 900}, accept_downloads=True) for width in (1280, 390)
    ]
    for context in contexts:
        context.set_default_timeout(WAIT_MILLISECONDS)
    page, other = (context.new_page() for context in contexts)
    with serving(data_dir) as server:
        page.goto(f"{server.url}/model_card?model={MODEL}")
        settled(page)
        for kind in ("Minimal pairs", "Fill-mask"):
            press(page.locator(".st-key-model-card-kinds").get_by_text(kind, exact=True))
        press(page.locator(".st-key-model-card-submit button"))
        # The first model of a server: a worker starts, loads and checks it before the runs are submitted.
        expect(page.get_by_text(JOB)).to_be_visible(timeout=RUN_MILLISECONDS)
        expect(page.locator(".st-key-model-card-cancel")).to_have_count(1)
        page.reload()
        other.goto(page.url)
        # Both see the job, or the card already; the other browser cannot cancel it.
        for shown in (page, other):
            expect(shown.get_by_text(JOB).or_(shown.locator(NUMBERS)).first).to_be_visible()
        expect(other.locator(".st-key-model-card-cancel")).to_have_count(0)
        for shown in (page, other):
            expect(shown.locator(NUMBERS)).to_have_count(2, timeout=RUN_MILLISECONDS)
            expect(shown.get_by_text(JOB)).to_have_count(0)
            settled(shown)
        titles = page.locator('[data-testid="stMetricLabel"]').all_text_contents()
        assert [title.split(":")[0] for title in titles] == ["Minimal pairs", "Fill-mask"]
        values = page.locator('[data-testid="stMetricValue"]').all_inner_texts()
        assert len(values) == 2 and all(re.match(r"[\d.]+", value) for value in values)
        with page.expect_download() as caught:
            press(page.locator(".st-key-download-card-json button"))
        card = json.loads(Path(caught.value.path()).read_text(encoding="utf-8"))
        assert card["model"] == MODEL and len({row["evaluation"] for row in card["headlines"]}) == 2
        for key in ("report", "readme"):
            expect(page.locator(f".st-key-download-{key} button").first).to_be_visible()
    for context in contexts:
        context.close()
