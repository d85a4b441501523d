"""The idf dictionaries that the viewer may choose: the built-in ones and those that runs made."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dashboard import pages
from dashboard.shared import session
from engine.errors import EngineError
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.alignment.scoring import dictionary_name
from engine.evaluations.shared import dictionaries as stored
from engine.evaluations.shared.dictionaries import (
    BUILT_IN,
    SAVED,
    WORD_LEVEL,
    built_in_paths,
    read_cached,
    tokenizer_name,
)
from engine.evaluations.shared.idf_files import idf_facts, read_idf
from engine.language.word_entries import WORDS
from engine.measures.idf import OF_WORDS, IdfDictionary
from engine.messages.languages import tr
from engine.models.sources.cards import BUILT_IN_PREFIX
from engine.models.sources.names import without_label
from engine.runs.access.access import RunAccess
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search

FOLDER = "dictionaries"
KIND = "dictionary"
FACTS_KEPT = 2_000


@dataclass(frozen=True)
class AvailableDictionary:
    """A dictionary to choose: `choice` is its name in a scoring, the other fields are for display.

    model: whose tokenizer counted it, or what cut its words; "" where an upload does not say. run_id: the run that
    made it, "" for a built-in one. own: whether the viewer may delete it.
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
        return f"{self.name} · {self.counted_with or tr('tokenizer {name}', name=self.tokenizer[:8])}"

    @property
    def counted_with(self) -> str:
        """The model whose tokenizer counted it, or that it counts words; "" where an upload does not say."""
        return (
            tr("words (MeCab, {dictionary})", dictionary=tokenizer_name(self.tokenizer).removeprefix(OF_WORDS))
            if self.of_words
            else self.model
        )

    @property
    def of_words(self) -> bool:
        """Whether its entries are words."""
        return self.tokenizer.startswith(OF_WORDS)


def available_dictionaries() -> list[AvailableDictionary]:
    """Every dictionary: the built-in ones, the viewer's own and those that the team shares, the newest first.

    One that a run made is written to the data directory when it is first listed. Raises EngineError.
    """
    built_in = [
        AvailableDictionary(corpus, path, corpus, _tokenizer_name(path), *_built_in_facts(str(path)))
        for corpus in (*BUILT_IN, *WORD_LEVEL)
        for path in built_in_paths(corpus)
    ]
    access = session.access()
    views = {
        view.id: view for search in (access.mine, access.team) for view in search(Search(kind=KIND, states=("done",)))
    }
    return built_in + [dictionary for view in views.values() if (dictionary := _of_run(view, access)) is not None]


def choices(
    tokenizers: Collection[str] | None = None, *, with_occurrences: bool = False, words: bool = False
) -> dict[str, str]:
    """What a scoring may name as its dictionary -> its label.

    `tokenizers`: fingerprints; only dictionaries counted with each of them (a built-in corpus was counted with
    several), None for all. with_occurrences: only those that give unigram probabilities. words: those of words, too,
    which fit every tokenizer.
    """
    tokenizers_by_choice: dict[str, set[str]] = {}
    names: dict[str, str] = {}
    for entry in available_dictionaries():
        is_possible = words or tokenizers is None or not entry.of_words
        if is_possible and (entry.has_occurrences or not with_occurrences):
            tokenizers_by_choice.setdefault(entry.choice, set()).add(entry.tokenizer)
            names[entry.choice] = entry.name if entry.choice in (*BUILT_IN, *WORD_LEVEL) else entry.label
    return {
        choice: names[choice]
        for choice, counted_with in tokenizers_by_choice.items()
        if tokenizers is None or set(tokenizers) <= counted_with or WORDS in counted_with
    }


def of_models(models: Collection[str]) -> tuple[str, ...]:
    """The dictionaries that are known to fit one of these models, the built-in ones first; none of words.

    A model is known by the dictionaries that were counted with its tokenizer under its name. Raises EngineError.
    """
    entries = [entry for entry in available_dictionaries() if not entry.of_words]
    names = {without_label(model).removeprefix(BUILT_IN_PREFIX) for model in models}
    tokenizers = {
        entry.tokenizer for entry in entries if without_label(entry.model).removeprefix(BUILT_IN_PREFIX) in names
    }
    return tuple(dict.fromkeys(entry.choice for entry in entries if entry.tokenizer in tokenizers))


def build_link(key: str) -> None:
    """Draw the way to the page that builds a dictionary."""
    page = pages.card(KIND)
    with st.container(key=key, width="content"):
        st.page_link(pages.path(pages.name_of(KIND)), label=tr("Build a dictionary for this model"), icon=page.icon)


def without_dictionary() -> dict[str, str]:
    """The idf weights that need no dictionary, as a reader sees them."""
    return {"none": tr("none"), "references": tr("references")}


def label(choice: str) -> str:
    """The label of the dictionary that a scoring names, whether or not it still exists."""
    return dictionary_name(Scoring(choice))


def dictionary(entry: AvailableDictionary) -> IdfDictionary:
    """The dictionary itself, shared by all sessions and never changed. Raises InputError when it is damaged."""
    return read_cached(entry.path)


def delete(entry: AvailableDictionary) -> None:
    """Move the run that made a dictionary of the viewer's own to the bin; restored, it has it again. EngineError."""
    session.access().move_to_bin(entry.run_id)
    entry.path.unlink(missing_ok=True)


def _of_run(view: RunRecord, access: RunAccess) -> AvailableDictionary | None:
    folder = session.engine().data_dir / FOLDER
    path = folder / f"{view.id}.json.gz"
    try:
        if not path.is_file():
            stored.save(access.result(view.id).dictionary, folder, view.id)
        facts = _facts(str(path), path.stat().st_mtime_ns)
    except EngineError:
        return None  # the page of that run shows the error
    return AvailableDictionary(
        f"{SAVED}{view.id}",
        path,
        str(view.settings.get("name", view.name)),
        str(view.settings.get("model") or ""),
        *facts,
        run_id=view.id,
        own=access.may_change(view),
    )


def _tokenizer_name(path: Path) -> str:
    """The built-in model whose tokenizer made a dictionary, from its file's name.

    >>> _tokenizer_name(Path("novel.bert-mini-ja.json.gz"))
    'bert-mini-ja'
    """
    return path.name.removesuffix(".gz").removesuffix(".json").partition(".")[2] or path.name


@st.cache_resource(show_spinner=False)
def _built_in_facts(path: str) -> tuple[str, int, str, bool]:
    return idf_facts(Path(path))


@st.cache_resource(max_entries=FACTS_KEPT, show_spinner=False)
def _facts(path: str, modified: int) -> tuple[str, int, str, bool]:
    """Tokenizer, documents, unit, and whether occurrences were counted; a new `modified` time reads the file again."""
    dictionary = read_idf(Path(path))  # listed, not used: it is not kept
    return dictionary.tokenizer, dictionary.n_documents, dictionary.unit, bool(dictionary.token_counts)
