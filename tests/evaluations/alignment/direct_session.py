"""A session that asks one loaded model in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.models.loading.weights import LoadedModel
from engine.models.scoring.encoder import token_similarities
from engine.models.sources.facts import ModelFacts
from engine.precision import resolved
from tests.support.precisions import in_precision


class DirectSession:
    """Stands in for `GatewaySession` where only token similarities are asked for."""

    def __init__(self, loaded: LoadedModel) -> None:
        self._loaded = loaded

    def describe(self, model: str) -> ModelFacts:
        """The facts of the model, whatever it is called."""
        return self._loaded.facts

    def token_similarities(
        self,
        model: str,
        pairs: Sequence[tuple[str, str]],
        *,
        layers: Sequence[int],
        precision: str = "fp32",
        within: object = None,
    ) -> list[dict[str, Any]]:
        """As `GatewaySession.token_similarities`."""
        facts = self._loaded.facts
        loaded = in_precision(self._loaded, resolved(precision, facts.dtype, facts.device))
        return token_similarities(loaded, pairs, layers=layers)
