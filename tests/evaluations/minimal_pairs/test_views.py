"""What a result says under a normalisation: partitions, categories, every toggle arithmetic and in time."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import InputError
from engine.evaluations.minimal_pairs.records import PAIRS, Result
from engine.evaluations.minimal_pairs.views import (
    available,
    by_category,
    by_difference,
    categories_of,
    counts,
    field_names,
    of_model,
    scores,
    summary,
)
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from tests.support.minimal_results import from_margins, synthetic


@pytest.fixture(scope="module")
def result() -> Result:
    return synthetic(600)


@pytest.fixture(scope="module")
def large() -> Result:
    return synthetic(67_000, models=("m",), n_categories=67)


def test_differences_and_categories_partition_the_pairs(result: Result) -> None:
    assert by_difference(result, "LP").groupby("model")["n"].sum().tolist() == [600, 600]
    merged = by_difference(result, "LP", least=100)
    assert merged.groupby("model")["n"].sum().tolist() == [600, 600] and merged["merged"].any()
    table = by_category(result, "MeanLP").query("model == 'm' and stratum == 'all'")
    assert dict(zip(table["category"], table["n"], strict=True)) == {"c0": 200, "c1": 200, "c2": 200}


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_a_category_is_the_summary_of_its_pairs(result: Result, normalization: str) -> None:
    table = by_category(result, normalization, field="level")
    for model in ("m", "n"):
        pairs = of_model(result, model)
        for level in ("easy", "hard"):
            part = pairs[(categories_of(result, pairs, "level") == level).to_numpy()]
            alone = Result(result.settings, "part", part, result.tokens, result.excluded)
            wanted = summary(alone, [normalization]).query("model == @model").drop(columns=["model", "normalization"])
            found = table.query("model == @model and category == @level")
            assert found["stratum"].tolist() == wanted["stratum"].tolist()
            for column in ("n", "n_correct", "n_tied", "accuracy", "ci_low", "ci_high"):
                np.testing.assert_allclose(found[column], wanted[column], rtol=1e-12)


def test_counts_are_the_papers_table_2() -> None:
    # Ueda et al. 2024, table 2, JBLiMP under BERT: 208, 58, 65 of 331
    tokens = [(7, 7)] * 208 + [(8, 7)] * 58 + [(7, 8)] * 65
    table = counts(from_margins({"bert": np.zeros(331), "other": np.ones(331)}, tokens))
    assert table.to_dict("list") == {
        "model": ["bert", "other"],
        "n": [331] * 2,
        "A=U": [208] * 2,
        "A>U": [58] * 2,
        "A<U": [65] * 2,
    }


def test_slor_is_shown_where_there_are_unigrams(result: Result) -> None:
    assert available(result.pairs) == tuple(NORMALIZATIONS)
    without = result.pairs.drop(columns=["acceptable_unigrams", "unacceptable_unigrams"])
    assert available(without) == tuple(name for name in NORMALIZATIONS if not NORMALIZATIONS[name].by_unigrams)
    unfitted = result.pairs.assign(morcela_beta=np.nan)
    assert available(unfitted) == tuple(name for name in NORMALIZATIONS if name != "MORCELA")
    with pytest.raises(InputError, match="MORCELA is fitted to human judgements of the sentences"):
        scores(unfitted, "MORCELA")
    assert summary(result)["normalization"].unique().tolist() == list(NORMALIZATIONS)


def test_scores_by_words_are_there_where_boundaries_were_scored_under_every_model(result: Result) -> None:
    whole = tuple(name for name in NORMALIZATIONS if not NORMALIZATIONS[name].by_words)
    earlier = result.pairs.drop(
        columns=[f"{side}_{name}" for side in ("acceptable", "unacceptable") for name in ("boundaries", "words")]
    )
    assert available(earlier) == available(PAIRS.completed(earlier)[0]) == whole
    of_one = (result.pairs["model"] == "m").to_numpy()
    mixed = result.pairs.assign(acceptable_boundaries=np.where(of_one, -1.0, np.nan))
    assert available(mixed) == whole and available(mixed[of_one]) == tuple(NORMALIZATIONS)
    with pytest.raises(InputError, match="WordLP needs the boundaries of words under every model"):
        scores(mixed, "WordLP")
    both = [scores(result.pairs, name)[0] for name, score in NORMALIZATIONS.items() if score.by_words]
    added = result.pairs["acceptable_boundaries"]
    np.testing.assert_allclose(both[0], result.pairs["acceptable_log_likelihood"] + added)
    np.testing.assert_allclose(both[1], both[0] / result.pairs["acceptable_words"].to_numpy(dtype=float))


def test_what_the_pairs_can_be_sorted_by(result: Result) -> None:
    # theme is what the categories were taken from; constant sorts nothing
    assert field_names(result) == ("theme", "level")
    assert field_names(from_margins({"m": [1.0, 2.0]}, [(1, 1), (1, 1)], ["x", "y"])) == ("category",)
    assert field_names(from_margins({"m": [1.0]}, [(1, 1)])) == ()
    assert set(categories_of(result, result.pairs, "source")) == {"synthetic"}
    with pytest.raises(InputError, match="no column 'phase' to sort them by; there are: theme, level"):
        by_category(result, "LP", field="phase")
