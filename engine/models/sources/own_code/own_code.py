"""The own code of a model that the operator has allowed: where it is, and which classes are taken from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import ModelError
from engine.messages.message import Message
from engine.models.sources.own_code.code_files import TOKENIZER, digest, python_files, references
from engine.models.sources.own_code.trusted import VARIABLE, directory_entry, trusted_code

# Finds or fetches the Python files in a folder of a repository at a commit, with these modules among them.
Fetch = Callable[[str, str, str, tuple[str, ...]], Path]
PACKAGE = "hakari_own_code_{index}"


@dataclass(frozen=True)
class CodeSource:
    """Code in one allowed state. entry: of HAKARI_TRUST_REMOTE_CODE."""

    entry: str
    directory: Path

    def files(self) -> dict[str, bytes]:
        """Its Python files. Raises ModelError where those of a directory are no longer the ones that were allowed."""
        files = python_files(self.directory)
        if "@sha256:" in self.entry and self.entry != directory_entry(self.directory, digest(files)):
            raise ModelError(
                Message(
                    "The code in {directory} was changed while the model was opened. Open it again.",
                    directory=self.directory,
                )
            )
        return files


@dataclass(frozen=True)
class OwnCode:
    """sources: of all code that is run. classes: (Auto class, number of its source, module, class)."""

    sources: tuple[CodeSource, ...]
    classes: tuple[tuple[str, int, str, str], ...]

    @property
    def entries(self) -> tuple[str, ...]:
        """What the operator allowed, in the words of the setting."""
        return tuple(source.entry for source in self.sources)

    @property
    def identity(self) -> str:
        """All that decides what is run, but where a directory is."""
        states = [source.entry.rpartition("@")[2] for source in self.sources]
        return json.dumps([states, self.classes])

    @property
    def has_tokenizer(self) -> bool:
        """Whether the tokenizer is a class of it."""
        return any(auto_class == TOKENIZER for auto_class, *_ in self.classes)

    @property
    def description(self) -> str:
        """The entries, and for readers nothing of where a directory is."""
        return ", ".join(
            f"{source.directory.name}@{source.entry.rpartition('@')[2]}"
            if source.entry.startswith("/")
            else source.entry
            for source in self.sources
        )

    def copy_to(self, folder: Path) -> None:
        """Write the files as packages that `imported_names` names. Raises ModelError as `CodeSource.files`, OSError."""
        for index, source in enumerate(self.sources):
            package = folder / PACKAGE.format(index=index)
            package.mkdir()
            for name, content in {"__init__.py": b"", **source.files()}.items():
                (package / name).write_bytes(content)

    @property
    def imported_names(self) -> dict[str, tuple[str, str]]:
        """The full name of the module, and the class in it, by Auto class."""
        return {
            auto_class: (f"{PACKAGE.format(index=index)}.{module}", name)
            for auto_class, index, module, name in self.classes
        }


def allowed_own_code(directory: Path, repository: str, commit: str, fetch: Fetch, folder: str = "") -> OwnCode | None:
    """The own code of a model where the operator allows all of it; None where there is none, or some is not allowed.

    repository, commit: of a model of the hub, folder: where in it the directory is; all "" for a directory of this
    machine, whose code is allowed by its hash. Raises ModelError for references of an allowed model that cannot be, and
    where two commits of another repository could be meant.
    """
    if not (trusted := trusted_code()):
        return None
    itself = f"{repository}@{commit}" if commit else directory_entry(directory, digest(python_files(directory)))
    try:
        found = references(directory)
    except ModelError:
        if itself in trusted:
            raise
        return None
    named = [replace(each, repository="") if each.repository == repository else each for each in found]
    owners = list(dict.fromkeys(each.repository for each in named))
    entries = [_of_others(owner, trusted) if owner else itself for owner in owners]
    if not entries or not trusted.issuperset(entries):
        return None
    sources = []
    for owner, entry in zip(owners, entries, strict=True):
        modules = tuple(dict.fromkeys(each.module for each in named if each.repository == owner))
        if owner:
            sources.append(CodeSource(entry, fetch(owner, entry.rpartition("@")[2], "", modules)))
        else:
            sources.append(CodeSource(entry, fetch(repository, commit, folder, modules) if commit else directory))
    classes = [(each.auto_class, owners.index(each.repository), each.module, each.name) for each in named]
    return OwnCode(tuple(sources), tuple(classes))


def _of_others(repository: str, trusted: frozenset[str]) -> str:
    """The allowed entry of another repository, "" where there is none."""
    entries = [entry for entry in sorted(trusted) if entry.rpartition("@")[0] == repository]
    if len(entries) > 1:
        raise ModelError(
            Message(
                "The model needs code of {repository}, of which {VARIABLE} names {n} commits. The operator leaves one.",
                repository=repository,
                VARIABLE=VARIABLE,
                n=len(entries),
            )
        )
    return entries[0] if entries else ""
