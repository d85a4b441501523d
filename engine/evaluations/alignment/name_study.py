"""The study of names: which setting tells the same name, written otherwise, from another name?

For each setting the area under the curve (AUC) of its score over pairs of sentences that differ in one name: how
probable it is that a pair with the same name scores higher than a pair with another name, 0.5 by chance. On 600 pairs
"Names by reading" was chosen; 471 others were held out of that, 400 were written before any score on them was seen, and
276 after these, before any score on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.names.pairs import LENGTHS, PARTS, NamePair, as_sentence_pairs, name_pairs
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.pair_scores import PairScores
from engine.evaluations.alignment.records import Scoring, Settings
from engine.evaluations.alignment.rescoring import Scores, rescore
from engine.evaluations.shared.declared_tables import Column, Table
from engine.inference.gateway import GatewaySession
from engine.language.parts_of_speech import tagged_words
from engine.language.readings.alone import reading_alone
from engine.language.readings.sounds import sounds
from engine.measures.name_agreement import SAME as SAME_NAME
from engine.measures.name_agreement import UNSURE, best_agreement, verdict
from engine.measures.reading_penalty import agreement
from engine.measures.statistics.ranked_area import area_under_curve, roc_curve
from engine.messages.message import Message

SAME = "written otherwise"
OTHERS = ("like sound", "like characters", "another")
# The threshold that a share of 0.7 of the entries is in the dictionary novel of the first built-in model's pieces: in
# words 0.7 leaves none of the entries above it, since 45% of them occur in one novel only.
SAME_IDF = (2.73, "value")
# Each setting of BERTScore: what it is called, and its choices.
SETTINGS: Mapping[str, Scoring] = {
    "F1": Scoring(penalty="none"),
    "F1, idf novel": Scoring("novel", penalty="none"),
    "as in the paper, idf novel": Scoring("novel", penalty="reading"),
    "as in the paper, idf wiki": Scoring("wiki", penalty="reading"),
    "as in the paper, idf novel-words": Scoring("novel-words", penalty="reading"),
    "as in the paper, idf novel-words above 2.73": Scoring("novel-words", *SAME_IDF, penalty="reading"),
    "as in the paper, idf wiki-words": Scoring("wiki-words", penalty="reading"),
    "penalty on proper nouns, words in context": Scoring(
        "novel", penalty="reading", criterion="proper-nouns", reading_scope="word", reading_engine="unidic"
    ),
    "penalty on names, words in context, one sound": Scoring(
        penalty="reading", criterion="names", reading_scope="word", reading_engine="unidic", sounds="merged"
    ),
    "names by reading": Scoring(penalty="names"),
    "names by reading, idf novel": Scoring("novel", penalty="names"),
    "names by reading, idf novel-words": Scoring("novel-words", penalty="names"),
    "names by reading, without one sound": Scoring(penalty="names", sounds="apart"),
}
AREAS = Table(
    "areas",
    Message("A row for each setting, then for readings without a model."),
    (
        Column("setting", "text", "the setting"),
        *(
            Column(name, "number", meaning, better="higher")
            for name, meaning in {
                "all": Message("AUC over all pairs"),
                **{length: Message("AUC over the pairs in {length} sentences", length=length) for length in LENGTHS},
                "like_sound": Message("AUC of the same name against names of like sound"),
                "like_characters": Message("AUC of the same name against names of like characters"),
                "another": Message("AUC of the same name against unlike names"),
                "held_out": Message("AUC over the pairs that were held out of the choice of the formula"),
            }.items()
        ),
        Column(
            "written_last",
            "number",
            Message("AUC over the pairs that were written before any score on them was seen"),
            better="higher",
            since="0.3.0",
        ),
        Column(
            "written_afterwards",
            "number",
            Message("AUC over the pairs that were written after the errors on those were mended"),
            better="higher",
            since="0.3.0",
        ),
    ),
)

KINDS = Table(
    "kinds",
    Message("A row for each part of the pairs and kind of name, under names by reading."),
    (
        Column("part", "text", Message("chosen_on, held_out, written_last or written_afterwards")),
        Column("kind", "text", Message("what kind of name it is, or all")),
        Column("n", "integer", Message("pairs of sentences")),
        Column("area", "number", Message("AUC"), better="higher"),
        Column("ci_low", "number", Message("lower end of the 95% interval, by a bootstrap of pairs of names")),
        Column("ci_high", "number", Message("its upper end")),
        Column("decided", "number", Message("share of the pairs that M calls the same name or another name")),
        Column("right", "number", Message("share of these that are called so rightly"), better="higher"),
    ),
    since="0.3.0",
)
CURVES = Table(
    "curves",
    Message("A row for each point of the ROC curve of a part and kind of name, under names by reading."),
    (
        Column("part", "text", Message("as in kinds")),
        Column("kind", "text", Message("as in kinds")),
        Column("false_positive_rate", "number", Message("share of the pairs with another name above a threshold")),
        Column(
            "true_positive_rate",
            "number",
            Message("the greatest share of the pairs with the same name above such a threshold"),
            better="higher",
        ),
        Column("ci_low", "number", Message("lower end of its 95% interval, by the same bootstrap")),
        Column("ci_high", "number", Message("its upper end")),
    ),
    since="0.3.0",
)
DRAWS, SEED = 500, 0
RATES = np.linspace(0, 1, 21)  # false positive rates of the curves
ALL_KINDS = "all"
MIDDLE = (0.025, 0.975)


def name_study(model: str, session: GatewaySession) -> dict[str, pd.DataFrame]:
    """The areas of every setting under one model and of readings alone, then those of names by reading by kind, and
    their curves.

    They are the tables AREAS, KINDS and CURVES, by their names.
    """
    pairs = tuple(pair for part in PARTS for pair in name_pairs(part))
    result = evaluate(Settings((model,)), as_sentence_pairs(), session)
    rows = [
        {"setting": name, **_areas(pairs, rescore(result, scoring).pairs["penalized_f1"].to_numpy())}
        for name, scoring in SETTINGS.items()
    ]
    rows += [
        {"setting": name, **_areas(pairs, np.array(scores))}
        for name, scores in (
            (Message("readings of the two sentences, no model"), [_of_sentences(pair) for pair in pairs]),
            (Message("readings of the two names alone, no model"), [_of_names(pair) for pair in pairs]),
        )
    ]
    by_reading = rescore(result, SETTINGS["names by reading"])
    kinds, curves = _by_kind(by_reading, model)
    return {
        table.name: table.frame_of_records(records)
        for table, records in ((AREAS, rows), (KINDS, kinds), (CURVES, curves))
    }


def _by_kind(scores: Scores, model: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of KINDS and of CURVES. A pair is called what the least M of its compared names says."""
    f1, least = scores.pairs["penalized_f1"].to_numpy(), _least_agreements(scores.by_model[model])
    rows: list[dict[str, Any]] = []
    curves: list[dict[str, Any]] = []
    first = 0
    for part in PARTS:
        pairs = name_pairs(part)
        here = slice(first, first + len(pairs))
        first += len(pairs)
        same, kind = np.array([pair.same for pair in pairs]), np.array([pair.kind for pair in pairs])
        names = pd.factorize(pd.Series([f"{pair.name}|{pair.other_name}" for pair in pairs]))[0]
        called = np.array([verdict(m) if np.isfinite(m) else UNSURE for m in least[here].tolist()])
        for of_kind in (ALL_KINDS, *dict.fromkeys(kind.tolist())):
            chosen = (kind == of_kind) | (of_kind == ALL_KINDS)
            decided = chosen & (called != UNSURE)
            draws = _draws(f1[here][chosen], same[chosen], names[chosen])
            low, high = np.quantile([area_under_curve(*draw) for draw in draws], MIDDLE).tolist()
            of_draws = np.array([roc_curve(*draw, RATES) for draw in draws])
            points = zip(
                RATES.tolist(),
                roc_curve(f1[here][chosen], same[chosen], RATES).tolist(),
                *np.quantile(of_draws, MIDDLE, axis=0).tolist(),
                strict=True,
            )
            curves += [dict(zip(CURVES.headers, (part, of_kind, *point), strict=True)) for point in points]
            rows.append(
                {
                    "part": part,
                    "kind": of_kind,
                    "n": int(chosen.sum()),
                    "area": area_under_curve(f1[here][chosen], same[chosen]),
                    "ci_low": low,
                    "ci_high": high,
                    "decided": decided.sum() / chosen.sum(),
                    "right": float((same[decided] == (called[decided] == SAME_NAME)).mean()),
                }
            )
    return rows, curves


def _least_agreements(scores: PairScores) -> np.ndarray:
    """The least M of the compared names of each pair, (n_pairs,); inf where none is compared."""
    least = np.full(len(scores.pairs), np.inf)
    if scores.names is not None:
        compared = scores.names.compared
        np.minimum.at(least, scores.units.sentence[compared] // 2, scores.agreement[compared])
    return least


def _draws(scores: np.ndarray, same: np.ndarray, names: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """DRAWS of pairs of names drawn again, as many of the same name and of others as before: scores, and which are same.

    names: the number of each pair's names, which stand in one sentence or three.
    """
    generator = np.random.default_rng(SEED)
    of_names = [np.flatnonzero(names == number) for number in np.unique(names)]
    groups = [[rows for rows in of_names if same[rows[0]] == is_same] for is_same in (True, False)]
    draws = []
    for _ in range(DRAWS):
        drawn = np.concatenate(
            [group[index] for group in groups for index in generator.integers(len(group), size=len(group)).tolist()]
        )
        draws.append((scores[drawn], same[drawn]))
    return draws


def _areas(pairs: tuple[NamePair, ...], scores: np.ndarray) -> dict[str, Any]:
    """The areas over the pairs of the first part, and those over each further part."""
    ends = np.cumsum([len(name_pairs(part)) for part in PARTS]).tolist()
    same = np.array([pair.same for pair in pairs])
    further = {
        part: area_under_curve(scores[first:last], same[first:last])
        for part, first, last in zip(PARTS[1:], ends, ends[1:], strict=False)
    }
    pairs, scores, same = pairs[: ends[0]], scores[: ends[0]], same[: ends[0]]
    length, category = (np.array([getattr(pair, name) for pair in pairs]) for name in ("length", "category"))
    chosen = {
        "all": np.ones(len(pairs), dtype=bool),
        **{name: length == name for name in LENGTHS},
        **{name.replace(" ", "_"): same | (category == name) for name in OTHERS},
    }
    return {**{name: area_under_curve(scores[flags], same[flags]) for name, flags in chosen.items()}, **further}


def _of_sentences(pair: NamePair) -> float:
    own, other = (
        sounds("".join(word.reading for word in tagged_words(text))) for text in (pair.reference, pair.candidate)
    )
    return agreement(own, other).value


def _of_names(pair: NamePair) -> float:
    own, other = (list(map(sounds, reading_alone(name).texts)) for name in (pair.name, pair.other_name))
    return best_agreement(own, other).agreement.value if own and other else 0.0
