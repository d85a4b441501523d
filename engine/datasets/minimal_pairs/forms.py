"""The forms in which minimal-pair data come: which columns each wants, by which it is recognised, and how it is read.

A form that is not one row for a pair is made into pairs, judged sentences or sentences in conditions before it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats import columns as column_names
from engine.datasets.formats.columns import JOIN, Role, normalize_name, values
from engine.datasets.formats.files import Table
from engine.datasets.formats.grid import quoted
from engine.datasets.formats.headerless import CLIMP_LABEL, CLIMP_TURNS
from engine.datasets.minimal_pairs import acquisition, designs, items, layouts, reading_times, reshaping, texts
from engine.errors import InputError
from engine.messages.message import Message

SIDES = ("acceptable", "unacceptable")
BLIMP_NL = frozenset(("phenomenon", "paradigm", "item", "grammaticality", "sentence"))
CLIMP = ({"phenomenon", "paradigm", "sentence", normalize_name(CLIMP_LABEL)}, {normalize_name(CLIMP_TURNS)})

Columns = Mapping[str, str | None]


@dataclass(frozen=True)
class Form:
    """One form of minimal-pair data.

    key: its name in code and in the choice of a page. title: what a row is, in words. roles: its columns, which
    `--column` names. names: by role, the names of columns that are guessed, as `normalize_name` has them. by_names:
    whether a file with these names is read so without being told. read: (table, columns by role, skip_bad_rows) -> a
    table as it is read without a form; None for pairs. guessed: (columns as spelled, by normalised name) -> the column
    of each role, where it takes more than the first known name. has_category: whether a column for the category is
    chosen beside; where it is not, its own columns can be chosen though the file tells the form.
    """

    key: str
    title: Message
    roles: tuple[Role, ...]
    names: Mapping[str, tuple[str, ...]]
    by_names: bool = False
    read: Callable[[Table, Mapping[str, str], bool], Table] | None = None
    guessed: Callable[[Mapping[str, str]], dict[str, str | None]] | None = None
    has_category: bool = True

    def guess(self, table: Table) -> dict[str, str | None]:
        """The column of each role by its name, None where there is none."""
        spelled: dict[str, str] = {}
        for name in map(str, table.frame.columns):
            spelled.setdefault(normalize_name(name), name)
        if self.guessed is not None:
            return self.guessed(spelled)
        guessed: dict[str, str | None] = {}
        for role in self.roles:
            known = (spelled[name] for name in self.names[role.name] if name in spelled)
            guessed[role.name] = next((name for name in known if name not in guessed.values()), None)
        return guessed


def _judged(table: Table, columns: Mapping[str, str], skip_bad_rows: bool) -> Table:
    return _renamed(table, {columns["sentence"]: "sentence", columns["label"]: "label"})


def _texts(table: Table, columns: Mapping[str, str], skip_bad_rows: bool) -> Table:
    return _renamed(table, {columns["text"]: texts.TEXT})


def _conditions(table: Table, columns: Mapping[str, str], skip_bad_rows: bool) -> Table:
    own = {"item": designs.ITEM, "condition": designs.CONDITION, "sentence": designs.SENTENCE}
    return _renamed(table, {columns[role]: name for role, name in own.items()})


_SENTENCE = ("sentence", "text", "sent", "utterance", "文", "例文")
# Names of a column that says whether a sentence is acceptable, or what class a text is of.
JUDGEMENTS = (
    "label",
    "acceptable",
    "acceptability",
    "grammatical",
    "grammaticality",
    "judgement",
    "judgment",
    "is_acceptable",
    "is_grammatical",
    "容認性",
    "容認可能性",
    "ラベル",
)
_ITEM = ("item", "item_id", "item_number", "pair_id", "pairid", "pair", "id")
_CONDITION = ("condition", "condition_name")
PAIRS = Form(
    "pairs",
    Message("a pair, a column for each sentence"),
    (
        Role("acceptable", True, Message("the sentence a model should prefer")),
        Role("unacceptable", True, Message("the sentence it should not prefer")),
    ),
    {side: column_names.NAMES[side] for side in SIDES},
)
ANSWERED = Form(
    "answered",
    Message("a pair, and a column that says which sentence is acceptable"),
    (
        Role("first", True, Message("one sentence of the pair")),
        Role("second", True, Message("the other sentence of the pair")),
        Role(
            "answer",
            True,
            Message(
                "which of them is acceptable: 0 or 1, 1 or 2, a or b, the name of its column, or the sentence itself"
            ),
        ),
    ),
    {
        "first": ("first", "sentence_a", "sentence_1", "sentence1", "option_a", "option_1", "option1", "choice1"),
        "second": ("second", "sentence_b", "sentence_2", "sentence2", "option_b", "option_2", "option2", "choice2"),
        "answer": ("answer", "correct", "correct_sentence", "gold", "which", "label"),
    },
    read=lambda table, columns, skip: reshaping.with_sides(table, columns, skip_bad_rows=skip),
)
OPTIONS = Form(
    "options",
    Message("a list of sentences in one cell, and a column that says which is acceptable"),
    (
        Role("options", True, Message('the sentences, as a list in JSON: ["…", "…"]')),
        Role("answer", True, Message("which is acceptable: its number from 0 or 1, its letter, or its text")),
    ),
    {
        "options": ("options", "choices", "sentences", "candidates", "pair"),
        "answer": ("answer", "correct", "gold", "target", "correct_index", "answer_index", "answerkey", "label"),
    },
    read=lambda table, columns, skip: reshaping.of_options(table, columns, skip_bad_rows=skip),
)
ITEMS = Form(
    "items",
    Message("a sentence of an item, of which one is acceptable"),
    (
        Role("item", True, Message("what the sentences of one pair have in common")),
        Role("sentence", True, Message("the sentence")),
        Role("label", True, Message("whether it is acceptable: 1 or 0, true or false, grammatical or ungrammatical")),
    ),
    {"item": _ITEM, "sentence": _SENTENCE, "label": JUDGEMENTS},
    read=lambda table, columns, skip: items.as_pairs(_composed(table, columns["item"]), columns, skip_bad_rows=skip),
)
JUDGED = Form(
    "judged",
    Message("a single sentence that was judged"),
    (
        Role("sentence", True, Message("the sentence")),
        Role("label", True, Message("whether it was judged acceptable: 1 or 0, true or false")),
    ),
    {"sentence": _SENTENCE, "label": JUDGEMENTS},
    read=_judged,
)
CONDITIONS = Form(
    "conditions",
    Message("a sentence in a condition"),
    (
        Role("item", True, Message("what its sentences in other conditions have in common")),
        Role("condition", True, Message("the condition")),
        Role("sentence", True, Message("the sentence; regions are in columns region_1, region_2, …")),
    ),
    {"item": _ITEM, "condition": _CONDITION, "sentence": _SENTENCE},
    read=_conditions,
)
REGIONS = Form(
    "regions",
    Message("a region of a sentence in a condition"),
    (
        Role("item", True, Message("what its sentences in other conditions have in common")),
        Role("condition", True, Message("the condition")),
        Role("region", True, Message("the number of the region, from 1")),
        Role("content", True, Message("its words")),
    ),
    {
        "item": ("item_number", "item", "item_id"),
        "condition": _CONDITION,
        "region": ("region_number", "region", "roi"),
        "content": ("content", "text", "words"),
    },
    by_names=True,
    read=lambda table, columns, skip: reshaping.sentences_of_regions(table, columns, skip_bad_rows=skip),
)
READING = Form(
    "reading",
    Message("a word with its reading time"),
    reading_times.ROLES,
    reading_times.NAMES,
    by_names=True,
    read=lambda table, columns, skip: reading_times.as_texts(table, columns, skip_bad_rows=skip),
    guessed=reading_times.guessed_columns,
    has_category=False,
)
ACQUISITION = Form(
    "acquisition",
    Message("a word in a context, to be learned"),
    acquisition.ROLES,
    acquisition.NAMES,
    by_names=True,
    read=lambda table, columns, skip: acquisition.as_texts(table, columns, skip_bad_rows=skip),
    guessed=acquisition.guessed_columns,
    has_category=False,
)
TEXTS = Form(
    "texts",
    Message("a document of running text"),
    (Role("text", True, Message("the text, of any length")),),
    {"text": (*texts.TEXTS, "sentence", "文")},
    read=_texts,
)
FORMS: Mapping[str, Form] = {
    form.key: form
    for form in (PAIRS, ANSWERED, OPTIONS, ITEMS, JUDGED, CONDITIONS, REGIONS, READING, ACQUISITION, TEXTS)
}
# Those that a file tells by the names of its columns alone, and what is read as its sentences.
_TOLD = {
    REGIONS.key: "content",
    OPTIONS.key: "options",
    READING.key: "word",
    ACQUISITION.key: "word",
    TEXTS.key: "text",
}
_SENTENCES = ("first", "second", "sentence")
# The roles that tell a form, in the order in which they are asked.
_TELLING = (
    ("aoa", ACQUISITION),
    *((role, READING) for role in ("word", "time", "context", "position", "frequency", "length")),
    ("options", OPTIONS),
    ("first", ANSWERED),
    ("second", ANSWERED),
    ("answer", ANSWERED),
    ("region", REGIONS),
    ("content", REGIONS),
    ("condition", CONDITIONS),
    ("item", ITEMS),
    ("sentence", JUDGED),
    ("label", JUDGED),
    ("text", TEXTS),
)


def chosen_form(table: Table, columns: Columns | None) -> Form | None:
    """The form that chosen columns say; None where they say pairs, a category alone, or nothing."""
    given = {role for role, column in (columns or {}).items() if column}
    if given & set(SIDES):
        return None
    form = next((form for role, form in _TELLING if role in given), None)
    if form is READING and given <= {"word", "context"} and not READING.guess(table)["time"]:
        return ACQUISITION
    if form is JUDGED and items.item_columns(table) is not None and given != {"sentence", "label"}:
        return ITEMS
    return form


def recognised_form(table: Table) -> Form:
    """The form that a file is read in where no columns are chosen, by the names of its columns; pairs for others."""
    table = acquisition.unpacked(table)
    names = list(map(str, table.frame.columns))
    guessed = column_names.guess(names, SIDES)
    sides = any(guessed.values())
    if items.item_columns(table) is not None or _is_long(names):
        return ITEMS
    if not sides and not layouts.published_sentences(names) and designs.are_columns_of_conditions(names):
        return CONDITIONS
    is_of_pairs = all(guessed.values()) or layouts.published_sentences(names)
    if not is_of_pairs and layouts.judged_format(names):
        return JUDGED
    if not all(guessed.values()):
        for form in (READING, ACQUISITION):  # the answers of readers may be called correct
            if _is_told(form, table):
                return form
    told = next((form for form in (REGIONS, OPTIONS) if not sides and _is_told(form, table)), None)
    return told or (TEXTS if not sides and not is_of_pairs and texts.text_column(names, JUDGEMENTS) else PAIRS)


def column_of_sentences(table: Table) -> str | None:
    """The column of a file whose texts become both sides of pairs, or sentences, without being told; None for others."""
    table = acquisition.unpacked(table)
    names = {normalize_name(str(name)): str(name) for name in table.frame.columns}
    for wanted in CLIMP:
        if names.keys() >= wanted:
            return names.get("sentence", CLIMP_TURNS)
    if _is_long(table.frame.columns):
        return names["sentence"]
    form = recognised_form(table)
    return form.guess(table)[_TOLD[form.key]] if form.key in _TOLD else None


def read_in_form(table: Table, columns: Columns | None, *, skip_bad_rows: bool) -> tuple[Form | None, Table, Columns]:
    """The form in which a table was read, with the table as it is read without one, and the columns chosen beside.

    The form is None where it is the one that the table itself tells. Raises InputError where a column is missing, and
    as the form's `read` does.
    """
    table = acquisition.unpacked(table)
    form = chosen_form(table, columns)
    if form is None:
        if any((columns or {}).get(side) for side in SIDES):
            return None, table, columns or {}
        names = {normalize_name(str(name)): str(name) for name in table.frame.columns}
        if any(names.keys() >= wanted for wanted in CLIMP):
            return PAIRS, reshaping.of_climp(table, skip_bad_rows=skip_bad_rows), columns or {}
        if _is_long(table.frame.columns):
            return PAIRS, reshaping.of_blimp_nl(table, names, skip_bad_rows=skip_bad_rows), columns or {}
        recognised = recognised_form(table)
        if recognised.key not in _TOLD:
            return None, table, columns or {}
        form = recognised
    chosen = _chosen(table, form, columns or {})
    for role in _SENTENCES:
        if role in chosen:
            rows.refuse_other_than_sentences(chosen[role], values(table.frame, chosen[role]))
    assert form.read is not None
    made = form.read(table, chosen, skip_bad_rows)
    notice = column_names.chosen_notice({}, chosen) if chosen_form(table, columns) is not None else ()
    others = {role: column for role, column in (columns or {}).items() if role not in chosen}
    return form, replace(made, notices=(*made.notices, *notice)), others


def _chosen(table: Table, form: Form, columns: Columns) -> dict[str, str]:
    """The column of each role of a form: as chosen, or as guessed."""
    guessed = form.guess(table)
    chosen = {
        role.name: columns[role.name]
        if columns.get(role.name) or (role.name in columns and not role.required)
        else guessed[role.name]
        for role in form.roles
    }
    names = set(map(str, table.frame.columns))
    absent = [
        column
        for column in chosen.values()
        if column and column not in names and not all(part in names for part in column.split(JOIN))
    ]
    if absent:
        raise InputError(
            Message(
                "{name} has no column {absent}. Found: {columns}.",
                name=table.name,
                absent=quoted(absent),
                columns=quoted(list(table.frame.columns)),
            )
        )
    missing = [role.name for role in form.roles if role.required and not chosen[role.name]]
    if missing:
        raise InputError(
            Message(
                "{name}: where a row is {title}, a column is needed for each of {roles}; none is known for {missing}. "
                "Found: {columns}. Say which column plays which role.",
                name=table.name,
                title=form.title,
                roles=quoted([role.name for role in form.roles]),
                missing=quoted(missing),
                columns=quoted(list(table.frame.columns)),
            )
        )
    complete = {role: str(column) for role, column in chosen.items() if column}
    if len(set(complete.values())) < len(complete):
        raise InputError(
            Message(
                "{name}: each of {roles} needs a column of its own.",
                name=table.name,
                roles=quoted([role.name for role in form.roles]),
            )
        )
    return complete


def _is_long(names: Sequence[str] | pd.Index) -> bool:
    """Whether these are the columns of BLiMP-NL as its authors publish it."""
    return {normalize_name(str(name)) for name in names} >= BLIMP_NL


def _is_told(form: Form, table: Table) -> bool:
    """Whether the names of columns tell a form; of lists, the cells must be some, and the answer be called so."""
    guessed = form.guess(table)
    if not all(guessed[role.name] for role in form.roles if role.required):
        return False
    if form is READING:
        return bool(guessed["item"] or guessed["context"])
    if form is OPTIONS:
        cells = table.frame[str(guessed["options"])].head(20)
        return guessed["answer"] != "label" and all(map(reshaping.texts_in, cells))
    return form.by_names


def _renamed(table: Table, own: Mapping[str, str]) -> Table:
    """The table with columns under the names `own`; a further column that has one of them gets another."""
    taken = set(own.values())
    others = {
        name: f"{name} (2)"
        for name in map(str, table.frame.columns)
        if name not in own and normalize_name(name) in taken
    }
    return replace(table, frame=table.frame.rename(columns={**others, **own}), json_text="")


def _composed(table: Table, item: str) -> Table:
    """The table with a column for an item that several columns tell together."""
    if item in table.frame:
        return table
    texts = pd.Series(list(values(table.frame, item)), index=table.frame.index, dtype="str")
    return replace(table, frame=table.frame.assign(**{item: texts}), json_text="")
