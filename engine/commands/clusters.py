"""`python -m engine clusters`: in-class and out-of-class dispersion of labelled sentences under each model."""

from __future__ import annotations

import argparse

from engine.commands.common import add_evaluation_arguments, gateway_session, print_notices, write_tables
from engine.commands.labelled import add_labelled_arguments, read_labelled
from engine.evaluations.clusters import records
from engine.evaluations.clusters.evaluate import evaluate
from engine.evaluations.shared.declared_tables import frames_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser)
    add_labelled_arguments(parser)
    parser.add_argument("--layer", type=int, metavar="N", help="hidden state, 0 = embeddings (default: the last)")
    parser.add_argument("--layer-curve", action="store_true", help="weigh every layer too, in layers.csv")
    parser.add_argument("--pooling", choices=records.POOLINGS, default="cls")
    parser.add_argument("--normalize", default="", metavar="STEPS", help="nfkc, lower or nfkc,lower")
    parser.add_argument("--centre", action="store_true",
                        help="take the mean vector off before cosines (map, neighbours); the dispersions do not change")
    parser.add_argument("--lone-classes", choices=records.LONE_CLASSES, default="keep",
                        help="what becomes of a class with one sentence")
    parser.add_argument("--resamples", type=int, default=1000, metavar="N",
                        help="of the bootstrap and of the label permutations (default 1000)")
    parser.add_argument("--projection", choices=records.PROJECTIONS, default="umap", help="of the map in points.csv")
    parser.add_argument("--dimensions", type=int, choices=records.DIMENSIONS, default=2, help="of the map")
    parser.add_argument("--n-neighbors", type=int, default=15, metavar="N", help="UMAP's; few show local detail")
    parser.add_argument("--min-dist", type=float, default=0.1, metavar="D", help="UMAP's; how tightly points may lie")
    parser.add_argument("--metric", choices=records.METRICS, default="cosine", help="of the map and the neighbours")
    parser.add_argument("--seed", type=int, default=0, help="of every random step")


def run(options: argparse.Namespace) -> None:
    """Weigh and write models.csv, classes.csv and every other table of the result."""
    dataset = read_labelled(options)
    settings = records.Settings(
        models=tuple(options.model), layer=options.layer, pooling=options.pooling,
        normalize=tuple(step for step in options.normalize.split(",") if step), centre=options.centre,
        layer_curve=options.layer_curve, projection=options.projection, dimensions=options.dimensions,
        n_neighbors=options.n_neighbors, min_dist=options.min_dist, metric=options.metric, seed=options.seed,
        resamples=options.resamples, lone_classes=options.lone_classes,
    )
    with gateway_session(options) as session:
        result = evaluate(settings, dataset, session)
    print_notices(result.notices)
    write_tables(options.out, result.signature, records.FILES, frames_of(result, records.FILES))
