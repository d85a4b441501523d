"""`python -m engine classification`: how well a small network tells labelled sentences apart by models' vectors."""

from __future__ import annotations

import argparse

from engine.commands.common import add_evaluation_arguments, gateway_session, print_notices, write_tables
from engine.commands.labelled import add_labelled_arguments, read_labelled
from engine.errors import InputError
from engine.evaluations.classification import records
from engine.evaluations.classification.evaluate import evaluate
from engine.evaluations.shared.declared_tables import frames_of
from engine.measures.classification import TEST_SHARE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser)
    add_labelled_arguments(parser)
    parser.add_argument("--layer", type=int, metavar="N", help="hidden state, 0 = embeddings (default: the last)")
    parser.add_argument("--pooling", choices=records.POOLINGS, default="cls")
    parser.add_argument("--normalize", default="", metavar="STEPS", help="nfkc, lower or nfkc,lower")
    parser.add_argument("--split", choices=records.SPLITS, default="tail",
                        help="test on the last 20 %% of each class, or on a random 20 %%, another in each run")
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="number of runs (default 5)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the first run; the others follow it")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--hidden", default="200,200", metavar="N,N", help="widths of the hidden layers")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--test-share", type=float, default=TEST_SHARE, help="of each class (default 0.2)")
    parser.add_argument("--standardize", action="store_true", help="each dimension to mean 0 and variance 1 first")


def run(options: argparse.Namespace) -> None:
    """Train, test and write models.csv, runs.csv, confusion.csv and what else the result holds."""
    dataset = read_labelled(options)
    settings = records.Settings(
        models=tuple(options.model), layer=options.layer, pooling=options.pooling, split=options.split,
        normalize=tuple(step for step in options.normalize.split(",") if step), seeds=options.seeds, seed=options.seed,
        epochs=options.epochs, hidden=_widths(options.hidden), batch_size=options.batch_size,
        test_share=options.test_share, standardize=options.standardize,
    )
    with gateway_session(options) as session:
        result = evaluate(settings, dataset, session)
    print_notices(result.notices)
    write_tables(options.out, result.signature, records.FILES, frames_of(result, records.FILES))


def _widths(given: str) -> tuple[int, ...]:
    try:
        return tuple(int(width) for width in given.split(","))
    except ValueError:
        raise InputError(f"--hidden takes whole numbers separated by commas, such as 200,200; got {given!r}.") from None
