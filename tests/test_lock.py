"""The locks hold every requirement, all that those need, and what is installed here."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from docs.licences import requirements
from engine import library_versions
from engine.version import library_version

ROOT = Path(__file__).parents[1]
LOCKS = {
    "requirements.lock": ["requirements.txt"],
    "tests/requirements.lock": ["requirements.txt", "deploy/requirements-ray.txt", "tests/requirements.txt"],
}
BESIDE = {"torch"}  # installed first, in the build that suits the machine; what only some builds need comes with it
OF_A_BUILD = re.compile(r"nvidia|cuda|triton")
ADVICE = "`make lock` writes the locks again."


@cache
def locked(name: str) -> dict[str, Requirement]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    found = [Requirement(line.removesuffix("\\")) for line in lines if re.match(r"[A-Za-z0-9]", line)]
    return {canonicalize_name(requirement.name): requirement for requirement in found}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_locked_at_its_version(lock: str) -> None:
    wanted = {
        canonicalize_name(item.name): str(item.specifier) for file in LOCKS[lock] for item in requirements(ROOT / file)
    }
    found = {name: str(item.specifier) for name, item in locked(lock).items()}
    assert {name: found.get(name) for name in wanted if name not in BESIDE} == {
        name: version for name, version in wanted.items() if name not in BESIDE
    }, ADVICE


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_has_hashes_and_no_address(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(locked(lock)) and all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text and not re.search(r"^--", text, re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_is_complete(lock: str) -> None:
    """It is installed with --no-deps: what a package needs on this platform is in it, or comes with torch."""
    missing = set()
    for name, item in [*locked(lock).items(), ("torch", Requirement("torch"))]:
        try:
            needed = distribution(name).requires or []
        except PackageNotFoundError:  # of another platform
            continue
        for requirement in map(Requirement, needed):
            extras = ("", *item.extras)
            if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras):
                missing.add(canonicalize_name(requirement.name))
    known = locked(lock).keys() | BESIDE
    assert not {name for name in missing - known if not OF_A_BUILD.search(name)}, ADVICE


def test_both_locks_agree() -> None:
    run, test = (locked(lock) for lock in LOCKS)
    assert {name: str(item.specifier) for name, item in run.items()} == {
        name: str(test[name].specifier) for name in run
    }, ADVICE


@pytest.mark.parametrize("library", sorted({*library_versions.ALL} - BESIDE))
def test_what_can_change_a_number_is_locked_and_installed_so(library: str) -> None:
    assert str(locked("requirements.lock")[library].specifier) == f"=={library_version(library)}"
