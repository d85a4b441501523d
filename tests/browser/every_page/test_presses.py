"""How many presses the tasks take that people come with, each from a page that shows an earlier result to the right one.

Typing and naming a file in the browser's own dialog are no presses; opening the dialog is one. One server, one browser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from dashboard.faces import FACES
from dashboard.runs.listed import ROW_HEIGHT
from tests.browser.server import Server, serving
from tests.browser.visitor import RUN_MILLISECONDS, WAIT_MILLISECONDS, click_until, inside, settled
from tests.stored_runs import directories as stored_runs

VERSION = max(stored_runs.VERSIONS)
BOX, HEADER = 36, 35  # pixels of the table of runs: the column of boxes, the header
LABELLED = "text,label\n" + "".join(
    f"{text},{label}\n"
    for text, label in (
        ("雨が降る", "天気"),
        ("雪が積もる", "天気"),
        ("風が強い", "天気"),
        ("空が晴れる", "天気"),
        ("試合に負けた", "試合"),
        ("試合に勝った", "試合"),
        ("選手が走る", "試合"),
        ("球を投げる", "試合"),
    )
)
PAIRS = "acceptable,unacceptable\n" + "".join(
    f"{name}が本を読む,{name}に本を読む\n" for name in ("私", "父", "母", "兄", "姉", "先生", "学生")
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data_dir = tmp_path_factory.mktemp("presses") / "data"
    stored_runs.copied(VERSION, data_dir)
    with serving(data_dir) as running:
        yield running


class Visitor:
    """A browser that counts what is pressed."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page, self.server, self.n_presses = page, server, 0

    def open(self, kind: str) -> None:
        """A page with the result of an earlier run, whose form is closed."""
        run_id = next(run_id for run_id, of_kind in stored_runs.kinds(VERSION).items() if of_kind == kind)
        self.page.goto(f"{self.server.url}/{FACES[kind].page.name}?run={run_id}")
        settled(self.page)
        self.n_presses = 0

    def press(self, button: Locator) -> None:
        button.wait_for()
        settled(self.page)
        button.click()
        self.n_presses += 1
        settled(self.page)

    def press_form(self, kind: str) -> None:
        """Open the form."""
        self.press(self.page.locator(f'[class*="st-key-{kind}-inputs"] summary').first)

    def press_own_file(self, kind: str, file: Path) -> None:
        """Choose a file of one's own: the source, then the file."""
        self.press(self.page.locator(f".st-key-{kind}-source").get_by_text("My file", exact=True))
        with self.page.expect_file_chooser() as chooser:
            self.press(self.page.locator('[data-testid="stFileUploaderDropzone"]').first)
        chooser.value.set_files(file)
        settled(self.page)

    def press_run(self, kind: str) -> str:
        """Run; the finding of the result, whose form is closed again."""
        before = self.page.url
        self.press(self.page.locator(f".st-key-{kind}-submit button").first)
        self.page.wait_for_url(lambda url: "run=" in url and url != before, timeout=RUN_MILLISECONDS)
        finding = self.page.locator(".st-key-finding")
        finding.wait_for(timeout=RUN_MILLISECONDS)
        settled(self.page)
        expect(self.page.locator(f'[class*="st-key-{kind}-inputs"] details[open]')).to_have_count(0)
        return finding.inner_text()


@pytest.fixture
def visitor(chromium: Browser, stored: Server) -> Iterator[Visitor]:
    context = chromium.new_context(viewport={"width": 1366, "height": 768}, locale="en-GB")
    context.set_default_timeout(WAIT_MILLISECONDS)
    yield Visitor(context.new_page(), stored)
    context.close()


def test_a_typed_pair_takes_three_presses(visitor: Visitor) -> None:
    visitor.open("alignment")
    visitor.press_form("alignment")
    form = visitor.page.locator('[class*="st-key-alignment-inputs"]')
    form.get_by_label("Reference").first.fill("斉藤さんが駅で待つ")
    form.get_by_label("Candidate").first.fill("斎藤さんが駅で待つ")
    found = visitor.press_run("alignment")
    assert visitor.n_presses <= 3 and "over 1 pair" in found
    tokens = visitor.page.locator(".alignment .row.candidate .text").all_inner_texts()
    assert "".join(tokens).replace("[CLS]", "").replace("[SEP]", "") == "斎藤さんが駅で待つ"


def test_a_map_of_ones_own_sentences_takes_four_presses(visitor: Visitor, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(LABELLED, encoding="utf-8")
    visitor.open("clusters")
    visitor.press_form("clusters")
    visitor.press_own_file("clusters", tmp_path / "mine.csv")
    found = visitor.press_run("clusters")
    assert visitor.n_presses <= 4 and "over 8 sentences" in found
    assert visitor.page.locator('[class*="st-key-"] [aria-label*="Map"], canvas, .maps').count() > 0


def test_length_bias_on_ones_own_pairs_takes_four_presses(visitor: Visitor, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(PAIRS, encoding="utf-8")
    visitor.open("minimal-pairs")
    visitor.press_form("minimal-pairs")
    visitor.press_own_file("minimal-pairs", tmp_path / "mine.csv")
    found = visitor.press_run("minimal-pairs")
    assert visitor.n_presses <= 4 and "over 7 pairs" in found
    expect(visitor.page.get_by_text(re.compile("Effect of length by score")).first).to_be_visible()


def test_a_comparison_takes_one_press(visitor: Visitor) -> None:
    visitor.open("clusters")
    found = visitor.page.locator(".st-key-finding").inner_text()
    visitor.press(visitor.page.get_by_role("link", name=re.compile("Compare with")))
    visitor.page.wait_for_url(re.compile("/compare"))
    settled(visitor.page)
    assert visitor.n_presses == 1 and visitor.page.locator(".st-key-finding").inner_text().split(".")[0] in found


def test_an_earlier_run_takes_two_presses(visitor: Visitor) -> None:
    visitor.page.goto(visitor.server.url + "/models")
    settled(visitor.page)
    visitor.n_presses = 0
    visitor.press(visitor.page.locator('[data-testid="stSidebar"]').get_by_text("Runs", exact=True))
    table = visitor.page.locator('[data-testid="stDataFrame"]').last
    table.wait_for(timeout=RUN_MILLISECONDS)
    finding = visitor.page.locator(".st-key-finding")
    click_until(visitor.page, inside(table, BOX + 20, HEADER + ROW_HEIGHT / 2), finding)
    visitor.n_presses += 1
    assert visitor.n_presses == 2 and re.search("run=.+", visitor.page.url) and finding.inner_text()
