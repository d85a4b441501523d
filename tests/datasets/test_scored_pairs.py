"""The sample with human scores is what its docstring says of it."""

from __future__ import annotations

import math
import re
from collections import Counter

from engine.datasets import sample_data
from engine.datasets.human_scores import scale
from engine.language.readings.by_pykakasi import reading
from engine.measures.statistics.annotators import annotator_agreement

JAPANESE = re.compile(r"[ぁ-ゖァ-ヶー々一-鿿、。「」]+")


def test_thirty_references_with_two_candidates_each() -> None:
    pairs = sample_data.scored_pairs()
    assert pairs.n == 60 and set(Counter(pairs.references).values()) == {2}
    assert len(set(zip(pairs.references, pairs.candidates, strict=True))) == 60
    assert [text for text in (*pairs.references, *pairs.candidates) if not JAPANESE.fullmatch(text)] == []
    assert Counter(pairs.categories) == {
        "小さな変更": 15,
        "別の表現": 15,
        "別の意味": 14,
        "名前の誤り": 10,
        "一部の省略": 6,
    }


def test_three_annotators_from_0_to_100_who_agree_as_people_do() -> None:
    human = sample_data.scored_pairs().human
    assert list(human) == ["annotator_a", "annotator_b", "annotator_c"]
    assert [sum(map(math.isnan, scores)) for scores in human.values()] == [0, 0, 2]
    assert all(found is not None and found.name == "0-100" for found in map(scale, human.values()))
    assert 0.7 < annotator_agreement(human).mean < 0.95


def test_scores_say_what_the_change_did() -> None:
    pairs = sample_data.scored_pairs()
    by_change: dict[str, list[float]] = {}
    for scores in pairs.human.values():
        for change, score in zip(pairs.categories, scores, strict=True):
            if not math.isnan(score):
                by_change.setdefault(change, []).append(score)
    means = {change: sum(values) / len(values) for change, values in by_change.items()}
    assert means["小さな変更"] > means["別の表現"] > means["一部の省略"] > means["名前の誤り"] > 20
    assert means["別の意味"] < 20


def test_wrong_names_sound_different_and_respelled_ones_the_same() -> None:
    assert reading("斉藤") == reading("斎藤") and reading("渡辺") == reading("渡邊")
    assert reading("田中") != reading("中田") and reading("千代") != reading("美代")
    wrong = [pair for pair in zip(*_texts("名前の誤り"), strict=True) if reading(pair[0]) == reading(pair[1])]
    assert wrong == []


def _texts(change: str) -> tuple[list[str], list[str]]:
    pairs = sample_data.scored_pairs()
    chosen = [index for index, category in enumerate(pairs.categories) if category == change]
    return [pairs.references[index] for index in chosen], [pairs.candidates[index] for index in chosen]
