"""`python -m engine minimal-pairs`: does a model prefer the acceptable sentences, or the shorter ones?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import pandas as pd

from engine.commands.common import add_evaluation_arguments, gateway_session, named_columns, print_notices, write_tables
from engine.commands.options import add_options, settings_from
from engine.datasets.minimal_pairs.files import read_pairs
from engine.evaluations.minimal_pairs import comparison, fair_subsets, length_effects, records, stereotypes, views
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.records import THESE, Shown
from engine.evaluations.minimal_pairs.unigrams import with_unigrams
from engine.measures.minimal_pairs.acceptability import NORMALIZATIONS
from engine.options import check

PAIR_COLUMNS = ["model", "row", "category", "acceptable_tokens", "unacceptable_tokens", "acceptable_log_likelihood",
                "unacceptable_log_likelihood", "identical", "acceptable", "unacceptable", "acceptable_unknown",
                "unacceptable_unknown", "scored_in", "acceptable_unigrams", "unacceptable_unigrams"]
# Written only where there is something to write.
OPTIONAL = ("precision", "shared_tokens", "comparisons")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser, several_files=True)
    add_options(parser, records.Settings)
    parser.add_argument("--normalization", "--normalizations", action="extend", nargs="+", choices=NORMALIZATIONS,
                        metavar="N", help=f"of {', '.join(NORMALIZATIONS)}; all by default")
    add_options(parser, Shown)


def run(options: argparse.Namespace) -> None:
    """Score and write pairs.csv, summary.csv and the tables beside them."""
    shown = settings_from(options, Shown)
    check(shown)
    dataset = read_pairs([(path.name, path) for path in options.data], named_columns(options))
    print(f"format: {dataset.format}", file=sys.stderr)
    settings = settings_from(options, records.Settings, models=tuple(options.model))
    with gateway_session(options) as session:
        result = evaluate(settings, dataset, session)
    if shown.unigrams != THESE:
        result = with_unigrams(result, shown.unigrams)
    print_notices(result.notices)
    signature = {**result.signature, "alpha": shown.alpha, "unigrams": result.unigrams, "format": result.format,
                 "rules": result.rules}
    write_tables(options.out, signature, _tables(result, shown, options.normalization))


def _tables(result: records.Result, shown: Shown, normalizations: list[str] | None) -> dict[str, pd.DataFrame]:
    alpha, by, seed = shown.alpha, shown.by, result.settings.seed
    chosen = tuple(dict.fromkeys(normalizations or views.available(result.pairs)))
    subsets = [subset for subset in fair_subsets.SUBSETS if subset != fair_subsets.ALL]

    def each(view: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
        """A view under each normalisation, one below the other."""
        return pd.concat([view(one).assign(normalization=one) for one in chosen], ignore_index=True)

    def beside_fair(normalization: str) -> pd.DataFrame:
        return pd.concat([fair_subsets.beside(result, subset, normalization, alpha, field=by, seed=seed)
                          .assign(subset=subset) for subset in subsets])

    rows = [(subset, model, row) for subset in subsets
            for model, found in fair_subsets.fair_rows(result, subset, seed).items() for row in found.tolist()]
    tables = {
        "pairs": result.pairs[PAIR_COLUMNS], "summary": views.summary(result, chosen, alpha),
        "bias": length_effects.slopes(result, chosen, alpha),
        "correlations": length_effects.length_correlations(result, chosen, alpha),
        "differences": each(lambda one: views.by_difference(result, one, alpha)),
        "categories": each(lambda one: views.by_category(result, one, alpha, by)),
        "fair_subsets": pd.DataFrame(rows, columns=["subset", "model", "row"]), "fair_summary": each(beside_fair),
        "comparisons": each(lambda one: comparison.comparisons(result, one, alpha)),
        "ranking": each(lambda one: comparison.ranking(result, one, alpha)),
        "tokens": result.tokens, "excluded": result.excluded, "precision": result.precision,
        "shared_tokens": result.shared.drop(columns="item"),
    }
    if stereotypes.is_bias_benchmark(result):
        # The shared tokens know no normalisation: they would come again under each.
        found = [stereotypes.stereotypes(result, one, alpha, field=by) for one in chosen]
        tables["stereotypes"] = pd.concat(found, ignore_index=True).drop_duplicates()
    return {name: table for name, table in tables.items() if len(table) or name not in OPTIONAL}
