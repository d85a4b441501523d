"""The options of the commands are the declared settings: every flag, its default and choices, and the way back."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from engine.__main__ import COMMANDS, main
from engine.commands import dictionary, equivalent
from engine.commands.shared.options import (
    DECLARED,
    WithChoice,
    add_option,
    add_options,
    default_text,
    dest,
    help_of,
    is_given,
    option_rows,
    separate_items,
    settings_from,
    words_of,
)
from engine.datasets.formats.files import Reading
from engine.datasets.labelled.livedoor import Drawing
from engine.datasets.labelled.webis import Reviews
from engine.datasets.masked.masked_building import Building
from engine.errors import InputError
from engine.evaluations.agreement.directories import Sources
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.clusters.records import Settings
from engine.evaluations.minimal_pairs import records as minimal_pairs
from engine.evaluations.minimal_pairs.records import PairScoring
from engine.evaluations.model_map.evaluate import Mapped
from engine.models.pretraining import settings as pretraining
from engine.options import Option, option_of, options_of, records_in

FILES = sorted((Path(__file__).parents[2] / "engine" / "commands").glob("*.py"))
# What says which files and models, where results go and which are written: no settings of an evaluation.
NOT_SETTINGS = {
    "--preset",
    "--data",
    "--column",
    "--model",
    "--out",
    "--cache",
    "--corpus",
    "--name",
    "--architecture",
    "--domain-column",
    "--normalization",
    "--older-than",
    "--pieces",
    "--unlisted",
    "--dry-run",
    "--directory",
    "--owner",
    "--from",
    "--to",
    "--lines",
    "--bin",
    "--sign-out",
    "--release",
    "--without-runs",
    "--evaluation",
    "--run",
    "--predictions",
    "--submission",
    "--scores",
    "--vectors",
    "--lm-eval",
    "--track",
    "-h",
}
FURTHER = {
    "clusters": (Drawing,),
    "classification": (Drawing,),
    "fill-mask": (Building, Reviews),
    "card": (Reading,),
    "model-map": (Mapped,),
    "minimal-pairs": (PairScoring,),
    "agreement": (Sources,),
    "pretrain": (pretraining.Settings, pretraining.Running),
}
# Settings without an option of their own, and why.
WITHOUT = {
    ("alignment", "Settings.all_layers"),  # the command writes one layer: it changes no number
    ("alignment", "Scoring.threshold_kind"),  # --threshold or --threshold-value says it
    ("metric-study", "Scoring.idf"),
    ("metric-study", "Scoring.penalty"),  # the grid goes through several
    ("fill-mask", "Building.seed"),  # --seed
}


def parser_of(module: ModuleType) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return parser


def all_records(command: str) -> list[type[Any]]:
    own = [EVALUATIONS[command].settings_type] if command in EVALUATIONS else []
    own += [Reading] if command in equivalent.COMMANDS else []
    records = [*own, *FURTHER.get(command, ())]
    return [*records, *(inner for record in records for inner in records_in(record).values())]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_as_it_was_declared(command: str) -> None:
    declared_by_dest = {
        dest(record, name): option for record in all_records(command) for name, option in options_of(record).items()
    }
    for action in parser_of(COMMANDS[command])._actions:
        if not action.option_strings:  # what is to be done, and with what: no setting
            continue
        flag = action.option_strings[0]
        if action.help == argparse.SUPPRESS:
            assert flag.removeprefix("--no-").strip("-") in declared_by_dest[action.dest].formerly, flag
            continue
        # The choices of the two sides are those of a page's address, which tests of the page hold against it.
        if command == "compare" and flag.removeprefix("--no-").strip("-")[:2] in ("a-", "b-"):
            continue
        if action.dest not in declared_by_dest:
            assert flag in NOT_SETTINGS, f"{flag} is a setting of its own"
            assert action.default in (None, [], False, argparse.SUPPRESS), flag
            continue
        declared = declared_by_dest[action.dest]
        if declared.separator:  # one word: its parts are for `settings_from` and the check
            assert (action.choices, action.type) == (None, None), flag
        else:
            assert tuple(action.choices or ()) == tuple(declared.choices), flag
            assert declared.kind in (bool, action.type), flag
        assert action.help == help_of(getattr(action, DECLARED)).replace("%", "%%"), flag
        if isinstance(action, WithChoice):
            continue
        expected = (
            (declared.separator.join(map(str, declared.default)) if declared.separator else [])
            if declared.several
            else None
            if declared.unset
            else declared.default
        )
        assert action.default in (expected, argparse.SUPPRESS), flag


@pytest.mark.parametrize("command", COMMANDS)
def test_every_setting_has_an_option(command: str) -> None:
    there = {action.dest for action in parser_of(COMMANDS[command])._actions}
    missing = {dest(record, name) for record in all_records(command) for name in options_of(record)} - there
    assert {(command, name) for name in missing} <= WITHOUT


def another(option: Option) -> Any:
    """A value that is possible and not the default."""
    if option.several:
        return tuple(option.choices)[:1] or (7,) if option.kind is int or option.choices else ("a", "b c")
    if option.choices:
        return next(choice for choice in option.choices if choice != option.default)
    if option.kind is bool:
        return not option.default
    if option.kind is str:
        return "my dictionary.json"
    return option.kind((option.default or 0) + 1) if option.kind is int else option.default / 2


def changed(settings: Any) -> Any:
    """The settings with another value of each that was declared."""
    inner = {name: changed(getattr(settings, name)) for name in records_in(type(settings))}
    return replace(settings, **inner, **{name: another(option) for name, option in options_of(type(settings)).items()})


@pytest.mark.parametrize("kind", equivalent.COMMANDS)
def test_the_words_of_any_settings_give_them_back(kind: str) -> None:
    parser, record = parser_of(equivalent.COMMANDS[kind]), EVALUATIONS[kind].settings_type
    required = ["--data", "x", "--model", "m", "--out", "y"]
    without = {name.partition(".")[2] for command, name in WITHOUT if command == kind} - {"threshold_kind"}
    every = changed(record(("m",)))
    plain = {name: Scoring() for name in records_in(record)}
    alone = [
        record(("m",), **({"idfs": ("none",)} if kind == "metric-study" else {}) | {name: getattr(every, name)})
        for name in (*options_of(record), *plain)
        if name not in without
    ]
    for settings in alone:
        settings = replace(
            settings,
            **{
                name: replace(
                    getattr(settings, name),
                    **{field: getattr(Scoring(), field) for field in without if field in options_of(Scoring)},
                )
                for name in plain
            },
        )
        options = parser.parse_args([*required, *words_of(parser, settings)])
        assert settings_from(options, record, models=("m",)) == settings


def test_a_command_with_defaults_is_short() -> None:
    assert list(words_of(parser_of(COMMANDS["clusters"]), Settings(("m",)))) == []


def test_options_that_are_not_given_leave_nothing() -> None:
    parser = argparse.ArgumentParser()
    add_options(parser, Drawing, only_given=True)
    assert vars(parser.parse_args([])) == {} and settings_from(parser.parse_args([]), Drawing) == Drawing()
    options = parser.parse_args(["--draw-seed", "0"])
    assert is_given(options, Drawing, "seed") and not is_given(options, Drawing, "part")


def test_numbers_that_are_none_are_refused_in_words() -> None:
    parser = argparse.ArgumentParser()
    declared = Option("Widths.", (2, 3), name="widths", kind=int, several=True, separator=",")
    add_option(parser, Settings, declared)
    assert parser.parse_args([]).__dict__ == {"Settings.widths": "2,3"}
    classification = EVALUATIONS["classification"].settings_type
    options = argparse.Namespace(**{dest(classification, "hidden"): "20;30"})
    with pytest.raises(InputError, match="--hidden takes whole numbers separated by ',', such as 200,200; got '20;30'"):
        settings_from(options, classification, models=("m",))


def test_the_rows_of_the_documents_say_all() -> None:
    rows = {row.setting or row.flag.split()[0]: row for row in option_rows(COMMANDS["clusters"].add_arguments)}
    resamples, option = rows["resamples"], option_of(Settings, "resamples")
    assert (resamples.flag, resamples.default, resamples.allowed) == ("--resamples N", "1000", "100 to 10,000")
    assert resamples.help == option.help and rows["--data"].default == "required"
    assert rows["layer"].default == "the last" and rows["pooling"].flag.startswith("--pooling {published,cls,mean,")
    assert rows["centre"].flag == "--centre" and rows["centre"].default == default_text(option_of(Settings, "centre"))
    assert "the mean over the vectors of all tokens, special ones included" in rows["pooling"].help
    for command, module in COMMANDS.items():
        flags = {flag for row in option_rows(module.add_arguments) for flag in re.findall(r"--[a-z-]+", row.flag)}
        assert flags == {
            flag
            for action in parser_of(module)._actions
            for flag in action.option_strings
            if flag.startswith("--") and flag != "--help" and action.help != argparse.SUPPRESS
        }, command


def test_former_switches_give_what_they_gave() -> None:
    pairs = EVALUATIONS["minimal-pairs"].settings_type
    parser = parser_of(COMMANDS["minimal-pairs"])
    asked = ["--data", "x", "--model", "m", "--out", "y"]
    prefixes = [
        settings_from(parser.parse_args([*asked, *words]), pairs, models=("m",)).prefix
        for words in ([], ["--bos"], ["--no-bos"], ["--prefix", "eos"], ["--bos", "--prefix", "eos"])
    ]
    assert prefixes == ["auto", "bos", "none", "eos", "eos"]
    assert "--bos" not in parser.format_help()
    assert list(words_of(parser, pairs(("m",), prefix="none"))) == ["--prefix", "none"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_command_types_a_default_or_choices(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("add_argument", "set_defaults")
        ):
            continue
        for keyword in node.keywords:
            typed = [inner.value for inner in ast.walk(keyword.value) if isinstance(inner, ast.Constant)]
            if keyword.arg in ("default", "choices"):
                assert not any(value is not None for value in typed), f"{path.name}:{node.lineno}"
            if keyword.arg == "help":
                assert not re.search(r"default:? \(?[\d.]", " ".join(map(str, typed))), f"{path.name}:{node.lineno}"


@pytest.mark.parametrize("ratings", [("good, mean", "bad"), ('say "a"', '"b"'), (" a", "b "), ("-a", "b"), ("", "b")])
def test_names_with_commas_quotation_marks_and_spaces_come_back(ratings: tuple[str, str]) -> None:
    parser = argparse.ArgumentParser()
    add_options(parser, minimal_pairs.Settings)
    settings = minimal_pairs.Settings(("m",), ratings=ratings)
    words = list(words_of(parser, settings))
    assert settings_from(parser.parse_args(words), minimal_pairs.Settings, models=("m",)) == settings


@pytest.mark.parametrize(
    ("value", "items"),
    [
        ("a,b", ["a", "b"]),
        (" a , ,b,", ["a", "b"]),
        ('"a', ['"a']),
        ('a"b",c', ['a"b"', "c"]),
        ('"a"b,c', ['"a"b', "c"]),
    ],
)
def test_a_quotation_mark_counts_only_around_a_whole_item(value: str, items: list[str]) -> None:
    assert separate_items(value, ",") == items


def test_a_value_that_begins_with_a_dash_is_one_word() -> None:
    settings = Settings(("-m", "--x=/srv/$(rm) `a` 'b'\n"), prompt="-q")
    line = equivalent.command_line("clusters", settings, ["-a b.csv"], columns=["--column", "text=-x"])
    assert line is not None
    parser = argparse.ArgumentParser()
    equivalent.COMMANDS["clusters"].add_arguments(parser)
    options = parser.parse_args(shlex.split(line)[4:])
    assert options.model == list(settings.models) and str(options.data) == "-a b.csv"
    assert settings_from(options, Settings, models=settings.models) == settings
    line = equivalent.dictionary_line(dictionary.Settings("-m", "-n", "line"), ["--a.txt"])
    assert line is not None
    parser = argparse.ArgumentParser()
    dictionary.add_arguments(parser)
    options = parser.parse_args(shlex.split(line)[4:])
    assert (options.model, options.name, list(map(str, options.corpus))) == ("-m", "-n", ["--a.txt"])
    line = equivalent.dictionary_line(dictionary.Settings(None, "mine", words=True), ["a.txt"])
    assert line is not None and "--words" in line and "--model" not in line
    assert equivalent.dictionary_line(dictionary.Settings(None, "uploaded"), ["a.json"]) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--whitened-dims", "5"), "--whitened-dims is of another correction than none: add --correction whitening"),
        (
            ("--removed-components", "2", "--correction", "whitening"),
            "--removed-components is of another correction than whitening: add --correction all-but-the-top",
        ),
    ],
)
def test_a_number_of_another_correction_is_refused(
    given: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "clusters",
                "--data",
                "sample/labelled-sentences",
                "--model",
                "builtin/bert-mini-ja",
                "--out",
                str(tmp_path / "out"),
                "--cache",
                str(tmp_path / "cache"),
                *given,
            ]
        )
        == 2
    )
    assert message in capsys.readouterr().err and not (tmp_path / "out").exists()
