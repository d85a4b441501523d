"""The columns of a file and what each is for: the roles of a dataset, and the choice of a column for each of them."""

from __future__ import annotations

from types import ModuleType

import streamlit as st

from dashboard.shared.wording import verbatim
from engine.datasets.formats import files
from engine.datasets.formats.grid import unquoted
from engine.messages.languages import mark, tr, translated
from engine.messages.message import list_of

NO_COLUMN = mark("(none)")
ROLES = {
    "text": mark("text"),
    "label": mark("label"),
    "domain": mark("domain"),
    "category": mark("category"),
    "reference": mark("reference"),
    "candidate": mark("candidate"),
    "human": mark("human"),
    "more_references": mark("more references"),
    "acceptable": mark("acceptable"),
    "unacceptable": mark("unacceptable"),
    "first": mark("first sentence"),
    "second": mark("second sentence"),
    "answer": mark("which is acceptable"),
    "options": mark("list of sentences"),
    "item": mark("item"),
    "sentence": mark("sentence"),
    "condition": mark("condition"),
    "region": mark("region"),
    "content": mark("words of the region"),
    "word": mark("word"),
    "time": mark("reading time"),
    "position": mark("position"),
    "context": mark("context"),
    "frequency": mark("frequency"),
    "length": mark("length"),
    "aoa": mark("age of acquisition"),
}


def role_name(role: str) -> str:
    """What a column is for, in the reader's language."""
    return tr(ROLES[role])


def role_label(role: str, required: bool) -> str:
    """The label of the choice of a column: the role, and whether it may be left out."""
    name = role_name(role).capitalize()
    return name if required else tr("{role} (optional)", role=name)


def field_list(module: ModuleType) -> str:
    """The roles of a dataset in a line."""
    return translated(
        list_of(
            role_name(role) if required else tr("{role} (optional)", role=role_name(role))
            for role, required, _ in module.ROLES
        )
    )


def column_choice(
    kind: str, file_id: str, module: ModuleType, table: files.Table
) -> dict[str, str | tuple[str, ...] | None] | None:
    """Draw the choice of the column for each role, with a guess as default; None while a required one is missing."""
    guessed = module.guess_columns(table)
    names = [str(name) for name in table.frame.columns]
    chosen: dict[str, str | tuple[str, ...] | None] = {}
    for slot, (role, required, description) in zip(st.columns(len(module.ROLES)), module.ROLES, strict=True):
        guess = guessed.get(role)
        if role in getattr(module, "MULTI_COLUMN_ROLES", ()):  # any number of columns may play it
            chosen[role] = tuple(
                slot.multiselect(
                    role_label(role, required),
                    names,
                    default=guess or (),
                    key=f"{kind}-column-{role}-{file_id}",
                    placeholder=tr("None"),
                    help=verbatim(translated(description)),
                )
            )
            continue
        # A guess may be two columns to be joined, which is not a column of the file.
        choices = [*names, *([guess] if guess and guess not in names else [])]
        options = choices if required else [NO_COLUMN, *choices]
        name = slot.selectbox(
            role_label(role, required),
            options,
            format_func=column_name,
            index=options.index(guess) if guess in options else (None if required else 0),
            key=f"{kind}-column-{role}-{file_id}",
            placeholder=tr("Choose a column"),
            help=verbatim(translated(description)),
        )
        chosen[role] = None if name == NO_COLUMN else name
    missing = [role for role, required, _ in module.ROLES if required and chosen[role] is None]
    if missing:
        roles = translated(list_of(map(role_name, missing)))
        st.warning(
            tr(
                "Choose a column for: {roles}. The file has: {names}.",
                roles=roles,
                names=verbatim(translated(unquoted(names))),
            ),
            icon=":material/help:",
        )
        return None
    return chosen


def column_name(name: str) -> str:
    """A column in a choice: as the file has it, but for the entry that stands for none."""
    return tr(NO_COLUMN) if name == NO_COLUMN else name
