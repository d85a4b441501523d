"""Presets of one's own: kept by name for a kind, nobody else's, checked when they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import InputError
from engine.evaluations.alignment.records import Scoring, Settings
from engine.runs.access import presets
from engine.runs.access.presets import KeptPreset, PresetAccess
from engine.runs.access.viewers import LOCAL, Viewer
from engine.runs.open import Engine, open_engine
from engine.runs.storage import kept, members
from engine.runs.storage.members import Account
from tests.support.fakes import FakeBackend

ANN, BEN = Viewer("ann@lab.example"), Viewer("browser:b", signed_in=False)
MINE = Settings((), layer=3, scoring=Scoring(idf="novel", penalty="reading", threshold=0.4))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path, backend=FakeBackend()) as opened:
        yield opened


def of(engine: Engine, viewer: Viewer = ANN) -> PresetAccess:
    return PresetAccess(engine.access(viewer))


def test_settings_are_kept_without_their_models_and_replaced_by_name(engine: Engine) -> None:
    assert of(engine).keep("alignment", "  strict   names ", replace(MINE, models=("owner/name",))) == "strict names"
    assert of(engine).mine("alignment") == [KeptPreset("strict names", MINE)]
    of(engine).keep("alignment", "strict names", replace(MINE, layer=None))
    of(engine).keep("alignment", "Ahead", MINE)
    assert of(engine).mine("alignment") == [
        KeptPreset("Ahead", MINE),
        KeptPreset("strict names", replace(MINE, layer=None)),
    ]
    of(engine).delete("alignment", "Ahead")
    assert [preset.name for preset in of(engine).mine("alignment")] == ["strict names"]


def test_presets_are_of_one_viewer_and_one_kind(engine: Engine) -> None:
    of(engine).keep("alignment", "mine", MINE)
    of(engine, BEN).delete("alignment", "mine")
    for viewer, kind in ((BEN, "alignment"), (LOCAL, "alignment"), (ANN, "clusters")):
        assert of(engine, viewer).mine(kind) == []
    assert of(engine).mine("alignment") == [KeptPreset("mine", MINE)]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("  ", "needs a name"),
        ("a\u0007b", "printable"),
        ("x" * 61, "at most 60"),
        ("bertscore", "built-in"),
        ("Names by reading", "built-in"),
    ],
)
def test_a_name_that_cannot_be_is_refused(engine: Engine, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        of(engine).keep("alignment", name, MINE)
    assert of(engine).mine("alignment") == []


def test_there_is_an_end_of_them(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presets, "MOST_KEPT", 2)
    for name in ("one", "two"):
        of(engine).keep("alignment", name, MINE)
    with pytest.raises(InputError, match="Delete one first"):
        of(engine).keep("alignment", "three", MINE)
    of(engine).keep("alignment", "two", Settings(()))  # in place of the one of that name
    with pytest.raises(InputError, match="threshold"):
        of(engine).keep("alignment", "two", replace(MINE, scoring=Scoring(threshold=-1.0)))


@pytest.mark.parametrize(
    ("stored", "word"),
    [
        ({"layer": "three"}, "layer"),
        ({"of another version": 1}, "another version"),
        ({"scoring": {"penalty": "unheard of"}}, "penalty"),
        ({"scoring": []}, "scoring"),
    ],
)
def test_settings_that_are_none_of_todays_say_why(engine: Engine, stored: dict[str, object], word: str) -> None:
    kept.keep_settings(engine.store, ANN.id, "alignment", "old", stored)
    (preset,) = of(engine).mine("alignment")
    assert preset.settings is None and word in preset.problem


def test_an_account_takes_over_what_its_address_kept(engine: Engine) -> None:
    of(engine).keep("alignment", "mine", MINE)
    of(engine).keep("alignment", "other", MINE)
    account = Account("member:1", "https://provider.example", "1", ANN.id, ANN.id)
    kept.keep_settings(engine.store, account.id, "alignment", "mine", {})
    members.bind(engine.store, account, [ANN.id])
    assert of(engine).mine("alignment") == []
    assert [preset.name for preset in of(engine, Viewer(account.id)).mine("alignment")] == ["mine", "mine (2)", "other"]
