"""The built-in samples: small datasets in Japanese and in English, written for this project, for every page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from engine.datasets import sentence_pairs as pairs
from engine.datasets.formats.files import Table, read_table
from engine.datasets.labelled import domain_sentences as domains
from engine.datasets.labelled import labelled_sentences as labelled
from engine.datasets.masked import masked_sentences as masked
from engine.datasets.minimal_pairs import pairs as minimal
from engine.errors import InputError
from engine.messages.message import Message, list_of

# The languages of the samples, by what the names of their files end in.
LANGUAGES = {"ja": "", "en": "_en"}
SWAPPED_NAME = {
    "ja": "名前の入れ替え",
    "en": "swapped name",
}  # the category of `sentence_pairs` with names of other readings
_CONTENTS = (
    "labelled_sentences",
    "sentence_pairs",
    "minimal_pairs",
    "masked_sentences",
    "scored_pairs",
    "running_text",
)
KINDS = tuple(f"{kind}{ending}" for ending in LANGUAGES.values() for kind in _CONTENTS)

# What --data and `engine.evaluate` take for a sample -> its kind.
NAMES = {f"sample/{kind.replace('_', '-')}": kind for kind in KINDS}

_FOLDER = Path(__file__).parent / "samples"


def labelled_sentences(language: str = "ja") -> labelled.LabelledSentences:
    """180 titles and short sentences: 9 topics, 20 each.

    >>> labelled_sentences().n
    180
    """
    columns = {"text": "text", "label": "label"}
    return replace(
        labelled.from_table(_table("labelled_sentences", language), columns),
        name=_named("sample labelled sentences", language),
    )


def sentence_pairs(language: str = "ja") -> pairs.SentencePairs:
    """60 pairs in the style of novels, 15 for each kind of change to the second sentence.

    The category is one of "paraphrase", "swapped name" (a person or place of another reading),
    "spelling variant" (the same reading in other characters) and "changed meaning", in the language of the sentences. No
    human scores. `language` is one of LANGUAGES, here and in the other samples.

    >>> sentence_pairs("en").categories[0], sentence_pairs().categories[0]
    ('paraphrase', '言い換え')
    """
    columns = {"reference": "reference", "candidate": "candidate", "category": "change"}
    return replace(
        pairs.from_table(_table("sentence_pairs", language), columns), name=_named("sample sentence pairs", language)
    )


def scored_pairs(language: str = "ja") -> pairs.SentencePairs:
    """60 pairs in the style of novels with the scores of three annotators, 0 to 100: 30 references, 2 candidates each.

    Sentences and scores were written for this project; the annotators are invented. annotator_a is lenient with wrong
    names, annotator_b is not; annotator_c left two pairs out. The category is the change to the reference:
    "slight change", "other wording", "part left out", "wrong name" or "other meaning".

    >>> list(scored_pairs().human)
    ['annotator_a', 'annotator_b', 'annotator_c']
    """
    columns = {
        "reference": "reference",
        "candidate": "candidate",
        "category": "change",
        "human": ("annotator_a", "annotator_b", "annotator_c"),
    }
    return replace(
        pairs.from_table(_table("scored_pairs", language), columns), name=_named("sample scored pairs", language)
    )


def minimal_pairs(language: str = "ja") -> minimal.MinimalPairs:
    """200 minimal pairs: 10 phenomena of the language's syntax and morphology, 20 each.

    The unacceptable sentence has as many characters as the acceptable one in a third of the pairs,
    more in a third and fewer in a third, so that a preference for short sentences is visible.

    >>> len(set(minimal_pairs().categories))
    10
    """
    columns = {"acceptable": "acceptable", "unacceptable": "unacceptable", "category": "phenomenon"}
    return replace(
        minimal.from_table(_table("minimal_pairs", language), columns), name=_named("sample minimal pairs", language)
    )


def masked_sentences(language: str = "ja") -> masked.MaskedSentences:
    """120 sentences with the word to be masked: 3 domains, 8 nouns each, 5 sentences for every noun.

    >>> masked_sentences().parts[0]
    ('朝から降り続いた', '雨', 'が、昼すぎにようやくやんだ。')
    """
    columns = {"text": "text", "label": "label", "domain": "domain"}
    return replace(
        masked.from_table(_table("masked_sentences", language), columns),
        name=_named("sample masked sentences", language),
    )


def domain_sentences(language: str = "ja") -> domains.DomainSentences:
    """The sentences of `masked_sentences` with their domains alone, to choose words to mask in.

    >>> sorted(set(domain_sentences().domains))
    ['学校', '暮らし', '自然']
    """
    return replace(
        domains.from_table(_table("masked_sentences", language), {"text": "text", "domain": "domain"}),
        name=_named("sample sentences", language),
    )


def running_text(language: str = "ja") -> minimal.MinimalPairs:
    """6 documents of running text of some 200 characters in Japanese and 90 words in English, 3 of each of two genres.

    They have a title and, as their category, the genre: "essay" or "explanation", in the language of the documents.

    >>> running_text().n, sorted(set(running_text("en").categories))
    (6, ['essay', 'explanation'])
    """
    return replace(minimal.from_table(_table("running_text", language)), name=_named("sample running text", language))


def path(kind: str) -> Path:
    """The CSV file (UTF-8) behind the sample of `kind`, one of KINDS; InputError for any other."""
    if kind not in KINDS:
        raise InputError(
            Message("There is no sample of kind {kind!r}. Samples: {KINDS}.", kind=kind, KINDS=list_of(KINDS))
        )
    return _FOLDER / f"{kind}.csv"


def file_of(name: str | Path) -> Path:
    """The file that a name of data stands for: that of a sample for one of NAMES, else the file of that name.

    A file that lies at such a path comes before the sample. Raises InputError for a sample that there is not.

    >>> file_of("sample/sentence-pairs").name, file_of("data/pairs.csv").name
    ('sentence_pairs.csv', 'pairs.csv')
    """
    named, spelling = Path(name), Path(name).as_posix()
    if named.exists() or not spelling.startswith("sample/"):
        return named
    if spelling not in NAMES:
        raise InputError(
            Message("There is no sample {spelling!r}. Samples: {NAMES}.", spelling=spelling, NAMES=list_of(NAMES))
        )
    return path(NAMES[spelling])


def name_of_content(content_hash: str) -> str | None:
    """Which of NAMES has this content, whatever a dataset with it is called; None for any other content.

    content_hash: whole, or its first digits, as a signature has them.

    >>> name_of_content(sentence_pairs().content_hash), name_of_content("0" * 64)
    ('sample/sentence-pairs', None)
    """
    return next((name for known, name in _names_by_content().items() if known.startswith(content_hash)), None)


@cache
def _names_by_content() -> dict[str, str]:
    samples: dict[str, Callable[[str], Any]] = {
        "labelled_sentences": labelled_sentences,
        "sentence_pairs": sentence_pairs,
        "minimal_pairs": minimal_pairs,
        "masked_sentences": masked_sentences,
        "scored_pairs": scored_pairs,
        "running_text": running_text,
    }
    names = {kind: name for name, kind in NAMES.items()}
    return {
        sample(language).content_hash: names[f"{kind}{ending}"]
        for kind, sample in samples.items()
        for language, ending in LANGUAGES.items()
    }


def _named(name: str, language: str) -> str:
    return name if language == "ja" else f"{name}, {language}"


def _table(kind: str, language: str) -> Table:
    if language not in LANGUAGES:
        raise InputError(
            Message(
                "There is no sample in the language {language!r}. Languages: {LANGUAGES}.",
                language=language,
                LANGUAGES=list_of(LANGUAGES),
            )
        )
    return read_table(path(f"{kind}{LANGUAGES[language]}"))
