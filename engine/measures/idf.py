"""Inverse document frequency: which tokens are rare in a corpus, and from where on a token is low-frequency.

What is kept are counts, so that threshold and formula can change later.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.unigrams import unigram_log_probabilities
from engine.messages.message import Message

LOWER_PART = 0.7
# How `IdfDictionary.tokenizer` begins where words were counted, whatever model reads them.
OF_WORDS = "words: "


@dataclass(frozen=True)
class IdfDictionary:
    """Counts of a corpus: in how many of its documents each piece of a tokenizer occurs, and how often in all.

    `tokenizer` is the fingerprint of the tokenizer that made the pieces: the dictionary says nothing
    about another one's. Where whole words were counted it is "words: " and what cut them, with its version ("words:
    unidic-lite 1.0.8"): such a dictionary says to every model how rare a word is, and nothing about pieces. `unit`
    says what a document was (a file, an article, a sentence). `token_counts` holds the occurrences of each piece and
    `n_tokens` their sum; both are empty where they were not counted.
    """

    name: str
    n_documents: int
    document_counts: Mapping[str, int]
    tokenizer: str
    unit: str
    token_counts: Mapping[str, int] = field(default_factory=dict)
    n_tokens: int = 0

    def __post_init__(self) -> None:
        """Raise InputError for counts that no corpus of n_documents documents can have."""
        if self.n_documents < 1:
            raise InputError(Message("The idf dictionary '{name}' was counted over no document.", name=self.name))
        for piece, count in self.document_counts.items():
            if not 1 <= count <= self.n_documents:
                raise InputError(
                    Message(
                        "The idf dictionary '{name}' counts '{piece}' in {value} documents; possible "
                        "are 1 to {n_documents}.",
                        name=self.name,
                        piece=piece,
                        value=count,
                        n_documents=self.n_documents,
                    )
                )
        if self.token_counts and (
            self.token_counts.keys() != self.document_counts.keys()
            or any(count < self.document_counts[piece] for piece, count in self.token_counts.items())
        ):
            raise InputError(
                Message(
                    "The occurrences in the idf dictionary '{name}' do not go with its documents: "
                    "every piece occurs at least once in each document that has it.",
                    name=self.name,
                )
            )
        if self.n_tokens != sum(self.token_counts.values()):
            raise InputError(
                Message(
                    "The idf dictionary '{name}' says it has {n_tokens} tokens; its pieces occur {values} times.",
                    name=self.name,
                    n_tokens=self.n_tokens,
                    values=sum(self.token_counts.values()),
                )
            )

    @property
    def of_words(self) -> bool:
        """Whether the entries are words, not the pieces of a tokenizer."""
        return self.tokenizer.startswith(OF_WORDS)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that idf and unigram probabilities depend on; the dictionary's name is not part of it."""
        digest = hashlib.sha256(f"{self.n_documents}\0{self.n_tokens}\0{self.tokenizer}\0{self.unit}".encode())
        for piece in sorted(self.document_counts):
            digest.update(
                f"\0{piece}\0{self.document_counts[piece]}\0{self.token_counts.get(piece, 0)}".encode(
                    "utf-8", "surrogatepass"
                )
            )
        return digest.hexdigest()

    def idf(self, tokens: Sequence[str], special: ArrayLike) -> NDArray[np.float64]:
        """How much does each token tell, by its rareness in the corpus?

            idf(t) = log((N + 1) / (df(t) + 1)),  exactly 0 for special tokens

        Parameters
        ----------
        tokens : (n_tokens,) as the dictionary's tokenizer writes them.
        special : bool (n_tokens,): [CLS], [SEP] and their like.

        Range: [0, log(N + 1)] nats; neither end is better. 0: in every document.

        Edges: a token the corpus never shows has the largest value, log(N + 1). Special tokens are 0
        whether or not they were counted: they occur in every sentence, and a dictionary counted
        without them would take them for unseen. No tokens: an empty array.

        Raises InputError when there are not as many flags as tokens.

        Source: Zhang et al. 2020 (BERTScore), section 3, with the plus-one smoothing of
        `get_idf_dict` in bert_score 0.3.13, which counts the special tokens and so arrives at 0 too.

        >>> dictionary = count_documents([["猫", "が"], ["犬", "が"]], "tiny", "by hand", "sentence")
        >>> dictionary.idf(["[CLS]", "が", "猫", "鳥"], [True, False, False, False]).round(3).tolist()
        [0.0, 0.0, 0.405, 1.099]
        """
        is_special = np.asarray(special, dtype=bool)
        if is_special.shape != (len(tokens),):
            raise InputError(
                Message(
                    "{tokens} tokens need as many special-token flags; got {size}.",
                    tokens=len(tokens),
                    size=is_special.size,
                )
            )
        counts = _looked_up(self.document_counts, tokens)
        return np.where(is_special, 0.0, np.log((self.n_documents + 1) / (counts + 1)))

    def threshold(self, quantile: float = LOWER_PART) -> float:
        """From which idf on does a token count as low-frequency?

        The dictionary's entries sorted by idf, the lower `quantile` of them (rounded down) parted
        from the rest: the threshold is the largest idf of the lower part, and a token is low-frequency
        when its idf is **greater**. It is a quantile of the entries, not of the running text.

        Parameters
        ----------
        quantile : in [0, 1], the share of entries that is not low-frequency.

        Range: [0, log((N + 1) / 2)] nats; neither end is better.

        Edges: entries that tie with the boundary are not low-frequency, so the upper part can be
        smaller than 1 - quantile: where more than that share of the entries occur in one document
        only, no entry is low-frequency at all. Tokens outside the dictionary always are: log(N + 1) is
        above every threshold. When the lower part is empty (quantile 0) the threshold is -inf.

        Raises InputError for a quantile outside [0, 1] and for a dictionary without entries.

        Source: the Japanese novel paper, section 4.2 (70% and 30%, "the boundary between two
        groups") and section 3 ("exceeds the threshold"); what to do with ties is our choice.

        >>> dictionary = IdfDictionary("tiny", 9, {"の": 9, "は": 7, "猫": 4, "斎": 1}, "by hand", "file")
        >>> round(dictionary.threshold(0.75), 3)  # log(10 / 5), the idf of 猫: only 斎 is above it
        0.693
        """
        if not 0 <= quantile <= 1:
            raise InputError(
                Message(
                    "The share of entries below the threshold must be between 0 and 1; got {quantile}.",
                    quantile=quantile,
                )
            )
        n_entries = len(self.document_counts)
        if n_entries == 0:
            raise InputError(
                Message("The idf dictionary '{name}' has no entries, so it has no threshold.", name=self.name)
            )
        n_lower = int(quantile * n_entries + 1e-9)  # 0.29 * 100 is 28.999…96
        if n_lower == 0:
            return float("-inf")
        counts = np.fromiter(self.document_counts.values(), dtype=np.int64, count=n_entries)
        # idf falls as the count rises: the n-th lowest idf belongs to the n-th highest count.
        boundary = np.partition(counts, n_entries - n_lower)[n_entries - n_lower]
        return float(np.log((self.n_documents + 1) / (boundary + 1)))

    def unigram_log_probability(self, tokens: Sequence[str]) -> NDArray[np.float64]:
        """`unigram_log_probabilities` of tokens by the occurrences in this corpus, float64 (n_tokens,) nats.

        tokens : (n_tokens,) as the dictionary's tokenizer writes them; special tokens are looked up like others.

        Raises InputError when occurrences were not counted (dictionaries of the first format).

        >>> dictionary = count_documents([["猫", "が", "猫"]], "tiny", "by hand", "sentence")
        >>> np.exp(dictionary.unigram_log_probability(["猫", "が", "鳥"])).round(3).tolist()
        [0.5, 0.333, 0.167]
        """
        if not self.token_counts:
            raise InputError(
                Message(
                    "The idf dictionary '{name}' holds documents only, not how often a token occurs, "
                    "so it gives no unigram probability. Build it again: python -m engine idf "
                    "--model M --corpus FILE --out FILE.",
                    name=self.name,
                )
            )
        counts = _looked_up(self.token_counts, tokens)
        return unigram_log_probabilities(counts, self.n_tokens, len(self.token_counts))


def count_documents(tokenized: Iterable[Iterable[str]], name: str, tokenizer: str, unit: str) -> IdfDictionary:
    """The idf dictionary of a corpus: each document its tokens, each token counted once per document.

    `tokenized` may be a stream; only the counts are held. An empty document counts as a document.
    Raises InputError when there is no document.

    >>> count_documents([["は", "は"], ["は", "猫"]], "tiny", "by hand", "sentence").document_counts
    {'は': 2, '猫': 1}
    """
    documents: Counter[str] = Counter()
    occurrences: Counter[str] = Counter()
    n_documents = 0
    for tokens in tokenized:
        of_document = Counter(tokens)
        documents.update(of_document.keys())
        occurrences.update(of_document)
        n_documents += 1
    return from_counts(documents, occurrences, n_documents, name, tokenizer, unit)


def from_counts(
    documents: Mapping[str, int], occurrences: Mapping[str, int], n_documents: int, name: str, tokenizer: str, unit: str
) -> IdfDictionary:
    """The dictionary of these counts, in the one order that the same counts always have: by documents, then by piece.

    >>> from_counts({"猫": 1, "は": 2}, {"猫": 1, "は": 3}, 2, "tiny", "by hand", "sentence").token_counts
    {'は': 3, '猫': 1}
    """
    order = sorted(documents, key=lambda piece: (-documents[piece], piece))
    return IdfDictionary(
        name,
        n_documents,
        {piece: documents[piece] for piece in order},
        tokenizer,
        unit,
        {piece: occurrences[piece] for piece in order},
        sum(occurrences.values()),
    )


def _looked_up(counts: Mapping[str, int], tokens: Sequence[str]) -> NDArray[np.float64]:
    """The count of each token, 0 for one that is not counted, (n_tokens,)."""
    return np.fromiter((counts.get(token, 0) for token in tokens), dtype=np.float64, count=len(tokens))
