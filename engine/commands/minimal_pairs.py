"""`python -m engine minimal-pairs`: does a model prefer the acceptable sentences, or the shorter ones?"""

from __future__ import annotations

import argparse
import sys

from engine.commands.common import add_evaluation_arguments, gateway_session, named_columns, print_notices, write_tables
from engine.datasets.minimal_pairs.files import read_pairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs import records, views
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.files import FILES, file_tables
from engine.evaluations.minimal_pairs.records import THESE
from engine.evaluations.minimal_pairs.scoring_rules import PLL, WORDS
from engine.evaluations.minimal_pairs.unigrams import with_unigrams
from engine.measures.minimal_pairs.acceptability import NORMALIZATIONS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser, several_files=True)
    parser.add_argument("--pll", choices=PLL, default="word-l2r", help="how masked models are scored")
    parser.add_argument("--words", choices=WORDS, default="auto", help="what a word is to word-l2r")
    parser.add_argument("--bos", action=argparse.BooleanOptionalAction, default=True,
                        help="score causal models from the BOS token, where the tokenizer has one (default), or leave "
                             "the first token unscored")
    parser.add_argument("--leading-space", action=argparse.BooleanOptionalAction, default=False,
                        help="put a space in front of each sentence (causal); not by default")
    parser.add_argument("--precision", choices=records.PRECISIONS, default="fp32",
                        help="exact-decisions: bf16, and fp32 wherever that could change a winner")
    parser.add_argument("--shared-tokens", action="store_true",
                        help="CrowS-Pairs' own measure, too: only the tokens that both sentences share (masked models)")
    parser.add_argument("--normalization", "--normalizations", action="extend", nargs="+", choices=NORMALIZATIONS,
                        metavar="N", help=f"of {', '.join(NORMALIZATIONS)}; all by default")
    parser.add_argument("--alpha", type=float, default=views.DEFAULT_ALPHA, help="of PenLP (default 0.8)")
    parser.add_argument("--unigrams", default=THESE, metavar="D",
                        help="corpus of SLOR's unigrams: these sentences (default), novel, wiki or an idf "
                             "dictionary's FILE")
    parser.add_argument("--by", default=views.CATEGORY, metavar="COLUMN",
                        help="what sorts the pairs in categories.csv: the category, source, or a column such as UID")
    parser.add_argument("--seed", type=int, default=0, help="of the matched sample, and of exact decisions' sample")


def run(options: argparse.Namespace) -> None:
    """Score and write pairs.csv, summary.csv and the tables beside them."""
    if options.alpha < 0:
        raise InputError(f"--alpha must be 0 or more; got {options.alpha}.")
    dataset = read_pairs([(path.name, path) for path in options.data], named_columns(options))
    print(f"format: {dataset.format}", file=sys.stderr)
    settings = records.Settings(
        models=tuple(options.model), pll=options.pll, words=options.words, precision=options.precision,
        bos=options.bos, leading_space=options.leading_space, shared_tokens=options.shared_tokens, seed=options.seed,
    )
    with gateway_session(options) as session:
        result = evaluate(settings, dataset, session)
    if options.unigrams != THESE:
        result = with_unigrams(result, options.unigrams)
    print_notices(result.notices)
    signature = {**result.signature, "alpha": options.alpha, "unigrams": result.unigrams, "format": result.format,
                 "rules": result.rules}
    normalizations = tuple(dict.fromkeys(options.normalization or views.available(result.pairs)))
    write_tables(options.out, signature, FILES,
                 file_tables(result, normalizations, options.alpha, options.by, options.seed))
