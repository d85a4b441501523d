"""Scores over a part of each sentence: by hand, on BLiMP's own columns, and against a plain loop over a real model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.records import DIFFERING, MARKED, ONE_PREFIX, TWO_PREFIX, WHOLE, Result, Settings
from engine.evaluations.minimal_pairs.regions import WITHOUT, WITHOUT_MARKED, of_region, regions_of
from engine.evaluations.minimal_pairs.views import available, scores, summary
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.models.sources.cards import BUILT_IN
from tests.support.in_process import KeptWorkers
from tests.support.session_fake import SessionFake, likelihoods

BLIMP = [
    {
        "sentence_good": "Katherine can't help herself.",
        "sentence_bad": "Katherine can't help himself.",
        "one_prefix_prefix": "Katherine can't help",
        "one_prefix_word_good": "herself",
        "one_prefix_word_bad": "himself",
        "UID": "anaphor",
    },
    {
        "sentence_good": "The dog runs.",
        "sentence_bad": "The dogs runs.",
        "two_prefix_prefix_good": "The dog",
        "two_prefix_prefix_bad": "The dogs",
        "two_prefix_word": "runs",
        "UID": "agreement",
    },
    {"sentence_good": "Everyone ran.", "sentence_bad": "Ran everyone.", "UID": "order"},
]


def blimp(folder: Path, rows: list[dict[str, str]] = BLIMP) -> MinimalPairs:
    file = folder / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return read_pairs([(file.name, file)])


def evaluated(dataset: MinimalPairs, *models: str) -> Result:
    return evaluate(Settings(models or ("m", "c")), dataset, SessionFake({"c": "causal"}))  # type: ignore[arg-type]


def inside(model: str, text: str, part: str) -> float:
    """The sum over a part of a text that stands there once; a token of the fake is a character."""
    start = text.index(part)
    return float(np.sum(likelihoods(model, text)[start : start + len(part)], dtype=np.float64))


def test_a_region_is_the_sum_over_its_tokens_and_the_others_are_left_out(tmp_path: Path) -> None:
    result = evaluated(blimp(tmp_path))
    assert regions_of(result) == (WHOLE, DIFFERING, ONE_PREFIX, TWO_PREFIX)
    expected = {
        ONE_PREFIX: {1: ("herself", "himself")},
        TWO_PREFIX: {2: ("runs", "runs")},
        DIFFERING: {1: ("herself", "himself"), 2: ("dog", "dogs"), 3: ("Everyone ran", "Ran everyone")},
    }
    for region, by_row in expected.items():
        part_of = of_region(result, region)
        pairs = part_of.pairs
        left_out = part_of.excluded.loc[part_of.excluded["reason"] == WITHOUT, ["model", "row"]]
        assert sorted(left_out.itertuples(index=False, name=None)) == [
            (model, row) for model in ("c", "m") for row in (1, 2, 3) if row not in by_row
        ]
        assert sorted(set(pairs["row"])) == list(by_row) and len(pairs) == 2 * len(by_row)
        for row in pairs.to_dict("records"):
            for side, part in zip(("acceptable", "unacceptable"), by_row[row["row"]], strict=True):
                assert row[f"{side}_log_likelihood"] == pytest.approx(
                    inside(row["model"], row[side], part) - (inside(row["model"], row[side], " ") if " " in part else 0)
                )
                assert row[f"{side}_tokens"] == len(part.replace(" ", ""))
    assert of_region(result, WHOLE) is result


def test_every_view_takes_a_region(tmp_path: Path) -> None:
    region = of_region(evaluated(blimp(tmp_path)), DIFFERING)
    assert not {"per character", "bits per byte", "MORCELA"} & set(available(region.pairs))
    for name in available(region.pairs):
        assert np.isfinite(np.concatenate(scores(region.pairs, name))).all()
    assert set(summary(region).query("stratum == 'all'")["n"]) == {3}


def marked(folder: Path, rows: list[dict[str, str]]) -> Result:
    return evaluated(blimp(folder, rows), "m")


def test_a_marked_region_is_what_its_columns_hold(tmp_path: Path) -> None:
    rows = [
        {"good": "the cat sat", "bad": "the cat sit", "good_region": "cat sat", "bad_region": "cat sit"},
        {"good": "it is", "bad": "it are", "good_region": "", "bad_region": ""},
    ]
    result = marked(tmp_path, rows)
    pairs = of_region(result, MARKED).pairs
    assert pairs["row"].tolist() == [1] and pairs["acceptable_tokens"].tolist() == [7]
    assert not any("region" in notice for notice in result.notices)
    blank = [
        {**rows[0], "good_region": " cat sat "},
        {**rows[1], "good_region": " ", "bad_region": " "},
        {"good": "a b", "bad": "a c", "acceptable_region": "b", "unacceptable_region": "c"},
    ]
    assert set(of_region(marked(tmp_path, blank), MARKED).pairs["row"]) == {1, 3}


def test_a_marked_region_that_is_not_there_leaves_its_row_out_and_of_several_the_last_counts(tmp_path: Path) -> None:
    result = marked(
        tmp_path,
        [
            {"good": "the cat sat", "bad": "the cat sit", "good_region": "sat", "bad_region": "sit"},
            {"good": "a b a", "bad": "a b", "good_region": "a", "bad_region": "b"},
            {"good": "c", "bad": "d", "good_region": "c", "bad_region": "e"},
        ],
    )
    part = of_region(result, MARKED)
    assert part.pairs["row"].tolist() == [1, 2]
    assert part.pairs["acceptable_log_likelihood"].tolist()[1] == pytest.approx(float(likelihoods("m", "a b a")[4]))
    assert part.excluded[["row", "reason"]].to_numpy().tolist() == [[3, WITHOUT_MARKED]]
    assert result.notices[-2:] == (
        "1 row marks a region that is not in both sentences, so that it has no region: 3.",
        "1 row marks a region that a sentence has several times; the last one is counted: 2.",
    )


@pytest.mark.parametrize(
    "rows",
    [
        # TurBLiMP: the region is in both sentences, "-" where there is none, and now and then misspelled.
        [
            {
                "good_cue": "kediler",
                "bad_cue": "kedi",
                "critical_region": region,
                "phenomenon": "agreement",
                "good_sentence": good,
                "bad_sentence": bad,
            }
            for good, bad, region in (
                ("ali oturdu ve kediler oturdu", "ali oturdu ve kedi oturdu", "oturdu"),
                ("kediler al-al kaldı", "kedi al-al kaldı", "-"),
                ("kediler uyudu", "kedi uyudu", "uyudi"),
            )
        ],
        # BLiMP-NL
        [
            {
                "linguistic_phenomenon": "agreement",
                "paradigm": "number",
                "item_id": str(i),
                "cue_word": "katten",
                "critical_word": word,
                "sentence_good": good,
                "sentence_bad": bad,
            }
            for i, (good, bad, word) in enumerate(
                (
                    ("wie zat daar? de katten zat", "wie zat daar? de kat zat", "zat"),
                    ("de katten lopen", "de kat lopen", ""),
                    ("de katten", "de kat", "slapen"),
                )
            )
        ],
    ],
)
def test_critical_regions_as_turblimp_and_blimp_nl_publish_them(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    dataset = blimp(tmp_path, rows)
    assert dataset.format in ("TurBLiMP", "BLiMP-NL")
    result = evaluated(dataset, "m")
    pairs = of_region(result, MARKED).pairs
    assert pairs["row"].tolist() == [1]
    for side in ("acceptable", "unacceptable"):
        text = pairs[side].iloc[0]
        region = text.split()[-1]
        last = likelihoods("m", text)[-len(region) :]
        assert pairs[f"{side}_log_likelihood"].iloc[0] == pytest.approx(float(np.sum(last, dtype=np.float64)))
        assert pairs[f"{side}_tokens"].iloc[0] == len(region)
    assert any("not in both sentences" in notice and notice.endswith(": 3.") for notice in result.notices)


def test_a_region_inside_a_longer_word_is_not_the_word(tmp_path: Path) -> None:
    """The last "al" is the beginning of "alone"; without spaces there are no words to tell, and the last counts."""
    spaced, unspaced = (
        {"good": good, "bad": f"{good} x", "good_region": region, "bad_region": region}
        for good, region in (("al is alone", "al"), ("猫と子猫", "猫"))
    )
    first, second = of_region(marked(tmp_path, [spaced, unspaced]), MARKED).pairs["acceptable_log_likelihood"]
    assert first == pytest.approx(float(np.sum(likelihoods("m", "al is alone")[:2], dtype=np.float64)))
    assert second == pytest.approx(float(likelihoods("m", "猫と子猫")[3]))


def test_a_file_whose_regions_are_all_absent_has_none(tmp_path: Path) -> None:
    result = marked(
        tmp_path,
        [{"good": "a b", "bad": "a c", "critical_region": "b"}, {"good": "a b", "bad": "a c", "critical_region": "-"}],
    )
    assert MARKED not in regions_of(result) and result.notices[-1].endswith("has no region: 1.")


def test_a_prefix_that_is_not_that_of_the_sentence_has_no_region(tmp_path: Path) -> None:
    other = [{**BLIMP[0], "one_prefix_prefix": "Kathy can't help"}, BLIMP[0]]
    assert set(of_region(evaluated(blimp(tmp_path, other), "m"), ONE_PREFIX).pairs["row"]) == {2}


def test_a_word_that_is_published_with_its_space_is_found(tmp_path: Path) -> None:
    """BLiMP's animate_subject_trans has " fixed" in some of its rows, and "has fixed" in others."""
    spaced = [{**BLIMP[1], "two_prefix_word": " runs"}, BLIMP[1]]
    first, second = of_region(evaluated(blimp(tmp_path, spaced), "m"), TWO_PREFIX).pairs["acceptable_log_likelihood"]
    assert first == second


def test_results_of_earlier_versions_have_whole_sentences_alone(tmp_path: Path) -> None:
    result = evaluated(blimp(tmp_path), "m")
    for tokens in (
        result.tokens.drop(columns="regions"),
        result.tokens.assign(regions=pd.array([pd.NA] * len(result.tokens), dtype="Int64")),
    ):
        earlier = replace(result, tokens=tokens)
        assert regions_of(earlier) == (WHOLE,)
        with pytest.raises(InputError, match=r"region 'words that differ'; it has: whole sentence\. No sentence"):
            of_region(earlier, DIFFERING)


def test_a_real_model_gives_what_a_plain_loop_gives(tmp_path: Path, kept_workers: KeptWorkers) -> None:
    """log P(word | prefix) of the prefix and the word alone, without the rest of the sentence."""
    name = "builtin/gpt2-mini-ja"
    directory = BUILT_IN[name].directory
    rows: list[dict[str, Any]] = [
        {
            "sentence_good": "花子は自分を責めた。",
            "sentence_bad": "花子は彼らを責めた。",
            "one_prefix_prefix": "花子は",
            "one_prefix_word_good": "自分を",
            "one_prefix_word_bad": "彼らを",
        },
        {
            "sentence_good": "猫が庭で眠る。",
            "sentence_bad": "猫が庭で眠り。",
            "one_prefix_prefix": "猫が庭で",
            "one_prefix_word_good": "眠る",
            "one_prefix_word_bad": "眠り",
        },
    ]
    session = Gateway(kept_workers, Cache(tmp_path / "cache.sqlite", 10**8)).session("a")
    result = evaluate(Settings((name,)), blimp(tmp_path, rows), session)
    pairs = of_region(result, ONE_PREFIX).pairs
    tokenizer = AutoTokenizer.from_pretrained(directory)
    model = AutoModelForCausalLM.from_pretrained(directory).float().eval()
    for row, pair in zip(rows, pairs.to_dict("records"), strict=True):
        for side, word in (("acceptable", row["one_prefix_word_good"]), ("unacceptable", row["one_prefix_word_bad"])):
            encoding = tokenizer(pair[side], return_offsets_mapping=True, add_special_tokens=False)
            start = len(row["one_prefix_prefix"])
            expected, ids = 0.0, [tokenizer.bos_token_id, *encoding["input_ids"]]
            for place, (begin, end) in enumerate(encoding["offset_mapping"], start=1):
                if begin < start + len(word) and end > start:
                    with torch.no_grad():
                        expected += float(model(torch.tensor([ids[:place]])).logits[0, -1].log_softmax(-1)[ids[place]])
            assert pair[f"{side}_log_likelihood"] == pytest.approx(expected, abs=1e-4)
