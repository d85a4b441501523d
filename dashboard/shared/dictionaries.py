"""The idf dictionaries that whoever is asking may choose: the built-in ones and those that runs made."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dashboard.shared import session
from engine.errors import EngineError
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.alignment.scoring import dictionary_name
from engine.evaluations.shared import dictionaries as stored
from engine.evaluations.shared.dictionaries import BUILT_IN, SAVED, built_in_paths, read_cached
from engine.measures.idf import IdfDictionary
from engine.runs.access.access import RunAccess
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search

FOLDER = "dictionaries"
KIND = "dictionary"
FACTS_KEPT = 2_000


@dataclass(frozen=True)
class Listed:
    """A dictionary to choose: `choice` is what a scoring calls it, the other fields are for people.

    model: whose tokenizer counted it, "" where an upload does not say. run_id: the run that made it, "" for a built-in
    one. own: whether whoever is asking may delete it.
    """

    choice: str
    path: Path
    name: str
    model: str
    tokenizer: str
    n_documents: int
    unit: str
    has_occurrences: bool
    run_id: str = ""
    own: bool = False

    @property
    def label(self) -> str:
        """Name and tokenizer in one line."""
        return f"{self.name} · {self.model or 'tokenizer ' + self.tokenizer[:8]}"


def listed() -> list[Listed]:
    """Every dictionary: the built-in ones, the viewer's own and those that the team shares, the newest first.

    One that a run made is written to the data directory when it is first listed. Raises EngineError.
    """
    found = [Listed(corpus, path, corpus, _tokenizer_name(path), *_facts(str(path), path.stat().st_mtime_ns))
             for corpus in BUILT_IN for path in built_in_paths(corpus)]
    access = session.access()
    views = {view.id: view for search in (access.mine, access.team)
             for view in search(Search(kind=KIND, states=("done",)))}
    return found + [dictionary for view in views.values() if (dictionary := _of_run(view, access)) is not None]


def choices(tokenizers: Collection[str] | None = None, *, with_occurrences: bool = False) -> dict[str, str]:
    """What a scoring may name as its dictionary -> how to call it.

    `tokenizers`: fingerprints; only what was counted with each of them (a built-in corpus was with several), None for
    all. with_occurrences: only those that give unigram probabilities.
    """
    counted: dict[str, set[str]] = {}
    names: dict[str, str] = {}
    for one in listed():
        if one.has_occurrences or not with_occurrences:
            counted.setdefault(one.choice, set()).add(one.tokenizer)
            names[one.choice] = one.name if one.choice in BUILT_IN else one.label
    return {choice: names[choice] for choice, of in counted.items() if tokenizers is None or set(tokenizers) <= of}


def label(choice: str) -> str:
    """How to call the dictionary that a scoring names, whether or not it is still there."""
    return dictionary_name(Scoring(choice))


def dictionary(one: Listed) -> IdfDictionary:
    """The dictionary itself, shared by all sessions: nobody writes into it. Raises InputError when it is damaged."""
    return read_cached(one.path)


def delete(one: Listed) -> None:
    """Forget a dictionary of the viewer's own, with the run that made it. Raises EngineError."""
    session.access().delete(one.run_id)
    one.path.unlink(missing_ok=True)


def _of_run(view: RunRecord, access: RunAccess) -> Listed | None:
    folder = session.engine().data_dir / FOLDER
    path = folder / f"{view.id}.json.gz"
    try:
        if not path.is_file():
            stored.save(access.result(view.id).dictionary, folder, view.id)
        facts = _facts(str(path), path.stat().st_mtime_ns)
    except EngineError:
        return None  # its page says what is wrong with that run
    return Listed(f"{SAVED}{view.id}", path, str(view.settings.get("name", view.name)),
                  str(view.settings.get("model") or ""), *facts, run_id=view.id, own=access.may_change(view))


def _tokenizer_name(path: Path) -> str:
    """The built-in model whose tokenizer made a dictionary, from its file's name.

    >>> _tokenizer_name(Path("novel.bert-mini-ja.json.gz"))
    'bert-mini-ja'
    """
    return path.name.removesuffix(".gz").removesuffix(".json").partition(".")[2] or path.name


@st.cache_resource(max_entries=FACTS_KEPT, show_spinner=False)
def _facts(path: str, modified: int) -> tuple[str, int, str, bool]:
    """Tokenizer, documents, unit, and whether occurrences are there; `modified` makes a new file be read again."""
    found = read_cached(Path(path))
    return found.tokenizer, found.n_documents, found.unit, bool(found.token_counts)
