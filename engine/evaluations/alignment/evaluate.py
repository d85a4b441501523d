"""Alignment: BERTScore for sentence pairs, token by token, with idf and a penalty by readings.

The model is asked once, for the similarity of every token of a pair to every other. Everything else is arithmetic on
that afterwards (`engine.evaluations.alignment.rescoring`). Papers: Zhang et al. (BERTScore, ICLR 2020) and the paper on
BERTScore for Japanese novel translation, sections 3 and 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.sentence_pairs import SentencePairs, reference_column
from engine.errors import InputError
from engine.evaluations.alignment.baseline import baselines, rescaling_described
from engine.evaluations.alignment.notices import unknown_token_notices
from engine.evaluations.alignment.records import (
    EXCLUDED,
    PAIRS,
    SHAPES,
    Result,
    Settings,
)
from engine.evaluations.alignment.scoring import check_scoring
from engine.evaluations.alignment.token_table import SIDES, Sentence, TokenTable
from engine.evaluations.shared.control_tokens import control_token_notices
from engine.evaluations.shared.dictionaries import dictionary_for
from engine.evaluations.shared.left_out import with_left_out
from engine.evaluations.shared.other_language import other_language_notices
from engine.evaluations.shared.signature import require_models, signature
from engine.inference.gateway import GatewaySession
from engine.language import words
from engine.language.quantities import count
from engine.language.readings import by_pykakasi
from engine.layer_numbers import resolve_layer
from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts
from engine.options import check

# Pairs that are asked for at a time; what a model says of them is packed before the next are.
PAIRS_AT_ONCE = 10_000
# Why a pair cannot be aligned, by the sides without a token.
EMPTY = {
    "": "",
    "reference": Message("the tokenizer makes no token of the reference"),
    "candidate": Message("the tokenizer makes no token of the candidate"),
    "referencecandidate": Message("the tokenizer makes no token of the reference and the candidate"),
}
# What the similarities of a run may take in memory, all models and layers together.
MAX_SIMILARITY_BYTES = 2 * 2**30


def evaluate(settings: Settings, dataset: SentencePairs, session: GatewaySession) -> Result:
    """Align every pair of `dataset`, with each of its references, under every model of `settings`.

    A pair with a sentence beyond a model's length is left out for that model and listed in `excluded`; so is a
    reference of several, while the others count. Raises InputError for settings that cannot be, for an idf
    dictionary of another tokenizer, when no pair remains, and when the similarities would take more than
    MAX_SIMILARITY_BYTES; ModelError from the model.
    """
    require_models(settings.models)
    check_scoring(settings.scoring)
    check(settings)
    all_facts = [session.describe(model) for model in settings.models]
    own_layers = {facts.name: resolve_layer(settings.layer, facts.n_layers, facts.name) for facts in all_facts}
    if settings.scoring.dictionary is not None:
        for facts in all_facts:  # said before the work, not after
            dictionary_for(settings.scoring.dictionary, facts.tokenizer_fingerprint, facts.name, words=True)
    alignments = _alignments(dataset)
    layers = {
        facts.name: tuple(range(facts.n_layers + 1)) if settings.all_layers else (own_layers[facts.name],)
        for facts in all_facts
    }
    rescaled_with = baselines(settings, all_facts, layers, dataset, session)
    parts: dict[str, _Packed] = {}
    used = 0
    for facts in all_facts:
        parts[facts.name] = _packed(facts, layers[facts.name], alignments, session, settings.precision, used)
        used += parts[facts.name].similarity.nbytes

    left_out = EXCLUDED.frame([row for part in parts.values() for row in part.excluded])
    result = Result(
        settings=settings,
        dataset_name=dataset.name,
        pairs=PAIRS.selected(dataset.to_frame()),
        tokens=_stacked([part.tokens for part in parts.values()]),
        shapes=pd.concat([part.shapes for part in parts.values()], ignore_index=True),
        similarity={model: part.similarity for model, part in parts.items()},
        template_tokens={facts.name: facts.template_tokens for facts in all_facts},
        cls_and_sep={facts.name: facts.cls_and_sep for facts in all_facts},
        unknown_tokens={facts.name: facts.unknown_token for facts in all_facts},
        layers={model: part.layers for model, part in parts.items()},
        n_layers={facts.name: facts.n_layers for facts in all_facts},
        baselines=rescaled_with,
        tokenizers={facts.name: facts.tokenizer_fingerprint for facts in all_facts},
        excluded=left_out,
        notices=(
            *dataset.notices,
            *other_language_notices(all_facts, (text for _, _, *texts in alignments for text in texts)),
            *control_token_notices(
                all_facts, [row for row, *_ in alignments], [texts for _, _, *texts in alignments], session
            ),
            *(
                Message(
                    "{model}: {n:,} of {alignments:,} pairs cannot be aligned and were left out.",
                    model=model,
                    n=n,
                    alignments=len(alignments),
                )
                for model, n in left_out["model"].value_counts(sort=False).items()
            ),
        ),
        signature=signature(
            settings,
            all_facts,
            dataset.content_hash,
            libraries=("rapidfuzz",),
            layers=own_layers,
            readings=f"{by_pykakasi.ENGINE_VERSION}; {words.ENGINE_VERSION}",
            **rescaling_described(settings),
        ),
    )
    return with_left_out(dataset, replace(result, notices=(*result.notices, *unknown_token_notices(result))))


@dataclass(frozen=True)
class _Packed:
    """What one model says of all alignments."""

    layers: tuple[int, ...]
    tokens: pd.DataFrame
    shapes: pd.DataFrame
    similarity: np.ndarray
    excluded: list[tuple[str, int, str]]


def _alignments(dataset: SentencePairs) -> list[tuple[int, int, str, str]]:
    """Row, number of the reference, reference and candidate; those of one row follow each other."""
    further = dataset.more_references or ((),) * dataset.n
    return [
        (row, number, reference, candidate)
        for row, first, more, candidate in zip(
            dataset.rows, dataset.references, further, dataset.candidates, strict=True
        )
        for number, reference in enumerate((first, *more), start=1)
    ]


def _packed(
    facts: ModelFacts,
    layers: tuple[int, ...],
    alignments: Sequence[tuple[int, int, str, str]],
    session: GatewaySession,
    precision: str,
    used: int,
) -> _Packed:
    table = TokenTable(facts.name)
    shapes: list[tuple[int, int, int, int]] = []
    blocks: list[np.ndarray] = []
    excluded: list[tuple[str, int, str]] = []
    n_bytes = 0
    for start in range(0, len(alignments), PAIRS_AT_ONCE):
        part = alignments[start : start + PAIRS_AT_ONCE]
        pieces = session.token_similarities(
            facts.name,
            [(reference, candidate) for *_, reference, candidate in part],
            layers=list(layers),
            precision=precision,
            within=(start, start + len(part), len(alignments)),
        )
        kept = []
        for (row, number, reference, candidate), piece in zip(part, pieces, strict=True):
            if reason := _unusable(piece):
                excluded.append(
                    (
                        facts.name,
                        row,
                        reason
                        if number == 1
                        else Message("{column}: {reason}", column=reference_column(number), reason=reason),
                    )
                )
                continue
            similarity = np.asarray(piece["similarity"], dtype=np.float32)  # (n_layers, n_reference, n_candidate)
            kept.append(similarity.reshape(len(layers), -1))
            shapes.append((row, number, *similarity.shape[1:]))
            for side, text, other in zip(SIDES, (reference, candidate), (candidate, reference), strict=True):
                table.add(
                    row,
                    number,
                    side,
                    Sentence(text, piece[f"{side}_tokens"], piece[f"{side}_special"], piece[f"{side}_spans"]),
                    other,
                )
        table.pack()
        if kept:
            blocks.append(np.concatenate(kept, axis=1))
            n_bytes += blocks[-1].nbytes
        _refuse_size(used, n_bytes, start + len(part), len(alignments), len(layers))
    if not shapes:
        raise InputError(
            Message(
                "{name} can align none of the {alignments}. The first, row {row}: {reason}",
                name=facts.name,
                alignments=count(len(alignments), "pair"),
                row=excluded[0][1],
                reason=excluded[0][2],
            )
        )
    shape_table = SHAPES.frame([(facts.name, *shape, 0) for shape in shapes])
    cells = (shape_table["n_reference"] * shape_table["n_candidate"]).to_numpy()
    return _Packed(
        layers,
        table.frame(),
        shape_table.assign(offset=np.cumsum(cells) - cells),
        np.concatenate(blocks, axis=1),
        excluded,
    )


def _unusable(piece: Mapping[str, Any]) -> str:
    """Why a pair cannot be aligned, "" where it can."""
    if "excluded" in piece:
        return str(piece["excluded"])
    empty = [side for side in SIDES if not len(piece[f"{side}_tokens"])]
    return EMPTY["".join(empty)]


def _refuse_size(used: int, n_bytes: int, done: int, total: int, n_layers: int) -> None:
    """Say that the similarities of all pairs will not fit as soon as those of some tell it."""
    expected = used + n_bytes / done * total
    if max(expected, used + n_bytes) > MAX_SIMILARITY_BYTES:
        advice = (
            Message("Evaluate one layer only, or fewer models")
            if n_layers > 1
            else Message("Evaluate one model at a time")
        )
        raise InputError(
            Message(
                "The similarities of {total:,} pairs would take about {expected:.1f} GiB; a run "
                "keeps at most {MAX_SIMILARITY_BYTES:.0f}. {advice}, or cut the file in parts.",
                total=total,
                expected=expected / 2**30,
                MAX_SIMILARITY_BYTES=MAX_SIMILARITY_BYTES / 2**30,
                advice=advice,
            )
        )


def _stacked(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables one below the other; texts stay categories, those of all tables together."""
    if len(tables) == 1:
        return tables[0]
    return pd.DataFrame(
        {
            name: pd.api.types.union_categoricals([table[name] for table in tables])
            if isinstance(tables[0][name].dtype, pd.CategoricalDtype)
            else np.concatenate([table[name].to_numpy() for table in tables])
            for name in tables[0].columns
        }
    )
