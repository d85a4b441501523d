"""Classification in a real browser: the sample from end to end, and an archive in the livedoor layout."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from engine.__main__ import main
from engine.datasets.sample_data import path as sample_path
from tests.browser.server import Server
from tests.browser.visitor import (
    RUN_MILLISECONDS,
    address,
    choose_one_model,
    downloaded,
    evaluate,
    settled,
    too_wide,
    upload,
)
from tests.support.layouts.livedoor import files, tar_gz, zipped

BERT = "builtin/bert-mini-ja"


def test_the_sample_is_classified_as_from_the_command_line(page: Page, server: Server, tmp_path: Path) -> None:
    page.goto(address(server, "classification"))
    settled(page)
    choose_one_model(page)
    evaluate(page)
    shown = {table: downloaded(page, table) for table in ("models", "runs", "confusion")}
    settled(page)
    expect(page.get_by_text("144 training sentences and 36 test sentences").first).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    out, cache = tmp_path / "out", tmp_path / "cache"
    paths = ["--data", str(sample_path("labelled_sentences")), "--out", str(out), "--cache", str(cache)]
    assert main(["classification", *paths, "--model", BERT]) == 0
    computed = (out / "models.csv").read_text(encoding="utf-8").splitlines()
    values = dict(zip(computed[0].split(","), computed[1].split(","), strict=True))
    for column in ("n_train", "n_test", "accuracy_min", "accuracy_max", "accuracy_mean", "baseline"):
        # the same engine in another process: vectors may differ in their last digits, and two close calls of 36 with it
        assert float(shown["models"][0][column]) == pytest.approx(float(values[column]), abs=0.06)
    assert len(shown["runs"]) == 5 and sum(int(cell["n"]) for cell in shown["confusion"]) == 5 * 36
    link = page.url
    page.reload()
    expect(page.get_by_text("144 training sentences").first).to_be_visible(timeout=RUN_MILLISECONDS)
    assert page.url == link


def test_a_livedoor_zip_is_accepted_with_the_choice_of_titles(page: Page, server: Server, tmp_path: Path) -> None:
    archive = tmp_path / "corpus.zip"
    archive.write_bytes(zipped(files()))
    page.goto(address(server, "classification"))
    settled(page)
    upload(page, archive)
    expect(page.get_by_text(re.compile("36 articles in 3 categories")).first).to_be_visible()
    expect(page.get_by_text("Titles", exact=True).first).to_be_visible()
    settled(page)
    page.get_by_role("spinbutton", name="Articles per category").fill("10")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=re.compile("30 rows")).first).to_be_visible()
    evaluate(page)
    expect(page.get_by_text("24 training sentences and 6 test sentences of 3 classes").first).to_be_visible(
        timeout=RUN_MILLISECONDS
    )
    expect(page.get_by_text(re.compile(r"corpus\.zip \(titles, 10 per category, seed 0\)")).first).to_be_visible()
    settled(page)


def test_an_archive_that_cannot_be_used_is_explained_and_the_next_one_is_read(
    page: Page, server: Server, tmp_path: Path
) -> None:
    bad, good = tmp_path / "bad.zip", tmp_path / "good.tar.gz"
    bad.write_bytes(zipped({"../up/up-1.txt": b"1\n2\n3\n"}))
    good.write_bytes(tar_gz(files()))
    page.goto(address(server, "classification"))
    settled(page)
    upload(page, bad)
    expect(page.locator('[data-testid="stAlert"]').first).to_contain_text("would lie outside of it")
    settled(page)
    page.locator('input[type="file"]').first.set_input_files(good)
    expect(page.get_by_text(re.compile("36 articles in 3 categories")).first).to_be_visible()
    expect(page.locator('[data-testid="stAlert"]')).to_have_count(0)
    expect(page.locator('[data-testid="stException"]')).to_have_count(0)


def test_agreement_shows_the_papers_numbers_marked_as_published(page: Page, server: Server) -> None:
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(address(server, "agreement"))
        settled(page)
        expect(page.get_by_text("as published").first).to_be_visible()
        expect(page.get_by_text(re.compile("PACLIC 34, table 2")).first).to_be_visible()
        overflow = too_wide(page)
        assert overflow <= 1, f"the page is {overflow} px too wide at {width}"
