"""Names of models behind a server that the operator of an instance names: endpoint/NAME."""

from __future__ import annotations

from collections.abc import Iterable

from engine.errors import ModelError
from engine.messages.message import Message

ENDPOINT_PREFIX = "endpoint/"


def is_endpoint(name: str) -> bool:
    """Whether a model's name is that of an endpoint, one that exists or not.

    >>> is_endpoint("endpoint/llama"), is_endpoint("owner/endpoint")
    (True, False)
    """
    return name.startswith(ENDPOINT_PREFIX)


def needs_the_model(name: str) -> ModelError:
    """The error for what a server's probabilities are not enough for."""
    return ModelError(
        Message(
            "{name} is a model behind a server, which returns probabilities of texts and nothing "
            "else. It can be evaluated on minimal pairs alone; this needs the model itself: its "
            "Hugging Face id, or a directory.",
            name=name,
        )
    )


def only_with_pairs(name: str) -> ModelError:
    """The error for what the scores of sentences from a file are not enough for."""
    return ModelError(
        Message(
            "{name} stands for scores from a file, which are of the sentences of minimal pairs and of nothing else; this "
            "needs the model itself: its Hugging Face id, or a directory.",
            name=name,
        )
    )


def only_with_labels(name: str) -> ModelError:
    """The error for what the vectors of sentences from a file are not enough for."""
    return ModelError(
        Message(
            "{name} stands for vectors from a file, which are of labelled sentences (clusters, classification) and of "
            "nothing else; this needs the model itself: its Hugging Face id, or a directory.",
            name=name,
        )
    )


def unknown_endpoint(name: str, known: Iterable[str] = ()) -> ModelError:
    """The error for an endpoint that the operator has not named."""
    listed = ", ".join(known)
    return ModelError(
        Message(
            "There is no endpoint {name!r}. The operator of this instance has named {listed} (HAKARI_ENDPOINTS).",
            name=name,
            listed=listed or Message("none"),
        )
    )
