"""The findings of minimal pairs: which model prefers the acceptable sentence more often, and what length changes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pandas as pd

from engine.evaluations.minimal_pairs import comparison, fair_subsets, levels, views
from engine.evaluations.minimal_pairs.length_effects import decides
from engine.evaluations.minimal_pairs.records import PairView, Result
from engine.evaluations.minimal_pairs.regions import of_region
from engine.evaluations.minimal_pairs.unigrams import with_unigrams
from engine.evaluations.shared.finding import (
    FEWEST,
    Contest,
    Standing,
    contrasts_of,
    finding_of,
    left_out_rows,
    listed,
    spoken,
)
from engine.evaluations.shared.on_card import Headline
from engine.measures.cards.catalog import CARDS
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.message import Message

MISLED = (
    Message(
        "Length misleads {model} strongly: right in {shorter:.1%} where the acceptable sentence has fewer tokens, in "
        "{longer:.1%} where it has more."
    ),
    Message(
        "Length misleads {models} strongly, {model} for example: right in {shorter:.1%} where the acceptable sentence has "
        "fewer tokens, in {longer:.1%} where it has more."
    ),
)
MOVED = (
    Message(
        "Length moves {model}: sent_more preferred in {shorter:.1%} where it has fewer tokens, in {longer:.1%} where it "
        "has more."
    ),
    Message(
        "Length moves {models}, {model} for example: sent_more preferred in {shorter:.1%} where it has fewer tokens, in "
        "{longer:.1%} where it has more."
    ),
)
STRATA = {
    "A<U": Message("Where the acceptable sentence has fewer tokens"),
    "A=U": Message("Where both sentences have as many tokens"),
    "A>U": Message("Where the acceptable sentence has more tokens"),
}
# How a sentence names the first number of a card.
LABELS = {
    "judgement_auc": Message("area under the ROC curve of LP"),
    "prediction_accuracy": Message("share of items in which the predictions hold"),
}
Tables = Callable[[str], pd.DataFrame]  # of `views`, `comparison` and `levels`, by name, under what is on show


def of_pairs(
    result: Result, shown: PairView | None = None, table: Tables | None = None, *, ranks: bool = True
) -> Message:
    """The models by accuracy under the score and the pairs on show; then what length does.

    shown: plain log-likelihood over all pairs where it is None. table: what has the tables of `result` under `shown`
    already. ranks: whether a greater share is better.
    """
    shown = shown or PairView()
    read = table or _tables(result, shown)
    summary, ranking = read("summary"), read("ranking")
    name = "clustered_comparisons" if shown.scoring.clustered_by else "comparisons"
    comparisons = read(name) if len(ranking) > 1 else comparison.COMPARISONS.frame()
    contest = Contest(
        _label(shown, ranks=ranks),
        CARDS["accuracy"].better if ranks else "neither",
        int(ranking["n"].max()) if len(ranking) else 0,
        "pair",
        [
            Standing(row["model"], float(row["accuracy"]), float(row["ci_low"]), float(row["ci_high"]))
            for row in ranking.to_dict("records")
        ],
        contrasts_of(comparisons, "p_holm") if len(comparisons) else {},
        n_left_out=left_out_rows(result.excluded),
    )
    return finding_of(contest, [*_perfect(contest), *_length(summary, contest)])


def of_headlines(result: Result, headlines: Callable[[Result, str], list[Headline]]) -> Message:
    """The models by the first of their numbers on cards: of data whose evaluation tests no two models."""
    numbers = {model: found[0] for model in result.scored_models if (found := headlines(result, model))}
    measure = next((headline.measure for headline in numbers.values()), "")
    contest = Contest(
        LABELS[measure] if measure else "",
        CARDS[measure].better if measure else "neither",
        max((headline.n for headline in numbers.values()), default=0),
        next((headline.items.rstrip("s") for headline in numbers.values()), "item"),
        [Standing(name, float(each.value), float(each.ci_low), float(each.ci_high)) for name, each in numbers.items()],
        {},
        is_share=False,
        digits=3,
        reason=next((each.reason for each in numbers.values() if each.reason), ""),
        n_left_out=left_out_rows(result.excluded),
    )
    return finding_of(contest)


def _tables(result: Result, shown: PairView) -> Tables:
    score, scoring = shown.normalization, shown.scoring
    if NORMALIZATIONS[score].by_unigrams and scoring.unigrams != result.unigrams:
        result = with_unigrams(result, scoring.unigrams)
    counted = fair_subsets.of_subset(of_region(result, scoring.region), scoring.subset)
    alpha, over = scoring.alpha, scoring.clustered_by
    made: dict[str, Callable[[], pd.DataFrame]] = {
        "summary": lambda: views.summary(counted, (score,), alpha, over),
        "ranking": lambda: comparison.ranking(counted, score, alpha, over),
        "comparisons": lambda: comparison.comparisons(counted, score, alpha),
        "clustered_comparisons": lambda: levels.clustered_comparisons(counted, score, over, alpha),
    }
    return lambda name: made[name]()


def _label(shown: PairView, *, ranks: bool) -> Message:
    if not ranks:
        return Message("share of sent_more preferred by {score}", score=Message(shown.normalization))
    return Message("accuracy by {score}", score=Message(shown.normalization))


def _perfect(contest: Contest) -> list[Message]:
    """Says so where the best model is right in every pair: its accuracy cannot tell it from a better one."""
    ranked = contest.ranked
    if not ranked or contest.better != "higher" or ranked[0].value < 1 or contest.n < FEWEST:
        return []
    perfect = [each.model for each in ranked if each.value == 1]
    names = spoken(each.model for each in contest.standings)
    return [
        Message(
            "Every pair is decided right by {models}: harder pairs would be needed to see a limit.",
            models=listed([names[model] for model in perfect]),
        )
    ]


def _length(summary: pd.DataFrame, contest: Contest) -> list[Message]:
    """Whom length misleads, and whether another model is ahead where the sentences differ, or do not, in length."""
    names = spoken(each.model for each in contest.standings)
    rows = summary.to_dict("records")
    accuracies = {(str(row["model"]), str(row["stratum"])): (int(row["n"]), float(row["accuracy"])) for row in rows}
    order = [each.model for each in contest.ranked if (each.model, "all") in accuracies]
    misled = [model for model in order if decides(summary[(summary["model"] == model).to_numpy()])]
    sentences = []
    if misled:
        sentences.append(
            (MISLED if contest.better == "higher" else MOVED)[len(misled) > 1].format(
                models=listed([names[model] for model in misled]),
                model=names[misled[0]],
                shorter=accuracies[misled[0], "A<U"][1],
                longer=accuracies[misled[0], "A>U"][1],
            )
        )
    if len(order) < 2 or contest.n < FEWEST or contest.better == "neither":
        return sentences
    return sentences + _other_order(accuracies, order[0], order[1], names)


def _other_order(
    accuracies: dict[tuple[str, str], tuple[int, float]], best: str, second: str, names: dict[str, str]
) -> list[Message]:
    """In which stratum the second model is ahead of the best, by the largest difference; none where in none.

    Models whose tokenizers sort the pairs otherwise have no stratum in common; of a model whose numbers of tokens are
    not known none is known.
    """
    if any((model, stratum) not in accuracies for model in (best, second) for stratum in STRATA):
        return []
    if any(accuracies[best, stratum][0] != accuracies[second, stratum][0] for stratum in STRATA):
        return []
    ahead = [
        (accuracies[second, stratum][1] - accuracies[best, stratum][1], stratum)
        for stratum in STRATA
        if accuracies[best, stratum][0] >= FEWEST
    ]
    gap, stratum = max(ahead, default=(math.nan, ""))
    if not gap > 0:
        return []
    values = [accuracies[model, stratum][1] for model in (second, best)]
    if len({f"{value:.1%}" for value in values}) == 1:
        return []
    return [
        Message(
            "{where} {model} is ahead, {value:.1%} against {other_value:.1%}, a difference that was not tested.",
            where=STRATA[stratum],
            model=names[second],
            value=values[0],
            other_value=values[1],
        )
    ]
