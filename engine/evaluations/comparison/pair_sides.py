"""Two sides of minimal pairs: models, runs or normalisations on the same pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.evaluations.comparison.common_items import (
    Differences,
    Number,
    changed_most_first,
    common_items,
    share_difference,
)
from engine.evaluations.comparison.records import Side
from engine.evaluations.minimal_pairs.notices import not_exact
from engine.evaluations.minimal_pairs.records import WHOLE, PairView, Result
from engine.evaluations.minimal_pairs.regions import of_region
from engine.evaluations.minimal_pairs.unigrams import with_unigrams
from engine.evaluations.minimal_pairs.views import available, decided, of_model, scores
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.measures.statistics.own_spread import in_own_spread
from engine.messages.message import Message, list_of

OUTCOMES = np.array(["wrong", "tie", "right"], dtype=object)
SCALE = Message(
    "margins over their root mean square, because those of two models or normalisations have no common unit"
)


def compare_pairs(first: Side, second: Side) -> Differences:
    """Accuracy over all common pairs and over those of equal length to both; the pairs that are decided differently.

    Margins are compared over their root mean square (each side's own), because a pseudo-log-likelihood and a
    log-likelihood, or a sum and a mean, have no common unit. Raises InputError for runs of single sentences.
    """
    if min(side.result.data_kind.n_sentences for side in (first, second)) < 2:
        raise InputError(
            Message(
                "Runs of single sentences have no pairs to compare item by item; their tables of "
                "judgements or predictions have an interval for each model."
            )
        )
    common = common_items(_margins(first), _margins(second))
    table = common.table
    right = [(table[f"decision_{side}"] == 1).to_numpy() for side in ("first", "second")]
    equal = (table["equal_first"] & table["equal_second"]).to_numpy(dtype=bool)
    numbers: list[Number] = [share_difference("accuracy", Message("all pairs"), right[0], right[1])]
    if 0 < equal.sum() < len(table):
        numbers.append(
            share_difference("accuracy", Message("pairs with A = U under both"), right[0][equal], right[1][equal])
        )
    margins = [table[f"margin_{side}"].to_numpy() for side in ("first", "second")]
    table = table.assign(
        first=margins[0],
        second=margins[1],
        difference=np.subtract(*(in_own_spread(margin, centred=False) for margin in margins)),
        **{f"{side}_outcome": OUTCOMES[table[f"decision_{side}"].to_numpy() + 1] for side in ("first", "second")},
    )
    inexact = (
        not_exact(side.result, view.normalization, view.scoring.alpha, view.scoring.unigrams, view.scoring.region)
        for side, view in ((first, _view(first)), (second, _view(second)))
    )
    return Differences(common, numbers, changed_most_first(table), SCALE, tuple(dict.fromkeys(filter(None, inexact))))


def counted(result: Result, view: PairView) -> Result:
    """The result with the unigrams and the region of a view.

    Raises InputError for a region that the result does not know, and for a score that it, or the region, does not have.
    """
    if NORMALIZATIONS[view.normalization].by_unigrams and view.scoring.unigrams != result.unigrams:
        result = with_unigrams(result, view.scoring.unigrams)
    result = of_region(result, view.scoring.region)
    known = available(result.pairs)
    if view.normalization in known:
        return result
    if view.scoring.region == WHOLE:
        raise InputError(
            Message(
                "The run has no score {normalization}; it has {known}.",
                normalization=view.normalization,
                known=list_of(known),
            )
        )
    raise InputError(
        Message(
            "A part of a sentence has no score {normalization}; it has {known}.",
            normalization=view.normalization,
            known=list_of(known),
        )
    )


def _view(side: Side) -> PairView:
    return side.shown if isinstance(side.shown, PairView) else PairView()


def _margins(side: Side) -> pd.DataFrame:
    """The pairs of a side with margin, decision and whether both sentences, or their regions, are equally long."""
    view = _view(side)
    pairs = of_model(counted(side.result, view), side.model)
    acceptable, unacceptable = scores(pairs, view.normalization, view.scoring.alpha)
    return pd.DataFrame(
        {
            "row": pairs["row"].to_numpy(),
            "text": pairs["acceptable"].to_numpy(),
            "other_text": pairs["unacceptable"].to_numpy(),
            "category": pairs["category"].to_numpy(),
            "margin": acceptable - unacceptable,
            "decision": decided(pairs, view.normalization, view.scoring.alpha),
            # None are where numbers of tokens are not known.
            "equal": (pairs["acceptable_tokens"] == pairs["unacceptable_tokens"]).fillna(False).to_numpy(dtype=bool),
        }
    )
