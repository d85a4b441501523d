"""`python -m engine clean`: delete runs that ended long ago, and empty the cache."""

from __future__ import annotations

import argparse

from engine.commands.common import add_cache_argument
from engine.errors import InputError
from engine.runs.open import open_engine
from engine.runs.operation.retention import delete_expired, expired


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--older-than", type=float, metavar="DAYS",
                        help="delete runs that ended more than so many days ago (default: HAKARI_RETENTION_DAYS)")
    parser.add_argument("--pieces", action="store_true",
                        help="also empty the cache of finished pieces, which holds the tokens of sentences")
    parser.add_argument("--dry-run", action="store_true", help="only print what would be deleted")
    add_cache_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Delete, and print what was deleted."""
    with open_engine(options.cache, resume=False) as engine:
        days = options.older_than if options.older_than is not None else engine.configuration.retention_days
        if days is None and not options.pieces:
            raise InputError("Nothing to clean: give --older-than DAYS, set HAKARI_RETENTION_DAYS, or give --pieces.")
        if days is not None and days < 0:
            raise InputError(f"--older-than is a number of days, 0 or more; got {days:g}.")
        verb = "would be" if options.dry_run else "were"
        if days is not None:
            n = (len(expired(engine.store, days)) if options.dry_run
                 else delete_expired(engine.store, engine.runs, days))
            print(f"{n} runs that ended more than {days:g} days ago {verb} deleted.")
        if options.pieces:
            size = engine.cache.used_bytes()
            if not options.dry_run:
                engine.cache.clear()
            print(f"{size / 2**20:,.1f} MB of finished pieces {verb} removed.")
