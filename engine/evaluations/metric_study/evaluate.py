"""Metric study: which model, dictionary and penalty follow human scores best, and which can be told apart at all?

Sentence pairs with human scores in; for each setting of BERTScore, and for SentBLEU, chrF and the cosine of sentence
vectors, the correlation with the annotators' mean out. Paper: BERTScore for Japanese novel translation, sections 4
and 5: four models, two dictionaries, with and without the penalty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets import human_scores
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import InputError
from engine.evaluations.alignment import evaluate as aligning
from engine.evaluations.alignment import records as alignment
from engine.evaluations.alignment.records import WITHOUT_DICTIONARY, Scoring
from engine.evaluations.alignment.scoring import idf_words
from engine.evaluations.metric_study.entities import accuracy_table, column_of, entity_scores
from engine.evaluations.metric_study.grid import Cell, best_place, correlations, scorings
from engine.evaluations.metric_study.human_gold import annotator_scores, ceiling_table, human_gold, no_gold
from engine.evaluations.metric_study.records import BERTSCORE, IDFS, LAYERS, LEFT_OUT, Result, Settings
from engine.evaluations.metric_study.scores import (
    column_notices,
    column_scores,
    grid_scores,
    method_scores,
    surface_tokenizer,
)
from engine.evaluations.metric_study.systems import systems_of
from engine.evaluations.shared.dictionaries import dictionary_for
from engine.evaluations.shared.left_out import with_left_out
from engine.evaluations.shared.signature import require_models, signature
from engine.evaluations.shared.vectors.sentence_vectors import signed, vector_requests
from engine.inference.gateway import GatewaySession
from engine.language import words
from engine.language.quantities import count
from engine.language.readings import by_pykakasi
from engine.layer_numbers import resolve_layer
from engine.measures.statistics.correlations.correlation import pearson
from engine.measures.surface import signatures
from engine.messages.message import Message, list_of
from engine.models.sources.facts import ModelFacts
from engine.options import check


def evaluate(settings: Settings, dataset: SentencePairs, session: GatewaySession) -> Result:
    """Score `dataset` under every setting and hold the scores against its annotators'.

    Every model is asked once; the settings are arithmetic on its similarities. A dictionary of another tokenizer
    leaves that model's settings out, said in `left_out`. Raises InputError for settings that cannot be, a dictionary
    that fits none of the models, and a dataset with neither human scores nor accepted forms of entities; ModelError
    from the model.
    """
    grid = _checked(settings)
    entity_column = column_of(dataset, settings.entity_column)
    humans = human_gold(dataset.human) if dataset.human or entity_column is None else no_gold(dataset.n)
    columns = column_scores(dataset, settings.metric_columns, settings.lower_columns)
    systems = systems_of(dataset, settings.system_column)
    entities = entity_scores(dataset, entity_column)
    annotators = annotator_scores(dataset, settings.annotators)
    facts = {model: session.describe(model) for model in settings.models}
    resolved = {model: resolve_layer(settings.layer, facts[model].n_layers, model) for model in settings.models}
    requests = (
        {}
        if settings.pooling == "none"
        else vector_requests(settings, facts.values(), otherwise="mean-without-special")
    )
    left_out = _misfits(settings, facts)
    usable = replace(dataset, left_out=())  # what the file held beside is listed once, not under each model
    cells, scores, layers, excluded, notices = [], [], [], [], list(humans.notices)
    dictionaries: dict[str, str] = {}
    for model in settings.models:
        possible = [scoring for scoring in grid if (model, scoring.idf) not in left_out]
        if not possible:
            continue
        alignments = aligning.evaluate(
            alignment.Settings((model,), settings.layer, settings.all_layers, settings.precision), usable, session
        )
        excluded.append(alignments.excluded)
        notices += alignments.notices
        for scoring, values, scored in grid_scores(alignments, possible, settings.score, dataset.rows):
            cells.append(Cell(BERTSCORE, model, scoring.idf, scoring.penalty))
            scores.append(values)
            notices += [
                Message("idf {idf}: {notice}", idf=idf_words(scoring.idf), notice=notice) for notice in scored.notices
            ]
            dictionaries |= {f"{scoring.idf}, {name}": description for name, description in scored.dictionaries.items()}
        for layer in alignments.layers[model] if settings.all_layers else ():
            for scoring, values, _ in grid_scores(alignments, possible, settings.score, dataset.rows, layer):
                correlation = pearson(values, humans.gold)
                layers.append(
                    (
                        model,
                        layer,
                        scoring.idf,
                        scoring.penalty,
                        correlation.n,
                        correlation.value,
                        correlation.ci_low,
                        correlation.ci_high,
                    )
                )
    scores, common = over_common_pairs(scores)
    notices += common
    tokenizer = surface_tokenizer(dataset)
    for cell, values in method_scores(
        dataset, session, tokenizer if settings.surface else None, requests, resolved, settings.precision, notices
    ):
        cells.append(cell)
        scores.append(values)
    cells += [*columns, *entities]
    scores += [*columns.values(), *entities.values()]
    held = np.stack(scores)  # (n_settings, n_pairs)
    notices += [
        Message("{model} with idf {idf}: {reason}", model=model, idf=idf, reason=reason)
        for (model, idf), reason in left_out.items()
    ]
    table = correlations(cells, held, humans.gold, humans.reason)
    notices += column_notices(table, settings.lower_columns)
    ranked = systems.tables(cells, held, humans.gold, best_place(table)) if systems else {}
    return with_left_out(
        dataset,
        Result(
            settings=settings,
            dataset_name=dataset.name,
            correlations=table,
            scores=held,
            pairs=dataset.to_frame()[["row", "reference", "candidate", "category"]].assign(
                gold=humans.gold,
                **{f"human:{name}": np.asarray(values) for name, values in dataset.human.items()},
                **{f"z:{name}": values for name, values in humans.z.items()},
            ),
            annotators=humans.annotators,
            agreement=humans.agreement,
            mean_agreement=humans.mean_agreement,
            human_ceiling=ceiling_table(annotators),
            entity_accuracy=accuracy_table(entities, entity_scores(dataset, entity_column, case_alone=True), systems),
            layers=LAYERS.frame(layers),
            left_out=LEFT_OUT.frame([(*key, reason) for key, reason in left_out.items()]),
            excluded=pd.concat(excluded, ignore_index=True),
            notices=_told(dataset, notices),
            **ranked,
            signature=signature(
                _described(settings),
                list(facts.values()),
                dataset.content_hash,
                libraries=("rapidfuzz", "unidic-lite", "scipy"),
                layers=resolved,
                dictionaries=dictionaries,
                vectors=signed(requests),
                rank_intervals="infinitesimal jackknife",
                readings=f"{by_pykakasi.ENGINE_VERSION}; {words.ENGINE_VERSION}",
                **({"surface": signatures(tokenizer)} if settings.surface else {}),
            ),
        ),
    )


def over_common_pairs(scores: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[Message]]:
    """The scores of the settings, (n_pairs,) each, with nan where one of them has none; what a reader should know.

    The best of several is one over the same pairs only: what one model leaves out is left out for all.
    """
    held = np.stack(scores) if scores else np.empty((0, 0))  # (n_settings, n_pairs)
    missing = np.isnan(held).any(axis=0)
    n_left_out = int((missing & ~np.isnan(held).all(axis=0)).sum())
    notices = (
        [
            Message(
                "Every setting is correlated over the same pairs; left out for all, because a model has no "
                "score of them: {n_left_out}.",
                n_left_out=count(n_left_out, "pair"),
            )
        ]
        if n_left_out
        else []
    )
    return [np.where(missing, np.nan, values) for values in held], notices


def fitting_idfs(models: Sequence[str], session: GatewaySession) -> tuple[str, ...]:
    """What needs no dictionary, and the paper's two where at least one model can use them."""

    def fits(idf: str, model: str) -> bool:
        try:
            dictionary_for(idf, session.describe(model).tokenizer_fingerprint, model, words=True)
        except InputError:
            return False
        return True

    return (*WITHOUT_DICTIONARY, *(idf for idf in IDFS if any(fits(idf, model) for model in models)))


def _checked(settings: Settings) -> list[Scoring]:
    """The scorings of the grid. Raises InputError for settings that cannot be."""
    require_models(settings.models)
    check(settings)
    for name, several in ((Message("idf dictionary"), settings.idfs), ("penalty", settings.penalties)):
        if not several or len(set(several)) < len(several):
            raise InputError(
                Message(
                    "Name at least one {name}, and each once; got {listed}.",
                    name=name,
                    listed=list_of(several) or Message("none"),
                )
            )
    return scorings(settings.scoring, settings.idfs, settings.penalties)


def _told(dataset: SentencePairs, notices: list[str]) -> tuple[str, ...]:
    """What is to be said, once; what the dataset says of each column of scores, `HumanGold.notices` sum up."""
    of_columns = set(human_scores.notices(dataset.human, dataset.rows))
    return tuple(notice for notice in dict.fromkeys([*dataset.notices, *notices]) if notice not in of_columns)


def _described(settings: Settings) -> dict[str, Any]:
    """The settings without the two choices of the shared scoring that the grid makes."""
    described = asdict(settings)
    described["scoring"] = {key: value for key, value in described["scoring"].items() if key not in ("idf", "penalty")}
    return described


def _misfits(settings: Settings, facts: dict[str, ModelFacts]) -> dict[tuple[str, str], Message]:
    """(model, dictionary) -> why they do not go together. Raises InputError for a dictionary that fits no model."""
    reasons = {}
    for idf in settings.idfs:
        if idf in WITHOUT_DICTIONARY:
            continue
        for model in settings.models:
            try:
                dictionary_for(idf, facts[model].tokenizer_fingerprint, model, words=True)
            except InputError as error:
                reasons[model, idf] = error.message
        if all((model, idf) in reasons for model in settings.models):
            raise InputError(reasons[settings.models[0], idf])
    return reasons
