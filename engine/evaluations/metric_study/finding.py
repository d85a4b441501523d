"""The finding of a metric study: which setting follows the human scores best, and which others cannot be told from it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from engine.evaluations.alignment.scoring import idf_words
from engine.evaluations.metric_study.grid import SIGNIFICANT, best_place
from engine.evaluations.metric_study.records import BERTSCORE, HUMAN, Result, Settings
from engine.evaluations.shared.finding import FEWEST, finding_parts, left_out_rows, p_value, spoken
from engine.language.quantities import count
from engine.measures.cards.catalog import CARDS
from engine.messages.message import Message
from engine.options import option_of

PENALTIES = option_of(Settings, "penalties").labels
FOLLOWS = Message(
    "Of the settings of BERTScore {setting} follows the human scores best: Pearson's r {value} over {over}."
)
HIGHEST = Message(
    "Of the settings of BERTScore {setting} has the highest Pearson's r with the human scores, {value} over {over}, not "
    "significantly above 0."
)
FOLLOWS_NOT = Message(
    "No setting follows the human scores: the highest Pearson's r is {value} over {over}, that of {setting}."
)
ABOVE_CEILING = Message(
    "The highest correlation ({measure} {value}) is above the human ceiling, {ceiling}: that is no strict bound, because "
    "annotators are compared with the mean of the others, and methods with that of all, which has less noise."
)


def finding(result: Result, shown: Any = None) -> Message:
    """The best setting of BERTScore, the next one, and how many differ from the best after Holm's correction."""
    table = result.correlations
    grid = table[(table["kind"] == BERTSCORE).to_numpy()]
    place, n_left_out = best_place(table), left_out_rows(result.excluded)
    if place is None:
        nothing = Message("No setting has a correlation with human scores.")
        return finding_parts([nothing], n_left_out)
    best = table.iloc[place]
    others = grid.drop(index=table.index[place], errors="ignore").dropna(subset=["pearson"])
    names = spoken(grid["model"].unique())
    highest = HIGHEST if float(best["ci_low"]) <= 0 else FOLLOWS
    first = (highest if float(best["pearson"]) > 0 else FOLLOWS_NOT).format(
        setting=_setting(best, names, with_model=True),
        value=_with_interval(best),
        over=count(int(best["n"]), "pair"),
    )
    if int(best["n"]) < FEWEST:
        few = Message("These are too few to tell settings apart, at least {fewest} are needed.", fewest=FEWEST)
        return finding_parts([first, few], n_left_out)
    above = _above(table, float(best["pearson"]))
    parts = [first, *above, *_next(others, float(best["pearson"]), names), *above_ceiling(result, "pearson")]
    return finding_parts(parts, n_left_out)


def above_ceiling(result: Result, measure: str) -> list[Message]:
    """That a setting or method has a higher correlation than the human ceiling, where one has.

    measure: pearson, spearman or kendall.
    """
    table, means = result.correlations, result.human_ceiling
    ceiling = float(means.loc[means["annotator"] == "", measure].max())
    highest = float(table.loc[(table["kind"] != HUMAN).to_numpy(), measure].max())
    if not highest > ceiling:
        return []
    symbol = CARDS[measure].symbol
    return [ABOVE_CEILING.format(measure=symbol, value=_number(highest), ceiling=_number(ceiling))]


def _above(table: pd.DataFrame, best: float) -> list[Message]:
    """That a method beside BERTScore has a higher correlation than its best setting, where one has."""
    is_beside = ~table["kind"].isin([BERTSCORE, HUMAN])
    highest = float(table.loc[is_beside.to_numpy(), "pearson"].max())
    if not highest > best:
        return []
    return [Message("The best method besides BERTScore has a higher one, {value}.", value=_number(highest))]


def _next(others: pd.DataFrame, best: float, names: dict[str, str]) -> list[Message]:
    """The next setting, and whether it, and how many of the others, are below the best."""
    if others.empty:
        return []
    second = others.iloc[int(others["pearson"].argmax())]
    p, n = float(second["williams_holm_p"]), len(others)
    below = int((others["williams_holm_p"] < SIGNIFICANT).sum())
    values = {"setting": _setting(second, names, with_model=len(names) > 1), "value": _number(float(second["pearson"]))}
    if float(second["pearson"]) == best:
        told = Message("{setting} ties with it.", setting=values["setting"])
    elif p != p:
        told = Message("Next is {setting} with {value}; the difference was not tested.", **values)
    elif p < SIGNIFICANT:
        told = Message("Next is {setting} with {value}, significantly below ({p}, Holm).", p=p_value(p), **values)
    else:
        told = Message(
            "Next is {setting} with {value}, not distinguishable from it ({p}, Holm).", p=p_value(p), **values
        )
    if n < 2 or others["williams_holm_p"].isna().all():
        return [told]
    if not below:
        return [told]
    return [told, Message("Of the {n} other settings {below} are significantly below it.", n=n, below=below)]


def _setting(row: pd.Series, names: dict[str, str], *, with_model: bool) -> Message:
    """What a setting is called; without its model where there is only one."""
    idf = idf_words(row["idf"])
    penalty = Message(PENALTIES[row["penalty"]])
    if not with_model:
        return Message("idf {idf}, {penalty}", idf=idf, penalty=penalty)
    return Message("{model}, idf {idf}, {penalty}", model=names[row["model"]], idf=idf, penalty=penalty)


def _with_interval(row: pd.Series) -> str:
    value, low, high = (float(row[name]) for name in ("pearson", "ci_low", "ci_high"))
    return _number(value) if low != low else f"{_number(value)} [{_number(low)}, {_number(high)}]"


def _number(value: float) -> str:
    return f"{value:z.3f}".replace("-", "−")
