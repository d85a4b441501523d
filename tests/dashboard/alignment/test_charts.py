"""The alignment page's figures, its view's data and its sentence: what they show is what the scores say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.alignment import charts, human_charts
from dashboard.alignment import view as alignment_view
from dashboard.alignment.penalty_summary import penalty_summary
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.records import Result, Scoring, Settings
from engine.evaluations.alignment.rescoring import Scores, matrix, rescore
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.idf import count_documents
from tests.support.session_fake import TOO_LONG, SessionFake

HTML = ("<b>猫</b>", '<img src=x onerror="x()">')
PAIRS = SentencePairs("made up", ("斉藤は笑った", HTML[0]), ("尾崎は笑った", HTML[1]), ("", ""), {}, (1, 2))
COMPONENTS = Path(alignment_view.__file__).parent


@pytest.fixture
def result() -> Result:
    return evaluate(Settings(("m",)), PAIRS, SessionFake())  # type: ignore[arg-type]


@pytest.fixture
def scores(result: Result, tmp_path: Path) -> Scores:
    # は笑った is in every document and the names in none, so that just the names are low-frequency.
    path = tmp_path / "names.json"
    write_idf(count_documents([sorted("は笑った")] * 9, "names", "t" * 64, "line"), path)
    return rescore(result, Scoring(str(path), penalty="reading"))


def view(scores: Scores, result: Result, row: int = 1) -> dict[str, Any]:
    tokens = charts.pair_tokens(scores, "m", row)
    return alignment_view.view_data(
        tokens, matrix(result, "m", row, unit=scores.scoring.unit), scores.thresholds["m"], scores.scoring
    )


def test_the_heat_map_holds_the_matrix_with_the_reference_across(result: Result, scores: Scores) -> None:
    similarity = matrix(result, "m", 1)
    figure = charts.heat_map(similarity, charts.pair_tokens(scores, "m", 1))
    np.testing.assert_array_equal(np.asarray(figure.data[0].z), similarity.T)
    assert list(figure.layout.xaxis.ticktext) == ["[CLS]", *"斉藤は笑った", "[SEP]"]
    assert list(figure.layout.yaxis.ticktext) == ["[CLS]", *"尾崎は笑った", "[SEP]"]
    assert figure.data[0].zmin == pytest.approx(np.median(similarity))
    # a similarity of 1 has 55% of the scale's depth, so that letters on it are legible
    assert (1 - figure.data[0].zmin) / (figure.data[0].zmax - figure.data[0].zmin) == pytest.approx(0.55)
    assert figure.layout.showlegend and [trace.name for trace in figure.data[1:]] == [
        "best match of the candidate's token (P)",
        "best match of the reference's token (R)",
    ]
    assert figure.layout.meta == {"across": "Reference", "up": "Candidate"}


def test_the_outlines_are_the_best_matches_of_either_side(result: Result, scores: Scores) -> None:
    similarity = matrix(result, "m", 1)
    figure = charts.heat_map(similarity, charts.pair_tokens(scores, "m", 1))
    # Six points draw one square round a cell; special tokens have none, so 6 characters give 6 squares.
    for trace, axis in ((figure.data[1], 0), (figure.data[2], 1)):
        x, y = (np.array(values, dtype=float).reshape(-1, 6)[:, :4].mean(axis=1) for values in (trace.x, trace.y))
        assert len(x) == 6
        corners = np.array([trace.x, trace.y], dtype=float).reshape(2, 6, 6)[:, :, :5]
        assert ((np.diff(corners, axis=2) != 0).sum(axis=0) == 1).all()  # four sides, across or down
        across, down = x.round().astype(int), y.round().astype(int)
        own, matched = (down, across) if axis == 0 else (across, down)
        assert own.tolist() == list(range(1, 7))
        assert matched.tolist() == similarity.argmax(axis=axis)[1:-1].tolist()


@pytest.mark.parametrize(("n", "is_named"), [(45, True), (46, False), (120, False)])
def test_a_large_heat_map_has_no_token_names_and_a_limited_height(n: int, is_named: bool) -> None:
    tokens = pd.DataFrame(
        {
            "side": np.repeat(["reference", "candidate"], n),
            "position": np.tile(np.arange(n), 2),
            "surface": "語",
            "special": False,
            "match_position": np.tile(np.arange(n), 2),
        }
    )
    figure = charts.heat_map(np.eye(n, dtype=np.float32), tokens)
    assert figure.layout.xaxis.showticklabels == figure.layout.yaxis.showticklabels == is_named
    assert figure.data[0].texttemplate == ("%{z:.2f}" if is_named else None)
    assert (figure.data[0].xgap, figure.data[0].ygap) == ((1, 1) if is_named else (0, 0))
    assert figure.layout.height < 1300


def test_tokens_in_a_figure_are_text_not_html(result: Result, scores: Scores) -> None:
    figure = charts.heat_map(matrix(result, "m", 2), charts.pair_tokens(scores, "m", 2))
    assert "<" not in "".join([*figure.layout.xaxis.ticktext, *figure.layout.yaxis.ticktext])
    assert figure.layout.xaxis.ticktext[1] == "&lt;"


def test_the_view_holds_every_token_with_its_match_and_numbers(result: Result, scores: Scores) -> None:
    data = json.loads(json.dumps(view(scores, result)))
    similarity = matrix(result, "m", 1)
    assert [token["text"] for token in data["reference"]] == ["[CLS]", *"斉藤は笑った", "[SEP]"]
    assert [token["text"] for token in data["candidate"]] == ["[CLS]", *"尾崎は笑った", "[SEP]"]
    for index, token in enumerate(data["candidate"]):
        if token["special"]:
            continue
        assert token["match"] == similarity[:, index].argmax()
        assert token["similarity"] == pytest.approx(similarity[:, index].max())
        assert token["match_special"] == (token["match"] in (0, 7))
    rare = [token for side in ("reference", "candidate") for token in data[side] if token["low"]]
    assert {token["text"] for token in rare} == set("斉藤尾崎")
    for token in rare:
        assert token["counted"]
        assert token["agreement"] == pytest.approx(1 - token["distance"] / token["longest"] if token["longest"] else 1)
    # は笑った weigh nothing, being in every document: the names share the whole score.
    assert sum(token["share"] for token in data["candidate"]) == pytest.approx(1)
    assert all(token["ruby"] == "" for token in data["reference"] if token["text"] in "はった")


def test_joined_readings_have_one_length_for_a_side(result: Result, scores: Scores) -> None:
    joined = rescore(result, Scoring(scores.scoring.idf, penalty="reading", pairing="joined"))
    data = view(joined, result)
    for side in ("reference", "candidate"):
        rare = [token for token in data[side] if token["low"]]
        assert len({(token["distance"], token["longest"]) for token in rare}) == 1


def test_without_a_dictionary_the_view_has_no_idf_and_no_low_frequency_token(result: Result) -> None:
    data = view(rescore(result, Scoring()), result)
    assert data["threshold"] is None
    assert {token["idf"] for token in data["reference"]} == {None}
    assert not any(token["low"] for token in data["reference"])


@pytest.mark.parametrize("scope", ["piece", "word"])
@pytest.mark.parametrize("unit", ["subword", "word"])
def test_ruby_is_the_reading_of_a_word_in_its_sentence(scope: str, unit: str) -> None:
    text = "首相が来た予定だ"
    pairs = SentencePairs("made up", (text,), (text,), ("",), {}, (1,))
    made = evaluate(Settings(("m",)), pairs, SessionFake())  # type: ignore[arg-type]
    data = view(rescore(made, Scoring(reading_scope=scope, unit=unit)), made)
    shown = [(token["text"], token["ruby"]) for token in data["reference"] if token["ruby"]]
    # whatever the penalty compares: its pieces 首 and 相 are くび and そう, and 来 alone is らい
    first = {"subword": ("首", "来", "予"), "word": ("首相", "来", "予定")}[unit]
    assert shown == list(zip(first, ("しゅしょう", "き", "よてい"), strict=True))


def test_ruby_of_a_name_is_the_reading_that_is_compared() -> None:
    # 良子 is りょうこ or よしこ: the second is nearer to はなこ
    text = "春になると、{}は故郷の母に手紙を書いた。"
    pairs = SentencePairs("made up", (text.format("花子"),), (text.format("良子"),), ("",), {}, (1,))
    made = evaluate(Settings(("m",)), pairs, SessionFake())  # type: ignore[arg-type]
    scores = rescore(made, Scoring(penalty="names"))
    first = next(token for token in view(scores, made)["candidate"] if token["name"])
    assert first["text"] == "良" and first["ruby"] == first["reading"] == "よしこ"
    plain = view(rescore(made, Scoring(penalty="none")), made)["candidate"]
    assert next(token["ruby"] for token in plain if token["text"] == "良") == "りょうこ"
    assert next(token["ruby"] for token in plain if token["text"] == "春") == "はる"


def test_words_are_chips_of_their_own(result: Result, scores: Scores) -> None:
    data = view(rescore(result, replace(scores.scoring, unit="word", reading_scope="word")), result)
    assert [token["text"] for token in data["reference"]] == ["[CLS]", "斉藤", "は", "笑っ", "た", "[SEP]"]
    first = data["reference"][1]
    assert first["ruby"] == "さいとう" and first["piece"] == first["text"] and data["unit"] == "word"


def test_names_are_marked_when_the_criterion_asks_for_them(result: Result, scores: Scores) -> None:
    assert not view(scores, result)["names"]
    data = view(rescore(result, replace(scores.scoring, idf="none", criterion="proper-nouns")), result)
    assert data["names"] and data["threshold"] is None
    counted = {token["text"] for token in data["reference"] if token["counted"]}
    assert counted == {token["text"] for token in data["reference"] if token["name"]} == set("斉藤")
    assert not any(token["low"] for token in data["reference"])


def test_120_tokens_are_all_in_the_view() -> None:
    pairs = SentencePairs("long", ("あ" * (TOO_LONG - 2),), ("い" * (TOO_LONG - 2),), ("",), {}, (1,))
    result = evaluate(Settings(("m",)), pairs, SessionFake())  # type: ignore[arg-type]
    data = view(rescore(result, Scoring()), result)
    assert len(data["reference"]) + len(data["candidate"]) == 2 * TOO_LONG == 120


def test_html_reaches_the_view_unchanged_and_the_view_sets_text_only(result: Result, scores: Scores) -> None:
    data = view(scores, result, row=2)
    assert "".join(str(token["text"]) for token in data["reference"] if not token["special"]) == HTML[0]
    script = "".join((COMPONENTS / name).read_text(encoding="utf-8") for name in alignment_view.SCRIPTS)
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "setHTML", "eval("):
        assert way not in script


def one_pair(**numbers: float) -> dict[str, float]:
    return {"f1": 0.82, "penalized_f1": 0.75} | numbers


def rare_tokens(*tokens: tuple[str, str, str, str, str, int, float]) -> pd.DataFrame:
    names = ["side", "surface", "match_surface", "reading", "match_reading", "reading_distance", "agreement"]
    return pd.DataFrame(tokens, columns=names).assign(
        low_frequency=True,
        penalised=True,
        position=range(len(tokens)),
        word=range(len(tokens)),
        match_position=range(len(tokens)),
        by_reading=True,
    )


SWAPPED = (
    ("reference", "斉藤", "尾崎", "さいとう", "おざき", 4, 0.0),
    ("candidate", "尾崎", "斉藤", "おざき", "さいとう", 4, 0.0),
)


def test_the_summary_names_swapped_names_once() -> None:
    # さいとう has 4 kana and shares none in place with おざき: 4 edits of 4, so M = 1 - 4/4; 0.82 - 0.75 = 0.07.
    assert penalty_summary(one_pair(), rare_tokens(*SWAPPED)) == (
        "斉藤 → 尾崎: readings さいとう / おざき, 4 of 4 kana differ, M = 0: the penalty lowers F1 by 0.07."
    )


def test_the_summary_counts_the_tokens_that_it_does_not_name() -> None:
    more = [("reference", name, "x", "あ", "い", 1, 0.0) for name in "甲乙丙"]
    assert "; and 2 more: the penalty" in penalty_summary(one_pair(), rare_tokens(*SWAPPED, *more))


def test_the_summary_joins_the_readings_of_a_side() -> None:
    tokens = rare_tokens(
        ("reference", "斉", "尾", "さい", "お", 4, 0.0), ("reference", "藤", "崎", "とう", "ざき", 4, 0.0)
    )
    assert penalty_summary(one_pair(), tokens, joined=True).startswith(
        "The reference's low-frequency tokens 斉 · 藤 together: readings さいとう / おざき, 4 of 4 kana differ, M = 0"
    )


@pytest.mark.parametrize(
    ("pair", "tokens", "text"),
    [
        (one_pair(f1=np.nan), rare_tokens(*SWAPPED), "no score"),
        (one_pair(), rare_tokens(), "No token is low-frequency"),
        (one_pair(), rare_tokens(("reference", "斉藤", "斎藤", "さいとう", "さいとう", 0, 1.0)), "has no effect"),
        (one_pair(penalized_f1=0.8199), rare_tokens(*SWAPPED), "less than 0.01"),
        (one_pair(penalized_f1=np.nan), rare_tokens(*SWAPPED), "penalised F1 is undefined"),
        (
            one_pair(),
            rare_tokens(("reference", "Ａ", "", "えー", "", 2, 0.0)),
            "Ａ → no match: readings えー / (nothing)",
        ),
    ],
)
def test_the_summary_in_other_cases(pair: dict[str, float], tokens: pd.DataFrame, text: str) -> None:
    assert text in penalty_summary(pair, tokens)


def test_of_many_pairs_a_sample_of_all_of_them_is_drawn() -> None:
    n = 5 * human_charts.DRAWN
    table = pd.DataFrame({"row": range(1, n + 1), "human": 1.0, "f1": 0.5})
    drawn = human_charts.drawn_pairs(table, "f1")
    assert len(drawn) == human_charts.DRAWN and drawn["row"].is_unique and drawn["row"].is_monotonic_increasing
    assert drawn["row"].mean() == pytest.approx(n / 2, rel=0.05)  # from all of the table
    assert drawn.equals(human_charts.drawn_pairs(table, "f1")) and not drawn.equals(
        human_charts.drawn_pairs(table, "f1", 1)
    )
    few = table.head(3).assign(human=[1.0, float("nan"), 2.0])
    assert human_charts.drawn_pairs(few, "f1")["row"].tolist() == [1, 3]
