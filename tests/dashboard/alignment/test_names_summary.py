"""The sentence on names by reading, and what the view says of them."""

from __future__ import annotations

import pytest

from dashboard.alignment.charts import pair_tokens
from dashboard.alignment.names_summary import names_summary
from dashboard.alignment.view import view_data
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.records import Scoring, Settings
from engine.evaluations.alignment.rescoring import Scores, matrix, rescore
from tests.support.session_fake import SessionFake

PAIRS = (
    ("斉藤は笑った", "さいとうは笑った"),
    ("斉藤は笑った", "尾崎は笑った"),
    ("Zxcvは笑った", "Zxcyは笑った"),
    ("髙橋は笑った", "彼は笑った"),
    ("猫は笑った", "犬は笑った"),
)


@pytest.fixture
def scores() -> Scores:
    references, candidates = zip(*PAIRS, strict=True)
    dataset = SentencePairs("made up", references, candidates, ("",) * len(PAIRS), {}, tuple(range(1, len(PAIRS) + 1)))
    return rescore(evaluate(Settings(("m",)), dataset, SessionFake()), Scoring())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (1, "斉藤 / さいとう: readings さいとう / さいとう, M = 1.00, same name: names by reading raise F1 by"),
        (2, "斉藤 / 尾崎: readings さいとう / おざき, M = 0.00, another name: names by reading lower F1 by"),
        (3, "Zxcv / Zxcy: as written, M = 0.75, unsure: names by reading"),
        (4, "Comparing names by reading has no effect: no name has a counterpart."),
        (5, "Comparing names by reading has no effect: neither sentence has a name."),
    ],
)
def test_the_sentence(scores: Scores, row: int, text: str) -> None:
    assert text in names_summary(scores.pairs.iloc[row - 1], pair_tokens(scores, "m", row))


def test_the_view_marks_names_with_the_source_of_their_reading(scores: Scores) -> None:
    result = evaluate(
        Settings(("m",)), SentencePairs("made up", ("斉藤と東だ",), ("斎藤とあずまだ",), ("",), {}, (1,)), SessionFake()
    )  # type: ignore[arg-type]
    shown = rescore(result, Scoring())
    data = view_data(pair_tokens(shown, "m", 1), matrix(result, "m", 1), float("nan"), shown.scoring)
    assert data["by_name"] and data["names"] and data["penalised"]
    named = {token["text"]: token for token in data["reference"] if token["name"]}
    assert named["斉"]["reading"] == "さいとう" and named["斉"]["source"] == "UniDic" and named["斉"]["agreement"] == 1
    assert not any(token["counted"] for token in data["reference"] if not token["name"])
