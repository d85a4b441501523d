"""How deploy/package.py renames modules and commands, and what it refuses."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from engine import library_versions

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def package() -> ModuleType:
    spec = importlib.util.spec_from_file_location("package", ROOT / "deploy" / "package.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def renamed(package: ModuleType, source: str) -> str:
    text = package.renamed_source(source, package.module_names(ROOT), "a.py")
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from engine.measures import idf\n", "from hakari.engine.measures import idf\n"),
        ("def f():\n    from dashboard import pages\n", "def f():\n    from hakari.dashboard import pages\n"),
        ("import engine.version as version\n", "import hakari.engine.version as version\n"),
        ('PRELOADED = "engine.runs.preloaded"\n', 'PRELOADED = "hakari.engine.runs.preloaded"\n'),
        ('"engine.measures.clusters.isotropy:isoscore"\n', '"hakari.engine.measures.clusters.isotropy:isoscore"\n'),
        ('getLogger("engine.dashboard.sign_in")\n', 'getLogger("hakari.engine.dashboard.sign_in")\n'),
        ('["python", "-m", "engine", kind]\n', '["hakari", kind]\n'),
        ('["-m", "engine.runs.pretraining.process"]\n', '["-m", "hakari.engine.runs.pretraining.process"]\n'),
        ('"Make one: python -m engine idf --out F."\n', '"Make one: hakari idf --out F."\n'),
        ('f"{{}} {n}: `engine.models.worker`, {m}"\n', 'f"{{}} {n}: `hakari.engine.models.worker`, {m}"\n'),
        ("# see `engine.runs.queue`\n", "# see `hakari.engine.runs.queue`\n"),
        (
            '"""Text.\n\n    import engine\n    engine.evaluate(1)\n"""\n',
            '"""Text.\n\n    import hakari\n    hakari.evaluate(1)\n"""\n',
        ),
    ],
)
def test_what_is_renamed(package: ModuleType, source: str, expected: str) -> None:
    assert renamed(package, source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "engine.runs.submit(engine)\n",
        'f"{engine.runs.n} runs"\n',
        '"the engine. Then"\n',
        '"docs/dashboard.md"\n',
        'PACKAGES = ("engine", "dashboard")\n',
        "from enginery import x\n",
        "raise error from engine\n",
    ],
)
def test_what_stays(package: ModuleType, source: str) -> None:
    assert renamed(package, source) == source


@pytest.mark.parametrize(
    "source",
    [
        "import engine\n",
        "import engine.version\n",
        'X = ("python -m "\n     "engine idf")\n',
    ],
)
def test_what_stops_the_build(package: ModuleType, source: str) -> None:
    with pytest.raises(ValueError, match=r"a\.py:1"):
        renamed(package, source)


def test_the_build_reads_the_list_of_libraries_that_change_numbers(package: ModuleType) -> None:
    assert package.numbers(ROOT) == library_versions.ALL


@pytest.mark.nightly  # the wheel of `make slow` is made of all files
def test_every_file_can_be_renamed(package: ModuleType) -> None:
    names = package.module_names(ROOT)
    sources = [path for path in package.files(ROOT) if path.suffix == ".py"]
    assert len(sources) > 500
    for path in sources:
        package.renamed_source(path.read_text(encoding="utf-8"), names, str(path))
