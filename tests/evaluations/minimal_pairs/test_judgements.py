"""Human judgements of the sentences of pairs: read from a file, MORCELA fitted to them, scores beside them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.judged import RATINGS
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from engine.errors import BadRow, InputError
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.fair_subsets import restricted
from engine.evaluations.minimal_pairs.files import file_tables
from engine.evaluations.minimal_pairs.judgements import preferences, ratings
from engine.evaluations.minimal_pairs.linking import LINKING, PAIRING, linking, pairing
from engine.evaluations.minimal_pairs.notices import _of_morcela
from engine.evaluations.minimal_pairs.records import CATEGORY, DIFFERING, Result, Settings
from engine.evaluations.minimal_pairs.regions import of_region
from engine.evaluations.minimal_pairs.token_contributions import token_contributions
from engine.evaluations.minimal_pairs.unigrams import why_not_fitted
from engine.evaluations.minimal_pairs.views import available, decided, of_model, scores
from engine.measures.minimal_pairs.fitted_adjustment import fitted_adjustment
from tests.support.session_fake import SessionFake, likelihoods
from tests.support.shared_data import shared_data

HEADER = "good_sentence,bad_sentence,Good Sentence LS,Bad Sentence LS"


def judged(n: int, header: str = HEADER) -> MinimalPairs:
    """Pairs whose judgements are the fake model's mean token log-likelihoods, with a little noise."""
    random = np.random.default_rng(0)
    lines = [header]
    for i in range(n):
        good, bad = "猫が魚を食べた"[: 3 + i % 5] + str(i), "犬は鳥に鳴いた"[: 3 + i % 4] + str(i)
        rated = (likelihoods("m", text).mean() + random.normal(0, 0.1) for text in (good, bad))
        lines.append(",".join([good, bad, *(f"{rating:.4f}" for rating in rated)]))
    return from_table(read_table("\n".join(lines).encode(), "judged.csv"))


def run(dataset: MinimalPairs, *columns: str, seed: int = 0) -> Result:
    return evaluate(Settings(("m",), ratings=columns, seed=seed), dataset, SessionFake())  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def result() -> Result:
    return run(judged(60))


def test_published_columns_are_read_and_others_by_name() -> None:
    dataset = judged(3)
    good, bad = ratings(dataset) or ([], [])
    assert len(good) == len(bad) == 3 and good[0] == pytest.approx(float(dataset.further["Good Sentence LS"][0]))
    renamed = judged(3, "good_sentence,bad_sentence,a,b")
    assert ratings(renamed) is None
    named = ratings(renamed, ("b", "a"))
    assert named is not None
    np.testing.assert_array_equal(named, (bad, good))


def test_what_is_no_judgement_is_refused_and_what_is_missing_left_out() -> None:
    dataset = judged(3)
    with pytest.raises(InputError, match=r"judged\.csv has no columns x, y of human judgements"):
        ratings(dataset, ("x", "y"))
    with pytest.raises(InputError, match=r"two columns, .* or one of their difference; got a, b, c"):
        ratings(dataset, ("a", "b", "c"))
    with pytest.raises(InputError, match=r"judged\.csv has no column x of human judgements"):
        preferences(dataset, ("x",))
    odd = from_table(read_table(f"{HEADER}\n猫,犬,5,good\n鳥,魚,4,1\n雨,雪,inf,1_0".encode(), "odd.csv"))
    with pytest.raises(InputError, match=r"odd\.csv: 2 of 3 rows have a human score that is not a number") as caught:
        ratings(odd)
    assert caught.value.rows == (
        BadRow(1, "'Bad Sentence LS' holds 'good'"),
        BadRow(3, "'Good Sentence LS' holds 'inf' and 'Bad Sentence LS' holds '1_0'"),
    )
    gap = ratings(from_table(read_table(f"{HEADER}\n猫,犬,5,\n鳥,魚,4,1\n雨,雪,#N/A,None".encode(), "gap.csv")))
    assert gap is not None and np.isnan(gap).tolist() == [[False, False, True], [True, False, True]]
    by_raters = "good,bad,preference:Ann,preference:Ben\n猫,犬,2,-1\n鳥,魚,NA,\n雨,雪,x,inf"
    with pytest.raises(InputError) as of_raters:
        preferences(from_table(read_table(by_raters.encode(), "raters.csv")))
    assert [bad.row for bad in of_raters.value.rows] == [3]


def test_morcela_of_a_pair_is_fitted_to_the_other_pairs(result: Result) -> None:
    assert "MORCELA" in available(result.pairs)
    pairs = result.pairs
    part = (pairs["morcela_beta"] == pairs["morcela_beta"].iloc[0]).to_numpy()
    assert part.sum() == 12  # 60 pairs in 5 parts
    others = pairs[~part]
    rated = result.items.take(others["item"])
    sides = ("acceptable", "unacceptable")
    columns = ((others, "log_likelihood"), (others, "unigrams"), (others, "tokens"), (rated, "rating"))
    fit = fitted_adjustment(
        *(np.concatenate([table[f"{side}_{name}"].to_numpy() for side in sides]) for table, name in columns)
    )
    assert pairs["morcela_beta"].iloc[0] == pytest.approx(fit.beta, rel=1e-9)
    assert pairs["morcela_gamma"].iloc[0] == pytest.approx(fit.gamma, rel=1e-9)
    score = scores(pairs, "MORCELA")[0][0]
    first = pairs.iloc[0]
    assert score == pytest.approx(
        (first["acceptable_log_likelihood"] - fit.beta * first["acceptable_unigrams"] + fit.gamma)
        / first["acceptable_tokens"],
        rel=1e-9,
    )


def test_the_tokens_add_up_to_a_fitted_score(result: Result) -> None:
    table = token_contributions(result, "m", 7, "MORCELA")
    pairs = of_model(result, "m")
    good, bad = scores(pairs[pairs["row"] == 7], "MORCELA")
    assert table["contribution"].sum() == pytest.approx(good[0] - bad[0], rel=1e-9)


def test_scores_are_held_against_the_judgements(result: Result) -> None:
    table = linking(result).set_index("normalization")
    assert LINKING.arranged(table.reset_index()).shape == (8, len(LINKING.headers))
    assert (table["n"] == 120).all()
    values = np.concatenate(scores(result.pairs, "MeanLP"))
    judgements = np.concatenate([result.items[f"{side}_rating"] for side in ("acceptable", "unacceptable")])
    assert table.loc["MeanLP", "pearson"] == pytest.approx(np.corrcoef(values, judgements)[0, 1], rel=1e-9)
    # The judgements are mean log-likelihoods: the fit finds that nothing but the length has to be taken off.
    assert table.loc["MORCELA", "pearson"] > 0.9 and abs(table.loc["MORCELA", "beta"]) < 0.2
    assert np.isnan(table.loc["SLOR", "beta"])


def test_what_pairing_is_worth_is_counted_within_pairs_and_without(result: Result) -> None:
    table = pairing(result).set_index("normalization")
    assert PAIRING.arranged(table.reset_index()).shape == (len(table), len(PAIRING.headers)) and len(table) == 8
    for normalization in ("LP", "MeanLP"):
        good, bad = scores(result.pairs, normalization)
        row, every = table.loc[normalization], scipy.stats.mannwhitneyu(good, bad)
        assert row["pearson"] == pytest.approx(np.corrcoef(good, bad)[0, 1], rel=1e-9)
        assert row["auc"] == pytest.approx(every.statistic / (60 * 60), rel=1e-12)
        assert row["auc_low"] < row["auc"] < row["auc_high"]
        assert (row["n"], row["accuracy"]) == (60, pytest.approx(np.mean(good > bad)))
    # A level that both sentences of a pair share is seen without the pairs alone.
    level = np.linspace(-500, 500, len(result.pairs))
    levelled = result.pairs.assign(
        **{
            f"{side}_log_likelihood": result.pairs[f"{side}_log_likelihood"] + level
            for side in ("acceptable", "unacceptable")
        }
    )
    moved = pairing(replace(result, pairs=levelled), ["LP"]).iloc[0]
    assert moved["accuracy"] == table.loc["LP", "accuracy"] and moved["pearson"] > 0.99
    assert abs(moved["auc"] - 0.5) < 0.02


def test_differences_of_scores_are_held_against_differences_of_judgements(result: Result) -> None:
    table = linking(result).set_index("normalization")
    judged_difference = result.items["acceptable_rating"] - result.items["unacceptable_rating"]
    for normalization in ("LP", "MeanLP"):
        good, bad = scores(result.pairs, normalization)
        expected = scipy.stats.pearsonr(good - bad, judged_difference)
        row = table.loc[normalization]
        assert (row["n_pairs"], row["difference_pearson"]) == (60, pytest.approx(expected.statistic, rel=1e-9))
        low, high = expected.confidence_interval(0.95)  # Fisher's z, as in `pearson`
        assert (row["difference_low"], row["difference_high"]) == (pytest.approx(low), pytest.approx(high))
    # A level that one sentence of a pair shares with the other is taken out of the differences alone.
    shift = np.linspace(-50, 50, len(result.items))
    shifted = replace(
        result,
        items=result.items.assign(
            **{f"{side}_rating": result.items[f"{side}_rating"] + shift for side in ("acceptable", "unacceptable")}
        ),
    )
    moved = linking(shifted, ["LP"]).iloc[0]
    assert moved["difference_pearson"] == pytest.approx(table.loc["LP", "difference_pearson"], rel=1e-6)
    assert abs(moved["pearson"] - table.loc["LP", "pearson"]) > 0.01


def test_one_column_of_graded_differences_is_correlated_as_it_stands(result: Result) -> None:
    differences = result.items["acceptable_rating"] - result.items["unacceptable_rating"]
    lines = ["good_sentence,bad_sentence,preferred,share"]
    lines += [
        f"{good},{bad},{difference:.8f},{number % 3}"
        for number, (good, bad, difference) in enumerate(
            zip(result.pairs["acceptable"], result.pairs["unacceptable"], differences, strict=True)
        )
    ]
    dataset = from_table(read_table("\n".join(lines).encode(), "graded.csv"))
    table, both = (linking(some, ["LP"]).iloc[0] for some in (run(dataset, "preferred"), result))
    assert table["n_pairs"] == 60 and table["difference_pearson"] == pytest.approx(both["difference_pearson"], abs=1e-6)
    assert table["n"] == 0 and np.isnan(table["pearson"]) and not table["reason"]
    assert linking(run(dataset)).empty  # a column that is not named is no judgement


def test_columns_of_preferences_need_no_name_and_are_averaged() -> None:
    dataset = from_table(
        read_table(
            "good_sentence,bad_sentence,preference:A,preference:B\n猫だ,だ猫,2,1\n犬だ,だ犬,-1,\n鳥だ,だ鳥,,\n".encode(),
            "rated.csv",
        )
    )
    assert not dataset.fields
    preferred = preferences(dataset)
    assert preferred is not None
    np.testing.assert_array_equal(preferred, [1.5, -1, np.nan])
    of_one = preferences(dataset, ("preference:B",))
    assert of_one is not None
    np.testing.assert_array_equal(of_one, [1, np.nan, np.nan])


def test_a_pair_with_one_judgement_has_no_difference(result: Result) -> None:
    rated = result.items["unacceptable_rating"].to_numpy().copy()
    rated[:5] = np.nan
    row = linking(replace(result, items=result.items.assign(unacceptable_rating=rated)), ["LP"]).iloc[0]
    assert (row["n"], row["n_pairs"]) == (115, 55)


def of_ratings(header: str, *cells: str) -> str:
    """What a run says of pairs with these cells beside them."""
    lines = [f"good_sentence,bad_sentence,{header}", *(f"猫だ{i},だ猫{i},{cell}" for i, cell in enumerate(cells))]
    return "\n".join(map(str, run(from_table(read_table("\n".join(lines).encode(), "rated.csv"))).notices))


@pytest.mark.parametrize(("there", "absent"), [RATINGS, RATINGS[::-1]])
def test_judgements_of_one_sentence_alone_are_named(there: str, absent: str) -> None:
    assert f"There is a column '{there}' and none '{absent}'" in of_ratings(there, *"12345")
    assert "There is a column" not in of_ratings("acceptable_rating,unacceptable_rating", *(["2,1"] * 5))


def test_a_judgement_far_off_the_others_is_named() -> None:
    cells = [f"{1 + i % 5},{1 + i % 4}" for i in range(12)]
    assert "far off" not in of_ratings(",".join(RATINGS), *cells)
    assert "1 row has a score in 'acceptable_rating' far off the scale 1-5, on which the others are: 13." in of_ratings(
        ",".join(RATINGS), *cells, "44,2"
    )


def test_without_judgements_there_is_no_morcela() -> None:
    plain = run(judged(30, "good_sentence,bad_sentence,a,b"))
    assert "MORCELA" not in available(plain.pairs) and linking(plain).empty
    few = run(judged(8))
    assert "MORCELA" not in available(few.pairs) and len(linking(few)) == 7


def flipped(dataset: MinimalPairs) -> MinimalPairs:
    """The same pairs with judgements that fall where the log-likelihood rises."""
    rows = [json.loads(original) for original in dataset.originals]
    return replace(
        dataset,
        originals=tuple(
            json.dumps({name: str(-float(text)) if name.endswith("LS") else text for name, text in row.items()})
            for row in rows
        ),
    )


@pytest.mark.parametrize(
    ("dataset", "reason"),
    [
        (judged(8), "5 parts need at least 10 pairs; there are 8"),
        (flipped(judged(60)), "the judgements do not rise with the log-likelihood"),
    ],
)
def test_a_fit_that_fails_is_said_and_asking_for_it_gives_the_reason(dataset: MinimalPairs, reason: str) -> None:
    without = run(dataset)
    assert f"m: MORCELA cannot be fitted to the judgements, so it is not there: {reason}." in without.notices
    with pytest.raises(InputError) as caught:
        file_tables(without, ("LP", "MORCELA"), 0.8, CATEGORY, 0)
    assert caught.value.message == f"MORCELA cannot be fitted to these judgements. m: {reason}."


def test_nothing_is_said_of_a_fit_that_nobody_asked_for(result: Result) -> None:
    plain = run(judged(30, "good_sentence,bad_sentence,a,b"))
    for other in (result, plain):
        assert not any("MORCELA" in notice for notice in other.notices)
    with pytest.raises(InputError, match="it needs two columns of them"):
        file_tables(plain, ("MORCELA",), 0.8, CATEGORY, 0)
    with pytest.raises(InputError, match="MORCELA is fitted to whole sentences: a part of them has no such score"):
        file_tables(of_region(result, DIFFERING), ("MORCELA",), 0.8, CATEGORY, 0)


def test_one_model_without_a_fit_takes_the_score_from_the_other() -> None:
    both = evaluate(Settings(("m", "n")), judged(60), SessionFake())  # type: ignore[arg-type]
    assert why_not_fitted(both) == {"n": "the judgements do not rise with the log-likelihood"}
    assert "MORCELA" not in available(both.pairs)
    assert "MORCELA is there where it was fitted for every model: score the others in a run of their own." in (
        both.notices
    )


def test_coefficients_that_differ_much_between_parts_are_said_to_be_unsteady() -> None:
    result = run(judged(60))
    assert not any("unsteady" in notice for notice in result.notices)
    beta = np.where(result.pairs["row"] % 2, 0.2, 1.3)
    (said,) = _of_morcela(replace(result, pairs=result.pairs.assign(morcela_beta=beta)))
    assert said.startswith("m: MORCELA's beta is from 0.20 to 1.30 in the parts of the cross-validation, too unsteady")


def test_the_seed_divides_the_pairs() -> None:
    one, other = (run(judged(60), seed=seed).pairs["morcela_beta"] for seed in (0, 1))
    assert (one.to_numpy() != other.to_numpy()).any()


def test_the_spread_of_morcela_is_that_of_runs_under_other_seeds() -> None:
    dataset = judged(40)
    runs = [run(dataset, seed=seed) for seed in range(10)]
    seen = [linking(one, ["MORCELA", "LP"]).set_index("normalization") for one in runs]
    right = [(decided(one.pairs, "MORCELA") == 1).mean() for one in runs]
    of = {"pearson": "pearson", "difference": "difference_pearson", "beta": "beta", "gamma": "gamma"}
    for name, column in of.items():
        expected = np.std([table.loc["MORCELA", column] for table in seen], ddof=1)
        assert seen[0].loc["MORCELA", f"{name}_deviation"] == pytest.approx(expected) and expected > 0
        assert np.isnan(seen[0].loc["LP", f"{name}_deviation"])
    assert seen[0].loc["MORCELA", "accuracy_deviation"] == pytest.approx(np.std(right, ddof=1))


def test_a_subset_has_no_spread_of_coefficients_that_all_pairs_gave() -> None:
    whole = run(judged(60))
    part = restricted(whole, {"m": whole.pairs["row"].to_numpy()[:40]})
    spread = [name for name in linking(whole).columns if name.endswith("_deviation")]
    of_whole, of_part = (linking(one, ["MORCELA"])[spread] for one in (whole, part))
    assert of_whole.notna().all(axis=None) and of_part.isna().all(axis=None)
    assert linking(part, ["MORCELA"])["beta"].iloc[0] == part.pairs["morcela_beta"].mean()


def test_the_published_judgements_are_read() -> None:
    # Sprouse, Schütze and Almeida 2013 as MORCELA's authors publish them: z-scores, good sentences rated higher
    path = shared_data("linguistic_inquiry/linguistic_inquiry_data.csv")
    dataset = from_table(read_table(path.read_bytes(), path.name))
    good, bad = ratings(dataset) or ([], [])
    assert dataset.n == len(good) == 725 and np.isfinite([good, bad]).all()
    assert np.mean(good) > 0.5 > -0.2 > np.mean(bad)


def test_the_published_forced_choice_is_read_as_a_preference_for_the_acceptable_sentence() -> None:
    path = shared_data("linguistic_inquiry/linguistic_inquiry_data.csv")
    dataset = from_table(read_table(path.read_bytes(), path.name))
    preferred, rated = preferences(dataset, ("Bad Sentence FC Mean",)), ratings(dataset)
    assert preferred is not None and rated is not None and preferences(dataset) is None
    assert preferred[:2] == pytest.approx([1 - 2 * 0.23076923076923078, 1])
    assert scipy.stats.pearsonr(preferred, rated[0] - rated[1]).statistic > 0.6


def test_decisions_follow_the_fitted_scores(result: Result) -> None:
    good, bad = scores(result.pairs, "MORCELA")
    np.testing.assert_array_equal(decided(result.pairs, "MORCELA"), np.sign(good - bad))
