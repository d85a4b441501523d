"""The best matches of a pair as links, from the data of the alignment view. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.evaluations.alignment.token_table import SIDES


@dataclass(frozen=True)
class Link:
    """A link between a token of the reference and one of the candidate. chosen_by: the sides whose best match it is.

    depth: 0 at the median similarity of the pair, 1 at a similarity of 1. special: it leads to a special token. warm:
    the penalty lowers the score because of it.
    """

    reference: int
    candidate: int
    chosen_by: tuple[str, ...]
    depth: float
    special: bool
    warm: bool

    def end(self, side: str) -> int:
        """The index of the token on one side."""
        return self.reference if side == "reference" else self.candidate


def links_of(data: Mapping[str, Any]) -> list[Link]:
    """The links of `view.view_data`, as the page draws them: one for two tokens that choose each other."""
    by_ends: dict[tuple[int, int], Link] = {}
    for side in SIDES:
        for index, token in enumerate(data[side]):
            if token["special"] or token["match"] < 0:
                continue
            reference, candidate = (index, token["match"]) if side == "reference" else (token["match"], index)
            former = by_ends.get((reference, candidate))
            by_ends[reference, candidate] = Link(
                reference,
                candidate,
                (*(former.chosen_by if former else ()), side),
                former.depth if former else depth(data, token),
                bool(token["match_special"]),
                costs(data, token) or (former is not None and former.warm),
            )
    return list(by_ends.values())


def depth(data: Mapping[str, Any], token: Mapping[str, Any]) -> float:
    """How far the similarity of a token to its match is above the median of the pair: 0 there, 1 at a similarity of 1."""
    return float(min(1.0, max(0.0, ((token["similarity"] or 0.0) - data["ground"]) / (1 - data["ground"]))))


def costs(data: Mapping[str, Any], token: Mapping[str, Any]) -> bool:
    """Whether the penalty lowers the score because of a token."""
    return bool(token["counted"] and data["penalised"] and (token["agreement"] or 0.0) < 1)


def number_of(data: Mapping[str, Any], token: Mapping[str, Any]) -> str:
    """The number below a token: its similarity, or the agreement M of readings where the penalty uses it."""
    if token["special"] or token["similarity"] is None:
        return ""
    to_special = " ◦" if token["match_special"] else ""
    if token["counted"] and data["penalised"]:
        return f"M {_fixed(token['agreement'])}{to_special}"
    return f"{_fixed(token['similarity'])}{to_special}"


def _fixed(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
