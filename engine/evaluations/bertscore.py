"""Alignment: BERTScore for sentence pairs, token by token, with idf and a penalty by readings.

The model is asked once, for the similarity of every token of a pair to every other. idf, threshold and
penalty are arithmetic on that afterwards (`rescore`). Papers: Zhang et al. (BERTScore, ICLR 2020) and the
paper on BERTScore for Japanese novel translation, sections 3 and 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import InputError
from engine.evaluations.dictionaries import dictionary_for, reference_dictionary
from engine.evaluations.pair_scores import PairTokens, score_pairs
from engine.evaluations.signature import require_models, resolve_layer, signature
from engine.inference.gateway import GatewaySession
from engine.language.readings import ENGINE_VERSION, reading
from engine.measures.idf import IdfDictionary
from engine.measures.matching import best_matches

SIDES = ("reference", "candidate")
PENALTIES = ("none", "reading")
PAIRINGS = ("token", "joined")
PRECISIONS = ("fp32", "bf16")


@dataclass(frozen=True)
class Scoring:
    """The choices that never touch the model.

    idf: "none", "references", a built-in dictionary ("novel", "wiki") or the path of one.
    threshold: share of the dictionary's entries that is not low-frequency (the paper's 70 %).
    """

    idf: str = "none"
    threshold: float = 0.7
    penalty: str = "none"
    pairing: str = "token"
    match_special: bool = True


@dataclass(frozen=True)
class Settings:
    """What to align and how; `layer` None is the last. `scoring` is what the result is first shown with."""

    models: tuple[str, ...]
    layer: int | None = None
    precision: str = "fp32"
    scoring: Scoring = field(default_factory=Scoring)


@dataclass(frozen=True)
class Result:
    """Similarities of every pair under every model; `rescore` makes numbers of them.

    pairs: row, reference, candidate, category, human. tokens: model, row, side, position, token, surface,
    start, end, special, reading, match_position, similarity, word_match_position, word_similarity (the last
    two where special tokens of the other side are no match). shapes: model, row, n_reference,
    n_candidate, offset into `similarity[model]`, a flat float32 array of (n_reference, n_candidate) blocks.
    dictionaries: what each idf choice stood for when the run was made. excluded: model, row, reason.
    """

    settings: Settings
    dataset_name: str
    pairs: pd.DataFrame
    tokens: pd.DataFrame
    shapes: pd.DataFrame
    similarity: dict[str, np.ndarray]
    tokenizers: dict[str, str]
    excluded: pd.DataFrame
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scores:
    """What a scoring makes of a result.

    pairs: model, row, precision, recall, f1, precision_penalty, recall_penalty, penalized_precision,
    penalized_recall, penalized_f1. tokens: model, row, side, position, token, reading, idf, low_frequency,
    match_position, match_token, similarity, reading_distance, agreement, and then surface, start, end, special,
    match_reading, weight (share of the side's score). thresholds: model -> idf above which a token is low-frequency.
    """

    scoring: Scoring
    pairs: pd.DataFrame
    tokens: pd.DataFrame
    thresholds: dict[str, float]
    notices: tuple[str, ...] = ()


def evaluate(settings: Settings, dataset: SentencePairs, session: GatewaySession) -> Result:
    """Align every pair of `dataset` under every model of `settings`.

    A pair with a sentence beyond a model's length is left out for that model and listed in `excluded`.
    Raises InputError for settings that cannot be, for an idf dictionary of another tokenizer, and
    when no pair remains; ModelError from the model.
    """
    require_models(settings.models)
    check_scoring(settings.scoring)
    if settings.precision not in PRECISIONS:
        raise InputError(f"precision is one of {', '.join(PRECISIONS)}; got {settings.precision!r}.")
    items = list(zip(dataset.references, dataset.candidates, strict=True))
    all_facts, layers, tokens, shapes, similarity, excluded = [], {}, [], [], {}, []
    for model in settings.models:
        facts = session.describe(model)
        layers[model] = layer = resolve_layer(settings.layer, facts)
        all_facts.append(facts)
        if settings.scoring.idf not in ("none", "references"):
            dictionary_for(settings.scoring.idf, facts.tokenizer_fingerprint, model)  # said before the work, not after
        pieces = session.token_similarities(model, items, layers=[layer], precision=settings.precision)
        reasons = [_unusable(piece) for piece in pieces]
        kept = [i for i, reason in enumerate(reasons) if not reason]
        excluded += [(model, dataset.rows[i], reason) for i, reason in enumerate(reasons) if reason]
        if not kept:
            raise InputError(f"{model} can align none of the {dataset.n} pairs; the first: row {dataset.rows[0]}, "
                             f"{reasons[0]}.")
        rows = [dataset.rows[i] for i in kept]
        pairs = [_Aligned(pieces[i], *items[i]) for i in kept]
        tokens.append(_token_table(model, rows, pairs))
        shapes.append(_shape_table(model, rows, pairs))
        similarity[model] = np.concatenate([pair.similarity.ravel() for pair in pairs])

    left_out = pd.DataFrame(excluded, columns=["model", "row", "reason"])
    return Result(
        settings=settings, dataset_name=dataset.name,
        pairs=pd.DataFrame({"row": dataset.rows, "reference": dataset.references, "candidate": dataset.candidates,
                            "category": dataset.categories, "human": dataset.human}),
        tokens=pd.concat(tokens, ignore_index=True), shapes=pd.concat(shapes, ignore_index=True),
        similarity=similarity, tokenizers={facts.name: facts.tokenizer_fingerprint for facts in all_facts},
        excluded=left_out,
        notices=(*dataset.notices, *(f"{model}: {n} of {dataset.n} pairs are beyond its length and were left out."
                                     for model, n in left_out["model"].value_counts(sort=False).items())),
        signature=signature(settings, all_facts, dataset.content_hash, libraries=("rapidfuzz", "unidic-lite"),
                            layers=layers, readings=ENGINE_VERSION),
    )


def check_scoring(scoring: Scoring) -> None:
    """Raise InputError when a choice is none of the possible, or two do not go together."""
    for name, given, allowed in (("penalty", scoring.penalty, PENALTIES), ("pairing", scoring.pairing, PAIRINGS)):
        if given not in allowed:
            raise InputError(f"{name} is one of {', '.join(allowed)}; got {given!r}.")
    if not 0 <= scoring.threshold <= 1:
        raise InputError(f"The threshold is a share between 0 and 1; got {scoring.threshold}.")
    if scoring.penalty == "reading" and scoring.idf == "none":
        raise InputError("The penalty concerns low-frequency tokens, and which those are is told by an idf dictionary: "
                         "choose idf 'references', 'novel', 'wiki' or a dictionary of your own.")


def rescore(result: Result, scoring: Scoring) -> Scores:
    """P, R and F1 of every pair, plain and penalised, under `scoring`; no model is asked.

    Raises InputError when the choices do not go together or a dictionary belongs to another tokenizer.
    """
    check_scoring(scoring)
    pair_tables, token_tables, thresholds, notices = [], [], {}, []
    for model, tokens in _tokens_by_model(result).items():
        dictionary = _dictionary(scoring, tokens, result.tokenizers[model], model)
        threshold = dictionary.threshold(scoring.threshold) if dictionary else np.nan
        pairs, explained = score_pairs(
            tokens, dictionary, threshold, penalised=scoring.penalty == "reading", joined=scoring.pairing == "joined",
            match_special=scoring.match_special,
        )
        thresholds[model] = float(threshold)
        undefined = int(pairs["f1"].isna().sum())
        if undefined:
            notices.append(f"{model}: {undefined} pairs have no score, because a sentence has no token with a weight "
                           "above 0 or nothing to match.")
        pair_tables.append(pairs)
        token_tables.append(explained)
    return Scores(scoring, pd.concat(pair_tables, ignore_index=True), pd.concat(token_tables, ignore_index=True),
                  thresholds, tuple(notices))


def matrix(result: Result, model: str, row: int) -> np.ndarray:
    """The cosine similarities of one pair, float32 (n_reference_tokens, n_candidate_tokens).

    Raises InputError when the run holds no such pair.
    """
    found = result.shapes[(result.shapes["model"] == model) & (result.shapes["row"] == row)]
    if found.empty:
        raise InputError(f"The run holds no pair in row {row} under {model}.")
    n_reference, n_candidate, offset = (int(found.iloc[0][name]) for name in ("n_reference", "n_candidate", "offset"))
    block = result.similarity[model][offset:offset + n_reference * n_candidate]
    return block.reshape(n_reference, n_candidate)  # (n_reference, n_candidate)


def _unusable(piece: Mapping[str, Any]) -> str:
    """Why a pair cannot be aligned, "" where it can."""
    if "excluded" in piece:
        return str(piece["excluded"])
    empty = [side for side in SIDES if not len(piece[f"{side}_tokens"])]
    return f"the tokenizer makes no token of the {' and the '.join(empty)}" if empty else ""


class _Aligned:
    """One pair as the model returned it, with the best matches of both sides."""

    def __init__(self, piece: Mapping[str, Any], reference: str, candidate: str) -> None:
        self.similarity: np.ndarray = np.asarray(piece["similarity"])[0]  # (n_reference, n_candidate)
        self.texts = {"reference": reference.strip(), "candidate": candidate.strip()}
        self.tokens = {side: list(piece[f"{side}_tokens"]) for side in SIDES}
        self.special = {side: np.asarray(piece[f"{side}_special"], dtype=bool) for side in SIDES}
        self.spans = {side: np.asarray(piece[f"{side}_spans"]) for side in SIDES}
        special = (self.special["reference"], self.special["candidate"])
        self.any_match = best_matches(self.similarity, *special, match_special=True)
        self.word_match = best_matches(self.similarity, *special, match_special=False)

    def surfaces(self, side: str) -> list[str]:
        """What each token covers in the text; a token without characters keeps its own spelling."""
        text = self.texts[side]
        return [text[start:end] if end > start else token
                for token, (start, end) in zip(self.tokens[side], self.spans[side], strict=True)]


def _token_table(model: str, rows: list[int], pairs: list[_Aligned]) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {name: [] for name in (
        "row", "side", "position", "token", "surface", "start", "end", "special",
        "match_position", "similarity", "word_match_position", "word_similarity")}
    for row, pair in zip(rows, pairs, strict=True):
        for side in SIDES:
            n = len(pair.tokens[side])
            columns["row"] += [row] * n
            columns["side"] += [side] * n
            columns["position"] += range(n)
            columns["token"] += pair.tokens[side]
            columns["surface"] += pair.surfaces(side)
            columns["start"] += pair.spans[side][:, 0].tolist()
            columns["end"] += pair.spans[side][:, 1].tolist()
            columns["special"] += pair.special[side].tolist()
            for prefix, match in (("", pair.any_match), ("word_", pair.word_match)):
                columns[f"{prefix}match_position"] += getattr(match, f"{side}_match").tolist()
                columns[f"{prefix}similarity"] += getattr(match, f"{side}_similarity").tolist()
    table = pd.DataFrame(columns)
    table.insert(0, "model", model)
    read = {surface: reading(surface) for surface in set(table.loc[~table["special"], "surface"])}
    table["reading"] = np.where(table["special"], "", table["surface"].map(read).fillna(""))
    return table


def _shape_table(model: str, rows: list[int], pairs: list[_Aligned]) -> pd.DataFrame:
    n_reference, n_candidate = (np.array([len(pair.tokens[side]) for pair in pairs]) for side in SIDES)
    ends = np.cumsum(n_reference * n_candidate)
    return pd.DataFrame({"model": model, "row": rows, "n_reference": n_reference, "n_candidate": n_candidate,
                         "offset": ends - n_reference * n_candidate})


def _tokens_by_model(result: Result) -> dict[str, PairTokens]:
    return {model: PairTokens.from_table(model, result.tokens[result.tokens["model"] == model])
            for model in result.settings.models}


def _dictionary(scoring: Scoring, tokens: PairTokens, tokenizer: str, model: str) -> IdfDictionary | None:
    if scoring.idf == "none":
        return None
    if scoring.idf == "references":
        return reference_dictionary(tokens.references(), tokenizer)
    return dictionary_for(scoring.idf, tokenizer, model)


