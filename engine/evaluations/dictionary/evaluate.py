"""A dictionary as a run: the tokens of a corpus counted with a model's tokenizer, its words, or a dictionary that was
uploaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pandas as pd

from engine.datasets.corpora.corpus_files import CorpusFiles
from engine.errors import InputError
from engine.evaluations.dictionary.counting import count_corpus
from engine.evaluations.dictionary.records import MAX_NAME_CHARACTERS, Result, Settings
from engine.evaluations.shared.dictionaries import tokenizer_name
from engine.evaluations.shared.idf_files import SUFFIXES, read_idf
from engine.evaluations.shared.signature import FINGERPRINT_DIGITS, signature
from engine.inference.gateway import GatewaySession
from engine.measures.idf import LOWER_PART, IdfDictionary
from engine.messages.message import Message, list_of, together
from engine.models.sources.facts import ModelFacts
from engine.options import check


def evaluate(settings: Settings, dataset: CorpusFiles, session: GatewaySession) -> Result:
    """Count the corpus, as a stream; or read the dictionary that it is, when no model is named and no words are asked.

    Raises InputError for a name or unit that cannot be, a model where words are counted, files that are gone or cannot
    be read, and an uploaded file that is not a dictionary; ModelError from the model.
    """
    check_name(settings.name)
    check(settings)
    check_counted(settings)
    facts: list[ModelFacts] = []
    control: Counter[str] = Counter()
    if settings.model is None and not settings.words:
        dictionary = _given(dataset)
    else:
        facts = [session.describe(settings.model)] if settings.model is not None else []
        dictionary = count_corpus(
            settings.model, dataset.paths(), session, name=settings.name, unit=settings.unit, control=control
        )
    tokens = list(dictionary.document_counts)
    return Result(
        settings=settings,
        dataset_name=dataset.name,
        counts=pd.DataFrame(
            {
                "token": pd.Series(tokens, dtype="str"),
                "documents": pd.Series(dictionary.document_counts.values(), dtype="int64"),
                "occurrences": pd.Series([dictionary.token_counts.get(token, 0) for token in tokens], dtype="int64"),
            }
        ),
        n_documents=dictionary.n_documents,
        n_tokens=dictionary.n_tokens,
        unit=dictionary.unit,
        tokenizer=dictionary.tokenizer,
        notices=(*dataset.notices, *notices_of(settings.model, control, dictionary)),
        signature=signature(
            settings,
            facts,
            dataset.content_hash,
            libraries=("fugashi", "unidic-lite", "ipadic"),
            tokenizer=tokenizer_name(dictionary.tokenizer),
            content=dictionary.fingerprint[:FINGERPRINT_DIGITS],
        ),
    )


def notices_of(model: str | None, control: Mapping[str, int], dictionary: IdfDictionary) -> tuple[Message, ...]:
    """What a user has to know of a counted dictionary: control tokens in the texts, as `count_corpus` counts them, and
    counts that tell tokens apart badly or not at all.
    """
    return (*_control_notices(model, control), *_notices(dictionary))


def check_name(name: str) -> None:
    """Raise InputError for an empty or a very long name of a dictionary."""
    if not name.strip() or len(name) > MAX_NAME_CHARACTERS:
        raise InputError(
            Message(
                "A dictionary needs a name of 1 to {MAX_NAME_CHARACTERS} characters; got {name!r}.",
                MAX_NAME_CHARACTERS=MAX_NAME_CHARACTERS,
                name=name,
            )
        )


def check_counted(settings: Settings) -> None:
    """Raise InputError where both a model's tokens and words are to be counted."""
    if settings.words and settings.model is not None:
        raise InputError(
            Message(
                "A dictionary counts the tokens of a model or words, not both; got the model {model} "
                "and words. Leave out one of them (--model, --words).",
                model=settings.model,
            )
        )


def _given(dataset: CorpusFiles) -> IdfDictionary:
    if dataset.n != 1 or not dataset.files[0].name.endswith(SUFFIXES):
        raise InputError(
            Message(
                "A dictionary is one file ending in {SUFFIXES}; got {files}.",
                SUFFIXES=together(" or ", SUFFIXES),
                files=list_of(file.name for file in dataset.files),
            )
        )
    return read_idf(dataset.paths()[0].read_bytes(), dataset.files[0].name)


def _control_notices(model: str | None, control: Mapping[str, int]) -> list[Message]:
    return [
        Message(
            "1 document contains {token}, which {model} reads as a control token and not as text; it is not counted.",
            token=token,
            model=model,
        )
        if n == 1
        else Message(
            "{n:,} documents contain {token}, which {model} reads as a control token and not "
            "as text; it is not counted.",
            n=n,
            token=token,
            model=model,
        )
        for token, n in control.items()
    ]


def _notices(dictionary: IdfDictionary) -> list[Message]:
    notices = []
    if not dictionary.document_counts:
        return [Message("The corpus has no token: nothing but an empty dictionary came of it.")]
    if dictionary.n_documents == 1:
        notices.append(
            Message(
                "The corpus is one document, so every token's idf is 0. Take a line for a document, or give more files."
            )
        )
    n_once = sum(n == 1 for n in dictionary.document_counts.values())
    if dictionary.n_documents > 1 and n_once > (1 - LOWER_PART) * len(dictionary.document_counts):
        notices.append(
            Message(
                "{n_once:,} of {document_counts:,} entries occur in one document only, more than "
                "{LOWER_PART:.0%}: at the threshold of {LOWER_PART_:.0%} only tokens outside the "
                "dictionary are low-frequency. More documents, or a lower threshold, would part them.",
                n_once=n_once,
                document_counts=len(dictionary.document_counts),
                LOWER_PART=1 - LOWER_PART,
                LOWER_PART_=LOWER_PART,
            )
        )
    if not dictionary.token_counts:
        notices.append(
            Message(
                "The file says in how many documents a token occurs, not how often: it gives no "
                "unigram probabilities (SLOR)."
            )
        )
    return notices
