"""The finding of an alignment: how similar the pairs are, and what the penalty on show does to that, beyond chance.

A mean similarity describes the pairs and ranks no model, so none is called the better one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from engine.evaluations.alignment.records import Result
from engine.evaluations.alignment.rescoring import Scores, rescore
from engine.evaluations.shared.finding import FEWEST, MOST_LISTED, finding_parts, left_out_rows, spoken
from engine.language.quantities import count
from engine.measures.statistics.paired_difference import paired_difference
from engine.messages.message import Message

PENALTIES = {"names": Message("names compared by reading"), "reading": Message("the penalty by readings")}
VISIBLE = 0.0005  # of F1, whose three decimals are shown


def finding(result: Result, shown: Mapping[str, Scores] | None = None) -> Message:
    """Mean F1 of each model, and with the penalty of the scoring on show, by default that of the run.

    shown: the scores on show, by model.
    """
    models = result.settings.models
    by_model = shown or {model: rescore(result, result.settings.scoring, models=(model,)) for model in models}
    names, n_left_out = spoken(models), left_out_rows(result.excluded)
    sentences = [
        _of_model(names[model] if len(models) > 1 else "", scores, result.pairs)
        for model, scores in list(by_model.items())[:MOST_LISTED]
    ]
    if len(by_model) > MOST_LISTED:
        sentences.append(Message("Further models: {n}.", n=len(by_model) - MOST_LISTED))
    if len(by_model) > 1:
        sentences.append(Message("A mean similarity ranks no model."))
    return finding_parts(sentences, n_left_out)


def _of_model(name: str, scores: Scores, pairs: pd.DataFrame) -> Message:
    """The sentence of one model; `name` is "" where it is the only one."""
    table = scores.pairs.merge(pairs[["row", "category"]], on="row", how="left")
    defined = table.dropna(subset=["f1"])
    n, what = len(defined), Message("F1") if len(table) == 1 else Message("Mean F1")
    if not n:
        return _of(name, Message("F1 is undefined: no pair has a score."))
    over = count(n, "pair")
    values = {"what": what, "f1": f"{defined['f1'].mean():.3f}", "over": over}
    penalty = scores.scoring.penalty
    both = defined.dropna(subset=["penalized_f1"])
    if penalty == "none" or both.empty:
        return _of(name, Message("{what} {f1} over {over}.", **values))
    values["f1"] = f"{both['f1'].mean():.3f}"
    values |= {"penalty": PENALTIES[penalty], "over": count(len(both), "pair")}
    change = (both["penalized_f1"] - both["f1"]).to_numpy(dtype=np.float64)
    values |= {"penalised": f"{both['penalized_f1'].mean():.3f}", "difference": _signed(float(change.mean()))}
    if not (np.abs(change) >= VISIBLE).any():
        return _of(name, Message("{what} {f1} over {over}; {penalty} changes nothing.", **values))
    if len(both) < FEWEST:
        return _of(name, Message("{what} {f1} over {over}; with {penalty} {penalised} ({difference}).", **values))
    found = paired_difference(both["penalized_f1"], both["f1"], both["row"], np.zeros(len(both)))
    values |= {"low": _signed(found.ci_low), "high": _signed(found.ci_high), "most": _most(both, change)}
    if not found.separable:
        return _of(
            name,
            Message(
                "{what} {f1} over {over}; with {penalty} {penalised}, not distinguishable from no change "
                "({difference} [{low}, {high}]){most}.",
                **values,
            ),
        )
    return _of(
        name,
        Message(
            "{what} {f1} over {over}; with {penalty} {penalised} ({difference} [{low}, {high}]){most}.",
            **values,
        ),
    )


def _of(name: str, sentence: Message) -> Message:
    return Message("{model}: {sentence}", model=name, sentence=sentence) if name else sentence


def _most(pairs: pd.DataFrame, change: np.ndarray) -> Message:
    """The category whose mean changes most, "" where there is only one, or another that is shown to change as much."""
    of_category: dict[str, list[float]] = {}
    for category, value in zip(pairs["category"].astype(str), change.tolist(), strict=True):
        of_category.setdefault(category, []).append(value)
    if len(of_category) < 2:
        return Message("")
    means = {category: float(np.mean(values)) for category, values in of_category.items()}
    most = max(means, key=lambda category: abs(means[category]))
    if sum(abs(round(mean, 3)) == abs(round(means[most], 3)) for mean in means.values()) > 1:
        return Message("")
    return Message(", most in {category} ({change})", category=most, change=_signed(means[most]))


def _signed(value: float) -> str:
    text = f"{value:+z.3f}".replace("-", "−")
    return text if text.strip("+0.") else "0.000"
