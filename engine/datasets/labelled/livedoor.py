"""The livedoor news corpus as it is published: a folder per category, an article per file, its title on line 3.

    text/<category>/<category>-<id>.txt      line 1 URL, line 2 date, line 3 title, the body from line 4

Folder, zip or tar.gz (ldcc-20140209.tar.gz); anything else in the same layout is read as well. LICENSE.txt, README.txt
and all other files that are not named after their folder are not articles.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats.archives import read_members
from engine.datasets.formats.encodings import decode
from engine.datasets.formats.grid import quoted
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.messages.message import Message, list_of, together
from engine.options import option

PARTS = {"title": "titles", "body": "bodies"}


@dataclass(frozen=True)
class Drawing:
    """Which articles of the corpus are taken, and what of them."""

    part: str = option(
        "title",
        "What is taken of each article; a body longer than a model reads is left out.",
        choices={"title": "line 3 of its file, as in the papers", "body": "all that follows it"},
    )
    per_category: int | None = option(
        None,
        "Articles drawn of each category, all of one that has fewer; the papers took 100.",
        least=1,
        unit="articles",
        unset="all",
    )
    seed: int = option(0, "Seed of the articles drawn.", least=0, flag="draw-seed", metavar="S")


AS_IN_THE_PAPERS = Drawing(per_category=100)
TITLE_LINE = 3
SUFFIX = ".txt"
LISTED = 5
# Published with the articles.
_DOCUMENTATION_FILES = ("license.txt", "readme.txt", "changes.txt")
_LAYOUT = Message("<category>/<category>-<id>.txt, with the title on line 3")


@dataclass(frozen=True)
class Article:
    """One article; `number` is its position among all files of articles, in the order of their names, from 1."""

    number: int
    category: str
    file: str
    title: str
    body: str


@dataclass(frozen=True)
class Livedoor:
    """The articles of a corpus in the order of their files' names.

    bad: files that could not be read as an article, with the reason. other_files: text files that are not named
    after their folder.
    """

    name: str
    articles: tuple[Article, ...]
    bad: tuple[BadRow, ...] = ()
    other_files: tuple[str, ...] = ()

    @property
    def categories(self) -> dict[str, int]:
        """Articles by category, in the order of names."""
        return dict(Counter(article.category for article in self.articles))


def read_livedoor(source: Path | bytes, name: str = "") -> Livedoor:
    """The articles of a folder or an archive (see `archives.read_members`).

    A file with fewer than 3 lines, an empty title or an unknown encoding is left out and listed in `bad`. Raises
    InputError for an unreadable archive, and when no article is found or none can be read, all bad files listed.
    """
    shown = name or (source.resolve().name if isinstance(source, Path) else "") or Message("The archive")
    articles: list[Article] = []
    bad: list[BadRow] = []
    other_files: list[str] = []
    for member, raw in read_members(source, shown, suffixes=[SUFFIX]):
        category, _, file = member.rpartition("/")
        category = category.rpartition("/")[2]
        if not category or not file.startswith(f"{category}-"):
            other_files += [] if file.lower() in _DOCUMENTATION_FILES else [member]
            continue
        number = len(articles) + len(bad) + 1
        try:
            articles.append(Article(number, category, file, *_title_and_body(raw, member)))
        except InputError as error:
            bad.append(BadRow(number, error.message))
    if not articles:
        reason = (
            Message("none of its {bad} can be read", bad=count(len(bad), "article"))
            if bad
            else Message("it holds no article")
        )
        raise InputError(
            Message(
                "{shown} does not have the layout of the livedoor corpus: {reason}. Needed: files {_LAYOUT}.",
                shown=shown,
                reason=reason,
                _LAYOUT=_LAYOUT,
            ),
            bad,
        )
    return Livedoor(shown, tuple(articles), tuple(bad), tuple(other_files))


def labelled(
    corpus: Livedoor,
    *,
    part: str = Drawing.part,
    per_category: int | None = Drawing.per_category,
    seed: int = Drawing.seed,
) -> LabelledSentences:
    """Titles or bodies as sentences, categories as labels, in the order of the files' names.

    `per_category` articles are drawn of each category, all if it has fewer or if None: those with the smallest hash
    of `seed` and file name, so that neither the packing nor the other articles change the selection. Articles
    without the part are left out. Rows are the articles' numbers. Raises InputError for an unknown part, a number
    below 1, and fewer than 2 categories.
    """
    if part not in PARTS:
        raise InputError(
            Message("The part of an article is {PARTS}; got {part!r}.", PARTS=together(" or ", PARTS), part=part)
        )
    if per_category is not None and per_category < 1:
        raise InputError(
            Message("At least 1 article of each category is drawn; got {per_category}.", per_category=per_category)
        )
    usable = [article for article in corpus.articles if getattr(article, part)]
    available = Counter(article.category for article in usable)
    if len(available) < 2:
        raise InputError(
            Message(
                "Sentences of at least 2 categories are needed; {name} has {part} texts of "
                "{available} ({listed}). Add a folder of another category.",
                name=corpus.name,
                part=part,
                available=len(available),
                listed=quoted(list(available)) or Message("none"),
            )
        )
    drawn = [
        article
        for category in available
        for article in _draw([article for article in usable if article.category == category], per_category, seed)
    ]
    drawn.sort(key=lambda article: article.number)
    frame = pd.DataFrame(
        {
            "row": [article.number for article in drawn],
            "text": [getattr(a, part) for a in drawn],
            "label": [article.category for article in drawn],
        }
    )
    chosen = (
        ""
        if per_category is None
        else Message(", {per_category} per category, seed {seed}", per_category=per_category, seed=seed)
    )
    dataset = LabelledSentences.from_frame(frame, f"{corpus.name} ({PARTS[part]}{chosen})")
    return replace(dataset, notices=(*_notices(corpus, part, available, per_category), *dataset.notices))


def _title_and_body(raw: bytes, member: str) -> tuple[str, str]:
    lines = decode(raw, member).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(lines) < TITLE_LINE or (len(lines) == TITLE_LINE and not lines[-1]):
        n_lines = len(lines) - (not lines[-1])
        raise InputError(
            Message(
                "{member}: has {n_lines}; the title is expected on line {TITLE_LINE}",
                member=member,
                n_lines=count(n_lines, "line"),
                TITLE_LINE=TITLE_LINE,
            )
        )
    title = lines[TITLE_LINE - 1].strip()
    if rows.empty_reason(title):
        raise InputError(Message("{member}: has no title on line {TITLE_LINE}", member=member, TITLE_LINE=TITLE_LINE))
    body = "\n".join(lines[TITLE_LINE:]).strip()
    return title, "" if rows.empty_reason(body) else body


def _draw(articles: Sequence[Article], n: int | None, seed: int) -> list[Article]:
    def sort_key(article: Article) -> str:
        return hashlib.sha256(f"{seed}\0{article.file}".encode()).hexdigest()

    return sorted(articles, key=sort_key)[:n]


def _notices(corpus: Livedoor, part: str, available: Counter[str], per_category: int | None) -> tuple[str, ...]:
    notices = []
    if corpus.bad:
        listed = _listed([bad.reason for bad in corpus.bad])
        notices.append(
            Message("1 article could not be read and was left out: {listed}.", listed=listed)
            if len(corpus.bad) == 1
            else Message(
                "{bad:,} articles could not be read and were left out: {listed}.", bad=len(corpus.bad), listed=listed
            )
        )
    if corpus.other_files:
        listed = _listed(corpus.other_files)
        notices.append(
            Message("1 text file not named after the folder was left out: {listed}.", listed=listed)
            if len(corpus.other_files) == 1
            else Message(
                "{other_files:,} text files not named after the folder were left out: {listed}.",
                other_files=len(corpus.other_files),
                listed=listed,
            )
        )
    n_without = len(corpus.articles) - sum(available.values())
    if n_without:
        notices.append(
            Message("1 article without a {part} was left out.", part=part)
            if n_without == 1
            else Message("{n_without:,} articles without a {part} were left out.", n_without=n_without, part=part)
        )
    few = [f"{category} {n:,}" for category, n in available.items() if per_category is not None and n < per_category]
    if few:
        notices.append(
            Message(
                "Fewer than the {per_category:,} articles asked for, so all of them: {few}.",
                per_category=per_category,
                few=list_of(few),
            )
        )
    return tuple(notices)


def _listed(names: Sequence[str]) -> str:
    return together("; ", [*names[:LISTED], *([Message("…")] if len(names) > LISTED else [])])
