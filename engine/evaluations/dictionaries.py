"""idf dictionaries by name: the built-in ones, a file, or the references of a dataset.

A dictionary counts the pieces of one tokenizer and is of no use to another, so each carries the
tokenizer's fingerprint and is refused elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

from engine.datasets.corpus import Document, pieces, read_documents
from engine.errors import InputError
from engine.evaluations.idf_files import read_idf
from engine.inference.gateway import GatewaySession
from engine.measures.idf import IdfDictionary, count_documents

BUILT_IN = ("novel", "wiki")
FOLDER = Path(__file__).parents[1] / "builtin" / "idf"
DOCUMENTS_AT_ONCE = 64
# MeCab, under BertJapaneseTokenizer, ends the process on texts of some hundred thousand characters.
CHARACTERS_AT_ONCE = 4000


def built_in_paths(name: str) -> list[Path]:
    """The files of a built-in dictionary, one for each tokenizer it was counted with."""
    return sorted(FOLDER.glob(f"{name}.*.json.gz"))


def dictionary_for(choice: str, tokenizer: str, model: str) -> IdfDictionary:
    """The dictionary that `choice` names ("novel", "wiki" or a path) for a tokenizer's fingerprint.

    Raises InputError when there is no such dictionary, or none for this tokenizer.
    """
    advice = (f"Build one with: python -m engine idf --model {model} --corpus FILE --out FILE, "
              "and give its path as the idf dictionary.")
    if choice in BUILT_IN:
        for path in built_in_paths(choice):
            dictionary = _read(path, path.stat().st_mtime_ns)
            if dictionary.tokenizer == tokenizer:
                return dictionary
        raise InputError(f"The built-in dictionary {choice!r} was not counted with {model}'s tokenizer. {advice}")
    path = Path(choice)
    if not path.is_file():
        raise InputError(f"There is no idf dictionary {choice!r}: neither built in ({', '.join(BUILT_IN)}) nor a file. "
                         + advice)
    dictionary = _read(path, path.stat().st_mtime_ns)
    if dictionary.tokenizer != tokenizer:
        raise InputError(f"The idf dictionary {path.name} was counted with another tokenizer than {model}'s, so its "
                         f"pieces are not this model's. {advice}")
    return dictionary


def reference_dictionary(references: Sequence[Sequence[str]], tokenizer: str) -> IdfDictionary:
    """bert_score's own idf: each reference of the dataset is one document."""
    return count_documents(references, "references", tokenizer, "reference")


def build_dictionary(
    model: str, corpus: Sequence[Path], session: GatewaySession, *, name: str, unit: str = "file",
    report: Callable[[int], None] = lambda done: None,
) -> IdfDictionary:
    """Count in how many documents of `corpus` each piece of `model`'s tokenizer occurs.

    The corpus is read as a stream, a few documents at a time; `unit` is what a document is: "file" or
    "line". `report` is told the number of documents done. Raises InputError for an unreadable corpus.
    """
    facts = session.describe(model)

    def tokenized() -> Iterator[list[str]]:
        done = 0
        for documents in _chunks(read_documents(corpus, unit=unit)):
            parts = [pieces(document.text, CHARACTERS_AT_ONCE) for document in documents]
            tokens = iter(session.token_lists(model, [part for of_document in parts for part in of_document]))
            for of_document in parts:
                yield [token for _ in of_document for token in next(tokens)["tokens"]]
            done += len(documents)
            report(done)

    return count_documents(tokenized(), name, facts.tokenizer_fingerprint, unit)


def _chunks(documents: Iterator[Document]) -> Iterator[list[Document]]:
    while chunk := list(islice(documents, DOCUMENTS_AT_ONCE)):
        yield chunk


@lru_cache(maxsize=16)
def _read(path: Path, modified: int) -> IdfDictionary:
    """`modified` is part of the key: a file that was written again is read again."""
    return read_idf(path)
