"""The guided reading of an alignment, from the pair shown."""

from __future__ import annotations

import numpy as np

from dashboard.alignment.pair import AlignedPair, undefined_reason
from dashboard.shared.wording import verbatim
from engine.messages.languages import sentences, tr

VISIBLE = 0.0005  # a difference of F1 that its three decimals show


def guide(aligned: AlignedPair) -> tuple[str, ...]:
    """What the links show, what it means, what to do next."""
    see = [tr("A link joins a token with the most similar token of the other sentence.")]
    tokens = aligned.tokens
    matched = tokens[~tokens["special"] & (tokens["match_surface"] != "") & tokens["similarity"].notna()]
    if len(matched) > 1:
        closest, farthest = (
            matched.iloc[place] for place in (int(matched["similarity"].argmax()), int(matched["similarity"].argmin()))
        )
        see.append(
            tr(
                "No token is more similar to its match than “{first}” to “{first_match}” ({highest:.2f}), none less than "
                "“{last}” to “{last_match}” ({lowest:.2f}).",
                first=verbatim(closest["surface"]),
                first_match=verbatim(closest["match_surface"]),
                highest=closest["similarity"],
                last=verbatim(farthest["surface"]),
                last_match=verbatim(farthest["match_surface"]),
                lowest=farthest["similarity"],
            )
        )
    return (
        sentences(*see),
        _meaning(aligned),
        tr(
            "Point at a token to see its match and numbers. For two sentences of your own, or *{source}* of a file, open "
            "*{form}* and press *{run}*.",
            form=tr("New evaluation"),
            source=tr("Many pairs"),
            run=tr("Run"),
        ),
    )


def _meaning(aligned: AlignedPair) -> str:
    f1, penalised = float(aligned.pair["f1"]), float(aligned.pair["penalized_f1"])
    if np.isnan(f1):
        return undefined_reason(aligned.tokens, aligned.scoring)
    meaning = (
        tr("F1 = {f1:.3f} sums this up: the mean of these similarities in both directions.", f1=f1)
        if aligned.scoring.idf == "none"
        else tr("F1 = {f1:.3f} sums this up: the weighted mean of these similarities in both directions.", f1=f1)
    )
    if aligned.scoring.penalty == "none":
        return meaning
    if np.isnan(penalised):
        effect = tr("With the penalty by readings it is undefined.")
    elif penalised < f1 - VISIBLE:
        effect = tr("Comparing readings lowers it to {value:.3f}.", value=penalised)
    elif penalised > f1 + VISIBLE:
        effect = tr("Comparing readings raises it to {value:.3f}.", value=penalised)
    else:
        effect = tr("Comparing readings changes nothing in this pair.")
    return sentences(meaning, effect)
