"""`python -m engine clean`: delete runs that are old or in the bin, or files without a run; empty the cache."""

from __future__ import annotations

import argparse

from engine.commands.shared.common import add_cache_argument, say
from engine.errors import InputError
from engine.evaluations.shared import dictionaries
from engine.language.quantities import count
from engine.messages.message import Message
from engine.runs.access.configuration import checked_days
from engine.runs.open import Engine, open_engine
from engine.runs.operation.retention import delete_expired, empty_bin, expired, long_in_bin
from engine.runs.storage.unlisted import delete_unlisted, find_unlisted

CONFIGURED = object()  # --bin without a number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "--older-than",
        type=float,
        metavar="DAYS",
        help=Message("delete runs that ended more than this many days ago (default: HAKARI_RETENTION_DAYS)"),
    )
    parser.add_argument(
        "--bin",
        type=float,
        nargs="?",
        const=CONFIGURED,
        metavar="DAYS",
        help=Message(
            "delete for good the runs that were moved to the bin more than this many days ago "
            "(without a number: HAKARI_BIN_DAYS)"
        ),
    )
    parser.add_argument(
        "--pieces",
        action="store_true",
        help=Message("also empty the cache of finished pieces, which holds the tokens of sentences"),
    )
    parser.add_argument(
        "--unlisted",
        action="store_true",
        help=Message("delete results and datasets on the disk that are not in the list of runs"),
    )
    parser.add_argument("--dry-run", action="store_true", help=Message("only print what would be deleted"))
    add_cache_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Delete, and print what was deleted."""
    with open_engine(options.cache, resume=False) as engine:
        bin_days = engine.configuration.bin_days if options.bin is CONFIGURED else options.bin
        days = options.older_than if options.older_than is not None else engine.configuration.retention_days
        if days is None and not (options.pieces or options.unlisted or options.bin is not None):
            raise InputError(
                Message(
                    "Nothing to clean: give --older-than DAYS, set HAKARI_RETENTION_DAYS, or give "
                    "--bin, --pieces or --unlisted."
                )
            )
        for name, value in (("--older-than", days), ("--bin", bin_days)):
            if value is not None:
                checked_days(name, value)
        if days is not None:
            n = len(expired(engine.store, days)) if options.dry_run else delete_expired(engine.store, engine.runs, days)
            say(
                Message("Would be deleted: {runs}, ended more than {days:g} days ago.", runs=count(n, "run"), days=days)
                if options.dry_run
                else Message("Deleted: {runs}, ended more than {days:g} days ago.", runs=count(n, "run"), days=days)
            )
        if bin_days is not None:
            n = (
                len(long_in_bin(engine.store, bin_days))
                if options.dry_run
                else empty_bin(engine.store, engine.runs, bin_days)
            )
            say(
                Message(
                    "Would be deleted: {runs}, moved to the bin more than {bin_days:g} days ago.",
                    runs=count(n, "run"),
                    bin_days=bin_days,
                )
                if options.dry_run
                else Message(
                    "Deleted: {runs}, moved to the bin more than {bin_days:g} days ago.",
                    runs=count(n, "run"),
                    bin_days=bin_days,
                )
            )
        if options.unlisted:
            _clean_unlisted(engine, dry_run=options.dry_run)
        if options.pieces:
            size = engine.cache.used_bytes()
            if not options.dry_run:
                engine.cache.clear()
            say(
                Message("{size:,.1f} MB of finished pieces would be removed.", size=size / 2**20)
                if options.dry_run
                else Message("{size:,.1f} MB of finished pieces were removed.", size=size / 2**20)
            )


def _clean_unlisted(engine: Engine, *, dry_run: bool) -> None:
    unlisted = find_unlisted(engine.store, engine.artifacts)
    for run_id in unlisted.results:
        print(f"result {run_id}")
    for name, _ in unlisted.datasets:
        print(f"dataset {name}")
    if dry_run:
        say(Message("{unlisted} without a run would be deleted.", unlisted=unlisted))
        return
    n_results, n_datasets, n_bytes = delete_unlisted(unlisted, engine.store, engine.artifacts)
    for run_id in unlisted.results:
        dictionaries.forget(run_id)
    say(
        Message(
            "{n_results} and {n_datasets} ({n_bytes:,.1f} MB) without a run were deleted.",
            n_results=count(n_results, "result"),
            n_datasets=count(n_datasets, "dataset"),
            n_bytes=n_bytes / 2**20,
        )
    )
