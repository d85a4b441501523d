"""The alignment for print: its links are the page's, and long pairs are cut where the fewest links are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.artist import Artist
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text

from dashboard.alignment.printed.drawing import AlignmentDrawing
from dashboard.alignment.printed.links import links_of, number_of
from dashboard.alignment.printed.segments import Segment, segments
from dashboard.shared.exports.print.colors import INK, MUTED
from dashboard.shared.exports.print.style import PrintStyle
from engine.messages import languages

SIDES = ("reference", "candidate")


def token(text: str, match: int, similarity: float = 0.9, **other: Any) -> dict[str, Any]:
    return {
        "text": text,
        "piece": text,
        "special": False,
        "inside": False,
        "reading": "",
        "ruby": "",
        "similarity": similarity,
        "match": match,
        "match_special": False,
        "match_reading": "",
        "idf": 1.0,
        "low": False,
        "unknown": False,
        "name": False,
        "counted": False,
        "share": 0.1,
        "distance": None,
        "agreement": None,
        "longest": None,
        **other,
    }


def data(reference: list[dict[str, Any]], candidate: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "ground": 0.5,
        "threshold": 3.0,
        "penalised": True,
        "joined": False,
        "unit": "subword",
        "by_name": False,
        "names": True,
        "whole": False,
        "reference": reference,
        "candidate": candidate,
    }


PAIR = data(
    [
        token("[CLS]", 0, special=True),
        token("太郎", 1, 0.75, ruby="タロー", low=True, name=True, counted=True, agreement=0.25),
        token("は", 2, 1.0),
        token("<b>&", 2, 0.5),
    ],
    [
        token("[CLS]", 0, special=True),
        token("次郎", 1, 0.75, ruby="ジロー", counted=True, agreement=0.25),
        token("は", 2, 1.0),
        token("た", 0, 0.4, match_special=True),
    ],
)


def test_two_tokens_that_choose_each_other_have_one_link() -> None:
    links = {(link.reference, link.candidate): link for link in links_of(PAIR)}
    assert set(links) == {(1, 1), (2, 2), (3, 2), (0, 3)}
    assert links[1, 1].chosen_by == SIDES and links[1, 1].warm and links[3, 2].chosen_by == ("reference",)
    # from the median 0.5 to 1: (0.75 - 0.5) / (1 - 0.5), and nothing below the median
    assert [links[ends].depth for ends in ((1, 1), (2, 2), (3, 2), (0, 3))] == [0.5, 1.0, 0.0, 0.0]
    assert links[0, 3].special and not links[2, 2].warm


def test_the_number_of_a_token_is_its_similarity_or_the_agreement_that_the_penalty_uses() -> None:
    assert [number_of(PAIR, item) for item in PAIR["candidate"]] == ["", "M 0.25", "1.00", "0.40 ◦"]
    assert number_of(PAIR | {"penalised": False}, PAIR["candidate"][1]) == "0.75"


def test_a_link_of_both_tokens_is_stronger_than_one_of_one() -> None:
    drawn = AlignmentDrawing(data([token("は", 0), token("も", 0)], [token("は", 0)])).drawn(PrintStyle("one", 8))
    both, one = (drawn.findobj(lambda artist, gid=gid: artist.get_gid() == gid)[0] for gid in ("link-0-0", "link-1-0"))
    assert both.get_linewidth() > one.get_linewidth() and both.get_edgecolor()[3] > one.get_edgecolor()[3]


@pytest.mark.parametrize(
    ("style", "language", "reference", "low"),
    [
        (PrintStyle("one", 8), "en", "Reference", "Dashed frame: low-frequency."),
        (PrintStyle("two", 10), "ja", "参照文", "破線の枠: 低頻度。"),
    ],
)
def test_every_token_reading_number_and_link_is_drawn(
    style: PrintStyle, language: str, reference: str, low: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(languages, "_chosen", lambda: language)
    drawing = AlignmentDrawing(PAIR)
    monkeypatch.setattr(languages, "_chosen", lambda: "en")  # the file is written where no page is drawn
    drawn = drawing.drawn(style)
    words = [text.get_text() for text in drawn.findobj(Text)]
    inks = {text.get_text(): to_hex(text.get_color()) for text in drawn.findobj(Text)}
    assert (inks["[CLS]"], inks["は"]) == (MUTED, INK)
    for side in SIDES:
        for item in PAIR[side]:
            assert item["text"] in words and item["ruby"] in [*words, ""] and number_of(PAIR, item) in [*words, ""]
    names = [str(artist.get_gid()) for artist in drawn.findobj(Artist) if artist.get_gid()]
    assert {name for name in names if name.startswith("link-")} == {"link-1-1", "link-2-2", "link-3-2", "link-0-3"}
    assert sum(name.startswith("token-") for name in names) == 6
    assert reference in words and low in " ".join(words).replace("\n", " ") and reference in drawing.texts(style)


def test_an_unknown_token_has_a_dotted_frame_and_the_legend_says_so() -> None:
    pair = data([token("[UNK]", 0, low=True, unknown=True)], [token("犬", 0, low=True)])
    drawn = AlignmentDrawing(pair).drawn(PrintStyle())
    frames = {str(frame.get_gid()): frame.get_linestyle() for frame in drawn.findobj(FancyBboxPatch)}
    assert frames["token-reference-0"] != frames["token-candidate-0"]
    words = " ".join(text.get_text() for text in drawn.findobj(Text)).replace("\n", " ")
    assert "Dotted frame: unknown token." in words and "Dashed frame: low-frequency." in words


NAMES_AND_NUMBERS = ("太郎", "次郎", "タロー", "M 0.25")


@pytest.mark.parametrize(("side", "sizes"), [("reference", (0.72, 1, 0.72)), ("candidate", (0.72, 1))])
def test_the_lines_of_a_token_stand_in_the_middle_of_its_frame(side: str, sizes: tuple[float, ...]) -> None:
    # From below: the number, the token, and where a side has readings the reading, lines of 1.3 times their letters. Of
    # 4 pixels of the page, for letters of 12, half are below them and half above.
    unread = PAIR | {"candidate": [item | {"ruby": ""} for item in PAIR["candidate"]]}
    drawn = AlignmentDrawing(unread).drawn(PrintStyle("one", 8))
    (frame,) = (patch for patch in drawn.findobj(FancyBboxPatch) if patch.get_gid() == f"token-{side}-1")
    edges = frame.get_path().get_extents()
    heights = [text.get_position()[1] for text in drawn.findobj(Text) if text.get_text() in NAMES_AND_NUMBERS]
    texts = sorted(height for height in heights if edges.y0 < height < edges.y1)
    assert len(texts) == len(sizes)
    room = (4 * 8 / 12) / 2
    assert texts[0] - edges.y0 == pytest.approx(room + 0.72 * 1.3 * 8 / 2)
    assert edges.y1 - texts[-1] == pytest.approx(room + sizes[-1] * 1.3 * 8 / 2)
    assert edges.height == pytest.approx(2 * room + sum(sizes) * 1.3 * 8)


def test_a_link_to_another_line_is_a_stub_that_names_the_token() -> None:
    n = 30
    crossing = {0: n - 1, n - 1: 0}
    tokens = [token(f"語{index}", crossing.get(index, index)) for index in range(n)]
    drawn = AlignmentDrawing(data(tokens, tokens)).drawn(PrintStyle())
    names = [str(artist.get_gid()) for artist in drawn.findobj(Artist) if artist.get_gid()]
    words = [text.get_text() for text in drawn.findobj(Text)]
    assert sum(name.startswith("link-") for name in names) == n - 2
    assert {name for name in names if name.startswith("stub-")} == {
        f"stub-{side}-{index}" for side in SIDES for index in crossing
    }
    assert words.count(f"→語{n - 1}") == 2 and words.count("←語0") == 2


def test_by_hand_a_cut_goes_where_no_link_crosses() -> None:
    # Room for 4 tokens. The links 0-0, 1-1, 2-0 and 3-2, 4-3, 5-3 part after 3 tokens above and 2 below.
    cuts = segments(([1.0] * 6, [1.0] * 4), [(0, 0), (1, 1), (2, 0), (3, 2), (4, 3), (5, 3)], 4.0)
    assert cuts == [Segment((0, 3), (0, 2)), Segment((3, 6), (2, 4))]
    assert segments(([1.0] * 4, [1.0] * 4), [(0, 3)], 4.0) == [Segment((0, 4), (0, 4))]
    assert segments(([9.0, 1.0], [1.0]), [], 4.0)[0].reference == (0, 1)  # wider than the room: a line of its own


def test_no_line_begins_within_a_word_that_fits_on_one() -> None:
    # Words of 1, 2 and 3 tokens; room for 4: the line ends after the second word, not within the third.
    inside = [False, False, True, False, True, True]
    cuts = segments(([1.0] * 6, [1.0]), [(index, 0) for index in range(6)], 4.0, (inside, [False]))
    assert [cut.reference for cut in cuts if cut.reference[0] < cut.reference[1]] == [(0, 3), (3, 6)]
    long_word = [False, True, True, True, True, True]  # wider than the room: it has to be cut
    assert len(segments(([1.0] * 6, [1.0]), [], 4.0, (long_word, [False]))) > 1


@settings(max_examples=40, deadline=None)
@given(widths=st.tuples(*[st.lists(st.floats(1, 6), min_size=1, max_size=25)] * 2), chosen=st.data())
def test_segments_hold_every_token_once_in_order_and_fit(widths: tuple[list[float], list[float]], chosen: Any) -> None:
    n, m = map(len, widths)
    links = chosen.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=20, unique=True))
    cuts = segments(widths, links, 20.0)
    for number, side in enumerate(SIDES):
        spans = [getattr(cut, side) for cut in cuts]
        assert spans[0][0] == 0 and spans[-1][1] == len(widths[number])
        assert all(before[1] == after[0] for before, after in pairwise(spans))
        assert all(sum(widths[number][start:end]) <= 20.0 + 1e-6 for start, end in spans)


def test_a_pair_of_very_different_lengths_is_cut_too() -> None:
    cuts = segments(([1.0] * 200, [1.0] * 2), [(199, 1)], 10.0)
    assert cuts[-1].reference[1] == 200 and cuts[-1].candidate[1] == 2 and len(cuts) == 20
    cuts = segments(([1.0] * 2, [1.0] * 200), [(1, 199)], 10.0)  # the band leaves no cut
    assert [cut.candidate for cut in cuts] == [(start, start + 10) for start in range(0, 200, 10)]
    assert [cut.reference for cut in cuts] == [(0, 2), *[(2, 2)] * 19]
