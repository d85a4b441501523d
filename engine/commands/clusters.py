"""`python -m engine clusters`: in-class and out-of-class dispersion of labelled sentences under each model."""

from __future__ import annotations

import argparse

from engine.commands.common import (
    add_evaluation_arguments,
    gateway_session,
    print_notices,
    read_columns,
    write_tables,
)
from engine.datasets import labelled_sentences
from engine.evaluations import clusters

MODEL_COLUMNS = ["model", "n_sentences", "n_classes", "in_class_dispersion", "out_of_class_dispersion", "score", "rank"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser)
    parser.add_argument("--layer", type=int, metavar="N", help="hidden state, 0 = embeddings (default: the last)")
    parser.add_argument("--pooling", choices=clusters.POOLINGS, default="cls")
    parser.add_argument("--normalize", default="", metavar="STEPS", help="nfkc, lower or nfkc,lower")
    parser.add_argument("--projection", choices=clusters.PROJECTIONS, default="umap", help="of the map in points.csv")
    parser.add_argument("--seed", type=int, default=0, help="of the map")


def run(options: argparse.Namespace) -> None:
    """Weigh and write models.csv, classes.csv, points.csv and excluded.csv."""
    dataset = labelled_sentences.from_table(*read_columns(options, options.data))
    settings = clusters.Settings(
        models=tuple(options.model), layer=options.layer, pooling=options.pooling, projection=options.projection,
        normalize=tuple(step for step in options.normalize.split(",") if step), seed=options.seed,
    )
    with gateway_session(options) as session:
        result = clusters.evaluate(settings, dataset, session)
    print_notices(result.notices)
    write_tables(options.out, result.signature, {
        "models": result.models[MODEL_COLUMNS], "classes": result.classes, "points": result.points,
        "excluded": result.excluded,
    })
