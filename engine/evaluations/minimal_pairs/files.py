"""The tables of a minimal-pairs result as files: every view of it under each normalisation. No model is run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from engine.datasets.minimal_pairs.kinds import DataKind
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs import records
from engine.evaluations.minimal_pairs.babylm.scores import BABYLM
from engine.evaluations.minimal_pairs.kinds import acquisition, pairs, reading, single_sentences, texts
from engine.evaluations.minimal_pairs.kinds.analysis import PAIRS, PROMPTED, Analysis, Asked
from engine.evaluations.minimal_pairs.prompts.templates import templates_of
from engine.evaluations.minimal_pairs.records import ALL, CATEGORY, NO_PROMPTS, WHOLE, PairScoring, Result, Settings
from engine.measures.minimal_pairs.judged_sentences import FOLDS
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.message import Message, list_of
from engine.options import options_of

PAIR_FILE = PAIRS.with_input()
FILES = (
    PAIR_FILE,
    *pairs.FILES,
    *single_sentences.FILES,
    *reading.FILES,
    *acquisition.FILES,
    *texts.FILES,
    PROMPTED,
    records.TOKENS,
    records.EXCLUDED,
    records.PRECISION,
    pairs.SHARED_TOKENS,
    pairs.STEREOTYPES,
    BABYLM,
)
ANALYSES = {
    analysis.data.name: analysis
    for analysis in (
        pairs.OF_PAIRS,
        pairs.OF_STEREOTYPES,
        single_sentences.OF_JUDGED,
        single_sentences.OF_CONDITIONS,
        reading.OF_READING,
        acquisition.OF_ACQUISITION,
        texts.OF_TEXTS,
    )
}
NO_CONDITIONS = Message(
    "Predictions are about sentences in conditions (columns item, condition and sentence, or "
    "SyntaxGym's suites), which this run has not. Leave them out."
)


def analysis_of(kind: DataKind) -> Analysis:
    """What is computed of data of a kind."""
    return ANALYSES[kind.name]


def scored_signature(result: Result, shown: PairScoring) -> dict[str, Any]:
    """The signature of the tables of a result under these choices: that of the run, with what its tables depend on."""
    return {
        **result.signature,
        "alpha": shown.alpha,
        "unigrams": result.unigrams,
        "subset": shown.subset,
        "format": result.format,
        "rules": result.rules,
        **({"levels": list(shown.levels)} if shown.levels else {}),
        **({"clustered_by": shown.clustered_by} if shown.clustered_by else {}),
        **({"region": shown.region} if shown.region != WHOLE else {}),
        **({"folds": shown.folds} if "folds" not in analysis_of(result.data_kind).not_applicable else {}),
        **({"predictions": list(shown.predictions)} if shown.predictions else {}),
    }


def check_predictions(dataset: MinimalPairs, formulas: Sequence[str]) -> None:
    """Raises InputError for formulas that cannot be read or are not about these data, before anything is scored."""
    if not formulas:
        return
    check_formulas = analysis_of(dataset.data_kind).check_formulas
    if check_formulas is None:
        raise InputError(NO_CONDITIONS)
    check_formulas(dataset, formulas)


def check_shown(dataset: MinimalPairs, shown: PairScoring, normalizations: Sequence[str], settings: Settings) -> None:
    """Raises InputError for choices that these data cannot have, before anything is scored.

    Those are columns and regions that the file lacks, scores that need boundaries of words, templates, judgements or the
    whole sentence and do not have them, and options that are of other kinds of data. normalizations: those asked for, () for
    all. settings: of the run.
    """
    by_words = [name for name in dict.fromkeys(normalizations) if NORMALIZATIONS[name].by_words]
    if by_words and not settings.word_boundaries:
        raise InputError(
            Message(
                "{by_words}: a score by words needs their boundaries. Add --word-boundaries.",
                by_words=list_of(by_words),
            )
        )
    prompted = [name for name in dict.fromkeys(normalizations) if NORMALIZATIONS[name].is_prompted]
    if prompted and settings.prompts == NO_PROMPTS:
        raise InputError(
            Message(
                "{prompted}: a score of sentences in templates, which are not asked for. Add --prompts.",
                prompted=list_of(prompted),
            )
        )
    scores = {template.score for template in templates_of(settings)}
    is_of_pairs = dataset.data_kind.n_sentences > 1
    missing = [
        name for name in prompted if not (is_of_pairs if "votes" in NORMALIZATIONS[name].needs else name in scores)
    ]
    if missing:
        raise InputError(
            Message(
                "{missing}: none of the templates is for that score; a vote is of pairs. Leave it out, or add --in-template "
                "or --yes-no.",
                missing=list_of(missing),
            )
        )
    analysis = analysis_of(dataset.data_kind)
    not_applicable = [
        name for name in analysis.not_applicable if getattr(shown, name) != options_of(PairScoring)[name].default
    ]
    if not_applicable:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in not_applicable)
        raise InputError(analysis.refusal.format(name=dataset.name, flags=flags))
    known = (CATEGORY, "source", *dataset.fields)
    unknown = [
        name for name in dict.fromkeys(filter(None, (*shown.levels, shown.clustered_by, shown.by))) if name not in known
    ]
    if unknown:
        raise InputError(
            Message(
                "{name} has no column {unknown}; there are: {known}.",
                name=dataset.name,
                unknown=list_of(map(repr, unknown)),
                known=list_of(known),
            )
        )
    analysis.check_scores(dataset, shown, normalizations, settings)


def file_tables(
    result: Result,
    normalizations: Sequence[str],
    alpha: float,
    by: str,
    seed: int,
    subset: str = ALL,
    level_columns: Sequence[str] = (),
    clustered_by: str = "",
    folds: int = FOLDS,
    predictions: Sequence[str] = (),
) -> dict[str, pd.DataFrame]:
    """The tables of FILES that a kind of data has, by name; stereotypes only of pairs in the layout of CrowS-Pairs.

    alpha: of PenLP. by: the field that sorts the pairs, as in `views.categories_of`. seed: of the matched sample.
    subset: the pairs that are counted; the tables of fair subsets have all pairs beside each. level_columns: of
    `levels`, whose tables there are where it is named or clusters are. clustered_by: the column whose values are the
    clusters of pairs, as in `views.clusters_of`. folds: of `single_sentences`; of judged sentences there are these
    tables, and none that compares the sentences of a pair. predictions: the formulas of sentences in conditions, which
    have the tables of `designs`. Raises InputError where a model has no pair in the subset, for columns that the
    dataset does not have, for predictions about other data, and for MORCELA where it could not be fitted, with the
    reason.
    """
    analysis = analysis_of(result.data_kind)
    if predictions and analysis.check_formulas is None:
        raise InputError(NO_CONDITIONS)
    shown = PairScoring(
        alpha,
        by=by,
        subset=subset,
        levels=tuple(level_columns),
        clustered_by=clustered_by,
        predictions=tuple(predictions),
        folds=folds,
    )
    return analysis.tables(result, Asked(normalizations, shown, seed))
