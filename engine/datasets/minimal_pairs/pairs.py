"""Minimal pairs, an acceptable and an unacceptable sentence each, the dataset of the minimal pairs page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats import columns as column_names
from engine.datasets.formats.columns import JOIN
from engine.datasets.formats.files import Table
from engine.datasets.formats.formulas import SIGNATURE_COLUMN, is_digest_column
from engine.datasets.formats.json_rows import texts_of_row
from engine.datasets.minimal_pairs import (
    acquisition,
    designs,
    forms,
    items,
    judged,
    kinds,
    options,
    published_rows,
    reading_times,
    texts,
)
from engine.datasets.minimal_pairs import layouts as pair_formats
from engine.datasets.minimal_pairs.scores import OutsideScores, scores_of, with_scores
from engine.datasets.text_column import JsonRows, at, concatenated, group_name, labels, series_of_texts
from engine.errors import BadRow
from engine.language.direction import is_right_to_left
from engine.messages.message import Message, named

KIND = "minimal_pairs"
ROLES = kinds.PAIRS.roles
# Prefix of the columns of `fields` in a frame of the dataset.
FIELD = "field:"
MIXED = named("several formats")

# French CrowS-Pairs was published with a row that lacks its second sentence; it is read as published.
FORMAT_WITH_GAPS = "CrowS-Pairs"
_FILE_COLUMNS = ("source", "format", "file_format", "original")


@dataclass(frozen=True)
class MinimalPairs:
    """Acceptable and unacceptable sentences, aligned with their categories ("" = none).

    In the layouts of `pair_formats.JUDGED` a row is one sentence that was judged (`labels`), in `pair_formats.DESIGN`
    one of an item in a condition, in `pair_formats.RUNNING_TEXT` a document; it stands on both sides.

    `rows` are row numbers in the file (1 = first row of data). `fields`: further columns that group the pairs, by
    their names in the file, including the column of `categories`. For a pair from a file `sources` is the file,
    `formats` the layout (`pair_formats`), `file_formats` the format of the file ("csv", "jsonl" …) and `originals`
    its whole row as a JSON object; all four are () for other pairs. `left_out`: rows of the file that could not be used
    and were left out. `scores`: of models that were scored elsewhere, one record for each.
    """

    name: str
    acceptable: Sequence[str]
    unacceptable: Sequence[str]
    categories: tuple[str, ...]
    rows: tuple[int, ...]
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    file_formats: tuple[str, ...] = ()
    originals: Sequence[str] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)
    left_out: tuple[BadRow, ...] = ()
    scores: tuple[OutsideScores, ...] = ()

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.acceptable)

    def __len__(self) -> int:
        """Number of pairs."""
        return self.n

    @property
    def format(self) -> str:
        """The layout the pairs were published in, `pair_formats.OTHER`, or MIXED for files of several."""
        names = set(self.formats)
        return MIXED if len(names) > 1 else next(iter(names), pair_formats.OTHER)

    @property
    def data_kind(self) -> kinds.DataKind:
        """What a row is, such as a pair, and what follows from it."""
        return kinds.kind_of(self.formats)

    @property
    def sentences(self) -> Sequence[str]:
        """All acceptable sentences, then all unacceptable ones: (2 · n,); (n,) where a row is a single sentence."""
        return concatenated((self.acceptable, self.unacceptable))[: self.data_kind.n_sentences * self.n]

    @cached_property
    def labels(self) -> tuple[bool | None, ...]:
        """Whether each single sentence was judged acceptable, None where that is not known; () for pairs."""
        return self.data_kind.labels(self.formats, self.originals)

    @cached_property
    def further(self) -> dict[str, tuple[str, ...]]:
        """The columns of the files but those of the sentences, by their names there; "" where a file lacks one.

        Pairs from no file have their `fields`. A column that is the acceptable or the unacceptable sentence in every
        row that has it is one of the sentences.
        """
        if isinstance(self.originals, JsonRows):
            return self._without_sentences(dict(zip(self.originals.names, self.originals.columns, strict=True)))
        without = ("",) * self.n
        of_rows = [texts_of_row(original) if original else {} for original in self.originals or without]
        names = dict.fromkeys((*(name for row in of_rows for name in row), *self.fields))
        columns = {
            name: tuple(
                row[name] if name in row else "" if row else self.fields.get(name, without)[i]
                for i, row in enumerate(of_rows)
            )
            for name in names
        }
        return self._without_sentences(columns)

    @cached_property
    def right_to_left(self) -> bool:
        """Whether most letters are written from right to left, as in Arabic and Hebrew."""
        return is_right_to_left(chain(self.acceptable, self.unacceptable))

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of all columns in their order, the files' own rows and scores too; name and notices do not count."""
        scores = {"scores": [of_model.content() for of_model in self.scores]} if self.scores else {}
        return rows.content_hash(KIND, {"row": self.rows, **self._texts(), **scores}, self.left_out)

    @cached_property
    def own_hash(self) -> str:
        """The content hash of the same pairs without scores: what runs are known by that may be compared."""
        return replace(self, scores=()).content_hash if self.scores else self.content_hash

    def to_frame(self) -> pd.DataFrame:
        """Columns row, acceptable, unacceptable, category, "field:<name>" …, then those of the file, if any."""
        frame = pd.DataFrame(
            {"row": list(self.rows), **{name: series_of_texts(texts) for name, texts in self._texts().items()}}
        )
        return rows.with_left_out(with_scores(frame, self.scores), self.left_out)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, name: str) -> MinimalPairs:
        """The dataset whose `to_frame` this is; only acceptable and unacceptable must be there."""
        acceptable, unacceptable = rows.texts_of(frame, "acceptable"), rows.texts_of(frame, "unacceptable")
        numbers = rows.numbers_of(frame)
        fields = {
            str(column).removeprefix(FIELD): labels(rows.texts_of(frame, column))
            for column in frame.columns
            if str(column).startswith(FIELD)
        }
        sources, formats, file_formats, originals = (
            rows.texts_of(frame, column) if column in frame.columns else () for column in _FILE_COLUMNS
        )
        sources, formats, file_formats = map(labels, (sources, formats, file_formats))
        return cls(
            name,
            acceptable,
            unacceptable,
            labels(rows.texts_of(frame, "category", required=False)),
            numbers,
            fields,
            sources,
            formats,
            file_formats,
            originals,
            kinds.kind_of(formats).notices(numbers, acceptable, unacceptable),
            rows.left_out_of(frame),
            scores_of(frame),
        )

    def subset(self, numbers: Collection[int]) -> MinimalPairs:
        """The pairs with these row numbers, in this dataset's order and with its numbers; unknown ones are ignored."""
        row_numbers = set(numbers)
        kept = [i for i, number in enumerate(self.rows) if number in row_numbers]

        def of(values: Sequence[str]) -> tuple[str, ...]:
            return tuple(values[i] for i in kept) if values else ()

        return replace(
            self,
            acceptable=at(self.acceptable, kept),
            unacceptable=at(self.unacceptable, kept),
            categories=of(self.categories),
            rows=tuple(self.rows[i] for i in kept),
            fields={name: of(values) for name, values in self.fields.items()},
            sources=of(self.sources),
            formats=of(self.formats),
            file_formats=of(self.file_formats),
            originals=at(self.originals, kept) if self.originals else (),
            notices=(),
            left_out=(),
            scores=tuple(of_model.subset(kept) for of_model in self.scores),
        )

    def _without_sentences(self, columns: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
        """The columns without those that repeat the sentences."""
        sides = (self.acceptable, self.unacceptable)
        return {
            name: labels(values)
            for name, values in columns.items()
            if not any(_repeats(values, sentences) for sentences in sides)
        }

    def _texts(self) -> dict[str, Sequence[str]]:
        of_file = zip(_FILE_COLUMNS, (self.sources, self.formats, self.file_formats, self.originals), strict=True)
        return {
            "acceptable": self.acceptable,
            "unacceptable": self.unacceptable,
            "category": self.categories,
            **{f"{FIELD}{name}": values for name, values in self.fields.items()},
            **{name: values for name, values in of_file if values},
        }


def guess_columns(table: Table) -> dict[str, str | None]:
    """The column of each role, judged by its name; None where no name is known.

    A single sentence, judged, in a condition or of an item, is both sides. The layouts of `pair_formats` are understood as
    published: CrowS-Pairs (acceptable = sent_more, whatever stereo_antistereo says), COMPS (sentence = prefix, space,
    property phrase) and, where the names alone do not tell the sentences, those that their further columns tell.
    """
    table = judged.with_header(table)
    columns = [str(column) for column in table.frame.columns]
    guessed = column_names.guess(columns, [role.name for role in ROLES])
    sides = ("acceptable", "unacceptable")
    if of_options := options.layout_of(table):
        return guessed | dict.fromkeys(sides, options.sentence_column(table, of_options))
    if (single := forms.column_of_sentences(table)) is not None:
        return guessed | dict.fromkeys(sides, single)
    if _are_conditions(columns, guessed):
        return guessed | dict.fromkeys(sides, designs.sentence_column(columns))
    if (layout := _judged_format(columns, guessed)) is not None:
        if column_names.normalize_name(guessed["category"] or "") in layout.hidden:  # a number of the sentence
            guessed |= {"category": None}
        return guessed | dict.fromkeys(sides, judged.sentence_column(table, layout))
    published = pair_formats.published_sentences(columns)
    if published and not all(guessed[side] for side in sides):
        guessed |= dict(zip(sides, published, strict=True))
    return guessed


def from_table(
    table: Table, columns: Mapping[str, str | None] | None = None, *, skip_bad_rows: bool = False
) -> MinimalPairs:
    """The dataset in a table; `columns` (role to column) overrides the guess.

    Sentences are unchanged; outer spaces of categories are removed. Repeated pairs and pairs of identical
    sentences are kept, with a notice; in the layout of CrowS-Pairs pairs that lack a sentence are left out,
    with a notice. Raises InputError: a column is missing, or rows with an empty sentence (all listed; with
    `skip_bad_rows` they are left out, with a notice).
    """
    if SIGNATURE_COLUMN in table.frame and is_digest_column(table.frame[SIGNATURE_COLUMN]):
        table = replace(table, frame=table.frame.drop(columns=SIGNATURE_COLUMN))  # of an export, not of the pairs
    sides = forms.SIDES
    table, form = judged.with_header(table), None
    is_chosen = forms.chosen_form(table, columns) is not None or any((columns or {}).get(side) for side in sides)
    of_options = "" if is_chosen else options.layout_of(table)
    if of_options:
        table, columns = options.as_pairs(table, of_options, skip_bad_rows=skip_bad_rows), columns or {}
    else:
        form, table, columns = forms.read_in_form(table, columns, skip_bad_rows=skip_bad_rows)
    told = not of_options and form is None and not any(columns.get(side) for side in sides)  # by the table itself
    if told:
        table = items.as_pairs(table, skip_bad_rows=skip_bad_rows)
    names = [str(column) for column in table.frame.columns]
    guessed_by_name = column_names.guess(names, [role.name for role in ROLES])
    if form in (forms.CONDITIONS, forms.REGIONS) or (told and _are_conditions(names, guessed_by_name)):
        return _of_design(designs.as_sentences(table, skip_bad_rows=skip_bad_rows), columns)
    if form is forms.READING:
        layout_name = str(table.frame[reading_times.LAYOUT].iloc[0])
        return _of_words(table, columns, layout_name, reading_times.TEXT, (reading_times.ITEM, reading_times.WORDS))
    if form is forms.ACQUISITION:
        fields = (acquisition.WORD, acquisition.CONTEXT, acquisition.AGE)
        return _of_words(table, columns, pair_formats.ACQUISITION, acquisition.TEXT, fields)
    if form is forms.TEXTS:
        return _of_texts(table, columns, skip_bad_rows=skip_bad_rows)
    layout = (
        pair_formats.JUDGED["judged sentences"]
        if form is forms.JUDGED
        else _judged_format(names, guessed_by_name)
        if told
        else None
    )
    sides_of_layout = dict.fromkeys(sides, judged.sentence_column(table, layout)) if layout else {}
    chosen = (
        _single(table, layout, columns)
        if layout
        else column_names.choose(table.name, table.frame, ROLES, guess_columns(table), columns)
    )
    table = rows.without_invisible(table, chosen.values())
    sentences = [str(chosen[role]) for role in sides]
    format_name = of_options or (
        layout.name if layout else pair_formats.format_of_columns(sentences[0], sentences[1], names)
    )
    table = (
        judged.usable(table, layout, skip_bad_rows=skip_bad_rows)
        if layout
        else rows.usable(
            table,
            {column: column_names.values(table.frame, column) for column in sentences},
            rows.empty_reason,
            Message("{name}: {bad} of {rows} lack a sentence. Fill them in or remove these rows."),
            skip_bad_rows=skip_bad_rows or format_name == FORMAT_WITH_GAPS,
        )
    )
    frame = table.frame
    numbers = tuple(int(number) for number in frame.index)
    acceptable, unacceptable = (column_names.values(frame, column) for column in sentences)
    for column, of_column in dict(zip(sentences, (acceptable, unacceptable), strict=True)).items():
        rows.refuse_other_than_sentences(column, of_column)
    categories = labels(column_names.values(frame, chosen["category"]), group_name)
    taken = [part for column in sentences for part in (column, *column.split(JOIN))]
    taken += [name for name in names if judged.is_judgement(name, layout)]
    fields_found = [*pair_formats.field_columns(frame, format_name, taken)]
    of_items = [name for name in names if column_names.normalize_name(name) == items.ITEM]
    # An item that has several pairs is counted as one, however many items there are.
    fields_found += [name for name in of_items if name not in fields_found and frame[name].duplicated().any()]
    if chosen["category"] in frame.columns and chosen["category"] not in fields_found:
        fields_found.append(str(chosen["category"]))
    n = len(numbers)
    return MinimalPairs(
        table.name,
        acceptable,
        unacceptable,
        categories,
        numbers,
        fields={column: labels(column_names.values(frame, column), str.strip) for column in fields_found},
        sources=(table.name,) * n,
        formats=(format_name,) * n,
        file_formats=(table.format,) * n,
        originals=published_rows.originals(table, frame),
        left_out=table.left_out,
        notices=(
            *table.notices,
            *column_names.chosen_notice({**guess_columns(table), **sides_of_layout}, chosen),
            *rows.left_out_notice(table.left_out),
            *kinds.kind_of((format_name,)).notices(numbers, acceptable, unacceptable),
        ),
    )


def _are_conditions(columns: Sequence[str], guessed: Mapping[str, str | None]) -> bool:
    """Whether these are the columns of sentences in conditions, and not those of pairs."""
    sides = any(guessed[side] for side in ("acceptable", "unacceptable"))
    return not sides and not pair_formats.published_sentences(columns) and designs.are_columns_of_conditions(columns)


def _of_design(table: Table, columns: Mapping[str, str | None] | None) -> MinimalPairs:
    """The dataset of a table that `designs.as_sentences` made; the category as chosen, or the suite."""
    frame = table.frame
    names = [str(name) for name in frame.columns]
    guessed = column_names.guess(names, ["category"])["category"] or designs.SUITE
    here = {column_names.normalize_name(name): name for name in names}  # columns got names of `designs`
    chosen = {
        role: here.get(column_names.normalize_name(column or ""), column)
        for role, column in (columns or {}).items()
        if role == "category"
    }
    category = column_names.choose(table.name, frame, ROLES[2:], {"category": guessed}, chosen)["category"]
    regions = [name for name in names if name.startswith(designs.REGION) and name != designs.REGION_NAMES]
    fields = dict.fromkeys(
        (*designs.FIELDS, *pair_formats.field_columns(frame, pair_formats.DESIGN, [designs.SENTENCE, *regions]))
    )
    n, sentences = len(frame), tuple(frame[designs.SENTENCE])
    return MinimalPairs(
        table.name,
        sentences,
        sentences,
        labels(column_names.values(frame, category), group_name),
        tuple(int(number) for number in frame.index),
        {name: labels(column_names.values(frame, name), str.strip) for name in fields},
        (table.name,) * n,
        (pair_formats.DESIGN,) * n,
        (table.format,) * n,
        published_rows.originals(table, frame),
        (*table.notices, *rows.left_out_notice(table.left_out)),
        table.left_out,
    )


def _of_words(
    table: Table, columns: Mapping[str, str | None], layout: str, text: str, fields: Sequence[str]
) -> MinimalPairs:
    """The dataset of a table of texts of which words count; text: its column of them, fields: what goes with each.

    Raises InputError where a category is chosen.
    """
    column_names.choose(table.name, table.frame, (), {}, columns)
    frame = table.frame
    n, sentences = len(frame), tuple(frame[text])
    return MinimalPairs(
        table.name,
        sentences,
        sentences,
        ("",) * n,
        tuple(int(number) for number in frame.index),
        {name: tuple(frame[name]) for name in fields},
        (table.name,) * n,
        (layout,) * n,
        (table.format,) * n,
        published_rows.originals(table, frame),
        (*table.notices, *rows.left_out_notice(table.left_out)),
        table.left_out,
    )


def _of_texts(table: Table, columns: Mapping[str, str | None], *, skip_bad_rows: bool) -> MinimalPairs:
    """The dataset of a table whose column `texts.TEXT` holds documents; what they are called is one of the fields."""
    names = [str(name) for name in table.frame.columns]
    guessed = {"category": column_names.guess(names, ["category"])["category"]}
    of_category = {role: column for role, column in columns.items() if role == "category"}
    category = column_names.choose(table.name, table.frame, ROLES[2:], guessed, of_category)["category"]
    table = rows.without_invisible(table, [texts.TEXT, category])
    table = rows.usable(
        table,
        {texts.TEXT: column_names.values(table.frame, texts.TEXT)},
        rows.empty_reason,
        Message("{name}: {bad} of {rows} lack a text. Fill them in or remove these rows."),
        skip_bad_rows=skip_bad_rows,
    )
    frame = table.frame
    documents = column_names.values(frame, texts.TEXT)
    rows.refuse_other_than_sentences(texts.TEXT, documents)
    grouping = pair_formats.field_columns(frame, pair_formats.RUNNING_TEXT, [texts.TEXT])
    fields = dict.fromkeys(filter(None, (texts.title_column(names), *grouping, category)))
    n, numbers = len(frame), tuple(int(number) for number in frame.index)
    return MinimalPairs(
        table.name,
        documents,
        documents,
        labels(column_names.values(frame, category), group_name),
        numbers,
        {name: tuple(frame[name].str.strip()) for name in fields if name in frame},
        (table.name,) * n,
        (pair_formats.RUNNING_TEXT,) * n,
        (table.format,) * n,
        published_rows.originals(table, frame),
        (
            *table.notices,
            *column_names.chosen_notice(guessed, {"category": category}),
            *rows.left_out_notice(table.left_out),
            *texts.repeated_notice(numbers, documents),
        ),
        table.left_out,
    )


def _judged_format(columns: Sequence[str], guessed: Mapping[str, str | None]) -> pair_formats.JudgedFormat | None:
    """The layout of single judged sentences, where the columns are not those of pairs."""
    sides = all(guessed[side] for side in ("acceptable", "unacceptable"))
    return None if sides or pair_formats.published_sentences(columns) else pair_formats.judged_format(columns)


def _single(
    table: Table, layout: pair_formats.JudgedFormat, columns: Mapping[str, str | None] | None
) -> dict[str, str | None]:
    """The column of every role where a row is one sentence; the category as chosen, or as guessed."""
    guessed = guess_columns(table) | dict.fromkeys(forms.SIDES, judged.sentence_column(table, layout))
    chosen = column_names.choose(
        table.name,
        table.frame,
        ROLES[2:],
        {"category": guessed["category"]},
        {role: column for role, column in (columns or {}).items() if role == "category"},
    )
    return guessed | chosen


def _repeats(values: Sequence[str], sentences: Sequence[str]) -> bool:
    """Whether a column is a sentence in every row that has a value of it."""
    return any(values) and all(
        rows.bare(value) in ("", sentence) for value, sentence in zip(values, sentences, strict=True)
    )
