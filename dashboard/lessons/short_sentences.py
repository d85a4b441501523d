"""The third lesson: why sums of log-likelihoods prefer short sentences, and what mends it. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dashboard.lessons.records import Choice, Deed, Lesson, Look, Number, OwnRun, Posed, Results, Step
from dashboard.lessons.wording import interval, listed
from dashboard.shared.headlines import short
from engine.evaluations.minimal_pairs import fair_subsets
from engine.evaluations.minimal_pairs.comparison import comparisons
from engine.evaluations.minimal_pairs.length_effects import slopes
from engine.evaluations.minimal_pairs.records import EQUAL, Result
from engine.evaluations.minimal_pairs.views import by_category, by_model, decided, summary, token_counts
from engine.evaluations.shared.finding import p_value
from engine.evaluations.shared.stored_table import in_memory
from engine.messages.languages import mark, sentences, tr, tr_n, translated

KIND = "minimal-pairs"
LP, MEAN, PEN = "LP", "MeanLP", "PenLP"
SCORES = (LP, MEAN, PEN, "SLLN-LP")
SHORTER, EQUALLY, LONGER = "A<U", "A=U", "A>U"
FAVOURS_SHORTER, FAVOURS_LONGER, UNDECIDED = "shorter", "longer", "undecided"
SIDES = ("acceptable", "unacceptable")


def sums(results: Results) -> Posed:
    """The log-likelihood of a sentence as a sum."""
    result: Result = results[KIND]
    model = result.scored_models[0]
    pair = _short_pair(result, model)
    every = in_memory(result.tokens)
    tokens = every[((every["model"] == model) & (every["row"] == pair["row"])).to_numpy()]
    by_side = {side: tokens[(tokens["side"] == side).to_numpy()] for side in SIDES}
    table = pd.DataFrame(
        {tr("token"): by_side[SIDES[0]]["token"].map(str), "log P": by_side[SIDES[0]]["log_likelihood"].round(2)}
    )
    first, second = (float(pair[f"{side}_log_likelihood"]) for side in SIDES)
    n_first, n_second = (int(pair[f"{side}_tokens"]) for side in SIDES)
    return Posed(
        tr(
            "Minimal pairs are two sentences of which one is acceptable (A), one is not (U). A model is right where A has the "
            "higher score. The plain score LP adds up the log-probabilities of the tokens. The table has those of the "
            "acceptable sentence “{sentence}” under {model}.",
            sentence=pair[SIDES[0]],
            model=short(model),
        ),
        tr("What is LP of this sentence?"),
        Number(first, 0.03, 2, tr("nats")),
        tr("Add up all numbers of the table. They are negative, and so is the sum."),
        tr(
            "LP of A is {first:.2f} with {n_first} tokens; “{other}” has {second:.2f} with {n_second}. No log-probability is "
            "above 0, so that each token takes something off: a sentence with fewer tokens tends to have the higher LP.",
            first=first,
            second=second,
            n_first=n_first,
            n_second=n_second,
            other=pair[SIDES[1]],
        ),
        Look(KIND, {"model": model, "row": str(pair["row"])}),
        table,
    )


def strata(results: Results) -> Posed:
    """The stratum with the highest accuracy."""
    result: Result = results[KIND]
    model = steepest(result)
    table = _strata(result, model, LP)
    accuracies = table["accuracy"].dropna()
    best = frozenset(accuracies.index[accuracies == accuracies.max()])
    longer = accuracies.get(LONGER, float("nan"))
    tail = ""
    if table.loc[LONGER, "ci_high"] < table.loc[SHORTER, "ci_low"]:
        tail = tr("The intervals of the two strata lie apart: length misleads this model.")
    elif longer < accuracies.get(SHORTER, float("nan")):
        tail = tr("The intervals overlap; with so few pairs the strata alone do not decide it.")
    return Posed(
        tr(
            "The pairs fall into three strata: A has fewer tokens than U (A<U), as many (A=U), or more (A>U). A preference for "
            "short sentences helps in the first and harms in the last. In A=U it plays no part."
        ),
        tr("In which stratum is {model} right most often under LP?", model=short(model)),
        Choice(
            {
                SHORTER: tr("A<U: the acceptable sentence is shorter"),
                EQUALLY: tr("A=U: both are equally long"),
                LONGER: tr("A>U: the acceptable sentence is longer"),
            },
            best,
        ),
        tr("The card of the model has an accuracy for each stratum."),
        sentences(tr("Accuracies: {accuracies}.", accuracies=_listed_strata(table)), tail),
        Look(KIND, {"section": "Length"}),
    )


def slope(results: Results) -> Posed:
    """What the slope of being right on the difference in length says."""
    result: Result = results[KIND]
    model = steepest(result)
    row = _slopes(result, model).loc[LP]
    direction = _direction(row)
    told = {
        FAVOURS_SHORTER: tr("The whole interval is below 0: LP favours the shorter sentence."),
        FAVOURS_LONGER: tr("The whole interval is above 0: LP favours the longer sentence."),
        UNDECIDED: tr("The interval contains 0: the pairs do not show a preference."),
    }
    return Posed(
        tr(
            "Strata throw away by how much longer a sentence is. A logistic curve keeps it: the slope is the change in the "
            "log-odds of being right for each token that A is longer than U. Below 0 the short sentence is favoured, above 0 "
            "the long one."
        ),
        tr("What does the slope of {model} under LP say, with its interval?", model=short(model)),
        Choice(
            {
                FAVOURS_SHORTER: tr("It favours the shorter sentence."),
                FAVOURS_LONGER: tr("It favours the longer sentence."),
                UNDECIDED: tr("Neither: the interval contains 0."),
            },
            frozenset({direction}),
        ),
        tr(
            "In the section “{section}” look on which side of the dotted line the marker and its whole line lie.",
            section=tr("Length"),
        ),
        sentences(
            tr(
                "The slope is {slope:+.2f} {interval} log-odds per token.",
                slope=row["slope"],
                interval=interval(row["ci_low"], row["ci_high"], "+.2f"),
            ),
            told[direction],
        ),
        Look(KIND, {"section": "Length"}),
    )


def normalised(results: Results) -> Posed:
    """The score whose slope is the nearest to 0."""
    result: Result = results[KIND]
    model = steepest(result)
    table = _slopes(result, model)
    table = table[table["slope"].notna().to_numpy()]
    size = table["slope"].abs()
    nearest = frozenset(size.index[(size - size.min() < 1e-9).to_numpy()])
    shown = [
        f"{name} {row['slope']:+.2f} {interval(row['ci_low'], row['ci_high'], '+.2f')}"
        for name, row in table.iterrows()
    ]
    mean = _direction(table.loc[MEAN]) if MEAN in table.index else UNDECIDED
    overdone = {
        FAVOURS_LONGER: tr("MeanLP overdoes it: now the longer sentence is favoured."),
        FAVOURS_SHORTER: tr("MeanLP does not do enough: the shorter sentence is still favoured."),
        UNDECIDED: tr("Of MeanLP the interval contains 0."),
    }
    return Posed(
        tr(
            "A normalisation divides LP by a length. MeanLP divides by the number of tokens |S|; PenLP by ((5 + |S|) / (5 + "
            "1))^α with α = 0.8, which grows less; SLLN-LP by the root of |S|. None runs the model again."
        ),
        tr("Under which score is the slope of {model} nearest to 0?", model=short(model)),
        Choice({name: name for name in table.index}, nearest),
        tr("Compare the markers in the figure of the slopes: which of these scores lies nearest to the dotted line?"),
        sentences(tr("Slopes: {slopes}.", slopes=listed(shown)), overdone[mean]),
        Look(KIND, {"section": "Length", "normalization": MEAN}),
    )


def fair(results: Results) -> Posed:
    """The accuracy among the pairs of equal length."""
    result: Result = results[KIND]
    model = steepest(result)
    table = fair_subsets.beside(result, EQUAL, LP)
    row = table[(table["overall"] & (table["model"] == model)).to_numpy()].iloc[0]
    return Posed(
        tr(
            "Another way leaves the score as it is and chooses the pairs. A fair subset has only pairs in which length cannot "
            "decide, such as those with as many tokens in A as in U. What is left is fewer pairs, and other ones for each model, "
            "since each cuts sentences into its own tokens."
        ),
        tr("How many per cent of the pairs with A=U does {model} get right under LP?", model=short(model)),
        Number(100 * float(row["fair_accuracy"]), 0.6, 1, "%"),
        tr(
            "In the table of the section read the line of all categories, in the column “{fair}”.",
            fair=tr("{model} fair", model=short(model)),
        ),
        sentences(
            tr(
                "{fair:.1%} {fair_interval} of {fair_n} pairs, beside {all:.1%} {all_interval} of all {n}.",
                fair=row["fair_accuracy"],
                fair_interval=interval(row["fair_ci_low"], row["fair_ci_high"], ".1%"),
                fair_n=int(row["fair_n"]),
                all=row["accuracy"],
                all_interval=interval(row["ci_low"], row["ci_high"], ".1%"),
                n=int(row["n"]),
            ),
            tr("The interval of the subset is wider: fewer pairs say less.")
            if row["fair_ci_high"] - row["fair_ci_low"] > row["ci_high"] - row["ci_low"]
            else "",
        ),
        Look(KIND, {"section": "Fair subsets", "fair": EQUAL}),  # untranslated
    )


def two_models(results: Results) -> Posed:
    """Whether two models differ by McNemar's test, under two scores."""
    result: Result = results[KIND]
    tested = {name: comparisons(result, name).iloc[0] for name in (LP, PEN)}
    row = tested[LP]
    first, second = short(row["model"]), short(row["other"])
    ahead, behind = (first, second) if row["difference"] > 0 else (second, first)
    key = "first" if row["separable"] and row["difference"] > 0 else "second" if row["separable"] else UNDECIDED
    names = {"first": first, "second": second, "ahead": ahead, "behind": behind}
    verdicts = [
        tr("{score}: {p}, significant", score=name, p=translated(p_value(one["p_holm"])))
        if one["separable"]
        else tr("{score}: {p}, not significant", score=name, p=translated(p_value(one["p_holm"])))
        for name, one in tested.items()
    ]
    return Posed(
        tr(
            "Two models are compared on the same pairs. Those that both get right or both get wrong say nothing; McNemar's test "
            "asks whether the pairs that only one gets right could fall so unevenly by chance. Where several models are "
            "compared, Holm's correction makes up for the number of tests; p below 0.05 is called significant."
        ),
        tr("Do {first} and {second} differ significantly under LP?", **names),
        Choice(
            {
                "first": tr("Yes, {model} is better.", model=first),
                "second": tr("Yes, {model} is better.", model=second),
                UNDECIDED: tr("No, the difference may be chance."),
            },
            frozenset({key}),
        ),
        tr("Read p after Holm's correction in the table of the pairwise comparisons."),
        sentences(
            tr(
                "Under LP {only_first} pairs are right under {first} alone, {only_second} under {second} alone.",
                only_first=int(row["n_only_model"]),
                only_second=int(row["n_only_other"]),
                **names,
            ),
            tr("After Holm: {verdicts}.", verdicts="; ".join(verdicts)),
            tr("The verdict depends on the score: say which one was chosen, and choose it before the test.")
            if tested[LP]["separable"] != tested[PEN]["separable"]
            else tr("Here both scores lead to the same verdict."),
        ),
        Look(KIND, {"section": "Models"}),
    )


def own_pair(results: Results) -> Posed:
    """A run of the reader's with a pair whose acceptable sentence is the longer one."""
    sample: Result = results[KIND]
    known = set(zip(sample.pairs[SIDES[0]], sample.pairs[SIDES[1]], strict=True))

    def done(runs: Sequence[OwnRun]) -> str:
        for own in runs:
            if set(zip(own.dataset.acceptable, own.dataset.unacceptable, strict=True)) <= known:
                continue
            if told := _of_own(own.result(), known):
                return told
        return ""

    return Posed(
        tr(
            "Can you lead the models astray? Think of an acceptable sentence and an unacceptable one that has fewer tokens, "
            "such as one in which a word is missing."
        ),
        tr(
            "Open “{form}”, type the pair as data of your own and press “{run}”. The acceptable sentence must have more tokens "
            "than the other under one model at least.",
            form=tr("New evaluation"),
            run=tr("Run"),
        ),
        Deed(KIND, done),
        tr("None of your finished runs has a pair of your own whose acceptable sentence has more tokens."),
        look=Look(KIND),
    )


def limits(results: Results) -> Posed:
    """That a normalisation changes no pair of equal length."""
    result: Result = results[KIND]
    model = steepest(result)
    pairs = dict(by_model(result))[model]
    a, u = token_counts(pairs)
    is_equal = a == u
    changed = int(((decided(pairs, LP) != decided(pairs, MEAN)) & is_equal).sum())
    table: Any = by_category(result, PEN)
    table = table[((table["stratum"] == "all") & (table["model"] == model)).to_numpy()]
    weakest = table.loc[table["accuracy"].idxmin()]
    equal = _strata(result, model, LP).loc[EQUALLY]
    return Posed(
        tr(
            "A normalisation divides the same sums by other numbers: the model learns nothing by it. Think of a pair in which "
            "both sentences have as many tokens. Both sums are divided by the same number."
        ),
        tr(
            "In how many of the {n} pairs with A=U does {model} choose another sentence under MeanLP than under LP?",
            n=int(is_equal.sum()),
            model=short(model),
        ),
        Number(float(changed), 0.0),
        tr("Compare the accuracies in A=U under the two scores."),
        sentences(
            tr("In {n} of them.", n=changed),
            tr(
                "The accuracy in A=U is {accuracy:.1%} under both: {wrong:.1%} of these pairs are wrong, and not by their number "
                "of tokens.",
                accuracy=equal["accuracy"],
                wrong=1 - equal["accuracy"],
            ),
            tr(
                "Under PenLP {model} is right least often in “{category}”, in {accuracy:.0%} of {n} pairs: look there for what "
                "it does not know.",
                model=short(model),
                category=weakest["category"],
                accuracy=weakest["accuracy"],
                n=int(weakest["n"]),
            ),
        ),
        Look(KIND, {"section": "Categories", "normalization": MEAN}),
    )


def steepest(result: Result) -> str:
    """The model with the largest slope under LP, in either direction; where none has one, the first."""
    table: Any = slopes(result, (LP,)).dropna(subset=["slope"])
    return str(table.loc[table["slope"].abs().idxmax(), "model"]) if len(table) else result.scored_models[0]


def _short_pair(result: Result, model: str) -> pd.Series:
    """The pair with the fewest tokens in both sentences under a model, of several the first."""
    pairs = dict(by_model(result))[model]
    return pairs.iloc[int((pairs[f"{SIDES[0]}_tokens"] + pairs[f"{SIDES[1]}_tokens"]).to_numpy().argmin())]


def _strata(result: Result, model: str, score: str) -> Any:
    table = summary(result, (score,))
    return table[(table["model"] == model).to_numpy()].set_index("stratum")


def _listed_strata(table: pd.DataFrame) -> str:
    return listed(
        tr_n(
            "{stratum} {accuracy:.1%} {interval} of {n} pair",
            "{stratum} {accuracy:.1%} {interval} of {n} pairs",
            int(row["n"]),
            stratum=name,
            accuracy=row["accuracy"],
            interval=interval(row["ci_low"], row["ci_high"], ".1%"),
        )
        for name, row in table.loc[[SHORTER, EQUALLY, LONGER]].iterrows()
        if row["n"]
    )


def _slopes(result: Result, model: str) -> Any:
    table = slopes(result, SCORES)
    return table[(table["model"] == model).to_numpy()].set_index("normalization")


def _direction(row: pd.Series) -> str:
    if row["ci_high"] < 0:
        return FAVOURS_SHORTER
    return FAVOURS_LONGER if row["ci_low"] > 0 else UNDECIDED


def _of_own(result: Result, known: set[tuple[str, str]]) -> str:
    """What the first of the reader's pairs with a longer acceptable sentence shows; "" where there is none."""
    for model, pairs in by_model(result):
        is_own = [(a, u) not in known for a, u in zip(pairs[SIDES[0]], pairs[SIDES[1]], strict=True)]
        longer = pairs[is_own & (pairs[f"{SIDES[0]}_tokens"] > pairs[f"{SIDES[1]}_tokens"]).to_numpy()]
        if longer.empty:
            continue
        outcome = {1: tr("right"), 0: tr("tied"), -1: tr("wrong")}
        row, decisions = longer.iloc[:1], {name: int(decided(longer.iloc[:1], name)[0]) for name in (LP, MEAN)}
        return tr(
            "“{sentence}” has {a} tokens, the other {u} under {model}: {lp} under LP ({first:.2f} and {second:.2f}), {mean} "
            "under MeanLP.",
            sentence=row[SIDES[0]].iloc[0],
            a=int(row[f"{SIDES[0]}_tokens"].iloc[0]),
            u=int(row[f"{SIDES[1]}_tokens"].iloc[0]),
            model=short(model),
            lp=outcome[decisions[LP]],
            mean=outcome[decisions[MEAN]],
            first=row[f"{SIDES[0]}_log_likelihood"].iloc[0],
            second=row[f"{SIDES[1]}_log_likelihood"].iloc[0],
        )
    return ""


LESSON = Lesson(
    "short-sentences",
    mark("Why short sentences win"),
    mark("Find an effect of length in accuracies of minimal pairs, and choose score, pairs and test with reasons."),
    ":material/rule:",
    (
        Step("sums", mark("LP is a sum"), sums, (KIND,)),
        Step("strata", mark("Three strata"), strata, (KIND,)),
        Step("slope", mark("Length as a slope"), slope, (KIND,)),
        Step("scores", mark("Normalisations"), normalised, (KIND,)),
        Step("fair", mark("Fair subsets"), fair, (KIND,)),
        Step("models", mark("Two models"), two_models, (KIND,)),
        Step("own", mark("A pair of your own"), own_pair, (KIND,)),
        Step("limits", mark("What no normalisation mends"), limits, (KIND,)),
    ),
)
