"""A list of readings of one's own finds the counterparts of its entries, which are not in the list themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.evaluations.alignment.rescoring import rescore
from tests.evaluations.alignment.test_names import BY_READING, names_of, run

READINGS = "心愛=ここあ;昴=すばる;齋藤=せいとう;香=かおり;美空=ひばり;光宙=ぴかちゅう"


@pytest.mark.parametrize(
    ("reference", "candidate", "name", "counterpart"),
    [
        ("心愛が笑った", "ここあが笑った", "心愛", "ここあ"),  # ここ and あ to MeCab
        ("昴が笑った", "スバルが笑った", "昴", "スバル"),
        ("齋藤が笑った", "せいとうが笑った", "齋藤", "せいとう"),
        ("齋藤が笑った", "セートーが笑った", "齋藤", "セートー"),  # one sound
        ("香が笑った", "薫が笑った", "香", "薫"),  # かおり to UniDic as well
        ("ひばりと遊ぶ", "美空と遊ぶ", "美空", "ひばり"),
        ("光宙だ", "ピカチュウだ", "光宙", "ピカチュウ"),
    ],
)
def test_the_counterpart_of_an_entry_is_found(reference: str, candidate: str, name: str, counterpart: str) -> None:
    result = run((reference, candidate), ("犬が笑った", "猫が笑った"))
    before, scores = (rescore(result, replace(BY_READING, readings=readings)) for readings in ("", READINGS))
    names = names_of(scores, 1)
    assert set(names["name_text"]) == {name, counterpart}
    assert set(names["agreement"]) == {1.0} and names["penalised"].all()
    before_f1 = before.pairs["penalized_f1"][0]
    assert scores.pairs["penalized_f1"][0] > before_f1 or before_f1 == 1  # スバル is found without a list
    assert scores.pairs["penalized_f1"][1] == before.pairs["penalized_f1"][1]  # no name of the list


@pytest.mark.parametrize(
    ("reference", "candidate", "readings"),
    [
        ("陽菜が来た", "ひな祭りに来た", "陽菜=まつ"),  # まつり, not まつ
        (
            "陽菜と田中が駅へ急いだ",
            "庭でひなを陽菜が見ていた",
            "陽菜=ひな",
        ),  # the entry stands in both: nothing is missing
        ("香が来た", "花子が来た", "香=かおり"),
    ],
)
def test_what_is_read_otherwise_is_no_counterpart(reference: str, candidate: str, readings: str) -> None:
    scores = rescore(run((reference, candidate)), replace(BY_READING, readings=readings))
    assert not {"ひな", "まつ", "祭り"} & set(names_of(scores, 1)["name_text"])


def test_a_false_name_gives_way_to_the_counterpart_of_an_entry() -> None:
    scores = rescore(run(("放出に行く", "はなてんに行く")), replace(BY_READING, readings="放出=はなてん"))
    assert set(names_of(scores, 1)["name_text"]) == {"放出", "はなてん"}  # はな is a name to MeCab
    assert set(names_of(scores, 1)["agreement"]) == {1.0}


@pytest.mark.parametrize(
    ("reference", "candidate", "names"),
    [
        ("心愛と駅へ急いだ", "庭でみきこを見た", {"心愛", "みきこ"}),  # みき is a name to MeCab, of nobody in the other
        ("心愛とみきが急いだ", "庭でみきこを見た", {"心愛", "みき"}),  # who is in the other stays
    ],
)
def test_a_false_name_gives_way_where_the_list_alone_knows_the_reading(
    reference: str, candidate: str, names: set[str]
) -> None:
    scores = rescore(run((reference, candidate)), replace(BY_READING, readings="心愛=みきこ"))
    assert set(names_of(scores, 1)["name_text"]) == names


def test_a_pair_has_the_names_that_it_has_alone() -> None:
    pairs = (("心愛が笑った", "ここあが笑った"), ("香が笑った", "薫が笑った"), ("斉藤は昴と", "さいとうはすばると"))
    scoring = replace(BY_READING, readings=READINGS)
    together = rescore(run(*pairs), scoring).pairs["penalized_f1"].tolist()
    assert together == pytest.approx([rescore(run(pair), scoring).pairs["penalized_f1"].item() for pair in pairs])
