"""What the tests of several pages begin with."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.faces import FACES
from dashboard.shared import session
from dashboard.shared.exports import run_exports
from dashboard.shared.exports.bundle.data import data_file
from dashboard.shared.exports.command_data import command_data
from engine.commands.shared import common
from tests.dashboard.printed_commands import Exported, address, carried_out


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Exported:
    """What the page offers to download."""
    last, draw = Exported(), run_exports.downloads

    def downloads(tables: Mapping[str, pd.DataFrame], signature: Mapping[str, Any]) -> None:
        last.tables, last.signature = tables, signature
        draw(tables, signature)

    monkeypatch.setattr(run_exports, "downloads", downloads)
    return last


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[AppTest], dict[str, pd.DataFrame]]:
    """Carries out the command that a page prints, over the models of the page; its tables by name.

    Where the page offers the data of the command as a download, they are downloaded first.
    """
    monkeypatch.setattr(common, "open_computing", lambda *_, **__: nullcontext(session.engine()))
    numbers = itertools.count()

    def carry_out(app: AppTest) -> dict[str, pd.DataFrame]:
        runs = session.engine().runs
        query = address(app)
        view = runs.get(query["run"][0]) if "run" in query else None
        if view is not None and (data := command_data(FACES[view.kind], view)).is_download:
            monkeypatch.chdir(tmp_path)
            [name] = data.files
            assert [button for button in app.download_button if button.label == name]
            (tmp_path / name).write_bytes(data_file(runs.dataset(view.id)).content)
        return carried_out(app, tmp_path / f"command-{next(numbers)}")

    return carry_out
