"""Clusters: how far do a model's sentence vectors keep labelled sentences apart?

Sentences and labels in; for each model in-class dispersion A_m, out-of-class dispersion B_m and their ratio M_m out,
how sure they are, what explains them, and a map. Paper: Shibayama et al., PACLIC 34 (2020), section 3.1.
"""

from __future__ import annotations

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.evaluations.clusters import records, tables
from engine.evaluations.clusters.further import class_columns, classes_by_column, clusterings, overlaps
from engine.evaluations.clusters.maps import maps, n_fitted, nearest
from engine.evaluations.clusters.notices import notices
from engine.evaluations.clusters.records import Result, Settings
from engine.evaluations.clusters.uncertainty import certainty
from engine.evaluations.clusters.vectors import model_vectors
from engine.evaluations.shared.control_tokens import control_token_notices
from engine.evaluations.shared.left_out import with_left_out
from engine.evaluations.shared.other_language import other_language_notices
from engine.evaluations.shared.signature import require_models, signature
from engine.evaluations.shared.unknown_tokens import unknown_share_notices, unknown_tokens
from engine.evaluations.shared.vectors.outside_vectors import outside_notices, with_vectors
from engine.evaluations.shared.vectors.sentence_vectors import signed, vector_notices, vector_requests
from engine.inference.gateway import GatewaySession
from engine.language.normalize import normalize
from engine.layer_numbers import resolve_layer
from engine.measures.clusters.centroids import centroid_distances
from engine.measures.clusters.dispersion import dispersion
from engine.messages.message import Message
from engine.options import check


def evaluate(settings: Settings, dataset: LabelledSentences, session: GatewaySession) -> Result:
    """Evaluate each model of `settings` on `dataset`.

    Every model is scored over the same sentences: one that is too long for one of them is left out for all, and listed
    in `excluded`. Raises InputError for settings that cannot be, and when fewer than two classes remain; ModelError
    from the model, and at once where one has no CLS token to take.
    """
    require_models(settings.models, vectors=True)
    check(settings)
    session = with_vectors(session, settings.models, dataset)
    facts = [session.describe(model) for model in settings.models]
    layers = {
        model.name: 0 if model.vectors else resolve_layer(settings.layer, model.n_layers, model.name) for model in facts
    }
    requests = vector_requests(settings, facts)
    described = {model: request.description for model, request in requests.items()}
    by_column = classes_by_column(settings, dataset)
    texts = [normalize(text, settings.normalize) for text in dataset.texts]
    all_vectors = model_vectors(settings, facts, layers, dataset, texts, requests, session)
    unknown = unknown_tokens(facts, texts, session, requests)
    dispersions = [dispersion(vectors.vectors, vectors.labels) for vectors in all_vectors]
    distances = [centroid_distances(vectors.vectors, vectors.labels) for vectors in all_vectors]
    score_certainty = certainty(settings, all_vectors, dispersions, session)
    validity = [
        session.on_vectors(
            "cluster_validity",
            vectors.vectors,
            label=Message("Cluster validity: {model}", model=vectors.model),
            class_of=vectors.class_of,
            functions=records.validity_functions(len(vectors.kept)),
            seed=settings.seed,
        )
        for vectors in all_vectors
    ]
    neighbours = {
        vectors.model: model_neighbours
        for vectors in all_vectors
        if (model_neighbours := nearest(vectors, settings, session)) is not None
    }
    fitted = next(filter(None, (n_fitted(vectors, settings) for vectors in all_vectors)), None)
    points = tables.stacked(
        [
            tables.points_table(vectors, dataset, coordinates, model_distances)
            for vectors, coordinates, model_distances in zip(
                all_vectors, maps(all_vectors, settings, session), distances, strict=True
            )
        ]
    )
    return with_left_out(
        dataset,
        Result(
            settings=settings,
            dataset_name=dataset.name,
            models=tables.models_table(all_vectors, dispersions, score_certainty.separable, unknown),
            classes=tables.stacked(
                [
                    tables.classes_table(vectors.model, model_dispersion)
                    for vectors, model_dispersion in zip(all_vectors, dispersions, strict=True)
                ]
            ),
            intervals=score_certainty.intervals,
            comparisons=score_certainty.comparisons,
            null=score_certainty.null,
            validity=records.VALIDITY.frame_of_records(
                [
                    {"model": vectors.model, records.SILHOUETTE_ERROR: float("nan"), **piece}
                    for vectors, piece in zip(all_vectors, validity, strict=True)
                ]
            ),
            layers=tables.stacked([vectors.layers for vectors in all_vectors]),
            points=points,
            centroids=tables.centroids_table(points),
            centroid_distances=tables.stacked(
                [
                    tables.centroid_distances_table(vectors.model, model_distances)
                    for vectors, model_distances in zip(all_vectors, distances, strict=True)
                ]
            ),
            neighbours=tables.stacked(
                [
                    tables.neighbours_table(vectors, dataset, *neighbours.get(vectors.model, tables.NO_NEIGHBOURS))
                    for vectors in all_vectors
                ]
            ),
            overlap=overlaps(settings, all_vectors, neighbours, session),
            clusterings=clusterings(settings, all_vectors, session),
            class_columns=class_columns(settings, all_vectors, by_column, session),
            excluded=tables.excluded_table(all_vectors, dataset),
            notices=(
                *dataset.notices,
                *outside_notices(facts),
                *other_language_notices(facts, texts),
                *control_token_notices(facts, dataset.rows, [(text,) for text in texts], session),
                *(notice for vectors in all_vectors for notice in vectors.cut),
                *unknown_share_notices(settings.models, unknown, are_ranked=True),
                *vector_notices(described),
                *notices(settings, all_vectors, dispersions, validity, score_certainty.null, len(texts)),
            ),
            signature=signature(
                settings,
                facts,
                dataset.own_hash,
                libraries=("umap-learn", "scikit-learn", "scipy"),
                layers={model.name: layers[model.name] for model in facts if not model.vectors},
                **(
                    {"corrected_dims": {vectors.model: vectors.vectors.shape[1] for vectors in all_vectors}}
                    if settings.correction == "whitening"
                    else {}
                ),
                vectors=signed(requests),
                **(
                    {records.SIGNED_LONE: all_vectors[0].lone_classes}
                    if settings.lone_classes == records.EXCLUDE
                    else {}
                ),
                **({records.SIGNED_FITTED: fitted} if fitted else {}),
            ),
        ),
    )
