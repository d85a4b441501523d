"""The downloads of a page's tables: one popover with a format chosen once per session and a button for each table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from dashboard.shared.exports.signing import digest
from dashboard.shared.exports.tables.formats import FORMATS, archive, file_name, refusal, table_file
from dashboard.shared.exports.tables.offered import OfferedTables
from dashboard.shared.exports.written_later import in_readers_language
from dashboard.shared.wording import verbatim
from engine.messages.languages import mark, tr

KEY = "table-format"
FOR_PRINT = mark(
    "LaTeX and Markdown have significant digits, intervals beside their numbers, and bold only where a "
    "test says so; the columns of your file that have no role are left out. CSV, Parquet and Excel hold "
    "every column in full."
)


def table_downloads(tables: OfferedTables, signature: Mapping[str, Any]) -> None:
    """Draw the popover; a file is written when its button is pressed. A table without a file says why."""
    with st.popover(tr("Tables"), icon=":material/table:", key="table-downloads"):
        st.segmented_control(
            tr("Format of the tables"),
            list(FORMATS),
            format_func=lambda name: FORMATS[name].name,
            default=next(iter(FORMATS)),
            required=True,
            key=KEY,
            persist_state="session",
            help=tr(FOR_PRINT),
        )
        chosen = str(st.session_state.get(KEY) or next(iter(FORMATS)))
        refusals = {name: refusal(tables, name, chosen) for name in tables}
        for name in tables:
            if not refusals[name]:
                st.download_button(
                    f"{name}.{FORMATS[chosen].suffix}",
                    in_readers_language(partial(table_file, tables, name, chosen, signature)),
                    file_name=file_name(name, chosen, signature),
                    mime=FORMATS[chosen].mime,
                    key=f"download-{name}",
                    on_click="ignore",
                    icon=":material/download:",
                    type="tertiary",
                )
        if len(tables) - len(list(filter(None, refusals.values()))) > 1:
            st.download_button(
                "tables.zip",  # untranslated
                in_readers_language(partial(archive, tables, chosen, signature)),
                file_name=f"tables-{digest(signature)}.zip",
                mime="application/zip",
                key="download-tables-zip",
                on_click="ignore",
                icon=":material/folder_zip:",
                help=tr("All tables that have rows, in this format, and the signature."),
            )
        for reason in filter(None, refusals.values()):
            st.caption(f":material/block: {verbatim(reason)}")  # untranslated
