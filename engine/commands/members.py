"""`python -m engine members`: list who has signed in, end sign-ins, release an address, export or delete a member's data."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.commands.shared.common import add_directory_argument
from engine.errors import InputError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared import dictionaries
from engine.language.quantities import count
from engine.messages.message import Message
from engine.runs.access.look_alikes import normalized_address
from engine.runs.entries import RunEntries
from engine.runs.open import opened_storage
from engine.runs.operation.member_data import export_member, forget_member
from engine.runs.pretraining.jobs import PretrainingJobs
from engine.runs.storage import members

EXPORT, FORGET = "export", "forget"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=(EXPORT, FORGET),
        help=Message(
            "export: write all that is kept of the member ADDRESS into the archive --out; "
            "forget: delete all of it for good, shared runs too"
        ),
    )
    parser.add_argument("address", nargs="?", metavar="ADDRESS", help=Message("the address of the member"))
    parser.add_argument(
        "--out", type=Path, metavar="ZIP", help=Message("with export: the archive, a file that is not there yet")
    )
    parser.add_argument(
        "--sign-out",
        metavar="ADDRESS",
        help=Message("end all sign-ins of a member; pages that are open are closed within 10 seconds"),
    )
    parser.add_argument(
        "--release",
        metavar="ADDRESS",
        help=Message(
            "let another account sign in with the address, to which the runs and data sets "
            "of the present one then belong; its sign-ins end"
        ),
    )
    parser.add_argument(
        "--without-runs",
        action="store_true",
        help=Message("with --release: the next account starts without runs; those of the present one stay its own"),
    )
    add_directory_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Carry out what was asked, or print the accounts. Raises InputError for an unknown address."""
    if options.action:
        _member_data(options)
        return
    if options.out:
        raise InputError(Message("--out belongs to export ADDRESS."))
    if options.without_runs and not options.release:
        raise InputError(Message("--without-runs belongs to --release ADDRESS."))
    if options.sign_out and options.release:
        raise InputError(Message("Give --sign-out or --release, not both: --release ends the sign-ins, too."))
    with opened_storage(options.directory) as (store, artifacts, _):
        if options.sign_out:
            account = members.by_address(store, normalized_address(options.sign_out.strip()))
            n_ended = members.end_sign_ins(store, account=account.id)
            print(
                Message(
                    "{n_ended} of {shown_address} ended.",
                    n_ended=count(n_ended, "sign-in"),
                    shown_address=account.shown_address,
                )
            )
        elif options.release:
            account = members.by_address(store, normalized_address(options.release.strip()))
            run_ids = members.release(store, account, with_runs=not options.without_runs)
            entries = RunEntries(store, artifacts, EVALUATIONS)
            for run_id in run_ids:
                entries.refresh(run_id)
            print(
                Message("{shown_address} is released; ", shown_address=account.shown_address)
                + (
                    Message(
                        "its {run_ids} are for the next account that signs in with it.",
                        run_ids=count(len(run_ids), "run"),
                    )
                    if not options.without_runs
                    else Message("the runs stay those of its former account.")
                )
            )
        else:
            open_sign_ins = [sign_in.account for sign_in in members.member_sign_ins(store).values()]
            accounts = members.every(store)
            if not accounts:
                print(Message("No account has signed in yet."))
            for account in accounts:
                print(
                    f"{account.shown_address}  {account.id}  {account.issuer}  "
                    f"{count(open_sign_ins.count(account.id), 'sign-in')}"
                )


def _member_data(options: argparse.Namespace) -> None:
    """Export or delete what is kept of a member."""
    if options.sign_out or options.release or options.without_runs:
        raise InputError(
            Message("{action} goes with no other option than --directory and --out.", action=options.action)
        )
    if not options.address or (options.action == EXPORT) != (options.out is not None):
        raise InputError(Message("Give export ADDRESS --out ZIP, or forget ADDRESS."))
    with opened_storage(options.directory) as (store, artifacts, data_dir):
        account = members.by_address(store, normalized_address(options.address.strip()))
        dictionaries.look_in(data_dir / "dictionaries")
        jobs = PretrainingJobs(data_dir, 0)
        if options.action == EXPORT:
            n_files = export_member(store, artifacts, jobs, account, options.out)
            print(
                Message(
                    "{n_files} of {shown_address} are in {out}.",
                    n_files=count(n_files, "file"),
                    shown_address=account.shown_address,
                    out=options.out,
                )
            )
            return
        n_rows = forget_member(store, artifacts, jobs, account)
        print(
            Message(
                "All of {shown_address} is deleted: {runs}, {datasets}, {ratings}, {comments}, {sign_ins}. "
                "Lines of the audit log and finished pieces in the cache stay; clean --pieces empties the cache.",
                shown_address=account.shown_address,
                runs=count(n_rows["runs"], "run"),
                datasets=count(n_rows["kept_datasets"], "dataset"),
                ratings=count(n_rows["ratings"], "rating"),
                comments=count(n_rows["comments"], "comment"),
                sign_ins=count(n_rows["sign_ins"], "sign-in"),
            )
        )
