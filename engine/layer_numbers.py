"""The number of a model's hidden state: 0 the embeddings, the model's n_layers the last, negative from the end."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import InputError
from engine.messages.message import Message


def layer_number(layer: int | None, n_layers: int) -> int:
    """The number of the hidden state that `layer` stands for: None and -1 the last; it may lie outside 0 to n_layers.

    >>> [layer_number(layer, 12) for layer in (None, 0, 12, -1, -13, 13)]
    [12, 0, 12, 12, 0, 13]
    """
    if layer is None:
        return n_layers
    return layer + n_layers + 1 if layer < 0 else layer


def resolve_layer(layer: int | None, n_layers: int, model: str) -> int:
    """`layer_number` of a layer that the model has. Raises InputError when it has no such layer.

    >>> resolve_layer(-2, 12, "m")
    11
    """
    number = layer_number(layer, n_layers)
    if not 0 <= number <= n_layers:
        raise InputError(
            Message(
                "{model} has layers 0 (embeddings) to {n_layers}, or -1 to -{deepest} from the end; got layer {layer}.",
                model=model,
                n_layers=n_layers,
                deepest=n_layers + 1,
                layer=layer,
            )
        )
    return number


def resolve_layers(layers: Sequence[int] | None, n_layers: int, model: str) -> list[int]:
    """Several layers by number from 0 (embeddings) to n_layers; None = the last. Raises InputError beyond them."""
    if layers is None:
        return [n_layers]
    if not layers:
        raise InputError(Message("No layer of {model} is requested; None means the last.", model=model))
    return [resolve_layer(int(layer), n_layers, model) for layer in layers]
