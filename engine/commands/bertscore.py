"""`python -m engine bertscore`: P, R and F1 of sentence pairs, plain and with the reading penalty."""

from __future__ import annotations

import argparse

from engine.commands.common import (
    add_evaluation_arguments,
    gateway_session,
    print_notices,
    read_columns,
    write_tables,
)
from engine.datasets import sentence_pairs
from engine.evaluations import bertscore


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser)
    parser.add_argument("--layer", type=int, metavar="N", help="hidden state, 0 = embeddings (default: the last)")
    parser.add_argument("--idf", default="none", metavar="D",
                        help="none, references, novel, wiki or a dictionary's FILE")
    parser.add_argument("--threshold", type=float, default=0.7, metavar="SHARE",
                        help="share of the dictionary's entries that are not low-frequency (default 0.7)")
    parser.add_argument("--penalty", choices=bertscore.PENALTIES, default="none")
    parser.add_argument("--pairing", choices=bertscore.PAIRINGS, default="token")
    parser.add_argument("--no-special-matches", action="store_true",
                        help="let no token take [CLS] or [SEP] as its best match (bert_score lets it)")
    parser.add_argument("--precision", choices=bertscore.PRECISIONS, default="fp32")


def run(options: argparse.Namespace) -> None:
    """Align and write pairs.csv, tokens.csv and excluded.csv."""
    dataset = sentence_pairs.from_table(*read_columns(options, options.data))
    scoring = bertscore.Scoring(options.idf, options.threshold, options.penalty, options.pairing,
                                match_special=not options.no_special_matches)
    settings = bertscore.Settings(tuple(options.model), options.layer, options.precision, scoring)
    with gateway_session(options) as session:
        result = bertscore.evaluate(settings, dataset, session)
    scores = bertscore.rescore(result, scoring)
    print_notices((*result.notices, *scores.notices))
    write_tables(options.out, {**result.signature, "thresholds": scores.thresholds},
                 {"pairs": scores.pairs, "tokens": scores.tokens, "excluded": result.excluded})
