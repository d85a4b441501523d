"""The list of readings that a viewer keeps: one, nobody else's, and none that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import InputError
from engine.runs.access.own_readings import FIELD, KIND, NAME, ReadingsAccess
from engine.runs.access.viewers import Viewer
from engine.runs.open import open_engine
from engine.runs.storage import kept
from tests.support.fakes import FakeBackend

ANN, BEN = Viewer("ann@lab.example"), Viewer("browser:b", signed_in=False)


def test_a_viewer_keeps_one_list_that_nobody_else_has(tmp_path: Path) -> None:
    with open_engine(tmp_path, backend=FakeBackend()) as engine:
        ann, ben = (ReadingsAccess(engine.access(viewer)) for viewer in (ANN, BEN))
        assert ann.mine() == ""
        ann.keep("斉藤,サイトウ")
        ann.keep("東=ひがし/あずま\n西=にし\n")
        assert ann.mine() == "東=ひがし/あずま;西=にし" and ben.mine() == ""
        with pytest.raises(InputError):
            ann.keep("斉藤")
        assert ann.mine() == "東=ひがし/あずま;西=にし"
        ann.remove()
        assert ann.mine() == ""
        kept.keep_settings(engine.store, ANN.id, KIND, NAME, {FIELD: "no list"})  # by another version
        assert ann.mine() == ""
