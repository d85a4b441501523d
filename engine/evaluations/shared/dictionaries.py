"""idf dictionaries by name: the built-in ones, those that runs made ("saved/<id>"), or a file.

A dictionary counts the pieces of one tokenizer and is of no use to another, so each carries the
tokenizer's fingerprint and is refused elsewhere. One of words fits every model, where an evaluation weighs tokens by
the words that they belong to; where pieces are looked up it is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from engine.errors import InputError
from engine.evaluations.shared.idf_files import read_idf, write_idf
from engine.language.word_entries import WORDS
from engine.measures.idf import OF_WORDS, IdfDictionary
from engine.messages.message import Message, list_of
from engine.models.sources.names import without_label

BUILT_IN = ("novel", "wiki")
# The same documents, counted in words.
WORD_LEVEL = ("novel-words", "wiki-words")
FOLDER = Path(__file__).parents[2] / "builtin" / "idf"
DICTIONARIES_HELD = 16
FINGERPRINT_DIGITS = 12
SAVED = "saved/"

_ID = re.compile(r"[A-Za-z0-9_-]+")
# Where saved dictionaries lie, one folder for each engine that was opened. Ids are unique, so that their order does
# not matter; and settings may name an id where they may not name a file of the server.
_folders: list[Path] = []


def built_in_paths(name: str) -> list[Path]:
    """The files of a built-in dictionary, one for each tokenizer it was counted with."""
    return sorted(FOLDER.glob(f"{name}.*.json.gz"))


def look_in(folder: Path) -> None:
    """Find saved dictionaries in this folder, too."""
    if folder not in _folders:
        _folders.append(folder)


def save(dictionary: IdfDictionary, folder: Path, dictionary_id: str) -> str:
    """Keep a dictionary in `folder` under an id that nothing else has; returns what `dictionary_for` knows it by."""
    choice = f"{SAVED}{dictionary_id}"
    if not _ID.fullmatch(dictionary_id):
        raise InputError(Message("{dictionary_id!r} is not the id of a dictionary.", dictionary_id=dictionary_id))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    look_in(folder)
    write_idf(dictionary, folder / f"{dictionary_id}.json.gz")
    return choice


def saved_path(choice: str) -> Path | None:
    """The file of a saved dictionary, None when there is none of that id."""
    dictionary_id = choice.removeprefix(SAVED)
    if not choice.startswith(SAVED) or not _ID.fullmatch(dictionary_id):
        return None
    paths = [folder / f"{dictionary_id}.json.gz" for folder in _folders]
    return next((path for path in paths if path.is_file()), None)


def forget(dictionary_id: str) -> None:
    """Remove the saved dictionary of that id, if there is one."""
    if (path := saved_path(f"{SAVED}{dictionary_id}")) is not None:
        path.unlink(missing_ok=True)


def tokenizer_name(tokenizer: str) -> str:
    """What counted a dictionary, for readers: the first digits of a tokenizer's fingerprint, or the cutter of words.

    >>> tokenizer_name("0123456789abcdef"), tokenizer_name("words: unidic-lite 1.0.8")
    ('0123456789ab', 'words: unidic-lite 1.0.8')
    """
    return tokenizer if tokenizer.startswith(OF_WORDS) else tokenizer[:FINGERPRINT_DIGITS]


def dictionary_for(choice: str, tokenizer: str, model: str, *, words: bool = False) -> IdfDictionary:
    """The dictionary that `choice` names ("novel", "wiki", "saved/<id>" or a path) for a tokenizer's fingerprint.

    words: whether one of words will do as well, such as "novel-words". Raises InputError when there is no such
    dictionary, when it is none for this tokenizer, and when it is one of words that will not do or that were cut by
    another version of MeCab's dictionary.
    """
    advice = Message(
        "Choose none, or build one with: python -m engine idf --model {model} --corpus FILE --out FILE, or on the "
        "page Dictionaries, and choose it as the idf dictionary.",
        model=without_label(model),
    )
    if choice in (*BUILT_IN, *WORD_LEVEL):
        for path in built_in_paths(choice):
            dictionary = read_cached(path)
            if dictionary.of_words:
                return _of_words(dictionary, words)
            if dictionary.tokenizer == tokenizer:
                return dictionary
        raise InputError(
            Message(
                "The built-in dictionary '{choice}' was not counted with the tokenizer of '{model}'. {advice}",
                choice=choice,
                model=model,
                advice=advice,
            )
        )
    path = saved_path(choice) or Path(choice)
    if choice.startswith(SAVED):
        if not path.is_file():
            raise InputError(
                Message(
                    "The idf dictionary {choice!r} is no longer there; it may have been deleted. {advice}",
                    choice=choice,
                    advice=advice,
                )
            )
    elif not path.is_file():
        raise InputError(
            Message(
                "There is no idf dictionary {choice!r}: neither built in ({WORD_LEVEL}) nor a file. {advice}",
                choice=choice,
                WORD_LEVEL=list_of((*BUILT_IN, *WORD_LEVEL)),
                advice=advice,
            )
        )
    dictionary = read_cached(path)
    if dictionary.of_words:
        return _of_words(dictionary, words)
    if dictionary.tokenizer != tokenizer:
        raise InputError(
            Message(
                "The idf dictionary '{name}' was counted with another tokenizer ({tokenizer}) than that of "
                "'{model}' ({own}), so its pieces are not this model's. {advice}",
                name=dictionary.name,
                tokenizer=tokenizer_name(dictionary.tokenizer),
                model=model,
                own=tokenizer_name(tokenizer),
                advice=advice,
            )
        )
    return dictionary


def _of_words(dictionary: IdfDictionary, words: bool) -> IdfDictionary:
    """The dictionary of words, where one will do."""
    if not words:
        raise InputError(
            Message(
                "The idf dictionary '{name}' counts words ({tokenizer}), and here the pieces of a "
                "tokenizer are looked up. Choose one that was counted with the model's tokenizer: "
                "{BUILT_IN} where it fits the model, or your own (python -m engine idf --model M "
                "--corpus FILE --out FILE).",
                name=dictionary.name,
                tokenizer=dictionary.tokenizer,
                BUILT_IN=list_of(BUILT_IN),
            )
        )
    if dictionary.tokenizer != WORDS:
        raise InputError(
            Message(
                "The words of the idf dictionary '{name}' were cut by another dictionary of MeCab "
                "({tokenizer}) than the sentences are here ({WORDS}). Count it again: "
                "python -m engine idf --words --corpus FILE --out FILE.",
                name=dictionary.name,
                tokenizer=dictionary.tokenizer,
                WORDS=WORDS,
            )
        )
    return dictionary


def read_cached(path: Path) -> IdfDictionary:
    """The dictionary in a file, kept in memory until the file changes. Raises InputError."""
    try:
        modified = path.stat().st_mtime_ns
    except OSError:
        modified = 0  # read_idf says what is wrong
    return _read(path, modified)


@lru_cache(maxsize=DICTIONARIES_HELD)
def _read(path: Path, modified: int) -> IdfDictionary:
    """`modified` is part of the key: a file that was written again is read again."""
    return read_idf(path)
