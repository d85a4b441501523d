"""`--preset NAME`: settings by name as the defaults of a command, which what is given beside wins over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.__main__ import COMMANDS
from engine.commands.shared.help import Parser
from engine.commands.shared.options import is_given, settings_from
from engine.evaluations.alignment.scoring import check_scoring
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.presets import PRESETS, Preset, preset
from engine.options import check

EVERY = [(kind, known) for kind, presets in PRESETS.items() for known in presets]
PLACES = ["--data", "sentence-pairs", "--model", "m", "--out", "out"]


def parsed(kind: str, *words: str) -> Any:
    parser = Parser(prog="hakari")
    commands = parser.add_subparsers(dest="command")
    COMMANDS[kind].add_arguments(commands.add_parser(kind))
    return parser.parse_args([kind, *PLACES, *words])


def settings(kind: str, *words: str) -> Any:
    return settings_from(parsed(kind, *words), EVALUATIONS[kind].settings_type, models=())


@pytest.mark.parametrize(("kind", "known"), EVERY, ids=lambda value: value.name if isinstance(value, Preset) else value)
def test_a_preset_gives_its_settings_and_they_can_be(kind: str, known: Preset) -> None:
    assert settings(kind, "--preset", known.name) == known.settings
    assert settings(kind, f"--preset={known.name}") == known.settings
    check(known.settings)
    if kind in ("alignment", "metric-study"):
        check_scoring(known.settings.scoring)


@pytest.mark.parametrize("kind", PRESETS)
def test_presets_of_a_kind_differ_in_name_title_and_settings(kind: str) -> None:
    names, titles, every = zip(*((known.name, known.title, known.settings) for known in PRESETS[kind]), strict=True)
    assert len(set(names)) == len(set(titles)) == len(set(every)) == len(names)


@pytest.mark.parametrize("order", [slice(None, None, 1), slice(None, None, -1)])
def test_what_is_given_wins_before_and_after_the_preset(order: slice) -> None:
    words = [["--preset", "novel-translation"], ["--penalty", "names"], ["--threshold", "0.5"]]
    chosen = settings("alignment", *(word for pair in words[order] for word in pair))
    # `names` is the declared default, and yet it was given
    expected = preset("alignment", "novel-translation").settings
    assert chosen == replace(expected, scoring=replace(expected.scoring, penalty="names", threshold=0.5))


def test_of_a_setting_of_several_values_what_is_given_replaces_the_presets() -> None:
    chosen = settings("metric-study", "--preset", "names-by-reading", "--idf", "references")
    assert (chosen.idfs, chosen.penalties) == (("references",), ("none", "names"))
    options = parsed("metric-study", "--preset", "novel-translation")
    assert is_given(options, EVALUATIONS["metric-study"].settings_type, "idfs")
    assert not is_given(parsed("metric-study"), EVALUATIONS["metric-study"].settings_type, "idfs")
    assert settings("fill-mask", "--preset", "shibayama-2020", "--normalize", "lower").normalize == ("lower",)


@pytest.mark.parametrize(
    "words",
    [
        ["--preset", "unknown"],
        ["--preset"],
        ["--prese", "bertscore"],
        ["--preset", "bertscore", "--preset", "names-by-reading"],
    ],
)
def test_a_preset_that_would_not_count_is_an_error(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed("alignment", *words)
    assert ended.value.code == 2 and "--preset" in capsys.readouterr().err
