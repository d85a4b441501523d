"""The sentences of a dataset scored in templates, and what the tables of a result have of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs.exact_decisions import SIDES, Prompted, ScoredPairs, is_scored
from engine.evaluations.minimal_pairs.prompts.templates import IN_TEMPLATE, YES_NO, Template
from engine.evaluations.minimal_pairs.records import PROMPTED, Settings
from engine.inference.backend import Piece
from engine.inference.gateway import GatewaySession
from engine.measures.minimal_pairs.prompted import votes
from engine.messages.message import Message
from engine.models.sources.facts import NO_CHAT_TEMPLATE, ModelFacts
from engine.precision import EXACT_DECISIONS


def takes_prompts(facts: ModelFacts) -> bool:
    """Whether a model can be scored in templates: a causal one that is loaded here."""
    return facts.kind == "causal" and facts.is_loaded


def check_chat_templates(settings: Settings, all_facts: Sequence[ModelFacts]) -> None:
    """Raises InputError where a chat template is asked for and a model that takes prompts has none."""
    for facts in all_facts:
        if settings.chat_template and takes_prompts(facts) and not facts.chat_template:
            raise InputError(NO_CHAT_TEMPLATE.format(name=facts.name))


def with_prompts(
    scored: ScoredPairs,
    templates: Sequence[Template],
    settings: Settings,
    dataset: MinimalPairs,
    session: GatewaySession,
    facts: ModelFacts,
) -> ScoredPairs:
    """What was scored of a model with its scores in templates; as it is for a model that takes none.

    A sentence that cannot be scored in one of the templates is left out altogether, with its pair, so that all scores are
    over the same pairs. Exact decisions are about log-likelihoods; templates are then scored in float32.
    """
    if not templates or not takes_prompts(facts):
        return scored
    sentences, n = dataset.sentences, dataset.n
    precision = "fp32" if settings.precision == EXACT_DECISIONS else settings.precision
    values = np.full((len(templates), len(sentences)), np.nan)
    reasons: dict[int, Message] = {}
    for score in (IN_TEMPLATE, YES_NO):
        chat = settings.chat_template and score == YES_NO
        numbers = [number for number, template in enumerate(templates) if template.score == score]
        items = [
            templates[number].item(sentence, leading_space=settings.leading_space, chat=chat)
            for number in numbers
            for sentence in sentences
        ]
        if not items:
            continue
        pieces = session.continuation_log_likelihoods(
            facts.name, items, precision=precision, prefix=settings.prefix, chat=chat
        )
        for place, piece in enumerate(pieces):
            number, sentence = numbers[place // len(sentences)], place % len(sentences)
            if "excluded" in piece:
                reasons.setdefault(sentence, _in_template(number, piece))
            else:
                found = piece["log_likelihoods"]
                values[number, sentence] = found[0] if score == IN_TEMPLATE else found[0] - found[1]
    of_sides = np.stack([values[:, :n], values[:, -n:]], axis=1)  # a single sentence is both sides
    first, second = (
        [
            {**piece, "excluded": reasons[start + i]} if start + i in reasons and "excluded" not in piece else piece
            for i, piece in enumerate(pieces_of_side)
        ]
        for start, pieces_of_side in zip((0, len(sentences) - n), scored.by_side, strict=True)
    )
    return replace(scored, by_side=(first, second), prompted=Prompted(tuple(templates), of_sides))


def _in_template(number: int, piece: Piece) -> Message:
    return Message("in template {number}: {reason}", number=number + 1, reason=piece["excluded"])


def prompt_columns(scored: ScoredPairs, kept: np.ndarray, *, is_of_pairs: bool) -> dict[str, np.ndarray]:
    """The prompted scores of `Result.pairs`, float64 (n_kept,) by column, nan where there are none.

    Over several templates of a score its mean; votes where a row is a pair.
    """
    nothing = np.full(len(kept), np.nan)
    found = {name: (nothing, nothing) for name in ("in_template", "yes_no", "votes")}
    if scored.prompted is not None:
        values = scored.prompted.values[:, :, kept]
        for name, score in (("in_template", IN_TEMPLATE), ("yes_no", YES_NO)):
            chosen = [template.score == score for template in scored.prompted.templates]
            if any(chosen):
                found[name] = tuple(values[chosen].mean(axis=0))
        if is_of_pairs:
            found["votes"] = votes(values[:, 0], values[:, 1])
    return {
        f"{side}_{name}": of_side
        for name, of_sides in found.items()
        for side, of_side in zip(SIDES, of_sides, strict=True)
    }


def prompted_table(dataset: MinimalPairs, scored_by_model: Mapping[str, ScoredPairs]) -> pd.DataFrame:
    """The scores of each sentence in each template, a line for each pair; columns as in `Result.prompted`."""
    parts: list[dict[str, Any]] = []
    for model, scored in scored_by_model.items():
        if scored.prompted is None:
            continue
        kept = np.flatnonzero(is_scored(scored.by_side))
        parts += [
            {
                "model": model,
                "row": [dataset.rows[i] for i in kept],
                "item": kept,
                "template": number,
                "score": template.score,
                **dict(zip((f"{side}_score" for side in SIDES), of_template[:, kept], strict=True)),
            }
            for number, (template, of_template) in enumerate(
                zip(scored.prompted.templates, scored.prompted.values, strict=True), 1
            )
        ]
    if not parts:
        return PROMPTED.frame()
    return pd.concat([pd.DataFrame(part) for part in parts], ignore_index=True)[PROMPTED.headers].astype(
        {"model": "str", "score": "str"}
    )
