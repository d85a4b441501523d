"""Models whose scores come with the data: their facts, and their sentences as pieces, as a gateway gives them.

What a file says decides what a piece has: a sum alone, the number of scored tokens beside it, or the tokens with their
log-likelihoods. The tokens may also be those of a tokenizer that is named for it; then they have no log-likelihood.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.minimal_pairs.scores import UNKNOWN, OutsideScores, SideScores
from engine.datasets.outside_names import PREFIX, is_from_file
from engine.datasets.scores.lines import SAME, SAME_SHARE
from engine.errors import InputError
from engine.evaluations.minimal_pairs import tables as pair_tables
from engine.evaluations.minimal_pairs.exact_decisions import SIDES, ScoredPairs, is_scored
from engine.evaluations.minimal_pairs.outside.spellings import token_spans
from engine.evaluations.minimal_pairs.records import PAIRS, Settings
from engine.inference.endpoint.prompt_alignment import UNKNOWN_TOKENS
from engine.inference.gateway import GatewaySession
from engine.measures.minimal_pairs.acceptability import n_bytes
from engine.measures.minimal_pairs.normalizations import PROMPTED
from engine.messages.message import Message, list_of, named
from engine.models.sources.facts import FROM_FILE, ModelFacts, ScoreFacts, facts_of_file
from engine.models.sources.names import shown_name, without_label

Piece = dict[str, Any]

AS_THE_FILE_SAYS = named("file")  # the precision of scores that were computed elsewhere
NO_SCORE = Message("the file has no score of it")
SUMS, COUNTS, TOKENS, TOKENIZER = (
    named("sums"),
    named("numbers of tokens"),
    named("tokens"),
    named("tokens of a tokenizer"),
)


@dataclass(frozen=True, eq=False)
class OutsideModel:
    """A model with its facts, the scores of its sentences, and where a tokenizer is named the tokens that it makes."""

    facts: ModelFacts
    scores: OutsideScores
    tokenized: Mapping[str, Piece] | None = None


def outside_models(settings: Settings, dataset: MinimalPairs, session: GatewaySession) -> dict[str, OutsideModel]:
    """The models of the settings that were scored elsewhere, by name.

    Raises InputError for one without scores in the data, and for a tokenizer of a model that there is not or that needs
    none; ModelError where a tokenizer cannot be loaded.
    """
    wanted = [model for model in settings.models if is_from_file(without_label(model))]
    by_name = {scores.name: scores for scores in dataset.scores}
    missing = [model for model in wanted if model not in by_name]
    if missing:
        raise InputError(
            Message(
                "The data hold no scores of {missing}; they hold those of {known}. Give the file of scores (--scores).",
                missing=list_of(missing),
                known=list_of(by_name) or Message("no model"),
            )
        )
    without = [model for model in wanted if level_of(by_name[model]) != TOKENS]
    if without and dataset.data_kind.regions is not None:
        raise InputError(
            Message(
                "{name} holds {what}, whose surprisals are of a part of each sentence. These need the log-likelihood of each "
                "token, which the file of {without} does not have (tokens).",
                name=dataset.name,
                what=dataset.data_kind.holds,
                without=list_of(without),
            )
        )
    tokenizers = _tokenizers(settings, [by_name[model] for model in wanted])
    found = {}
    for model in wanted:
        scores, name = by_name[model], tokenizers.get(model, "")
        tokenized, fingerprint = None, ""
        if name:
            texts = list(dict.fromkeys(dataset.sentences))
            pieces, fingerprint = session.tokenized_alone(name, texts)
            tokenized = dict(zip(texts, pieces, strict=True))
        elif level_of(scores) == TOKENS:
            fingerprint = sha256(f"tokens of {scores.digest}".encode()).hexdigest()
        found[model] = OutsideModel(_facts(scores, name, fingerprint), scores, tokenized)
    return found


def level_of(scores: OutsideScores) -> str:
    """What a file says of every sentence that it has a score of: TOKENS, COUNTS, or SUMS alone."""
    known = [np.isfinite(side.log_likelihoods) for side in scores.sides]
    if all(
        side.tokens and all(text for text, has in zip(side.tokens, is_known, strict=True) if has)
        for side, is_known in zip(scores.sides, known, strict=True)
    ):
        return TOKENS
    counted = all((side.n_tokens[has] != UNKNOWN).all() for side, has in zip(scores.sides, known, strict=True))
    return COUNTS if counted else SUMS


def scored_pairs(model: OutsideModel, dataset: MinimalPairs) -> ScoredPairs:
    """The pieces of a model's sentences; one that the file has no score of is excluded."""
    sides = (dataset.acceptable, dataset.unacceptable)
    made: dict[tuple[str, str, float], Piece] = {}
    by_side = []
    for texts, scores in zip(sides, model.scores.sides, strict=True):
        tokens = scores.tokens or ("",) * len(texts)
        pieces = []
        for i, (text, total) in enumerate(zip(texts, scores.log_likelihoods.tolist(), strict=True)):
            known = made.get((text, tokens[i], total))
            if known is None:
                known = made[text, tokens[i], total] = _piece(model, text, total, int(scores.n_tokens[i]), tokens[i])
            pieces.append(known)
        by_side.append(pieces)
    n = dataset.n
    return ScoredPairs((by_side[0], by_side[1]), np.full(n, AS_THE_FILE_SAYS), np.full(n, np.nan), {})


def has_tokens(model: OutsideModel) -> bool:
    """Whether it is known which tokens a sentence has."""
    return model.facts.scores is not None and model.facts.scores.level in (TOKENS, TOKENIZER)


def pair_table(
    model: OutsideModel, dataset: MinimalPairs, scored: ScoredPairs, words: tuple[Sequence[Any], Sequence[Any]]
) -> pd.DataFrame:
    """One row for each pair with scores, as `tables.pair_table`; what needs tokens is missing where there are none."""
    name = model.scores.name
    if has_tokens(model):
        table = pair_tables.pair_table(name, dataset, scored, 0, words)
        kept = table["item"].to_numpy()
        # The sums of the file, which its tokens add up to.
        sums = {f"{side}_log_likelihood": of_side.log_likelihoods[kept] for side, of_side in _by_side(model.scores)}
        # As a file spells them two texts may have the same tokens, such as those of parts of characters: no tie.
        acceptable, unacceptable = sums.values()
        alike = np.isclose(acceptable, unacceptable, rtol=SAME_SHARE, atol=SAME)
        table = table.assign(**sums, identical=table["identical"].to_numpy() & alike)
        if not any((piece.get("spans", _NONE) < 0).any() for side in scored.by_side for piece in side):
            return table
        whole = np.array(
            [all(not (side[i]["spans"] < 0).any() for side in scored.by_side) for i in kept.tolist()], dtype=bool
        )  # (n_kept,)
        unknown = {
            column: table[column].astype("Int64").where(whole)
            for column in ("shared_words", "cut_words", "acceptable_parts", "unacceptable_parts")
        }
        return table.assign(**unknown)
    kept = np.flatnonzero(is_scored(scored.by_side))
    places = kept.tolist()
    texts = {
        side: [of_side[i] for i in places]
        for side, of_side in zip(SIDES, (dataset.acceptable, dataset.unacceptable), strict=True)
    }
    columns: dict[str, Any] = {
        "model": name,
        "row": [dataset.rows[i] for i in places],
        "category": [dataset.categories[i] for i in places],
        **texts,
        **{f"{side}_tokens": _counts(of_side.n_tokens[kept], model) for side, of_side in _by_side(model.scores)},
        **{f"{side}_log_likelihood": of_side.log_likelihoods[kept] for side, of_side in _by_side(model.scores)},
        "identical": np.array([first == second for first, second in zip(*texts.values(), strict=True)], dtype=bool),
        **{f"{side}_characters": [len(text) for text in of_side] for side, of_side in texts.items()},
        "scored_in": scored.scored_in[kept],
        "error_bound": scored.bounds[kept],
        "item": kept.astype(np.int64),
        **{f"{side}_bytes": [n_bytes(text) for text in of_side] for side, of_side in texts.items()},
    }
    table = pd.DataFrame(columns).astype({text: "str" for text in ("model", "category", *SIDES, "scored_in")})
    return table.assign(**{column: PAIRS[column].missing(table.index) for column in _OF_TOKENS})


_NONE = np.zeros((0, 2), dtype=np.int32)
# In the order of `records.PAIRS`: what is known of tokens alone.
_OF_TOKENS = (
    *(f"{side}_unknown" for side in SIDES),
    "first_token_differs",
    "shared_words",
    "cut_words",
    *(f"{side}_{name}" for name in ("parts", "boundaries", "words", *PROMPTED) for side in SIDES),
)


def _by_side(scores: OutsideScores) -> list[tuple[str, SideScores]]:
    return list(zip(SIDES, scores.sides, strict=True))


def _counts(n_tokens: np.ndarray, model: OutsideModel) -> Any:
    if model.facts.scores is not None and model.facts.scores.level == COUNTS:
        return n_tokens.astype(np.int64)
    return pd.array([pd.NA] * len(n_tokens), dtype="Int64")


def _tokenizers(settings: Settings, models: Sequence[OutsideScores]) -> dict[str, str]:
    """The tokenizer of each model, by its name; one that is named without a model is that of all that need one."""
    found: dict[str, str] = {}
    labels = {label: scores for scores in models for label in (shown_name(scores.name), _bare(scores.name))}
    for given in settings.tokenizer:
        label, equals, rest = given.partition("=")
        named_model = labels.get(label) if equals else None
        if named_model is None and equals and "/" not in label:
            raise InputError(
                Message(
                    "The tokenizer {given!r} is for {label!r}, but there are scores of {models}.",
                    given=given,
                    label=label,
                    models=list_of(_bare(scores.name) for scores in models) or Message("no model"),
                )
            )
        found |= {
            scores.name: rest if named_model is not None else given
            for scores in models
            if (scores is named_model if named_model is not None else scores.name not in found)
            and level_of(scores) != TOKENS
        }
    return found


def _bare(name: str) -> str:
    return without_label(name).removeprefix(PREFIX)


def _facts(scores: OutsideScores, tokenizer: str, fingerprint: str) -> ModelFacts:
    level = TOKENIZER if tokenizer else level_of(scores)
    return facts_of_file(
        scores.name,
        FROM_FILE,
        Message("scores from a file"),
        scores.digest,
        tokenizer_fingerprint=fingerprint,
        tokenizer=tokenizer,
        scores=ScoreFacts(scores.file, scores.digest, scores.form, level, tokenizer),
    )


def _piece(model: OutsideModel, text: str, total: float, n_tokens: int, tokens: str) -> Piece:
    if not np.isfinite(total):
        return {"excluded": NO_SCORE, "n_tokens": 0}
    if model.tokenized is not None:
        return _of_tokenizer(model.tokenized[text])
    if not tokens or not has_tokens(model):
        return {"n_tokens": n_tokens}
    listed = json.loads(tokens)
    names = [token for token, _ in listed]
    n_before = next(i for i, (_, value) in enumerate(listed) if value is not None)
    spans = token_spans(names, n_before, text)
    if spans is None:
        spans = np.full((len(names), 2), -1, dtype=np.int32)
    scored = [i for i, (_, value) in enumerate(listed) if value is not None]
    ids = np.array([_identity(token) for token in names], dtype=np.int32)
    return {
        "tokens": [names[i] for i in scored],
        "ids": ids[scored],
        "spans": spans[scored],
        "log_likelihoods": np.array([listed[i][1] for i in scored], dtype=np.float32),
        "read_ids": ids,
        "n_unknown": sum(names[i] in UNKNOWN_TOKENS for i in scored),
    }


def _of_tokenizer(piece: Piece) -> Piece:
    """The tokens of a text that a tokenizer makes, without log-likelihoods."""
    kept = np.flatnonzero(~piece["special"])
    if not len(kept):
        return {"excluded": Message("It has no token to score."), "n_tokens": 0}
    return {
        "tokens": [piece["tokens"][i] for i in kept],
        "ids": piece["ids"][kept],
        "spans": piece["spans"][kept],
        "log_likelihoods": np.full(len(kept), np.nan, dtype=np.float32),
        "read_ids": piece["ids"][kept],
        "n_unknown": int(piece["unknown"][kept].sum()),
    }


def _identity(token: str) -> int:
    return crc32(token.encode("utf-8", "surrogatepass")) & 0x7FFFFFFF
