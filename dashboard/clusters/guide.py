"""The guided reading of clusters, from the numbers of the result. Pure: no streamlit."""

from __future__ import annotations

from dashboard.clusters.charts import score_text
from dashboard.shared.theme import short_names
from dashboard.shared.wording import verbatim
from engine.evaluations.clusters.records import Result
from engine.evaluations.shared.finding import FEWEST
from engine.language.quantities import decimals
from engine.messages.languages import sentences, tr, translated
from engine.messages.message import list_of


def guide(result: Result) -> tuple[str, ...]:
    """What the bars show, what it means, what to do next; nothing where no model has a score."""
    ranked = result.models.dropna(subset=["rank", "score"]).sort_values("rank", kind="stable")
    if ranked.empty:
        return ()
    short = short_names(result.settings.models)
    digits = decimals(ranked["score"])
    scores = [score_text(score, digits) for score in ranked["score"]]
    names = [verbatim(short[model]) for model in ranked["model"]]
    if len(ranked) == 1:
        see = tr("The bar under M_m is the dispersion score of {best}: M_m = {score}.", best=names[0], score=scores[0])
    elif ranked["score"].nunique() == 1:
        see = tr("Each bar under M_m is the dispersion score of a model. All are alike: {score}.", score=scores[0])
    else:
        see = tr(
            "Each bar under M_m is the dispersion score of a model. {best} has the smallest, {score}; {worst} the "
            "largest, {largest}.",
            best=names[0],
            score=scores[0],
            worst=names[-1],
            largest=scores[-1],
        )
    unranked = result.models.loc[(result.models["rank"].isna() & result.models["score"].notna()).to_numpy(), "model"]
    if len(unranked):
        see = sentences(
            see,
            tr(
                "Without a rank, and not counted here: {models}.",
                models=verbatim(translated(list_of(short[model] for model in unranked))),
            ),
        )
    meaning = [
        tr(
            "Smaller is better: the vectors of one class lie close together, compared with the distances between "
            "the classes."
        ),
        *_against_the_second(result, ranked["model"].tolist(), names),
    ]
    own = tr(
        "For sentences with labels of your own open *{form}*, choose *{source}* and press *{run}*.",
        form=tr("New evaluation"),
        source=tr("My file"),
        run=tr("Run"),
    )
    steps = [tr("Point at a sentence in a map to read it.")] if result.points["x"].notna().any() else []
    return see, sentences(*meaning), sentences(*steps, own)


def _against_the_second(result: Result, models: list[str], names: list[str]) -> list[str]:
    """Whether the first two models differ significantly; nothing where they are alone, tied or were not tested."""
    scores = result.models.set_index("model")["score"]
    if len(models) < 2 or scores[models[0]] == scores[models[1]]:
        return []
    if result.models["n_sentences"].max() < FEWEST:
        return [
            tr("There are too few sentences to tell the models apart: at least {fewest} are needed.", fewest=FEWEST)
        ]
    table = result.comparisons
    tested = table[
        (table["model"].isin(models[:2]) & table["other"].isin(models[:2]) & table["ci_low"].notna()).to_numpy()
    ]
    if tested.empty:
        return []
    if tested["separable"].any():
        return [tr("{best} differs significantly from {second} on these sentences.", best=names[0], second=names[1])]
    return [
        tr("{second} does not differ significantly from {best} on these sentences.", best=names[0], second=names[1])
    ]
