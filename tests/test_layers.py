"""Numbers of hidden states, counted from either end."""

from __future__ import annotations

import pytest

from engine.errors import InputError
from engine.layer_numbers import layer_number, resolve_layer, resolve_layers


def test_by_hand() -> None:
    # a model of 4 layers has 5 hidden states: -1 is 4, -5 is 0
    assert [resolve_layer(layer, 4, "m") for layer in (None, -1, 4, -5, 0, -2)] == [4, 4, 4, 0, 0, 3]


@pytest.mark.parametrize(("layer", "number"), [(5, 5), (-6, -1), (-100, -95)])
def test_a_layer_that_is_not_there_is_refused(layer: int, number: int) -> None:
    assert layer_number(layer, 4) == number
    with pytest.raises(InputError, match=rf"m has layers 0 \(embeddings\) to 4, or -1 to -5 .* got layer {layer}\."):
        resolve_layer(layer, 4, "m")


def test_layers_are_counted_from_either_end() -> None:
    assert resolve_layers([0, 4, -1, -5], 4, "m") == [0, 4, 4, 0]
    assert resolve_layers(None, 4, "m") == [4]
    for wrong, named in (([5], 5), ([-6], -6), ([0, 9], 9)):
        with pytest.raises(InputError, match=rf"0 \(embeddings\) to 4, or -1 to -5 from the end; got layer {named}"):
            resolve_layers(wrong, 4, "m")
    with pytest.raises(InputError, match=r"No layer of .* is requested"):
        resolve_layers([], 4, "m")
