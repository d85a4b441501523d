"""A causal model under several prefixes in one run: conditions, on likelihoods that are noise from text and prefix."""

from __future__ import annotations

import json
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import ModelError
from engine.evaluations.comparison.compare import compare
from engine.evaluations.comparison.records import Side
from engine.evaluations.minimal_pairs.comparison import comparisons, ranking
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.levels import checkpoints
from engine.evaluations.minimal_pairs.records import Result, Settings
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series, prefix_conditions
from engine.evaluations.minimal_pairs.views import counts
from engine.evaluations.model_map.evaluate import models_of
from engine.models.sources.names import LONGEST_LABEL, require_distinct, split_label
from engine.models.tokenization.prefix_tokens import AUTO, prefix_tokens
from engine.runs.storage.json_codec import record_from_json, to_json_value
from engine.runs.storage.packing import pack, unpack
from tests.support.session_fake import SessionFake, facts, noise

N = 60
PAIRS = MinimalPairs(
    "made up",
    tuple(f"猫が魚を{i}匹食べた。" for i in range(N)),
    tuple(f"猫に魚が{i}匹食べた。" for i in range(N)),
    ("case",) * N,
    tuple(range(1, N + 1)),
)
CAUSAL = {name: "causal" for name in ("c", "d", "run/step10", "run/step20")}
NONE = "c (prefix none)=c"


class PrefixedSession(SessionFake):
    """Likelihoods that depend on the prefix, too; after none the first token has none."""

    def token_log_likelihoods(
        self, model: str, texts: Any, *, scoring: str, prefix: str = AUTO, **further: Any
    ) -> list[dict[str, Any]]:
        pieces = super().token_log_likelihoods(model, texts, scoring=scoring, prefix=prefix, **further)
        if scoring != "causal":
            return pieces
        tokens = prefix_tokens(self.describe(model), prefix)
        for piece, text in zip(pieces, texts, strict=True):
            cut = {name: piece[name][0 if tokens else 1 :] for name in ("tokens", "ids", "spans")}
            likelihoods = -noise(model, tokens, text).exponential(size=len(cut["tokens"])).astype(np.float32)
            piece |= cut | {"log_likelihoods": likelihoods}
            if not cut["tokens"]:
                piece["excluded"] = "no token is scored"
        return pieces


def run(*models: str, **settings: Any) -> Result:
    return evaluate(Settings(models, **settings), PAIRS, PrefixedSession(CAUSAL))  # type: ignore[arg-type]


def rows(result: Result, model: str) -> pd.DataFrame:
    pairs = result.pairs[result.pairs["model"] == model]
    return pairs.drop(columns="model").reset_index(drop=True)


def test_a_condition_has_the_scores_of_a_run_with_that_prefix_alone() -> None:
    both, alone, plain = run("c", "m", other_prefixes=("none",)), run("c", "m", prefix="none"), run("c", "m")
    assert both.scored_models == ("c", "m", NONE)
    pd.testing.assert_frame_equal(rows(both, NONE), rows(alone, "c"), check_exact=True)
    for model in ("c", "m"):
        pd.testing.assert_frame_equal(rows(both, model), rows(plain, model), check_exact=True)
    assert not rows(both, "c").equals(rows(both, NONE))
    assert both.prefixes == {"c": "<s>", NONE: ""} and both.conditions == {NONE: "none"}
    assert both.rules[NONE] == alone.rules["c"] and both.rules["c"] == plain.rules["c"]
    assert any(notice.startswith(f"{NONE}: The first token is not scored") for notice in both.notices)
    assert both.settings.models == ("c", "m") and counts(both)["model"].tolist() == ["c", "m", NONE]


def test_conditions_are_tested_by_mcnemar_worked_by_hand() -> None:
    result = run("c", other_prefixes=("none",))
    right = {
        model: (of_model["acceptable_log_likelihood"] > of_model["unacceptable_log_likelihood"]).to_numpy()
        for model in ("c", NONE)
        for of_model in [rows(result, model)]
    }
    only = int((right["c"] & ~right[NONE]).sum()), int((~right["c"] & right[NONE]).sum())
    p = min(1.0, 2 * sum(comb(sum(only), k) for k in range(min(only) + 1)) / 2 ** sum(only))
    table = comparisons(result, "LP")
    assert len(table) == 1 and min(only) > 5
    line = table.iloc[0]
    assert (line["model"], line["other"], line["n_only_model"], line["n_only_other"]) == ("c", NONE, *only)
    assert line["p_value"] == pytest.approx(p, rel=1e-12) and line["p_holm"] == line["p_value"]
    assert set(ranking(result, "LP")["model"]) == {"c", NONE}
    both_sides = compare("minimal-pairs", Side("A", result, "c"), Side("B", result, NONE)).numbers
    assert both_sides["p_value"].iloc[0] == pytest.approx(p, rel=1e-12)


def test_a_prefix_of_the_same_tokens_is_no_condition_and_a_notice_says_so() -> None:
    result = run("c", other_prefixes=("bos", "none", "eos"))
    assert list(result.conditions) == [NONE]  # <s> is what "auto" is, and there is no EOS
    assert [notice for notice in result.notices if "no further condition" in notice] == [
        "c: with the prefix bos it reads the same as with auto, so that is no further condition.",
        "c: with the prefix eos it reads the same as with none, so that is no further condition.",
    ]
    assert list(run("c", other_prefixes=("eos",)).conditions) == [NONE]  # named after what is read


def test_masked_models_have_no_condition() -> None:
    result = run("m", other_prefixes=("none",))
    assert result.conditions == {} and "There is no condition after another prefix: only causal models read one." in (
        result.notices
    )
    pd.testing.assert_frame_equal(result.pairs, run("m").pairs)


def test_labels_are_labels_and_tell_all_models_apart() -> None:
    names = (
        "/srv/a/checkpoint-500",
        "/srv/b/checkpoint-500",
        "BERT v3=owner/name",
        "/srv/x=y\u200b/z",
        "owner/" + "very-long-name-" * 5 + "1",
        "owner/" + "very-long-name-" * 5 + "2",
        "z (prefix none)=o/other",
        "owner/name@step3",
    )
    conditions, _ = prefix_conditions(
        Settings(names, other_prefixes=("none", "template")), [facts(name, "causal") for name in names]
    )
    labels = [split_label(condition.facts.name)[0] for condition in conditions]
    assert len(set(labels)) == len(labels) == len(names)  # the template of these is what "none" reads, too
    assert all(1 <= len(label) <= LONGEST_LABEL and label.endswith("(prefix none)") for label in labels)
    assert labels[2] == "BERT v3 (prefix none)"
    for condition in conditions:
        require_distinct([condition.facts.name])


def test_checkpoints_under_another_prefix_are_a_series_of_their_own() -> None:
    table = checkpoints(run("run/step10", "run/step20", other_prefixes=("none",)), "LP")
    assert {series: sorted(set(of_series["step"])) for series, of_series in table.groupby("series")} == {
        "run": [10, 20],
        "run (prefix none)": [10, 20],
    }


def test_models_that_look_like_a_series_but_are_on_no_axis_are_named() -> None:
    named = [f"runs/gpt_v{n}M" for n in (1, 10, 100)]
    assert any(
        notice.startswith("runs/gpt_v1M, runs/gpt_v10M, runs/gpt_v100M look like checkpoints")
        for notice in run(*named).notices
    )
    assert not any("look like" in notice for notice in run(*(f"{n}M=/srv/{n}" for n in (1, 10, 100))).notices)


@pytest.mark.parametrize(
    ("models", "series"),
    [
        ([f"EleutherAI/pythia-160m@step{step}" for step in (1000, 10000, 143000)], "EleutherAI/pythia-160m"),
        (["owner/name@500", "owner/name@1000"], "owner/name"),
        (["ours@step2=/srv/a", "ours@step10=/srv/b"], "ours"),
    ],
)
def test_conditions_of_long_or_bare_names_keep_the_step_of_their_model(models: list[str], series: str) -> None:
    result = evaluate(
        Settings(tuple(models), other_prefixes=("none",)), PAIRS, PrefixedSession(dict.fromkeys(models, "causal"))
    )  # type: ignore[arg-type]
    found = checkpoint_series(result, result.scored_models)
    assert list(found) == [series, f"{series} (prefix none)"]
    for of_series in found.values():
        steps = [one.step for one in of_series]
        assert steps == sorted(steps) and len(steps) == len(models)
    assert set(checkpoints(result, "LP")["model"]) == set(result.scored_models)


def test_a_condition_is_no_model_of_the_map() -> None:
    assert set(models_of({"run": run("c", "d", other_prefixes=("none",))}, "causal")) == {"c", "d"}


def test_a_result_with_conditions_is_stored_and_settings_of_an_earlier_version_have_none() -> None:
    result = run("c", other_prefixes=("none",))
    files = pack(result)
    stored = unpack(Result, files.__getitem__, "The result")
    assert stored.conditions == result.conditions and stored.scored_models == result.scored_models
    plain = json.loads(json.dumps(to_json_value(result.settings)))
    del plain["other_prefixes"]
    assert record_from_json(Settings, plain, "settings").other_prefixes == ()


def test_a_condition_that_can_score_nothing_is_left_out_with_a_notice() -> None:
    short = MinimalPairs("short", ("猫", "犬"), ("魚", "鳥"), ("", ""), (1, 2))
    result = evaluate(Settings(("c",), other_prefixes=("none",)), short, PrefixedSession(CAUSAL))  # type: ignore[arg-type]
    assert result.scored_models == ("c",) and result.conditions == {} and set(result.pairs["model"]) == {"c"}
    assert "c is not scored after the prefix none: it can score none of the 2 pairs." in result.notices
    assert set(result.excluded["model"]) <= {"c"}


def test_another_error_than_a_servers_ends_the_run() -> None:
    class Broken(PrefixedSession):
        def token_log_likelihoods(
            self, model: str, texts: Any, *, scoring: str, prefix: str = AUTO, **further: Any
        ) -> list[dict[str, Any]]:
            if prefix == "none":
                raise ModelError("broken")
            return super().token_log_likelihoods(model, texts, scoring=scoring, prefix=prefix, **further)

    with pytest.raises(ModelError, match="broken"):
        evaluate(Settings(("c",), other_prefixes=("none",)), PAIRS, Broken(CAUSAL))  # type: ignore[arg-type]
