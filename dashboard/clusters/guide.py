"""The guided reading of clusters, from the numbers of the result. Pure: no streamlit."""

from __future__ import annotations

from dashboard.shared.theme import shortened
from dashboard.shared.wording import verbatim
from engine.evaluations.clusters.records import Result
from engine.language.quantities import decimals
from engine.messages.languages import tr


def guide(result: Result) -> tuple[str, ...]:
    """What the bars show, what it means, what to do next; nothing where no model has a score."""
    ranked = result.models.dropna(subset=["rank", "score"]).sort_values("rank", kind="stable")
    if ranked.empty:
        return ()
    digits = decimals(ranked["score"])
    scores = [f"{score:,.{digits}f}" for score in ranked["score"]]
    names = [verbatim(shortened(model)) for model in ranked["model"]]
    if len(ranked) == 1:
        see = tr("The bar is the dispersion score of {best}: M_m = {score}.", best=names[0], score=scores[0])
    else:
        see = tr(
            "Each bar is the dispersion score M_m of a model. {best} has the smallest, {score}; {worst} the "
            "largest, {largest}.",
            best=names[0],
            score=scores[0],
            worst=names[-1],
            largest=scores[-1],
        )
    unranked = result.models.loc[(result.models["rank"].isna() & result.models["score"].notna()).to_numpy(), "model"]
    if len(unranked):
        see = " ".join(
            [
                see,
                tr(
                    "Without a rank, and not counted here: {models}.",
                    models=verbatim(", ".join(map(shortened, unranked))),
                ),
            ]
        )
    meaning = [
        tr(
            "Smaller is better: the vectors of one class lie close together, compared with the distances between "
            "the classes."
        )
    ]
    if len(ranked) > 1:
        is_tied = ranked["rank_group"].iloc[1] == ranked["rank_group"].iloc[0]
        meaning.append(
            tr("{second} does not differ significantly from {best} on these sentences.", best=names[0], second=names[1])
            if is_tied
            else tr("{best} differs significantly from {second} on these sentences.", best=names[0], second=names[1])
        )
    own = tr(
        "Choose *{source}* above for sentences with labels of your own, and press *{run}*.",
        source=tr("My file"),
        run=tr("Run"),
    )
    steps = [tr("Point at a sentence in a map to read it.")] if result.points["x"].notna().any() else []
    return see, " ".join(meaning), " ".join([*steps, own])
