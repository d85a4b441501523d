"""One figure and one table of every page, as exported, in a two-column paper: it compiles, and nothing sticks out.

KEEP_PAPER_IN names a folder that the paper and its sources are left in, to be looked at.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib_fontja
import pytest
import streamlit as st

from dashboard.shared import session
from dashboard.shared.exports.tables.formats import table_file
from dashboard.shared.exports.tables.offered import OfferedTables
from engine.runs.storage.searching import Search
from tests.dashboard.printed_commands import Exported
from tests.stored_runs import directories as stored_runs
from tests.support.fakes import FakeBackend
from tests.support.page_visits import visit

SOURCE = Path(__file__).with_name("two_columns.tex")
FONTS = Path(matplotlib_fontja.__file__).parent / "fonts"
# A page and the table of it that a paper would print.
TABLES = {
    "clusters": "models",
    "classification": "models",
    "fill_mask": "models",
    "alignment": "pairs",
    "metric_study": "settings",
    "minimal_pairs": "summary",
    "compare": "numbers",
    "agreement": "models",
}
LIMIT_POINTS = 3.0
SECONDS = 150
pytestmark = [
    pytest.mark.usefixtures("no_cache_outlives_a_test"),
    pytest.mark.skipif(
        shutil.which("lualatex") is None or shutil.which("bibtex") is None,
        reason="LuaLaTeX and BibTeX are not installed",
    ),
]


@dataclass
class Offered:
    """What the buttons of a page hand out, by their keys."""

    files: dict[str, Any] = field(default_factory=dict)


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, backend: FakeBackend, tmp_path: Path) -> Iterator[Offered]:
    """The buttons of the page drawn last, over stored runs of every kind."""
    stored_runs.copied("0.1.0", tmp_path / "data")
    last, draw = Offered(), st.download_button

    def drawn(label: str, data: Any, **options: Any) -> bool:
        last.files[str(options.get("key"))] = data
        return draw(label, data, **options)

    monkeypatch.setattr(st, "download_button", drawn)
    yield last


def run_of(kind: str) -> str:
    return next(
        run.id
        for run in session.engine().store.search(Search())
        if run.kind == kind and run.state == "done" and len(run.models) > 1
    )


def query(page: str) -> dict[str, str]:
    if page == "agreement":
        return {}
    if page == "compare":
        run = run_of("minimal-pairs")
        return {"a-run": run, "b-run": run}
    kind = page.replace("_", "-")
    return {
        "run": next(
            run.id for run in session.engine().store.search(Search()) if run.kind == kind and run.state == "done"
        )
    }


def compiled(folder: Path) -> str:
    """The log of the last run of LuaLaTeX; the test is skipped where a package is missing."""
    command = ["lualatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    # A cache of its own: the system's remembers fonts by their paths, also in environments that are gone.
    environment = {**os.environ, "TEXMFVAR": str(folder / "cache"), "TEXMFCACHE": str(folder / "cache")}
    for _ in range(3):  # citations, then their numbers
        subprocess.run(command, cwd=folder, capture_output=True, timeout=SECONDS, check=False, env=environment)
        log = re.sub(r"(?<=.{79})\n", "", (folder / "paper.log").read_text(encoding="utf-8", errors="replace"))
        if missing := re.search(r"File `([^']+\.(?:sty|ldf|ini))' not found", log):
            pytest.skip(f"LaTeX is installed without {missing[1]}")
        assert "Output written on paper.pdf" in log, log[-3000:]
        made = subprocess.run(
            ["bibtex", "paper"], cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        assert made.returncode == 0 and "Warning" not in made.stdout.replace("Warning--empty", ""), made.stdout
    return log


def test_a_figure_and_a_table_of_every_page_fit_a_two_column_paper(
    offered: Offered, exported: Exported, tmp_path: Path
) -> None:
    folder = Path(os.environ.get("KEEP_PAPER_IN", tmp_path / "paper"))
    folder.mkdir(parents=True, exist_ok=True)
    visit("runs")
    sections, long = [], []  # longtable needs a page of one column
    for page, name in TABLES.items():
        offered.files.clear()
        app = visit(page, **query(page))
        assert not app.error, app.error[0].value
        tables = exported.tables
        assert isinstance(tables, OfferedTables)
        figure = next(data for key, data in offered.files.items() if key == "download-print")
        (folder / f"{page}.pdf").write_bytes(figure())
        (folder / f"{page}.tex").write_bytes(table := table_file(tables, name, "latex", exported.signature))
        is_long = b"longtable}" in table.partition(b"\\caption")[0].partition(b"signature")[2]
        long += [f"\\input{{{page}.tex}}"] if is_long else []
        if page == "clusters":
            (folder / "long.tex").write_bytes(table_file(tables, "points", "latex", exported.signature))
            long.append("\\input{long.tex}")
        sections.append(
            f"\\section{{{page.replace('_', ' ')}}}\n\\begin{{figure}}[t]\\centering\n"
            f"\\includegraphics{{{page}.pdf}}\n\\caption{{A figure of {page.replace('_', ' ')}.}}\n"
            f"\\end{{figure}}\n{'' if is_long else f'{chr(92)}input{{{page}.tex}}'}\n\\clearpage\n"
        )
        if page == "alignment":
            with zipfile.ZipFile(io.BytesIO(offered.files["download-bundle"]())) as archive:
                for member in ("methods.en.tex", "methods.ja.tex", "references.bib"):
                    (folder / member).write_bytes(archive.read(member))
    assert len(long) > 1
    source = SOURCE.read_text(encoding="utf-8").replace("@FONT_FOLDER@", str(FONTS)).replace("@LONG@", "\n".join(long))
    (folder / "paper.tex").write_text(source.replace("@PAGES@", "\n".join(sections)), encoding="utf-8")

    log = compiled(folder)

    too_wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide", log)]
    assert max(too_wide, default=0.0) <= LIMIT_POINTS, re.findall(r"Overfull \\hbox.*", log)
    assert not re.findall(r"Missing character: .*", log)
    assert "Float too large" not in log and "undefined" not in re.sub(r"Font (shape|Warning).*", "", log)
