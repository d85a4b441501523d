"""The study of names: its pairs, and what it finds with the built-in model."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.datasets.names.pairs import LENGTHS, as_sentence_pairs, name_pairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.name_study import OTHERS, SAME, SETTINGS, name_study
from engine.evaluations.alignment.records import Scoring, Settings
from engine.evaluations.alignment.rescoring import rescore
from engine.models.loading.weights import load
from tests.evaluations.alignment.direct_session import DirectSession


def test_each_setting_has_the_penalty_that_it_is_called_by() -> None:
    for name, scoring in SETTINGS.items():
        begins = name.replace(",", "").split()[0]
        assert scoring.penalty == {"F1": "none", "names": "names"}.get(begins, "reading"), name


def test_there_are_600_pairs_that_differ_in_one_name() -> None:
    pairs = name_pairs()
    assert len(pairs) == 600
    assert Counter(pair.length for pair in pairs) == dict.fromkeys(LENGTHS, 200)
    assert Counter(pair.same for pair in pairs) == {True: 300, False: 300}
    assert {pair.category for pair in pairs} == {SAME, *OTHERS}
    for pair in pairs:
        assert pair.same == (pair.category == SAME) and pair.name != pair.other_name
        assert pair.reference.replace(pair.name, "", 1) == pair.candidate.replace(pair.other_name, "", 1)
    assert len({(pair.name, pair.other_name, pair.length) for pair in pairs}) == 600


def test_the_pairs_held_out_are_others() -> None:
    chosen_on, held_out = name_pairs(), name_pairs("held_out")
    n = 600 + 471 + 400 + 276
    assert len(held_out) == 471 and as_sentence_pairs().rows == tuple(range(1, n + 1))
    assert not {frozenset((pair.name, pair.other_name)) for pair in chosen_on} & {
        frozenset((pair.name, pair.other_name)) for pair in held_out
    }
    assert sum(pair.same for pair in held_out) == 3 * 56
    for pair in held_out:
        assert pair.same == (pair.category == SAME) and pair.name != pair.other_name
        assert pair.reference.replace(pair.name, "", 1) == pair.candidate.replace(pair.other_name, "", 1)


def test_the_pairs_written_last_are_others_in_one_sentence_each() -> None:
    last = name_pairs("written_last")
    names = {frozenset((pair.name, pair.other_name)) for pair in last}
    assert len(last) == 400 == len(names) and sum(pair.same for pair in last) == 200
    for part in ("chosen_on", "held_out"):
        assert not names & {frozenset((pair.name, pair.other_name)) for pair in name_pairs(part)}
    for pair in last:
        assert pair.same == (pair.category == SAME) and pair.name != pair.other_name
        assert pair.reference.replace(pair.name, "", 1) == pair.candidate.replace(pair.other_name, "", 1)


def test_the_pairs_written_afterwards_are_others_of_nine_kinds() -> None:
    afterwards = name_pairs("written_afterwards")
    names = {frozenset((pair.name, pair.other_name)) for pair in afterwards}
    assert len(afterwards) == 276 == len(names) and sum(pair.same for pair in afterwards) == 136
    assert len({pair.kind for pair in afterwards}) == 9 and {pair.length for pair in afterwards} <= set(LENGTHS)
    for pair in afterwards:
        assert pair.same == (pair.category == SAME) and pair.name != pair.other_name
        assert pair.reference.replace(pair.name, "", 1) == pair.candidate.replace(pair.other_name, "", 1)


@pytest.mark.parametrize("idf", [None, "novel"])
def test_an_abbreviation_is_never_below_the_plain_score(idf: str | None) -> None:
    """Under the built-in model, in a short, a medium and a long sentence."""
    frames = ("{}の本部。", "昨日、{}が発表した。", "新聞によると{}の話だったが、誰も信じなかった。")
    names = (
        ("東京電力", "東電"),
        ("全日本空輸", "全日空"),
        ("日本放送協会", "NHK"),
        ("国際連合", "国連"),
        ("文部科学省", "文科省"),
        ("ファミリーマート", "ファミマ"),
    )
    references, candidates = zip(
        *((frame.format(one), frame.format(other)) for one, other in names for frame in frames), strict=True
    )
    n = len(references)
    pairs = SentencePairs("abbreviations", references, candidates, ("",) * n, {}, tuple(range(1, n + 1)))
    model = "builtin/bert-mini-ja"
    result = evaluate(Settings((model,)), pairs, DirectSession(load(model, "encode")))  # type: ignore[arg-type]
    scoring = Scoring(penalty="names") if idf is None else Scoring(idf, penalty="names")
    scores = rescore(result, scoring).pairs
    assert len(scores) == n and (scores["penalized_f1"] >= scores["f1"]).all()


@pytest.mark.nightly  # all pairs under a real model, in eleven settings
def test_the_published_numbers() -> None:
    """Those of docs/names.md, to a hundredth: sums in another order move a rank or two."""
    tables = name_study("builtin/bert-mini-ja", DirectSession(load("builtin/bert-mini-ja", "encode")))  # type: ignore[arg-type]
    areas, kinds, curves = (tables[name] for name in ("areas", "kinds", "curves"))
    of_all = areas.set_index("setting")["all"]
    assert of_all["F1"] == pytest.approx(0.284, abs=0.01)
    assert of_all["as in the paper, idf novel"] == pytest.approx(0.302, abs=0.01)
    assert of_all["names by reading"] == pytest.approx(1.0, abs=0.01)
    assert of_all["names by reading, idf novel"] == pytest.approx(1.0, abs=0.01)
    # By words: a share of 0.7 leaves no entry above it, the idf that the pieces have there most names.
    assert of_all["as in the paper, idf novel-words"] == pytest.approx(0.262, abs=0.01)
    assert of_all["as in the paper, idf novel-words above 2.73"] == pytest.approx(0.302, abs=0.01)
    assert of_all["names by reading, idf novel-words"] == pytest.approx(1.0, abs=0.01)
    assert of_all["readings of the two names alone, no model"] > 0.999
    held_out = areas.set_index("setting")["held_out"]
    assert held_out["names by reading"] == pytest.approx(1.0, abs=0.01) and held_out["F1"] < 0.40
    last = areas.set_index("setting")["written_last"]
    assert last["names by reading"] == pytest.approx(0.994, abs=0.01) and last["F1"] < 0.30
    assert of_all["names by reading"] > of_all["names by reading, without one sound"]
    # one threshold: what M decides on is right, in each part and kind
    assert (kinds["right"] >= 0.9).all() and (kinds["decided"] >= 0.85).all()
    whole = curves[curves["false_positive_rate"] == 1]
    assert len(curves) == 21 * len(kinds) and (whole["true_positive_rate"] == 1).all()
    assert (curves["ci_low"] <= curves["ci_high"]).all()
    assert (kinds["ci_low"] <= kinds["area"]).all() and (kinds["area"] <= kinds["ci_high"]).all()
    assert kinds.loc[kinds["kind"] == "all", "n"].tolist() == [600, 471, 400, 276]
