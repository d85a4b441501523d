"""Fill-mask: how probable does a model find the word that was masked?

Masked sentences in; the probability of each word at its mask, means per domain and over all with intervals, and what
each model would have put there, out. Paper: Shibayama et al., PACLIC 34 (2020), section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.errors import InputError, ModelError
from engine.evaluations.fill_mask.records import (
    ALL,
    COMPARISONS,
    EXCLUDED,
    MODELS,
    NO_DOMAIN,
    Result,
    Settings,
)
from engine.evaluations.shared.control_tokens import control_token_notices
from engine.evaluations.shared.few_clusters import note_of
from engine.evaluations.shared.left_out import with_left_out
from engine.evaluations.shared.other_language import other_language_notices
from engine.evaluations.shared.signature import require_models, signature
from engine.evaluations.shared.unknown_tokens import unknown_share_notices, unknown_tokens
from engine.inference.gateway import GatewaySession
from engine.language.normalize import normalize
from engine.language.quantities import count
from engine.measures.mask_probability import mean_probabilities, probability_differences, word_probability
from engine.measures.statistics.clustered import FEW_CLUSTERS, FEWEST_CLUSTERS
from engine.measures.statistics.rank_groups import is_separable
from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts
from engine.options import check

TOO_FEW_WORDS, FEW_WORDS = Message("too few words"), Message("few words: a rough interval")
NO_SPREAD = Message("no spread between words")


def evaluate(settings: Settings, dataset: MaskedSentences, session: GatewaySession) -> Result:
    """Fill the mask of every sentence with every model of `settings`.

    A sentence that is too long for a model, or whose word its vocabulary cannot spell, is left out for that model and
    listed in `excluded`. Raises InputError for settings that cannot be and when a model can fill no sentence;
    ModelError for a model that fills no masks, before any is asked.
    """
    require_models(settings.models)
    check(settings)
    all_facts = [_fit(session.describe(model)) for model in settings.models]
    # Apart, so that the word stays where it is when a length changes.
    parts = [tuple(normalize(part, settings.normalize) for part in whole) for whole in dataset.parts]
    sentences = _sentences(dataset, parts)
    domains = sentences["domain"].tolist()
    items, pieces, predictions, excluded = [], [], [], []
    for model in settings.models:
        fillings = session.fill_masks(model, parts, top=settings.top, precision=settings.precision)
        kept = [i for i, piece in enumerate(fillings) if "excluded" not in piece]
        excluded += [
            (model, dataset.rows[i], dataset.labels[i], str(piece["excluded"]))
            for i, piece in enumerate(fillings)
            if "excluded" in piece
        ]
        if not kept:
            raise InputError(
                Message(
                    "{model} can fill none of the {n}. The first, row {row}: {reason}",
                    model=model,
                    n=count(dataset.n, "sentence"),
                    row=dataset.rows[0],
                    reason=excluded[-dataset.n][3],
                )
            )
        filled = [(dataset.rows[i], fillings[i]) for i in kept]
        items.append(_items(model, dataset, domains, kept, fillings))
        pieces.append(_pieces(model, filled))
        predictions.append(_predictions(model, filled))
    table = pd.concat(items, ignore_index=True)
    left_out = EXCLUDED.frame(excluded)
    shared = common_rows(table, settings.models)
    return with_left_out(
        dataset,
        Result(
            settings=settings,
            dataset_name=dataset.name,
            models=pd.concat(
                [_summary(table[table["model"] == model], (model,), domains, settings) for model in settings.models],
                ignore_index=True,
            ),
            common=_summary(table[table["row"].isin(shared)], settings.models, domains, settings),
            items=table,
            pieces=pd.concat(pieces, ignore_index=True),
            predictions=pd.concat(predictions, ignore_index=True),
            comparisons=_comparisons(table[table["row"].isin(shared)], settings),
            sentences=sentences,
            excluded=left_out,
            notices=(
                *dataset.notices,
                *other_language_notices(all_facts, map("".join, parts)),
                *control_token_notices(all_facts, dataset.rows, [("".join(whole),) for whole in parts], session),
                *unknown_share_notices(settings.models, unknown_tokens(all_facts, list(map("".join, parts)), session)),
                *_few_words(table[table["row"].isin(shared)]),
                *_notices(table, left_out, dataset.n, len(shared)),
            ),
            signature=signature(settings, all_facts, dataset.content_hash, mask_intervals="bootstrap-t"),
        ),
    )


def common_rows(items: pd.DataFrame, models: Sequence[str]) -> list[int]:
    """The rows that every model could fill, in order."""
    n_models = items.groupby("row")["model"].nunique()
    return n_models.index[n_models == len(models)].tolist()


def _fit(facts: ModelFacts) -> ModelFacts:
    if facts.kind != "masked":
        raise ModelError(
            Message(
                "{name} ({architecture}) fills no masks: it is no masked language model. Choose one "
                "that is, such as builtin/bert-mini-ja.",
                name=facts.name,
                architecture=facts.architecture,
            )
        )
    if not facts.has_mask:
        raise ModelError(
            Message(
                "The tokenizer of {name} ({tokenizer}) has no mask token, so nothing can be masked. "
                "Give the model the tokenizer it was trained with.",
                name=facts.name,
                tokenizer=facts.tokenizer,
            )
        )
    return facts


def _sentences(dataset: MaskedSentences, parts: Sequence[tuple[str, ...]]) -> pd.DataFrame:
    """The dataset with the parts as asked; "" and a domain with a reserved name get names that no other has."""
    renamed = {"": NO_DOMAIN if any(dataset.domains) else "", ALL: f"({ALL})"}
    frame = dataset.to_frame()[["row", "text", "label", "start", "domain"]].copy()
    frame["domain"] = [renamed.get(domain, domain) for domain in dataset.domains]
    for index, name in enumerate(("before", "asked", "after")):
        frame[name] = pd.Series([part[index] for part in parts], dtype="str")
    return frame


def _items(
    model: str, dataset: MaskedSentences, domains: Sequence[str], kept: Sequence[int], fillings: Sequence[Any]
) -> pd.DataFrame:
    sizes = [len(fillings[i]["ids"]) for i in kept]
    return pd.DataFrame(
        {
            "model": model,
            "row": [dataset.rows[i] for i in kept],
            "domain": [domains[i] for i in kept],
            "label": [dataset.labels[i] for i in kept],
            "probability": [word_probability(fillings[i]["log_likelihoods"]) for i in kept],
            # Several pieces have no rank: no one distribution holds the word.
            "rank": pd.array(
                [int(fillings[i]["ranks"][0]) if len(fillings[i]["ids"]) == 1 else None for i in kept], dtype="Int64"
            ),
            "n_pieces": sizes,
            "crossing": [bool(fillings[i]["crossing"]) for i in kept],
        }
    )


def _pieces(model: str, filled: Sequence[tuple[int, Any]]) -> pd.DataFrame:
    lengths = [len(piece["ids"]) for _, piece in filled]
    return pd.DataFrame(
        {
            "model": model,
            "row": np.repeat([row for row, _ in filled], lengths),
            "mask": np.concatenate([np.arange(1, n + 1) for n in lengths]),
            "token": [token for _, piece in filled for token in piece["tokens"]],
            "probability": np.exp(np.concatenate([piece["log_likelihoods"] for _, piece in filled]).astype(np.float64)),
            "rank": np.concatenate([piece["ranks"] for _, piece in filled]).astype(np.int64),
        }
    )


def _predictions(model: str, filled: Sequence[tuple[int, Any]]) -> pd.DataFrame:
    shapes = [piece["top_ids"].shape for _, piece in filled]
    return pd.DataFrame(
        {
            "model": model,
            "row": np.repeat([row for row, _ in filled], [n * top for n, top in shapes]),
            "mask": np.concatenate([np.repeat(np.arange(1, n + 1), top) for n, top in shapes]),
            "place": np.concatenate([np.tile(np.arange(1, top + 1), n) for n, top in shapes]),
            "token": [token for _, piece in filled for token in piece["top_tokens"]],
            "probability": np.exp(
                np.concatenate([piece["top_log_likelihoods"].ravel() for _, piece in filled]).astype(np.float64)
            ),
            "is_label": np.concatenate([(piece["top_ids"] == piece["ids"][:, None]).ravel() for _, piece in filled]),
        }
    )


def _summary(items: pd.DataFrame, models: Sequence[str], domains: Sequence[str], settings: Settings) -> pd.DataFrame:
    """Means per domain, then over all, of models that filled the same rows; no row where there is no sentence."""
    held = set(items["domain"])
    named = [domain for domain in dict.fromkeys(domains) if domain and domain in held]
    rows = []
    for domain in (*named, *([ALL] if len(items) else [])):
        part = items if domain == ALL else items[items["domain"] == domain]
        of_model = [part[part["model"] == model] for model in models]
        means = mean_probabilities(
            [model_items["probability"].to_numpy() for model_items in of_model],
            of_model[0]["label"].tolist(),
            of_model[0]["domain"].tolist(),
            resamples=settings.resamples,
            seed=settings.seed,
        )
        rows += [
            (
                model,
                domain,
                len(model_items),
                means.mean[i],
                means.low[i],
                means.high[i],
                int((model_items["n_pieces"] > 1).sum()),
                int(model_items["crossing"].sum()),
                means.n_clusters,
                _note(means.n_clusters, means.low[i]),
            )
            for i, (model, model_items) in enumerate(zip(models, of_model, strict=True))
        ]
    table = MODELS.frame(rows)
    return pd.concat([table[table["model"] == model] for model in models], ignore_index=True)


def _comparisons(items: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Each ordered pair of models over the sentences that all filled."""
    if not len(items) or len(settings.models) < 2:
        return COMPARISONS.frame([])
    of_model = [items[items["model"] == model] for model in settings.models]
    found = probability_differences(
        [model_items["probability"].to_numpy() for model_items in of_model],
        of_model[0]["label"].tolist(),
        of_model[0]["domain"].tolist(),
    )
    of_pair: dict[tuple[str, str], tuple[float, float, float]] = {}
    for pair, difference, low, high in zip(
        combinations(settings.models, 2), found.mean, found.low, found.high, strict=True
    ):
        of_pair[pair] = (difference, low, high)
        of_pair[pair[::-1]] = (-difference, -high, -low)
    return COMPARISONS.frame(
        [
            (
                *pair,
                *of_pair[pair],
                is_separable(*of_pair[pair]),
                found.n_clusters,
                _note(found.n_clusters, of_pair[pair][1]),
            )
            for pair in permutations(settings.models, 2)
        ]
    )


def _note(n_words: int, low: float) -> str:
    note = note_of(n_words, TOO_FEW_WORDS, FEW_WORDS)
    return NO_SPREAD if np.isnan(low) and note != TOO_FEW_WORDS else note


def _few_words(items: pd.DataFrame) -> list[str]:
    """What a reader must know of intervals over few words."""
    n = len(items[["domain", "label"]].drop_duplicates())
    if n >= FEW_CLUSTERS:
        return []
    return [
        Message(
            "The sentences are masked at {n}: fewer than {FEWEST_CLUSTERS} have no interval, and models are "
            "not compared.",
            n=count(n, "word"),
            FEWEST_CLUSTERS=FEWEST_CLUSTERS,
        )
        if n < FEWEST_CLUSTERS
        else Message(
            "The sentences are masked at {n}: with fewer than {FEW_CLUSTERS} intervals are rough.",
            n=count(n, "word"),
            FEW_CLUSTERS=FEW_CLUSTERS,
        )
    ]


def _notices(items: pd.DataFrame, excluded: pd.DataFrame, n: int, n_common: int) -> list[Message]:
    notices = [
        Message(
            "{model}: {left_out} of {n} sentences could not be filled and were left out.",
            model=model,
            left_out=left_out,
            n=n,
        )
        for model, left_out in excluded["model"].value_counts(sort=False).items()
    ]
    for model, of_model in items.groupby("model", sort=False):
        if several := int((of_model["n_pieces"] > 1).sum()):
            notices.append(
                Message(
                    "{model}: {several} of {of_model} words have several pieces, each with a mask of "
                    "its own; their probability is a product, and they have no rank.",
                    model=model,
                    several=several,
                    of_model=len(of_model),
                )
            )
        if crossing := int(of_model["crossing"].sum()):
            notices.append(
                Message(
                    "{model}: in {crossing} of {of_model} sentences a piece reaches beyond the word; "
                    "there the word is cut into pieces on its own.",
                    model=model,
                    crossing=crossing,
                    of_model=len(of_model),
                )
            )
    if n_common < items["row"].nunique():
        notices.append(
            Message(
                "Not every model could fill every sentence; {n_common} of {n} could be filled by all.",
                n_common=n_common,
                n=n,
            )
        )
    return notices
