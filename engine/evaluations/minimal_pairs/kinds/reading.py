"""Words with reading times: no sentence is compared with another; surprisal is held against the times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from engine.datasets.minimal_pairs import kinds
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs import notices
from engine.evaluations.minimal_pairs.kinds.analysis import PAIRS, Analysis, Asked
from engine.evaluations.minimal_pairs.kinds.single_sentences import OF_CONDITIONS, OF_PAIRS_ALONE
from engine.evaluations.minimal_pairs.reading import times
from engine.evaluations.minimal_pairs.records import PairScoring, Result, Settings
from engine.evaluations.shared.on_card import Headline
from engine.evaluations.shared.stored_table import in_memory
from engine.measures.cards.catalog import CARDS
from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts

FILES = (times.GAINS, times.CHALLENGE, times.WORDS)
BOTH_SIDES = Message(
    "{models}: a masked model reads the words on both sides of a word; who read the texts had not seen what follows."
)


def check_scores(dataset: MinimalPairs, _: PairScoring, normalizations: Sequence[str], __: Settings) -> None:
    """Raises InputError for scores of texts: of such data the surprisal of each word counts."""
    if normalizations:
        raise InputError(
            Message(
                "{name} holds {what}: the surprisal of each word counts, without a score of the text. Leave --normalization "
                "out.",
                name=dataset.name,
                what=dataset.data_kind.holds,
            )
        )


def _tables(result: Result, asked: Asked) -> dict[str, pd.DataFrame]:
    gains = times.gains(result, asked.shown.folds)
    return {
        "pairs": PAIRS.selected(result.pairs),
        times.GAINS.name: gains,
        times.CHALLENGE.name: times.challenge_scores(gains, result.format),
        times.WORDS.name: times.word_surprisals(result),
        "tokens": in_memory(result.tokens),
        "excluded": result.excluded,
    }


def _notices(
    result: Result, dataset: MinimalPairs, all_facts: Sequence[ModelFacts], about_shared: Iterable[str]
) -> list[str]:
    masked = [facts.name for facts in all_facts if facts.kind == "masked"]
    return [
        *notices.of_sentences(result, dataset, all_facts, about_shared),
        *([BOTH_SIDES.format(models=", ".join(masked))] if masked else []),
    ]


def _headlines(result: Result, model: str) -> list[Headline]:
    """The gain of each column of reading times over the baseline that knows the word before; not compared word by word."""
    table = times.gains(result)
    own = table[(table["model"] == model) & (table["baseline"] == times.WITH_PREVIOUS)]
    return [
        Headline(
            "reading_gain",
            line["gain"],
            line["n"],
            "words",
            line["gain_low"],
            line["gain_high"],
            line["measure"],
            CARDS["reading_gain"].better,
            line["reason"],
            is_compared=False,
        )
        for line in own.to_dict("records")
    ]


OF_READING = Analysis(
    kinds.READING,
    (*OF_PAIRS_ALONE, "by", "alpha", "unigrams"),
    Message("{name} holds words with reading times, and these options do not apply to them: {flags}. Leave them out."),
    check=OF_CONDITIONS.check,
    check_scores=check_scores,
    tables=_tables,
    notices=_notices,
    headlines=_headlines,
)
