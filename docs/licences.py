"""The licences of the requirements, as the metadata of the installed packages state them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
FILES: Mapping[str, Path] = {
    "running": ROOT / "requirements.txt",
    "cluster": ROOT / "deploy" / "requirements-ray.txt",
    "development": ROOT / "tests" / "requirements.txt",
}
NOT_STATED = "not stated"
_COPYLEFT = re.compile(r"GPL|MPL|EPL|CDDL|General Public|Mozilla")


@dataclass(frozen=True)
class Licence:
    """A requirement and the licence that its metadata state."""

    name: str
    version: str
    licence: str


def requirements(file: Path) -> list[Requirement]:
    """The requirements of a file, without those of other files that it includes."""
    lines = (line.partition(" #")[0].strip() for line in file.read_text(encoding="utf-8").splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith(("#", "-r"))]


def licences(use: str) -> list[Licence]:
    """The licence of every requirement of one of FILES, in their order. Raises PackageNotFoundError."""
    return [_licence(distribution(requirement.name)) for requirement in requirements(FILES[use])]


def copyleft() -> list[Licence]:
    """Every package that the requirements for running install, directly or in turn, whose licence asks that copies or
    changes stay under it.
    """
    found = {
        item.name: item
        for requirement in requirements(FILES["running"])
        for item in _with_dependencies(requirement, set())
    }
    return sorted((item for item in found.values() if _COPYLEFT.search(item.licence)), key=lambda item: item.name)


def _with_dependencies(requirement: Requirement, seen: set[str]) -> Iterator[Licence]:
    name = canonicalize_name(requirement.name)
    if name in seen:
        return
    seen.add(name)
    try:
        installed = distribution(name)
    except PackageNotFoundError:  # of another platform
        return
    yield _licence(installed)
    for line in installed.requires or ():
        further = Requirement(line)
        extras = ("", *requirement.extras)
        if further.marker is None or any(further.marker.evaluate({"extra": extra}) for extra in extras):
            yield from _with_dependencies(further, seen)


def _licence(installed: Distribution) -> Licence:
    """The expression of the metadata, else their line on the licence, else their classifiers."""
    metadata = installed.metadata
    stated = next(
        (
            line.strip()
            for field in ("License-Expression", "License")
            for line in metadata.get_all(field) or ()
            if line.strip()
        ),
        "",
    )
    if not stated or "\n" in stated:  # none, or the whole text
        names = [line.rpartition(" :: ")[2] for line in metadata.get_all("Classifier") or () if "License ::" in line]
        stated = ", ".join(names) or NOT_STATED
    return Licence(canonicalize_name(metadata["Name"]), installed.version.partition("+")[0], stated)
