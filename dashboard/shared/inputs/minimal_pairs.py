"""Uploaded files of minimal pairs as one dataset: the recognised layout, and a choice of the columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import streamlit as st

from dashboard.shared.inputs.columns import NO_COLUMN, role_label, role_name
from dashboard.shared.inputs.uploads import (
    encoding_popover,
    encoding_popover_of_unread,
    read_upload,
    reading_of,
    sheet_choice,
    sheet_choice_of_unread,
)
from dashboard.shared.wording import verbatim
from engine.datasets.formats.archives import SUFFIXES as ARCHIVES
from engine.datasets.formats.archives import is_archive, read_members
from engine.datasets.formats.bounds import metered
from engine.datasets.formats.columns import Role
from engine.datasets.formats.files import SUFFIXES, Table
from engine.datasets.formats.grid import unquoted
from engine.datasets.minimal_pairs.acquisition import is_norms, unpacked
from engine.datasets.minimal_pairs.files import has_sentences, read_pairs
from engine.datasets.minimal_pairs.forms import FORMS, TEXTS, recognised_form
from engine.datasets.minimal_pairs.kinds import kind_of
from engine.datasets.minimal_pairs.layouts import FORMATS, JUDGED
from engine.datasets.minimal_pairs.pairs import ROLES, MinimalPairs, from_table, guess_columns
from engine.datasets.minimal_pairs.texts import documents, is_document, read_rows
from engine.datasets.several import error_of, read_all
from engine.errors import InputError
from engine.messages.languages import mark, tr, tr_n, translated
from engine.messages.message import Message, list_of

KIND = "minimal-pairs"
RECOGNISED = mark("(as recognised in each file)")
HELP = mark(
    "One file, several at once, or a zip or tar of them. CSV, TSV, JSONL, Parquet or Excel; text in UTF-8, UTF-16, CP932 and "
    "others. Recognised as published: {formats}; of anything else it is chosen what a row is, and the columns. Sentences "
    "in several conditions: SyntaxGym's suites (JSON), or columns item, condition and sentence (or region_1, "
    "region_2, …), with a formula in the column prediction. Words with reading times: columns item and word (or context and "
    "word), and their times. Words to be learned: columns word and context, or BabyLM's two files. Running text: a column "
    "text, or a .txt file for each document."
)

Sources = tuple[tuple[str, bytes], ...]


def pair_files_input(kind: str, skip_bad_rows: bool = False) -> MinimalPairs | None:
    """Draws the uploader and the mapping; the pairs of all files, None while there are none. Raises InputError.

    skip_bad_rows: leave out rows that cannot be used.
    """
    types = [suffix.lstrip(".") for suffix in (*SUFFIXES, ".gz", *ARCHIVES)]
    about = tr(HELP, formats=translated(list_of((*FORMATS, *JUDGED))))
    uploads = st.file_uploader(
        tr("Files"),
        type=types,
        accept_multiple_files=True,
        key=f"{kind}-files",
        label_visibility="collapsed",
        help=about,
    )
    if not uploads:
        st.caption(about)
        return None
    ids, names = "-".join(upload.file_id for upload in uploads), [upload.name for upload in uploads]
    how: dict[str, Any] = {"skip_bad_rows": skip_bad_rows, **reading_of(kind, ids)}
    try:
        tables = read_upload(tables_of, ids, lambda: _contents(uploads), **how)
    except InputError:
        encoding_popover_of_unread(kind, ids, uploads)
        sheet_choice_of_unread(kind, ids, uploads)
        raise
    sheet_choice(kind, ids, [title for table in tables for title in table.sheets])
    of_words = [table for table in tables if not is_norms(table)]  # norms go with words in contexts
    columns = mapping_input(kind, f"{ids}{how['header']}", of_words or tables)
    encoding_popover(kind, ids, names, tables)
    if columns is None:
        return None
    dataset = read_upload(read_pairs, ids, lambda: _contents(uploads), columns=columns, **how)
    for note in layout_notes(dataset):
        st.caption(note)
    return dataset


def layout_notes(dataset: MinimalPairs) -> list[str]:
    """The layout of the files, the meaning of A and U in it, and the direction of writing, as Markdown."""
    files = Counter(dict(zip(dataset.sources, dataset.formats, strict=True)).values())
    parts = [
        tr_n("**{name}** ({n} file)", "**{name}** ({n:,} files)", n, name=verbatim(translated(name)))
        for name, n in files.items()
    ]
    read = tr(dataset.data_kind.read_as[dataset.n != 1], n=dataset.n, formats=translated(list_of(parts)))
    notes = [f":material/fact_check: {read}"]  # untranslated
    said = dict.fromkeys(kind_of((name,)).note for name in files)
    notes += [f":material/info: {tr(note)}" for note in said if note]  # untranslated
    if dataset.right_to_left:
        notes.append(":material/format_textdirection_r_to_l: " + tr("Written and shown from right to left."))
    return notes


def mapping_input(kind: str, files: str, tables: Sequence[Table]) -> dict[str, str | None] | None:
    """Draws a choice of what a row is, and of a column for each role; returns those that differ from the guess.

    None while a role has no column. `files` identifies the tables in widget keys. Files of several layouts share only
    "as recognised" and the columns that all of them have. Of data that are recognised as other than pairs the category
    alone can be chosen, until a row is said to be something else.
    """
    tables = [unpacked(table) for table in tables]
    recognised = {recognised_form(table).key for table in tables}
    common = [str(name) for name in tables[0].frame.columns if all(name in table.frame.columns for table in tables)]
    key = _only(recognised)
    own = [] if key in FORMS else [key]
    chosen_key = st.selectbox(
        tr("A row is"),
        [*own, *FORMS],
        index=0 if own else list(FORMS).index(key),
        key=f"{kind}-form-{files}",
        format_func=lambda name: tr(FORMS[name].title if name in FORMS else name),
    )
    guesses = [guess_columns(table) for table in tables]
    form = FORMS.get(chosen_key)
    if chosen_key == key and (form is None or form.has_category):
        roles = [role for role in ROLES if not (role.required and all(map(_is_one_column, guesses)))]
        return _roles_input(kind, files, roles, guesses, common, len(tables), is_told=True)
    roles = [*FORMS[chosen_key].roles, *(ROLES[2:] if FORMS[chosen_key].has_category else ())]
    guesses = [{**guess_columns(table), **FORMS[chosen_key].guess(table)} for table in tables]
    return _roles_input(kind, f"{files}{chosen_key}", roles, guesses, common, len(tables), is_told=False)


def _only(keys: set[str]) -> str:
    """The one form of all files, or RECOGNISED."""
    return next(iter(keys)) if len(keys) == 1 else RECOGNISED


def _roles_input(
    kind: str,
    files: str,
    roles: Sequence[Role],
    guesses: Sequence[Mapping[str, str | None]],
    common: Sequence[str],
    n_tables: int,
    *,
    is_told: bool,
) -> dict[str, str | None] | None:
    """Draws the choice of a column for each role; those that differ from the guess, or all where a file does not tell
    the form by itself.
    """
    chosen: dict[str, str | None] = {}
    with st.grid(len(roles), min_column_width=170, gap="small"):
        for role, required, description in roles:
            guess = agreed([file_guess[role] for file_guess in guesses])
            own = [guess] if guess and guess not in common else []
            options = [*own, *common] if required else [NO_COLUMN, *own, *common]
            default = options.index(guess or NO_COLUMN) if (guess or NO_COLUMN) in options else None
            name = st.selectbox(
                role_label(role, required),
                options,
                index=default,
                key=f"{kind}-column-{role}-{files}",
                format_func=_column,
                placeholder=tr("Choose a column"),
                help=verbatim(translated(description)),
            )
            if name is None:
                chosen[role] = None
            elif name != (guess or NO_COLUMN) or (required and not is_told and name != RECOGNISED):
                chosen[role] = None if name == NO_COLUMN else name
    missing = [role for role, required, _ in roles if required and role in chosen and chosen[role] is None]
    if missing:
        listed, names = translated(list_of(map(role_name, missing))), verbatim(translated(unquoted(common)))
        st.warning(
            tr("Choose a column for: {roles}. The files have no column in common.", roles=listed)
            if not common
            else tr("Choose a column for: {roles}. The file has: {names}.", roles=listed, names=names)
            if n_tables == 1
            else tr("Choose a column for: {roles}. The files all have: {names}.", roles=listed, names=names),
            icon=":material/help:",
        )
        return None
    return chosen


def _column(name: str) -> str:
    """A column in a choice: as the file has it, but for the entries that stand for none or for each file's own."""
    return tr(name) if name in (RECOGNISED, NO_COLUMN) else name


def _is_one_column(guess: Mapping[str, str | None]) -> bool:
    """Whether one column of a file, by its guess, is both sides.

    >>> _is_one_column({"acceptable": "sentence", "unacceptable": "sentence"})
    True
    """
    return guess["acceptable"] is not None and guess["acceptable"] == guess["unacceptable"]


def agreed(guesses: Sequence[str | None]) -> str | None:
    """The guess of all files, RECOGNISED where the guesses differ, None where a file has none.

    >>> agreed(["good", "good"]), agreed(["good", "sent_more"]), agreed(["good", None])
    ('good', '(as recognised in each file)', None)
    """
    distinct = set(guesses)
    if len(distinct) == 1:
        return guesses[0]
    return None if None in distinct else RECOGNISED


def tables_of(sources: Sequence[tuple[str, bytes | Path]], *, skip_bad_rows: bool = False, **how: str) -> list[Table]:
    """The tables in files and archives; of an archive those without two known sentence columns only if it has no other.

    A plain text file is a table of one document; those of an archive, where it has no other known table, one table.

    Raises InputError for files that cannot be read, and an archive without a table.
    """

    def of(source: tuple[str, bytes | Path]) -> list[Table]:
        name, content = source
        if is_archive(name):
            return _in_archive(name, content, skip_bad_rows, how)
        return [read_rows(content, name, has_sentences, from_table, skip_bad_rows=skip_bad_rows, **how)]

    with metered():  # all files together
        return [table for _, tables in read_all(sources, of) for table in tables]


def _in_archive(name: str, content: bytes | Path, skip_bad_rows: bool, how: Mapping[str, str]) -> list[Table]:
    known: list[Table] = []
    others: list[Table] = []
    texts: list[Table] = []
    unread: list[tuple[str, InputError]] = []
    for member, raw in read_members(content, name, suffixes=SUFFIXES):
        try:
            table = read_rows(raw, member, has_sentences, None, skip_bad_rows=skip_bad_rows, **how)
        except InputError as error:  # `read_pairs` tells of those that hold pairs
            unread.append((member, error))
            continue
        if is_document(table):
            texts.append(table)
            continue
        (known if has_sentences(table) else others).append(table)
    # Beside pairs a table of texts is something else, as a README is.
    known = [table for table in known if recognised_form(table) is not TEXTS] or known
    if not known and texts:
        return [documents(name, texts)]
    if not known and not others and unread:
        raise error_of(unread)
    if not known and not others:
        raise InputError(
            Message(
                "{name} holds no table. Files that can be read end in {SUFFIXES}.",
                name=PurePosixPath(name).name,
                SUFFIXES=translated(list_of(SUFFIXES)),
            )
        )
    return known or others


def _contents(uploads: Sequence[Any]) -> Sources:
    return tuple((upload.name, upload.getvalue()) for upload in uploads)
