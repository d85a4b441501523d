"""Rate together in a browser: two visitors, blind to each other, rate sentences by key; a run reads their means."""

from __future__ import annotations

import csv
import re
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from engine.datasets import sample_data
from tests.browser.server import Server
from tests.browser.visitor import (
    RUN_MILLISECONDS,
    WAIT_MILLISECONDS,
    address,
    choose_one_model,
    downloaded,
    evaluate,
    press,
    press_key,
    settled,
    upload,
)

N_PAIRS = 14  # MORCELA leaves 4 of 5 sentences for a fit, and that takes 20
TABLE = '[data-testid="stDataFrame"]'
SENTENCE = ".st-key-rating-pair"


def evaluated(page: Page, server: Server, data: Path) -> None:
    page.goto(address(server, "minimal_pairs"))
    settled(page)
    upload(page, data)
    expect(page.get_by_role("button", name=re.compile("See the .* rows"))).to_be_visible()
    choose_one_model(page)
    evaluate(page)
    page.get_by_role("link", name="Rate together").wait_for(timeout=RUN_MILLISECONDS)
    settled(page)


def rate(page: Page, scores: dict[str, int], n: int) -> list[str]:
    """Press the key of the score of each of the n sentences that are left; the sentences in the order of rating."""
    order = []
    for left in range(n, 0, -1):
        settled(page)
        order.append(page.locator(SENTENCE).inner_text().strip())
        done = page.get_by_text(f"{2 * N_PAIRS - left + 1} of {2 * N_PAIRS} sentences rated")
        press_key(page, str(scores[order[-1]]), done if left > 1 else page.locator(TABLE))
    return order


def test_two_people_rate_sentences_and_a_run_is_held_against_their_means(
    chromium: Browser,
    server: Server,
    tmp_path: Path,
) -> None:
    sample = sample_data.minimal_pairs()
    pairs = list(dict(zip(sample.acceptable, sample.unacceptable, strict=True)).items())[:N_PAIRS]
    data = tmp_path / "pairs.csv"
    data.write_text("\n".join(["acceptable,unacceptable", *map(",".join, pairs)]) + "\n", encoding="utf-8")
    # The shorter a sentence, the more acceptable to Ann; Ben finds the acceptable one of every second pair better.
    ann_gives = {text: max(1, 8 - len(text) // 3) for pair in pairs for text in pair}
    ben_gives = ann_gives | {good: min(7, ann_gives[good] + 2) for good, _bad in pairs[::2]}
    contexts = [
        chromium.new_context(viewport={"width": width, "height": 900}, accept_downloads=True) for width in (1280, 390)
    ]
    for context in contexts:
        context.set_default_timeout(WAIT_MILLISECONDS)
    ann, ben = (context.new_page() for context in contexts)
    evaluated(ann, server, data)
    press(ann.get_by_role("link", name="Rate together"))
    ann.wait_for_url(re.compile(r"/rating\?"))
    press(ann.get_by_text("Acceptability", exact=True))
    ann.wait_for_url(re.compile("question=acceptability"))
    order = rate(ann, ann_gives, 2 * N_PAIRS)
    partner = dict(pairs) | {bad: good for good, bad in pairs}
    assert not any(partner[first] == second for first, second in pairwise(order))
    expect(ann.get_by_text("You are the first whose scores are here.")).to_be_visible()

    ben.goto(ann.url)
    settled(ben)
    expect(ben.get_by_text("1 person has begun.")).to_be_visible()
    expect(ben.locator(f'{TABLE}, [data-testid="stMetric"]')).to_have_count(0)
    press(ben.get_by_role("button", name="Not acceptable at all"))
    expect(ben.get_by_text(f"1 of {2 * N_PAIRS} sentences rated")).to_be_visible()
    settled(ben)
    second = ben.locator(SENTENCE).inner_text().strip()
    press(ben.get_by_role("button", name="Previous sentence"))
    expect(ben.locator(SENTENCE)).not_to_have_text(second)
    settled(ben)
    first = ben.locator(SENTENCE).inner_text().strip()
    press_key(ben, str(ben_gives[first]), ben.locator(SENTENCE).get_by_text(second, exact=True))  # in place of the 1
    ben.reload()
    assert first not in rate(ben, ben_gives, 2 * N_PAIRS - 1)
    expect(ben.get_by_text("Krippendorff's alpha").first).to_be_visible()
    expect(ben.get_by_text(f"{2 * N_PAIRS} sentences, 2 raters")).to_be_visible()
    with ben.expect_download() as caught:
        press(ben.locator(".st-key-rating-download button"))
    rated = tmp_path / "rated.csv"
    caught.value.save_as(rated)
    means = {text: (ann_gives[text] + ben_gives[text]) / 2 for text in ann_gives}
    with rated.open(encoding="utf-8-sig") as file:
        for row in csv.DictReader(file):
            for side in ("acceptable", "unacceptable"):
                assert float(row[f"{side}_rating"]) == means.pop(row[side])
    assert means == {}

    evaluated(ann, server, rated)
    linking = [row for row in downloaded(ann, "linking") if row["normalization"] == "LP"]
    assert [(row["n"], row["n_pairs"]) for row in linking] == [(str(2 * N_PAIRS), str(N_PAIRS))]
    assert linking[0]["difference_pearson"]
    for context in contexts:
        context.close()
