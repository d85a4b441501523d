"""The help of `pretrain`: every option once, under the heading where one looks for it."""

from __future__ import annotations

import argparse

import pytest

from engine.commands import pretrain
from engine.commands.shared.help import Parser
from engine.commands.shared.options import dest
from engine.models.pretraining.settings import Running, Settings
from engine.options import options_of


@pytest.fixture
def parser() -> argparse.ArgumentParser:
    parser = Parser(prog="engine pretrain")
    pretrain.add_arguments(parser)
    return parser


def test_every_setting_has_an_option_under_one_heading(parser: argparse.ArgumentParser) -> None:
    groups = {group.title: [action.dest for action in group._group_actions] for group in parser._action_groups}
    own = {title: names[:2] for title, names in groups.items() if title not in ("options", "positional arguments")}
    assert own == {
        "corpus": ["corpus", "lines"],
        "model": ["architecture", "out"],
        "training": ["Settings.steps", "Settings.tokens_per_step"],
        "measurement": ["Settings.held_out_tokens", "Running.evaluate_every"],
    }
    declared = [dest(record, name) for record in (Settings, Running) for name in options_of(record)]
    grouped = [name for names in groups.values() for name in names if "." in name]
    assert sorted(grouped) == sorted(declared) and len(set(grouped)) == len(grouped)


def test_the_usage_names_what_is_needed_and_the_help_what_is_possible(
    parser: argparse.ArgumentParser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    first, second, *lines = parser.format_help().splitlines()
    assert f"{first} {second.strip()}" == (
        "usage: engine pretrain --corpus FILE --architecture {bert,gpt2} --out DIR [OPTION ...]"
    )
    assert [line for line in lines if line.endswith(":") and not line.startswith(" ")] == [
        "options:",
        "corpus:",
        "model:",
        "training:",
        "measurement:",
    ]
    monkeypatch.setenv("LANG", "ja_JP.UTF-8")
    for variable in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(variable, raising=False)
    assert {"コーパス:", "モデル:", "学習:", "測定:"} <= set(parser.format_help().splitlines())
