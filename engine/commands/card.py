"""`python -m engine card`: evaluate one model, and hold it against the models with the same data and settings."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.commands.shared import output
from engine.commands.shared.common import (
    add_directory_argument,
    print_notices,
    progress_printer,
    reading,
    say,
    write_tables,
)
from engine.commands.shared.options import add_options
from engine.datasets import sample_data
from engine.datasets.formats.files import Reading
from engine.errors import EngineError, InputError, RunError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.model_card.assemble import card_of
from engine.evaluations.model_card.card import FILES, KINDS, CardOfModel
from engine.evaluations.model_card.files import readme, to_json_value
from engine.evaluations.model_card.model_index import eval_result_files
from engine.inference.gateway import GatewaySession
from engine.messages.message import Message, list_of, together
from engine.models.sources.facts import LoadingChecks
from engine.runs.access.access import RunAccess
from engine.runs.access.viewers import LOCAL, MEMBER_PREFIX, Viewer
from engine.runs.card_runs import CardTask, card_parts, card_tasks
from engine.runs.naming import unknown_run
from engine.runs.open import Engine, open_engine
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.store import UNFINISHED

CARD_FILE, README_FILE = "card.json", "README.md"
POLL_SECONDS = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "--model",
        required=True,
        metavar="M",
        help=Message(
            "builtin/bert-mini-ja, a Hugging Face id (id@revision), a local directory, "
            "endpoint/NAME, or CARD=DIRECTORY with a card of the papers; LABEL=M gives it a "
            "label"
        ),
    )
    parser.add_argument(
        "--evaluation",
        action="append",
        default=[],
        choices=KINDS,
        metavar="KIND",
        help=Message("{KINDS}; may be repeated; all that fit the model by default", KINDS=list_of(KINDS)),
    )
    parser.add_argument(
        "--data",
        action="append",
        default=[],
        metavar="KIND=FILE",
        help=Message(
            "data of one's own for an evaluation, in place of its sample; without "
            "--evaluation only the evaluations named here are run; may be repeated"
        ),
    )
    parser.add_argument(
        "--run",
        dest="runs",
        action="append",
        default=[],
        metavar="RUN",
        help=Message(
            "id of a stored run of the model, as in the address of its page: the card is "
            "made of these runs, and no model is run; may be repeated"
        ),
    )
    add_options(parser, Reading)
    parser.add_argument(
        "--out",
        required=True,
        type=output.folder,
        metavar="DIR",
        help=Message(
            "folder for the tables, {CARD_FILE}, and {README_FILE} for the Hugging Face Hub",
            CARD_FILE=CARD_FILE,
            README_FILE=README_FILE,
        ),
    )
    add_directory_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Evaluate as runs, or take stored ones, and write the card's tables, card.json and README.md."""
    with open_engine(options.directory, resume=False) as engine:  # leave unfinished runs to the dashboard
        card = _of_stored_runs(engine, options) if options.runs else _evaluated(engine, options)
    print_notices(card.notices)
    write_card(options.out, card)


def _evaluated(engine: Engine, options: argparse.Namespace) -> CardOfModel:
    """The card of a model that is evaluated now."""
    datasets = {kind: EVALUATIONS[kind].read(path, **reading(options)) for kind, path in _files(options.data).items()}
    kinds = options.evaluation or tuple(datasets)
    if unused := [kind for kind in datasets if kind not in kinds]:
        raise InputError(
            Message("--data is given for {unused}, which --evaluation does not name.", unused=list_of(unused))
        )
    access = engine.access(LOCAL)
    session = engine.gateway.session("card", on_progress=progress_printer())
    facts = session.describe(options.model)
    checks, refusal = _checks(session, options.model) if facts.endpoint is None else (None, "")
    runs = _carried_out(access, card_tasks(options.model, facts, session, kinds, datasets))
    parts = card_parts(access, runs, options.model, access.result)
    return card_of(options.model, parts.runs, facts, checks, refusal, parts.left_out)


def _of_stored_runs(engine: Engine, options: argparse.Namespace) -> CardOfModel:
    """The card of the runs that --run names, beside the models that whoever owns them can open."""
    if options.evaluation or options.data:
        raise InputError(
            Message("--run makes the card of stored runs and evaluates nothing: leave out --evaluation and --data.")
        )
    runs = []
    for run_id in dict.fromkeys(options.runs):
        record = engine.runs.get(run_id)
        if record is None:
            raise unknown_run(run_id)
        if record.kind not in KINDS:
            raise InputError(
                Message(
                    "A card is made of runs of {KINDS}; {run_id} is of {kind}.",
                    KINDS=list_of(KINDS),
                    run_id=run_id,
                    kind=record.kind,
                )
            )
        runs.append(record)
    owner = next((record.owner for record in runs if record.owner.startswith(MEMBER_PREFIX)), None)
    access = engine.access(LOCAL if owner is None else Viewer(owner))
    parts = card_parts(access, runs, options.model, engine.runs.result)
    return card_of(options.model, parts.runs, left_out=parts.left_out)


def write_card(out: Path, card: CardOfModel) -> None:
    """settings.json, the tables, card.json, README.md and the files of .eval_results, in `out`."""
    write_tables(out, card.signature, FILES, {table.name: getattr(card, table.name) for table in FILES}, None)
    text = json.dumps(to_json_value(card), indent=2, ensure_ascii=False)
    (out / CARD_FILE).write_text(text + "\n", encoding="utf-8")
    (out / README_FILE).write_text(readme(card), encoding="utf-8")
    for name, content in eval_result_files(card).items():
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text(content, encoding="utf-8")


def _files(words: Sequence[str]) -> Mapping[str, Path]:
    """The file of each evaluation that --data names. Raises InputError."""
    files: dict[str, Path] = {}
    for word in words:
        kind, equals, name = word.partition("=")
        if not equals or not name or kind not in KINDS:
            raise InputError(
                Message("--data takes KIND=FILE, KIND one of {KINDS}; got {word!r}.", KINDS=list_of(KINDS), word=word)
            )
        if kind in files:
            raise InputError(
                Message("--data names two files for {kind}. A card has one run of each evaluation.", kind=kind)
            )
        files[kind] = sample_data.file_of(name)
    return files


def _checks(session: GatewaySession, model: str) -> tuple[LoadingChecks | None, str]:
    """What loading the model finds, or why it is refused."""
    try:
        return session.loading_checks(model), ""
    except EngineError as error:
        return None, str(error)


def _carried_out(access: RunAccess, tasks: Sequence[CardTask]) -> list[RunRecord]:
    """The runs of the tasks once they have ended; those that failed are reported on stderr.

    A run that was carried out before is not repeated. Raises RunError where all failed.
    """
    run_ids = [access.submit(task.kind, task.settings, task.dataset).run_id for task in tasks]
    finished: list[RunRecord] = []
    failed: list[RunRecord] = []
    for run_id in run_ids:
        report, reported = progress_printer(), (0, 0, "")
        while (record := access.queue.wait(run_id, POLL_SECONDS)).state in UNFINISHED:
            if record.label and reported != (reported := (record.done, record.total, record.label)):
                report(*reported)
        (finished if record.state == "done" else failed).append(record)
    for record in failed:
        say(Message("left out: {name}: {message}", name=record.name, message=record.message), file=sys.stderr)
    if not finished:
        reasons = together(
            " ", (Message("{kind}: {message}", kind=record.kind, message=record.message) for record in failed)
        )
        raise RunError(Message("No evaluation of the card succeeded. {reasons}", reasons=reasons))
    return finished
