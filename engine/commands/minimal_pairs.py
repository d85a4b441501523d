"""`python -m engine minimal-pairs`: does a model prefer the acceptable sentences, or the shorter ones?"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from engine.commands.shared.common import (
    add_evaluation_arguments,
    gateway_session,
    named_columns,
    print_notices,
    reading,
    say,
    skips_bad_rows,
    write_tables,
)
from engine.commands.shared.options import add_options, settings_from
from engine.commands.shared.own_templates import take_files, with_templates
from engine.commands.shared.presets import add_preset
from engine.commands.shared.tracking import track
from engine.datasets import reader_process
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.scores.files import ScoreFile, read_scores, read_together
from engine.datasets.scores.matching import attached
from engine.evaluations.minimal_pairs import notices, records, single_sentences, views
from engine.evaluations.minimal_pairs.babylm.predictions import prediction_files, written
from engine.evaluations.minimal_pairs.babylm.scores import BABYLM, babylm
from engine.evaluations.minimal_pairs.babylm.tasks import may_have_tasks
from engine.evaluations.minimal_pairs.clustered.intervals import few_clusters, unnamed_clusters
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.files import (
    FILES,
    check_predictions,
    check_shown,
    file_tables,
    scored_signature,
)
from engine.evaluations.minimal_pairs.levels import ALL_PAIRS, LEVELS
from engine.evaluations.minimal_pairs.outside.lm_eval_files import lm_eval_files
from engine.evaluations.minimal_pairs.records import THESE, PairScoring
from engine.evaluations.minimal_pairs.regions import WITHOUT, WITHOUT_MARKED, of_reading_on, of_region
from engine.evaluations.minimal_pairs.unigrams import with_unigrams
from engine.language.quantities import count
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.languages import tr
from engine.messages.message import Message, list_of
from engine.models.sources.names import split_label
from engine.options import check

NOT_COUNTED = Message(
    "{model}: {n:,} of {n_pairs:,} pairs have nothing of the region in a sentence and are not counted: excluded.csv."
)
SUBMISSIONS = {"babylm": prediction_files}  # what the predictions of a challenge are, by its name
WRITTEN = Message("Predictions for {challenge} ({n}): {folder}")
UNDEFINED = Message("{model}: some numbers of judgements.csv are undefined: {reason}.")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser, several_files=True, endpoints=True, needs_model=False)
    parser.add_argument(
        "--scores",
        action="append",
        default=[],
        metavar="[LABEL=]FILE",
        help=Message(
            "log-likelihoods of the sentences that were computed elsewhere, as a model beside those of --model or in their "
            "place: a table in long or wide form, rows of tokens, samples of lm-evaluation-harness (a file or their folder), "
            "or prompt_logprobs of vLLM; LABEL= gives the model a label; may be repeated"
        ),
    )
    add_preset(parser, "minimal-pairs")
    add_options(parser, records.Settings)
    take_files(parser)
    parser.add_argument(
        "--normalization",
        "--normalizations",
        action="extend",
        nargs="+",
        choices=NORMALIZATIONS,
        metavar="N",
        help=Message("of {NORMALIZATIONS}; all by default", NORMALIZATIONS=list_of(NORMALIZATIONS)),
    )
    add_options(parser, PairScoring)
    parser.add_argument(
        "--submission",
        choices=SUBMISSIONS,
        help=Message("write the predictions that a challenge takes, in its folders, into DIR/CHALLENGE"),
    )
    parser.add_argument(
        "--lm-eval",
        action="store_true",
        help=Message(
            "also write samples_*.jsonl and results_*.json of each model, as lm-evaluation-harness 0.4 does, into the folder "
            "lm-eval of --out"
        ),
    )


def run(options: argparse.Namespace) -> None:
    """Score and write pairs.csv, summary.csv and the tables beside them."""
    with_templates(options)
    shown = settings_from(options, PairScoring)
    check(shown)
    dataset = reader_process.read(
        read_pairs, [(path.name, path) for path in options.data], columns=named_columns(options), **reading(options)
    )
    check_predictions(dataset, shown.predictions)
    dataset = _with_scores(dataset, options)
    names = (*options.model, *(scores.name for scores in dataset.scores))
    settings = settings_from(options, records.Settings, models=names)
    check_shown(dataset, shown, options.normalization or (), settings)
    say(Message("format: {format}", format=tr(dataset.format)), file=sys.stderr)
    with gateway_session(options) as session:
        result = evaluate(settings, dataset, session)
    has_tasks = may_have_tasks(result.format, result.items)
    tables_of_challenge = {BABYLM.name: babylm(result, dataset)} if has_tasks else {}
    submitted = SUBMISSIONS[options.submission](result, dataset) if options.submission else {}
    if shown.unigrams != THESE:
        result = with_unigrams(result, shown.unigrams)
    result = of_region(result, shown.region)
    not_exact = [
        notices.not_exact(result, name, shown.alpha, region=shown.region) for name in options.normalization or ["PenLP"]
    ]
    # Before the tables, which may lack a score for a reason that a notice gives.
    print_notices(
        (*result.notices, *_not_counted(result), *of_reading_on(result, shown.region), *filter(None, not_exact))
    )
    normalizations = tuple(dict.fromkeys(options.normalization or views.available(result.pairs)))
    tables = file_tables(
        result,
        normalizations,
        shown.alpha,
        shown.by,
        result.settings.seed,
        shown.subset,
        shown.levels,
        shown.clustered_by,
        shown.folds,
        shown.predictions,
    )
    over_clusters = tables.get(LEVELS.name, LEVELS.frame())
    over = [few_clusters(over_clusters[over_clusters["level"] == ALL_PAIRS])]
    if shown.clustered_by and len(over_clusters):
        first = views.of_model(result, result.settings.models[0])
        over.append(unnamed_clusters(views.categories_of(result, first, shown.clustered_by), shown.clustered_by))
    if single_sentences.JUDGEMENTS.name in tables:
        undefined = tables[single_sentences.JUDGEMENTS.name].query("reason != ''")
        over += [
            UNDEFINED.format(model=model, reason=reason)
            for model, reason in dict.fromkeys(zip(undefined["model"], undefined["reason"], strict=True))
        ]
    print_notices(tuple(filter(None, over)))
    write_tables(options.out, scored_signature(result, shown), FILES, tables | tables_of_challenge, dataset)
    if submitted:
        folder = options.out / options.submission
        files = written(submitted, folder)
        say(
            WRITTEN.format(n=count(len(files), "file"), challenge=options.submission, folder=str(folder)),
            file=sys.stderr,
        )
    if options.lm_eval:
        _write_lm_eval(options.out / "lm-eval", result)
    track(options, "minimal-pairs", result, dataset.name)


def _write_lm_eval(out: Path, result: records.Result) -> None:
    date = datetime.now(UTC).replace(tzinfo=None).isoformat().replace(":", "-")
    for name, text in lm_eval_files(result, date).items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _with_scores(dataset: MinimalPairs, options: argparse.Namespace) -> MinimalPairs:
    """The data with the scores of --scores. Raises InputError."""
    files: list[ScoreFile] = []
    labels: list[str] = []
    skips = skips_bad_rows(options)
    given = [("", word) if Path(word).exists() else split_label(word) for word in options.scores]
    for label in dict.fromkeys(label for label, _ in given):
        paths = [Path(name).expanduser() for of_file, name in given if of_file == label]
        for together in read_together([(path.name, path) for path in paths]):
            read = reader_process.read(read_scores, together, skip_bad_rows=skips)
            files += read
            labels += [label] * len(read)
    return attached(dataset, files, labels, skip_bad_rows=skips) if files else dataset


def _not_counted(result: records.Result) -> list[str]:
    """How many pairs of each model have nothing of the region in one of their sentences."""
    without = result.excluded[result.excluded["reason"].isin([WITHOUT, WITHOUT_MARKED])]
    return [
        NOT_COUNTED.format(model=model, n=n, n_pairs=n + len(views.of_model(result, str(model))))
        for model, n in without.groupby("model", sort=False).size().items()
    ]
