"""Builds the wheel of Hakari: hatchling calls the two hooks (see pyproject.toml).

In the checkout the packages are `engine` and `dashboard`, names that another package may have. In the wheel they
are `hakari.engine` and `hakari.dashboard`: their files are copied with every import, module name and command renamed,
and nothing but `hakari` comes into site-packages. What would still say the old names stops the build.
"""

from __future__ import annotations

import ast
import io
import os
import re
import runpy
import shutil
import tempfile
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.pofile import read_po, write_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

NAME = "hakari"
PACKAGES = ("engine", "dashboard")
LIST_COMMAND = re.compile(r'"python", "-m", "engine"(?=[,\]])')
REQUIREMENT = re.compile(r"^([\w.-]+)(\[[\w,-]+\])?==(\S+)", re.MULTILINE)
_OLD = rf"(?:{'|'.join(PACKAGES)})"
_IMPORT = re.compile(rf"(import\s+|from\s+)({_OLD})\b")
_LEFT_OVER = re.compile(rf"-m {_OLD}\b|-m streamlit run dashboard/server|(?<![\w.]){_OLD}\.[a-z_]+:")


class PackageMetadata(MetadataHookInterface):
    """The version of engine/version.py, and the requirements of the checkout with their versions."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Also pins what no file of ours imports but can change a number: by the lock."""
        root = Path(self.root)
        metadata["version"] = runpy.run_path(str(root / "engine" / "version.py"))["VERSION"]
        required = pinned(root / "requirements.txt")
        locked = {line.partition("==")[0]: line for line in pinned(root / "requirements.lock")}
        named = {line.partition("==")[0].partition("[")[0].lower().replace("_", "-") for line in required}
        metadata["dependencies"] = [*required, *(locked[name] for name in numbers(root) if name not in named)]
        metadata["optional-dependencies"] = {"ray": pinned(root / "deploy" / "requirements-ray.txt")}


class PackageBuild(BuildHookInterface[Any]):
    """Puts the renamed files into the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the files are collected. An editable installation has the checkout itself."""
        if self.target_name != "wheel" or version == "editable":
            return
        self.folder = tempfile.mkdtemp()
        write_package(Path(self.root), Path(self.folder))
        build_data["force_include"][self.folder] = NAME

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called when the wheel is written."""
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


def pinned(file: Path) -> list[str]:
    """The requirements of a file as NAME==VERSION."""
    return [f"{name}{extras}=={version}" for name, extras, version in REQUIREMENT.findall(file.read_text("utf-8"))]


def numbers(root: Path) -> tuple[str, ...]:
    """The libraries that can change a number, as engine/library_versions.py lists them."""
    body = ast.parse((root / "engine/library_versions.py").read_text("utf-8")).body
    assigned = {
        target.id: node.value
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return tuple(
        sorted(
            {
                name
                for area in ("MODELS", "ARRAYS", "SURFACE", "READINGS", "TABLES")
                for name in ast.literal_eval(assigned[area])
            }
        )
    )


def write_package(root: Path, folder: Path) -> None:
    """The package `hakari`, as it is installed, in `folder`."""
    names = module_names(root)
    for path in files(root):
        target = folder / path.relative_to(root / NAME if path.is_relative_to(root / NAME) else root)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".py":
            target.write_text(renamed_source(path.read_text("utf-8"), names, str(path)), "utf-8")
        elif path.suffix == ".po":
            target.write_bytes(renamed_catalogue(path, names))
        else:
            shutil.copy2(path, target)
    # Streamlit reads the settings beside the script that it is started with.
    shutil.copytree(root / ".streamlit", folder / "dashboard" / ".streamlit")


def files(root: Path) -> Iterator[Path]:
    """The files of the packages, none that a run of them has left."""
    for package in (NAME, *PACKAGES):
        for directory, folders, names in os.walk(root / package):
            folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
            yield from (
                Path(directory, name)
                for name in sorted(names)
                if not name.startswith(".") and not name.endswith((".pyc", ".pyo"))
            )


def module_names(root: Path) -> re.Pattern[str]:
    """Finds where a text begins to name a module: `engine.` before a module of it, and not `engine.` of a value."""
    inner = {
        package: sorted(
            {
                path.name.partition(".")[0]
                for path in (root / package).iterdir()
                if path.suffix == ".py" or (path / "__init__.py").exists()
            }
            - {"__init__"}
        )
        for package in PACKAGES
    }
    inner["engine"].append("dashboard")  # the logger `engine.dashboard…`, below that of everything
    alternatives = "|".join(rf"{package}\.(?=(?:{'|'.join(names)})\b)" for package, names in inner.items())
    return re.compile(rf"(?<![\w./{{(])(?:{alternatives})")


def renamed_text(text: str, names: re.Pattern[str]) -> str:
    """A text, or a comment, that names modules or commands.

    >>> renamed_text("python -m engine idf, as `engine.measures.idf` says", re.compile(r"engine\\.(?=measures)"))
    'hakari idf, as `hakari.engine.measures.idf` says'
    """
    text = re.sub(r"python -m engine(?![A-Za-z0-9_.])", NAME, text)
    text = text.replace("python -m streamlit run dashboard/server.py", f"{NAME} run")
    text = re.sub(r"(?<![\w.])engine\.evaluate(?![a-z])", f"{NAME}.evaluate", text)
    text = re.sub(r"\bimport engine$", f"import {NAME}", text, flags=re.MULTILINE)
    return names.sub(lambda found: f"{NAME}.{found[0]}", text)


def renamed_source(source: str, names: re.Pattern[str], path: str) -> str:
    """The code with its imports renamed, and what its texts and comments name. ValueError for what cannot be."""
    source = LIST_COMMAND.sub(f'"{NAME}"', source)
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    texts = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    imports = {
        (node.lineno, node.col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    pieces, written = list[str](), 0
    for token, following in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
        begin = starts[token.start[0] - 1] + token.start[1]
        if token.type in texts:
            end = starts[following.start[0] - 1] + following.start[1]  # what a token says of its end leaves out braces
            changed = renamed_text(source[begin:end], names)
        elif token.type == tokenize.NAME and token.start in imports and (found := _IMPORT.match(source, begin)):
            end = found.end()
            if found[1].startswith("import") and not re.match(r"\.[\w.]+ as ", source[end:]):
                raise ValueError(f"{path}:{token.start[0]}: `import {found[2]}` binds a name that the package has not.")
            changed = f"{found[1]}{NAME}.{found[2]}"
        else:
            continue
        pieces += [source[written:begin], changed]
        written = end
    renamed = "".join([*pieces, source[written:]])
    _require_new_names(renamed, path)
    return renamed


def _require_new_names(source: str, path: str) -> None:
    for node in ast.walk(ast.parse(source)):
        old = (
            (isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in PACKAGES)
            or (isinstance(node, ast.Import) and any(a.name.partition(".")[0] in PACKAGES for a in node.names))
            or (isinstance(node, ast.Name) and node.id == NAME)
            or (isinstance(node, ast.Constant) and isinstance(node.value, str) and _LEFT_OVER.search(node.value))
        )
        if old:
            raise ValueError(f"{path}:{getattr(node, 'lineno', '?')}: {ast.unparse(node)!r} is not renamed.")


def renamed_catalogue(path: Path, names: re.Pattern[str]) -> bytes:
    """The catalogue, whose texts are those of the renamed code."""

    def renamed(texts: Any) -> Any:
        return renamed_text(texts, names) if isinstance(texts, str) else tuple(map(renamed, texts))

    with path.open("rb") as file:
        catalogue = read_po(file)
    entries = [message for message in catalogue if message.id]
    for message in entries:
        catalogue.delete(message.id, message.context)
    for message in entries:
        catalogue.add(renamed(message.id), renamed(message.string), flags=message.flags, context=message.context)
    written = io.BytesIO()
    write_po(written, catalogue, omit_header=True)
    return written.getvalue()
