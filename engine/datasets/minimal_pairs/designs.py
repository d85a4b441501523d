"""Items of sentences in several conditions, cut into regions, with predictions over them: SyntaxGym's, and tables.

A row of the dataset is the sentence of one item in one condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats.bounds import current_meter
from engine.datasets.formats.columns import normalize_name
from engine.datasets.formats.files import Table
from engine.datasets.formats.json_rows import texts_of_row
from engine.datasets.minimal_pairs import suites
from engine.datasets.minimal_pairs.formulas import WHOLE_SENTENCE, parsed
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.language.words import uses_spaces
from engine.messages.message import Message, list_of

# The columns of a table of sentences in conditions, by their normalised names; REGION with a number appended.
SUITE, ITEM, CONDITION, SENTENCE, REGION = "suite", "item", "condition", "sentence", "region_"
PREDICTION, REGION_NAMES = "prediction", "region_names"
# Those that the result needs, whatever else groups the rows.
FIELDS = (SUITE, ITEM, CONDITION, PREDICTION, REGION_NAMES)
_REGION = re.compile(r"region_([1-9]\d{0,3})")
UNUSABLE = Message(
    "{name}: {bad} of {rows} lack an item, a condition or a sentence, or repeat a condition of their "
    "item. Correct or remove these rows."
)
OTHER_SENTENCE = Message(
    "{rows} whose 'sentence' is not the concatenation of its regions; the regions are read: {listed}."
)
MOST_PREDICTIONS = 200  # of a suite
Span = tuple[int, int]


def are_columns_of_conditions(columns: Iterable[str]) -> bool:
    """Whether a file with these columns holds sentences in conditions.

    >>> are_columns_of_conditions(["item", "condition", "region_1"]), are_columns_of_conditions(["item", "label"])
    (True, False)
    """
    names = set(map(normalize_name, columns))
    return suites.is_suite(names) or (
        names >= {ITEM, CONDITION} and (SENTENCE in names or bool(_numbers(names))) and "label" not in names
    )


def sentence_column(columns: Sequence[str]) -> str:
    """The column that the sentences of such a file come from, as it is spelled there."""
    spelled = {normalize_name(name): name for name in columns}
    return next(spelled[name] for name in ("items", "conditions", f"{REGION}1", SENTENCE, *spelled) if name in spelled)


def as_sentences(table: Table, *, skip_bad_rows: bool) -> Table:
    """Such a file with a row for each sentence, and the columns ITEM, CONDITION, SENTENCE, regions and FIELDS.

    The regions of a suite are joined as SyntaxGym joins them, by a space, where the sentence is written with spaces;
    an empty region stands nowhere. Rows of a suite are numbered as its sentences come. Raises InputError: another
    metric than the sum, a suite that is not as published, two columns of one meaning, more regions than the cells of a
    file may be, a formula that cannot be read or names what is not there, and rows without an item, a condition or a
    sentence or with a condition twice, all listed (with `skip_bad_rows` left out).
    """
    columns = _columns(table)
    said: Mapping[str, tuple[str, str]] | None = None
    if suites.is_suite(columns):
        table, said = _unpacked(table, columns)
    else:
        table = _cut(table, columns)
    table = _usable(table, skip_bad_rows=skip_bad_rows)
    frame = table.frame if said is None else _with_said(table.frame, said)
    for _, of_suite in frame.groupby(SUITE, sort=False):
        _check_predictions(table.name, of_suite)
    n_items = len(frame.drop_duplicates([SUITE, ITEM]))
    read_as = Message(
        "{n_items} in several conditions: {frame}.", n_items=count(n_items, "item"), frame=count(len(frame), "sentence")
    )
    notices = (*table.notices, read_as, *_incomplete(frame))
    return replace(table, frame=frame, notices=notices, json_text="")


def regions_of(originals: Sequence[str]) -> list[list[tuple[int, Span]]]:
    """The regions of each sentence: its numbers with their characters; none for a sentence that is one region.

    originals: rows of `as_sentences`, as `MinimalPairs.originals` has them.
    """
    return [_placed(_contents(texts_of_row(original)))[1] if original else [] for original in originals]


def items_of(sources: Sequence[str], fields: Mapping[str, Sequence[str]]) -> list[list[int]]:
    """The positions of the sentences of each item, from the columns of a dataset."""
    items: dict[tuple[str, ...], list[int]] = {}
    for position, item in enumerate(zip(sources, fields[SUITE], fields[ITEM], strict=True)):
        items.setdefault(item, []).append(position)
    return list(items.values())


def predictions_in(texts: Iterable[str]) -> tuple[str, ...]:
    """The formulas of the column PREDICTION, each once: one in a line."""
    return tuple(
        dict.fromkeys(line.strip() for text in dict.fromkeys(texts) for line in text.splitlines() if line.strip())
    )


def named_regions(text: str) -> dict[int, str]:
    """The names of regions by number: a line of REGION_NAMES each, its number first.

    >>> named_regions("1 Subject\\n3 Verb phrase\\n4")
    {1: 'Subject', 3: 'Verb phrase', 4: ''}
    """
    lines = [line.partition(" ") for line in text.splitlines()]
    return {int(number): name.strip() for number, _, name in lines if suites.is_number(number)}


def _columns(table: Table) -> dict[str, str]:
    """The columns as they are spelled, by their normalised names."""
    columns: dict[str, str] = {}
    for name in map(str, table.frame.columns):
        normalized = normalize_name(name)
        first = columns.setdefault(normalized, name)
        if first != name and (normalized in (*FIELDS, SENTENCE) or _REGION.fullmatch(normalized)):
            raise InputError(
                Message(
                    "{name}: the columns {first!r} and {name_!r} are both read as {normalized!r}. "
                    "Rename or remove one of them.",
                    name=table.name,
                    first=first,
                    name_=name,
                    normalized=normalized,
                )
            )
    return columns


def _numbers(names: Iterable[str]) -> list[int]:
    return sorted(int(match[1]) for name in names if (match := _REGION.fullmatch(name)))


def _contents(row: Mapping[str, str]) -> dict[int, str]:
    """The texts of a row's regions by number."""
    return {
        int(match[1]): text.strip() for name, text in row.items() if (match := _REGION.fullmatch(normalize_name(name)))
    }


def _placed(contents: Mapping[int, str]) -> tuple[str, list[tuple[int, Span]]]:
    """The sentence of regions, and where each that is not empty stands in it."""
    filled = [(number, contents[number]) for number in sorted(contents) if contents[number]]
    between = " " if uses_spaces("".join(content for _, content in filled)) else ""
    start, spans = 0, []
    for number, content in filled:
        spans.append((number, (start, start + len(content))))
        start += len(content) + len(between)
    return between.join(content for _, content in filled), spans


def _cut(table: Table, columns: Mapping[str, str]) -> Table:
    """A table of sentences with its columns under their own names, and a sentence made of the regions."""
    numbers = _numbers(columns)
    named = {
        columns[name]: name
        for name in (
            SUITE,
            ITEM,
            CONDITION,
            SENTENCE,
            PREDICTION,
            REGION_NAMES,
            *(f"{REGION}{number}" for number in numbers),
        )
        if name in columns
    }
    if PREDICTION not in columns and "predictions" in columns:
        named[columns["predictions"]] = PREDICTION
    frame = table.frame.rename(columns=named)
    for name in FIELDS:
        if name not in frame:
            frame = frame.assign(**{name: pd.Series("", index=frame.index, dtype="str")})
        frame[name] = frame[name].str.strip()
    notices: tuple[str, ...] = ()
    if numbers:
        # Every region up to the last will be a row of each sentence; the file's own columns are counted already.
        current_meter().count_cells(len(frame) * max(0, max(numbers) - len(columns)), table.name)
        cells = frame[[f"{REGION}{number}" for number in numbers]].itertuples(index=False, name=None)
        texts = [_placed(dict(zip(numbers, map(str.strip, row), strict=True)))[0] for row in cells]
        if SENTENCE in frame:
            others = [
                int(number)
                for number, given, joined in zip(frame.index, frame[SENTENCE], texts, strict=True)
                if given.strip() not in ("", joined)
            ]
            notices = rows.row_notice(others, OTHER_SENTENCE, OTHER_SENTENCE)
        frame = frame.assign(**{SENTENCE: pd.Series(texts, index=frame.index, dtype="str")})
    return replace(table, frame=frame, notices=(*table.notices, *notices))


def _usable(table: Table, *, skip_bad_rows: bool) -> Table:
    frame = table.frame
    bad = [
        BadRow(int(number), Message("'{name}' is empty{number}", name=name, number=_place(frame.loc[number])))
        for name in (ITEM, CONDITION, SENTENCE)
        for number in frame.index[frame[name].str.strip() == ""]
    ]
    known = {row.row for row in bad}
    # Sentences without a suite are of the suite that is named as the file.
    of_suite = frame[SUITE].where(frame[SUITE] != "", table.name)
    again = frame.index[frame[[ITEM, CONDITION]].assign(of_suite=of_suite).duplicated()]
    bad += [
        BadRow(
            int(number),
            Message(
                "item {ITEM!r} has the condition {CONDITION!r} twice",
                ITEM=frame.loc[number, ITEM],
                CONDITION=frame.loc[number, CONDITION],
            ),
        )
        for number in again
        if number not in known
    ]
    unique = {row.row: row for row in reversed(bad)}
    return rows.without_rows(
        table, [unique[number] for number in sorted(unique)], UNUSABLE, skip_bad_rows=skip_bad_rows
    )


def _place(row: pd.Series) -> str:
    """What of the row says which it is; of a suite nobody has numbered the sentences."""
    known = ", ".join(f"{name} {row[name]!r}" for name in (ITEM, CONDITION) if row[name])
    return f" ({known})" if known else ""


def _unpacked(table: Table, columns: Mapping[str, str]) -> tuple[Table, dict[str, tuple[str, str]]]:
    """The sentences of suites, a row each, numbered on; and by suite what goes into PREDICTION and REGION_NAMES."""
    sentences: list[suites.Sentence] = []
    formulas: dict[str, list[str]] = {}
    region_names: dict[str, str] = {}
    for number, row in zip(table.frame.index, table.frame.to_dict("records"), strict=True):
        where = Message("{name}, row {number}", name=table.name, number=number) if len(table.frame) > 1 else table.name
        suite = suites.read(where, {name: str(row[spelled]) for name, spelled in columns.items()})
        sentences += suite.sentences
        formulas.setdefault(suite.name, []).extend(suite.formulas)
        if suite.region_names:
            region_names[suite.name] = "\n".join(
                f"{number} {text}".strip() for number, text in sorted(suite.region_names.items())
            )
    if not sentences:
        raise InputError(Message("{name} has no items.", name=table.name))
    n_regions = max(max(sentence.regions, default=0) for sentence in sentences)
    current_meter().count_cells(len(sentences) * n_regions, table.name)
    frame = pd.DataFrame(
        {
            SUITE: [sentence.suite for sentence in sentences],
            ITEM: [sentence.item for sentence in sentences],
            CONDITION: [sentence.condition for sentence in sentences],
            SENTENCE: [_placed(sentence.regions)[0] for sentence in sentences],
            **{
                f"{REGION}{number}": [sentence.regions.get(number, "") for sentence in sentences]
                for number in range(1, n_regions + 1)
            },
        },
        index=pd.Index(range(1, len(sentences) + 1), name="row"),
        dtype="str",
    )
    said = {
        name: ("\n".join(predictions_in(of_suite)), region_names.get(name, "")) for name, of_suite in formulas.items()
    }
    # Rows that were left out have the numbers of the file, not those of the sentences.
    return replace(
        table, frame=frame, left_out=(), notices=(*table.notices, *rows.left_out_notice(table.left_out))
    ), said


def _with_said(frame: pd.DataFrame, said: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """The sentences with what is said of their suite, once: in the row of its first sentence."""
    firsts = [
        ("", "") if is_known else said[suite]
        for suite, is_known in zip(frame[SUITE], frame.duplicated(SUITE), strict=True)
    ]
    return frame.assign(
        **{
            name: pd.Series([texts[place] for texts in firsts], index=frame.index, dtype="str")
            for place, name in enumerate((PREDICTION, REGION_NAMES))
        }
    )


def _check_predictions(name: str, of_suite: pd.DataFrame) -> None:
    """Raises InputError where a formula cannot be read, or names a condition or a region that no sentence has."""
    filled = {number for number in _numbers(map(str, of_suite.columns)) if (of_suite[f"{REGION}{number}"] != "").any()}
    check_regions(
        name,
        predictions_in(of_suite[PREDICTION]),
        set(of_suite[CONDITION]),
        filled | set(named_regions("\n".join(of_suite[REGION_NAMES].unique()))),
    )


def check_number(name: str, formulas: Sequence[str]) -> None:
    """Raises InputError for more formulas than a suite may have."""
    if len(formulas) > MOST_PREDICTIONS:
        raise InputError(
            Message(
                "{name}: there are {formulas:,} predictions; at most {MOST_PREDICTIONS} are read of a suite.",
                name=name,
                formulas=len(formulas),
                MOST_PREDICTIONS=MOST_PREDICTIONS,
            )
        )


def check_regions(name: str, formulas: Sequence[str], conditions: set[str], regions: set[int]) -> None:
    """Raises InputError for a formula that cannot be read, or names another condition or region, and for too many."""
    check_number(name, formulas)
    for formula in formulas:
        if not parsed(formula).regions:
            raise InputError(
                Message(
                    "{name}: the prediction {formula!r} names no region, such as (2;%{conditions}%).",
                    name=name,
                    formula=formula,
                    conditions=min(conditions),
                )
            )
        for region, condition in parsed(formula).regions:
            if condition not in conditions:
                raise InputError(
                    Message(
                        "{name}: the prediction {formula!r} names the condition {condition!r}; there "
                        "are: {conditions}.",
                        name=name,
                        formula=formula,
                        condition=condition,
                        conditions=list_of(sorted(conditions)),
                    )
                )
            if region not in regions | {WHOLE_SENTENCE}:
                there = (
                    Message("1 to {regions}, and * for the whole sentence", regions=max(regions))
                    if regions
                    else Message("*, the whole sentence")
                )
                raise InputError(
                    Message(
                        "{name}: the prediction {formula!r} names region {region}; there are: {there}.",
                        name=name,
                        formula=formula,
                        region=region,
                        there=there,
                    )
                )


def _incomplete(frame: pd.DataFrame) -> tuple[str, ...]:
    """A notice of the items that lack a condition that others of their suite have."""
    lacking = []
    for _, of_suite in frame.groupby(SUITE, sort=False):
        n_conditions = of_suite[CONDITION].nunique()
        sizes = of_suite.groupby(ITEM, sort=False)[CONDITION].nunique()
        lacking += [str(item) for item in sizes.index[sizes < n_conditions]]
    if not lacking:
        return ()
    shown = list_of([*lacking[:20], *(["…"] if len(lacking) > 20 else [])])
    return (
        Message(
            "{lacking} without a sentence in every condition, not counted in predictions about what they "
            "lack: {shown}.",
            lacking=count(len(lacking), "item"),
            shown=shown,
        ),
    )
