"""The heads of tables on pages and in print: the words for the columns that several tables have. Pure: no streamlit.

Files that programs read (CSV, Parquet, Excel) keep the names themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.translation import mark, tr

HEADS = {
    "model": mark("model"), "other": mark("other model"), "row": mark("row"), "rank": mark("rank"),
    "class": mark("class"), "label": mark("label"), "text": mark("text"), "domain": mark("domain"),
    "category": mark("category"), "reason": mark("reason"), "layer": mark("layer"), "measure": mark("measure"),
    "value": mark("value"), "difference": mark("difference"), "distance": mark("distance"),
    "n": "n", "n_sentences": mark("sentences"), "n_classes": mark("classes"), "n_train": mark("training sentences"),
    "n_test": mark("test sentences"), "n_correct": mark("correct"), "n_tied": mark("tied"),
    "ci_low": mark("95 % interval, low"), "ci_high": mark("95 % interval, high"), "p_value": "p",
    "separable": mark("significant"), "dispersion": mark("dispersion"),
    "centroid_distance": mark("distance of the centroid"), "neighbour": mark("neighbour"),
    "nearest_class": mark("nearest class"), "predicted": mark("predicted"), "baseline": mark("baseline"),
    "seed": mark("seed"), "accuracy": mark("accuracy"), "probability": mark("probability"),
    "mean_probability": mark("mean probability"), "token": mark("token"), "word": mark("word"),
    "reading": mark("reading"), "side": mark("side"), "position": mark("position"), "reference": mark("reference"),
    "candidate": mark("candidate"), "human": mark("human"), "kind": mark("kind"), "idf": "idf",
    "penalty": mark("penalty"), "annotator": mark("annotator"), "missing": mark("missing"),
    "minimum": mark("minimum"), "maximum": mark("maximum"), "mean": mark("mean"), "scale": mark("scale"),
    "deviation": mark("standard deviation"), "best": mark("best"), "normalization": mark("normalisation"),
    "stratum": mark("stratum"), "acceptable": mark("acceptable"), "unacceptable": mark("unacceptable"),
    "acceptable_tokens": mark("tokens of A"), "unacceptable_tokens": mark("tokens of U"),
    "acceptable_log_likelihood": mark("log-likelihood of A"),
    "unacceptable_log_likelihood": mark("log-likelihood of U"), "log_likelihood": mark("log-likelihood"),
    "identical": mark("identical"), "slope": mark("slope"), "intercept": mark("intercept"),
    "standard_error": mark("standard error"), "direction": mark("direction"), "share": mark("share"),
    "documents": mark("documents"), "occurrences": mark("occurrences"), "similarity": mark("similarity"),
    "agreement": mark("agreement"), "weight": mark("weight"), "mask": mark("mask"), "score": mark("score"),
}


def head(name: str) -> str:
    """The head of a column in the reader's language; of one without words of ours its name, without underscores.

    >>> head("n_sentences"), head("own_distance")
    ('sentences', 'own distance')
    """
    return tr(HEADS.get(name, name.replace("_", " ")))


def heads(names: Iterable[str]) -> dict[str, str]:
    """The head of each of some columns, as `column_config` of a table takes them.

    >>> heads(["row", "ci_low"])
    {'row': 'row', 'ci_low': '95 % interval, low'}
    """
    return {name: head(name) for name in names}
