"""Minimal pairs in a real browser: two BLiMP files, the toggles, a click, the fair subset there and back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from engine.datasets import sample_data
from tests.browser.server import Server
from tests.browser.visitor import (
    RUN_MILLISECONDS,
    WAIT_MILLISECONDS,
    address,
    choose_one_model,
    click_until,
    downloaded,
    evaluate,
    inside,
    press,
    settled,
    too_wide,
)

FIGURE = '[class*="st-key-minimal-pairs-difference-"] .js-plotly-plot'
CARDS = '[data-testid="stMetricValue"]'


@pytest.fixture(scope="module")
def blimp(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two files in BLiMP's layout, a paradigm of 60 pairs each, of the project's own sentences."""
    folder, sample = tmp_path_factory.mktemp("blimp"), sample_data.minimal_pairs()
    paths = []
    for first, name in enumerate(("first_paradigm", "second_paradigm")):
        rows = [
            {
                "sentence_good": sample.acceptable[i],
                "sentence_bad": sample.unacceptable[i],
                "field": "syntax",
                "linguistics_term": sample.categories[i],
                "UID": name,
                "simple_LM_method": True,
                "pairID": str(i),
            }
            for i in range(first, 120, 2)
        ]
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    return paths


def give(page: Page, server: Server, *paths: Path) -> None:
    """Upload files, and choose the masked built-in model alone."""
    page.goto(address(server, "minimal_pairs"))
    settled(page)
    press(page.get_by_text("My file", exact=True).first)
    page.locator('input[type="file"]').first.set_input_files(list(paths))
    expect(page.get_by_text(re.compile(r"Read as BLiMP"))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("See the .* rows"))).to_be_visible()
    settled(page)
    choose_one_model(page)
    expect(page.locator('[class*="st-key-minimal-pairs-models"]').get_by_text("gpt2-mini-ja")).to_have_count(0)
    settled(page)


def evaluated(page: Page) -> str:
    evaluate(page)
    expect(page.get_by_text("under the selected score").first).to_be_visible(timeout=RUN_MILLISECONDS)
    expect(page.locator(CARDS)).to_have_count(4, timeout=RUN_MILLISECONDS)
    settled(page)
    return page.url


def cards(page: Page) -> list[str]:
    return page.locator(CARDS).all_text_contents()


def test_toggles_a_click_and_the_fair_subset(page: Page, server: Server, blimp: list[Path], tmp_path: Path) -> None:
    give(page, server, *blimp)
    expect(page.get_by_text(re.compile(r"\(2 files\): 120 pairs"))).to_be_visible()
    run = evaluated(page)
    seen = {"LP": cards(page)}
    equal = 2  # the third card: A = U
    for score in ("MeanLP", "PenLP"):
        press(page.locator('[class*="st-key-minimal-pairs-normalization"]').get_by_text(score, exact=True))
        expect(page.get_by_text(re.compile(rf"normalization {score}")).first).to_be_attached()
        settled(page)
        seen[score] = cards(page)
        assert page.url == f"{run}&normalization={score}"  # no new run
    assert len({tuple(values) for values in seen.values()}) == 3
    assert len({values[equal] for values in seen.values()}) == 1  # the same winners, by construction

    pairs = downloaded(page, "pairs")
    gap = [int(row["acceptable_tokens"]) - int(row["unacceptable_tokens"]) for row in pairs]
    shown = page.locator(FIGURE).first
    shown.scroll_into_view_if_needed()
    points = shown.evaluate(
        "figure => Array.from(figure._fullData[0].x).map((x, i) => [x, figure.data[0].customdata[i][0]])"
    )
    x, counts = next((x, counts) for x, counts in points if x == -1)
    n = gap.count(-1)
    assert n > 1 and counts.startswith(f"{n} pairs, ")

    def point() -> tuple[float, float]:
        at_x, at_y = shown.evaluate(
            "(figure, wanted) => { const {xaxis, yaxis} = figure._fullLayout, line = figure._fullData[0],"
            " i = Array.from(line.x).indexOf(wanted), box = figure.getBoundingClientRect(); return ["
            " box.x + xaxis._offset + xaxis.d2p(line.x[i]), box.y + yaxis._offset + yaxis.d2p(line.y[i])]; }",
            x,
        )
        page.mouse.move(at_x, at_y)
        return at_x, at_y

    click_until(page, point, page.get_by_text(re.compile(rf"^{n} pairs\.$")))
    expect(page.get_by_text(re.compile(r"\|A\| − \|U\| = −1")).first).to_be_visible()
    press(page.get_by_role("button", name=re.compile("Show all pairs")))
    expect(page.get_by_text(re.compile(r"^120 pairs\.$"))).to_be_visible()

    press(page.get_by_role("tab", name="Fair subsets"))
    button = page.get_by_role("button", name=re.compile(r"Download .*equal.*\.zip"))
    expect(button).to_be_visible()
    settled(page)
    with page.expect_download() as caught:
        press(button)
    fair = tmp_path / caught.value.suggested_filename
    caught.value.save_as(fair)

    give(page, server, fair)
    expect(page.get_by_text(re.compile(rf"\(2 files\): {gap.count(0)} pairs"))).to_be_visible()
    assert evaluated(page) != run
    again = downloaded(page, "pairs")
    assert len(again) == gap.count(0)
    assert all(row["acceptable_tokens"] == row["unacceptable_tokens"] for row in again)
    assert cards(page)[0] == seen["LP"][equal]


def test_an_edited_pair_is_scored_again_and_fits_a_dark_phone(server: Server, chromium, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    hostile = tmp_path / "hostile.csv"
    markup = '<img src=x onerror=""window.hit=1"">'
    hostile.write_text(f'good,bad\n"{markup}猫が魚を食べた。","{markup}猫が魚に食べた。"\n', encoding="utf-8")
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    context.set_default_timeout(WAIT_MILLISECONDS)
    page = context.new_page()
    page.goto(address(server, "minimal_pairs"))
    settled(page)
    press(page.get_by_text("My file", exact=True).first)
    page.locator('input[type="file"]').first.set_input_files(hostile)
    expect(page.get_by_text(re.compile("Read as two sentence columns"))).to_be_visible()
    evaluate(page)
    expect(page.locator('[class*="st-key-minimal-tokens-"] .js-plotly-plot')).to_be_visible(timeout=RUN_MILLISECONDS)
    settled(page)
    page.get_by_role("textbox", name="Unacceptable", exact=True).fill("猫が魚へ食べた。")
    press(page.get_by_role("button", name=re.compile("Rescore")))
    page.wait_for_url(re.compile("edited="))
    expect(page.locator('[class*="st-key-minimal-tokens-edited"] .js-plotly-plot')).to_be_visible(
        timeout=RUN_MILLISECONDS
    )
    expect(page.get_by_text(re.compile("Margin .* before"))).to_be_visible()
    settled(page)
    assert page.evaluate("window.hit") is None
    overflow = too_wide(page)
    assert overflow <= 1
    context.close()


@pytest.mark.nightly
def test_levels_of_a_benchmark_and_the_checkpoints_of_a_training(page: Page, server: Server, blimp: list[Path]) -> None:
    give(page, server, *blimp)
    models = page.locator('[class*="st-key-minimal-pairs-models"]')
    # Two models under names that say a step stand for two checkpoints.
    for label in ("ours@step100=builtin/bert-mini-ja-char", "ours@step2000=builtin/bert-mini-ja-32k"):
        settled(page)
        models.locator("input").fill(label)
        models.locator("input").press("Enter")
        expect(models.get_by_text(label)).to_be_visible()
        settled(page)
    page.keyboard.press("Escape")
    evaluate(page)
    expect(page.get_by_text("under the selected score").first).to_be_visible(timeout=RUN_MILLISECONDS)
    settled(page)
    press(page.get_by_role("tab", name="Levels"))
    expect(page.get_by_text("Levels, the widest first")).to_be_visible()
    press(page.get_by_role("tab", name="Checkpoints"))
    plot = page.locator('[class*="st-key-minimal-checkpoints-"] .js-plotly-plot')
    expect(plot).to_be_visible()
    assert plot.evaluate("figure => Array.from(figure._fullData.find(line => line.x.length > 1).x)") == [100, 2000]

    pairs, points = downloaded(page, "pairs"), downloaded(page, "checkpoints")
    right: dict[str, list[bool]] = {}
    for row in pairs:
        better = float(row["acceptable_log_likelihood"]) > float(row["unacceptable_log_likelihood"])
        right.setdefault(row["model"], []).append(better)
    for step, model in ((100, "ours@step100"), (2000, "ours@step2000")):
        (point,) = [
            row
            for row in points
            if float(row["step"]) == step
            and row["normalization"] == "LP"
            and row["stratum"] == "all"
            and not row["category"]
        ]
        (of_model,) = [values for name, values in right.items() if name.startswith(model)]
        assert len(of_model) == 120 and float(point["accuracy"]) == pytest.approx(sum(of_model) / 120)


def test_the_address_is_that_of_a_large_run_before_its_progress_is_drawn(
    page: Page, server: Server, tmp_path: Path
) -> None:
    path = tmp_path / "large.csv"
    path.write_text(
        "acceptable,unacceptable\n" + "".join(f"{n}人で川を渡った。,{n}人が川が渡った。\n" for n in range(20_000)),
        encoding="utf-8",
    )
    page.goto(address(server, "minimal_pairs") + "?new=1")
    settled(page)
    press(page.get_by_text("My file", exact=True).first)
    page.locator('input[type="file"]').first.set_input_files(path)
    expect(page.get_by_role("button", name=re.compile("See the 20,000 rows"))).to_be_visible()
    settled(page)
    page.evaluate("""() => {  // whatever was drawn of a run, and the address at that moment
        window.addresses = [];
        new MutationObserver(() => {
            if (document.body.innerText.includes("You can leave this page")) window.addresses.push(location.search);
        }).observe(document.body, {childList: true, subtree: true, characterData: true});
    }""")
    press(page.locator('[class*="st-key-minimal-pairs-submit"] button'))
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    cancel.wait_for(timeout=RUN_MILLISECONDS)
    assert {search.split("=")[0] for search in page.evaluate("window.addresses")} == {"?run"}
    click_until(page, inside(cancel, 10, 10), page.get_by_text(re.compile("cancelled", re.IGNORECASE)).first)
