"""The scripts of the alignment view, carried out without a browser: their texts, and where they cut."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from dashboard.alignment import view
from dashboard.alignment.printed.links import links_of
from dashboard.alignment.printed.segments import segments
from dashboard.alignment.view_texts import view_texts
from engine.messages import languages
from tests.dashboard import node
from tests.dashboard.alignment.test_printed import PAIR, data, token

FOLDER = Path(view.__file__).parent
RICH = data(
    [
        token("[CLS]", 0, special=True, whole=False),
        token(
            "太郎",
            1,
            0.8,
            reading="タロー",
            whole=True,
            low=True,
            name=True,
            counted=True,
            agreement=0.25,
            distance=3,
            longest=4,
            source="UniDic",
            piece="##太郎",
        ),
        token("鱻", 2, 0.6, whole=False, unknown=True, low=True),
    ],
    [
        token("[CLS]", 0, special=True, whole=False),
        token(
            "次郎",
            1,
            0.75,
            reading="ジロー",
            whole=True,
            counted=True,
            agreement=0.25,
            distance=3,
            longest=4,
            source="",
        ),
        token("た", 0, 0.4, match_special=True, whole=False),
    ],
)


def carried_out(script: str) -> Any:
    """What a script returns that is written after those of the view."""
    return node.carried_out([FOLDER / name for name in view.SCRIPTS], script)


def explained(pair: dict[str, Any]) -> list[str]:
    """Every line of every explanation, the legend and the list of matches."""
    shown = json.dumps(pair | {"texts": view_texts()})
    return carried_out(
        f"const data = {shown}; return [...SIDES.flatMap((side) => data[side].flatMap((_, index) => "
        "explanation(data, side, index).map(([text]) => text))), ...legendOf(data, true, true).map("
        "([text]) => text), ...matchRows(data, linksOf(data)).flat()];"
    )


@pytest.mark.parametrize("seed", range(12))
def test_the_page_cuts_long_pairs_as_print_does(seed: int) -> None:
    drawn = random.Random(seed)
    n, m = drawn.randint(1, 70), drawn.randint(1, 70)
    widths = [drawn.randint(1, 6) for _ in range(n)], [drawn.randint(1, 6) for _ in range(m)]
    links = [(i, min(m - 1, max(0, round(i * m / n) + drawn.randint(-3, 3)))) for i in range(n)]
    inside = [drawn.random() < 0.5 for _ in range(n)], [drawn.random() < 0.5 for _ in range(m)]
    by_page = carried_out(f"return segmentsOf({json.dumps(widths)}, {json.dumps(links)}, 30, {json.dumps(inside)});")
    assert by_page == [[list(cut.reference), list(cut.candidate)] for cut in segments(widths, links, 30, inside)]


def test_the_page_draws_the_links_that_print_draws() -> None:
    by_page = carried_out(
        f"return linksOf({json.dumps(PAIR)}).map((link) => [link.reference, link.candidate, link.from, link.warm]);"
    )
    assert by_page == [[link.reference, link.candidate, list(link.chosen_by), link.warm] for link in links_of(PAIR)]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"joined": True},
        {"by_name": True},
        {"penalised": False},
        {"threshold": None, "unit": "word"},
        {"whole": True, "names": False},
    ],
)
def test_every_text_is_filled_in_both_languages(changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    english = explained(RICH | changes)
    monkeypatch.setattr(languages, "_chosen", lambda: "ja")
    japanese = explained(RICH | changes)
    assert len(english) == len(japanese)
    for lines in (english, japanese):
        assert not [line for line in lines if "{" in line or "undefined" in line or "NaN" in line]
    names = re.compile(r"\[CLS\]|Tab|UniDic|idf")
    assert not [line for line in japanese if re.search("[A-Za-z]{3,}", names.sub("", line))]


def test_by_hand_the_explanation_of_a_penalised_token() -> None:
    lines = explained(RICH)
    first = lines.index("太郎 → 次郎")
    # 3 of 4 kana differ: M = 1 - 3/4. A share of 0.1 with a similarity of 0.8 adds 0.08.
    assert lines[first + 1 : first + 8] == [
        "token ##太郎",
        "similarity 0.80",
        "idf 1.00 (above 3.00)",
        "proper noun",
        "タロー / ジロー: distance 3 of 4",
        "M = 0.25",
        "share of recall 10.0%, adds 0.08",
    ]


def test_every_text_of_the_scripts_is_there() -> None:
    script = "".join((FOLDER / name).read_text(encoding="utf-8") for name in view.SCRIPTS)
    named = set(re.findall(r'say\(data, (?:[^"`)]*\? )?"([a-z-]+)"', script))
    assert named and named <= view_texts().keys()


def test_by_hand_a_link_goes_from_the_middle_of_a_token_to_the_middle_of_its_match() -> None:
    document = """
    const document = { createElementNS: () => ({ style: { set: {}, setProperty(name, value) { this.set[name] = value; } },
      classList: { toggle(name, on) { if (on) this.on.push(name); }, on: [] }, setAttribute(_, value) { this.d = value; } }) };
    """
    script = """
    const data = { ground: 0.5 };
    const above = { x: 110, width: 40, bottom: 50 }, below = { x: 210, width: 20, top: 90 }, box = { x: 100, y: 20 };
    const drawn = (from, similarity, special, warm) => {
      const path = linkPath(data, { from, special, warm, token: { similarity } }, above, below, box);
      return [path.d, path.style.set["--weight"], path.style.set["--strength"], path.classList.on.splice(0)];
    };
    return [drawn(SIDES, 1, false, true), drawn(["reference"], 0.75, true, false), drawn(["reference"], 0.2, false, false)];
    """
    both, one, weak = node.carried_out([FOLDER / name for name in view.SCRIPTS], script, document)
    # from (110 + 40 / 2 - 100, 50 - 20 + 2) to (210 + 20 / 2 - 100, 90 - 20 - 2), bent half-way
    assert both[0] == one[0] == "M30,32C30,50 120,50 120,68"
    assert (both[1], float(both[2]), both[3]) == ("2.3px", pytest.approx(0.75), ["warm"])
    assert (one[1], float(one[2]), one[3]) == ("1.4px", pytest.approx(0.16 + 0.225), ["special"])
    assert (weak[1], float(weak[2]), weak[3]) == ("0.9px", pytest.approx(0.16), [])  # nothing below the median
