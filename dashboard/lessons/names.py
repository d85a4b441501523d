"""The second lesson: why another name costs BERTScore so little, and what readings do about it. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dashboard.lessons.records import Choice, Deed, Lesson, Look, Number, OwnRun, Posed, Results, Step
from dashboard.lessons.wording import interval, listed
from dashboard.metric_study.labels import idf_name
from dashboard.shared.headlines import short
from engine.datasets import sample_data
from engine.evaluations.alignment.records import Result, Scoring
from engine.evaluations.alignment.rescoring import Scores, rescore
from engine.evaluations.metric_study.grid import best_place
from engine.evaluations.metric_study.records import BERTSCORE, Settings
from engine.language.readings.likeness import sound_distance
from engine.measures.name_agreement import verdict
from engine.measures.reading_penalty import agreement
from engine.messages.catalogues import ENGLISH, JAPANESE
from engine.messages.languages import language, mark, sentences, tr, tr_n
from engine.options import option_of

ALIGNMENT, STUDY = "alignment", "metric-study"
PARAPHRASES, VARIANTS = {"言い換え", "paraphrase"}, {"表記ゆれ", "spelling variant"}  # untranslated
SWAPPED = set(sample_data.SWAPPED_NAME.values())
IDF, NAMES, NONE = "references", "names", "none"
READINGS = ("にほん", "にっぽん")
SEEN = 0.01  # a smaller change of F1 is none to a reader
SAME = "same"
PENALTIES = option_of(Settings, "penalties").labels
# What the Japanese sentences that a step quotes mean, for readers of English.
GLOSSES = {
    "彼は京都の古い寺で少年時代を過ごした。": "He spent his boyhood in an old temple in Kyoto.",  # untranslated
    "彼は奈良の古い寺で少年時代を過ごした。": "He spent his boyhood in an old temple in Nara.",  # untranslated
}


def greedy(results: Results) -> Posed:
    """The token of a pair whose match is the least similar."""
    result: Result = results[ALIGNMENT]
    pair, scores = swapped_pair(result), plain(result)
    tokens = _reference_tokens(result, scores, int(pair["row"]))
    least = tokens[(tokens["similarity"] == tokens["similarity"].min()).to_numpy()]
    row = scores.pairs.set_index("row").loc[pair["row"]]
    return Posed(
        tr(
            "BERTScore compares every token of one sentence with every token of the other by the cosine of their vectors. Each "
            "token takes its most similar one, whatever the others take: greedy matching. Recall R is the mean over the tokens "
            "of the reference, precision P that over the candidate, F1 their harmonic mean. The lines of the page are these "
            "matches; the shade of a token is the similarity."
        )
        + "\n\n"
        + quoted(pair),
        tr("Which token of the reference has the least similar match?"),
        Choice(
            {text: text for text in dict.fromkeys(tokens["surface"].map(str))}, frozenset(least["surface"].map(str))
        ),
        tr("Look for the palest token of the upper sentence and read the number under it."),
        tr(
            "“{token}” takes “{match}”, with a similarity of {similarity:.2f}. The other tokens do better: R = {recall:.3f}, "
            "P = {precision:.3f}, F1 = {f1:.3f}.",
            token=least["surface"].iloc[0],
            match=least["match_token"].iloc[0],
            similarity=least["similarity"].iloc[0],
            recall=row["recall"],
            precision=row["precision"],
            f1=row["f1"],
        ),
        Look(ALIGNMENT, {"penalty": NONE, "row": str(pair["row"])}),
    )


def high_score(results: Results) -> Posed:
    """Whether swapped names have a higher F1 than paraphrases."""
    result: Result = results[ALIGNMENT]
    means = means_by_category(result, plain(result))["f1"]
    swapped, paraphrase = _of(means, SWAPPED), _of(means, PARAPHRASES)
    key = (
        "swapped"
        if means[swapped] > means[paraphrase]
        else "paraphrase"
        if means[swapped] < means[paraphrase]
        else SAME
    )
    numbers = {
        "swapped": swapped,
        "paraphrase": paraphrase,
        "means": listed(
            f"{name} {value:.3f}" for name, value in means.sort_values(ascending=False, kind="stable").items()
        ),
    }
    told = {
        "swapped": tr(
            "Mean F1: {means}. A sentence about somebody else is closer to the reference than one that says the same in other "
            "words: all tokens but those of the name are the same, and a name is a small part of the mean.",
            **numbers,
        ),
        "paraphrase": tr(
            "Mean F1: {means}. Here paraphrases are closer to the reference than swapped names.", **numbers
        ),
        SAME: tr("Mean F1: {means}.", **numbers),
    }
    return Posed(
        tr(
            "The second sentence of a pair was changed in one of four ways. In “{swapped}” a person or place is another one, "
            "so that the sentence is wrong. In “{paraphrase}” other words say the same.",
            **numbers,
        ),
        tr("Which of the two has the higher mean F1 without a penalty? The page lists the pairs, the lowest F1 first."),
        Choice({"swapped": swapped, "paraphrase": paraphrase, SAME: tr("both the same")}, frozenset({key})),
        tr("Which kind are most of the first pairs of the list? Those have the lowest F1."),
        told[key],
        Look(ALIGNMENT, {"penalty": NONE, "order": "lowest F1 first"}),  # untranslated
    )


def weighted(results: Results) -> Posed:
    """F1 of the pair with the weights of idf."""
    result: Result = results[ALIGNMENT]
    pair = swapped_pair(result)
    before = _f1(plain(result), pair)
    after = _f1(rescore(result, replace(result.settings.scoring, idf=IDF, penalty=NONE)), pair)
    numbers = {"before": before, "after": after}
    if after < before:
        told = tr(
            "F1 falls from {before:.3f} to {after:.3f}: the rare tokens of this pair match worse than the common ones. The "
            "weights make the name count more; that it is a wrong one they do not know.",
            **numbers,
        )
    elif after > before:
        told = tr(
            "F1 rises from {before:.3f} to {after:.3f}: the rare tokens of this pair match better than the common ones, so "
            "the weights do not help against the wrong name here.",
            **numbers,
        )
    else:
        told = tr("F1 is {after:.3f} with and without weights.", **numbers)
    return Posed(
        tr(
            "Every token counted the same so far. With idf a token counts the more, the fewer sentences of a corpus contain "
            "it: a name is rare, a particle or an article is in most sentences. Here the corpus is all references of the "
            "sample."
        )
        + "\n\n"
        + quoted(pair),
        tr("What is F1 of this pair with idf from the references, without a penalty?"),
        Number(after, 0.006, 3),
        tr("The link sets the weights and chooses the pair. Read the card of F1 above the two sentences."),
        told,
        Look(ALIGNMENT, {"penalty": NONE, "idf": IDF, "row": str(pair["row"])}),
    )


def own_name(results: Results) -> Posed:
    """A run of the reader's with the pair under another name."""
    result: Result = results[ALIGNMENT]
    pair = swapped_pair(result)
    before = _f1(plain(result), pair)

    def done(runs: Sequence[OwnRun]) -> str:
        for own in runs:
            for number, (reference, candidate) in enumerate(
                zip(own.dataset.references, own.dataset.candidates, strict=True)
            ):
                if reference == pair["reference"] and candidate not in (reference, pair["candidate"]):
                    return _of_own(own.result(), int(own.dataset.rows[number]), candidate, before)
        return ""

    return Posed(
        tr("Is this a matter of the one name? Try it with a name of your own.") + "\n\n" + quoted(pair),
        tr(
            "Open “{form}”, type the first sentence as it stands and in the second another name, and press “{run}”.",
            form=tr("New evaluation"),
            run=tr("Run"),
        ),
        Deed(ALIGNMENT, done),
        tr("None of your finished runs has this first sentence with another second one."),
        look=Look(ALIGNMENT, {"row": str(pair["row"])}),
    )


def by_reading(results: Results) -> Posed:
    """F1 of the Japanese pair with names by reading."""
    result: Result = results[ALIGNMENT]
    pair, names = swapped_pair(result), by_names(result)
    before, after = _f1(plain(result), pair), _f1(names, pair)
    tokens = names.tokens_of(_model(result), int(pair["row"]))
    compared = tokens[((tokens["side"] == "reference") & tokens["penalised"]).to_numpy()]
    means = means_by_category(result, names).loc[_of(means_by_category(result, names), SWAPPED)]
    read = (
        tr(
            "The names have M = {agreement:.2f} ({verdict}).",
            agreement=compared["agreement"].min(),
            verdict=tr(verdict(float(compared["agreement"].min()))),
        )
        if len(compared)
        else tr("No name of this pair has a counterpart.")
    )
    return Posed(
        sentences(
            tr(
                "“Names by reading” takes two names for the same where they are read alike, however they are written. The "
                "agreement M of the readings, squared, takes the place of the cosine, and a name has at least three times the "
                "weight of another token."
            ),
            tr("Names are looked for in Japanese alone, so this and the next two steps take Japanese sentences.")
            if language() == ENGLISH
            else "",
        )
        + "\n\n"
        + quoted(pair),
        tr("What is F1 of this pair with names by reading?"),
        Number(after, 0.006, 3),
        tr("The card of F1 has the value without a penalty, and under it the one with names by reading."),
        sentences(
            read,
            tr("F1 is {after:.3f} in place of {before:.3f}.", before=before, after=after),
            tr(
                "Over all pairs with a swapped name the mean is {penalised:.3f} in place of {f1:.3f}.",
                penalised=means["penalized_f1"],
                f1=means["f1"],
            ),
        ),
        Look(ALIGNMENT, {"row": str(pair["row"])}),
    )


def readings(_: Results) -> Posed:
    """The agreement of two readings by hand."""
    first, second = READINGS
    found = agreement(first, second)
    distance, longest = sound_distance(first, second)
    by_sounds = 1 - distance / longest
    return Posed(
        sentences(
            tr(
                "The paper's M is 1 - d / n. Here d is the edit distance of two readings (how many characters must be put in, "
                "left out or changed), n the length of the longer one. From 0.9 two names are taken for the same, up to 0.7 "
                "for two."
            ),
            tr(
                "日本 is read にほん ({first}) or にっぽん ({second}); in hiragana these are three and four characters.",
                first="ni·ho·n",
                second="ni·(pause)·po·n",
            )
            if language() == ENGLISH
            else tr("日本 is read {first} or {second}.", first=first, second=second),
        ),
        tr("What is M of {first} and {second}?", first=first, second=second),
        Number(found.value, 0.006, 2),
        tr(
            "に and ん stay. How many characters must be changed or put in between? The longer reading has {n}.",
            n=found.longest,
        ),
        tr(
            "d = {distance} and n = {longest}, so M = {value:.2f}: {verdict}. With names by reading M is {by_sounds:.2f}, "
            "because a similar sound, such as ぽ for ほ, costs less there: {verdict_by_sounds}. Yet it is one name. That is why "
            "all readings that a name may have are compared and the best pair of them counts: give 日本=にほん/にっぽん as a "
            "reading of your own, and M is {best:.0f}.",
            distance=found.distance,
            longest=found.longest,
            value=found.value,
            verdict=tr(verdict(found.value)),
            by_sounds=by_sounds,
            verdict_by_sounds=tr(verdict(by_sounds)),
            best=agreement(second, second).value,
        ),
    )


def hurt(results: Results) -> Posed:
    """How many spelling variants names by reading lower."""
    result: Result = results[ALIGNMENT]
    names = by_names(result)
    means = means_by_category(result, names)
    variant = _of(means, VARIANTS)
    table = result.pairs.merge(names.pairs, on="row")
    variants = table[(table["category"] == variant).to_numpy()]
    change = variants["penalized_f1"] - variants["f1"]
    lowered, raised = variants[(change < -SEEN).to_numpy()], int((change > SEEN).sum())
    shown = [
        tr("row {row} ({change:+.2f})", row=row, change=by)
        for row, by in zip(lowered["row"], change[change < -SEEN], strict=True)
    ]
    return Posed(
        tr(
            "A rule that punishes other readings has a price where a reading is wrong or a name is not recognised. The pairs of "
            "“{variant}” say the same with another spelling: each should keep a high F1.",
            variant=variant,
        ),
        tr(
            "Of how many pairs of “{variant}” do names by reading lower F1 by more than {least}? The page lists them.",
            variant=variant,
            least=SEEN,
        ),
        Number(float(len(lowered)), 0.0),
        tr("Compare F1 and F1' in the list; the last column has their difference, the largest first."),
        sentences(
            tr_n(
                "They lower {lowered} of {n} pair and raise {raised}.",
                "They lower {lowered} of {n} pairs and raise {raised}.",
                len(variants),
                lowered=len(lowered),
                raised=raised,
            ),
            tr("Lowered: {rows}.", rows=listed(shown)) if shown else "",
            tr(
                "The mean of these pairs goes from {f1:.3f} to {penalised:.3f}. Look at the readings of the lowered ones: were "
                "they one name?",
                f1=means.loc[variant, "f1"],
                penalised=means.loc[variant, "penalized_f1"],
            ),
        ),
        Look(ALIGNMENT, {"category": variant, "order": "largest penalty first"}),  # untranslated
    )


def human_scores(results: Results) -> Posed:
    """The best correlation with the human scores, and how sure it is."""
    result = results[STUDY]
    table = result.correlations
    best = table.iloc[place] if (place := best_place(table)) is not None else table.iloc[0]
    others = table[((table["kind"] == BERTSCORE) & ~table["best"]).to_numpy()]
    worse = int(others["separable"].sum())
    setting = tr("idf {idf}, {penalty}", idf=idf_name(best["idf"]), penalty=tr(PENALTIES[str(best["penalty"])]))
    return Posed(
        tr(
            "Does a score do what people do? The metric study correlates F1 of {n} pairs with the mean scores of {annotators} "
            "annotators, for each idf and penalty. With {n} pairs the interval of a correlation is wide.",
            n=int(best["n"]),
            annotators=len(result.annotators),
        ),
        tr("What is Pearson's correlation of the best setting of BERTScore?"),
        Number(float(best["pearson"]), 0.006, 3),
        tr("The heat map has a cell for each setting; the best one is chosen when the page opens."),
        sentences(
            tr(
                "{model} with {setting} has {value:.3f} {interval}.",
                model=short(best["model"]),
                setting=setting,
                value=best["pearson"],
                interval=interval(best["ci_low"], best["ci_high"], ".2f"),
            ),
            tr("The interval contains 0: these pairs do not show that the score follows the people at all.")
            if best["ci_low"] <= 0 <= best["ci_high"]
            else "",
            tr(
                "Other settings of BERTScore: {n}; significantly worse than the best: {worse}.",
                n=len(others),
                worse=worse,
            ),
            _with_penalty(table),
        ),
        Look(STUDY),
    )


def swapped_pair(result: Result) -> pd.Series:
    """The shortest pair with a swapped name, of equally short ones the first."""
    swapped = result.pairs[result.pairs["category"].isin(SWAPPED).to_numpy()]
    return swapped.iloc[int(swapped["reference"].str.len().to_numpy().argmin())]


def plain(result: Result) -> Scores:
    """The scores without weights and penalty."""
    return rescore(result, replace(result.settings.scoring, idf=NONE, penalty=NONE))


def by_names(result: Result) -> Scores:
    """The scores with names by reading."""
    return rescore(result, replace(result.settings.scoring, idf=NONE, penalty=NAMES))


def means_by_category(result: Result, scores: Scores) -> pd.DataFrame:
    """Mean F1, and F1 with the penalty, of each category under the first model."""
    of_model = scores.pairs[(scores.pairs["model"] == _model(result)).to_numpy()]
    table = result.pairs[["row", "category"]].merge(of_model, on="row")
    return table.groupby("category", sort=False)[["f1", "penalized_f1"]].mean()


def quoted(pair: Any) -> str:
    """The two sentences of a pair, numbered; with their meaning where the reader may not know the language."""
    lines = []
    for number, name in enumerate(("reference", "candidate"), start=1):
        text = str(pair[name])
        gloss = GLOSSES.get(text, "") if language() != JAPANESE else ""
        lines.append(f"({number}) {text}" + (f" – {gloss}" if gloss else ""))
    return "\n".join(lines)


def _model(result: Result) -> str:
    return result.settings.models[0]


def _of(means: pd.DataFrame | pd.Series, names: set[str]) -> str:
    """The category of these names that the sample has."""
    return next(str(name) for name in means.index if name in names)


def _f1(scores: Scores, pair: Any) -> float:
    """F1 of a pair under the scoring, with its penalty, under the first model."""
    return float(scores.pairs.loc[(scores.pairs["row"] == pair["row"]).to_numpy(), "penalized_f1"].iloc[0])


def _reference_tokens(result: Result, scores: Scores, row: int) -> pd.DataFrame:
    tokens = scores.tokens_of(_model(result), row)
    is_matched = (tokens["side"] == "reference") & ~tokens["special"] & tokens["similarity"].notna()
    return tokens[is_matched.to_numpy()]


def _of_own(result: Result, row: int, candidate: str, before: float) -> str:
    """What the reader's pair shows, without weights and penalty as the sample's."""
    scoring = replace(Scoring(), penalty=NONE)
    f1 = _f1(rescore(result, scoring, models=(_model(result),)), {"row": row})
    return tr(
        "“{candidate}”: F1 = {f1:.3f} under {model}, without a penalty. The pair of the sample has {before:.3f}.",
        candidate=candidate,
        f1=f1,
        model=short(_model(result)),
        before=before,
    )


def _with_penalty(table: pd.DataFrame) -> str:
    """What the penalty does to the correlation under the same idf, where the study has both."""
    scored = table[(table["kind"] == BERTSCORE).to_numpy()]
    wide: Any = scored.pivot_table(index=["model", "idf"], columns="penalty", values="pearson", observed=True)
    penalties = [name for name in wide.columns if name != NONE]
    if NONE not in wide.columns or not penalties:
        return tr("The study of this sample has no penalty: its names are looked for in Japanese alone.")
    changes = [
        tr("{idf} {before:.3f} → {after:.3f}", idf=idf, before=row[NONE], after=row[penalties[0]])
        for (_, idf), row in wide.dropna(subset=[NONE, penalties[0]]).iterrows()
    ]
    return tr("With the penalty the correlation changes so: {changes}.", changes=listed(changes))


LESSON = Lesson(
    "names",
    mark("Why names fool BERTScore"),
    mark("Explain F1 token by token, and say what weights and readings mend and where they do harm."),
    ":material/compare_arrows:",
    (
        Step("greedy", mark("Greedy matching"), greedy, (ALIGNMENT,)),
        Step("high", mark("Another name, a high F1"), high_score, (ALIGNMENT,)),
        Step("idf", mark("Weights by idf"), weighted, (ALIGNMENT,)),
        Step("own", mark("A name of your own"), own_name, (ALIGNMENT,)),
        Step("reading", mark("Names by reading"), by_reading, (ALIGNMENT,), JAPANESE),
        Step("two-readings", mark("One name, two readings"), readings),
        Step("harm", mark("Where readings do harm"), hurt, (ALIGNMENT,), JAPANESE),
        Step("people", mark("What people say"), human_scores, (STUDY,)),
    ),
)
