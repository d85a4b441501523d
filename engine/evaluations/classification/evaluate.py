"""Classification check: can a small network tell the classes of labelled sentences from a model's vectors?

Sentences and labels in; each model's accuracy over several runs, with what is taken for what, out. Paper:
Shibayama et al., NLP 2020, section 5.2: hidden layers 200 wide, Adam, 20 epochs, 5 runs, the last 20% of each class
for the test. The paper's text does not say how many such layers (several; here two) nor the size of a batch (here 32).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.errors import InputError
from engine.evaluations.classification.records import (
    EXCLUDED,
    MOST_CLASSES,
    RUNS,
    Result,
    Settings,
)
from engine.evaluations.classification.tables import (
    Outcome,
    class_table,
    comparison_table,
    confusion_table,
    grouped,
    model_table,
    sentence_table,
)
from engine.evaluations.shared.control_tokens import control_token_notices
from engine.evaluations.shared.left_out import with_left_out
from engine.evaluations.shared.other_language import other_language_notices
from engine.evaluations.shared.signature import require_models, signature
from engine.evaluations.shared.unknown_tokens import unknown_share_notices, unknown_tokens
from engine.evaluations.shared.vectors.outside_vectors import outside_notices, with_vectors
from engine.evaluations.shared.vectors.sentence_vectors import (
    cut_notice,
    signed,
    vector_notices,
    vector_requests,
)
from engine.inference.gateway import GatewaySession
from engine.language.normalize import normalize
from engine.layer_numbers import resolve_layer
from engine.measures.classification import accuracy, stratified_split, tail_split
from engine.messages.message import Message, list_of
from engine.models.sources.facts import ModelFacts
from engine.options import check


def evaluate(settings: Settings, dataset: LabelledSentences, session: GatewaySession) -> Result:
    """Train and test a classifier on each model's vectors, `seeds` times.

    Every model is given the same sentences, and every run the same split for all models: a sentence that one of
    the models cannot read, and the only sentence of a class, are left out for all and listed in `excluded`. Raises
    InputError for settings that cannot be, and when fewer than two classes remain; ModelError from a model. The same
    vectors give the same accuracies; vectors that differ in their last digits (another machine, other batches) can move
    a run by a sentence or two, because training magnifies what it starts from.
    """
    require_models(settings.models, vectors=True)
    check(settings)
    session = with_vectors(session, settings.models, dataset)
    _without_lone_classes(dataset, list(range(dataset.n)))  # what no model can fix is reported before any model is run
    texts = [normalize(text, settings.normalize) for text in dataset.texts]
    all_facts = [session.describe(model) for model in settings.models]
    layers = {
        facts.name: 0 if facts.vectors else resolve_layer(settings.layer, facts.n_layers, facts.name)
        for facts in all_facts
    }
    requests = vector_requests(settings, all_facts)
    described = {model: request.description for model, request in requests.items()}
    vectors_by_model, excluded = {}, []
    cut: list[str] = []
    for model in settings.models:
        pieces = session.sentence_vectors(
            model, texts, layers=[layers[model]], precision=settings.precision, **requests[model].arguments
        )
        cut += cut_notice(model, pieces, dataset.rows)
        vectors_by_model[model] = [piece.get("vectors") for piece in pieces]
        excluded += [
            (model, dataset.rows[i], dataset.texts[i], str(piece["excluded"]))
            for i, piece in enumerate(pieces)
            if "excluded" in piece
        ]
    readable = [
        i for i in range(dataset.n) if all(model_vectors[i] is not None for model_vectors in vectors_by_model.values())
    ]
    kept, lone = _without_lone_classes(dataset, readable)
    excluded += [
        (
            model,
            dataset.rows[i],
            dataset.texts[i],
            Message(
                "the only sentence of its class {label!r}: it cannot be both trained on and tested",
                label=dataset.labels[i],
            ),
        )
        for model in settings.models
        for i in lone
    ]
    labels = [dataset.labels[i] for i in kept]
    splits = {settings.seed + run: _split(labels, settings, settings.seed + run) for run in range(settings.seeds)}

    classes = list(dict.fromkeys(labels))
    number = {label: i for i, label in enumerate(classes)}
    codes = np.array([number[label] for label in labels], dtype=np.int32)  # (n_kept,)
    outcomes = []
    for model, model_vectors in vectors_by_model.items():
        vectors = np.stack([np.asarray(model_vectors[i])[0] for i in kept])  # (n_kept, hidden)
        for run, (seed, test) in enumerate(splits.items(), start=1):
            piece = session.classify(
                vectors,
                codes.tolist(),
                test.tolist(),
                seed=seed,
                hidden=list(settings.hidden),
                epochs=settings.epochs,
                batch_size=settings.batch_size,
                standardize=settings.standardize,
                label=Message("Classifier {run} of {seeds}: {model}", run=run, seeds=settings.seeds, model=model),
            )
            outcomes.append(Outcome(model, seed, test, np.asarray(piece["predicted"]), float(piece["train_accuracy"])))

    runs = RUNS.frame(
        [
            (outcome.model, outcome.seed, accuracy(codes[outcome.test], outcome.predicted), outcome.train_accuracy)
            for outcome in outcomes
        ]
    )
    sentences = sentence_table(
        outcomes, codes, classes, [dataset.rows[i] for i in kept], [dataset.texts[i] for i in kept]
    )
    comparisons = comparison_table(outcomes, codes, settings.models)
    return with_left_out(
        dataset,
        Result(
            settings=settings,
            dataset_name=dataset.name,
            runs=runs,
            sentences=sentences,
            comparisons=comparisons,
            models=grouped(model_table(runs, labels, list(splits.values())), comparisons),
            confusion=confusion_table(outcomes, codes, classes),
            classes=class_table(outcomes, codes, classes),
            excluded=EXCLUDED.frame(excluded),
            notices=(
                *dataset.notices,
                *outside_notices(all_facts),
                *other_language_notices(all_facts, texts),
                *control_token_notices(all_facts, dataset.rows, [(text,) for text in texts], session),
                *unknown_share_notices(settings.models, unknown_tokens(all_facts, texts, session, requests)),
                *vector_notices(described),
                *cut,
                *_notices(dataset, readable, lone),
                *_repetition(list(splits.values()), [texts[i] for i in kept]),
            ),
            signature=_signature(
                settings,
                all_facts,
                dataset,
                {facts.name: layers[facts.name] for facts in all_facts if not facts.vectors},
                signed(requests),
            ),
        ),
    )


def _split(labels: list[str], settings: Settings, seed: int) -> np.ndarray:
    if settings.split == "tail":
        return tail_split(labels, settings.test_share)
    return stratified_split(labels, settings.test_share, seed=seed)


def _without_lone_classes(dataset: LabelledSentences, readable: list[int]) -> tuple[list[int], list[int]]:
    """The sentences of classes that have several, and the lone ones; InputError when fewer than 2 classes remain."""
    sizes = Counter(dataset.labels[i] for i in readable)
    kept = [i for i in readable if sizes[dataset.labels[i]] > 1]
    if len({dataset.labels[i] for i in kept}) < 2:
        class_sizes = ", ".join(f"{label!r} {n}" for label, n in sizes.most_common(20)) or Message("none")
        raise InputError(
            Message(
                "Classification needs 2 classes of at least 2 sentences that every chosen model can read, one to "
                "train on and one to test; there are {readable} such sentences of {n}, by class: "
                "{class_sizes}{sizes}. Add sentences, or leave out a model that reads only short ones.",
                readable=len(readable),
                n=dataset.n,
                class_sizes=class_sizes,
                sizes=", …" if len(sizes) > 20 else "",
            )
        )
    n_classes = len({dataset.labels[i] for i in kept})
    if n_classes > MOST_CLASSES:
        raise InputError(
            Message(
                "There are {n_classes:,} classes of at least 2 sentences; at most {MOST_CLASSES:,} "
                "are told apart. Is the column of labels the right one?",
                n_classes=n_classes,
                MOST_CLASSES=MOST_CLASSES,
            )
        )
    return kept, [i for i in readable if sizes[dataset.labels[i]] == 1]


def _notices(dataset: LabelledSentences, readable: list[int], lone: list[int]) -> list[Message]:
    notices = []
    if len(readable) < dataset.n:
        notices.append(
            Message(
                "{readable} of {n} sentences are beyond the length of a chosen model and were left out "
                "for all, so that all are given the same.",
                readable=dataset.n - len(readable),
                n=dataset.n,
            )
        )
    if lone:
        listed = list_of([*(repr(dataset.labels[i]) for i in lone[:10]), *(["…"] if len(lone) > 10 else [])])
        notices.append(
            Message("Classes of one sentence cannot be trained on and tested; left out: {listed}.", listed=listed)
        )
    return notices


def _repetition(splits: Sequence[np.ndarray], texts: list[str]) -> list[str]:
    """Said where a test sentence was trained on word for word: it tests memory, not meaning."""
    repeated = []
    for test in splits:
        trained = {text for text, is_test in zip(texts, test, strict=True) if not is_test}
        repeated.append(sum(bool(is_test) and text in trained for text, is_test in zip(texts, test, strict=True)))
    if not any(repeated):
        return []
    mean = np.mean(repeated)
    n_test = int(splits[0].sum())
    return [
        Message(
            "Of {n_test} test sentences {mean:.3g} are also among the training sentences, in the mean of the "
            "runs: they are easier than the rest.",
            n_test=n_test,
            mean=mean,
        )
        if len(set(repeated)) > 1
        else Message(
            "Of {n_test} test sentences {mean:.3g} are also among the training sentences: they are "
            "easier than the rest.",
            n_test=n_test,
            mean=mean,
        )
    ]


def _signature(
    settings: Settings,
    all_facts: list[ModelFacts],
    dataset: LabelledSentences,
    layers: dict[str, int],
    described: dict[str, str],
) -> dict[str, Any]:
    return signature(
        settings,
        all_facts,
        dataset.own_hash,
        libraries=("scikit-learn",),
        layers=layers,
        vectors=described,
        run_seeds=[settings.seed + run for run in range(settings.seeds)],
    )
