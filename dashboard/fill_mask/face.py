"""Fill-mask as all pages see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.shared.exports.bundle.parts import Cited, Paragraph, Statement
from dashboard.shared.exports.bundle.vectors import normalised
from dashboard.shared.face import Face, SampleRun
from dashboard.shared.headlines import Headline, n_note, number_text, of_models
from dashboard.shared.inputs.inputs import DatasetForm
from engine.datasets import sample_data
from engine.datasets.masked import masked_sentences
from engine.evaluations.catalog import FILL_MASK
from engine.evaluations.fill_mask.records import ALL, Result, Settings
from engine.messages.languages import mark
from engine.models.sources.cards import built_in_models


def _headlines(result: Result) -> list[Headline]:
    """Mean probability of the masked word under each model over all its sentences, the highest first."""
    overall = result.models[result.models["domain"] == ALL]
    ranked = overall.sort_values("mean_probability", ascending=False, kind="stable")
    return of_models(ranked, "mask_probability", lambda row: number_text(row["mean_probability"], 3), n_note)


def _statements(signature: Mapping[str, Any]) -> Iterator[Statement]:
    settings = signature["settings"]
    yield from normalised(settings)
    yield Statement("mask", {"cite": Cited(("shibayama2020clustering",))})
    if "resamples" in settings:
        # Earlier runs have a percentile interval.
        yield Statement(
            "mask intervals" if signature.get("mask_intervals") else "mask percentiles",
            {"n": settings["resamples"], "seed": str(settings["seed"]), "cite": Cited(("efron1993",))},
        )


FORM = DatasetForm(
    FILL_MASK.kind,
    masked_sentences,
    sample_data.masked_sentences,
    mark("Sentences of three domains with the noun to be masked, written for this project."),
    "とても面白い＿＿だった。\t本\t読書\n朝から雨が降っている。\t雨\t天気",
)
FACE = Face(
    FILL_MASK,
    _headlines,
    FORM,
    SampleRun(
        "Sample: fill-mask",  # untranslated
        lambda language: Settings(built_in_models("masked", language=language)),
    ),
    Paragraph("masked", _statements),
    ("shibayama",),
    data_choices={"fill-mask-words": "ready"},
    suggested_for=("masked",),
)
