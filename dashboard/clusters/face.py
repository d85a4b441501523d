"""Clusters as all pages see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.clusters.home_figure import draw_best_map
from dashboard.clusters.map_charts import has_map, maps_figure
from dashboard.shared.exports.bundle.parts import Cited, Models, Paragraph, Statement
from dashboard.shared.exports.bundle.vectors import by_value, normalised, vectors
from dashboard.shared.face import Face, HomeFigure, SampleRun
from dashboard.shared.headlines import Headline, n_note, number_text, of_models
from dashboard.shared.inputs.inputs import labelled_form
from engine.evaluations.catalog import CLUSTERS
from engine.evaluations.clusters.records import EXCLUDE, SIGNED_FITTED, SIGNED_LONE, Result, Settings
from engine.language.quantities import decimals
from engine.messages.languages import mark
from engine.models.sources.cards import built_in_models


def _headlines(result: Result) -> list[Headline]:
    """The dispersion score of each model, the best first, those without a rank last."""
    ranked = result.models.sort_values("rank", na_position="last", kind="stable")
    digits = decimals(ranked["score"].tolist())
    return of_models(
        ranked.assign(n=ranked["n_sentences"]),
        "dispersion_score",
        lambda row: number_text(row["score"], digits),
        n_note,
    )


def _corrections(signature: Mapping[str, Any]) -> Iterator[Statement]:
    settings = signature["settings"]
    if settings.get("correction") == "whitening":
        dims = {model: str(n) for model, n in signature.get("corrected_dims", {}).items()}
        for n, of_models in by_value(dims).items():
            yield Statement("whitened", {"n": n, "whom": Models(of_models), "cite": Cited(("su2021whitening",))})
    elif settings.get("correction") == "all-but-the-top":
        cite = Cited(("mu2018",))
        if removed := settings.get("removed_components"):
            yield Statement("components removed", {"n": removed, "cite": cite})
        else:
            yield Statement("usual components removed", {"cite": cite})
    if settings.get("centre"):
        yield Statement("centred")


def _statements(signature: Mapping[str, Any]) -> Iterator[Statement]:
    settings = signature["settings"]
    yield from vectors(signature)
    yield from normalised(settings)
    yield from _corrections(signature)
    yield Statement("dispersions", {"cite": Cited(("shibayama2020clustering",))})
    if settings.get("lone_classes") == EXCLUDE and signature.get(SIGNED_LONE, True):
        yield Statement("lone classes")
    if "resamples" in settings:
        yield Statement(
            "cluster intervals",
            {
                "n": settings["resamples"],
                "seed": str(settings["seed"]),
                "cite": Cited(("efron1993",)),
                "permuted": Cited(("phipson2010",)),
            },
        )
    yield Statement(
        "validity",
        {
            "silhouette": Cited(("rousseeuw1987",)),
            "calinski": Cited(("calinski1974",)),
            "davies": Cited(("davies1979",)),
            "measure": Cited(("rosenberg2007",)),
            "rand": Cited(("hubert1985",)),
            "nmi": Cited(("strehl2002",)),
            "library": Cited(("pedregosa2011",)),
            "version": signature.get("versions", {}).get("scikit-learn", ""),
        },
    )
    if settings.get("projection") == "umap":
        yield Statement(
            "umap",
            {
                "neighbours": settings["n_neighbors"],
                "distance": settings["min_dist"],
                "metric": settings["metric"],
                "seed": str(settings["seed"]),
                "cite": Cited(("mcinnes2018umap",)),
                "version": signature.get("versions", {}).get("umap-learn", ""),
            },
        )
        if fitted := signature.get(SIGNED_FITTED):
            yield Statement("umap sample", {"fitted": f"{fitted:,}", "seed": str(settings["seed"])})
    elif settings.get("projection") == "pca":
        yield Statement("pca")


FORM = labelled_form(CLUSTERS.kind)
FACE = Face(
    CLUSTERS,
    _headlines,
    FORM,
    # The mean over tokens, because a causal model has no CLS token to compare by. PCA, because the first UMAP of a
    # process takes longer than all the rest.
    SampleRun(
        "Sample: clusters",  # untranslated
        lambda language: Settings(
            built_in_models("masked", "causal", language=language), pooling="mean-without-special", projection="pca"
        ),
    ),
    Paragraph("sentences", _statements),
    ("shibayama",),
    HomeFigure(mark("Do the classes lie apart?"), draw_best_map),
    map_figure=lambda result, model: maps_figure(result, model) if has_map(result.points, model) else None,
    across_data=mark(
        ":material/info: M_m grows with the number of sentences per class: runs of different data cannot "
        "be ranked by it."
    ),
    suggested_for=("masked",),
)
