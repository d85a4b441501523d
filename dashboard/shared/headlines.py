"""The few numbers and the names that the home page and lists of runs show. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import pandas as pd

from dashboard.shared.theme import decimals
from engine.evaluations.alignment import records as alignment
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.classification import records as classification
from engine.evaluations.clusters import records as clusters
from engine.evaluations.dictionary import records as dictionary
from engine.evaluations.fill_mask import records as fill_mask
from engine.evaluations.metric_study import records as metric_study
from engine.evaluations.minimal_pairs import records as minimal_pairs
from engine.evaluations.minimal_pairs import views as pair_views
from engine.evaluations.minimal_pairs.designs.predictions import predictions, suite_scores
from engine.evaluations.minimal_pairs.judgements import is_design, is_judged
from engine.evaluations.minimal_pairs.single_sentences import judgements
from engine.measures.cards.catalog import CARDS
from engine.models.sources.names import shown_name
from engine.runs.storage.run_record import RunRecord
from engine.translation import mark, tr, translated

BUILT_IN_PREFIX = "builtin/"
STORED_FORMAT = 2  # raised when stored headlines are to be made anew
N_STORED, N_LISTED = 6, 2
TYPED_PAIR = mark("typed pair")  # the name of its dataset
NAMES_OF_OURS = (TYPED_PAIR, mark("sample labelled sentences"), mark("sample sentence pairs"),
                 mark("sample scored pairs"), mark("sample minimal pairs"), mark("sample masked sentences"),
                 mark("sample sentences"))


N = mark("n = {n}")
INTERVAL = mark("{low}-{high}, n = {n}")
WITH_PENALTY = mark("{score} with penalty")
BEST_SETTING = mark("idf {idf}, penalty {penalty}, n = {n}")
PER_UNIT = mark("one for each {unit}")


@dataclass(frozen=True)
class Headline:
    """One number: its label, its value, a note beside it, and the measure whose card explains it; "" for a count.

    The texts are English, as they are stored with a run; `shown` is in the reader's language.
    """

    label: str
    value: str
    note: str
    measure: str

    @property
    def shown(self) -> Headline:
        """The headline in the reader's language."""
        return Headline(translated(self.label), translated(self.value), translated(self.note), self.measure)


def of_clusters(result: clusters.Result) -> list[Headline]:
    """The dispersion score of each model, the best first, those without a rank last."""
    ranked = result.models.sort_values("rank", na_position="last", kind="stable")
    digits = decimals(ranked["score"].tolist())
    return [
        Headline(short(row["model"]), _number(row["score"], digits), N.format(n=row["n_sentences"]),
                 "dispersion_score")
        for row in ranked.to_dict("records")
    ]


def of_alignment(result: alignment.Result) -> list[Headline]:
    """Mean F1 of each category of pairs, without and with the penalty, under the scoring of the run."""
    scored = rescore(result, result.settings.scoring).pairs.merge(result.pairs[["row", "category"]], on="row")
    means = scored.groupby("category", sort=False)[["f1", "penalized_f1"]].mean()
    return [Headline(str(category or mark("all pairs")), _number(row["f1"], 2),
                     WITH_PENALTY.format(score=_number(row["penalized_f1"], 2)), "f1")
            for category, row in means.iterrows()]


def of_minimal_pairs(result: minimal_pairs.Result) -> list[Headline]:
    """Accuracy of each model over all pairs by plain log-likelihood, with its 95 % interval.

    Of single judged sentences AUC, of sentences in conditions how often the predictions hold.
    """
    if is_judged(result):
        areas = judgements(result, ("LP",)).query("field == ''").sort_values("auc", ascending=False, kind="stable")
        return [Headline(short(row["model"]), _number(row["auc"], 3), N.format(n=row["n"]), "judgement_auc")
                for row in areas.to_dict("records")]
    if is_design(result):
        scores = suite_scores(predictions(result)).sort_values("accuracy", ascending=False, kind="stable")
        return [Headline(short(row["model"]), _percent(row["accuracy"]),
                         INTERVAL.format(low=_points(row["ci_low"]), high=_points(row["ci_high"]), n=row["n"]),
                         "prediction_accuracy") for row in scores.to_dict("records")]
    table = pair_views.summary(result, ("LP",))
    overall = table[table["stratum"] == "all"].sort_values("accuracy", ascending=False, kind="stable")
    return [
        Headline(short(row["model"]), _percent(row["accuracy"]),
                 INTERVAL.format(low=_points(row["ci_low"]), high=_points(row["ci_high"]), n=row["n"]), "accuracy")
        for row in overall.to_dict("records")
    ]


def of_classification(result: classification.Result) -> list[Headline]:
    """Mean accuracy of each model over its runs, the best first, with the interval at the test sentences."""
    ranked = result.models.sort_values("accuracy_mean", ascending=False, kind="stable")
    return [
        Headline(short(row["model"]), _percent(row["accuracy_mean"]),
                 INTERVAL.format(low=_points(row["ci_low"]), high=_points(row["ci_high"]), n=row["n_test"]),
                 "classification_accuracy")
        for row in ranked.to_dict("records")
    ]


def of_fill_mask(result: fill_mask.Result) -> list[Headline]:
    """Mean probability of the masked word under each model over all its sentences, the highest first."""
    overall = result.models[result.models["domain"] == fill_mask.ALL]
    ranked = overall.sort_values("mean_probability", ascending=False, kind="stable")
    return [Headline(short(row["model"]), _number(row["mean_probability"], 3), N.format(n=row["n"]),
                     "mask_probability")
            for row in ranked.to_dict("records")]


def of_metric_study(result: metric_study.Result) -> list[Headline]:
    """The greatest correlation with the human scores that each model reaches, and its setting, the greatest first."""
    table = result.correlations[result.correlations["kind"] == metric_study.BERTSCORE]
    best = table.sort_values("pearson", ascending=False, kind="stable").drop_duplicates("model")
    return [Headline(short(row["model"]), _number(row["pearson"], 3),
                     BEST_SETTING.format(idf=row["idf"], penalty=row["penalty"], n=row["n"]), "pearson")
            for row in best.to_dict("records")]


def of_dictionary(result: dictionary.Result) -> list[Headline]:
    """The numbers of documents and of their tokens."""
    return [Headline(mark("documents"), f"{result.n_documents:,}", PER_UNIT.format(unit=result.unit), ""),
            Headline(mark("different tokens"), f"{len(result.counts):,}", "", "")]


HEADLINES: dict[str, Callable[[Any], list[Headline]]] = {
    "clusters": of_clusters, "alignment": of_alignment, "minimal-pairs": of_minimal_pairs,
    "classification": of_classification, "fill-mask": of_fill_mask, "metric-study": of_metric_study,
    "dictionary": of_dictionary,
}


def to_store(headlines: Sequence[Headline]) -> dict[str, Any]:
    """The first headlines as a JSON value that is stored with a run."""
    return {"format": STORED_FORMAT, "numbers": [list(astuple(headline)) for headline in headlines[:N_STORED]]}


def stored(value: Mapping[str, Any] | None) -> list[Headline] | None:
    """The headlines that `to_store` wrote; None where there are none, or those of another format.

    >>> stored(to_store([Headline("a", "1.5", "n = 3", "f1")]))
    [Headline(label='a', value='1.5', note='n = 3', measure='f1')]
    >>> stored({"format": 0}) is None
    True
    """
    if value is None or value.get("format") != STORED_FORMAT:
        return None
    return [Headline(*map(str, number)) for number in value["numbers"]]


def in_a_line(headlines: Sequence[Headline]) -> str:
    """Headlines as one cell of a table: the first with the symbol of its measure, the rest counted.

    >>> in_a_line([Headline("a", "1.50", "", "dispersion_score"), Headline("b", "2.10", "", "dispersion_score"),
    ...            Headline("c", "3.00", "", "dispersion_score")])
    'M_m 1.50 a, 2.10 b, 1 more'
    """
    first = [headline.shown for headline in headlines[:N_LISTED]]
    shown = [f"{headline.value} {headline.label}" for headline in first]
    if shown and headlines[0].measure:
        shown[0] = f"{CARDS[headlines[0].measure].symbol} {shown[0]}"
    n_more = len(headlines) - N_LISTED
    return ", ".join(shown + ([tr("{n} more", n=n_more)] if n_more > 0 else []))


def short(model: str) -> str:
    """A model's label; of one without, the name, a built-in model's without its prefix.

    >>> short("builtin/bert-mini-ja"), short("owner/name"), short("Ours=builtin/bert-mini-ja")
    ('bert-mini-ja', 'owner/name', 'Ours')
    """
    return shown_name(model).removeprefix(BUILT_IN_PREFIX)


def run_title(run: RunRecord) -> str:
    """A run's name; one that nobody chose, evaluation and dataset, in the reader's language."""
    title = EVALUATIONS[run.kind].title if run.kind in EVALUATIONS else run.kind
    return f"{translated(title)}: {dataset_title(run)}" if run.name == f"{title}: {run.dataset_name}" else run.name


def dataset_title(run: RunRecord) -> str:
    """The name of a run's dataset, in the reader's language where it is ours."""
    return shown_dataset(run.dataset_name)


def shown_dataset(name: str) -> str:
    """The name of a dataset, in the reader's language where it is that of a sample or of a typed pair."""
    return tr(name) if name in NAMES_OF_OURS else name


def _number(value: float, digits: int) -> str:
    return mark("undefined") if pd.isna(value) else f"{value:,.{digits}f}"


def _percent(value: float) -> str:
    return mark("undefined") if pd.isna(value) else f"{value:.1%}"


def _points(value: float) -> str:
    return f"{100 * value:.1f}"
