"""Reading times by layer: the surprisal of each word by the logit lens, and what that of each layer explains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.kinds import DataKind
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs.exact_decisions import ScoredPairs, is_scored
from engine.evaluations.minimal_pairs.reading import times
from engine.evaluations.minimal_pairs.records import LAYER_WORDS, LAYERS, Result, Settings
from engine.evaluations.minimal_pairs.views import by_model
from engine.evaluations.shared.declared_tables import returns
from engine.evaluations.shared.stored_table import rows_where
from engine.measures.minimal_pairs.regions import tokens_by_region
from engine.measures.minimal_pairs.word_boundaries import boundary_terms
from engine.measures.reading_times import FOLDS, Gain
from engine.measures.statistics.clustered_means import clustered_means
from engine.measures.statistics.paired_tests import holm
from engine.messages.message import Message, list_of
from engine.models.sources.facts import ModelFacts
from engine.models.sources.names import shown_name


def check_layers(settings: Settings, kind: DataKind, all_facts: Sequence[ModelFacts]) -> None:
    """Raises InputError where layers are asked for of other data than reading times, or of a model that has no lens."""
    if not settings.all_layers:
        return
    if "all_layers" not in kind.further_settings:
        raise InputError(
            Message(
                "Layers are of words with reading times, and these are {holds}. Leave --all-layers out.",
                holds=kind.holds,
            )
        )
    others = [shown_name(facts.name) for facts in all_facts if facts.kind != "causal" or not facts.is_loaded]
    if others:
        raise InputError(
            Message(
                "{models}: the logit lens is of causal models that are loaded here, whose head reads the state before a "
                "token. A masked model, an encoder-decoder, a served one and scores from a file have none. Leave "
                "--all-layers out, or these models.",
                models=list_of(others),
            )
        )


def layer_words(dataset: MinimalPairs, scored_by_model: Mapping[str, ScoredPairs]) -> pd.DataFrame:
    """`Result.layer_words`: the surprisal of each word of each text at each layer, in bits, from the pieces of models."""
    assert dataset.data_kind.regions is not None
    placed = dataset.data_kind.regions(dataset.originals)
    parts = [LAYER_WORDS.frame()]
    for model, scored in scored_by_model.items():
        for place in np.flatnonzero(is_scored(scored.by_side)).tolist():
            piece = scored.by_side[0][place]
            words = tokens_by_region(dataset.acceptable[place], piece["spans"], placed[place])[0]
            parts.append(_of_text(model, dataset.rows[place], words, _values(piece)))
    return pd.concat(parts[1:] or parts, ignore_index=True)


def _values(piece: Mapping[str, Any]) -> np.ndarray:
    """Log-likelihoods of the tokens at every layer, with what boundaries add to them: float64 (|S|, n_layers + 1)."""
    values = np.asarray(piece["layer_log_likelihoods"], dtype=np.float64)
    if "layer_boundaries" not in piece:
        return values
    boundaries = np.asarray(piece["layer_boundaries"], dtype=np.float64)  # (|S| + 1, n_layers + 1)
    terms = [boundary_terms(of_layer[:-1], [of_layer[-1]], [len(values)])[0] for of_layer in boundaries.T]
    return values + np.stack(terms, axis=1)


def _of_text(model: str, row: int, words: np.ndarray, values: np.ndarray) -> pd.DataFrame:
    numbers, of_token = np.unique(words, return_inverse=True)
    summed = np.zeros((len(numbers), values.shape[1]))
    np.add.at(summed, of_token, -values / np.log(2))
    kept = numbers > 0
    n_words, n_layers = int(kept.sum()), values.shape[1]
    return pd.DataFrame(
        {
            "model": pd.Series([model] * (n_words * n_layers), dtype="str"),
            "row": np.full(n_words * n_layers, row, dtype=np.int64),
            "region": np.repeat(numbers[kept].astype(np.int16), n_layers),
            "layer": np.tile(np.arange(n_layers, dtype=np.int16), n_words),
            "surprisal": summed[kept].ravel(),
        }
    )


@returns(LAYERS)
def layers(result: Result, folds: int = FOLDS) -> pd.DataFrame:
    """What the surprisal of each layer explains of each column of times, beyond each baseline; no row without layers.

    As `times.gains`, with the surprisal of the word before from the same layer. folds: as there; those of a run are
    kept with it. `over_last` compares the layers over the same held-out words.
    """
    if folds == FOLDS and len(result.layers):
        return result.layers
    rows: list[dict[str, object]] = []
    for model, by_layer in _words_by_layer(result):
        measures = [str(name) for name in by_layer[0].columns if str(name).startswith(times.TIME)]
        for measure in measures:
            for baseline in times.BASELINES:
                found = [times.gain_of(own, measure, baseline, folds, result.settings.seed) for own in by_layer]
                items = _counted(by_layer[-1], measure, baseline)["item"].to_numpy(dtype=object)
                rows += [
                    {"model": model, "layer": layer, "measure": measure.removeprefix(times.TIME), "baseline": baseline}
                    | _numbers(own)
                    | against
                    for layer, (own, against) in enumerate(zip(found, _over_last(found, items), strict=True))
                ]
    return LAYERS.frame_of_records(rows)


def _words_by_layer(result: Result) -> Iterator[tuple[str, list[pd.DataFrame]]]:
    """Each model with its words at each layer, as `times.word_surprisals` has those of the last."""
    if not times.has_words(result) or not len(result.layer_words):
        return
    most = times.most_words(result) + 1
    for model, pairs in by_model(result):
        own = rows_where(result.layer_words, ["row", "region", "layer", "surprisal"], model=model)
        if not len(own):
            continue
        surprisals = np.full((int(own["layer"].max()) + 1, len(pairs), most), np.nan)
        lines = pd.Index(pairs["row"]).get_indexer(own["row"])
        surprisals[own["layer"].to_numpy(), lines, own["region"].to_numpy()] = own["surprisal"]
        # Once for all layers: in the place of its surprisal each word has the number of its cell; tokens are not counted.
        cells = np.arange(len(pairs) * most).reshape(-1, most)
        words = times.words_of_model(result, str(model), pairs, cells.astype(np.float64), np.zeros_like(cells))
        own_cells, before = words["surprisal"].to_numpy(dtype=np.int64), words["previous_surprisal"].to_numpy()
        before_cells, has_before = np.nan_to_num(before).astype(np.int64), ~np.isnan(before)
        yield (
            str(model),
            [
                words.assign(
                    surprisal=of_layer[own_cells],
                    previous_surprisal=np.where(has_before, of_layer[before_cells], np.nan),
                )
                for of_layer in surprisals.reshape(len(surprisals), -1)
            ],
        )


def _counted(own: pd.DataFrame, measure: str, baseline: str) -> pd.DataFrame:
    """The words that a gain is over: those with all numbers."""
    return own[own[[measure, "surprisal", *times.controls_of(own, baseline)]].notna().all(axis=1).to_numpy()]


def _numbers(found: Gain) -> dict[str, object]:
    return {
        "n": found.n,
        "n_items": found.n_items,
        "gain": found.delta,
        "gain_low": found.delta_interval[0],
        "gain_high": found.delta_interval[1],
        "share": found.share,
        "share_low": found.share_interval[0],
        "share_high": found.share_interval[1],
        "reason": found.reason,
    }


def _over_last(found: Sequence[Gain], items: np.ndarray) -> list[dict[str, object]]:
    """Of each layer what its gain is above the last layer's, over the same words; nan where either has none."""
    rows: list[dict[str, object]] = [
        dict.fromkeys(("over_last", "over_last_low", "over_last_high", "p_holm"), np.nan) for _ in found
    ]
    last = found[-1]
    places = [
        place for place, each in enumerate(found[:-1]) if len(each.changes) and len(each.changes) == len(last.changes)
    ]
    if not places:
        return rows
    means = clustered_means(np.stack([found[place].changes - last.changes for place in places]), items, by_t=True)
    # One without spread is equal to the last at every word.
    corrected = holm(np.nan_to_num(means.p_value, nan=1.0))
    for number, place in enumerate(places):
        p = corrected[number] if not np.isnan(means.p_value[number]) else np.nan
        rows[place] = {
            "over_last": means.mean[number],
            "over_last_low": means.low[number],
            "over_last_high": means.high[number],
            "p_holm": p,
        }
    return rows
