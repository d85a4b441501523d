"""Reading times: the surprisal of each word under each model, and what it explains of the times beyond a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs import reading_times
from engine.datasets.minimal_pairs.layouts import BABYLM_READING
from engine.datasets.minimal_pairs.pairs import FIELD
from engine.datasets.minimal_pairs.reading_times import Words
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series
from engine.evaluations.minimal_pairs.views import by_model, has_boundaries
from engine.evaluations.shared.common_columns import MODEL, ROW, WHY_UNDEFINED, interval
from engine.evaluations.shared.declared_tables import Column, Table, measured, returns
from engine.evaluations.shared.stored_table import rows_where
from engine.measures.minimal_pairs.word_boundaries import boundary_terms
from engine.measures.reading_times import FOLDS, Gain, gain
from engine.messages.message import Message, named

VERSION = "0.3.0"
TIME = "time:"
OWN, WITH_PREVIOUS = BASELINES = (named("the word"), named("the word and the one before"))
# The predictors of each baseline, beside their pairwise products; those that the data do not have are left out.
_CONTROLS = {
    OWN: ("frequency", "length", "position"),
    WITH_PREVIOUS: ("frequency", "length", "position", "previous_length", "previous_surprisal"),
}
EYE_TRACKING, SELF_PACED = named("eye tracking"), named("self-paced reading")  # the challenge's two scores

WORDS = Table(
    "word_surprisals",
    Message("A row for each word with a reading time under each model."),
    (
        MODEL,
        replace(ROW, meaning="number of its row in the file, of several readers that of the first"),
        Column("item", "text", "the text or sentence that it stands in"),
        Column("word", "text", "the word"),
        Column("position", "number", "its number in the text, as in the file, else from 1"),
        Column("frequency", "number", "its frequency as in the file, NaN without one"),
        Column("length", "number", "its length as in the file, else in characters"),
        Column("previous_length", "number", "length of the word before, NaN without one"),
        Column("tokens", "integer", "its tokens", "tokens"),
        measured("region_surprisal", "surprisal", "its surprisal, with the boundaries of words where they were scored"),
        measured("region_surprisal", "previous_surprisal", "surprisal of the word before, NaN without one"),
        Column(f"{TIME}<column>", "number", "the reading time as in the file, the mean over readers"),
    ),
    only_with_rows=True,
    since=VERSION,
)
_MEASURE = Column("measure", "text", "the column of the reading times")
GAINS = Table(
    "reading_times",
    Message("A row for each column of reading times, against each baseline, under each model."),
    (
        MODEL,
        _MEASURE,
        Column(
            "baseline",
            "text",
            Message(
                '"{OWN}": frequency, length and position of the word; "{WITH_PREVIOUS}": also length and surprisal of the '
                "word before; with all products of two of them",
                OWN=OWN,
                WITH_PREVIOUS=WITH_PREVIOUS,
            ),
            words=named,
        ),
        Column("n", "integer", "words that have all numbers", "words"),
        Column("n_items", "integer", "texts or sentences that they stand in", "items"),
        measured("reading_gain", "gain"),
        *interval(Message("Student's t over items"), "gain"),
        Column("baseline_r2", "number", "R² of the baseline", digits=3),
        measured("reading_share", "share"),
        *interval(Message("the jackknife over items"), "share"),
        Column(
            "coefficient",
            "number",
            "by how much the time changes with each bit of surprisal",
            "units of the times per bit",
            digits=3,
        ),
        *interval(Message("the jackknife over items"), "coefficient"),
        Column("t", "number", "t of the coefficient by ordinary least squares, words taken as independent", digits=2),
        Column("p_value", "number", "its p value, two-sided", better="lower"),
        Column("aic_change", "number", "AIC with surprisal less AIC of the baseline", better="lower", digits=1),
        WHY_UNDEFINED,
    ),
    only_with_rows=True,
    since=VERSION,
)
CHECKPOINTS = Table(
    "reading_checkpoints",
    Message(
        "A row for each column of reading times, against each baseline, under each checkpoint of a training: models whose "
        "names differ in the step."
    ),
    (
        Column("series", "text", "the training: what the names of its checkpoints share"),
        Column("step", "number", "step, or epoch, that the name of the model says"),
        *GAINS.columns,
    ),
    only_with_rows=True,
    since=VERSION,
)
CHALLENGE = Table(
    "babylm_reading",
    Message("A row for each of the two scores of the reading task of the BabyLM challenge under each model."),
    (
        MODEL,
        Column(
            "score",
            "text",
            Message(
                '"{EYE_TRACKING}": mean over the columns RT…, against the baseline "{OWN}"; "{SELF_PACED}": of '
                'self_paced_reading_time, against the baseline "{WITH_PREVIOUS}"',
                EYE_TRACKING=EYE_TRACKING,
                SELF_PACED=SELF_PACED,
                OWN=OWN,
                WITH_PREVIOUS=WITH_PREVIOUS,
            ),
        ),
        Column("challenge", "number", "100 · share, as the challenge counts", "%", "higher", digits=2),
    ),
    only_with_rows=True,
    since=VERSION,
)


@returns(WORDS)
def word_surprisals(result: Result) -> pd.DataFrame:
    """The surprisal of each word that has a reading time, in bits; no row for other data.

    Sum over the tokens that begin in the word (`measures.minimal_pairs.regions.tokens_by_region`); where the boundaries
    of words were scored, with their terms (`measures.minimal_pairs.word_boundaries`), so that it is that of the word and
    not of all words that begin like it. A word without a token has no surprisal.
    """
    if not has_words(result) or "region" not in result.tokens.columns:
        return WORDS.frame()
    most = most_words(result) + 1
    parts = [WORDS.frame()]
    for model, pairs in by_model(result):
        columns = ["row", "region", "log_likelihood", "boundary"]
        own = rows_where(
            result.tokens, [name for name in columns if name in result.tokens.columns], model=model, side="acceptable"
        )
        place = pd.Index(pairs["row"]).get_indexer(own["row"])
        values = own["log_likelihood"].to_numpy(dtype=np.float64)
        if has_boundaries(pairs) and "boundary" in own:
            values = values + _boundary_terms(pairs, own["boundary"].to_numpy(dtype=np.float64), place)
        cells = place * most + own["region"].to_numpy(dtype=np.int64)
        size = len(pairs) * most
        summed = np.bincount(cells, -values / np.log(2), minlength=size).reshape(-1, most)
        counted = np.bincount(cells, minlength=size).reshape(-1, most)
        summed[counted == 0] = np.nan
        parts.append(words_of_model(result, str(model), pairs, summed, counted))
    table = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    return WORDS.arranged(table)


def has_words(result: Result) -> bool:
    """Whether a result is of words with reading times."""
    return f"{FIELD}{reading_times.WORDS}" in result.items.columns


def most_words(result: Result) -> int:
    """The words of the longest text."""
    return max((len(_read(text).words) for text in result.items[f"{FIELD}{reading_times.WORDS}"]), default=0)


def words_of_model(
    result: Result, model: str, pairs: pd.DataFrame, surprisals: np.ndarray, tokens: np.ndarray
) -> pd.DataFrame:
    """The rows of `WORDS` of the texts that a model scored, `pairs` of the result.

    surprisals, in bits, and tokens: (n_texts, `most_words` + 1), of each word of each text, numbered from 1.
    """
    texts = result.items[f"{FIELD}{reading_times.WORDS}"].tolist()
    of_items = _with_file(result.items[f"{FIELD}{reading_times.ITEM}"].tolist(), result.items["source"].tolist())
    return pd.concat(
        [WORDS.frame()]
        + [
            _of_text(model, of_items[item], _read(texts[item]), surprisals[line], tokens[line])
            for line, item in enumerate(pairs["item"].tolist())
        ],
        ignore_index=True,
    )


@returns(GAINS)
def gains(result: Result, folds: int = FOLDS) -> pd.DataFrame:
    """What surprisal explains of each column of reading times, beyond each baseline; no row for other data.

    folds: parts of items for held-out likelihoods, drawn with the seed of the settings.
    """
    words = word_surprisals(result)
    measures = [str(name) for name in words.columns if str(name).startswith(TIME)]
    return GAINS.frame_of_records(
        [
            _row(str(model), measure, baseline, gain_of(own, measure, baseline, folds, result.settings.seed))
            for model, own in words.groupby("model", sort=False)
            for measure in measures
            for baseline in BASELINES
        ]
    )


@returns(CHECKPOINTS)
def along_checkpoints(result: Result, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of `gains` along the steps of each training that the run has two checkpoints of; none where there is none."""
    series = checkpoint_series(result, result.scored_models)
    found = pd.DataFrame(
        [checkpoint for steps in series.values() for checkpoint in steps], columns=["model", "series", "step"]
    )
    if found.empty:
        return CHECKPOINTS.frame()
    return found.merge(table, on="model").astype({"series": "str"})[list(CHECKPOINTS.headers)]


def words_of_gain(result: Result, measure: str, baseline: str) -> dict[str, frozenset[tuple[str, int]]]:
    """Over which words the gain of a column of times is, by model: (item, row) of each."""
    words = word_surprisals(result)
    counted = {}
    for model, own in words.groupby("model", sort=False):
        numbers = own[[f"{TIME}{measure}", "surprisal", *controls_of(own, baseline)]]
        kept = own[numbers.notna().all(axis=1).to_numpy()]
        counted[str(model)] = frozenset(zip(kept["item"].tolist(), kept["row"].tolist(), strict=True))
    return counted


@returns(CHALLENGE)
def challenge_scores(table: pd.DataFrame, layout: str) -> pd.DataFrame:
    """The challenge's numbers from `gains`; no row for data of another layout, and for a score that has no column."""
    rows = []
    for model, own in table.groupby("model", sort=False) if layout == BABYLM_READING else ():
        eye = own[own["measure"].str.contains("RT", regex=False) & (own["baseline"] == OWN)]["share"]
        paced = own[own["measure"].str.contains("self", regex=False) & (own["baseline"] == WITH_PREVIOUS)]["share"]
        rows += [
            {"model": model, "score": score, "challenge": 100 * float(shares.mean(skipna=False))}
            for score, shares in ((EYE_TRACKING, eye), (SELF_PACED, paced))
            if len(shares)
        ]
    return CHALLENGE.frame_of_records(rows)


def controls_of(own: pd.DataFrame, baseline: str) -> list[str]:
    """The predictors of a baseline that words have: those of which some number is known."""
    return [name for name in _CONTROLS[baseline] if own[name].notna().any()]


@lru_cache(maxsize=4096)
def _read(text: str) -> Words:
    return Words.read(text)


def _with_file(items: Sequence[str], sources: Sequence[str]) -> list[str]:
    """The name of each item, with its file where several files name an item alike."""
    files: dict[str, set[str]] = {}
    for item, source in zip(items, sources, strict=True):
        files.setdefault(item, set()).add(source)
    return [f"{item} ({source})" if len(files[item]) > 1 else item for item, source in zip(items, sources, strict=True)]


def _boundary_terms(pairs: pd.DataFrame, before: np.ndarray, place: np.ndarray) -> np.ndarray:
    """What boundaries add to each token of a model's texts, which come in the order of its pairs."""
    lengths = np.bincount(place, minlength=len(pairs))
    firsts = np.cumsum(lengths) - lengths
    ends = pairs["acceptable_boundaries"].to_numpy(dtype=np.float64) + np.nan_to_num(before[firsts])
    return boundary_terms(before, ends, lengths)[0]


def _of_text(model: str, item: str, words: Words, surprisals: np.ndarray, tokens: np.ndarray) -> pd.DataFrame:
    kept = np.flatnonzero(np.array(words.rows) > 0)
    own = surprisals[kept + 1]  # regions are numbered from 1
    has_previous = np.array(words.has_previous)[kept]

    def numbers(values: Sequence[float | None]) -> np.ndarray:
        return np.array(values, dtype=np.float64)[kept]

    return pd.DataFrame(
        {
            "model": pd.Series([model] * len(kept), dtype="str"),
            "row": np.array(words.rows, dtype=np.int64)[kept],
            "item": pd.Series([item] * len(kept), dtype="str"),
            "word": pd.Series([words.words[place] for place in kept.tolist()], dtype="str"),
            **{name: numbers(getattr(words, name)) for name in ("position", "frequency", "length", "previous_length")},
            "tokens": tokens[kept + 1],
            "surprisal": own,
            "previous_surprisal": np.where(has_previous, surprisals[kept], np.nan),
            **{f"{TIME}{name}": numbers(values) for name, values in words.times.items()},
        }
    )


def gain_of(own: pd.DataFrame, measure: str, baseline: str, folds: int, seed: int) -> Gain:
    """What the surprisal of a model's rows of `WORDS` explains of a column of times, named `time:…`."""
    controls = [own[name].to_numpy() for name in controls_of(own, baseline)]
    return gain(own[measure], own["surprisal"], controls, own["item"].to_numpy(dtype=object), folds=folds, seed=seed)


def _row(model: str, measure: str, baseline: str, found: Gain) -> dict[str, object]:
    return {
        "model": model,
        "measure": measure.removeprefix(TIME),
        "baseline": baseline,
        "n": found.n,
        "n_items": found.n_items,
        "gain": found.delta,
        "gain_low": found.delta_interval[0],
        "gain_high": found.delta_interval[1],
        "baseline_r2": found.baseline_r2,
        "share": found.share,
        "share_low": found.share_interval[0],
        "share_high": found.share_interval[1],
        "coefficient": found.coefficient,
        "coefficient_low": found.coefficient_interval[0],
        "coefficient_high": found.coefficient_interval[1],
        "t": found.t,
        "p_value": found.p,
        "aic_change": found.aic_change,
        "reason": found.reason,
    }
