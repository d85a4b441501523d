"""Classification as all pages see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.shared.exports.bundle.parts import Cited, Names, Paragraph, Phrase, Statement
from dashboard.shared.exports.bundle.vectors import normalised, vectors
from dashboard.shared.face import Face, SampleRun
from dashboard.shared.headlines import Headline, interval_note, of_models, percent
from dashboard.shared.inputs.inputs import labelled_form
from engine.evaluations.catalog import CLASSIFICATION
from engine.evaluations.classification.records import Result, Settings
from engine.models.sources.cards import built_in_models
from engine.options import option_of


def _headlines(result: Result) -> list[Headline]:
    """Mean accuracy of each model over its runs, the best first, with the interval at the test sentences."""
    ranked = result.models.sort_values("accuracy_mean", ascending=False, kind="stable")
    return of_models(
        ranked.assign(n=ranked["n_test"]),
        "classification_accuracy",
        lambda row: percent(row["accuracy_mean"]),
        interval_note,
    )


def _statements(signature: Mapping[str, Any]) -> Iterator[Statement]:
    settings = signature["settings"]
    seeds = signature.get("run_seeds", ())
    yield from vectors(signature)
    yield from normalised(settings)
    yield Statement(
        "network",
        {
            "cite": Cited(("shibayama2020nlp",)),
            "hidden": Names(tuple(settings["hidden"])),
            "epochs": settings["epochs"],
            "batch": settings["batch_size"],
            "runs": settings["seeds"],
            "first": str(settings["seed"]),
            "last": str(seeds[-1] if seeds else settings["seed"]),
        },
    )
    if settings.get("standardize"):
        yield Statement("standardised")
    yield Statement(
        "split",
        {
            "share": f"{100 * settings['test_share']:g}",
            "split": Phrase(option_of(Settings, "split").phrases[settings["split"]]),
        },
    )
    yield Statement("accuracy intervals", {"cite": Cited(("wilson1927",))})


FORM = labelled_form(CLASSIFICATION.kind)
FACE = Face(
    CLASSIFICATION,
    _headlines,
    FORM,
    SampleRun(
        "Sample: classification",  # untranslated
        lambda language: Settings(built_in_models("masked", language=language)),
    ),
    Paragraph("sentences", _statements),
    ("shibayama", "shibayama-ja"),
    former_name="classify",
)
