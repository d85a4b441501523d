"""Minimal pairs: does a model prefer the acceptable sentence, and how much of that is its length?

A causal model is scored by its log-likelihood, a masked one by a pseudo-log-likelihood, an encoder-decoder by the
log-likelihood of its decoder. The result
holds sums of token log-likelihoods; every normalisation is arithmetic on them afterwards (`pair_views`).
Paper: Ueda, Mita, Komachi, NLP 2024, sections 2-4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.text_column import Rows as TextRows
from engine.errors import InputError, ModelError
from engine.evaluations.minimal_pairs import notices as pair_notices
from engine.evaluations.minimal_pairs import tables as pair_tables
from engine.evaluations.minimal_pairs.exact_decisions import AS_SERVED, ExactUnder, ScoredPairs, score_pairs
from engine.evaluations.minimal_pairs.files import analysis_of
from engine.evaluations.minimal_pairs.outside.models import (
    AS_THE_FILE_SAYS,
    OutsideModel,
    has_tokens,
    outside_models,
    scored_pairs,
)
from engine.evaluations.minimal_pairs.outside.models import pair_table as outside_table
from engine.evaluations.minimal_pairs.prompts.scoring import (
    check_chat_templates,
    prompted_table,
    takes_prompts,
    with_prompts,
)
from engine.evaluations.minimal_pairs.prompts.templates import templates_of
from engine.evaluations.minimal_pairs.reading.layers import check_layers, layer_words, layers
from engine.evaluations.minimal_pairs.records import SHARED, THESE, Result, Settings
from engine.evaluations.minimal_pairs.regions import sentence_regions
from engine.evaluations.minimal_pairs.running_text.documents import document_table
from engine.evaluations.minimal_pairs.running_text.windows import check_no_windows, windows_of
from engine.evaluations.minimal_pairs.scoring_rules import (
    SEQ2SEQ,
    check_served,
    not_served,
    predicts_before_mask,
    prefix_conditions,
    scores_by_decoder,
    scoring_rule,
)
from engine.evaluations.minimal_pairs.unigrams import fits, log_probabilities, with_unigrams
from engine.evaluations.shared.control_tokens import control_token_notices
from engine.evaluations.shared.dictionaries import BUILT_IN
from engine.evaluations.shared.left_out import with_left_out
from engine.evaluations.shared.other_language import other_language_notices
from engine.evaluations.shared.signature import require_models, signature
from engine.inference.gateway import GatewaySession
from engine.inference.piece_columns import Pieces
from engine.language.quantities import count
from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts
from engine.models.tokenization.prefix_tokens import prefix_tokens
from engine.options import check
from engine.precision import EXACT_DECISIONS, resolved
from engine.processes.freed_memory import give_back_freed_memory


def evaluate(settings: Settings, dataset: MinimalPairs, session: GatewaySession) -> Result:
    """Score both sentences of every pair under every model of `settings`.

    A pair with a sentence that is too long for a model, or of which the model scores no token, is left out
    for that model and listed in `excluded`. Raises InputError for settings that cannot be and when
    no pair remains, and for single sentences of one judgement only; ModelError when a model cannot score sentences.
    """
    require_models(settings.models, endpoints=True)
    check(settings)
    if settings.encoder_text and settings.encoder_reads != "text":
        raise InputError(
            Message(
                "A text for the encoder is named, but it is given {reads}. Add --encoder-reads text, or leave the text out.",
                reads=settings.encoder_reads,
            )
        )
    if settings.encoder_reads == "text" and not settings.encoder_text:
        raise InputError(
            Message("No text for the encoder is named (--encoder-text). Name one, or let it be given nothing.")
        )
    templates = templates_of(settings)
    kind, analysis = dataset.data_kind, analysis_of(dataset.data_kind)
    analysis.check(settings, dataset)
    check_no_windows(settings, kind)
    outside = outside_models(settings, dataset, session)
    all_facts = [outside[model].facts if model in outside else session.describe(model) for model in settings.models]
    check_chat_templates(settings, all_facts)
    check_layers(settings, kind, all_facts)
    is_prompted = bool(templates) and any(map(takes_prompts, all_facts))
    scorings = {facts.name: _scoring(facts, settings) for facts in all_facts}
    windows = {facts.name: found for facts in all_facts if (found := windows_of(facts, settings, kind))}
    conditions, notices = prefix_conditions(settings, all_facts)
    items = pair_tables.item_table(dataset, settings.ratings)
    scored: dict[str, ScoredPairs] = {}
    shared = []
    for facts in all_facts:
        scored[facts.name] = (
            scored_pairs(outside[facts.name], dataset)
            if facts.name in outside
            else _scored(settings, dataset, session, facts, scorings[facts.name], windows.get(facts.name))
        )
        scored[facts.name] = with_prompts(scored[facts.name], templates, settings, dataset, session, facts)
        if settings.shared_tokens and facts.kind == "masked":
            shared.append(_shared(settings, dataset, session, facts))
        for condition in [condition for condition in conditions if condition.model == facts.name]:  # while it is loaded
            try:
                after = replace(settings, prefix=condition.prefix)
                scored[condition.facts.name] = with_prompts(
                    _scored(after, dataset, session, facts, scorings[facts.name], windows.get(facts.name)),
                    templates,
                    after,
                    dataset,
                    session,
                    facts,
                )
            except InputError as error:
                if not facts.endpoint:
                    raise
                notices.append(not_served(facts.name, condition.prefix, error))
    excluded = {model: pair_tables.excluded_table(model, dataset, of_model) for model, of_model in scored.items()}
    rows = count(dataset.n, kind.noun)
    for one in [one for one in conditions if dataset.n and len(excluded.get(one.facts.name, ())) == dataset.n]:
        del scored[one.facts.name]
        notices.append(
            Message(
                "{model} is not scored after the prefix {prefix}: it can score none of the {rows}.",
                model=one.model,
                prefix=one.prefix,
                rows=rows,
            )
        )
    conditions = [condition for condition in conditions if condition.facts.name in scored]
    scored = {facts.name: scored[facts.name] for facts in (*all_facts, *(one.facts for one in conditions))}
    as_scored = [*((facts, settings.prefix) for facts in all_facts), *((one.facts, one.prefix) for one in conditions)]
    prefixes = {facts.name: prefix_tokens(facts, prefix) for facts, prefix in as_scored if facts.kind == "causal"}
    # Of a masked model only where a first token may be left out of the score.
    n_before = {model: len(tokens) for model, tokens in prefixes.items()} | {
        facts.name: len(facts.opening)
        for facts in all_facts
        if facts.kind == "masked" and predicts_before_mask(facts, settings.predicted_at)
    }
    read_first = {model: " ".join(tokens) for model, tokens in prefixes.items()}
    named = {one.facts.name: one.prefix for one in conditions}
    of_condition = {one.facts.name: one.model for one in conditions}
    for model in scored:
        if len(excluded[model]) == dataset.n:
            table = excluded[model]
            raise InputError(
                Message(
                    "{model} can score none of the {rows}. The first, row {row}: {reason}",
                    model=model,
                    rows=rows,
                    row=table["row"].iloc[0],
                    reason=table["reason"].iloc[0],
                )
                if dataset.n
                else Message("{model} can score none of the {rows}.", model=model, rows=rows)
            )
    excluded_rows = pd.concat([excluded[model] for model in scored], ignore_index=True)
    tables, beyond = _tables(settings, dataset, scored, outside, n_before)
    scored.clear()
    give_back_freed_memory()
    result = Result(
        settings=settings,
        dataset_name=dataset.name,
        **tables,
        excluded=excluded_rows,
        items=items,
        shared=pd.concat([table for table, _ in shared], ignore_index=True) if shared else SHARED.frame(),
        rules={
            facts.name: scoring_rule(
                facts, settings, prefix, windows.get(of_condition.get(facts.name, facts.name)), is_text=kind.in_windows
            )
            for facts, prefix in as_scored
        },
        prefixes=read_first,
        conditions=named,
        tokenizers={facts.name: facts.tokenizer_fingerprint for facts, _ in as_scored if facts.tokenizer_fingerprint},
        format=dataset.format,
        right_to_left=dataset.right_to_left,
        signature=signature(settings, all_facts, dataset.own_hash, scoring=scorings, prefixes=read_first)
        | ({"conditions": named} if named else {})
        | ({"templates": [template.read(chat=settings.chat_template) for template in templates]} if is_prompted else {})
        | ({"windows": {model: list(of_model) for model, of_model in windows.items()}} if kind.in_windows else {}),
    )
    if settings.all_layers:
        result = replace(result, layers=layers(result))
    result = with_unigrams(result, THESE)
    give_back_freed_memory()
    loaded = [facts for facts in all_facts if facts.is_loaded]
    language = other_language_notices(loaded, dataset.acceptable)
    control = control_token_notices(loaded, dataset.rows, TextRows(dataset.acceptable, dataset.unacceptable), session)
    result_notices = analysis.notices(result, dataset, all_facts, [notice for _, left in shared for notice in left])
    return with_left_out(
        dataset, replace(result, notices=(*dataset.notices, *language, *control, *result_notices, *notices, *beyond))
    )


def _tables(
    settings: Settings,
    dataset: MinimalPairs,
    scored: dict[str, ScoredPairs],
    outside: Mapping[str, OutsideModel],
    n_before: Mapping[str, int],
) -> tuple[dict[str, Any], list[str]]:
    """The tables of `Result` that are made of pieces, by field, and how many tokens reach beyond their region.

    The pieces are used up: of millions of sentences there is no room for all of them beside the tables.
    """
    kind, words = dataset.data_kind, pair_tables.sentence_words(dataset)
    pairs = _joined(
        [
            outside_table(outside[model], dataset, of_model, words)
            if model in outside
            else pair_tables.pair_table(model, dataset, of_model, n_before.get(model), words)
            for model, of_model in scored.items()
        ]
    )
    tables = {
        "pairs": pairs,
        "precision": pair_tables.precision_table(scored),
        "prompted": prompted_table(dataset, scored),
        **({"documents": document_table(dataset, scored, pairs)} if kind.in_windows else {}),
        **({"layer_words": layer_words(dataset, scored)} if settings.all_layers else {}),
    }
    beyond = [
        notice
        for model, of_model in scored.items()
        for notice in pair_notices.beyond_regions(model, pair_tables.tokens_beyond_regions(dataset, of_model))
    ]
    regions = sentence_regions(dataset, words) if kind.n_sentences > 1 else {}
    del words
    give_back_freed_memory()
    with_tokens = {
        model: of_model for model, of_model in scored.items() if model not in outside or has_tokens(outside[model])
    }
    return {**tables, "tokens": pair_tables.token_table(dataset, with_tokens, regions)}, beyond


def _joined(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The tables one after the other; the only one is not copied."""
    return tables[0] if len(tables) == 1 else pd.concat(tables, ignore_index=True)


def _scored(
    settings: Settings,
    dataset: MinimalPairs,
    session: GatewaySession,
    facts: ModelFacts,
    scoring: str,
    windows: tuple[int, int] | None,
) -> ScoredPairs:
    # Not asked for where no space could mark how words begin.
    further = {"word_boundaries": True} if settings.word_boundaries and pair_tables.are_words_spaced(dataset) else {}
    further |= {"all_layers": True} if settings.all_layers else {}

    def ask(texts: Sequence[str], precision: str) -> Pieces:
        if windows is not None:
            return session.document_log_likelihoods(
                facts.name,
                texts,
                scoring=scoring,
                window=windows[0],
                stride=windows[1],
                window_prefix=settings.window_prefix,
                words=settings.words,
                precision=precision,
                prefix=settings.prefix,
                leading_space=settings.leading_space,
            )
        return session.token_log_likelihoods(
            facts.name,
            texts,
            scoring=scoring,
            words=settings.words,
            precision=precision,
            prefix=settings.prefix,
            leading_space=settings.leading_space,
            encoder_reads=settings.encoder_reads,
            encoder_text=settings.encoder_text,
            **further,
        )

    def unigrams(vocabulary: list[str], counts: np.ndarray) -> list[np.ndarray]:
        """Of all corpora that a page can offer for this model."""
        built_in = [name for name in BUILT_IN if fits(name, facts.tokenizer_fingerprint, facts.name)]
        return [
            log_probabilities(vocabulary, counts, choice, facts.tokenizer_fingerprint, facts.name)
            for choice in (THESE, *built_in)
        ]

    precision = AS_SERVED if facts.endpoint else settings.precision
    if precision not in (AS_SERVED, EXACT_DECISIONS):
        precision = resolved(precision, facts.dtype, facts.device)
    exact = ExactUnder(settings.exact_scores, settings.exact_alpha, unigrams)
    return score_pairs(dataset, ask, precision, seed=settings.seed, exact=exact)


def _shared(
    settings: Settings, dataset: MinimalPairs, session: GatewaySession, facts: ModelFacts
) -> tuple[pd.DataFrame, list[str]]:
    # Exact decisions are about whole sentences; here bfloat16 would save little and cost them.
    precision = "fp32" if settings.precision == EXACT_DECISIONS else settings.precision
    model = facts.name
    pieces = session.shared_token_log_likelihoods(
        model,
        list(zip(dataset.acceptable, dataset.unacceptable, strict=True)),
        precision=precision,
        next_token=predicts_before_mask(facts, settings.predicted_at),
    )
    table = pair_tables.shared_table(model, dataset, pieces)
    n_left = dataset.n - len(table)
    return table, [
        Message(
            "{model}: {n_left} of {n} pairs share no token, or are too long, and have no shared-token score.",
            model=model,
            n_left=n_left,
            n=dataset.n,
        )
    ] if n_left else []


def _scoring(facts: ModelFacts, settings: Settings) -> str:
    if facts.endpoint and settings.precision == "exact-decisions":
        raise InputError(
            Message(
                "{name} computes in the precision of its server, which cannot be asked for exact "
                "decisions. Choose another precision, which then holds for the other models.",
                name=facts.name,
            )
        )
    if facts.scores is not None:
        return AS_THE_FILE_SAYS
    check_served(facts, settings.prefix)
    if facts.kind == "causal":
        return "causal"
    if facts.kind == "masked" and facts.has_mask:
        return f"{'mntp' if predicts_before_mask(facts, settings.predicted_at) else 'pll'}-{settings.pll}"
    if scores_by_decoder(facts):
        return SEQ2SEQ
    if facts.kind == "masked":
        raise ModelError(
            Message(
                "The tokenizer of {name} ({tokenizer}) has no mask token, so no "
                "pseudo-log-likelihood can be taken. Give the model the tokenizer it was trained "
                "with.",
                name=facts.name,
                tokenizer=facts.tokenizer,
            )
        )
    raise ModelError(
        Message(
            "{name} ({architecture}) has no language-model head, so it gives no sentence a "
            "likelihood. Choose a causal or a masked language model, or an encoder-decoder with the head of its "
            "decoder.",
            name=facts.name,
            architecture=facts.architecture,
        )
    )
