"""Shared by the commands: common options, a session with workers, writing of tables."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

from engine.commands.shared import output
from engine.commands.shared.options import add_options, settings_from
from engine.commands.shared.tracking import add_tracking_argument
from engine.datasets import reader_process, sample_data
from engine.datasets.formats import files
from engine.datasets.formats.delimited import write_csv
from engine.datasets.formats.files import Reading
from engine.datasets.hub.names import FORM
from engine.errors import InputError
from engine.evaluations.shared.declared_tables import Table
from engine.evaluations.shared.input_columns import with_input
from engine.evaluations.shared.signature import SIGNATURE_FILE
from engine.inference.gateway import GatewaySession
from engine.messages.languages import tr, translated
from engine.messages.message import Message, list_of
from engine.runs.computing import open_computing

PROGRESS_SECONDS = 1.0
SAMPLES = Message("or a sample: {NAMES}", NAMES=list_of(sample_data.NAMES))


def add_evaluation_arguments(
    parser: argparse.ArgumentParser, *, several_files: bool = False, endpoints: bool = False, needs_model: bool = True
) -> None:
    """Declare --data, --column, --model, --out, --track, --cache and how files are read.

    endpoints: whether --model may name one. needs_model: whether --model has to be given.
    """
    if several_files:
        parser.add_argument(
            "--data",
            required=True,
            type=_data_file,
            metavar="FILE",
            action="extend",
            nargs="+",
            help=Message(
                "CSV, TSV, JSONL, Parquet or Excel, one or several, or zips or folders of them; data of the Hugging Face "
                "Hub, {FORM}; {SAMPLES}",
                FORM=FORM,
                SAMPLES=SAMPLES,
            ),
        )
    else:
        parser.add_argument(
            "--data",
            required=True,
            type=_data_file,
            metavar="FILE",
            help=Message(
                "CSV, TSV, JSONL, Parquet or Excel; data of the Hugging Face Hub, {FORM}; {SAMPLES}",
                FORM=FORM,
                SAMPLES=SAMPLES,
            ),
        )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help=Message(
            "which column has which role, if it is not recognised by its name; nothing "
            "after = means no column; may be repeated"
        ),
    )
    add_options(parser, Reading)
    parser.add_argument(
        "--model",
        required=needs_model,
        default=None if needs_model else [],
        action="append",
        metavar="M",
        help=Message(
            "builtin/bert-mini-ja, builtin/gpt2-mini-ja, a Hugging Face id (id@revision), a "
            "local directory, a GGUF file (its path, or id:FILE.gguf), endpoint/NAME (HAKARI_ENDPOINTS), or "
            "CARD=DIRECTORY with a card of the papers; LABEL=M gives it a label for figures and tables; may be "
            "repeated"
        )
        if endpoints
        else Message(
            "builtin/bert-mini-ja, builtin/gpt2-mini-ja, a Hugging Face id (id@revision), a "
            "local directory, a GGUF file (its path, or id:FILE.gguf), or CARD=DIRECTORY with a card of the papers; "
            "LABEL=M gives it a label for figures and tables; may be repeated"
        ),
    )
    parser.add_argument(
        "--out", required=True, type=output.folder, metavar="DIR", help=Message("folder for the tables")
    )
    add_tracking_argument(parser)
    add_cache_argument(parser)


def add_cache_argument(parser: argparse.ArgumentParser) -> None:
    """Declare --cache."""
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help=Message("folder of the cache (default: HAKARI_DATA_DIR)")
    )


def add_directory_argument(parser: argparse.ArgumentParser) -> None:
    """Declare --directory."""
    parser.add_argument(
        "--directory", type=Path, metavar="DIR", help=Message("data directory (default: HAKARI_DATA_DIR)")
    )


def read_columns(
    options: argparse.Namespace, path: Path, from_table: Callable[..., Any], several: Collection[str] = ()
) -> tuple[files.Table, dict[str, Any] | None]:
    """The table of a file, and the columns named by --column or None; see `named_columns`.

    from_table: makes the dataset of both. Raises InputError, of all bad rows where some cannot be read.
    """
    columns = named_columns(options, several)
    judge = partial(from_table, columns=columns)
    return reader_process.read(files.read_table, path, judge=judge, **reading(options)), columns


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """How files are read, as --skip-bad-rows and --encoding say it, by the names of the readers' arguments."""
    return asdict(settings_from(options, Reading))


def skips_bad_rows(options: argparse.Namespace) -> bool:
    """Whether --skip-bad-rows is given."""
    return settings_from(options, Reading).skip_bad_rows


def named_columns(options: argparse.Namespace, several: Collection[str] = ()) -> dict[str, Any] | None:
    """The columns named by --column, by role; None if the option is not used.

    A role in `several` may be repeated and has a tuple of columns; any other has one column, or "" for none. Raises
    InputError.
    """
    columns: dict[str, Any] = {}
    for role_and_name in options.column:
        role, equals, name = role_and_name.partition("=")
        if not equals or not role:
            raise InputError(
                Message(
                    "--column takes ROLE=NAME, such as text=title, or ROLE= for none; got {role_and_name!r}.",
                    role_and_name=role_and_name,
                )
            )
        if role in several:
            columns[role] = (*columns.get(role, ()), *([name] if name else []))
        elif role in columns:
            raise InputError(
                Message(
                    "The role '{role}' takes one column; got '{first}' and '{second}'.",
                    role=role,
                    first=columns[role],
                    second=name,
                )
            )
        else:
            columns[role] = name
    return columns or None


@contextmanager
def gateway_session(options: argparse.Namespace) -> Iterator[GatewaySession]:
    """A session with its own workers, which end with it, and progress on stderr."""
    with open_computing(options.cache) as computing:
        yield computing.gateway.session(f"command-{os.getpid()}", on_progress=progress_printer())


def write_tables(
    out: Path, signature: dict[str, Any], tables: Sequence[Table], frames: Mapping[str, pd.DataFrame], dataset: Any
) -> None:
    """`settings.json` and one UTF-8 CSV for each of `tables`, in `out`; `frames` by the tables' names.

    The columns are the declared ones, in their order; to tables of rows of the input those of `dataset` are appended.
    A table that is not among the frames, or that is only written
    with rows and has none, is left out. Raises TypeError for a frame that is not as declared.
    """
    out.mkdir(parents=True, exist_ok=True)
    (out / SIGNATURE_FILE).write_text(json.dumps(signature, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for table in tables:
        frame = frames.get(table.name)
        if frame is not None and (len(frame) or not table.only_with_rows):
            written = table.arranged(with_input(table, frame, dataset))
            write_csv(written, out / f"{table.name}.csv")


def print_notices(notices: tuple[str, ...]) -> None:
    """Print notices, such as excluded rows, on stderr."""
    for notice in notices:
        print(tr("note: {notice}", notice=translated(notice)), file=sys.stderr)


def say(text: str, file: TextIO | None = None) -> None:
    """Print a finished sentence in the terminal's language, on stdout unless `file` is another."""
    print(translated(text), file=file)


def progress_printer() -> Callable[[int, int, str], None]:
    """Prints progress on stderr: of a step that goes on about once a second, and its end."""
    last_printed = 0.0

    def report(done: int, total: int, label: str) -> None:
        nonlocal last_printed
        if done == total or time.monotonic() - last_printed >= PROGRESS_SECONDS:
            last_printed = time.monotonic()
            # the total of a compressed tar is unknown
            counted = tr("{done:,} of {total:,}", done=done, total=total) if total else f"{done:,}"
            print(f"{translated(label)}: {counted}", file=sys.stderr, flush=True)

    return report


def _data_file(name: str) -> Path:
    try:
        return sample_data.file_of(name)
    except InputError as error:
        raise argparse.ArgumentTypeError(error.message) from error
