"""The heads of tables on pages and in print: the columns' names in the reader's language. Pure: no streamlit.

The names are those that the engine declares (`Column`); the catalogue of this folder holds the words for some of them.
Files that programs read (CSV, Parquet, Excel) keep the names as they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.messages.languages import mark, tr

# Names that declarations compose of parts.
COMPOSED = (
    mark("ci low"),
    mark("ci high"),
    mark("acceptable tokens"),
    mark("unacceptable tokens"),
    mark("acceptable log likelihood"),
    mark("unacceptable log likelihood"),
    mark("p value error"),
    mark("permutation p error"),
    mark("perm both p error"),
    mark("perm both systems p error"),
    mark("soft pairwise accuracy error"),
    mark("threshold deviation"),
    mark("pearson low"),
    mark("pearson high"),
    mark("pearson deviation"),
    mark("spearman low"),
    mark("spearman high"),
    mark("kendall low"),
    mark("kendall high"),
    mark("firth low"),
    mark("firth high"),
    mark("accuracy low"),
    mark("accuracy high"),
    mark("accuracy deviation"),
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
