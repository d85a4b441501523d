"""The baseline that BERTScore is rescaled with: from random pairs of the run's sentences, or from a list."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from hashlib import sha256

import numpy as np
import pandas as pd

from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import InputError
from engine.evaluations.alignment.records import BASELINES, OWN_SENTENCES, Settings
from engine.evaluations.shared.declared_tables import returns
from engine.evaluations.shared.signature import FINGERPRINT_DIGITS
from engine.inference.gateway import GatewaySession
from engine.measures.bertscore import bertscore, best_matches
from engine.measures.rescaling import Baseline, baseline_of, rescaled
from engine.messages.message import Message, list_of, together
from engine.models.sources.facts import ModelFacts

# The columns of a baseline file of bert_score, and what ends a line of a list in one line.
LAYER = "LAYER"
COLUMNS = (LAYER, "P", "R", "F")
ENDS = ";"
SHOWN = 40  # characters of a text that is no list, in its error


@returns(BASELINES)
def baselines(
    settings: Settings,
    all_facts: Sequence[ModelFacts],
    layers: dict[str, tuple[int, ...]],
    dataset: SentencePairs,
    session: GatewaySession,
) -> pd.DataFrame:
    """The baseline of each model at each of its `layers`; empty where scores are not rescaled.

    No file is read: a page's settings may come from anybody. Raises InputError as `listed_baselines` and `random_pairs`
    do, and for the list of one model given to several.
    """
    if not settings.rescale:
        return BASELINES.frame()
    if settings.rescale != OWN_SENTENCES:
        if len(all_facts) > 1:
            raise InputError(
                Message(
                    "A list of baselines is of one model; got {all_facts} models. Evaluate one at a "
                    "time, or rescale with the run's own sentences.",
                    all_facts=len(all_facts),
                )
            )
        by_layer = listed_baselines(settings.rescale)
        name = all_facts[0].name
        if missing := [layer for layer in layers[name] if layer not in by_layer]:
            raise InputError(
                Message(
                    "The list has no baseline of layer {missing} of {name}; it has layers {by_layer}.",
                    missing=list_of(map(str, missing)),
                    name=name,
                    by_layer=list_of(map(str, sorted(by_layer))),
                )
            )
        return BASELINES.frame([_line(name, layer, by_layer[layer]) for layer in layers[name]])
    pairs = random_pairs(dataset, settings.rescale_pairs, settings.rescale_seed)
    return BASELINES.frame(
        [
            _line(facts.name, layer, baseline)
            for facts in all_facts
            for layer, baseline in _of_random_pairs(facts, layers[facts.name], pairs, settings.precision, session)
        ]
    )


def rescaling_described(settings: Settings) -> dict[str, str]:
    """What a signature says of the baseline, in the words of bert_score's hash; nothing where there is none."""
    if not settings.rescale:
        return {}
    if settings.rescale == OWN_SENTENCES:
        return {
            "rescaled": Message(
                "custom-rescaled, {rescale_pairs} random pairs of the run's sentences, seed {rescale_seed}",
                rescale_pairs=settings.rescale_pairs,
                rescale_seed=settings.rescale_seed,
            )
        }
    digest = sha256(in_one_line(settings.rescale).encode()).hexdigest()[:FINGERPRINT_DIGITS]
    return {"rescaled": Message("custom-rescaled, a list of baselines ({digest})", digest=digest)}


def random_pairs(dataset: SentencePairs, n: int, seed: int) -> list[tuple[str, str]]:
    """`n` references, each with the candidate of another row whose reference is another text, drawn with replacement.

    The same seed gives the same pairs. Raises InputError where the dataset has only one reference text.
    """
    texts = np.array(dataset.references, dtype=object)
    codes = np.unique(texts.astype(str), return_inverse=True)[1]
    if not len(codes) or codes.max() == 0:
        raise InputError(
            Message(
                "A baseline is made of references and the candidates of other rows, so it needs two "
                "rows with different references. Rescale with the file of a baseline instead."
            )
        )
    random = np.random.default_rng(seed)
    # The rows by reference: after those of one reference, in a circle, come all rows of the others.
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    ends = np.cumsum(counts)
    rows = random.integers(len(codes), size=n)
    steps = random.integers(len(codes) - counts[codes[rows]])
    others = order[(ends[codes[rows]] + steps) % len(codes)]
    return [(dataset.references[row], dataset.candidates[other]) for row, other in zip(rows, others, strict=True)]


def listed_baselines(text: str) -> dict[int, Baseline]:
    """The baselines of a list as text, by layer: a line LAYER,P,R,F, then such a line for each, as bert_score's files.

    Commas or tabs separate the values; semicolons may stand for the ends of lines. Raises InputError for what has no
    such first line, lacks a column or has no other line, and for lines that are no baseline, all of them listed.
    """
    lines = csv.DictReader(
        text.removeprefix("\ufeff").replace(ENDS, "\n").splitlines(), delimiter="\t" if "\t" in text else ","
    )
    missing = [name for name in COLUMNS if name not in (lines.fieldnames or ())]
    if missing:
        beginning = text[:SHOWN]
        raise InputError(
            Message(
                "{beginning!r} is no list of baselines: it lacks the column {missing}. The first "
                "line is LAYER,P,R,F, then follows one for each layer. A file of them is read by the "
                "command line alone: python -m engine alignment --rescale FILE.",
                beginning=beginning,
                missing=list_of(missing),
            )
        )
    found: dict[int, Baseline] = {}
    faults = []
    for number, line in enumerate(lines, start=2):
        try:
            layer = float(line[LAYER])
            precision, recall, f1 = (float(line[name]) for name in COLUMNS[1:])
            baseline = Baseline(precision, recall, f1)
            if (
                not layer.is_integer()
                or not all(math.isfinite(value) and value < 1 for value in (precision, recall, f1))
                or int(layer) in found
            ):
                raise ValueError
            found[int(layer)] = baseline
        except (TypeError, ValueError):
            faults.append(f"{number} ({', '.join(str(line[name]) for name in COLUMNS)})")
    if faults or not found:
        listed = together(", ", faults) or Message("it has no line")
        raise InputError(
            Message(
                "The list has lines that are no baseline: {listed}. A line has a layer that no other "
                "has, and three numbers below 1.",
                listed=listed,
            )
        )
    return found


def in_one_line(text: str) -> str:
    """A list of baselines as the one text that all of its spellings have. Raises as `listed_baselines`.

    >>> in_one_line("LAYER,P,R,F\\n0,0.10,0.2,0.3\\n1,0.4,0.5,0.45\\n")
    'LAYER,P,R,F;0,0.1,0.2,0.3;1,0.4,0.5,0.45'
    """
    return ENDS.join(
        [
            ",".join(COLUMNS),
            *(f"{layer},{one.precision!r},{one.recall!r},{one.f1!r}" for layer, one in listed_baselines(text).items()),
        ]
    )


def with_rescaled(pairs: pd.DataFrame, of_model: pd.DataFrame, layer: int) -> pd.DataFrame:
    """The scores of one model's pairs with the rescaled ones appended; as they are where the layer has no baseline."""
    at_layer = of_model[of_model["layer"] == layer]
    if at_layer.empty:
        return pairs
    baseline = at_layer.iloc[0]
    return pairs.assign(
        **{
            f"rescaled_{score}": rescaled(pairs[score], float(baseline[score]))
            for score in ("precision", "recall", "f1")
        }
    )


def _of_random_pairs(
    facts: ModelFacts, layers: Sequence[int], pairs: Sequence[tuple[str, str]], precision: str, session: GatewaySession
) -> list[tuple[int, Baseline]]:
    pieces = session.token_similarities(facts.name, pairs, layers=list(layers), precision=precision)
    known = [piece for piece in pieces if "excluded" not in piece]
    if not known:
        raise InputError(
            Message(
                "{name} can align none of the random pairs: {pieces}.", name=facts.name, pieces=pieces[0]["excluded"]
            )
        )
    sides = [
        (piece[f"{side}_tokens"], piece[f"{side}_special"]) for piece in known for side in ("reference", "candidate")
    ]
    lengths = [len(tokens) for tokens, _ in sides]
    special = np.concatenate([np.asarray(flags, dtype=bool) for _, flags in sides])
    # As bert_score weighs them for a baseline: without idf, and cls_token and sep_token without a weight.
    tokens = [token for of_sentence, _ in sides for token in of_sentence]
    weights = np.array([token not in facts.cls_and_sep for token in tokens], dtype=np.float64)
    found = []
    for index, layer in enumerate(layers):
        similarity = np.concatenate([np.asarray(piece["similarity"][index]).ravel() for piece in known])
        found.append((layer, baseline_of(bertscore(best_matches(similarity, lengths, special), lengths, weights))))
    return found


def _line(model: str, layer: int, baseline: Baseline) -> tuple[str, int, float, float, float, int, float, float, float]:
    return (
        model,
        layer,
        baseline.precision,
        baseline.recall,
        baseline.f1,
        baseline.n,
        baseline.precision_error,
        baseline.recall_error,
        baseline.f1_error,
    )
