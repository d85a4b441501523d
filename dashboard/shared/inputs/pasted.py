"""Pasted rows as a table, with the columns that they are taken for."""

from __future__ import annotations

from hashlib import sha256
from types import ModuleType
from typing import Any

from dashboard.shared.inputs.uploads import read_upload
from engine.datasets.formats.columns import guess
from engine.datasets.formats.files import Table, paste_table
from engine.datasets.pasted import read_pasted
from engine.datasets.reader_process import SMALL_TEXT_BYTES
from engine.messages.languages import tr


def pasted_table(text: str, skip_bad_rows: bool, module: ModuleType) -> tuple[Table, str]:
    """Pasted lines as a table, and what tells them from others; a long text is read as an uploaded file is.

    Raises InputError.
    """
    content, roles = text.encode("utf-8", "surrogatepass"), tuple(pasted_roles(text, module))
    text_id = sha256(content).hexdigest()
    how: dict[str, Any] = {"skip_bad_rows": skip_bad_rows, "judge": module.from_table}
    if len(content) <= SMALL_TEXT_BYTES:
        return paste_table(text, roles, **how), text_id
    name = tr("Pasted text")
    return read_upload(read_pasted, text_id, lambda: content, name=name, columns=roles, **how), text_id


def pasted_roles(text: str, module: ModuleType) -> list[str]:
    """The roles of the columns of pasted lines; only the required ones where a header line names these and others."""
    first = next(line for line in text.splitlines() if line.strip())
    required_roles = [role for role, required, _ in module.ROLES if required]
    separator = "\t" if "\t" in first else ","
    if hasattr(module, "MULTI_COLUMN_ROLES") and all(guess(first.split(separator), required_roles).values()):
        return required_roles
    return [role for role, *_ in module.ROLES][: _fields(text, module)]


def _fields(text: str, module: ModuleType) -> int:
    """The number of roles in the pasted lines, counted in the first line: optional ones may be left out at the end."""
    first = next(line for line in text.splitlines() if line.strip())
    n_fields = first.count("\t" if "\t" in first else ",") + 1
    n_required = sum(1 for _, required, _ in module.ROLES if required)
    return min(max(n_fields, n_required), len(module.ROLES))
