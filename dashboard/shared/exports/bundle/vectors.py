"""What the methods paragraph says of sentence vectors: of each model how its own were made, from its signature. Pure.

`vectors` of a signature describes the request of each model (`VectorRequest.description`): a pooling, or how the
model was published; then the prompt and the number of dimensions, as they were resolved.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from dashboard.shared.exports.bundle.parts import Cited, Models, Names, Phrase, Statement
from engine.evaluations.shared.vectors.vector_settings import POOLINGS
from engine.models.sources.names import shown_name

_DESCRIPTION = re.compile(
    r"(?P<pooling>.*?)(?:, prompt (?P<prompt>'.*'|\".*\"))?(?:, (?P<n>\d+) dimensions)?", re.DOTALL
)
_PUBLISHED = re.compile(r"as published \((.*)\)", re.DOTALL)
PHRASES = {pooling.value: pooling.phrase for pooling in POOLINGS}
_CITED = Cited(("reimers2019sbert",))


class _Request(NamedTuple):
    """How the vectors of a model were made; "" for no prompt and for all dimensions."""

    pooling: str
    prompt: str
    n_dimensions: str


def layers(signature: Mapping[str, Any], models: Collection[str] | None = None) -> Names:
    """The layers of the models (None: of all), one where they all have it."""
    chosen = {model: layer for model, layer in signature.get("layers", {}).items() if models is None or model in models}
    numbers = tuple(dict.fromkeys(chosen.values()))
    return Names(
        tuple(map(str, numbers))
        if len(numbers) <= 1
        else tuple(f"{layer} ({shown_name(model)})" for model, layer in chosen.items())
    )


def vectors(
    signature: Mapping[str, Any], ordinary: str = "vectors", published: str = "published vectors"
) -> Iterator[Statement]:
    """How sentence vectors were made; a sentence for each way where models differ.

    ordinary, published: the sentence of a pooling, and that of what a model's files say.
    """
    requests = _requests(signature)
    for pooling, of_models in by_value({model: request.pooling for model, request in requests.items()}).items():
        parts = {"layer": layers(signature, of_models or None), "whom": Models(of_models)}
        if followed := _PUBLISHED.fullmatch(pooling):
            yield Statement(published, {"how": followed[1], "cite": _CITED, **parts})
        elif pooling in PHRASES:
            yield Statement(ordinary, {"pooling": Phrase(PHRASES[pooling]), **parts})
    for prompt, of_models in by_value({model: request.prompt for model, request in requests.items()}).items():
        yield from [Statement("prompt", {"prompt": prompt, "whom": Models(of_models)})] if prompt else []
    for n, of_models in by_value({model: request.n_dimensions for model, request in requests.items()}).items():
        yield from [Statement("truncated", {"n": n, "whom": Models(of_models)})] if n else []


def by_value(values: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The models of each value; none are named where all have the same.

    >>> by_value({"a": "cls", "b": "mean", "c": "cls"}), by_value({"a": "cls", "b": "cls"})
    ({'cls': ('a', 'c'), 'mean': ('b',)}, {'cls': ()})
    """
    distinct = dict.fromkeys(values.values())
    if len(distinct) == 1:
        return {value: () for value in distinct}
    return {value: tuple(model for model, own in values.items() if own == value) for value in distinct}


def _requests(signature: Mapping[str, Any]) -> dict[str, _Request]:
    """The request of each model; in the signature of an earlier version that of the settings."""
    settings = signature["settings"]
    described = signature.get("vectors")
    if described is None:
        return {
            str(model["name"]): _Request(str(settings.get("pooling", "")), "", "")
            for model in signature.get("models", ())
        }
    requests = {}
    for model, description in described.items():
        match = _DESCRIPTION.fullmatch(description)
        assert match is not None  # any text is a pooling
        requests[model] = _Request(match["pooling"], ast.literal_eval(match["prompt"] or "''"), match["n"] or "")
    return requests


def normalised(settings: Mapping[str, Any]) -> Iterator[Statement]:
    """How the texts were normalised first."""
    if settings.get("normalize"):
        yield Statement("normalised", {"steps": Names(tuple(settings["normalize"]))})
