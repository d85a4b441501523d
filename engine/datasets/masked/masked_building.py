"""Masked sentences made from sentences of several domains: the frequent nouns of each domain, masked in some sentences.

Shibayama et al. 2020, section 3.3: per domain the twenty most frequent nouns, five sentences each, drawn at random, the
noun's first occurrence masked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from engine.datasets.formats.grid import LONG_LIST
from engine.datasets.labelled.domain_sentences import DomainSentences
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.errors import BadRow, InputError
from engine.language.nouns import ENGINE_VERSION, PART_OF_SPEECH, common_nouns
from engine.language.quantities import count
from engine.messages.message import Message
from engine.options import check, option

LISTED = 10


@dataclass(frozen=True)
class Building:
    """Which words are masked, and in how many sentences; as in the paper by default."""

    n_nouns: int = option(
        20,
        "Nouns masked per domain, the most frequent common ones (名詞-一般, by MeCab with the IPA dictionary).",
        least=1,
        unit="nouns",
        flag="nouns",
    )
    n_sentences: int = option(
        5,
        "Sentences drawn per noun among those that hold it; its first occurrence is masked.",
        least=1,
        unit="sentences",
        flag="sentences",
    )
    seed: int = option(0, "Seed of the sentences drawn.", least=0)
    nouns: tuple[str, ...] = option(
        (),
        "Nouns to mask in every domain instead of the most frequent ones.",
        separator=",",
        flag="words",
        metavar="A,B",
        unset="the most frequent",
    )


@dataclass(frozen=True)
class NounOccurrences:
    """Common nouns by domain, the domains in the order of their first sentence.

    `occurrences`: domain -> noun -> how often it occurs, repeated sentences included. `sentences_by_noun`: domain ->
    noun -> the distinct sentences that hold it, except those that are the noun alone, with the start of its first
    occurrence. `left_out`: rows of the file that could not be used.
    """

    name: str
    occurrences: Mapping[str, Mapping[str, int]]
    sentences_by_noun: Mapping[str, Mapping[str, Sequence[tuple[str, int]]]]
    notices: tuple[str, ...] = field(default=(), compare=False)
    left_out: tuple[BadRow, ...] = ()


def find_nouns(sentences: DomainSentences) -> NounOccurrences:
    """Find the common nouns of every sentence, the slow step (about a million characters per second).

    Common nouns are those of `engine.language.nouns`: a sentence holds 本 where MeCab finds the word, not in 日本.
    Raises InputError when no sentence holds one.
    """
    occurrences: dict[str, Counter[str]] = {}
    sentences_by_noun: dict[str, dict[str, dict[str, int]]] = {}
    for text, domain in zip(sentences.texts, sentences.domains, strict=True):
        counted = occurrences.setdefault(domain, Counter())
        sentences_of_noun = sentences_by_noun.setdefault(domain, {})
        for start, end in common_nouns(text):
            noun = text[start:end]
            counted[noun] += 1
            if text.strip() != noun:
                sentences_of_noun.setdefault(noun, {}).setdefault(text, start)
    if not any(sentences_by_noun.values()):
        raise InputError(
            Message(
                "{name}: no common noun was found in {n}. They are looked up in a Japanese "
                "dictionary; in other languages upload sentences with their labels.",
                name=sentences.name,
                n=count(sentences.n, "sentence"),
            )
        )
    listed = {
        domain: {noun: list(starts.items()) for noun, starts in sentences_of_noun.items()}
        for domain, sentences_of_noun in sentences_by_noun.items()
    }
    return NounOccurrences(sentences.name, occurrences, listed, sentences.notices, sentences.left_out)


def build(
    noun_occurrences: NounOccurrences,
    *,
    n_nouns: int = Building.n_nouns,
    n_sentences: int = Building.n_sentences,
    seed: int = Building.seed,
    nouns: Sequence[str] = Building.nouns,
) -> MaskedSentences:
    """Masked sentences: of each domain the `n_nouns` most frequent nouns, `n_sentences` sentences drawn for each.

    With `nouns` these are masked in every domain instead of the most frequent ones. Nouns of equal frequency come in
    the order of their characters. What is drawn for a noun depends on the seed, the domain, the noun and the
    sentences that hold it, not on their order in the file nor on other nouns. A sentence may be drawn for two nouns. A
    notice says how it was built, and others what is missing: too few nouns, too few sentences, a noun that never
    occurs. Raises InputError for numbers below 1, a seed below 0, and when nothing at all can be drawn.
    """
    check(Building(n_nouns, n_sentences, seed, tuple(nouns)))
    items: list[tuple[str, str, int, str]] = []  # text, noun, start, domain
    notices: list[str] = []
    for domain, occurrences in noun_occurrences.occurrences.items():
        sentences_by_noun = noun_occurrences.sentences_by_noun[domain]
        occurring = [noun for noun in nouns if noun in sentences_by_noun]
        by_frequency = sorted(sentences_by_noun, key=lambda noun: (-occurrences[noun], noun))
        chosen = occurring if nouns else by_frequency[:n_nouns]
        for noun in chosen:
            drawn = _draw_sentences(sentences_by_noun[noun], n_sentences, seed, domain, noun)
            items += [(text, noun, start, domain) for text, start in drawn]
        absent = [noun for noun in nouns if noun not in sentences_by_noun]
        few = [f"{noun} ({n})" for noun in chosen if (n := len(sentences_by_noun[noun])) < n_sentences]
        if absent:
            notices.append(
                Message("{domain}: never found as a common noun: {absent}.", domain=domain, absent=_listed(absent))
            )
        if not nouns and len(chosen) < n_nouns:
            notices.append(
                Message(
                    "{domain}: {chosen} found where {n_nouns} were asked for.",
                    domain=domain,
                    chosen=count(len(chosen), "common noun"),
                    n_nouns=n_nouns,
                )
            )
        if few:
            notices.append(
                Message(
                    "{domain}: fewer than {n_sentences} hold {few}; all were taken.",
                    domain=domain,
                    n_sentences=count(n_sentences, "sentence"),
                    few=_listed(few),
                )
            )
    if not items:
        raise InputError(
            Message(
                "{name}: none of the nouns {nouns} was found. Choose others, or leave the choice to their frequency.",
                name=noun_occurrences.name,
                nouns=_listed(nouns),
            )
        )
    selection = (
        Message("the nouns {nouns}", nouns=_listed(nouns))
        if nouns
        else Message("the {n_nouns} most frequent nouns of each domain", n_nouns=n_nouns)
    )
    how = Message(
        "Built from {name}: {selection} ({PART_OF_SPEECH} by MeCab; {ENGINE_VERSION}), {n_sentences} each "
        "drawn with seed {seed}, the first occurrence masked.",
        name=noun_occurrences.name,
        selection=selection,
        PART_OF_SPEECH="-".join(PART_OF_SPEECH),
        ENGINE_VERSION=ENGINE_VERSION,
        n_sentences=count(n_sentences, "sentence"),
        seed=seed,
    )
    texts, labels, starts, domains = zip(*items, strict=True)
    size = Message(
        "{n_nouns} nouns × {n_sentences}, seed {seed}",
        n_nouns=len(nouns) if nouns else n_nouns,
        n_sentences=n_sentences,
        seed=seed,
    )
    numbers = tuple(range(1, len(items) + 1))
    return MaskedSentences(
        f"{noun_occurrences.name} ({size})",
        texts,
        labels,
        starts,
        domains,
        numbers,
        (*noun_occurrences.notices, how, *notices),
        noun_occurrences.left_out,
    )


def _draw_sentences(
    sentences: Sequence[tuple[str, int]], n: int, seed: int, domain: str, noun: str
) -> list[tuple[str, int]]:
    """At most `n` of the sentences, in the order of their characters."""
    ordered = sorted(sentences)
    if len(ordered) <= n:
        return ordered
    name_digest = sha256(f"{domain}\0{noun}".encode("utf-8", "surrogatepass")).digest()
    random = np.random.default_rng([seed, *name_digest])
    return [ordered[i] for i in sorted(random.choice(len(ordered), size=n, replace=False))]


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(names[:LISTED])
    return listed if len(names) <= LISTED else LONG_LIST.format(listed=listed, n=len(names))
