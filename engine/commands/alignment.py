"""`python -m engine alignment`: P, R and F1 of sentence pairs, plain and with the reading penalty."""

from __future__ import annotations

import argparse
import math

from engine.commands.common import add_evaluation_arguments, gateway_session, print_notices, read_columns, write_tables
from engine.datasets import sentence_pairs
from engine.errors import InputError
from engine.evaluations.alignment import records
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.rescoring import rescore

THRESHOLD = 0.7


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser)
    parser.add_argument("--layer", type=int, metavar="N", help="hidden state, 0 = embeddings (default: the last)")
    parser.add_argument("--idf", default="none", metavar="D",
                        help="none, references, novel, wiki or a dictionary's FILE")
    threshold = parser.add_mutually_exclusive_group()
    threshold.add_argument("--threshold", type=float, metavar="SHARE",
                           help=f"share of the dictionary's entries that is not low-frequency (default {THRESHOLD})")
    threshold.add_argument("--threshold-value", type=float, metavar="IDF",
                           help="idf, in nats, above which a token is low-frequency")
    parser.add_argument("--penalty", choices=records.PENALTIES, default="none")
    parser.add_argument("--criterion", choices=records.CRITERIA, default="idf",
                        help="which tokens the penalty concerns: low-frequency ones (default), proper nouns by part of "
                             "speech, either, both")
    parser.add_argument("--pairing", choices=records.PAIRINGS, default="token")
    parser.add_argument("--reading-engine", choices=records.READING_ENGINES, default="pykakasi")
    parser.add_argument("--reading-scope", choices=records.READING_SCOPES, default="piece",
                        help="the reading of the piece alone (default), or of the word that it belongs to")
    parser.add_argument("--unit", choices=records.UNITS, default="subword", help="what is matched and weighed")
    parser.add_argument("--no-special-matches", action="store_true",
                        help="let no token take [CLS] or [SEP] as its best match (bert_score lets it)")
    parser.add_argument("--precision", choices=records.PRECISIONS, default="fp32")


def run(options: argparse.Namespace) -> None:
    """Align and write pairs.csv, tokens.csv and excluded.csv."""
    dataset = sentence_pairs.from_table(*read_columns(options, options.data, several=sentence_pairs.MULTI_COLUMN_ROLES))
    chosen = _scoring(options)
    settings = records.Settings(tuple(options.model), options.layer, precision=options.precision, scoring=chosen)
    with gateway_session(options) as session:
        result = evaluate(settings, dataset, session)
    scores = rescore(result, chosen)
    print_notices((*result.notices, *scores.notices))
    write_tables(options.out,
                 {**result.signature, "dictionaries": scores.dictionaries,
                  # JSON has no NaN, which a threshold is without a dictionary
                  "thresholds": {model: value for model, value in scores.thresholds.items() if math.isfinite(value)}},
                 {"pairs": scores.pairs, "excluded": result.excluded})
    try:
        # In parts: the tokens of 100,000 pairs would not fit into memory as one table.
        for number, part in enumerate(scores.token_parts()):
            part.to_csv(options.out / "tokens.csv", index=False, encoding="utf-8", mode="a" if number else "w",
                        header=not number)
    except OSError as error:
        raise InputError(f"{options.out / 'tokens.csv'} cannot be written: {error.strerror or error}.") from error


def _scoring(options: argparse.Namespace) -> records.Scoring:
    by_value = options.threshold_value is not None
    share = THRESHOLD if options.threshold is None else options.threshold
    return records.Scoring(
        idf=options.idf, threshold=options.threshold_value if by_value else share,
        threshold_kind="value" if by_value else "quantile", penalty=options.penalty, criterion=options.criterion,
        pairing=options.pairing, match_special=not options.no_special_matches, reading_engine=options.reading_engine,
        reading_scope=options.reading_scope, unit=options.unit,
    )
