"""`python -m engine metric-study`: which model, dictionary and penalty follow human scores best?"""

from __future__ import annotations

import argparse

from engine.commands.common import add_evaluation_arguments, gateway_session, print_notices, read_columns, write_tables
from engine.datasets import sentence_pairs
from engine.errors import InputError
from engine.evaluations.alignment.records import (
    CRITERIA,
    PAIRINGS,
    PENALTIES,
    PRECISIONS,
    READING_ENGINES,
    READING_SCOPES,
    THRESHOLD_KINDS,
    UNITS,
    WITHOUT_DICTIONARY,
    Scoring,
)
from engine.evaluations.metric_study import records
from engine.evaluations.metric_study.evaluate import evaluate
from engine.evaluations.metric_study.tables import tables
from engine.evaluations.shared.dictionaries import dictionary_for
from engine.inference.gateway import GatewaySession


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser)
    parser.add_argument("--layer", type=int, metavar="N", help="hidden state, 0 = embeddings (default: the last)")
    parser.add_argument("--all-layers", action="store_true", help="correlate at every layer, too (layers.csv)")
    parser.add_argument("--idf", action="append", metavar="D", default=[],
                        help="none, references, novel, wiki or a dictionary's FILE; may be repeated (default: none, "
                             "references, and novel and wiki where they fit a model's tokenizer)")
    parser.add_argument("--penalty", action="append", choices=PENALTIES, default=[],
                        help="may be repeated (default: both)")
    parser.add_argument("--score", choices=records.SCORES, default="f1", help="what is held against the humans")
    parser.add_argument("--threshold", type=float, default=Scoring.threshold, metavar="X",
                        help="where low-frequency tokens begin (default: 0.7 of a dictionary's entries)")
    parser.add_argument("--threshold-kind", choices=THRESHOLD_KINDS, default=Scoring.threshold_kind)
    parser.add_argument("--criterion", choices=CRITERIA, default=Scoring.criterion, help="what the penalty concerns")
    parser.add_argument("--pairing", choices=PAIRINGS, default=Scoring.pairing)
    parser.add_argument("--unit", choices=UNITS, default=Scoring.unit)
    parser.add_argument("--reading-engine", choices=READING_ENGINES, default=Scoring.reading_engine)
    parser.add_argument("--reading-scope", choices=READING_SCOPES, default=Scoring.reading_scope)
    parser.add_argument("--no-special-matches", action="store_true",
                        help="let no token take [CLS] or [SEP] as its best match (bert_score lets it)")
    parser.add_argument("--no-surface", action="store_true", help="leave SentBLEU and chrF out")
    parser.add_argument("--pooling", choices=records.POOLINGS, default="mean",
                        help="of the sentence vectors whose cosine stands beside")
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32")


def run(options: argparse.Namespace) -> None:
    """Study and write settings.csv, methods.csv, annotators.csv, agreement.csv, pairs.csv, cases.csv, layers.csv."""
    dataset = sentence_pairs.from_table(*read_columns(options, options.data, sentence_pairs.MULTI_COLUMN_ROLES))
    scoring = Scoring(
        threshold=options.threshold, threshold_kind=options.threshold_kind, criterion=options.criterion,
        pairing=options.pairing, match_special=not options.no_special_matches, reading_engine=options.reading_engine,
        reading_scope=options.reading_scope, unit=options.unit,
    )
    with gateway_session(options) as session:
        settings = records.Settings(
            models=tuple(options.model), layer=options.layer, all_layers=options.all_layers,
            idfs=tuple(options.idf) or _fitting(options.model, session),
            penalties=tuple(options.penalty) or records.PENALTIES, score=options.score, scoring=scoring,
            surface=not options.no_surface, pooling=options.pooling, precision=options.precision,
        )
        result = evaluate(settings, dataset, session)
    print_notices(result.notices)
    write_tables(options.out, result.signature, tables(result))


def _fitting(models: list[str], session: GatewaySession) -> tuple[str, ...]:
    """What needs no dictionary, and the paper's two where at least one model can use them."""
    def fits(idf: str, model: str) -> bool:
        try:
            dictionary_for(idf, session.describe(model).tokenizer_fingerprint, model)
        except InputError:
            return False
        return True

    return (*WITHOUT_DICTIONARY, *(idf for idf in records.IDFS if any(fits(idf, model) for model in models)))
