"""What a command imports: nothing of what only other commands need, so that it starts at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.__main__ import COMMANDS
from engine.commands.shared.modules import Commands, summary

ROOT = Path(__file__).parents[2]
MODELS = {"torch", "transformers", "umap", "numba", "sklearn", "tokenizers"}
OTHERS = {"sqlalchemy", "alembic", "streamlit", "plotly", "matplotlib", "httpx2", "openpyxl", "ray", "babel"}
HELP = "import sys\nfrom engine.__main__ import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
# No process of a worker is started: the models are a fake, as they are for pairs in the cache.
COMMAND = """
import sys
from functools import partial
from engine.__main__ import main
from engine.commands.shared import common
from tests.support.fakes import FakeBackend

common.open_computing = partial(common.open_computing, backend=FakeBackend())
main(["minimal-pairs", "--data", sys.argv[1], "--model", "gpt", "--out", sys.argv[2], "--cache", sys.argv[2]])
"""


def imported(program: str, *arguments: str) -> set[str]:
    """The packages, and the modules of scipy, that a Python of its own has imported at the end of a program."""
    program += "\nprint('imported', *{n if n.startswith('scipy') else n.partition('.')[0] for n in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env=os.environ | {"LC_ALL": "C.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_help_imports_no_library_of_numbers() -> None:
    assert not imported(HELP) & (MODELS | OTHERS | {"numpy", "pandas", "pyarrow", "scipy"})


def test_a_command_imports_neither_models_nor_the_list_of_runs(tmp_path: Path) -> None:
    data = tmp_path / "pairs.csv"
    data.write_text("acceptable,unacceptable\n犬が走る。,犬を走る。\n猫が鳴く。,猫を鳴く。\n", encoding="utf-8")
    found = imported(COMMAND, str(data), str(tmp_path / "out"))
    assert (tmp_path / "out" / "summary.csv").exists() and "pandas" in found
    assert not found & (MODELS | OTHERS | {"scipy.stats"})


@pytest.mark.parametrize("name", COMMANDS)
def test_the_summary_of_a_command_is_the_first_line_of_its_module(name: str) -> None:
    first = (COMMANDS[name].__doc__ or "").partition("\n")[0]
    assert first == f"`python -m engine {name}`: {summary(name)}" and len(summary(name)) > 20


def test_another_name_is_no_command() -> None:
    with pytest.raises(KeyError):
        Commands("clusters")["equivalent"]
