"""The study of names: which setting tells the same name, written otherwise, from another name?

For each setting the area under the curve (AUC) of its score over pairs of sentences that differ in one name: how
probable it is that a pair with the same name scores higher than a pair with another name, 0.5 by chance. On 600 pairs
"Names by reading" was chosen; 471 others were held out of that, and 400 were written before any score on them was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.names.pairs import LENGTHS, PARTS, NamePair, as_sentence_pairs, name_pairs
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.records import Scoring, Settings
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.shared.declared_tables import Column, Table, returns
from engine.inference.gateway import GatewaySession
from engine.language.parts_of_speech import tagged_words
from engine.language.readings.alone import reading_alone
from engine.language.readings.sounds import sounds
from engine.measures.name_agreement import best_agreement
from engine.measures.reading_penalty import agreement
from engine.measures.statistics.ranked_area import area_under_curve
from engine.messages.message import Message

SAME = "written otherwise"
OTHERS = ("like sound", "like characters", "another")
# The threshold that a share of 0.7 of the entries is in the dictionary novel of the first built-in model's pieces: in
# words 0.7 leaves none of the entries above it, since 45 % of them occur in one novel only.
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
    ),
)


@returns(AREAS)
def name_study(model: str, session: GatewaySession) -> pd.DataFrame:
    """The areas of every setting under one model, and of the edit distance of readings alone."""
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
    return AREAS.frame_of_records(rows)


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
