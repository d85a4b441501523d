"""Clusters: how far do a model's sentence vectors keep labelled sentences apart?

Sentences and labels in; for each model in-class dispersion A_m, out-of-class dispersion B_m and their ratio M_m out,
how sure they are, what lies behind them, and a map. Paper: Shibayama et al., PACLIC 34 (2020), section 3.1.
"""

from __future__ import annotations

from itertools import combinations

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.evaluations.clusters import records, tables
from engine.evaluations.clusters.maps import coordinates, nearest
from engine.evaluations.clusters.notices import notices
from engine.evaluations.clusters.records import Result, Settings
from engine.evaluations.clusters.uncertainty import certainty
from engine.evaluations.clusters.vectors import model_vectors, require_vectors
from engine.evaluations.shared.signature import require_models, signature
from engine.inference.gateway import GatewaySession
from engine.language.normalize import normalize
from engine.layers import resolve_layer
from engine.measures.clusters.centroids import centroid_distances
from engine.measures.clusters.dispersion import dispersion
from engine.options import check


def evaluate(settings: Settings, dataset: LabelledSentences, session: GatewaySession) -> Result:
    """Weigh each model of `settings` on `dataset`.

    Sentences beyond a model's length are left out for that model and listed in `excluded`. Raises
    InputError for settings that cannot be, and when fewer than two classes remain; ModelError
    from the model, and at once where one has no CLS token to take.
    """
    require_models(settings.models)
    check(settings)
    facts = [session.describe(model) for model in settings.models]
    layers = {one.name: resolve_layer(settings.layer, one.n_layers, one.name) for one in facts}
    require_vectors(facts, settings.pooling)
    texts = [normalize(text, settings.normalize) for text in dataset.texts]
    read = [model_vectors(settings, one, layers[one.name], dataset, texts, session) for one in facts]
    weighed = [dispersion(one.vectors, one.labels) for one in read]
    distances = [centroid_distances(one.vectors, one.labels) for one in read]
    sure = certainty(settings, read, weighed, session)
    validity = [session.on_vectors("cluster_validity", one.vectors, label=f"Cluster validity: {one.model}",
                                   class_of=one.class_of, functions=records.VALIDITY_FUNCTIONS, seed=settings.seed)
                for one in read]
    neighbours = {one.model: found for one in read if (found := nearest(one, settings, session)) is not None}
    points = tables.stacked([tables.points_table(one, dataset, coordinates(one, settings, session), apart)
                             for one, apart in zip(read, distances, strict=True)])
    return Result(
        settings=settings, dataset_name=dataset.name,
        models=tables.models_table(read, weighed, sure.groups),
        classes=tables.stacked([tables.classes_table(one.model, its) for one, its in zip(read, weighed, strict=True)]),
        intervals=sure.intervals, comparisons=sure.comparisons, null=sure.null,
        validity=records.VALIDITY.frame([(one.model, *(piece[name] for name in records.VALIDITY.headers[1:]))
                                         for one, piece in zip(read, validity, strict=True)]),
        layers=tables.stacked([one.layers for one in read]),
        points=points, centroids=tables.centroids_table(points),
        centroid_distances=tables.stacked([tables.centroid_distances_table(one.model, its)
                                           for one, its in zip(read, distances, strict=True)]),
        neighbours=tables.stacked([
            tables.neighbours_table(one, dataset, *neighbours.get(one.model, tables.NO_NEIGHBOURS)) for one in read]),
        overlap=records.OVERLAP.frame([tables.overlap_row(a, b, neighbours[a.model][0], neighbours[b.model][0])
                                       for a, b in combinations(read, 2) if {a.model, b.model} <= set(neighbours)]),
        excluded=tables.excluded_table(read, dataset),
        notices=(*dataset.notices, *notices(settings, read, weighed, validity, len(texts)), *sure.notices),
        signature=signature(settings, facts, dataset.content_hash, libraries=("umap-learn", "scikit-learn", "scipy"),
                            layers=layers),
    )
