"""`hakari export`: finished runs as a site of static pages, to put beside a paper."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine.commands.shared import output
from engine.errors import InputError, RunError
from engine.messages.languages import mark, tr, tr_n
from engine.messages.message import Message

SUMMARY = mark("write finished runs as a site that needs no server")
SITE_HELP = mark("folder of the site; it is made, or has to be empty or an earlier site")
RUNS_HELP = mark("id of a run, or a link to it with the choices of its page; in the order of the site")
TITLE_HELP = mark("title of the site")
DIRECTORY_HELP = mark("data directory (default: HAKARI_DATA_DIR)")
MARKER = "plotly.min.js"  # a folder with it is an earlier site


def add_command(commands: Any) -> None:
    """Add it to the subparsers of argparse."""
    command = commands.add_parser("export", help=SUMMARY, description=SUMMARY)
    command.set_defaults(run=run)
    command.add_argument("--site", required=True, type=output.folder, metavar="DIR", help=SITE_HELP)
    command.add_argument("runs", nargs="+", metavar="RUN", help=RUNS_HELP)
    command.add_argument("--title", default="", help=TITLE_HELP)
    command.add_argument("--directory", type=Path, metavar="DIR", help=DIRECTORY_HELP)


def run(options: argparse.Namespace) -> None:
    """Draw the pages of the runs in both languages, and write the site."""
    from dashboard.streamlit_internals import expect_no_server  # Streamlit, for this command alone

    expect_no_server()
    from dashboard.shared.exports.site.drawing import asked_for, drawn
    from dashboard.shared.exports.site.pages import site_files
    from engine.runs.open import open_engine

    folder: Path = options.site
    if folder.exists() and not folder.is_dir():
        raise InputError(Message("{folder} is a file. Name a folder for the site.", folder=folder))
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).exists():
        raise InputError(Message("{folder} holds something else than a site. Name an empty folder.", folder=folder))
    asked = [asked_for(text) for text in options.runs]
    with open_engine(options.directory, resume=False) as engine:  # leave unfinished runs to the dashboard
        by_language = drawn(engine, asked, _progress)
        try:
            n_bytes = _write(folder, site_files(by_language, options.title))
        except OSError as error:  # such as a full disk
            raise RunError(
                Message("The site cannot be written into {folder}: {error}.", folder=folder, error=error.strerror)
            ) from error
    size, index = n_bytes / 1e6, folder / "index.html"
    print(
        tr_n(
            "{index}: {n} run, {size:.1f} MB", "{index}: {n:,} runs, {size:.1f} MB", len(asked), index=index, size=size
        )
    )


def _write(folder: Path, files: Iterable[tuple[str, bytes]]) -> int:
    """Write the files, and remove what an earlier site has beside them, so that no run stays public; their bytes."""
    written: set[Path] = set()
    n_bytes = 0
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written.add(path)
        n_bytes += len(content)
    for parent, ending in {(path.parent, path.suffix) for path in written if path.parent != folder}:
        for path in set(parent.glob(f"*{ending}")) - written:
            path.unlink()
    return n_bytes


def _progress(done: int, total: int) -> None:
    print(tr("{done} of {total} runs drawn", done=done, total=total), file=sys.stderr)
