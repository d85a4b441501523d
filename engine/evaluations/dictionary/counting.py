"""A corpus of any size to an idf dictionary: read as a stream, cut into tokens or words by the workers, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.datasets.corpora.corpus import read_parts, text_bytes
from engine.inference.gateway import GatewaySession
from engine.language.word_entries import WORDS
from engine.measures.idf import IdfDictionary, from_counts

# One chunk's work for a worker, and how many chunks are under way: what is held of the corpus at a time.
CHARACTERS_PER_BATCH = 500_000
BATCHES_AT_ONCE = 8
KIB = 1024


def count_corpus(
    model: str | None,
    paths: Sequence[Path],
    session: GatewaySession,
    *,
    name: str,
    unit: str = "file",
    control: Counter[str] | None = None,
) -> IdfDictionary:
    """In how many documents of a corpus each token of `model`'s tokenizer occurs, and how often; None: each word.

    Words are those of `language.word_entries`, for which no model is run.
    `unit` is what a document is: "file" or "line" (`datasets.corpus`). A document without a token counts as one.
    control: takes up, by token, how many documents contain a control token that the tokenizer cannot read as text; it
    is not counted. Progress is told in KiB of text. Raises InputError for a corpus that cannot be read, ModelError from
    the model.
    """
    tokenizer = WORDS if model is None else session.describe(model).tokenizer_fingerprint
    total = -(-text_bytes(paths) // KIB)
    documents: Counter[str] = Counter()
    occurrences: Counter[str] = Counter()
    read_as_control: Counter[str] = Counter() if control is None else control
    open_document: set[str] = set()  # the tokens so far of a document that comes in several batches
    open_control: set[str] = set()
    n_documents = before = 0
    for batches in _groups(paths, unit):
        after = -(-batches[-1].n_read // KIB)
        texts, within = [batch.texts for batch in batches], (before, after, total)
        counted = (
            session.word_counts(texts, within=within)
            if model is None
            else session.document_counts(model, texts, within=within)
        )
        before = after
        for batch, counts in zip(batches, counted, strict=True):
            tokens = counts["tokens"]
            occurrences.update(dict(zip(tokens, counts["occurrences"].tolist(), strict=True)))
            if batch.is_whole:
                documents.update(dict(zip(tokens, counts["documents"].tolist(), strict=True)))
                in_documents = dict(zip(counts["control_tokens"], counts["control_documents"].tolist(), strict=True))
                read_as_control.update(in_documents)
                n_documents += counts["n_documents"]
                continue
            open_document.update(tokens)
            open_control.update(counts["control_tokens"])
            if batch.ends:
                documents.update(open_document)
                read_as_control.update(open_control)
                open_document, open_control = set(), set()
                n_documents += 1
    return from_counts(documents, occurrences, n_documents, name, tokenizer, unit)


@dataclass
class _Batch:
    """Whole documents, or a part of a long one; `ends` says whether that is its last part."""

    texts: list[str] = field(default_factory=list)
    is_whole: bool = True
    ends: bool = True
    n_characters: int = 0
    n_read: int = 0

    def add(self, text: str, n_read: int) -> None:
        self.texts.append(text)
        self.n_characters += len(text)
        self.n_read = n_read


def _groups(paths: Sequence[Path], unit: str) -> Iterator[list[_Batch]]:
    group: list[_Batch] = []
    for batch in _batches(paths, unit):
        group.append(batch)
        if len(group) == BATCHES_AT_ONCE:
            yield group
            group = []
    if group:
        yield group


def _batches(paths: Sequence[Path], unit: str) -> Iterator[_Batch]:
    batch = _Batch()
    goes_on = False  # whether the last part left its document open
    for part in read_parts(paths, unit=unit):
        is_whole = part.is_last and not goes_on
        goes_on = not part.is_last
        if batch.texts and (not is_whole or batch.n_characters + len(part.text) > CHARACTERS_PER_BATCH):
            yield batch
            batch = _Batch()
        if is_whole:
            batch.add(part.text, part.n_read)
        else:
            alone = _Batch(is_whole=False, ends=part.is_last)
            alone.add(part.text, part.n_read)
            yield alone
    if batch.texts:
        yield batch
