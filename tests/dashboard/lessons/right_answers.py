"""The right answers of the lessons, worked out from a result without the code of the lessons."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from engine.datasets import sample_data
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.alignment.rescoring import rescore
from engine.measures.minimal_pairs.length_slope import length_slope

Results = Mapping[str, Any]
ALPHA, SIGNIFICANT = 0.8, 0.05


def by_hand(_: Results) -> float:
    return 10 / 18


def best(results: Results) -> set[str]:
    models = results["clusters"].models
    ratio = dict(zip(models["model"], models["in_class_dispersion"] / models["out_of_class_dispersion"], strict=True))
    return {model for model, value in ratio.items() if math.isclose(value, min(ratio.values()), rel_tol=1e-9)}


def ranks(results: Results) -> float:
    """The models that no other one beats with an interval of the difference beside 0."""
    result = results["clusters"]
    beaten = set()
    for row in result.comparisons.to_dict("records"):
        if row["ci_low"] > 0:  # model has the larger score
            beaten.add(row["model"])
        if row["ci_high"] < 0:
            beaten.add(row["other"])
    return float(len(set(result.models["model"]) - beaten))


def classification(results: Results) -> float | set[str]:
    table = results["classification"].models
    n = sum(low > base for low, base in zip(table["ci_low"], table["baseline"], strict=True))
    return {"yes" if n else "no"} if len(table) == 1 else float(n)


def masks(results: Results) -> set[str]:
    result = results["fill-mask"]
    items = result.items[(result.items["model"] == result.settings.models[0]).to_numpy()]
    means = items.groupby("domain")["probability"].mean()
    return {str(name) for name in means.index[np.isclose(means, means.max(), rtol=1e-12)]}


def limits_of_clusters(results: Results) -> set[str]:
    result = results["clusters"]
    [first] = list(best(results))[:1]
    p = result.null.set_index("model").loc[first, "p_value"]
    return {"better" if p < SIGNIFICANT else "chance"}


def similarities(result: Any, row: int) -> tuple[np.ndarray, pd.DataFrame, pd.DataFrame]:
    """The cosines of a pair, (n_reference, n_candidate), and the tokens of the two sides."""
    model = result.settings.models[0]
    shape = result.shapes[((result.shapes["model"] == model) & (result.shapes["row"] == row)).to_numpy()].iloc[0]
    size = shape["n_reference"] * shape["n_candidate"]
    flat = result.similarity[model][-1][shape["offset"] : shape["offset"] + size]
    tokens = result.tokens[((result.tokens["model"] == model) & (result.tokens["row"] == row)).to_numpy()]
    sides = [tokens[(tokens["side"] == side).to_numpy()] for side in ("reference", "candidate")]
    return flat.reshape(shape["n_reference"], shape["n_candidate"]).astype(float), sides[0], sides[1]


def f1(result: Any, row: int, idf: Mapping[str, float] | None = None, unseen: float = 1.0) -> float:
    """BERTScore's F1 by its formula; a token that is not in `idf` weighs `unseen`, a special one nothing."""
    cosines, reference, candidate = similarities(result, row)
    parts = []
    for side, matches in ((reference, cosines.max(axis=1)), (candidate, cosines.max(axis=0))):
        weight = np.array([(idf or {}).get(str(token), unseen) for token in side["token"]])
        weight[side["special"].to_numpy()] = 0
        parts.append(float((weight * matches).sum() / weight.sum()))
    recall, precision = parts
    return 2 * precision * recall / (precision + recall)


def swapped_row(result: Any) -> int:
    pairs = [
        (len(text), row)
        for text, row, category in zip(
            result.pairs["reference"], result.pairs["row"], result.pairs["category"], strict=True
        )
        if category in sample_data.SWAPPED_NAME.values()
    ]
    return min(pairs)[1]


def greedy(results: Results) -> set[str]:
    result = results["alignment"]
    cosines, reference, _ = similarities(result, swapped_row(result))
    best_of = cosines.max(axis=1)
    own = ~reference["special"].to_numpy()
    least = best_of[own].min()
    return {str(text) for text in reference["surface"][own & (best_of == least)]}


def high(results: Results) -> set[str]:
    result = results["alignment"]
    means = {
        category: float(np.mean([f1(result, row) for row in rows["row"]]))
        for category, rows in result.pairs.groupby("category")
    }
    swapped = means[next(name for name in sample_data.SWAPPED_NAME.values() if name in means)]
    paraphrase = means[next(name for name in ("言い換え", "paraphrase") if name in means)]
    return {"swapped" if swapped > paraphrase else "paraphrase"}


def idf(results: Results) -> float:
    """bert_score's idf: log((N + 1) / (df + 1)) over the references."""
    result = results["alignment"]
    tokens = result.tokens[(result.tokens["side"] == "reference").to_numpy()]
    documents = [set(map(str, group["token"])) for _, group in tokens.groupby("row")]
    n = len(documents)
    found = Counter(token for document in documents for token in document)
    weights = {token: math.log((n + 1) / (df + 1)) for token, df in found.items()}
    return f1(result, swapped_row(result), weights, math.log(n + 1))


def reading(results: Results) -> float:
    result = results["alignment"]
    table = rescore(result, Scoring(penalty="names")).pairs.set_index("row")
    return float(table.loc[swapped_row(result), "penalized_f1"])


def two_readings(_: Results) -> float:
    return 1 - 2 / 4  # ほ → っぽ


def harm(results: Results) -> float:
    result = results["alignment"]
    scores = rescore(result, Scoring(penalty="names")).pairs.set_index("row")
    rows = [row for row, kind in zip(result.pairs["row"], result.pairs["category"], strict=True) if kind == "表記ゆれ"]
    assert len(rows) == 15
    return float(sum(scores.loc[row, "f1"] - scores.loc[row, "penalized_f1"] > 0.01 for row in rows))


def people(results: Results) -> float:
    result = results["metric-study"]
    gold = result.pairs["gold"].to_numpy()
    return max(
        float(np.corrcoef(scores, gold)[0, 1])
        for scores, kind in zip(result.scores, result.correlations["kind"], strict=True)
        if kind == "bertscore"
    )


def pairs_of(results: Results) -> dict[str, pd.DataFrame]:
    result = results["minimal-pairs"]
    return {model: result.pairs[(result.pairs["model"] == model).to_numpy()] for model in result.settings.models}


def decisions(pairs: pd.DataFrame, score: str) -> np.ndarray:
    divisors: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "LP": np.ones_like,
        "MeanLP": lambda n: n,
        "PenLP": lambda n: ((5 + n) / 6) ** ALPHA,
        "SLLN-LP": np.sqrt,
    }
    a, u = (
        pairs[f"{side}_log_likelihood"].to_numpy() / divisors[score](pairs[f"{side}_tokens"].to_numpy(dtype=float))
        for side in ("acceptable", "unacceptable")
    )
    return np.sign(a - u).astype(int)


def differences(pairs: pd.DataFrame) -> np.ndarray:
    return (pairs["acceptable_tokens"] - pairs["unacceptable_tokens"]).to_numpy()


def slopes(results: Results, score: str = "LP") -> dict[str, Any]:
    return {
        model: length_slope(decisions(pairs, score), differences(pairs)) for model, pairs in pairs_of(results).items()
    }


def steepest(results: Results) -> str:
    fits = {model: abs(fit.slope) for model, fit in slopes(results).items() if math.isfinite(fit.slope)}
    return max(fits, key=lambda model: fits[model])


def sums(results: Results) -> float:
    result = results["minimal-pairs"]
    model, pairs = next(iter(pairs_of(results).items()))
    total = (pairs["acceptable_tokens"] + pairs["unacceptable_tokens"]).tolist()
    row = pairs["row"].tolist()[total.index(min(total))]
    tokens = result.tokens
    chosen = (tokens["model"] == model) & (tokens["row"] == row) & (tokens["side"] == "acceptable")
    return float(tokens["log_likelihood"][chosen.to_numpy()].sum())


def strata(results: Results) -> set[str]:
    pairs = pairs_of(results)[steepest(results)]
    right, gap = decisions(pairs, "LP") == 1, np.sign(differences(pairs))
    shares = {
        name: right[gap == sign].mean() for name, sign in (("A<U", -1), ("A=U", 0), ("A>U", 1)) if (gap == sign).any()
    }
    return {name for name, share in shares.items() if share == max(shares.values())}


def slope(results: Results) -> set[str]:
    fit = slopes(results)[steepest(results)]
    return {"shorter" if fit.ci_high < 0 else "longer" if fit.ci_low > 0 else "undecided"}


def scores(results: Results) -> set[str]:
    model = steepest(results)
    sizes = {name: abs(slopes(results, name)[model].slope) for name in ("LP", "MeanLP", "PenLP", "SLLN-LP")}
    least = min(size for size in sizes.values() if math.isfinite(size))
    return {name for name, size in sizes.items() if abs(size - least) < 1e-9}


def fair(results: Results) -> float:
    pairs = pairs_of(results)[steepest(results)]
    return 100 * float((decisions(pairs, "LP")[differences(pairs) == 0] == 1).mean())


def models(results: Results) -> set[str]:
    """McNemar's exact test is the sign test of the pairs that one model alone gets right."""
    first, second = (decisions(pairs, "LP") == 1 for pairs in pairs_of(results).values())
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    p = binomtest(only_first, only_first + only_second).pvalue
    return {"undecided" if p >= SIGNIFICANT else "first" if only_first > only_second else "second"}


def limits_of_pairs(results: Results) -> float:
    pairs = pairs_of(results)[steepest(results)]
    equal = differences(pairs) == 0
    return float((decisions(pairs, "LP")[equal] != decisions(pairs, "MeanLP")[equal]).sum())


RIGHT: dict[tuple[str, str], Callable[[Results], float | set[str]]] = {
    ("cls-vectors", "by-hand"): by_hand,
    ("cls-vectors", "best"): best,
    ("cls-vectors", "ranks"): ranks,
    ("cls-vectors", "classification"): classification,
    ("cls-vectors", "masks"): masks,
    ("cls-vectors", "limits"): limits_of_clusters,
    ("names", "greedy"): greedy,
    ("names", "high"): high,
    ("names", "idf"): idf,
    ("names", "reading"): reading,
    ("names", "two-readings"): two_readings,
    ("names", "harm"): harm,
    ("names", "people"): people,
    ("short-sentences", "sums"): sums,
    ("short-sentences", "strata"): strata,
    ("short-sentences", "slope"): slope,
    ("short-sentences", "scores"): scores,
    ("short-sentences", "fair"): fair,
    ("short-sentences", "models"): models,
    ("short-sentences", "limits"): limits_of_pairs,
}
