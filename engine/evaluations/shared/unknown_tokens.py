"""How much of the texts is out of a model's vocabulary: tokens that stand for any text, and single bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.evaluations.shared.vectors.sentence_vectors import VectorRequest
from engine.evaluations.shared.vectors.vector_settings import PUBLISHED
from engine.inference.gateway import GatewaySession
from engine.language.quantities import count
from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts

NOTICED = 0.1  # the share of the tokens from which a reader is told
MOST = 0.5  # the share from which a score is of something else than the texts
TEXTS_PER_PIECE = 1000
_BYTE = re.compile(r"<0x[0-9A-Fa-f]{2}>")  # how SentencePiece falls back


@dataclass(frozen=True)
class UnknownTokens:
    """Tokens of the texts without special ones; of them the unknown ones, and the single bytes of a fallback."""

    n_tokens: int
    n_unknown: int
    n_bytes: int

    @property
    def unknown_share(self) -> float:
        """The share of the tokens that are unknown; nan without tokens."""
        return self.n_unknown / self.n_tokens if self.n_tokens else float("nan")

    @property
    def byte_share(self) -> float:
        """The share of the tokens that are single bytes; nan without tokens."""
        return self.n_bytes / self.n_tokens if self.n_tokens else float("nan")

    @property
    def are_most_unknown(self) -> bool:
        """Whether the model cannot see what most of its tokens stand for."""
        return self.unknown_share >= MOST


def unknown_tokens(
    all_facts: Sequence[ModelFacts],
    texts: Sequence[str],
    session: GatewaySession,
    requests: Mapping[str, VectorRequest] | None = None,
) -> list[UnknownTokens]:
    """Of each model; `requests`: how its vectors are made, which may be of lower-cased texts. Counts are cached."""
    counts = []
    for facts in all_facts:
        published = facts.published if requests and requests[facts.name].pooling == PUBLISHED else None
        read = [text.lower() for text in texts] if published is not None and published.lower_case else list(texts)
        occurrences: dict[str, int] = {}
        for piece in session.document_counts(
            facts.name, [read[start : start + TEXTS_PER_PIECE] for start in range(0, len(read), TEXTS_PER_PIECE)]
        ):
            for token, n in zip(piece["tokens"], piece["occurrences"].tolist(), strict=True):
                occurrences[token] = occurrences.get(token, 0) + n
        counts.append(
            UnknownTokens(
                sum(occurrences.values()),
                occurrences.get(facts.unknown_token, 0) if facts.unknown_token else 0,
                sum(n for token, n in occurrences.items() if _BYTE.fullmatch(token)),
            )
        )
    return counts


def unknown_share_notices(
    models: Sequence[str], counts: Sequence[UnknownTokens], *, are_ranked: bool = False
) -> list[Message]:
    """A notice for each model to which NOTICED of the tokens or more are unknown, or bytes of a fallback.

    are_ranked: whether a model without a rank is one to which most tokens are unknown.
    """
    notices = []
    for model, tokens in zip(models, counts, strict=True):
        if tokens.unknown_share >= NOTICED:
            notice = Message(
                "{model}: {unknown_share:.0%} of {n_tokens} are unknown: the model cannot see what they stand for.",
                model=model,
                unknown_share=tokens.unknown_share,
                n_tokens=count(tokens.n_tokens, "token"),
            )
            notices.append(
                Message("{notice} It has no rank, because its vectors are not of these texts.", notice=notice)
                if are_ranked and tokens.are_most_unknown
                else notice
            )
        if tokens.byte_share >= NOTICED:
            notices.append(
                Message(
                    "{model}: {byte_share:.0%} of {n_tokens} are single bytes of characters that are "
                    "not in the vocabulary.",
                    model=model,
                    byte_share=tokens.byte_share,
                    n_tokens=count(tokens.n_tokens, "token"),
                )
            )
    return notices
