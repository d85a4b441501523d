"""The kinds of minimal-pair data by what a row is: a pair, a pair of a benchmark of stereotypes, a judged sentence, a
sentence in a condition, a text whose words have reading times, a word in a context, a document of running text. Whoever
reads, rates, exports or describes such data asks the record of its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.datasets import rows
from engine.datasets.formats.columns import Role
from engine.datasets.minimal_pairs import acquisition, designs, judged, layouts, reading_times, texts
from engine.datasets.text_column import Rows
from engine.messages.message import Message

IDENTICAL_SENTENCES = Message("{rows} with two identical sentences (kept; such a pair is always a tie): {listed}.")
REPEATED_IN_FILES = (
    Message("{rows} repeats a pair of another file (kept): {listed}."),
    Message("{rows} repeat a pair of another file (kept): {listed}."),
)
ROLES = (
    Role(
        "acceptable", True, Message("the sentence a model should prefer; in CrowS-Pairs the one that stereotypes more")
    ),
    Role("unacceptable", True, Message("the sentence it should not prefer")),
    Role("category", False, Message("the phenomenon, to compare phenomena")),
)
Texts = Sequence[str]
Labels = tuple[bool | None, ...]


def _notices_of_pairs(numbers: Sequence[int], acceptable: Texts, unacceptable: Texts) -> tuple[str, ...]:
    pairs = Rows(acceptable, unacceptable)
    identical = [row for row, (good, bad) in zip(numbers, pairs, strict=True) if good == bad]
    return (
        rows.repeated_pairs_notice(numbers, pairs)
        + rows.spaces_notice(numbers, pairs)
        + rows.row_notice(identical, IDENTICAL_SENTENCES, IDENTICAL_SENTENCES)
    )


def _columns_of_pairs(acceptable: Texts, unacceptable: Texts, categories: Texts, _: Labels) -> dict[str, Texts]:
    return dict(zip((role.name for role in ROLES), (acceptable, unacceptable, categories), strict=True))


def _columns_of_texts(documents: Texts, _: Texts, categories: Texts, __: Labels) -> dict[str, Texts]:
    return {texts.TEXT: documents, texts.CATEGORY: categories}


def _columns_of_sentences(sentences: Texts, _: Texts, categories: Texts, labels: Labels) -> dict[str, Texts]:
    columns = {"sentence": sentences, "category": categories}
    return columns | ({"label": tuple("" if label is None else str(int(label)) for label in labels)} if labels else {})


@dataclass(frozen=True)
class DataKind:
    """What a row of minimal-pair data is, and what follows for those who handle the data.

    name: of the kind. formats: the layouts (`layouts`) whose rows are of this kind. noun: what a row is, as
    `quantities.count` takes it. holds: what a file holds, in words; those of other words are not joined with it.
    read_as: what a reader is told of the file, for one row and for several; {formats} and {n}. note: what else must be
    said of it, as Markdown; "" for nothing. to_rate: what people are asked how many of.

    sides: what each sentence of a row is called; a single one stands on both sides and has no name. roles: those whose
    column can be chosen; the layout names the others. rated: of each sentence of a row, the column of its mean rating
    and how the column of a person begins. columns: (acceptable, unacceptable, categories, labels) -> the texts under
    names by which such a file is recognised. is_ordered: whether the order of the rows belongs to what is read.
    further_settings: those of a run that only such data are offered. in_windows: whether a row is a text of any length,
    which is read in windows.

    labels: (formats, originals) -> whether each row was judged acceptable; () where rows are not judged. notices: (row
    numbers, acceptable, unacceptable) -> what is said of repeated and odd rows. repeated: the notice of rows that
    another file has, too; None where that is as it should be. regions: originals -> the numbered regions of each
    sentence with their characters; None where the layout has none. units: (sources, fields) -> the positions of the rows
    that say something only together; None where each says something by itself.
    """

    name: str
    formats: frozenset[str]
    noun: str
    holds: Message
    read_as: tuple[str, str]
    to_rate: str
    sides: tuple[str, ...]
    roles: tuple[Role, ...]
    rated: tuple[tuple[str, str], ...]
    columns: Callable[[Texts, Texts, Texts, Labels], dict[str, Texts]]
    note: str = ""
    is_ordered: bool = True
    further_settings: frozenset[str] = frozenset()
    in_windows: bool = False
    labels: Callable[[Sequence[str], Sequence[str]], Labels] = lambda formats, originals: ()
    notices: Callable[[Sequence[int], Texts, Texts], tuple[str, ...]] = lambda numbers, good, bad: ()
    repeated: tuple[Message, Message] | None = REPEATED_IN_FILES
    regions: Callable[[Sequence[str]], list[list[tuple[int, designs.Span]]]] | None = None
    units: Callable[[Sequence[str], Mapping[str, Sequence[str]]], list[list[int]]] | None = None

    @property
    def n_sentences(self) -> int:
        """Sentences of a row."""
        return len(self.sides)

    def __reduce__(self) -> Any:
        return _named, (self.name,)


PAIRS = DataKind(
    "pairs",
    frozenset((*layouts.FORMATS, *layouts.OPTIONS)) - layouts.OF_STEREOTYPES,
    noun="pair",
    holds=Message("pairs of sentences"),
    read_as=(Message("Read as {formats}: {n} pair."), Message("Read as {formats}: {n:,} pairs.")),
    to_rate=Message("Pairs to rate"),
    sides=(Message("acceptable"), Message("unacceptable")),
    roles=ROLES,
    rated=tuple((column, f"{column}:") for column in judged.RATINGS),
    columns=_columns_of_pairs,
    notices=_notices_of_pairs,
)
# In its layout A is the sentence that stereotypes more, not the better one.
STEREOTYPES = replace(
    PAIRS,
    name="stereotypes",
    formats=layouts.OF_STEREOTYPES,
    note=Message(
        "A is `sent_more`, the more stereotyping sentence, in every row, whatever `stereo_antistereo` says: no sentence "
        "is the better one."
    ),
    further_settings=frozenset(("shared_tokens",)),
)
JUDGED = DataKind(
    "judged",
    frozenset(layouts.JUDGED),
    noun="sentence",
    holds=Message("single sentences with judgements"),
    read_as=(
        Message("Read as {formats}: {n} judged sentence."),
        Message("Read as {formats}: {n:,} judged sentences."),
    ),
    to_rate=Message("Sentences to rate"),
    sides=("",),
    roles=ROLES[2:],
    rated=((f"{judged.ACCEPTABILITY}mean", judged.ACCEPTABILITY),),
    columns=_columns_of_sentences,
    labels=judged.labels,
    notices=lambda numbers, sentences, _: judged.repeated_notice(numbers, sentences),
)
CONDITIONS = replace(
    JUDGED,
    name="conditions",
    formats=frozenset((layouts.DESIGN,)),
    holds=Message("sentences in conditions"),
    read_as=(
        Message("Read as {formats}: {n} sentence in conditions."),
        Message("Read as {formats}: {n:,} sentences in conditions."),
    ),
    is_ordered=False,
    labels=lambda formats, originals: (),
    notices=lambda numbers, good, bad: (),
    repeated=None,  # an item may share its sentences with others
    regions=designs.regions_of,
    units=designs.items_of,
)
READING = replace(
    JUDGED,
    name="reading",
    formats=frozenset(layouts.READING),
    noun="text",
    holds=Message("words with reading times"),
    read_as=(
        Message("Read as {formats}: {n} text with reading times."),
        Message("Read as {formats}: {n:,} texts with reading times."),
    ),
    to_rate=Message("Texts to rate"),
    further_settings=frozenset(("all_layers",)),
    labels=lambda formats, originals: (),
    notices=lambda numbers, good, bad: (),
    repeated=None,  # a text may be read in several files
    regions=reading_times.regions_of,
)
ACQUISITION = replace(
    READING,
    name="acquisition",
    formats=frozenset((layouts.ACQUISITION,)),
    noun="sentence",
    holds=Message("words in contexts"),
    read_as=(
        Message("Read as {formats}: {n} word in a context."),
        Message("Read as {formats}: {n:,} words in contexts."),
    ),
    to_rate=Message("Sentences to rate"),
    further_settings=frozenset(),
    regions=acquisition.regions_of,
)
TEXTS = replace(
    JUDGED,
    name="texts",
    formats=frozenset((layouts.RUNNING_TEXT,)),
    noun="document",
    holds=Message("running text"),
    read_as=(Message("Read as {formats}: {n} document."), Message("Read as {formats}: {n:,} documents.")),
    to_rate=Message("Documents to rate"),
    columns=_columns_of_texts,
    further_settings=frozenset(("window", "stride", "window_prefix")),
    in_windows=True,
    labels=lambda formats, originals: (),
    notices=lambda numbers, documents, _: texts.repeated_notice(numbers, documents),
    repeated=(
        Message("{rows} repeats a document of another file (kept): {listed}."),
        Message("{rows} repeat a document of another file (kept): {listed}."),
    ),
)
KINDS = {kind.name: kind for kind in (JUDGED, CONDITIONS, READING, ACQUISITION, TEXTS, STEREOTYPES, PAIRS)}


def kind_of(formats: Sequence[str]) -> DataKind:
    """The kind of rows of these layouts: that of all of them, else pairs, as rows from no file are.

    >>> [kind_of(formats).name for formats in (["JCoLA", "CoLA"], ["CrowS-Pairs"], ["CrowS-Pairs", "BLiMP"], [])]
    ['judged', 'stereotypes', 'pairs', 'pairs']
    """
    names = set(formats)
    return next((kind for kind in KINDS.values() if names and names <= kind.formats), PAIRS)


def _named(name: str) -> DataKind:
    return KINDS[name]
