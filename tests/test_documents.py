"""The documents say what the code does: sections, options, measures, variables, links, pictures and examples."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, fields
from pathlib import Path

import pandas as pd
import pytest

from docs import first_steps
from docs.generate import DATASETS, DOCUMENTS, ROOT, SECTION, TABLES, rendered
from docs.licences import FILES, copyleft, licences, requirements
from engine.__main__ import ALIASES, COMMANDS, main
from engine.inference.ray.settings import RaySettings
from engine.measures.cards.catalog import CARDS
from engine.runs.access.configuration import DEFAULT_BIN_DAYS, DEFAULT_RUNNING
from engine.runs.access.limits import HOSTED, Limits
from engine.runs.computing import SHARINGS

README, DOCS = ROOT / "README.md", ROOT / "docs"
IMAGES = DOCS / "images"
MOST_LINES = 150
EXAMPLE_SECONDS = 240

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
VARIABLE = re.compile(r"HAKARI_[A-Z0-9_]*[A-Z0-9](?![A-Z0-9_{…])")
OPTION_OF_HELP = re.compile(r"^  (--.*?)(?:  |$)", re.MULTILINE)
ROW_OF_VARIABLE = re.compile(r"^\| `(HAKARI_\w+)` \|.*\| (.+) \|$", re.MULTILINE)


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def sections(document: str) -> dict[str, str]:
    return {match["name"]: match[0] for match in SECTION.finditer(document)}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_generated_sections_are_what_the_code_declares(path: Path) -> None:
    document = path.read_text(encoding="utf-8")
    assert document == rendered(document), "`make docs` writes the sections again."


def test_an_edited_section_would_be_noticed() -> None:
    document = text("measures.md")
    edited = document.replace("lower is better", "higher is better", 1)
    assert edited != document and rendered(edited) == document


def test_every_section_is_generated_once() -> None:
    names = [match["name"] for path in DOCUMENTS for match in SECTION.finditer(path.read_text(encoding="utf-8"))]
    kinds = {
        "options": COMMANDS,
        "tables": TABLES,
        "measure": CARDS,
        "columns": DATASETS,
        "licences": FILES,
    }
    expected = [f"{kind} {subject}" for kind, subjects in kinds.items() for subject in subjects]
    single = {
        "pages",
        "commands",
        "layouts",
        "judged-layouts",
        "options-layouts",
        "reading-layouts",
        "score-forms",
        "vector-forms",
        "forms",
        "prompts",
        "paper-models",
        "families",
        "data-directory",
        "copyleft",
    }
    assert Counter(names) == Counter([*expected, *single])


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_option_of_the_help_is_documented(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    shown = {flag for line in OPTION_OF_HELP.findall(capsys.readouterr().out) for flag in re.findall(r"--[\w-]+", line)}
    section = sections(text("command-line.md"))[f"options {command}"]
    written = {
        flag for row in re.findall(r"^\| (`--[^|]+) \|", section, re.MULTILINE) for flag in re.findall(r"--[\w-]+", row)
    }
    assert shown == written and len(shown) > 2


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_option_has_a_meaning(command: str) -> None:
    rows = re.findall(
        r"^\| `(--[^`]+)` \|.*\| (.*?) ?\|$", sections(text("command-line.md"))[f"options {command}"], re.MULTILINE
    )
    assert rows and [flag for flag, meaning in rows if not meaning] == []


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_a_heading_with_its_other_name(command: str) -> None:
    heading = f"## {command} ({ALIASES[command]})" if command in ALIASES else f"## {command}"
    assert heading in text("command-line.md").splitlines()


@pytest.mark.parametrize("key", sorted(CARDS))
def test_every_measure_has_its_name_and_formula(key: str) -> None:
    section = sections(text("measures.md"))[f"measure {key}"]
    assert f"### {CARDS[key].name}\n" in section and f"`{CARDS[key].formula}`" in section
    assert CARDS[key].source in section and CARDS[key].range in section


def code() -> dict[Path, str]:
    """The files that may read a variable: code, tests, hosting, make."""
    paths = [
        *ROOT.glob("engine/**/*.py"),
        *ROOT.glob("dashboard/**/*.py"),
        *ROOT.glob("tests/**/*.py"),
        *(path for path in ROOT.glob("deploy/**/*") if path.is_file() and path.suffix not in (".md", ".pyc")),
        ROOT / "Makefile",
        ROOT / ".ci" / "run",
    ]
    return {path: path.read_text(encoding="utf-8") for path in paths}


def test_every_variable_is_documented_and_every_documented_one_exists() -> None:
    read = {name for content in code().values() for name in VARIABLE.findall(content)}
    read |= {f"HAKARI_USER_{field.name.upper()}" for field in fields(Limits)}
    documented = [name for name, _ in ROW_OF_VARIABLE.findall(text("configuration.md"))]
    assert sorted(documented) == sorted(read)


def test_no_document_names_a_variable_that_there_is_not() -> None:
    known = {name for name, _ in ROW_OF_VARIABLE.findall(text("configuration.md"))}
    named = {name for path in DOCUMENTS for name in VARIABLE.findall(path.read_text(encoding="utf-8"))}
    assert named <= known


def test_defaults_of_variables_are_those_of_the_code() -> None:
    written = {name: default.strip("`") for name, default in ROW_OF_VARIABLE.findall(text("configuration.md"))}
    ray = RaySettings("head:6379")
    assert {name: written[name] for name in written if name.startswith("HAKARI_USER_")} == {
        f"HAKARI_USER_{name.upper()}": f"{value:g}" if value < 1e5 else str(value) for name, value in HOSTED.items()
    }
    assert written["HAKARI_RUNNING"] == str(DEFAULT_RUNNING)
    assert written["HAKARI_BIN_DAYS"] == str(DEFAULT_BIN_DAYS)
    assert written["HAKARI_CACHE_SHARING"] == SHARINGS[0]
    assert (
        written["HAKARI_RAY_REPLICAS"],
        written["HAKARI_RAY_CPUS"],
        written["HAKARI_RAY_GPUS"],
        written["HAKARI_RAY_IDLE_SECONDS"],
    ) == (f"{ray.minimum}-{ray.maximum}", f"{ray.cpus:g}", f"{ray.gpus:g}", f"{ray.idle_seconds:g}")


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "path",
    [
        *DOCUMENTS,
        ROOT / "CONTRIBUTING.md",
        *ROOT.glob("docs/design/*.md"),
        *ROOT.glob("deploy/*.md"),
        *ROOT.glob("engine/builtin/*.md"),
    ],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_every_link_leads_somewhere(path: Path) -> None:
    dead = []
    for link in LINK.findall(path.read_text(encoding="utf-8")):
        if link.startswith(("http://", "https://")):
            continue
        target, _, anchor = link.partition("#")
        file = (path.parent / target).resolve() if target else path
        if not file.exists() or (anchor and anchor not in anchors(file)):
            dead.append(link)
    assert not dead


def linked(path: Path) -> set[Path]:
    return {(path.parent / link.partition("#")[0]).resolve() for link in LINK.findall(path.read_text(encoding="utf-8"))}


def test_the_readme_leads_to_every_document() -> None:
    assert set(DOCS.glob("*.md")) <= linked(README)


def test_every_record_of_a_decision_is_listed() -> None:
    index = DOCS / "design" / "README.md"
    assert set((DOCS / "design").glob("*.md")) - {index} == linked(index) and len(linked(index)) > 8


@pytest.mark.parametrize(
    "path", [ROOT / "CONTRIBUTING.md", *sorted((DOCS / "design").glob("*.md"))], ids=lambda path: path.name
)
def test_files_that_contributors_are_sent_to_exist(path: Path) -> None:
    named = re.findall(r"`((?:engine|dashboard|tests|docs|deploy|hakari)/[\w./-]+)`", path.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists() and "NAME" not in name] == []


def test_every_picture_is_shown() -> None:
    shown = {target for path in DOCUMENTS for target in linked(path)}
    assert set(IMAGES.glob("*.png")) <= shown and len(list(IMAGES.glob("*.png"))) == 3


def test_the_first_steps_are_shown_in_each_language_width_and_scheme() -> None:
    folder = IMAGES / "first-steps"
    pages = ("alignment", "clusters", "minimal_pairs")
    steps = ["home", *(f"{page}-{step}" for page in pages for step in (1, 2))]
    expected = {
        f"{language}-{step}-{width}-{scheme}.webp"
        for language in first_steps.LOCALES
        for step in steps
        for width in first_steps.WIDTHS
        for scheme in first_steps.SCHEMES
    }
    assert {path.name for path in folder.iterdir()} == expected
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2 * 2**20


def test_the_readme_is_short_and_names_every_folder() -> None:
    readme = README.read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= MOST_LINES
    folders = [
        f"{path.relative_to(ROOT)}/"
        for parent in (ROOT, ROOT / "engine")
        for path in parent.iterdir()
        if path.is_dir() and not path.name.startswith((".", "_")) and path.name != "engine" and any(path.glob("*.*"))
    ]
    assert [folder for folder in folders if f"`{folder}`" not in readme] == []


def test_every_target_of_make_is_documented() -> None:
    phony = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony is not None
    assert [target for target in phony[1].split() if f"| `make {target}" not in text("development.md")] == []


@pytest.mark.parametrize("use", FILES)
def test_every_requirement_has_its_licence(use: str) -> None:
    names = [item.name for item in licences(use)]
    lines = [line for line in FILES[use].read_text(encoding="utf-8").splitlines() if "==" in line]
    assert len(names) == len(lines) == len(requirements(FILES[use]))
    assert all(
        item.version == line.partition("==")[2].split()[0] and line.lower().startswith(item.name[:4])
        for item, line in zip(licences(use), lines, strict=True)
    )


def test_a_licence_with_conditions_on_copies_is_found() -> None:
    found = {item.name: item.licence for item in copyleft()}
    assert found["pykakasi"] == "GPL-3.0-or-later"  # in its metadata
    assert "certifi" in found  # required by what is required
    assert "numpy" not in found


def test_what_is_said_of_packages_is_said_of_installed_ones() -> None:
    named = {
        name
        for row in re.findall(r"^\| ((?:`[\w-]+`(?:, )?)+) \|", text("licences.md"), re.MULTILINE)
        for name in re.findall(r"`([\w-]+)`", row)
    }
    known = {item.name for use in FILES for item in licences(use)} | {item.name for item in copyleft()}
    assert named <= known


def console(document: str) -> list[tuple[str, str]]:
    """Command and output of each prompt in the blocks of the console."""
    blocks = re.findall(r"^```console\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)
    return [
        (command, output)
        for block in blocks
        for command, output in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


@dataclass(frozen=True)
class Example:
    """What the example of the README printed, what it shows, and where it wrote."""

    printed: list[str]
    shown: list[str]
    out: Path


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the engine and the virtual environment where a checkout has them."""
    folder = tmp_path_factory.mktemp("checkout")
    for name, target in (("engine", ROOT / "engine"), (".venv", Path(sys.prefix))):
        (folder / name).symlink_to(target)
    return folder


def printed_by(command: list[str], checkout: Path) -> str:
    """What a command prints in the checkout, with a data directory of its own."""
    environment = {**os.environ, "HAKARI_DATA_DIR": str(checkout / "data")}
    done = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=EXAMPLE_SECONDS
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def example(checkout: Path) -> Example:
    """The example on the command line, typed as it stands in the README."""
    prompts = console(README.read_text(encoding="utf-8"))
    return Example(
        [printed_by(["bash", "-c", command], checkout) for command, _ in prompts],
        [output for _, output in prompts],
        checkout / "out",
    )


def test_the_example_in_python_runs(checkout: Path) -> None:
    [block] = re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (checkout / "example.py").write_text(block, encoding="utf-8")
    header, row = printed_by([sys.executable, "example.py"], checkout).splitlines()
    assert header.split() == ["f1", "penalized_f1"]
    _, f1, penalized = map(float, row.split())
    assert 0 < penalized <= f1 <= 1


def test_the_example_on_the_command_line_gives_what_the_readme_shows(example: Example) -> None:
    assert example.printed == example.shown and any(example.shown)


def test_every_table_and_column_that_the_example_writes_is_documented(example: Example) -> None:
    section = sections(text("tables.md"))["tables minimal-pairs"]
    documented = {
        match[1]: re.findall(r"^\| `([^`]+)` \|", match[2], re.MULTILINE)
        for match in re.finditer(
            r"^### minimal-pairs: (\w+)\.csv\n(.*?)(?=^### |\Z)", section, re.MULTILINE | re.DOTALL
        )
    }
    written = {path.stem: pd.read_csv(path, nrows=0).columns.tolist() for path in example.out.glob("*.csv")}
    assert len(written) > 5
    for name, columns in written.items():
        fixed = [column for column in documented[name] if "<" not in column]
        # <column> stands for the columns of the file that have no role
        assert columns[: len(fixed)] == fixed and (columns == fixed or "<column>" in documented[name])
