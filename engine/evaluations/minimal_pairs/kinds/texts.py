"""Running text: how probable documents are to a model, by document, category and corpus."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from engine.datasets.minimal_pairs import kinds
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs.exact_decisions import SIDES
from engine.evaluations.minimal_pairs.kinds.analysis import Analysis, Asked, check_no_prompts
from engine.evaluations.minimal_pairs.kinds.pair_findings import Tables
from engine.evaluations.minimal_pairs.records import PairScoring, PairView, Result, Settings
from engine.evaluations.minimal_pairs.running_text import notices, tables
from engine.evaluations.shared.finding import (
    Contest,
    Standing,
    contrasts_of,
    finding_of,
    finding_parts,
    left_out_rows,
)
from engine.evaluations.shared.on_card import Headline
from engine.evaluations.shared.stored_table import in_memory
from engine.measures.cards.catalog import CARDS
from engine.messages.message import Message, list_of
from engine.precision import EXACT_DECISIONS

FILES = tables.FILES
APART = Message("Models that read a token from different sides are not compared.")
ON_CARDS = ("bits_per_byte", "perplexity")


def _check(settings: Settings, dataset: MinimalPairs) -> None:
    check_no_prompts(settings, dataset)
    if settings.precision == EXACT_DECISIONS:
        raise InputError(
            Message("Exact decisions are about the winner of a pair; running text has none. Choose another precision.")
        )
    of_pairs = [name for name in ("shared_tokens", "word_boundaries") if getattr(settings, name)]
    if of_pairs:
        raise InputError(
            Message(
                "Running text is scored by its tokens alone; these options are of sentences: {flags}. Leave them out.",
                flags=list_of(f"--{name.replace('_', '-')}" for name in of_pairs),
            )
        )


def _check_scores(dataset: MinimalPairs, _: PairScoring, normalizations: Sequence[str], __: Settings) -> None:
    if normalizations:
        raise InputError(
            Message(
                "{name} holds running text, which has perplexity and bits per byte and per character, without a score of "
                "the sentence. Leave --normalization out.",
                name=dataset.name,
            )
        )


def _tables(result: Result, asked: Asked) -> dict[str, pd.DataFrame]:
    tokens = in_memory(result.tokens)
    return {
        "documents": tables.documents(result),
        "corpus": tables.corpus(result, asked.shown.by),
        "corpus_comparisons": tables.comparisons(result),
        "corpus_checkpoints": tables.checkpoints(result, asked.shown.by),
        "tokens": tokens[(tokens["side"] == SIDES[0]).to_numpy()].reset_index(drop=True),  # it stands on both sides
        "excluded": result.excluded,
    }


def _headlines(result: Result, model: str) -> list[Headline]:
    """Bits per byte and perplexity over all documents; they are not compared item by item."""
    table = tables.corpus(result)
    (line,) = table[((table["model"] == model) & (table["category"] == "")).to_numpy()].to_dict("records")
    ends = {"bits_per_byte": ("ci_low", "ci_high"), "perplexity": ("perplexity_low", "perplexity_high")}
    return [
        Headline(
            name,
            line[name],
            line["n_documents"],
            "documents",
            line[ends[name][0]],
            line[ends[name][1]],
            better=CARDS[name].better,
            reason=line["reason"] if math.isnan(line[name]) else "",
            is_compared=False,
            # Perplexities over different tokens, and beside pseudo-perplexities, are in no order.
            is_ranked=name == "bits_per_byte",
        )
        for name in ON_CARDS
    ]


def _finding(result: Result, _: PairView | None = None, __: Tables | None = None) -> Message:
    """The models by bits per byte, tested over documents; those whose numbers say different things apart."""
    table = tables.corpus(result)
    lines = {line["model"]: line for line in table[(table["category"] == "").to_numpy()].to_dict("records")}
    contrasts, groups = contrasts_of(tables.comparisons(result), "p_holm"), tables.comparable_models(result)
    found = [
        finding_of(
            Contest(
                Message("bits per byte"),
                CARDS["bits_per_byte"].better,
                max(lines[model]["n_documents"] for model in models),
                "document",
                [
                    Standing(model, *(lines[model][name] for name in ("bits_per_byte", "ci_low", "ci_high")))
                    for model in models
                ],
                contrasts,
                is_share=False,
                digits=3,
            )
        )
        for models in groups
    ]
    sentences = [sentence for each in found for sentence in each.parts]
    return finding_parts([*sentences, *([APART] if len(groups) > 1 else [])], left_out_rows(result.excluded))


OF_TEXTS = Analysis(
    kinds.TEXTS,
    ("subset", "levels", "clustered_by", "region", "alpha", "unigrams", "folds"),
    Message("{name} holds running text, and these options do not apply to it: {flags}. Leave them out."),
    check=_check,
    check_scores=_check_scores,
    tables=_tables,
    notices=notices.of_texts,
    headlines=_headlines,
    finding=_finding,
)
