"""XC-Translate by its published field names: references and predictions joined, and M-ETA as its authors count it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.datasets.formats.files import Table, read_table
from engine.datasets.sentence_pairs import SentencePairs, from_table
from engine.datasets.xc_translate import ACCEPTED, as_pairs, with_predictions
from engine.errors import InputError
from engine.evaluations.metric_study.evaluate import evaluate
from engine.evaluations.metric_study.records import Result, Settings
from tests.support.session_fake import SessionFake

# Made in the layout of data/xct/references/all/ja_JP.jsonl.
REFERENCES: list[dict[str, Any]] = [
    {
        "id": "Q1_0",
        "wikidata_id": "Q1",
        "entity_types": ["Artwork", "Book"],
        "source": "Who wrote Star Road?",
        "targets": [
            {"translation": "星の道を書いたのは誰ですか。", "mention": "星の道"},
            {"translation": "スターロードの著者は誰ですか？", "mention": "スターロード"},
        ],
        "source_locale": "en",
        "target_locale": "ja",
    },
    {
        "id": "Q1_1",
        "wikidata_id": "Q1",
        "entity_types": ["Artwork", "Book"],
        "source": "When was Star Road published?",
        "targets": [{"translation": "星の道はいつ出ましたか。", "mention": "星の道"}],
        "source_locale": "en",
        "target_locale": "ja",
    },
    {
        "id": "Q2_0",
        "wikidata_id": "Q2",
        "entity_types": [],
        "source": "Where is Tower 7?",
        "targets": [
            {"translation": "タワー7はどこですか。", "mention": "タワー7"},
            {"translation": "TOWER 7はどこですか。", "mention": "TOWER 7"},
        ],
        "source_locale": "en",
        "target_locale": "ja",
    },
    {
        "id": "Q3_0",
        "wikidata_id": "Q3",
        "entity_types": ["Person"],
        "source": "Who is Ann?",
        "targets": [{"translation": "アンは誰ですか。", "mention": "アン"}],
        "source_locale": "en",
        "target_locale": "ja",
    },
]
PREDICTIONS = {
    "Q1_0": "スターロードは誰の作品？",
    "Q1_1": "星のみちはいつ出た？",
    "Q2_0": "tower 7の場所は？",
    "Q3_0": "ｱﾝとは？",
}  # the last is right in another width alone


def lines(objects: list[dict[str, Any]], name: str) -> Table:
    return read_table("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in objects).encode(), name)


def predictions(texts: dict[str, str] = PREDICTIONS, name: str = "ja_JP.gpt-4.json") -> Table:
    return lines(
        [{"id": key, "text": "…", "target_language": "Japanese", "prediction": text} for key, text in texts.items()],
        name,
    )


def dataset() -> SentencePairs:
    return from_table(with_predictions(lines(REFERENCES, "ja_JP.jsonl"), [predictions()]))


def by_the_authors(references: list[dict[str, Any]], predicted: dict[str, str]) -> float:
    """M-ETA by its definition: of all instances those whose prediction has one of the mentions, whatever the case."""
    right = [
        any(target["mention"].casefold() in predicted.get(row["id"], "").casefold() for target in row["targets"])
        for row in references
    ]
    return sum(right) / len(right)


def study(pairs: SentencePairs) -> Result:
    return evaluate(Settings(("m/a",), idfs=("none",), pooling="none"), pairs, SessionFake())


def test_references_and_predictions_become_pairs_with_accepted_mentions() -> None:
    pairs = dataset()
    assert pairs.references[0] == "星の道を書いたのは誰ですか。" and pairs.candidates == tuple(PREDICTIONS.values())
    assert pairs.more_references == (("スターロードの著者は誰ですか？",), (), ("TOWER 7はどこですか。",), ())
    assert pairs.further[ACCEPTED] == ('["星の道", "スターロード"]', '["星の道"]', '["タワー7", "TOWER 7"]', '["アン"]')
    assert pairs.categories == ("Artwork, Book", "Artwork, Book", "", "Person") and pairs.rows == (1, 2, 3, 4)
    assert pairs.further["id"] == tuple(PREDICTIONS) and set(pairs.further["system"]) == {"ja_JP.gpt-4"}
    assert not pairs.human


def test_a_column_of_predictions_needs_no_second_file() -> None:
    joined = [row | {"prediction": PREDICTIONS[row["id"]]} for row in REFERENCES]
    pairs = from_table(lines(joined, "joined.jsonl"))
    assert pairs.candidates == dataset().candidates and pairs.further[ACCEPTED] == dataset().further[ACCEPTED]


def test_m_eta_is_that_of_the_authors_and_needs_no_human_scores() -> None:
    table = study(dataset()).entity_accuracy
    assert table["system"].tolist() == [""] and table["n"].tolist() == [4]
    assert table["accuracy_by_case"].tolist() == [by_the_authors(REFERENCES, PREDICTIONS)] == [0.5]
    assert table["n_right_by_case"].tolist() == [2]
    assert table["accuracy"].tolist() == [0.75]  # after NFKC ｱﾝ is アン
    line = study(dataset()).correlations
    assert line["pearson"].isna().all() and set(line["reason"]) == {"there are no human scores"}


def test_each_file_of_predictions_is_a_system() -> None:
    other = predictions({key: "星の道 タワー7 アン" for key in PREDICTIONS}, "ja_JP.nllb.json")
    pairs = from_table(with_predictions(lines(REFERENCES, "ja_JP.jsonl"), [predictions(), other]))
    assert pairs.n == 8 and pairs.rows == tuple(range(1, 9))
    table = study(pairs).entity_accuracy
    assert dict(zip(table["system"], table["accuracy_by_case"], strict=True)) == {
        "ja_JP.gpt-4": 0.5,
        "ja_JP.nllb": 1.0,
        "": 0.75,
    }


def test_ids_without_a_prediction_are_listed_or_left_out() -> None:
    references = lines([*REFERENCES, {"id": "Q4_0", "targets": [], "source": "?"}], "ja_JP.jsonl")
    some = with_predictions(references, [predictions({"Q1_0": "星の道", "Q2_0": "", "Q9_0": "?"})])
    assert some.notices[-1].endswith("has 1 prediction of which the references have no id: Q9_0.")
    with pytest.raises(InputError, match="4 of 5 rows have no prediction, or no targets") as error:
        from_table(some)
    assert [(bad.row, bad.reason) for bad in error.value.rows] == [
        (2, "no prediction for Q1_1"),
        (3, "no prediction for Q2_0"),
        (4, "no prediction for Q3_0"),
        (5, "Q4_0 has no list of targets, each with a translation and a mention"),
    ]
    kept = from_table(some, skip_bad_rows=True)
    assert kept.n == 1 and len(kept.left_out) == 4


def test_the_id_of_a_prediction_may_go_on_as_the_authors_code_allows() -> None:
    longer = predictions({f"{key}_ja": text for key, text in PREDICTIONS.items()})
    assert from_table(with_predictions(lines(REFERENCES, "ja_JP.jsonl"), [longer])).candidates == dataset().candidates
    twice = lines([{"id": "Q1_0", "prediction": text} for text in ("一", "二")], "twice.json")
    joined = with_predictions(lines(REFERENCES[:1], "one.jsonl"), [twice])
    assert from_table(joined).candidates == ("二",) and "the last one counts" in joined.notices[-1]


def test_what_is_no_xc_translate_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ja_JP\.jsonl holds references of XC-Translate without predictions"):
        from_table(lines(REFERENCES, "ja_JP.jsonl"))
    plain = read_table("id,targets,reference,candidate\n1,2,雨,雪\n".encode(), "plain.csv")
    assert as_pairs(plain) is plain and from_table(plain).n == 1
    with pytest.raises(InputError, match=r"plain\.csv has no columns id and targets as XC-Translate has"):
        with_predictions(plain, [predictions()])
    with pytest.raises(InputError, match=r"ja_JP\.jsonl has no column prediction"):
        with_predictions(lines(REFERENCES, "ja_JP.jsonl"), [lines(REFERENCES, "ja_JP.jsonl")])
