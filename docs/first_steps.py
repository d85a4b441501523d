"""`python -m docs.first_steps`: the first steps of a new user, as pictures for docs/first-steps.md, and those of README.md.

An alignment of two sentences, a map of labelled sentences and the length bias on pairs, each with data of one's own,
in each language, at 1,440 and 390 px, light and dark. Needs Chromium and a CJK font; takes a few minutes.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from engine.messages.languages import in_all_languages
from tests.benchmarks.team.by_browser import executable
from tests.browser.conftest import ARGUMENTS
from tests.browser.server import ROOT, serving
from tests.browser.visitor import RUN_MILLISECONDS, WAIT_MILLISECONDS, evaluate, press, settled, unfold

FOLDER = ROOT / "docs/images/first-steps"
README_PAGES = ("clusters", "alignment", "minimal_pairs")  # the result of the Japanese sample, in English
README_SIZE, README_WIDTH = (1366, 1500), 1050  # px: of the page, and of the picture
LOCALES = {"en": "en-GB", "ja": "ja-JP"}
WIDTHS = {1440: 1000, 390: 1300}  # px, with the height of the picture
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SHOWN = {1440: 900, 390: 390}  # px that a picture keeps
QUALITY = 70
# Japanese in both languages, because only Japanese names have readings.
REFERENCE, CANDIDATE = "田中さんは駅前の店で傘を買った。", "中村さんは駅の近くで雨傘を買いました。"
LABELLED: Mapping[str, Mapping[str, Sequence[str]]] = {
    "ja": {
        "料理": (
            "玉ねぎを薄く切って炒める。",
            "鍋に水を入れて火にかけた。",
            "魚に塩をふって焼いた。",
            "味噌汁に豆腐を入れる。",
            "卵を割って、よく混ぜる。",
            "米を研いで、三十分おく。",
            "大根をおろして皿に盛った。",
            "油が熱くなったら肉を入れる。",
        ),
        "天気": (
            "午後から雨が降り出した。",
            "風が強く、波も高い。",
            "空は雲ひとつなく晴れている。",
            "夜中に雪が積もった。",
            "霧が深くて山が見えない。",
            "雷が遠くで鳴っている。",
            "明日は気温が上がるだろう。",
            "梅雨が明けて暑くなった。",
        ),
        "学校": (
            "先生が黒板に字を書いた。",
            "生徒は図書室で本を読む。",
            "試験の前の日は眠れなかった。",
            "体育の時間に走った。",
            "宿題を忘れて叱られた。",
            "卒業式で歌を歌った。",
            "新しい教科書が配られた。",
            "放課後、友達と校庭で遊ぶ。",
        ),
    },
    "en": {
        "cooking": (
            "Slice the onions and fry them.",
            "She put the pot of water on the fire.",
            "The fish was salted and baked.",
            "He stirred the soup and tasted it.",
            "Beat the eggs with a little milk.",
            "The bread is in the oven.",
            "Peel the potatoes and boil them.",
            "The butter melted in the pan.",
        ),
        "weather": (
            "It began to rain in the afternoon.",
            "The wind was strong and cold.",
            "There was not a cloud in the sky.",
            "Snow fell during the night.",
            "The fog hid the hills.",
            "Thunder was heard far away.",
            "Tomorrow will be warm and dry.",
            "The storm broke over the sea.",
        ),
        "school": (
            "The teacher wrote on the board.",
            "The pupils read in the library.",
            "He could not sleep before the examination.",
            "The boys ran in the yard.",
            "She forgot her lessons and was scolded.",
            "We sang a song on the last day.",
            "The new books were given out.",
            "The class went home at noon.",
        ),
    },
}
PAIRS = {
    "ja": (
        ("猫が庭で眠っている。", "猫を庭で眠っている。"),
        ("母は毎朝五時に起きる。", "母は毎朝五時で起きる。"),
        ("弟に本を貸した。", "弟が本を貸されたした。"),
        ("昨日は雨が降った。", "昨日は雨が降る。"),
        ("私は駅まで歩いて行った。", "私は駅まで歩くて行った。"),
        ("この花はとても美しい。", "この花はとても美しいだ。"),
        ("先生に手紙を書いた。", "先生で手紙を書いた。"),
        ("誰も来なかった。", "誰も来た。"),
        ("三人の学生が立っている。", "三本の学生が立っている。"),
        ("彼は医者になりたがっている。", "彼は医者になるたい。"),
        ("窓を開けてください。", "窓が開けてください。"),
        ("東京へ行くつもりだ。", "東京へ行ったつもりに。"),
    ),
    "en": (
        ("The cat sleeps in the garden.", "The cat sleep in the garden."),
        ("My mother gets up at five.", "My mother get up at five."),
        ("He lent the book to his brother.", "He lent the book his brother to."),
        ("It rained yesterday.", "It rains yesterday."),
        ("I walked to the station.", "I walking to the station."),
        ("These flowers are beautiful.", "This flowers are beautiful."),
        ("She wrote a letter to her teacher.", "She writed a letter to her teacher."),
        ("Nobody came.", "Nobody did not came."),
        ("Three students are standing there.", "Three student are standing there."),
        ("He wants to become a doctor.", "He wants become a doctor."),
        ("Please open the window.", "Please opens the window."),
        ("She hurt herself.", "She hurt himself."),
    ),
}


def main(arguments: list[str]) -> int:
    """Take all pictures; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m docs.first_steps")
    parser.add_argument("--out", type=Path, default=FOLDER)
    out = parser.parse_args(arguments).out
    chromium = executable()
    if chromium is None:
        print(
            "Needs Chromium, which is not on this machine (apt-get install chromium fonts-noto-cjk).", file=sys.stderr
        )
        return 1
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        samples = {**os.environ, "HAKARI_DATA_DIR": str(folder / "data")}
        subprocess.run([sys.executable, "-m", "dashboard.prepare_samples"], env=samples, cwd=ROOT, check=True)
        url = stack.enter_context(serving(folder / "data")).url
        browser = stack.enter_context(sync_playwright()).chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for language, locale in LOCALES.items():
            _walk(browser, url, language, locale, folder, partial(_picture, out, language))
        _of_readme(browser, url, out.parent)
        browser.close()
    return 0


def _walk(
    browser: Browser, url: str, language: str, locale: str, folder: Path, picture: Callable[[Page, str], None]
) -> None:
    context = browser.new_context(locale=locale, viewport={"width": 1440, "height": WIDTHS[1440]})
    context.set_default_timeout(WAIT_MILLISECONDS)
    page = context.new_page()
    page.goto(url)
    page.locator(".alignment .token").first.wait_for(timeout=RUN_MILLISECONDS)
    page.get_by_text(_word("Open the result")).filter(visible=True).nth(1).wait_for(timeout=RUN_MILLISECONDS)  # both
    picture(page, "home")

    page.goto(f"{url}/alignment")
    unfold(page.get_by_label(_word("Reference")).first)  # the form is folded above the result of the sample
    for label, text in (("Reference", REFERENCE), ("Candidate", CANDIDATE)):
        page.get_by_label(_word(label)).first.fill(text)
    picture(page, "alignment-1")
    evaluate(page)
    page.locator(".alignment .row.candidate .token").first.wait_for(timeout=RUN_MILLISECONDS)
    picture(page, "alignment-2")

    labelled, pairs = folder / "my-sentences.csv", folder / "my-pairs.csv"
    labelled.write_text(
        "text,label\n" + "".join(f"{text},{label}\n" for label, texts in LABELLED[language].items() for text in texts),
        encoding="utf-8",
    )
    pairs.write_text("acceptable,unacceptable\n" + "".join(f"{a},{u}\n" for a, u in PAIRS[language]), encoding="utf-8")
    for name, file in (("clusters", labelled), ("minimal_pairs", pairs)):
        page.goto(f"{url}/{name}")
        settled(page)
        press(page.locator('[class*="st-key-"][class*="-source"]').get_by_text(_word("My file")).first)
        page.locator('input[type="file"]').first.set_input_files(file)
        page.locator('[class*="st-key-"][class*="-submit"] button:not([disabled])').first.wait_for()
        page.get_by_text(file.name).first.wait_for()
        settled(page)
        picture(page, f"{name}-1")
        evaluate(page)
        page.locator('[class*="st-key-table-downloads"]').first.wait_for(timeout=RUN_MILLISECONDS)
        settled(page)
        picture(page, f"{name}-2")
    context.close()


def _of_readme(browser: Browser, url: str, out: Path) -> None:
    """The result of a sample on each of README_PAGES; of the pairs the one that the penalty lowers most."""
    width, height = README_SIZE
    context = browser.new_context(locale=LOCALES["en"], viewport={"width": width, "height": height})
    context.set_default_timeout(RUN_MILLISECONDS)
    page = context.new_page()
    for name in README_PAGES:
        page.goto(f"{url}/{name}")
        settled(page)
        press(page.locator('[class*="-sample-ja"] button').first)
        page.locator('[class*="st-key-table-downloads"]').first.wait_for()
        settled(page)
        press(page.locator('[class*="st-key-guide-"][class*="-close"] button').first)
        settled(page)
        if name == "alignment":
            press(page.get_by_label(_word("Order")).first)
            press(page.get_by_text(_word("largest penalty first")).first)
            settled(page)
        page.mouse.move(1, 1)
        page.wait_for_timeout(1500)  # what is drawn on canvases moves to its place
        image = Image.open(io.BytesIO(page.screenshot()))
        height = round(image.height * README_WIDTH / image.width)
        image.resize((README_WIDTH, height), Image.Resampling.LANCZOS).save(out / f"{name}.png", optimize=True)
    context.close()


def _word(text: str) -> re.Pattern[str]:
    return re.compile(f"^({'|'.join(map(re.escape, in_all_languages(text)))})$")


def _picture(out: Path, language: str, page: Page, step: str) -> None:
    """The page in each width and scheme; afterwards it is wide and light again."""
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            settled(page)
            page.wait_for_timeout(1500)  # what is drawn on canvases moves to its place
            image = Image.open(io.BytesIO(page.screenshot()))
            small = image.resize(
                (SHOWN[width], round(image.height * SHOWN[width] / image.width)), Image.Resampling.LANCZOS
            )
            small.save(out / f"{language}-{step}-{width}-{scheme}.webp", quality=QUALITY, method=6)
    page.set_viewport_size({"width": 1440, "height": WIDTHS[1440]})
    page.emulate_media(color_scheme="light")
    settled(page)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
