"""The first lesson: what sentence vectors know of classes. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dashboard.lessons.records import Answer, Choice, Deed, Lesson, Look, Number, OwnRun, Posed, Results, Step
from dashboard.lessons.wording import interval, listed, quantity
from dashboard.shared.headlines import short
from engine.evaluations.clusters.records import Result, Settings
from engine.evaluations.shared.finding import p_value
from engine.language.quantities import decimals
from engine.measures.clusters.dispersion import dispersion
from engine.messages.languages import mark, sentences, tr, tr_n, translated

CLUSTERS, CLASSIFICATION, FILL_MASK = "clusters", "classification", "fill-mask"
POINTS = {"a": ((0.0, 0.0), (4.0, 0.0)), "b": ((1.0, 6.0), (3.0, 6.0))}
SIGNIFICANT = 0.05
CLS, UMAP = "cls", "umap"
YES, NO = "yes", "no"
BETTER, CHANCE, TASKS, SIZES = "better", "chance", "tasks", "sizes"


def by_hand(_: Results) -> Posed:
    """A_m, B_m and M_m of four points."""
    table = pd.DataFrame([(name, x, y) for name, points in POINTS.items() for x, y in points], columns=["", "x", "y"])
    table.columns = [tr("class"), "x", "y"]
    found = dispersion(table[["x", "y"]].to_numpy(), table[tr("class")].tolist())
    centroids = [np.mean(points, axis=0) for points in POINTS.values()]
    first, second = (f"({x:g}, {y:g})" for x, y in centroids)
    return Posed(
        tr(
            "A model turns each sentence into a vector. Sentences of one class should lie close together, and the classes "
            "far apart. A_m adds up the squared distances of all sentences to the centroid of their class, B_m the squared "
            "distances of the centroids to the mean of the centroids. M_m = A_m / B_m: smaller is better. The table has "
            "four sentences of two classes as points of a plane."
        ),
        tr("What is M_m of these four points?"),
        Number(found.score, 0.006, 3),
        tr(
            "The centroids are {first} and {second}. Add up the four squared distances to them (A_m), then the two squared "
            "distances from the centroids to the point halfway between them (B_m), and divide.",
            first=first,
            second=second,
        ),
        tr(
            "A_m = {within:g} and B_m = {between:g}, so M_m = {score:.3f}.",
            within=found.in_class,
            between=found.out_of_class,
            score=found.score,
        ),
        table=table,
    )


def best_model(results: Results) -> Posed:
    """The model with the smallest score."""
    result = results[CLUSTERS]
    scores = _scores(result)
    best = frozenset(scores.index[scores == scores.min()])
    means = tr("The vector of a sentence is here the mean over its tokens, for a causal model has no [CLS] token.")
    return Posed(
        sentences(
            tr(
                "The sample has {n:,} short sentences of {classes} topics. Each model gives a vector for every sentence, "
                "and these vectors an M_m.",
                n=int(result.models["n_sentences"].max()),
                classes=int(result.models["n_classes"].max()),
            ),
            *([means] if result.settings.pooling != CLS else []),
        ),
        tr("Which model keeps the topics apart best?"),
        Choice({model: short(model) for model in result.settings.models if model in scores.index}, best),
        tr("Read the bars under M_m. The smaller M_m, the better."),
        tr(
            "M_m: {scores}. A_m alone would not do: vectors with larger entries lie farther apart in every respect.",
            scores=_listed_scores(scores),
        ),
        Look(CLUSTERS),
    )


def ranks(results: Results) -> Posed:
    """How many models may be first."""
    result = results[CLUSTERS]
    scores = _scores(result)
    table = result.models.set_index("model").loc[list(scores.index)]
    first = [model for model in scores.index if table.loc[model, "rank_first"] == 1]
    return Posed(
        tr(
            "Other sentences would give other scores. The bootstrap draws the sentences of each class anew {n:,} times and "
            "computes M_m each time; the middle 95% are the interval. Two models differ significantly where the interval of "
            "their difference does not contain 0. So a rank is a range: a model that no other beats significantly may be "
            "first.",
            n=result.settings.resamples,
        ),
        tr("How many models may be first?"),
        Number(float(len(first)), 0.0),
        tr("Count the ranges in the column of ranks that begin at 1: 1–2 does, 2–4 does not."),
        sentences(
            tr_n(
                "{n} model may be first: {models}.",
                "{n} models may be first: {models}.",
                len(first),
                models=listed(map(short, first)),
            ),
            *_difference(result, scores),
        ),
        Look(CLUSTERS),
    )


def cls_run(results: Results) -> Posed:
    """A run of the reader's with the CLS vectors of the sample."""
    result: Result = results[CLUSTERS]

    def done(runs: Sequence[OwnRun]) -> str:
        for own in _own_of_sample(runs, result):
            if own.settings.pooling == CLS:
                return _against_means(result, own.result())
        return ""

    return Posed(
        tr(
            "A masked model such as BERT reads a token [CLS] before each sentence. Its vector, the CLS vector, is often taken "
            "for the whole sentence, as in the paper that proposed M_m. Is it better than the mean over the tokens?"
        ),
        tr(
            "Open “{form}” on the page, keep the sample and its masked models, choose CLS under “{vector}” and press “{run}”. "
            "Come back when it has ended.",
            form=tr("New evaluation"),
            vector=tr("Sentence vector"),
            run=tr("Run"),
        ),
        Deed(CLUSTERS, done),
        tr("None of your finished runs has CLS vectors of the sentences of this sample."),
        look=Look(CLUSTERS),
    )


def another_seed(results: Results) -> Posed:
    """A run of the reader's with a map of another seed."""
    result: Result = results[CLUSTERS]
    seed = result.settings.seed

    def done(runs: Sequence[OwnRun]) -> str:
        own = _own_of_sample(runs, result)
        for mine in own:
            if mine.settings.projection == UMAP and mine.settings.seed != seed:
                others = [(one.settings, one.result) for one in own if one is not mine]
                return _same_vectors(mine, [*others, (result.settings, lambda: result)])
        return ""

    return Posed(
        tr(
            "A map has two dimensions, the vectors have hundreds: something is lost. UMAP begins at random, so that another "
            "seed gives another map: clusters move, turn, and touch or part. M_m is computed from the vectors themselves."
        ),
        tr(
            "Run the sample again with the map UMAP and another seed than {seed} ({options}), else as in a run that you have. "
            "Compare the two maps, and M_m in both.",
            seed=seed,
            options=tr("Advanced options"),
        ),
        Deed(CLUSTERS, done),
        tr("None of your finished runs of this sample has a map by UMAP with another seed than {seed}.", seed=seed),
        look=Look(CLUSTERS),
    )


def classification(results: Results) -> Posed:
    """How many models classify better than by guessing, and whether that agrees with the scores."""
    result = results[CLASSIFICATION]
    table = result.models
    above = table[(table["ci_low"] > table["baseline"]).to_numpy()]
    first = table.iloc[0]
    accuracies = [
        f"{short(row['model'])} {row['accuracy_mean']:.1%} {interval(row['ci_low'], row['ci_high'], '.1%')}"
        for row in table.sort_values("accuracy_mean", ascending=False, kind="stable").to_dict("records")
    ]
    question = tr("For how many of the {n} models is the whole interval above that?", n=len(table))
    answer: Answer = Number(float(len(above)), 0.0)
    if len(table) == 1:
        question = tr("Is the whole interval of {model} above that?", model=short(first["model"]))
        answer = Choice({YES: tr("Yes"), NO: tr("No")}, frozenset({YES if len(above) else NO}))
    return Posed(
        tr(
            "Another question to the same models: a small network learns the topics from the vectors of {train:,} sentences "
            "and names those of {test:,} others. Always naming the largest class would be right in {baseline:.1%}. The accuracy "
            "is the mean over several trainings, with its 95% interval.",
            train=int(first["n_train"]),
            test=int(first["n_test"]),
            baseline=first["baseline"],
        ),
        question,
        answer,
        tr("Compare the lower end of each interval with {baseline:.1%}.", baseline=first["baseline"]),
        sentences(
            tr("Accuracies: {accuracies}.", accuracies=listed(accuracies)),
            _agreement(table.set_index("model")["accuracy_mean"], _scores(results[CLUSTERS]), tr("the mean accuracy")),
            tr(
                "An interval that contains {baseline:.1%} does not show that the vectors tell the topics apart.",
                baseline=first["baseline"],
            )
            if len(above) < len(table)
            else "",
        ),
        Look(CLASSIFICATION),
    )


def masked_words(results: Results) -> Posed:
    """The domain whose masked words are most probable, and whether that agrees with the scores."""
    table = results[FILL_MASK].models
    model = str(table["model"].iloc[0])
    domains = table[((table["model"] == model) & (table["domain"] != "all")).to_numpy()].dropna(
        subset=["mean_probability"]
    )
    values = domains.set_index("domain")["mean_probability"].sort_values(ascending=False, kind="stable")
    by_domain = domains.set_index("domain")
    shown = [
        f"{name} {quantity(value)} {interval(*map(quantity, by_domain.loc[name, ['ci_low', 'ci_high']]))}"
        for name, value in values.items()
    ]
    overall = table[(table["domain"] == "all").to_numpy()].set_index("model")["mean_probability"].dropna()
    is_open = len(values) > 1 and by_domain["ci_low"][values.index[0]] <= by_domain["ci_high"][values.index[1]]
    return Posed(
        tr(
            "A third question: a word of a sentence is masked, and the model gives every word of its vocabulary a "
            "probability. A high probability of the word that stood there says that the model knows how such sentences go "
            "on. No vector of a sentence is needed."
        ),
        tr("In which domain does {model} find the masked words most probable?", model=short(model)),
        Choice(
            {str(name): str(name) for name in domains["domain"]},
            frozenset(map(str, values.index[values == values.max()])),
        ),
        tr("Compare the mean probabilities of {model} over the domains.", model=short(model)),
        sentences(
            tr("Mean probabilities: {values}.", values=listed(shown)),
            tr(
                "The intervals of the first two overlap, and there are few words: the order of the domains is uncertain."
            )
            if is_open
            else "",
            _agreement(overall, _scores(results[CLUSTERS]), tr("the mean probability")),
        ),
        Look(FILL_MASK),
    )


def limits(results: Results) -> Posed:
    """What the score may say and what not."""
    result: Result = results[CLUSTERS]
    scores = _scores(result)
    best = scores.index[0]
    null = result.null.set_index("model").loc[best]
    is_better = bool(null["p_value"] < SIGNIFICANT)
    name = short(best)
    return Posed(
        tr(
            "A number needs something to be compared with. Where the labels are dealt out at random, {model} has a mean M_m of "
            "{mean:,.0f}; 95% of these values lie in {range}. With the true labels it has {score:,.1f}.",
            model=name,
            mean=null["null_mean"],
            range=interval(null["null_low"], null["null_high"], ",.0f"),
            score=scores.iloc[0],
        ),
        tr("Which of these do the numbers support?"),
        Choice(
            {
                TASKS: tr("After fine-tuning {model} will be the best in every task.", model=name),
                CHANCE: tr("{model} keeps these topics apart no better than labels at random.", model=name),
                SIZES: tr("This M_m may be compared with that of a file with twice as many sentences."),
                BETTER: tr("{model} keeps these topics apart better than labels at random.", model=name),
            },
            frozenset({BETTER if is_better else CHANCE}),
        ),
        tr("Is the M_m of the true labels smaller than nearly all values of random ones?"),
        tr(
            "The permutation test has {p}. M_m compares models on the same sentences: it grows with the number of "
            "sentences of a class. It says nothing of topics that are not in the file, nor of what a model learns later.",
            p=translated(p_value(float(null["p_value"]))),
        ),
        Look(CLUSTERS),
    )


def _scores(result: Result) -> pd.Series:
    """Model -> score of the ranked models, the best first."""
    ranked = result.models.dropna(subset=["rank", "score"]).sort_values("rank", kind="stable")
    return ranked.set_index("model")["score"]


def _listed_scores(scores: pd.Series) -> str:
    digits = decimals(scores)
    return listed(f"{short(str(model))} {score:,.{digits}f}" for model, score in scores.items())


def _difference(result: Result, scores: pd.Series) -> list[str]:
    """The difference of the first two models, and whether it is significant; nothing where it was not tested."""
    models = list(scores.index[:2])
    table = result.comparisons
    tested = table[(table["model"].isin(models) & table["other"].isin(models) & table["ci_low"].notna()).to_numpy()]
    if len(models) < 2 or tested.empty:
        return []
    row = tested.iloc[0]
    sign = 1 if row["model"] == models[1] else -1
    low, high = sorted((sign * row["ci_low"], sign * row["ci_high"]))
    numbers = {
        "second": short(models[1]),
        "best": short(models[0]),
        "difference": sign * row["difference"],
        "interval": interval(low, high, ",.1f"),
    }
    if row["separable"]:
        return [
            tr(
                "M_m of {second} less that of {best} is {difference:,.1f} {interval}, which does not contain 0: this order is "
                "more than chance.",
                **numbers,
            )
        ]
    return [
        tr(
            "M_m of {second} less that of {best} is {difference:,.1f} {interval}, which contains 0: this order may be chance.",
            **numbers,
        )
    ]


def _own_of_sample(runs: Sequence[OwnRun], result: Result) -> list[OwnRun]:
    """The reader's runs over the sentences of the sample."""
    rows = set(zip(result.points["text"], result.points["label"], strict=True))
    return [own for own in runs if set(zip(own.dataset.texts, own.dataset.labels, strict=True)) == rows]


def _against_means(result: Result, own: Result) -> str:
    """CLS vectors beside those of the sample, of the models that both have."""
    means, cls = _scores(result), _scores(own)
    common = [model for model in means.index if model in cls.index]
    if not common:
        return tr("Your run has CLS vectors, but of other models: {scores}.", scores=_listed_scores(cls))
    shown = listed(
        tr("{model} {cls:,.1f} (mean over tokens: {mean:,.1f})", model=short(model), cls=cls[model], mean=means[model])
        for model in common
    )
    n = sum(cls[model] < means[model] for model in common)
    return sentences(
        tr("M_m of the CLS vectors: {scores}.", scores=shown),
        tr_n(
            "The CLS vector is better for {better} of {n} model.",
            "The CLS vector is better for {better} of {n} models.",
            len(common),
            better=n,
        ),
    )


def _same_vectors(mine: OwnRun, others: Sequence[tuple[Settings, Any]]) -> str:
    """M_m of a run beside that of another one of the same vectors."""
    own = _scores(mine.result())
    for settings, opened in others:
        if _of_vectors(settings) != _of_vectors(mine.settings):
            continue
        other = _scores(opened())
        common = [model for model in own.index if model in other.index]
        if not common:
            continue
        model = common[0]
        numbers = {"model": short(model), "own": own[model], "other": other[model], "seed": mine.settings.seed}
        if np.isclose(own[model], other[model], rtol=1e-6):
            return tr(
                "{model} has M_m = {own:,.3f} with seed {seed} and {other:,.3f} in the other run: the map is another one, the "
                "score is the same.",
                **numbers,
            )
        return tr(
            "{model} has M_m = {own:,.3f} with seed {seed} and {other:,.3f} in the other run. The seed does not enter M_m, so "
            "something else differs: compare the two signatures.",
            **numbers,
        )
    return tr(
        "Your run has another map: {scores}. To see that M_m stays, run it once more with yet another seed.",
        scores=_listed_scores(own),
    )


def _of_vectors(settings: Settings) -> Settings:
    """Settings without what changes the map and the intervals alone."""
    plain = Settings(models=())
    names = ("models", "projection", "dimensions", "n_neighbors", "min_dist", "metric", "seed", "resamples")
    more = ("layer_curve", "clusterings", "class_columns")
    return replace(settings, **{name: getattr(plain, name) for name in (*names, *more)})


def _agreement(values: pd.Series, scores: pd.Series, measure: str) -> str:
    """Whether the best model by `values`, larger is better, is also the best by M_m, among those that both have."""
    common = [model for model in scores.index if model in values.index]
    if len(common) < 2:
        return tr(
            "Fewer than two models stand in both runs, so the sample does not say whether {measure} orders models as M_m "
            "does.",
            measure=measure,
        )
    other = str(values[common].idxmax())
    numbers = {"n": len(common), "best": short(common[0]), "other": short(other), "measure": measure}
    if other == common[0]:
        return tr("Of the {n} models in both runs {best} is the first by M_m and by {measure}.", **numbers)
    return tr(
        "Of the {n} models in both runs {best} is the first by M_m, {other} by {measure}: the evaluations ask different "
        "things.",
        **numbers,
    )


LESSON = Lesson(
    "cls-vectors",
    mark("What CLS vectors know"),
    mark("Read a dispersion score with its interval, and say what it does and does not show of a model."),
    ":material/bubble_chart:",
    (
        Step("by-hand", mark("Dispersion by hand"), by_hand),
        Step("best", mark("The best model"), best_model, (CLUSTERS,)),
        Step("ranks", mark("Intervals and ranges of ranks"), ranks, (CLUSTERS,)),
        Step("cls", mark("The CLS vector"), cls_run, (CLUSTERS,)),
        Step("seed", mark("Maps show, numbers decide"), another_seed, (CLUSTERS,)),
        Step("classification", mark("Does classification agree?"), classification, (CLASSIFICATION, CLUSTERS)),
        Step("masks", mark("Does a masked word agree?"), masked_words, (FILL_MASK, CLUSTERS)),
        Step("limits", mark("What M_m cannot say"), limits, (CLUSTERS,)),
    ),
)
