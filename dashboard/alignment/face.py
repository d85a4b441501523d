"""Alignment as all pages see it."""

from __future__ import annotations

from dashboard.alignment.compared import COMPARED
from dashboard.shared.exports.bundle.bertscore import alignment as statements
from dashboard.shared.exports.bundle.parts import Paragraph
from dashboard.shared.face import Face, SampleRun
from dashboard.shared.headlines import Headline, number_text
from dashboard.shared.inputs.inputs import DatasetForm
from engine.datasets import sample_data, sentence_pairs
from engine.evaluations.alignment.records import Result, Settings
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.catalog import ALIGNMENT
from engine.messages.languages import mark
from engine.models.sources.cards import first_built_in

WITH_PENALTY = mark("{score} with penalty")


def _headlines(result: Result) -> list[Headline]:
    """Mean F1 of each category of pairs, without and with the penalty, under the scoring of the run."""
    scored = rescore(result, result.settings.scoring).pairs.merge(result.pairs[["row", "category"]], on="row")
    means = scored.groupby("category", sort=False)[["f1", "penalized_f1"]].mean()
    return [
        Headline(
            str(category or mark("all pairs")),
            number_text(row["f1"], 2),
            WITH_PENALTY.format(score=number_text(row["penalized_f1"], 2)),
            "f1",
        )
        for category, row in means.iterrows()
    ]


FORM = DatasetForm(
    ALIGNMENT.kind,
    sentence_pairs,
    sample_data.sentence_pairs,
    mark("Pairs that say the same, swap a name, spell it otherwise or change the meaning, written for this project."),
    "斉藤さんは今、最高の環境にいる。\t尾崎は良い場所にいる。",
)
FACE = Face(
    ALIGNMENT,
    _headlines,
    FORM,
    SampleRun(
        "Sample: alignment",  # untranslated
        lambda language: Settings(first_built_in("masked", language=language)),
    ),
    Paragraph("pairs", statements),
    ("bertscore", "novels"),
    compared=COMPARED,
    data_choices={"alignment-extent": "dataset"},
    suggested_for=("masked",),
)
