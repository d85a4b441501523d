"""The heads of tables on pages and in print: the columns' names in the reader's language. Pure: no streamlit.

Files that programs read (CSV, Parquet, Excel) keep the names as they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.translation import mark, tr

# The columns that have words in other languages, as they are called in English.
TRANSLATED = (
    mark("model"), mark("other"), mark("row"), mark("rank"), mark("class"), mark("label"), mark("text"),
    mark("domain"), mark("category"), mark("reason"), mark("layer"), mark("measure"), mark("value"),
    mark("difference"), mark("distance"), mark("n sentences"), mark("n classes"), mark("n train"), mark("n test"),
    mark("n correct"), mark("n tied"), mark("n asked"), mark("ci low"), mark("ci high"), mark("separable"),
    mark("dispersion"), mark("centroid distance"), mark("own distance"), mark("neighbour"), mark("nearest class"),
    mark("nearest distance"), mark("predicted"), mark("baseline"), mark("seed"), mark("accuracy min"),
    mark("accuracy max"), mark("accuracy mean"), mark("train accuracy"), mark("token"), mark("word"),
    mark("surface"), mark("reading"), mark("match token"), mark("match reading"), mark("reading distance"),
    mark("low frequency"), mark("side"), mark("position"), mark("reference"), mark("candidate"), mark("human"),
    mark("kind"), mark("penalty"), mark("annotator"), mark("missing"), mark("minimum"), mark("maximum"),
    mark("mean"), mark("scale"), mark("deviation"), mark("best"), mark("normalization"), mark("stratum"),
    mark("acceptable"), mark("unacceptable"), mark("acceptable tokens"), mark("unacceptable tokens"),
    mark("acceptable log likelihood"), mark("unacceptable log likelihood"), mark("log likelihood"),
    mark("identical"), mark("slope"), mark("intercept"), mark("standard error"), mark("direction"), mark("share"),
    mark("documents"), mark("occurrences"), mark("similarity"), mark("weight"), mark("mask"), mark("place"),
    mark("sample size"),
)


def head(name: str) -> str:
    """The head of a column in the reader's language; of one without words of ours its name, without underscores.

    >>> head("own_distance")
    'own distance'
    """
    return tr(name.replace("_", " "))


def heads(names: Iterable[str]) -> dict[str, str]:
    """The head of each of some columns, as `column_config` of a table takes them.

    >>> heads(["row", "ci_low"])
    {'row': 'row', 'ci_low': 'ci low'}
    """
    return {name: head(name) for name in names}
