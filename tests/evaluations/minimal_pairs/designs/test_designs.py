"""Sentences in conditions through the evaluation: surprisals by region, predictions, intervals, several suites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats
from transformers import AutoModelForCausalLM, AutoTokenizer

from engine.__main__ import main
from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from engine.errors import InputError
from engine.evaluations.comparison.compare import compare
from engine.evaluations.comparison.records import Side
from engine.evaluations.minimal_pairs.designs.predictions import (
    EVERY,
    MEAN,
    NO_ITEM,
    interaction,
    item_predictions,
    predictions,
    region_surprisals,
    suite_scores,
    surprisals,
)
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.files import FILES, file_tables
from engine.evaluations.minimal_pairs.kinds.on_card import headlines
from engine.evaluations.minimal_pairs.records import Result, Settings
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.models.sources.cards import built_in_directory
from tests.datasets.minimal_pairs.test_designs import SUITE, condition
from tests.support.in_process import KeptWorkers
from tests.support.session_fake import SessionFake, likelihoods

GPT = "builtin/gpt2-mini-ja"
# Without spaces, so that a region of the fake's tokens, which are characters, is a slice of the sentence.
VERBS = (("1", "猫", ("寝た", "飲んだ")), ("2", "犬", ("来た", "呼んだ")), ("3", "鳥", ("鳴く", "追った")))
ROWS = [
    (item, f"{factor}_{case}", f"{noun}{particle}", verb)
    for item, noun, verbs in VERBS
    for factor, verb in zip("ab", verbs, strict=True)
    for case, particle in (("x", "が"), ("y", "を"))
]
FORMULA = "(2;%a_x%) < (2;%a_y%)"
INTERACTION = "((*;%a_x%) - (*;%a_y%)) - ((*;%b_x%) - (*;%b_y%))"


def design(rows: list[tuple[str, ...]] = ROWS, formula: str = "", suite: str = "") -> MinimalPairs:
    lines = [
        "suite,item,condition,region_1,region_2,prediction",
        *(",".join((suite, *row, f'"{formula}"')) for row in rows),
    ]
    return from_table(read_table("\n".join(lines).encode(), "design.csv"))


def evaluated(dataset: MinimalPairs, *models: str) -> Result:
    return evaluate(Settings(models or ("m",)), dataset, SessionFake({"c": "causal"}))  # type: ignore[arg-type]


def bits(model: str, text: str, start: int = 0, end: int | None = None) -> float:
    return float(-np.sum(likelihoods(model, text)[start:end], dtype=np.float64) / np.log(2))


def by_hand(model: str, place: slice) -> pd.DataFrame:
    """The surprisal in a slice of the sentences, a row for each item and a column for each condition."""
    of = {
        (item, condition): bits(model, first + second, place.start or 0, place.stop)
        for item, condition, first, second in ROWS
    }
    return pd.Series(of).unstack()


def test_a_region_is_the_sum_over_its_tokens_in_bits() -> None:
    table = surprisals(evaluated(design()))
    assert len(table) == 3 * len(ROWS)
    for region, place in ((0, slice(None)), (1, slice(2)), (2, slice(2, None))):
        own = table[table["region"] == region].pivot(index="item", columns="condition", values="surprisal")
        np.testing.assert_allclose(own, by_hand("m", place)[own.columns])
    of_parts = table[table["region"] > 0].groupby("row")[["surprisal", "tokens"]].sum()
    whole = table[table["region"] == 0].set_index("row")
    np.testing.assert_allclose(whole["surprisal"], of_parts["surprisal"])
    assert whole["tokens"].tolist() == of_parts["tokens"].tolist()


def test_no_region_is_lost_where_fewer_have_names() -> None:
    suite = {
        "meta": {"name": "s"},
        "region_meta": {"2": "Middle"},
        "predictions": [{"formula": "(3;%a%) > (3;%b%)"}],
        "items": [
            {"item_number": 1, "conditions": [condition("a", "猫が", "今", "寝た"), condition("b", "犬が", "", "来た")]}
        ],
    }
    result = evaluated(from_table(read_table(json.dumps(suite).encode(), "suite.json")))
    table = surprisals(result)
    assert table["region"].tolist() == [0, 1, 2, 3] * 2 and table["region_name"].tolist() == ["", "", "Middle", ""] * 2
    assert table["tokens"].tolist() == [5, 2, 1, 2, 4, 2, 0, 2]
    assert predictions(result)["n"].item() == 1


def test_a_region_has_one_name_in_all_of_its_suite() -> None:
    """The rows of a table name the regions together, whichever of them does."""
    lines = [
        "item,condition,region_1,region_2,region_names",
        '1,a,猫が,寝た,"1 Noun"',
        "1,b,猫を,寝た,",
        '2,a,犬が,来た,"2 Verb"',
        "2,b,犬を,来た,",
    ]
    table = region_surprisals(evaluated(from_table(read_table("\n".join(lines).encode(), "own.csv"))))
    assert table["region_name"].tolist() == ["", "Noun", "Verb"] * 2 and set(table["n"]) == {2}


def test_the_mean_of_a_region_has_students_interval() -> None:
    table = region_surprisals(evaluated(design()))
    expected = by_hand("m", slice(2, None))
    for line in table[table["region"] == 2].to_dict("records"):
        values = expected[line["condition"]]
        assert (line["n"], line["surprisal"]) == (3, pytest.approx(values.mean()))
        low, high = stats.t.interval(0.95, 2, values.mean(), stats.sem(values))
        assert (line["ci_low"], line["ci_high"]) == (pytest.approx(low), pytest.approx(high))


def test_a_prediction_holds_for_the_items_whose_regions_say_so() -> None:
    result = evaluated(design(formula=FORMULA))
    (line,) = predictions(result).to_dict("records")
    expected = by_hand("m", slice(2, None))
    effect = expected["a_y"] - expected["a_x"]
    assert (line["n"], line["n_correct"]) == (3, int((effect > 0).sum()))
    assert line["effect"] == pytest.approx(effect.mean()) and line["reason"] == ""
    low, high = stats.t.interval(0.95, 2, effect.mean(), stats.sem(effect))
    assert (line["effect_low"], line["effect_high"]) == (pytest.approx(low), pytest.approx(high))
    items = item_predictions(result)
    assert items["holds"].tolist() == (effect > 0).astype(int).tolist() and items["row"].tolist() == [1, 5, 9]
    np.testing.assert_allclose(items["effect"], effect)


def test_two_factors_have_their_interaction_where_nothing_is_predicted() -> None:
    (line,) = predictions(evaluated(design())).to_dict("records")
    whole = by_hand("m", slice(None))
    expected = (whole["a_x"] - whole["a_y"]) - (whole["b_x"] - whole["b_y"])
    assert line["prediction"] == INTERACTION and line["effect"] == pytest.approx(expected.mean())
    assert interaction(["a_x", "a_y", "b_x"]) is None and interaction(["one", "two", "three", "four"]) is None
    assert interaction(["a_x", "a_y", "a_x", "b_y"]) is None
    single = evaluated(design([row for row in ROWS if row[1] in ("a_x", "a_y")]))
    assert predictions(single).empty and not region_surprisals(single).empty


def test_formulas_of_ones_own_take_the_place_of_those_of_the_data() -> None:
    result = evaluated(design(formula=FORMULA))
    both = predictions(result, (INTERACTION, f"{FORMULA} & (1;%a_x%) > 0"))
    assert both["prediction"].tolist() == [INTERACTION, f"{FORMULA} & (1;%a_x%) > 0", FORMULA, "(1;%a_x%) > 0", EVERY]
    assert both["is_part"].tolist() == [False, False, True, True, False]
    expected = by_hand("m", slice(2, None))
    assert both["n_correct"].tolist()[1:4] == [int((expected["a_x"] < expected["a_y"]).sum())] * 2 + [3]
    with pytest.raises(InputError, match="'other'"):
        predictions(result, ("(1;%other%) > 0",))
    with pytest.raises(InputError, match="region 7"):
        predictions(result, ("(7;%a_x%) > 0",))


def test_an_item_without_a_sentence_is_not_counted() -> None:
    """One sentence of item 2 is too long for the model, item 3 has no sentence in a_y."""
    rows = [
        (item, condition, first, second * 40 if (item, condition) == ("2", "a_x") else second)
        for item, condition, first, second in ROWS
        if (item, condition) != ("3", "a_y")
    ]
    result = evaluated(design(rows, FORMULA))
    (line,) = predictions(result).to_dict("records")
    assert line["n"] == 1 and np.isnan(line["effect_low"]) and line["reason"]
    assert item_predictions(result)["holds"].isna().tolist() == [False, True, True]
    (none,) = predictions(result, ("(2;%a_x%) + (2;%a_y%) > 0 & (1;%b_x%) > 0",))[:1].to_dict("records")
    assert none["n"] == 1
    both = predictions(result, (FORMULA, "(1;%a_x%) > 0"))  # the second holds for items 1 and 3 as well
    assert dict(zip(both["prediction"], both["n"], strict=True)) == {FORMULA: 1, "(1;%a_x%) > 0": 2, EVERY: 1}
    nobody = evaluated(design([row for row in rows if row[0] != "1"], FORMULA))
    (line,) = predictions(nobody).to_dict("records")
    assert line["n"] == 0 and np.isnan(line["accuracy"]) and line["reason"] == NO_ITEM


def test_several_suites_have_the_mean_of_their_scores() -> None:
    first, second = design(ROWS, FORMULA, "one"), design(ROWS[:8], "(1;%a_x%) < (1;%a_y%)", "two")
    lines = ["suite,item,condition,region_1,region_2,prediction"]
    for name, rows, formula in (("one", ROWS, FORMULA), ("two", ROWS[:8], "(1;%a_x%) < (1;%a_y%)")):
        lines += [",".join((name, *row, f'"{formula}"')) for row in rows]
    together = predictions(evaluated(from_table(read_table("\n".join(lines).encode(), "both.csv")), "m", "c"))
    scores = suite_scores(together)
    assert scores["prediction"].tolist() == [MEAN, MEAN] and scores["suite"].tolist() == ["", ""]
    for model, score in zip(scores["model"], scores["accuracy"], strict=True):
        alone = [predictions(evaluated(dataset, model))["accuracy"].item() for dataset in (first, second)]
        assert score == pytest.approx(np.mean(alone))
    assert ((scores["ci_low"] >= 0) & (scores["ci_high"] <= 1) | scores["ci_low"].isna()).all()
    assert suite_scores(predictions(evaluated(first)))["prediction"].tolist() == [FORMULA]


def test_a_formula_is_about_the_suites_that_have_what_it_names() -> None:
    lines = [
        "suite,item,condition,region_1,region_2",
        "s,1,a,猫が,寝た",
        "s,1,b,猫を,寝た",
        "t,1,c,犬が,来た",
        "t,1,d,犬を,来た",
    ]
    result = evaluated(from_table(read_table("\n".join(lines).encode(), "both.csv")))
    table = predictions(result, ("(2;%a%) < (2;%b%)", "(1;%d%) > 0"))
    assert table[["suite", "prediction"]].to_numpy().tolist() == [
        ["s", "(2;%a%) < (2;%b%)"],
        ["t", "(1;%d%) > 0"],
        ["", MEAN],
    ]
    with pytest.raises(InputError, match=r"s: the prediction .* names the condition 'c'"):
        predictions(result, ("(1;%a%) > (1;%c%)",))


def test_a_suite_of_which_no_sentence_is_scored_is_not_lost() -> None:
    """It has no accuracy, and the mean of the suites is that of the others."""
    lines = [
        "suite,item,condition,region_1,region_2,prediction",
        *(
            f"{suite},1,{name},{noun * (100 if suite == 't' else 1)},寝た,{formula}"
            for suite in "rst"
            for name, noun, formula in (("a", "猫が", "(1;%a%) > 0"), ("b", "猫を", ""))
        ),
    ]
    result = evaluated(from_table(read_table("\n".join(lines).encode(), "both.csv")))
    table = predictions(result)
    assert table["suite"].tolist() == ["r", "s", "t", ""] and table["n"].tolist() == [1, 1, 0, 2]
    assert table["reason"].iloc[2] == NO_ITEM and table["accuracy"].iloc[3] == 1.0
    assert item_predictions(result)["suite"].tolist() == ["r", "s"]


def test_the_tables_are_those_that_files_declare_and_nothing_is_compared() -> None:
    result = evaluated(design(formula=FORMULA), "m", "c")
    tables = file_tables(result, ("LP",), 0.8, "category", 0)
    assert {"predictions", "item_predictions", "region_surprisals", "surprisals"} <= tables.keys()
    declared = {table.name: table for table in FILES}
    for name, table in tables.items():
        declared[name].arranged(table)
    (headline,) = headlines(result, "c")
    assert headline.measure == "prediction_accuracy" and not headline.is_compared
    with pytest.raises(InputError, match="single sentences"):
        compare("minimal-pairs", Side("a", result, "m"), Side("b", result, "c"))
    pairs = evaluate(
        Settings(("m",)),
        MinimalPairs.from_frame(pd.DataFrame([("a cat", "cat a")], columns=["acceptable", "unacceptable"]), "p"),
        SessionFake(),
    )  # type: ignore[arg-type]
    assert predictions(pairs).empty
    with pytest.raises(InputError, match="Leave them out"):
        file_tables(pairs, ("LP",), 0.8, "category", 0, predictions=(FORMULA,))


def test_the_real_model_agrees_with_a_plain_loop(tmp_path: Path, kept_workers: KeptWorkers) -> None:
    """An English suite: the space before a region belongs to its first token."""
    (tmp_path / "suite.json").write_text(json.dumps(SUITE), encoding="utf-8")
    dataset = from_table(read_table((tmp_path / "suite.json").read_bytes(), "suite.json"))
    session = Gateway(kept_workers, Cache(tmp_path / "cache.sqlite", 10**8)).session("a")
    table = surprisals(evaluate(Settings((GPT,)), dataset, session))
    tokenizer = AutoTokenizer.from_pretrained(built_in_directory(GPT))
    model = AutoModelForCausalLM.from_pretrained(built_in_directory(GPT), dtype=torch.float32).eval()
    for row, text in zip(dataset.rows, dataset.acceptable, strict=True):
        encoded = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
        ids = torch.tensor([[tokenizer.bos_token_id, *encoded["input_ids"]]])
        with torch.no_grad():
            log_p = model(ids).logits.double().log_softmax(-1)[0, :-1].gather(1, ids[0, 1:, None])[:, 0] / np.log(2)
        words: dict[int, Any] = dict.fromkeys(range(4), 0.0)
        regions = (
            ["The woman", "plays" if row == 1 else "play", "the guitar"]
            if row < 3
            else ["The boys", "run" if row == 3 else "runs"]
        )
        ends = np.cumsum([len(region) + 1 for region in regions])
        for (start, end), value in zip(encoded["offset_mapping"], log_p.tolist(), strict=True):
            first = start + len(text[start:end]) - len(text[start:end].lstrip()) if text[start:end].strip() else end
            words[int(np.searchsorted(ends, first, side="right")) + 1] -= value
            words[0] -= value
        own = table[table["row"] == row].set_index("region")["surprisal"]
        np.testing.assert_allclose(own, [words[region] for region in own.index], atol=1e-3)


def test_the_command_writes_the_tables_and_takes_formulas(tmp_path: Path) -> None:
    (tmp_path / "suite.json").write_text(json.dumps(SUITE), encoding="utf-8")
    formula = "(*;%match%) < (*;%mismatch%)"
    assert (
        main(
            [
                "minimal-pairs",
                "--data",
                str(tmp_path / "suite.json"),
                "--model",
                GPT,
                "--predictions",
                formula,
                "--out",
                str(tmp_path / "out"),
                "--cache",
                str(tmp_path / "cache"),
            ]
        )
        == 0
    )
    table = pd.read_csv(tmp_path / "out" / "predictions.csv")
    assert table["prediction"].tolist() == [formula] and table["n"].tolist() == [2]
    assert json.loads((tmp_path / "out" / "settings.json").read_text())["predictions"] == [formula]
    regions = pd.read_csv(tmp_path / "out" / "region_surprisals.csv", keep_default_na=False)
    assert regions["region_name"].unique().tolist() == ["", "Subject", "Verb", "Rest"]


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("(2;%match%", "cannot be read"),
        ("(2;%other%) > 0", "names the condition 'other'"),
        ("(9;%match%) > 0", "region 9"),
    ],
)
def test_the_command_refuses_a_formula_before_anything_is_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], formula: str, message: str
) -> None:
    (tmp_path / "suite.json").write_text(json.dumps(SUITE), encoding="utf-8")
    (tmp_path / "pairs.csv").write_text("acceptable,unacceptable\nA cat.,Cat a.\n", encoding="utf-8")
    for name, expected in (("suite.json", message), ("pairs.csv", "Leave them out")):
        assert (
            main(
                [
                    "minimal-pairs",
                    "--data",
                    str(tmp_path / name),
                    "--model",
                    "no/such-model",
                    "--predictions",
                    formula,
                    "--out",
                    str(tmp_path / "out"),
                    "--cache",
                    str(tmp_path / "cache"),
                ]
            )
            != 0
        )
        assert expected in capsys.readouterr().err
