"""Every kind of run over a file with a column of its own: page and command hand it out beside the rows it is from."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.shared.exports.tables.formats import FORMATS, refusal, table_file
from dashboard.shared.exports.tables.offered import OfferedTables
from tests.dashboard import printed_commands
from tests.dashboard.printed_commands import Exported, as_texts, same
from tests.dashboard.shared.exports.runs_of_files import ROWS, finished
from tests.support import page_visits
from tests.support.fakes import FakeBackend

# The tables whose rows are rows of the input, and a column of it with a role that each has.
TABLES = {
    "clusters": {"points": "text"},
    "classification": {"sentences": "text"},
    "alignment": {"pairs": "candidate"},
    "metric-study": {"pairs": "reference", "cases": "candidate"},
    "minimal-pairs": {"pairs": "acceptable"},
    "fill-mask": {"items": "text", "sentences": "text"},
}
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def notes(table: pd.DataFrame) -> list[str]:
    return table["note"].tolist()


@pytest.mark.parametrize("kind", ROWS)
def test_page_and_command_carry_the_sentences_and_every_column_of_the_input(
    kind: str,
    backend: FakeBackend,
    exported: Exported,
    command: Callable[[AppTest], dict[str, pd.DataFrame]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_id = finished(kind, tmp_path)
    app = page_visits.visit(kind.replace("-", "_"), run=run_id)
    monkeypatch.chdir(tmp_path)
    written = command(app)
    for name, role in TABLES[kind].items():
        if name == "cases":
            continue  # no penalty without a dictionary
        shown = exported.csv(name)
        same(written[name][list(shown)], shown.replace("^'=", "=", regex=True))
        assert list(written[name]) == list(shown)
        numbers = [int(row) for row in shown["row"]]
        assert notes(written[name]) == [f"=n{row - 1}" for row in numbers]
        assert all(shown[role]) and list(shown).index(role) > list(shown).index("row")
    if kind in ("clusters", "classification"):
        table = written[next(iter(TABLES[kind]))]
        assert table["column:row"].tolist() == [f"r{int(row) - 1}" for row in table["row"]]
    if kind == "alignment":
        assert set(written["pairs"]) >= {"reference", "category", "human:annotator1", "column:f1"}


@pytest.mark.parametrize("kind", ROWS)
def test_every_table_of_every_page_is_a_file_of_every_format(
    kind: str, backend: FakeBackend, exported: Exported, tmp_path: Path
) -> None:
    page_visits.visit(kind.replace("-", "_"), run=finished(kind, tmp_path))
    tables = exported.tables
    assert isinstance(tables, OfferedTables)
    for name in tables:
        for format_name in FORMATS:
            if not refusal(tables, name, format_name):
                assert len(table_file(tables, name, format_name, exported.signature)) > 25, (name, format_name)


@pytest.mark.parametrize("kind", ROWS)
def test_a_paper_bundle_holds_what_a_paper_needs_and_its_commands_compute_its_tables(
    kind: str,
    backend: FakeBackend,
    exported: Exported,
    command: Callable[[AppTest], dict[str, pd.DataFrame]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offered: dict[str, Any] = {}
    draw = st.download_button

    def drawn(label: str, data: Any, **options: Any) -> bool:
        offered[str(options.get("key"))] = data
        return draw(label, data, **options)

    monkeypatch.setattr(st, "download_button", drawn)
    app = page_visits.visit(kind.replace("-", "_"), run=finished(kind, tmp_path))
    content = offered["download-bundle"]()
    assert content == offered["download-bundle"]()  # no date, no order of its own
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path / "bundle")
        readme = archive.read("README.md").decode()
        commands = archive.read("commands.sh").decode().splitlines()[3:]
        written = {name: as_texts(io.BytesIO(archive.read(f"tables/{name}.csv"))) for name in TABLES[kind]}
        cited = set(re.findall(r"@([\w-]+)", archive.read("methods.en.md").decode()))
        entries = set(re.findall(r"^@\w+\{([\w-]+),", archive.read("references.bib").decode(), re.MULTILINE))
    assert names >= {
        "signature.json",
        "references.bib",
        "README.md",
        "commands.sh",
        "methods.en.md",
        "methods.en.tex",
        "methods.ja.md",
        "methods.ja.tex",
    }
    figures = {name for name in names if name.startswith("figures/")}
    assert figures and {Path(name).suffix for name in figures} == {".pdf", ".svg"}
    assert any(name.startswith("tables/") and name.endswith(".tex") for name in names)
    listed = set(re.findall(r"`([\w./-]+)`", readme))
    assert names - {"README.md"} <= listed, names - listed
    assert cited == entries
    monkeypatch.chdir(tmp_path / "bundle")
    monkeypatch.setattr(printed_commands, "printed", lambda _: commands)
    again = command(app)
    for name in TABLES[kind]:
        if len(written[name]):
            same(again[name], written[name].drop(columns="signature").replace("^'=", "=", regex=True))
