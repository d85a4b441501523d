"""Minimal pairs of several files and archives as one dataset: BLiMP's 67 files one by one, together or as a zip."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from engine.datasets import rows
from engine.datasets.formats.archives import is_archive, read_members
from engine.datasets.formats.bounds import metered
from engine.datasets.formats.columns import JOIN, normalize_name
from engine.datasets.formats.files import SUFFIXES, Table
from engine.datasets.formats.grid import quoted
from engine.datasets.minimal_pairs import acquisition
from engine.datasets.minimal_pairs.forms import SIDES, chosen_form
from engine.datasets.minimal_pairs.kinds import ACQUISITION, KINDS, READING, TEXTS
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table, guess_columns
from engine.datasets.minimal_pairs.texts import documents, is_document, read_rows
from engine.datasets.several import error_of, read_all
from engine.datasets.text_column import TextColumn, concatenated
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.messages.message import Message, list_of, together

FILES_IN_NOTICE = 5
_NUMBERED = re.compile(r"(\d+) files are numbered on: ")
_OF_NORMS = re.compile(r"The ages at which children learn words are from (.+): [\d,]+ of ")
FIRST_ROW, MORE = Message("{label} from row {row:,}"), Message("…")

UNREAD = Message("{files} of {name} that cannot be read left out: {names}.")
APART = Message("Words with reading times or in contexts are left out here, for a run of their own: {names}.")

Columns = Mapping[str, str | None]


def read_pairs(
    sources: Sequence[tuple[str, bytes | Path]],
    columns: Columns | None = None,
    *,
    skip_bad_rows: bool = False,
    **how: str,
) -> MinimalPairs:
    """The pairs of files (name, content), as one dataset; of archives and folders, the files in them.

    `columns` (role to column) overrides the guess, in every file; `how`: encoding, sheet, header and quoting of all
    files, as `read_table` takes them. A plain text file that holds no table is a document. Files of an
    archive in which no two sentence columns are found (a README, a table of results) are left out, with a notice; where
    there are none but plain text files, they are its documents.
    Raises InputError: no file, files that cannot be read or hold bad rows (with `skip_bad_rows` these are left out), all
    of them listed, an archive without minimal pairs.
    """

    norms: list[Table] = []

    def of(source: tuple[str, bytes | Path]) -> list[MinimalPairs]:
        name, content = source
        if is_archive(name) or (isinstance(content, Path) and content.is_dir()):
            return _in_archive(name, content, columns, skip_bad_rows, how, norms)
        judge, is_known = partial(from_table, columns=columns), partial(_is_of_pairs, columns=columns)
        table = read_rows(content, name, is_known, judge, skip_bad_rows=skip_bad_rows, **how)
        if acquisition.is_norms(table):
            norms.append(table)
            return []
        return [from_table(table, columns, skip_bad_rows=skip_bad_rows)]

    with metered():  # all files together
        found = list(chain.from_iterable(datasets for _, datasets in read_all(sources, of)))
        if norms and not found:
            raise InputError(acquisition.NOT_OF_WORDS.format(name=norms[0].name))
        return _with_norms(joined(found), norms)


def _with_norms(dataset: MinimalPairs, norms: Sequence[Table]) -> MinimalPairs:
    """Words in contexts with the ages at which children learn them, which a file of norms has; other data as they are.

    Raises InputError for norms beside other data.
    """
    if not norms:
        return dataset
    if dataset.data_kind is not ACQUISITION:
        raise InputError(acquisition.NOT_OF_WORDS.format(name=norms[0].name))
    words = dataset.fields[acquisition.WORD]
    ages, said = acquisition.ages_from(norms, words)
    own = dataset.fields[acquisition.AGE]
    found = tuple(known or ages.get(word, "") for word, known in zip(words, own, strict=True))
    fields = {**dataset.fields, acquisition.AGE: found}
    return replace(dataset, fields=fields, notices=(*dataset.notices, *said))


def joined(datasets: Sequence[MinimalPairs]) -> MinimalPairs:
    """Several datasets, such as the files of BLiMP, as one; a notice gives the row at which each begins.

    Rows are numbered across all datasets, so that no two pairs share a number; a field that a dataset lacks
    is "" there; files of the same name are numbered. Raises InputError for none, and for pairs together with single
    sentences, or data of any other two kinds.
    """
    if not datasets:
        raise InputError(Message("There are no minimal pairs to join. Give at least one file."))
    if len(datasets) == 1:
        return datasets[0]
    held = [
        Message(
            "{names} holds {what}",
            names=quoted([dataset.name for dataset in datasets if dataset.data_kind.holds == what]),
            what=what,
        )
        for what in dict.fromkeys(kind.holds for kind in KINDS.values())
        if any(dataset.data_kind.holds == what for dataset in datasets)
    ]
    if len(held) > 1:
        raise InputError(Message("{kinds}. Evaluate them in runs of their own.", kinds=together(", ", held)))
    numbers: list[int] = []
    left_out: list[BadRow] = []
    starts: list[int] = []
    for dataset in datasets:
        starts.append(max(max(numbers, default=0), max((bad.row for bad in left_out), default=0)))
        numbers += [starts[-1] + row for row in dataset.rows]
        left_out += [BadRow(starts[-1] + bad.row, bad.reason) for bad in dataset.left_out]
    labels = _unique_labels([dataset.name for dataset in datasets])

    def all_of(values: Callable[[MinimalPairs], Sequence[str]]) -> tuple[str, ...]:
        """A column of all datasets, "" where one does not have it; () where none has it."""
        column = tuple(chain.from_iterable(values(dataset) or ("",) * dataset.n for dataset in datasets))
        return column if any(column) else ()

    datasets = _with_one_spelling(datasets)
    names = dict.fromkeys(name for dataset in datasets for name in dataset.fields)
    return MinimalPairs(
        name=_name(labels),
        rows=tuple(numbers),
        acceptable=concatenated(dataset.acceptable for dataset in datasets),
        unacceptable=concatenated(dataset.unacceptable for dataset in datasets),
        categories=tuple(chain.from_iterable(dataset.categories for dataset in datasets)),
        fields={
            name: tuple(chain.from_iterable(dataset.fields.get(name, ("",) * dataset.n) for dataset in datasets))
            for name in names
        },
        sources=tuple(
            chain.from_iterable((label,) * dataset.n for label, dataset in zip(labels, datasets, strict=True))
        ),
        formats=all_of(lambda dataset: dataset.formats),
        file_formats=all_of(lambda dataset: dataset.file_formats),
        originals=_joined_originals(datasets),
        left_out=tuple(left_out),
        notices=(
            _numbering(labels, starts),
            *_repeats_between_files(datasets, numbers),
            *(
                Message("In {label}: {notice}", label=label, notice=notice)
                for label, dataset in zip(labels, datasets, strict=True)
                for notice in dataset.notices
            ),
        ),
    )


def _joined_originals(datasets: Sequence[MinimalPairs]) -> Sequence[str]:
    """The files' own rows of all datasets, "" where one has none; () where none has any."""
    if not any(dataset.originals for dataset in datasets):
        return ()
    return TextColumn.of(chain.from_iterable(dataset.originals or ("",) * dataset.n for dataset in datasets))


def _with_one_spelling(datasets: Sequence[MinimalPairs]) -> list[MinimalPairs]:
    """The datasets with fields whose names differ only in case under one name, the first; two of one file stay two."""
    spelling: dict[str, str] = {}
    for dataset in datasets:
        for name in dataset.fields:
            spelling.setdefault(normalize_name(name), name)
    spelled = []
    for dataset in datasets:
        n_alike = Counter(map(normalize_name, dataset.fields))
        spelled.append(
            replace(
                dataset,
                fields={
                    spelling[normalize_name(name)] if n_alike[normalize_name(name)] == 1 else name: values
                    for name, values in dataset.fields.items()
                },
            )
        )
    return spelled


def file_names(name: str, notices: Sequence[str]) -> tuple[str, ...]:
    """The files of a dataset of this name and with these notices, as `joined` makes them; () where not all are named.

    Those of words in contexts are followed by the files of norms that their ages are from.

    >>> file_names("a.csv + b.csv", ["2 files are numbered on: a.csv from row 1, b.csv from row 3."])
    ('a.csv', 'b.csv')
    >>> file_names("a.csv + b.csv", [])
    ('a.csv + b.csv',)
    """
    numbering = [match for notice in notices if (match := _NUMBERED.match(notice))]
    norms = tuple(dict.fromkeys(match[1] for notice in notices if (match := _OF_NORMS.match(notice))))
    if not numbering:
        return (name, *norms)
    parts = tuple(name.split(JOIN))
    return (*parts, *norms) if len(parts) == int(numbering[0][1]) else ()


def _in_archive(
    name: str,
    content: bytes | Path,
    columns: Columns | None,
    skip_bad_rows: bool,
    how: Mapping[str, str],
    norms: list[Table],
) -> list[MinimalPairs]:
    left_out: list[str] = []
    own_norms: list[Table] = []
    texts: list[Table] = []
    unread: list[tuple[str, InputError]] = []

    def of(source: tuple[str, bytes]) -> MinimalPairs | None:
        member, raw = source
        judge = partial(from_table, columns=columns)
        try:
            table = read_rows(raw, member, has_sentences, None, skip_bad_rows=skip_bad_rows, **how)
        except InputError as error:
            if _holds_pairs_beside(error, raw, member, columns, how):
                # Its other rows may be bad, too.
                read_rows(raw, member, has_sentences, judge, skip_bad_rows=skip_bad_rows, **how)
            unread.append((member, error))
            return None
        if acquisition.is_norms(table):
            own_norms.append(table)
        elif is_document(table):
            texts.append(table)
        elif _is_of_pairs(table, columns):
            return from_table(table, columns, skip_bad_rows=skip_bad_rows)
        else:
            left_out.append(member)
        return None

    read = read_all(read_members(content, name, suffixes=SUFFIXES), of)
    datasets = [dataset for _, dataset in read if dataset is not None]
    if not datasets and own_norms:
        norms += own_norms
        return []
    if others := [dataset for dataset in datasets if dataset.data_kind is not TEXTS]:
        left_out += [dataset.name for dataset in datasets if dataset.data_kind is TEXTS]
        datasets = others
    if not datasets and texts:
        datasets = [from_table(documents(name, texts), columns, skip_bad_rows=skip_bad_rows)]
    else:
        left_out += [table.name for table in texts]  # such as a README
    if not datasets and unread:
        raise error_of(unread)
    if not datasets:
        raise InputError(
            Message(
                "{name} holds no file with two sentence columns; looked at: {listed}. Files that can be "
                "read end in {SUFFIXES}.",
                name=name,
                listed=quoted(left_out) or Message("none"),
                SUFFIXES=list_of(SUFFIXES),
            )
        )
    apart = [dataset for dataset in datasets if dataset.data_kind in (READING, ACQUISITION)]
    if len(apart) in (0, len(datasets)):  # else they go with what is left out
        norms += own_norms
    if 0 < len(apart) < len(datasets):  # BabyLM's folder has them beside its pairs
        datasets = [dataset for dataset in datasets if dataset not in apart]
        notice = APART.format(names=_listed([dataset.name for dataset in apart]))
        datasets[0] = replace(datasets[0], notices=(notice, *datasets[0].notices))
    if left_out:
        notice = Message(
            "{left_out} of {name} without two sentence columns left out: {names}.",
            left_out=count(len(left_out), "file"),
            name=name,
            names=_listed(left_out),
        )
        datasets[0] = replace(datasets[0], notices=(notice, *datasets[0].notices))
    if unread:
        notice = UNREAD.format(
            files=count(len(unread), "file"), name=name, names=_listed([member for member, _ in unread])
        )
        datasets[0] = replace(datasets[0], notices=(notice, *datasets[0].notices))
    return datasets


def _holds_pairs_beside(
    error: InputError, raw: bytes, member: str, columns: Columns | None, how: Mapping[str, str]
) -> bool:
    """Whether a file of an archive that cannot be read for the rows of the error holds pairs in its other rows."""
    if not error.rows:
        return False
    try:
        return _is_of_pairs(read_rows(raw, member, has_sentences, None, skip_bad_rows=True, **how), columns)
    except InputError:  # no row can be read
        return False


def _is_of_pairs(table: Table, columns: Columns | None) -> bool:
    guessed = {**guess_columns(table), **{role: column for role, column in (columns or {}).items() if column}}
    return all(guessed[role] for role in SIDES) or _is_told(table, columns or {})


def has_sentences(table: Table) -> bool:
    """Whether the columns of the sentences are known by their names, without being told."""
    guessed = guess_columns(table)
    return all(guessed[role] for role in SIDES)


def _is_told(table: Table, columns: Columns) -> bool:
    """Whether chosen columns say another form than pairs, and the table has them."""
    names = set(map(str, table.frame.columns))
    parts = [part for column in columns.values() if column for part in column.split(JOIN)]
    return chosen_form(table, columns) is not None and names.issuperset(parts)


def _unique_labels(names: Sequence[str]) -> list[str]:
    """The names, with a number after each repeated one."""
    seen: Counter[str] = Counter()
    labels = []
    for name in names:
        seen[name] += 1
        labels.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return labels


def _name(labels: Sequence[str]) -> str:
    if len(labels) <= FILES_IN_NOTICE:
        return JOIN.join(labels)
    return f"{labels[0]}{JOIN}{len(labels) - 1} files"


def _numbering(labels: Sequence[str], starts: Sequence[int]) -> str:
    begins = [
        FIRST_ROW.format(label=label, row=start + 1)
        for label, start in list(zip(labels, starts, strict=True))[:FILES_IN_NOTICE]
    ]
    shown = together(", ", [*begins, *([MORE] if len(labels) > FILES_IN_NOTICE else [])])
    return Message("{labels} files are numbered on: {begins}.", labels=len(labels), begins=shown)  # for _NUMBERED


def _listed(names: Sequence[str]) -> str:
    return list_of([*names[:FILES_IN_NOTICE], *(["…"] if len(names) > FILES_IN_NOTICE else [])])


def _repeats_between_files(datasets: Sequence[MinimalPairs], numbers: Sequence[int]) -> tuple[str, ...]:
    """A notice of the pairs that occur in an earlier file; each file has its own notice of repeats within it."""
    repeated = datasets[0].data_kind.repeated
    if repeated is None:
        return ()
    pairs = [
        (index, pair)
        for index, dataset in enumerate(datasets)
        for pair in zip(dataset.acceptable, dataset.unacceptable, strict=True)
    ]
    first: dict[tuple[str, str], int] = {}
    again = [
        number for number, (index, pair) in zip(numbers, pairs, strict=True) if first.setdefault(pair, index) != index
    ]
    return rows.row_notice(again, *repeated)
