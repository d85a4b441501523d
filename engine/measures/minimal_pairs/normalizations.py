"""The normalisations of a sentence's log-likelihood, one record each: its formula, what it needs, its card, its words.

Whatever computes, offers, explains or cites a normalisation reads its record. A further one is a record here, its
measure card and its test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message, list_of, named

Numbers = NDArray[np.float64]

ALPHA = 0.8
# The values of PenLP's alpha that are shown.
ALPHAS = (0.0, 2.0)
# Of SLLN-LP: the length counts by its square root.
SUB_LINEAR_EXPONENT = 0.5
# What a normalisation may need beside log-likelihoods and numbers of tokens, by the field of `Sentences`.
NEEDS = {
    "characters": Message("the number of characters of each sentence"),
    "bytes": Message("the number of bytes of each sentence"),
    "unigrams": Message("the unigram log-probability of each sentence: choose a corpus to count in"),
    "beta": Message("coefficients that are fitted to human judgements of the sentences"),
    "gamma": Message("coefficients that are fitted to human judgements of the sentences"),
    "boundaries": Message("what the boundaries of words add: score with word boundaries"),
    "words": Message("the number of words of each sentence"),
    "in_template": Message("the log-probability of each sentence in a template: score with prompts"),
    "yes_no": Message("the log-odds of the answers to a question on each sentence: score with prompts"),
    "votes": Message("how many prompted predictions prefer each sentence: score pairs with prompts"),
}
LENGTHS = ("tokens", "characters", "bytes", "words")
# What is scored with prompts (`prompted`).
PROMPTED = ("in_template", "yes_no", "votes")
_FITTED = ("beta", "gamma")  # one number for all sentences, or one each


@dataclass(frozen=True)
class Sentences:
    """What a normalisation may read of n sentences: (n,) each; beta and gamma may be one number.

    log_likelihoods: sums in nats; pseudo-log-likelihoods of masked models. tokens: |S|, the number of scored tokens.
    bytes: in UTF-8. unigrams: log P_u(S), the unigram log-probabilities of the same scored tokens summed, in nats
    (`IdfDictionary.unigram_log_probability`). beta, gamma: of MORCELA. boundaries: what the boundaries of words add,
    in nats (`word_boundaries.boundary_terms`, summed). words: scored words. in_template: log-probabilities in a template,
    in nats; yes_no: log-odds of yes, in nats; both means over several templates. votes: of the predictions of a pair
    those that prefer the sentence (`prompted.votes`).
    """

    log_likelihoods: ArrayLike
    tokens: ArrayLike
    characters: ArrayLike | None = None
    bytes: ArrayLike | None = None
    unigrams: ArrayLike | None = None
    beta: ArrayLike | None = None
    gamma: ArrayLike | None = None
    boundaries: ArrayLike | None = None
    words: ArrayLike | None = None
    in_template: ArrayLike | None = None
    yes_no: ArrayLike | None = None
    votes: ArrayLike | None = None

    def __getitem__(self, field: str) -> Numbers:
        """A field as float64; raises KeyError for one that is not known."""
        values = getattr(self, field)
        if values is None:
            raise KeyError(field)
        return np.asarray(values, dtype=np.float64)


@dataclass(frozen=True)
class Normalization:
    """One normalisation: score = (sum of log-likelihoods, adjusted) / length.

    card: key of its measure card, which says its unit. in_words: as a methods paragraph names it. length: of sentences
    and alpha, what the sum is divided by, (n,); it does not depend on the sum. by_tokens: whether it counts tokens, so
    that it is not there where their number is not known. adjusted: the sum with what is added or
    taken off, (n,). needs: fields of `Sentences` beside sums and tokens. is_bounded: whether the winner of a pair
    depends on the sums, unigrams and lengths alone, so that it can be bounded (`decision_bounds`). has_alpha: whether
    alpha changes it. cites: keys of its works.
    """

    name: str
    card: str
    in_words: str
    length: Callable[[Sentences, float], Numbers]
    adjusted: Callable[[Sentences], Numbers] = lambda sentences: sentences["log_likelihoods"]
    needs: tuple[str, ...] = ()
    by_tokens: bool = False
    is_bounded: bool = False
    has_alpha: bool = False
    cites: tuple[str, ...] = ()

    @property
    def by_unigrams(self) -> bool:
        """Whether it takes unigrams off, so that a corpus is chosen."""
        return "unigrams" in self.needs

    @property
    def by_words(self) -> bool:
        """Whether it needs to know where words begin."""
        return not {"boundaries", "words"}.isdisjoint(self.needs)

    @property
    def adds_boundaries(self) -> bool:
        """Whether it adds what the boundaries of words do."""
        return "boundaries" in self.needs

    @property
    def is_prompted(self) -> bool:
        """Whether it is of sentences in templates, so that it is no sum over the scored tokens."""
        return not set(PROMPTED).isdisjoint(self.needs)

    @property
    def is_fitted(self) -> bool:
        """Whether its coefficients are fitted to human judgements."""
        return "beta" in self.needs

    @property
    def of_whole_sentences(self) -> bool:
        """Whether a part of a sentence has no such score."""
        return not {"characters", "bytes", "beta", *PROMPTED}.isdisjoint(self.needs)

    def scores(self, sentences: Sentences, alpha: float = ALPHA) -> Numbers:
        """How acceptable does the model find each sentence, its length set aside or not? float64 (n_sentences,)

        Range and unit: those of the card; a score is compared within one normalisation only. Higher is better.

        Edges: no scored token, no character, no byte, or no word: nan (a sum over nothing would be 0, the best score
        there is). A nan stays nan; -inf stays -inf.

        Raises InputError for a need that is missing, a negative length or alpha, and arrays of different lengths.

        >>> NORMALIZATIONS["PenLP"].scores(Sentences([-12.0, -12.0], [1, 7]), alpha=1.0).tolist()
        [-12.0, -6.0]
        >>> NORMALIZATIONS["SLOR"].scores(Sentences([-12.0], [4], unigrams=[-20.0])).tolist()
        [2.0]
        """
        if not alpha >= 0:
            raise InputError(Message("alpha must be 0 or more; got {alpha}.", alpha=alpha))
        self._check(sentences)
        length = self.length(sentences, alpha)
        undefined = (sentences["tokens"] == 0) | (length == 0)
        return np.where(undefined, np.nan, self.adjusted(sentences) / np.where(undefined, 1.0, length))

    def _check(self, sentences: Sentences) -> None:
        sums = sentences["log_likelihoods"]
        for field in ("tokens", *self.needs):
            if getattr(sentences, field) is None:
                raise InputError(Message("The score {name} needs {field}.", name=self.name, field=NEEDS[field]))
            values = sentences[field]
            if values.shape != sums.shape and not (field in _FITTED and values.shape == ()):
                raise InputError(
                    Message(
                        "Each log-likelihood needs one value of {field}; got {size} and {other_size}.",
                        field=field,
                        size=sums.size,
                        other_size=values.size,
                    )
                )
            if field in LENGTHS and (values < 0).any():
                raise InputError(Message("A sentence cannot have a negative length."))


def _by(field: str) -> Callable[[Sentences, float], Numbers]:
    return lambda sentences, alpha: sentences[field]


def _by_field(field: str) -> Callable[[Sentences], Numbers]:
    return lambda sentences: sentences[field]


def _one(sentences: Sentences, alpha: float) -> Numbers:
    return np.ones_like(sentences["log_likelihoods"])


def _with_boundaries(sentences: Sentences) -> Numbers:
    return sentences["log_likelihoods"] + sentences["boundaries"]


_ALL = (
    Normalization("LP", "log_likelihood", Message("the sum of the log-likelihoods (LP)"), _one, is_bounded=True),
    Normalization(
        "MeanLP",
        "mean_log_likelihood",
        Message("the mean log-likelihood per token (MeanLP)"),
        _by("tokens"),
        by_tokens=True,
        is_bounded=True,
        cites=("ueda2024",),
    ),
    # Ueda, Mita, Komachi 2024, equation 5, is printed without the outer bracket; as in the works it cites, the exponent
    # holds the whole fraction.
    Normalization(
        "PenLP",
        "penalized_log_likelihood",
        Message("the length-penalised log-likelihood (PenLP)"),
        lambda sentences, alpha: ((5 + sentences["tokens"]) / (5 + 1)) ** alpha,
        by_tokens=True,
        is_bounded=True,
        has_alpha=True,
        cites=("ueda2024",),
    ),
    Normalization(
        "SLOR",
        "slor",
        Message("the syntactic log-odds ratio (SLOR)"),
        _by("tokens"),
        lambda sentences: sentences["log_likelihoods"] - sentences["unigrams"],
        needs=("unigrams",),
        by_tokens=True,
        is_bounded=True,
        cites=("pauls2012", "lau2017"),
    ),
    Normalization(
        named("per character"),
        "log_likelihood_per_character",
        Message("the log-likelihood per character"),
        _by("characters"),
        needs=("characters",),
        is_bounded=True,
    ),
    Normalization(
        "SLLN-LP",
        "sub_linear_log_likelihood",
        Message("the sub-linearly length-normalised log-likelihood (SLLN-LP)"),
        lambda sentences, alpha: sentences["tokens"] ** SUB_LINEAR_EXPONENT,
        by_tokens=True,
        is_bounded=True,
        cites=("liu2026",),
    ),
    Normalization(
        named("bits per byte"),
        "log_likelihood_per_byte",
        Message("the log-likelihood in bits per byte of UTF-8"),
        lambda sentences, alpha: sentences["bytes"] * np.log(2),
        needs=("bytes",),
        is_bounded=True,
    ),
    Normalization(
        "MORCELA",
        "morcela",
        Message("the log-likelihood with fitted adjustments for length and frequency (MORCELA)"),
        _by("tokens"),
        lambda sentences: sentences["log_likelihoods"] - sentences["beta"] * sentences["unigrams"] + sentences["gamma"],
        needs=("beta", "gamma", "unigrams"),
        by_tokens=True,
        cites=("tjuatja2025",),
    ),
    Normalization(
        "WordLP",
        "word_log_likelihood",
        Message("the log-likelihood of the words, with the boundaries of words accounted for (WordLP)"),
        _one,
        _with_boundaries,
        needs=("boundaries",),
        cites=("pimentel2024", "oh2024"),
    ),
    Normalization(
        "MeanWordLP",
        "mean_word_log_likelihood",
        Message("the mean log-likelihood per word, with the boundaries of words accounted for (MeanWordLP)"),
        _by("words"),
        _with_boundaries,
        needs=("boundaries", "words"),
        cites=("pimentel2024", "oh2024"),
    ),
    Normalization(
        "in-template LP",
        "in_template_log_likelihood",
        Message("the log-probability of the sentence in a template (in-template LP)"),
        _one,
        _by_field("in_template"),
        needs=("in_template",),
        cites=("ide2025",),
    ),
    Normalization(
        "Yes/No",
        "yes_no_log_odds",
        Message("the log-odds of yes as the answer to a question on the sentence (Yes/No probability)"),
        _one,
        _by_field("yes_no"),
        needs=("yes_no",),
        cites=("ide2025",),
    ),
    Normalization(
        named("prompt vote"),
        "prompt_votes",
        Message("the majority of the predictions of in-template LP and Yes/No probability"),
        _one,
        _by_field("votes"),
        needs=("votes",),
        cites=("ide2025",),
    ),
)
NORMALIZATIONS: dict[str, Normalization] = {each.name: each for each in _ALL}
# Those whose winners exact decisions can bound.
BOUNDED = tuple(each.name for each in _ALL if each.is_bounded)


def normalization_named(name: str) -> Normalization:
    """The record of a name; raises InputError for an unknown one."""
    if name not in NORMALIZATIONS:
        raise InputError(
            Message(
                "Unknown normalization '{name}'; there are {NORMALIZATIONS}.",
                name=name,
                NORMALIZATIONS=list_of(NORMALIZATIONS),
            )
        )
    return NORMALIZATIONS[name]
