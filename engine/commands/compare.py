"""`python -m engine compare`: in what do two runs, two models of a run, or two settings of one differ?"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.commands.shared import output
from engine.commands.shared.common import add_directory_argument, print_notices, write_tables
from engine.commands.shared.options import DECLARED, METAVARS, option_words, text_of
from engine.errors import InputError
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.comparison.compare import compare
from engine.evaluations.comparison.records import FILES, AlignmentView, GridView, Side, SideView
from engine.evaluations.minimal_pairs.records import PairScoring, PairView
from engine.messages.message import Message
from engine.options import Option, check, options_of
from engine.runs.naming import unknown_run
from engine.runs.open import Engine, open_engine
from engine.version import VERSION

LETTERS = "ab"
# Of `PairScoring`: a comparison is over all pairs that both sides count, and sorts none by category.
NOT_COMPARED = ("by", "subset", "levels", "clustered_by", "folds", "predictions")
OF_RUN = Message("that of the run")


def options_of_kind(kind: str) -> Mapping[str, Option]:
    """The choices of how a side of a kind is shown, by name."""
    records: dict[str, tuple[type[Any], ...]] = {
        "minimal-pairs": (PairView, PairScoring),
        "alignment": (AlignmentView, Scoring),
        "metric-study": (GridView,),
    }
    return {
        name: declared
        for record in records.get(kind, ())
        for name, declared in options_of(record).items()
        if name not in NOT_COMPARED
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command: for each side the run, its model, and how it is shown."""
    parser.add_argument(
        "--a-run", required=True, metavar="RUN", help=Message("id of the run of side A, as in the address of its page")
    )
    parser.add_argument(
        "--b-run", metavar="RUN", help=Message("id of the run of side B, of the same kind; that of A by default")
    )
    for letter in LETTERS:
        parser.add_argument(
            f"--{letter}-model",
            metavar="M",
            help=Message("model of side {side}; the first of its run by default", side=letter.upper()),
        )
    parser.add_argument(
        "--out", required=True, type=output.folder, metavar="DIR", help=Message("folder for the tables")
    )
    add_directory_argument(parser)
    declared_by_name: dict[str, Option] = {}
    for kind in ("minimal-pairs", "alignment", "metric-study"):
        declared_by_name = {**options_of_kind(kind), **declared_by_name}
    for letter in LETTERS:
        group = parser.add_argument_group(
            Message("choices of side {side}", side=letter.upper()),
            Message(
                "normalization, alpha, unigrams and region are of minimal "
                "pairs, idf and penalty of alignment and of metric studies, "
                "the others of alignment."
            ),
        )
        for name, declared in declared_by_name.items():
            _add(group, letter, name, declared)


def run(options: argparse.Namespace) -> None:
    """Compare and write numbers.csv and items.csv."""
    with open_engine(options.directory, resume=False) as engine:
        run_ids = {"a": options.a_run, "b": options.b_run or options.a_run}
        kinds = {letter: _kind(engine, run_id) for letter, run_id in run_ids.items()}
        if len(set(kinds.values())) > 1:
            raise InputError(
                Message(
                    "Only runs of one kind can be compared; A is of {kind}, B of {other_kind}.",
                    kind=kinds["a"],
                    other_kind=kinds["b"],
                )
            )
        # Two sides of one run have one result: what the run computed of their difference counts.
        results = {run_id: engine.runs.result(run_id) for run_id in set(run_ids.values())}
        sides = {letter: _side(results[run_ids[letter]], options, letter, kinds[letter]) for letter in LETTERS}
        comparison = compare(kinds["a"], sides["a"], sides["b"])
    print_notices(comparison.notices)
    signature = {
        "sides": {
            letter.upper(): {
                "run": run_ids[letter],
                "model": side.model,
                **changed(side),
                "signature": side.result.signature,
            }
            for letter, side in sides.items()
        },
        "scale": comparison.scale,
        "versions": {"hakari": VERSION},
    }
    write_tables(options.out, signature, FILES, {"numbers": comparison.numbers, "items": comparison.items}, None)


def changed(side: Side) -> dict[str, Any]:
    """The choices of a side that are not those with which its run is shown at first, by name."""
    shown = side.shown
    if isinstance(shown, PairView):
        return _differing(shown, PairView()) | _differing(shown.scoring, PairScoring())
    if isinstance(shown, AlignmentView):
        return _differing(shown, AlignmentView()) | _differing(shown.scoring, side.result.settings.scoring)
    return {"idf": shown.idf, "penalty": shown.penalty} if isinstance(shown, GridView) and shown.idf else {}


def words_of_side(letter: str, run_id: str, side: Side) -> list[str]:
    """The words that give a side to the command."""
    words = [f"--{letter}-run", run_id, *option_words(f"--{letter}-model", side.model)]
    for name, value in changed(side).items():
        flag = f"{letter}-{name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += option_words(f"--{flag}", value)
    return words


def _add(group: argparse._ArgumentGroup, letter: str, name: str, declared: Option) -> None:
    flag = f"--{letter}-{name.replace('_', '-')}"
    arguments: dict[str, Any] = {
        "dest": f"{letter}.{name}",
        "default": argparse.SUPPRESS,
        "help": text_of(declared).replace("%", "%%")
        if letter == "a"
        else Message("as --a-{option}, of side B", option=name.replace("_", "-")),
    }
    if declared.kind is bool:
        action = group.add_argument(flag, action=argparse.BooleanOptionalAction, **arguments)
    else:
        action = group.add_argument(
            flag, type=declared.kind, metavar=declared.metavar or METAVARS[declared.kind], **arguments
        )
    of_side = declared if letter == "a" else replace(declared, help=action.help or "", choices={})
    setattr(action, DECLARED, replace(of_side, unset=OF_RUN))


def _kind(engine: Engine, run_id: str) -> str:
    record = engine.runs.get(run_id)
    if record is None:
        raise unknown_run(run_id)
    return record.kind


def _side(result: Any, options: argparse.Namespace, letter: str, kind: str) -> Side:
    """A side as given by the options. Raises EngineError where they ask for what the run does not hold."""
    model = getattr(options, f"{letter}_model") or result.settings.models[0]
    prefix = f"{letter}."
    chosen = {name.removeprefix(prefix): value for name, value in vars(options).items() if name.startswith(prefix)}
    if unknown := set(chosen) - set(options_of_kind(kind)):
        flags = ", ".join(f"--{letter}-{name.replace('_', '-')}" for name in sorted(unknown))
        raise InputError(Message("{flags}: a run of {kind} has no such choice.", flags=flags, kind=kind))
    shown = _view(kind, result, chosen)
    if shown is not None:
        check(shown)
    return Side(letter.upper(), result, model, shown)


def _view(kind: str, result: Any, chosen: Mapping[str, Any]) -> SideView | None:
    """How a side is shown."""
    if kind == "minimal-pairs":
        return PairView(**_fields(PairView, chosen), scoring=PairScoring(**_fields(PairScoring, chosen)))
    if kind == "alignment":
        scoring = replace(result.settings.scoring, **_fields(Scoring, chosen))
        return AlignmentView(**_fields(AlignmentView, chosen), scoring=scoring)
    if kind == "metric-study":
        if len(chosen) == 1:
            raise InputError(Message("A setting of a metric study is an idf and a penalty; give both."))
        return GridView(**chosen)
    return None


def _fields(record: type[Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    return {name: chosen[name] for name in options_of(record) if name in chosen}


def _differing(record: Any, base: Any) -> dict[str, Any]:
    names = [name for name in options_of(type(record)) if name not in NOT_COMPARED]
    return {name: getattr(record, name) for name in names if getattr(record, name) != getattr(base, name)}
