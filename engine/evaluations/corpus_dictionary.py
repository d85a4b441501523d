"""A dictionary as a run: the tokens of a corpus counted with a model's tokenizer, or a dictionary that was uploaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from engine.datasets.corpus import UNITS
from engine.datasets.corpus_files import CorpusFiles
from engine.errors import InputError
from engine.evaluations.corpus_counting import count_corpus
from engine.evaluations.idf_files import SUFFIXES, read_idf
from engine.evaluations.signature import FINGERPRINT_DIGITS, signature
from engine.inference.gateway import GatewaySession
from engine.measures.idf import LOWER_PART, IdfDictionary
from engine.models.facts import ModelFacts

MAX_NAME_CHARACTERS = 60


@dataclass(frozen=True)
class Settings:
    """`model`: whose tokenizer counts; None when the corpus is one file that is a dictionary already.

    name: what the dictionary is called. unit: what a document is, "file" or "line".
    """

    model: str | None
    name: str
    unit: str = "file"


@dataclass(frozen=True)
class Result:
    """A dictionary. counts: token, documents, occurrences (0 throughout where they were not counted), by documents."""

    settings: Settings
    dataset_name: str
    counts: pd.DataFrame
    n_documents: int
    n_tokens: int
    unit: str
    tokenizer: str
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def dictionary(self) -> IdfDictionary:
        """The counts as what idf is computed from."""
        tokens = self.counts["token"].tolist()
        occurrences = dict(zip(tokens, self.counts["occurrences"].tolist(), strict=True)) if self.n_tokens else {}
        return IdfDictionary(self.settings.name, self.n_documents,
                             dict(zip(tokens, self.counts["documents"].tolist(), strict=True)), self.tokenizer,
                             self.unit, occurrences, self.n_tokens)


def evaluate(settings: Settings, dataset: CorpusFiles, session: GatewaySession) -> Result:
    """Count the corpus, as a stream; or read the dictionary that it is, when no model is named.

    Raises InputError for a name or unit that cannot be, files that are gone or cannot be read, and an uploaded
    dictionary that is none; ModelError from the model.
    """
    check_name(settings.name)
    if settings.unit not in UNITS:
        raise InputError(f"A document is a 'file' or a 'line'; got {settings.unit!r}.")
    facts: list[ModelFacts] = []
    if settings.model is None:
        dictionary = _given(dataset)
    else:
        facts = [session.describe(settings.model)]
        dictionary = count_corpus(settings.model, dataset.paths(), session, name=settings.name, unit=settings.unit)
    tokens = list(dictionary.document_counts)
    return Result(
        settings=settings, dataset_name=dataset.name,
        counts=pd.DataFrame({"token": pd.Series(tokens, dtype="str"),
                             "documents": pd.Series(dictionary.document_counts.values(), dtype="int64"),
                             "occurrences": pd.Series([dictionary.token_counts.get(token, 0) for token in tokens],
                                                      dtype="int64")}),
        n_documents=dictionary.n_documents, n_tokens=dictionary.n_tokens, unit=dictionary.unit,
        tokenizer=dictionary.tokenizer, notices=(*dataset.notices, *_notices(dictionary)),
        signature=signature(settings, facts, dataset.content_hash, libraries=("fugashi", "unidic-lite", "ipadic"),
                            tokenizer=dictionary.tokenizer[:FINGERPRINT_DIGITS],
                            content=dictionary.fingerprint[:FINGERPRINT_DIGITS]),
    )


def check_name(name: str) -> None:
    """Raise InputError for an empty or a very long name of a dictionary."""
    if not name.strip() or len(name) > MAX_NAME_CHARACTERS:
        raise InputError(f"A dictionary needs a name of 1 to {MAX_NAME_CHARACTERS} characters; got {name!r}.")


def _given(dataset: CorpusFiles) -> IdfDictionary:
    if dataset.n != 1 or not dataset.files[0].name.endswith(SUFFIXES):
        raise InputError(f"A dictionary is one file ending in {' or '.join(SUFFIXES)}; got "
                         f"{', '.join(file.name for file in dataset.files)}.")
    return read_idf(dataset.paths()[0].read_bytes(), dataset.files[0].name)


def _notices(dictionary: IdfDictionary) -> list[str]:
    said = []
    if not dictionary.document_counts:
        return ["The corpus has no token: nothing but an empty dictionary came of it."]
    if dictionary.n_documents == 1:
        said.append("The corpus is one document, so every token's idf is 0. Take a line for a document, or give more "
                    "files.")
    n_once = sum(count == 1 for count in dictionary.document_counts.values())
    if dictionary.n_documents > 1 and n_once > (1 - LOWER_PART) * len(dictionary.document_counts):
        said.append(f"{n_once:,} of {len(dictionary.document_counts):,} entries occur in one document only, more than "
                    f"{1 - LOWER_PART:.0%}: at the threshold of {LOWER_PART:.0%} only tokens outside the dictionary "
                    "are low-frequency. More documents, or a lower threshold, would part them.")
    if not dictionary.token_counts:
        said.append("The file says in how many documents a token occurs, not how often: it gives no unigram "
                    "probabilities (SLOR).")
    return said
