"""`python -m engine minimal-pairs`: does a model prefer the acceptable sentences, or the shorter ones?"""

from __future__ import annotations

import argparse

from engine.commands.common import (
    add_evaluation_arguments,
    gateway_session,
    print_notices,
    read_columns,
    write_tables,
)
from engine.datasets import minimal_pairs as datasets
from engine.evaluations import minimal_pairs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser, several_files=True)
    parser.add_argument("--pll", choices=minimal_pairs.PLL, default="word-l2r", help="how masked models are scored")
    parser.add_argument("--words", choices=minimal_pairs.WORDS, default="auto", help="what a word is to word-l2r")
    parser.add_argument("--no-bos", action="store_true", help="leave the first token of a causal model unscored")
    parser.add_argument("--leading-space", action="store_true", help="put a space in front of each sentence (causal)")
    parser.add_argument("--alpha", type=float, default=minimal_pairs.DEFAULT_ALPHA, help="of PenLP (default 0.8)")
    parser.add_argument("--precision", choices=minimal_pairs.PRECISIONS, default="fp32")


def run(options: argparse.Namespace) -> None:
    """Score and write pairs.csv, summary.csv, tokens.csv and excluded.csv."""
    dataset = datasets.joined([datasets.from_table(*read_columns(options, path)) for path in options.data])
    settings = minimal_pairs.Settings(
        models=tuple(options.model), pll=options.pll, words=options.words, precision=options.precision,
        bos=not options.no_bos, leading_space=options.leading_space,
    )
    with gateway_session(options) as session:
        result = minimal_pairs.evaluate(settings, dataset, session)
    print_notices(result.notices)
    columns = ["model", "row", "category", "acceptable_tokens", "unacceptable_tokens", "acceptable_log_likelihood",
               "unacceptable_log_likelihood", "identical", "acceptable", "unacceptable"]
    write_tables(options.out, {**result.signature, "alpha": options.alpha}, {
        "pairs": result.pairs[columns], "summary": minimal_pairs.summary(result, alpha=options.alpha),
        "tokens": result.tokens, "excluded": result.excluded,
    })
