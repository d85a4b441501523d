"""The sentences of every page, findings and guided readings, held against the tables they are shown with.

Data and settings are drawn by a seed: ties, one model, models without a value, fewer items than a test needs, and
items that only some models could score. No table is written by hand: the evaluations make them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.agreement.view import FEWEST_MODELS
from dashboard.classification.guide import guide as of_classification
from dashboard.clusters.guide import guide as of_clusters
from dashboard.clusters.scores import ranking_statements
from dashboard.compare.numbers import numbers_table
from dashboard.fill_mask.guide import guide as of_means
from dashboard.metric_study.guide import guide as of_study
from dashboard.minimal_pairs.guide import BY_LENGTH
from dashboard.minimal_pairs.guide import guide as of_accuracies
from dashboard.model_card.tables import rank as card_rank
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.agreement.evaluate import agreement_table
from engine.evaluations.catalog import CLASSIFICATION, CLUSTERS, FILL_MASK, METRIC_STUDY, MINIMAL_PAIRS
from engine.evaluations.classification import evaluate as classification
from engine.evaluations.classification.records import Settings as ClassificationSettings
from engine.evaluations.clusters import evaluate as clusters
from engine.evaluations.clusters.records import Settings as ClusterSettings
from engine.evaluations.comparison.compare import compare
from engine.evaluations.comparison.finding import finding as of_comparison
from engine.evaluations.comparison.records import Side
from engine.evaluations.fill_mask import evaluate as fill_mask
from engine.evaluations.fill_mask.records import ALL
from engine.evaluations.fill_mask.records import Settings as MaskSettings
from engine.evaluations.metric_study import evaluate as metric_study
from engine.evaluations.metric_study.records import BERTSCORE
from engine.evaluations.metric_study.records import Settings as StudySettings
from engine.evaluations.minimal_pairs import comparison, fair_subsets, views
from engine.evaluations.minimal_pairs.records import PairScoring, PairView, Result
from engine.evaluations.model_card.assemble import card_of
from engine.evaluations.model_card.card import CardRun, OtherModel
from engine.evaluations.shared.finding import FEWEST
from engine.measures.statistics.correlations.rank_agreement import ranks
from engine.measures.statistics.paired_tests import holm
from tests.support.minimal_results import from_margins, synthetic
from tests.support.session_fake import SessionFake, noise

SEEDS = range(8)
MODELS = ("strong", "same-strong", "weak", "none")  # how far apart the classes are; two of them are alike
SIGNAL = {"strong": 4.0, "same-strong": 4.0, "weak": 0.7, "none": 0.0}
LETTERS = "甲乙丙丁戊己"
BETTER_CLAIMS = ("is better than", "leads,")


class Drawn(SessionFake):
    """Models that see the first letter of a sentence more or less well, and of which each leaves out other sentences."""

    def __init__(self, left_out: float = 0.0) -> None:
        super().__init__()
        self.left_out = left_out

    def _is_left_out(self, model: str, text: str) -> bool:
        return bool(noise(model, text, "left out").random() < self.left_out)

    def sentence_vectors(self, model: str, texts: Sequence[str], *, layers: Sequence[int], **_: Any) -> Any:
        """The class in one direction, noise in the others; `same-strong` has the vectors of `strong`."""
        name = model.removeprefix("same-")
        made = []
        for text in texts:
            vector = noise(name, text).normal(size=8).astype(np.float32)
            vector[LETTERS.find(text[0])] += SIGNAL[model]
            made.append({"vectors": np.stack([vector for _ in layers]), "n_tokens": len(text)})
        return made

    def fill_masks(self, model: str, sentences: Any, **settings: Any) -> list[dict[str, Any]]:
        """Those of `same-strong` are those of `strong`."""
        name = model.removeprefix("same-")
        return [
            {"excluded": "unknown", "n_tokens": 3} if self._is_left_out(model, "".join(parts)) else piece
            for parts, piece in zip(sentences, super().fill_masks(name, sentences, **settings), strict=True)
        ]

    def token_similarities(self, model: str, pairs: Any, **settings: Any) -> list[dict[str, Any]]:
        name = model.removeprefix("same-")
        return [
            {"excluded": "too long"} if self._is_left_out(model, pair[0]) else piece
            for pair, piece in zip(pairs, super().token_similarities(name, pairs, **settings), strict=True)
        ]


def drawn_models(random: np.random.Generator) -> tuple[str, ...]:
    return tuple(random.permutation(MODELS)[: int(random.integers(1, 4))].tolist())


def labelled(random: np.random.Generator) -> LabelledSentences:
    n_classes, n_each = int(random.integers(2, 4)), int(random.choice([2, 6, 12]))
    texts = [f"{letter}の文{i}" for i in range(n_each) for letter in LETTERS[:n_classes]]
    return LabelledSentences("drawn", tuple(texts), tuple(text[0] for text in texts), tuple(range(1, len(texts) + 1)))


def apart(table: pd.DataFrame) -> dict[frozenset[str], bool]:
    """Whether a table tells two models apart, of those that were tested."""
    return {
        frozenset((row["model"], row["other"])): bool(row["separable"])
        for row in table.to_dict("records")
        if row["ci_low"] == row["ci_low"]
    }


def check_contest(
    found: str, values: Mapping[str, float], n: int, tested: Mapping[frozenset[str], bool], *, lower: bool = False
) -> None:
    """Hold a finding of models against their numbers and tests."""
    ranked = sorted(
        (name for name, value in values.items() if value == value), key=lambda name: values[name], reverse=not lower
    )
    is_apart = {two for two in tested if tested[two]}
    claims = (*BETTER_CLAIMS, "not distinguishable", " tie: ", "tie for the first place", "too few to tell")
    untested = "the difference was not tested"
    said = {claim for claim in claims if claim in found}
    best = ranked[:1]
    if len(ranked) < 2:
        assert not said, found
        return
    tied = [name for name in ranked if values[name] == values[ranked[0]]]
    others = ranked[len(tied) :]
    separated = [frozenset((best[0], name)) in is_apart for name in ranked[1:]]
    if n < FEWEST:
        assert said == {"too few to tell"}, found
    elif not others:
        assert said == {" tie: "}, found
    elif len(tied) > 1:
        assert "tie for the first place" in said and not said & {"is better than", "leads,"}, found
        is_tested = frozenset((tied[0], others[0])) in tested
        assert is_tested or "that was not tested" in found, found
        assert ("not distinguishable" in said) == (is_tested and frozenset((tied[0], others[0])) not in is_apart), found
    elif not any(frozenset((best[0], name)) in tested for name in ranked[1:]):
        assert untested in found and not said, found
    else:
        assert found.startswith(best[0]), found
        assert ("is better than" in said) == all(separated), found
        assert bool(said & {"not distinguishable", "leads,"}) != all(separated) and untested not in found, found


@pytest.mark.parametrize("seed", SEEDS)
def test_clusters(seed: int) -> None:
    random = np.random.default_rng(seed)
    settings = ClusterSettings(
        drawn_models(random),
        projection="pca",
        resamples=int(random.choice([100, 200])),
    )
    result = clusters.evaluate(settings, labelled(random), Drawn())  # type: ignore[arg-type]
    models = result.models
    scores = dict(zip(models["model"], models["score"], strict=True))
    found, n = str(CLUSTERS.finding(result)), int(models["n_sentences"].max())  # type: ignore[misc]
    tested = apart(result.comparisons)
    is_apart = {two for two in tested if tested[two]}
    check_contest(found, scores, n, tested, lower=True)
    see, meaning, _ = of_clusters(result)
    ranked = sorted(scores, key=lambda name: scores[name])
    if named := re.search(r"(\S+) has the smallest, ([\d.,]+); (\S+) the largest, ([\d.,]+)\.", see):
        assert (scores[named[1]], scores[named[3]]) == (scores[ranked[0]], scores[ranked[-1]])
        assert float(named[2].replace(",", "")) == pytest.approx(scores[ranked[0]], rel=0.01)
        assert float(named[4].replace(",", "")) == pytest.approx(scores[ranked[-1]], rel=0.01)
    assert ("All are alike" in see) == (len(scores) > 1 and len(set(scores.values())) == 1)
    if said := re.search(r"(\S+) differs significantly from (\S+) on", meaning):
        assert frozenset(said.groups()) in is_apart and n >= FEWEST
    if said := re.search(r"(\S+) does not differ significantly from (\S+) on", meaning):
        assert frozenset(said.groups()) not in is_apart and n >= FEWEST
    assert ("too few sentences" in meaning) == (
        n < FEWEST and len(scores) > 1 and scores[ranked[0]] != scores[ranked[1]]
    )
    support = " ".join(ranking_statements(result))
    if "all neighbours in the ranking differ significantly" in support:
        assert all(frozenset(two) in is_apart for two in itertools.pairwise(ranked)) and n >= FEWEST
    if "All models score significantly better" in support:
        assert len(result.null) == len(models) and (result.null["p_value"] <= 0.05).all()
    no_better = result.null[result.null["p_value"] > 0.05]
    assert ("No evidence that the classes are apart" in found) == bool(len(no_better))


@pytest.mark.parametrize("seed", SEEDS)
def test_classification(seed: int) -> None:
    random = np.random.default_rng(seed)
    settings = ClassificationSettings(
        drawn_models(random), seeds=int(random.choice([1, 3])), split=str(random.choice(["tail", "stratified"]))
    )
    result = classification.evaluate(settings, labelled(random), Drawn())  # type: ignore[arg-type]
    models = result.models
    accuracies = dict(zip(models["model"], models["accuracy_mean"], strict=True))
    found = str(CLASSIFICATION.finding(result))  # type: ignore[misc]
    check_contest(found, accuracies, int(models["n_test"].max()), apart(result.comparisons))
    no_better = models.loc[models["ci_low"] <= models["baseline"], "model"]
    assert ("Not significantly better than always predicting the largest class" in found) == bool(len(no_better))
    see, meaning, steps = of_classification(result)
    highest = max(accuracies.values())
    assert f"{highest:.1%}" in see
    n_tied = sum(value == highest for value in accuracies.values())
    assert ("has the highest mean" in see) == (len(accuracies) > 1 and n_tied == 1)
    assert ("share the highest mean" in see) == (n_tied > 1)
    (best,) = re.findall(r"the vectors of (\S+) tell the classes apart", meaning)
    assert accuracies[best] == highest and ("no evidence" in meaning) == (best in set(no_better))
    confusion = result.confusion[(result.confusion["model"] == best)]
    wrong = confusion[confusion["class"] != confusion["predicted"]]
    if said := re.search(r"under (\S+) most often (\S+) for (\S+)\.", steps):
        most = wrong[wrong["n"] == wrong["n"].max()]
        assert said[1] == best and most[["class", "predicted"]].to_numpy().tolist() == [[said[2], said[3]]]
    assert ("mistaken for others" in steps) == bool((wrong["n"] > 0).any())


@pytest.mark.parametrize("seed", SEEDS)
def test_fill_mask(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, n_words = int(random.choice([4, 12, 30])), int(random.choice([4, 6]))
    frame = pd.DataFrame(
        {
            "text": [f"{LETTERS[i % n_words]}の{i}番目の文" for i in range(n)],
            "label": [LETTERS[i % n_words] for i in range(n)],
            "domain": [["自然", "学校"][i // 2 % 2] for i in range(n)],
            "row": range(1, n + 1),
        }
    )
    session = Drawn(left_out=float(random.choice([0.0, 0.3])))
    settings = MaskSettings(drawn_models(random), resamples=60)
    result = fill_mask.evaluate(settings, MaskedSentences.from_frame(frame, "drawn"), session)  # type: ignore[arg-type]
    filled = result.items.groupby("model")["row"].agg(frozenset)
    for means in (result.models, result.common) if len(result.common) else (result.models,):
        found, overall = str(FILL_MASK.finding(result, means)), means[means["domain"] == ALL]  # type: ignore[misc]
        values = dict(zip(overall["model"], overall["mean_probability"], strict=True))
        is_one_set = means is result.common or len(set(filled)) < 2
        marks = of_means(means, result)
        assert ("over different sentences and are not compared" in found) == (not is_one_set)
        assert ("over different sentences" in " ".join(marks)) == (not is_one_set and bool(marks))
        if is_one_set:
            check_contest(found, values, int(overall["n"].max()), apart(result.comparisons))
        defined = {name: value for name, value in values.items() if value == value}
        if not marks:
            assert not defined
            continue
        (best,) = re.findall(r"(\S+) gives them", marks[0])
        assert values[best] == max(defined.values())
        lowest = re.search(r"The lowest is (\S+) with", marks[1])
        assert (lowest is not None) == (is_one_set and len(set(defined.values())) > 1)
        if lowest is not None:
            assert values[lowest[1]] == min(defined.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_metric_study(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.choice([4, 8, 20]))
    texts = [f"{''.join(random.choice(list('雨雪町川山花鳥風'), 5))}を見た" for _ in range(n)]
    others = [text[: int(random.integers(1, 6))] + "を見る" for text in texts]
    human = {name: tuple(random.normal(size=n).tolist()) for name in ("first", "second")[: int(random.integers(1, 3))]}
    dataset = SentencePairs("drawn", tuple(texts), tuple(others), ("",) * n, human, tuple(range(1, n + 1)))
    settings = StudySettings(drawn_models(random), idfs=("none", "references"))
    result = metric_study.evaluate(settings, dataset, Drawn(float(random.choice([0.0, 0.2]))))  # type: ignore[arg-type]
    table = result.correlations
    grid = table[table["kind"] == BERTSCORE].dropna(subset=["pearson"])
    found, marks = str(METRIC_STUDY.finding(result)), of_study(result)  # type: ignore[misc]
    if grid.empty:
        assert "No setting has a correlation" in found and marks == ()
        return
    best = grid.loc[grid["pearson"].idxmax()]
    r = f"{best['pearson']:z.3f}".replace("-", "−")
    assert r in found and f"The highest Pearson's r of BERTScore is {r}" in marks[0]
    assert ("follows the human scores best" in found) == (best["pearson"] > 0 and not best["ci_low"] <= 0)
    assert ("not significantly above 0" in found) == (best["pearson"] > 0 >= best["ci_low"])
    few = int(best["n"]) < FEWEST
    assert ("too few to tell settings apart" in found) == few
    if said := re.search(r"Of the (\d+) other settings of BERTScore (\d+) do", marks[1]):
        tested = grid.drop(index=best.name).dropna(subset=["williams_p"])
        assert (int(said[1]), int(said[2])) == (len(tested), int((tested["williams_p"] >= 0.05).sum())) and not few
    if said := re.search(r"Of the (\d+) other settings (\d+) are significantly below it", found):
        assert int(said[2]) == int((grid.drop(index=best.name)["williams_holm_p"] < 0.05).sum()) > 0
    assert ("Two annotators agree" in marks[1]) == (len(human) > 1)


def pairs_drawn(random: np.random.Generator) -> Result:
    """Pairs of models of which two may be alike, and of which one may not know its numbers of tokens."""
    n = int(random.choice([4, 30, 300]))
    result = synthetic(
        n, models=("strong", "weak", "none")[: int(random.integers(1, 4))], seed=int(random.integers(99))
    )
    pairs = result.pairs
    if random.random() < 0.4 and result.settings.models != ("strong",):
        one = pairs[pairs["model"] == "strong"].assign(model="weak")
        pairs = pd.concat([pairs[pairs["model"] != "weak"], one], ignore_index=True)
    if random.random() < 0.3:
        pairs = pairs.assign(acceptable_tokens=pairs["unacceptable_tokens"])
    return replace(result, pairs=pairs)


@pytest.mark.parametrize("seed", range(16))
def test_minimal_pairs(seed: int) -> None:
    random = np.random.default_rng(seed)
    result = pairs_drawn(random)
    score = str(random.choice(["LP", "PenLP", "MeanLP", "per character"]))
    subset = str(random.choice(["all pairs", "all pairs", "A=U", "cut alike"]))
    shown = PairView(score, PairScoring(subset=subset))
    found = str(MINIMAL_PAIRS.finding(result, shown))  # type: ignore[misc]
    result = fair_subsets.of_subset(result, subset)
    summary = views.summary(result, (score,))
    of_all = summary[summary["stratum"] == "all"].set_index("model")
    accuracy = summary.set_index(["model", "stratum"])["accuracy"]
    ranking = comparison.ranking(result, score).set_index("model")
    tests = comparison.comparisons(result, score) if len(ranking) > 1 else comparison.COMPARISONS.frame()
    check_contest(found, ranking["accuracy"].to_dict(), int(ranking["n"].max()), apart(tests))
    ends = summary.set_index(["model", "stratum"])[["ci_low", "ci_high"]]
    decided = [
        model
        for model in of_all.index
        if ends.loc[(model, "A>U"), "ci_high"] < ends.loc[(model, "A<U"), "ci_low"]
        or ends.loc[(model, "A<U"), "ci_high"] < ends.loc[(model, "A>U"), "ci_low"]
    ]
    assert ("Length misleads" in found) == bool(decided)
    if told := re.search(r"right in ([\d.]+%) where .* fewer tokens, in ([\d.]+%) where", found):
        assert told.groups() in {(f"{accuracy[m, 'A<U']:.1%}", f"{accuracy[m, 'A>U']:.1%}") for m in decided}
    scores = views.available(result.pairs)
    see, meaning, steps = of_accuracies(summary, score, scores)
    (best,) = re.findall(r"^(\S+) prefers", see)
    assert of_all["accuracy"].max() == of_all.loc[best, "accuracy"]
    assert f"{of_all['accuracy'].max():.1%} of {of_all.loc[best, 'n']:,} pair" in see
    numbers = summary.set_index(["model", "stratum"]).loc[best]
    if "Length misleads" in meaning:
        low, high = sorted(("A>U", "A<U"), key=lambda name: numbers.loc[name, "accuracy"])
        assert numbers.loc[low, "ci_high"] < numbers.loc[high, "ci_low"]
    if "does not clearly mislead" in meaning:
        assert max(numbers.loc[["A>U", "A<U"], "ci_low"]) <= min(numbers.loc[["A>U", "A<U"], "ci_high"])
    assert ("cannot be seen" in meaning) == (not numbers.loc["A>U", "n"] or not numbers.loc["A<U", "n"])
    offered = re.search(r"such as (.+?), to see", steps)
    assert (set(offered[1].split(", ")) if offered else set()) == (set(BY_LENGTH) & set(scores)) - {score}


@pytest.mark.parametrize("seed", SEEDS)
def test_compare(seed: int) -> None:
    random = np.random.default_rng(seed)
    result = pairs_drawn(random)
    models = result.settings.models
    first, second = str(random.choice(models)), str(random.choice(models))
    score = str(random.choice(["LP", "MeanLP"]))
    sides = Side("left", result, first, PairView(score)), Side("right", result, second, PairView("LP"))
    compared = compare("minimal-pairs", *sides)
    row = compared.numbers.iloc[0]
    found = str(of_comparison("minimal-pairs", compared, ("left", "right")))
    check_contest(
        found,
        {"left": row["first"], "right": row["second"]},
        int(row["n"]),
        {frozenset(("left", "right")): bool(row["p_value"] < 0.05)},
    )
    lines = numbers_table(compared).splitlines()[2:]
    for line, number in zip(lines, compared.numbers.to_dict("records"), strict=True):
        is_significant = bool(number["separable"]) and number["n"] >= FEWEST
        assert ("**" in line) == is_significant == (("significant" in line) and "not significant" not in line)


@pytest.mark.parametrize("seed", SEEDS)
def test_agreement(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.choice([1, 2, 4, 7]))
    numbers = {kind: random.choice([1.0, 2.0, 3.0, 4.0, np.nan], n).tolist() for kind in ("clusters", "classification")}
    app = AppTest.from_function(_draw_agreement, kwargs={"numbers": numbers})
    app.run()
    assert not app.exception
    table = agreed(numbers)
    (row,) = agreement_table(table).to_dict("records")
    told = " ".join(str(caption.value) for caption in app.caption)
    assert ("No rank correlation" in told) == bool(row["reason"])
    few = not row["reason"] and row["n"] < FEWEST_MODELS
    assert (f"{row['n']} models are too few to say" in told) == few
    if few:
        assert f"{row['spearman']:+.2f}".replace("-", "−") in told or round(row["spearman"], 2) == 0
    assert bool(app.metric) == (not row["reason"] and not few)
    for metric, name in zip(app.metric, ("spearman", "kendall"), strict=False):
        assert float(metric.value.replace("−", "-")) == pytest.approx(row[name], abs=0.005)


def agreed(numbers: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    table = pd.DataFrame({"model": [f"m{i}" for i in range(len(numbers["clusters"]))], **numbers})
    for kind, better in (("clusters", "lower"), ("classification", "higher")):
        table[f"rank {kind}"] = pd.array(ranks(table[kind], better), dtype="Float64").astype("Int64")
    return table


def _draw_agreement(numbers: dict[str, list[float]]) -> None:
    from dashboard.agreement.view import _points
    from tests.dashboard.test_true_sentences import agreed

    _points(agreed(numbers), "clusters", "classification", published=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_model_card(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.choice([4, 12, 40]))
    shares = {name: random.choice([0.0, 0.4, 0.9, 1.0]) for name in ("m", "a", "b", "c")[: int(random.integers(1, 5))]}
    margins = {name: np.where(random.random(n) < share, 1.0, -1.0).tolist() for name, share in shares.items()}
    result = from_margins(margins, [(4, 4)] * n)
    others = tuple(OtherModel(name, "run", result) for name in shares if name != "m")
    card = card_of("m", [CardRun("minimal-pairs", "run", "pairs", "0123456789abcdef", "m", result, others)])
    headline = card.headlines[(card.headlines["setting"] == "LP") & (card.headlines["items"] == "all pairs")].iloc[0]
    told = card_rank(headline.to_dict(), card)
    tests = comparison.comparisons(result, "LP") if others else comparison.COMPARISONS.frame()
    p_values = {
        row["other"]: (row["difference"], row["p_value"]) for row in tests[tests["model"] == "m"].to_dict("records")
    }
    corrected = dict(zip(p_values, holm([p for _, p in p_values.values()]), strict=True)) if p_values else {}
    ahead = sum(p_values[name][0] < 0 and p < 0.05 for name, p in corrected.items()) if n >= FEWEST else 0
    behind = sum(p_values[name][0] > 0 and p < 0.05 for name, p in corrected.items()) if n >= FEWEST else 0
    first, last = 1 + ahead, len(shares) - behind
    assert told == (
        f"place {first} of {len(shares)}" if first == last else f"places {first}–{last} of {len(shares)}, tied"
    )
