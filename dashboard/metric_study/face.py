"""Metric study as all pages see it."""

from __future__ import annotations

from dashboard.metric_study.compared import COMPARED
from dashboard.shared.exports.bundle.bertscore import metric_study as statements
from dashboard.shared.exports.bundle.parts import Paragraph
from dashboard.shared.face import Face, SampleRun
from dashboard.shared.headlines import Headline, number_text, of_models
from dashboard.shared.inputs.inputs import DatasetForm
from engine.datasets import sample_data, sentence_pairs
from engine.evaluations.alignment.scoring import in_words
from engine.evaluations.catalog import METRIC_STUDY
from engine.evaluations.metric_study.records import BERTSCORE, Result, Settings
from engine.messages.languages import mark
from engine.models.sources.cards import first_built_in

BEST_SETTING = mark("idf {idf}, penalty {penalty}, n = {n}")


def _headlines(result: Result) -> list[Headline]:
    """The greatest correlation with the human scores that each model reaches, and its setting, the greatest first."""
    table = result.correlations[result.correlations["kind"] == BERTSCORE]
    best = table.sort_values("pearson", ascending=False, kind="stable").drop_duplicates("model")
    return of_models(
        best,
        "pearson",
        lambda row: number_text(row["pearson"], 3),
        lambda row: BEST_SETTING.format(**in_words(row["idf"], row["penalty"]), n=row["n"]),
    )


FORM = DatasetForm(
    METRIC_STUDY.kind,
    sentence_pairs,
    sample_data.scored_pairs,
    mark(
        "Two candidates for each of 30 references, with the scores of three invented annotators, written "
        "for this project."
    ),
    "斉藤さんは駅で待っていた。\t斎藤さんは駅で待った。\t\t95",
)


def _of_sample(language: str) -> Settings:
    """The paper's grid; in English with its one dictionary and without the penalty, because readings are of Japanese."""
    models = first_built_in("masked", language=language)
    return Settings(models) if language == "ja" else Settings(models, idfs=("none", "novel"), penalties=("none",))


FACE = Face(
    METRIC_STUDY,
    _headlines,
    FORM,
    SampleRun("Sample: metric study", _of_sample),  # untranslated
    Paragraph("pairs", statements),
    ("bertscore", "novels"),
    compared=COMPARED,
)
