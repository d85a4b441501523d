"""Words with reading times: no sentence is compared with another; surprisal is held against the times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from engine.datasets.minimal_pairs import kinds
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs import notices
from engine.evaluations.minimal_pairs.kinds.analysis import PAIRS, Analysis, Asked
from engine.evaluations.minimal_pairs.kinds.pair_findings import Tables
from engine.evaluations.minimal_pairs.kinds.single_sentences import OF_CONDITIONS, OF_PAIRS_ALONE
from engine.evaluations.minimal_pairs.reading import layers, times
from engine.evaluations.minimal_pairs.records import LAYERS, PairScoring, PairView, Result, Settings
from engine.evaluations.minimal_pairs.scoring_rules import BOTH_SIDES, echo_notice, seen_by_models
from engine.evaluations.shared.finding import (
    MOST_LISTED,
    Contest,
    Standing,
    finding_of,
    finding_parts,
    left_out_rows,
    listed,
    p_value,
    spoken,
    with_interval,
)
from engine.evaluations.shared.on_card import Headline
from engine.evaluations.shared.stored_table import in_memory
from engine.language.quantities import count
from engine.measures.cards.catalog import CARDS
from engine.measures.statistics.clustered import FEWEST_CLUSTERS
from engine.messages.message import Message, together
from engine.models.sources.facts import ModelFacts

FILES = (times.GAINS, times.CHECKPOINTS, LAYERS, times.CHALLENGE, times.WORDS)
SIGNIFICANT = 0.05
BEST_LAYER = Message(
    "By layer (logit lens), {model} gains most at layer {layer} of {last}: {value}, {over} above the last layer ({p}, Holm "
    "over {n} layers). That layer was chosen after looking at all, so its own gain is overstated."
)
NO_BEST_LAYER = Message(
    "By layer (logit lens), no layer of {models} gains significantly more than the last (Holm over the layers of each)."
)
GAIN = Message("Gain for {measure} by surprisal beyond {baseline}, in nats per word: {standings}.")
STANDING = Message("{model} {value} over {over}")
NOT_TESTED = Message("The difference between models was not tested.")
OTHER_WORDS = Message("The models are not ranked: their numbers are over different words.")
NOT_SEEN_YET = Message(
    "{models}: a word is predicted from both sides of it; who read the texts had not seen what follows."
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
        times.CHECKPOINTS.name: times.along_checkpoints(result, gains),
        LAYERS.name: layers.layers(result, asked.shown.folds),
        times.CHALLENGE.name: times.challenge_scores(gains, result.format),
        times.WORDS.name: times.word_surprisals(result),
        "tokens": in_memory(result.tokens),
        "excluded": result.excluded,
    }


def _notices(
    result: Result, dataset: MinimalPairs, all_facts: Sequence[ModelFacts], about_shared: Iterable[str]
) -> list[str]:
    masked = seen_by_models(result).get(BOTH_SIDES, [])
    return [
        *notices.of_sentences(result, dataset, all_facts, about_shared),
        *notices.of_unread_series(result),
        *([NOT_SEEN_YET.format(models=listed(masked))] if masked else []),
        *echo_notice(result),
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


def _finding(result: Result, _: PairView | None = None, __: Tables | None = None) -> Message:
    """The gain of the first column of times under each model, and whether chance explains it; no two are tested."""
    table = times.gains(result)
    measure = str(table["measure"].iloc[0]) if len(table) else ""
    own = table[(table["measure"] == measure) & (table["baseline"] == times.WITH_PREVIOUS)]
    lines = {str(line["model"]): line for line in own.to_dict("records")}
    contest = Contest(
        Message("gain by surprisal"),
        CARDS["reading_gain"].better,
        max((int(line["n"]) for line in lines.values()), default=0),
        "word",
        [Standing(model, line["gain"], line["gain_low"], line["gain_high"]) for model, line in lines.items()],
        {},
        is_share=False,
        digits=4,
        reason=next((line["reason"] for line in lines.values() if line["reason"]), ""),
        n_left_out=left_out_rows(result.excluded),
    )
    ranked, names = contest.ranked, spoken(lines)
    if not ranked:
        return finding_of(contest)
    words = times.words_of_gain(result, measure, times.WITH_PREVIOUS)
    are_alike = len({words[each.model] for each in ranked}) == 1
    named = ranked if are_alike else [each for each in contest.standings if each in ranked]
    standings = [
        STANDING.format(
            model=names[each.model],
            value=with_interval(contest, each),
            over=count(int(lines[each.model]["n"]), "word"),
        )
        for each in named[:MOST_LISTED]
    ]
    if len(named) > MOST_LISTED:
        standings.append(Message("{n:,} more", n=len(named) - MOST_LISTED))
    sentences = [
        GAIN.format(measure=measure, baseline=Message(times.WITH_PREVIOUS), standings=together(", ", standings)),
        *_verdicts(ranked, names),
    ]
    if len(ranked) > 1:
        sentences.append(NOT_TESTED if are_alike else OTHER_WORDS)
    sentences += _by_layer(result, measure, contest, names)
    undefined = [names[each.model] for each in contest.standings if each not in ranked]
    if undefined:
        sentences.append(Message("Undefined for {models}.", models=listed(undefined)))
    return finding_parts(sentences, contest.n_left_out)


def _by_layer(result: Result, measure: str, contest: Contest, names: Mapping[str, str]) -> list[Message]:
    """Whether a layer below the last gains more for a column of times, by a test over all such layers of each model."""
    table = result.layers
    own = table[(table["measure"] == measure) & (table["baseline"] == times.WITH_PREVIOUS)]
    sentences, others = [], []
    for model, of_model in own.groupby("model", sort=False):
        tested = of_model[of_model["p_holm"].notna()]
        above = tested[(tested["p_holm"] < SIGNIFICANT) & (tested["over_last"] > 0)]
        if not len(tested):
            continue
        if not len(above):
            others.append(names[str(model)])
            continue
        best = above.sort_values("gain", kind="stable").iloc[-1]
        sentences.append(
            BEST_LAYER.format(
                model=names[str(model)],
                layer=int(best["layer"]),
                last=int(of_model["layer"].max()),
                value=with_interval(contest, Standing(str(model), best["gain"], best["gain_low"], best["gain_high"])),
                over=contest.number(best["over_last"]),
                p=p_value(best["p_holm"]),
                n=len(tested),
            )
        )
    return [*sentences, *([NO_BEST_LAYER.format(models=listed(others))] if others else [])]


def _verdicts(ranked: Sequence[Standing], names: Mapping[str, str]) -> list[Message]:
    """Which gains chance does not explain, by their intervals."""
    known = [each for each in ranked if each.low == each.low]
    if not known:
        return [Message("Fewer than {fewest} texts give no interval.", fewest=FEWEST_CLUSTERS)]
    helping = [names[each.model] for each in known if each.low > 0]
    misleading = [names[each.model] for each in known if each.high < 0]
    if not helping and not misleading:
        return [
            Message("None is distinguishable from 0.")
            if len(known) > 1
            else Message("It is not distinguishable from 0.")
        ]
    return [
        *([Message("Surprisal helps to predict the times under {models}.", models=listed(helping))] if helping else []),
        *([Message("It misleads under {models}.", models=listed(misleading))] if misleading else []),
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
    finding=_finding,
)
