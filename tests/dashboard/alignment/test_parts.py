"""The parts of the alignment page that need no page: the table of pairs, layers, signature, downloads, words."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dashboard.alignment import pair_choice, scoring_choices
from dashboard.alignment import scores as alignment_scores
from dashboard.alignment.charts import pair_tokens
from dashboard.alignment.face import FACE
from dashboard.alignment.pair import undefined_reason
from dashboard.alignment.spread.section import means_sentence
from dashboard.shared.exports.signing import digest
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.records import Result, Scoring, Settings
from engine.evaluations.alignment.rescoring import Scores, matrix, rescore
from tests.support.session_fake import SessionFake

PAIRS = SentencePairs.from_frame(
    pd.DataFrame(
        {
            "reference": ["斉藤は笑った", "猫がいる", "雨が降る"],
            "candidate": ["尾崎は笑った", "犬がいる", "雨が降る"],
            "category": ["name", "word", "same"],
            "reference 2": ["尾崎は笑った", "", ""],
            "human:rater": [1.0, 2.0, 5.0],
        }
    ),
    "made up",
)


@pytest.fixture
def result() -> Result:
    return evaluate(Settings(("m", "n"), all_layers=True), PAIRS, SessionFake())  # type: ignore[arg-type]


def scores_of(result: Result, scoring: Scoring, layer: int | None = None) -> dict[str, Scores]:
    return {model: rescore(result, scoring, layer, models=(model,)) for model in result.settings.models}


def table_of(result: Result, scoring: Scoring) -> pd.DataFrame:
    return pair_choice.pair_table(result.pairs, scores_of(result, scoring)["m"].pairs)


REFERENCES = Scoring("references", penalty="reading")


def test_headlines_are_of_the_categories_in_the_order_of_the_data(result: Result) -> None:
    assert [headline.label for headline in FACE.headlines(result)] == ["name", "word", "same"]


def test_scores_of_the_table_have_three_decimals_and_heads_in_words(result: Result) -> None:
    columns = pair_choice._columns(table_of(result, REFERENCES), penalised=True)
    scores = {name: column for name, column in columns.items() if "f1" in name or name in ("precision", "recall")}
    assert {"f1", "penalized_f1", "f1_loss"} <= set(scores)
    assert {name: column["type_config"]["format"] for name, column in scores.items()} == dict.fromkeys(scores, "%.3f")
    assert columns["f1_loss"]["label"] == "F1 − F1′" and columns["human:rater"]["label"] == "rater"


def test_the_table_has_every_pair_with_its_texts_human_scores_and_scores(result: Result) -> None:
    table = table_of(result, REFERENCES)
    scored = rescore(result, REFERENCES).pairs
    assert table["row"].tolist() == [1, 2, 3] and table["human:rater"].tolist() == [1.0, 2.0, 5.0]
    assert table["reference"].tolist() == list(PAIRS.references)
    np.testing.assert_array_equal(table["f1"], scored[scored["model"] == "m"]["f1"])
    np.testing.assert_array_equal(table["f1_loss"], table["f1"] - table["penalized_f1"])
    # The second reference of row 1 is its candidate.
    assert table["best_reference"].tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        ({}, [1, 2, 3]),
        ({"text": " 猫 "}, [2]),
        ({"text": "尾崎"}, [1]),
        ({"text": "["}, []),
        ({"categories": ["same", "word"]}, [2, 3]),
        ({"text": "が", "categories": ["same"]}, [3]),
    ],
)
def test_pairs_are_filtered_by_text_and_category(result: Result, filters: dict[str, object], rows: list[int]) -> None:
    assert pair_choice.filtered(table_of(result, REFERENCES), **filters)["row"].tolist() == rows  # type: ignore[arg-type]


@pytest.mark.parametrize("order", pair_choice.ORDERS)
def test_pairs_are_sorted_with_undefined_scores_last(order: str) -> None:
    table = pd.DataFrame(
        {
            "row": [1, 2, 3],
            "category": "",
            "reference": "x",
            "candidate": "x",
            "f1": [0.5, np.nan, 0.9],
            "f1_loss": [0.1, np.nan, 0.3],
            "distance": [1.2, np.nan, 0.4],
        }
    )
    rows = pair_choice.filtered(table, order=order)["row"].tolist()
    assert (
        rows
        == {
            "as in the file": [1, 2, 3],
            "largest penalty first": [3, 1, 2],
            "lowest F1 first": [1, 3, 2],
            "highest F1 first": [3, 1, 2],
            "farthest from the humans first": [1, 3, 2],
        }[order]
    )


def test_the_means_leave_out_what_has_no_score() -> None:
    table = pd.DataFrame({"f1": [0.4, np.nan, 0.6], "penalized_f1": [0.2, np.nan, 0.6]})
    assert means_sentence(table, penalised=True) == (
        "Mean F1 0.500 over 2 pairs; 0.400 with penalty, which lowers 1 pair"
    )
    assert means_sentence(table.iloc[1:2], penalised=True) == "No pair has a score"


def test_the_layer_is_that_of_the_settings_until_another_is_chosen(result: Result) -> None:
    assert result.layers["m"] == (0, 1, 2, 3, 4) and alignment_scores.own_layer(result, "m") == 4
    deeper = evaluate(Settings(("m",), layer=-2), PAIRS, SessionFake())  # type: ignore[arg-type]
    assert alignment_scores.own_layer(deeper, "m") == 3


def test_the_signature_is_that_of_the_shown_scoring_and_layer(result: Result) -> None:
    own = alignment_scores.shown_signature(result, scores_of(result, Scoring()), {"m": 4, "n": 4})
    assert own["layers"] == {"m": 4, "n": 4} and own["settings"]["scoring"]["idf"] == "none"
    assert "thresholds" not in own and "dictionaries" not in own
    rescored = alignment_scores.shown_signature(result, scores_of(result, REFERENCES, 1), {"m": 1, "n": 4})
    assert rescored["layers"] == {"m": 1, "n": 4} and rescored["settings"]["scoring"]["penalty"] == "reading"
    assert set(rescored["dictionaries"]) == {"m", "n"} and digest(own) != digest(rescored)
    assert result.signature["settings"]["scoring"]["penalty"] == "names"  # it was not written to


def test_the_tables_hold_all_models(result: Result) -> None:
    tables = alignment_scores.tables(scores_of(result, REFERENCES))
    assert tables["pairs"]["model"].unique().tolist() == tables["tokens"]["model"].unique().tolist() == ["m", "n"]


def test_too_many_tokens_are_written_in_parts(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment_scores, "TOKENS_IN_A_TABLE", 10)
    scores = scores_of(result, REFERENCES)
    assert set(alignment_scores.tables(scores)) == {"pairs"}
    written = b"".join(alignment_scores._parts(scores, {"seed": 0}))
    assert written.count(b"\xef\xbb\xbf") == 1
    lines = list(csv.DictReader(io.StringIO(written.decode("utf-8-sig"))))
    together = pd.concat([model_scores.tokens for model_scores in scores.values()])
    assert [line["token"] for line in lines] == together["token"].tolist()
    assert {line["signature"] for line in lines} == {digest({"seed": 0})}


def test_why_a_pair_has_no_score(result: Result) -> None:
    single = evaluate(
        Settings(("m",)),
        SentencePairs.from_frame(pd.DataFrame({"reference": ["猫"], "candidate": ["猫"]}), "one"),
        SessionFake(),
    )  # type: ignore[arg-type]
    scoring = Scoring("references")
    scores = rescore(single, scoring)
    assert np.isnan(scores.pairs["f1"].iloc[0])
    tokens = pair_tokens(scores, "m", 1)
    assert "every token of the reference has weight 0" in undefined_reason(tokens, scoring)
    assert "every reference of this run" in undefined_reason(tokens, scoring)
    assert "gives no token for the candidate" in undefined_reason(
        tokens[(tokens["side"] == "reference") | tokens["special"]].assign(idf=1.0), scoring
    )
    unmatched = tokens.assign(idf=1.0, match_position=-1)
    assert "has a token to match" in undefined_reason(unmatched, scoring)
    assert "sum to 0" in undefined_reason(tokens.assign(idf=1.0), scoring)


def test_the_shown_matrix_is_that_of_the_best_reference_and_the_layer(result: Result) -> None:
    (deep, shallow) = (matrix(result, "m", 1, layer, reference=2) for layer in (4, 1))
    tokens = pair_tokens(scores_of(result, replace(REFERENCES, idf="none", penalty="none"))["m"], "m", 1)
    assert tokens[tokens["side"] == "reference"]["surface"].tolist()[1:3] == ["尾", "崎"]
    assert deep.shape == shallow.shape and not np.allclose(deep, shallow)


def test_the_dictionary_of_a_run_is_offered_whether_or_not_it_still_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring_choices.dictionaries, "choices", lambda *_, **__: {"saved/other": "other"})

    def offered(idf: str) -> list[str]:
        settings = Settings(("m",), scoring=Scoring(idf=idf))
        return list(scoring_choices.dictionaries_offered(SimpleNamespace(settings=settings, tokenizers={"m": "t"})))  # type: ignore[arg-type]

    assert offered("references") == ["none", "references", "saved/other"]
    assert offered("saved/gone") == ["none", "references", "saved/gone", "saved/other"]
