"""The guided reading of an alignment, held against the tokens and numbers of the pair under drawn settings."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from dashboard.alignment.guide import VISIBLE, guide
from dashboard.alignment.pair import aligned_pair
from dashboard.alignment.pair_choice import pair_table
from dashboard.shared.wording import verbatim
from engine.errors import InputError
from engine.evaluations.alignment.records import Result, Scoring
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.catalog import ALIGNMENT
from engine.runs.storage.artifacts import Artifacts
from tests.stored_runs import directories as stored_runs

SIMILAR = re.compile(r"its match than “(.+)” to “(.+)” \((.+?)\), none less than “(.+)” to “(.+)” \((.+?)\)\.")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The alignment of a stored run."""
    version = stored_runs.VERSIONS[-1]
    artifacts = Artifacts(stored_runs.copied(version, tmp_path_factory.mktemp("guide") / "data"))
    run_id = next(run_id for run_id, kind in stored_runs.kinds(version).items() if kind == "alignment")
    return artifacts.load_result(run_id, ALIGNMENT.result_type)  # type: ignore[no-any-return]


def drawn(seed: int) -> Scoring:
    random = np.random.default_rng(seed)
    return Scoring(
        idf=str(random.choice(["none", "references"])),
        penalty=str(random.choice(["none", "reading", "names"])),
        criterion=str(random.choice(["idf", "proper-nouns", "either"])),
        match_special=bool(random.integers(2)),
    )


@pytest.mark.parametrize("seed", range(12))
def test_every_sentence_agrees_with_the_tokens_and_scores_on_show(result: Result, seed: int) -> None:
    scoring = drawn(seed)
    model = result.settings.models[0]
    try:
        scores = rescore(result, scoring, models=(model,))
    except InputError:  # these choices do not go together
        scores = rescore(result, replace(scoring, penalty="none"), models=(model,))
    table = pair_table(result.pairs, scores.pairs)
    pair = table.iloc[seed % len(table)]
    aligned = aligned_pair("test", result, scores, pair, model, result.layers[model][0])
    see, meaning, _ = guide(aligned)
    tokens = aligned.tokens[~aligned.tokens["special"] & (aligned.tokens["match_surface"] != "")]
    named = SIMILAR.search(see)
    if named is not None:
        first, first_match, highest, last, last_match, lowest = named.groups()
        assert float(highest) == pytest.approx(tokens["similarity"].max(), abs=0.005)
        assert float(lowest) == pytest.approx(tokens["similarity"].min(), abs=0.005)
        pairs = {
            (verbatim(row["surface"]), verbatim(row["match_surface"])): row["similarity"]
            for row in tokens.to_dict("records")
        }
        assert (first, first_match) in pairs and (last, last_match) in pairs
    f1, penalised = float(pair["f1"]), float(pair["penalized_f1"])
    if np.isnan(f1):
        return
    assert f"F1 = {f1:.3f}" in meaning
    assert ("lowers it to" in meaning) == (scores.scoring.penalty != "none" and penalised < f1 - VISIBLE)
    assert ("raises it to" in meaning) == (scores.scoring.penalty != "none" and penalised > f1 + VISIBLE)


def test_the_finding_of_an_alignment_has_the_means_of_the_scoring_on_show(result: Result) -> None:
    model = result.settings.models[0]
    for penalty in ("none", "reading", "names"):
        scoring = replace(result.settings.scoring, penalty=penalty, idf="references")
        scores = rescore(result, scoring, models=(model,))
        alone = replace(result, settings=replace(result.settings, models=(model,)))
        found = ALIGNMENT.finding(alone, {model: scores})  # type: ignore[misc]
        assert f"{scores.pairs['f1'].mean():.3f}" in found
        changes = (scores.pairs["penalized_f1"] - scores.pairs["f1"]).abs().max() >= VISIBLE
        assert ("with " in found) == (penalty != "none" and changes)
        if "with " in found:
            assert f"{scores.pairs['penalized_f1'].mean():.3f}" in found
