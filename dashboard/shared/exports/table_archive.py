"""All tables of a result in one zip: a CSV for each, and the signature in full."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.exports.signing import csv_bytes, digest


def archive_download(tables: Mapping[str, pd.DataFrame], name: str, signature: Mapping[str, Any]) -> None:
    """A button that downloads the tables that have rows as `name`.zip, written when it is pressed."""
    st.download_button(
        f"{name}.zip", lambda: archive(tables, signature), file_name=f"{name}-{digest(signature)}.zip",
        mime="application/zip", key=f"download-{name}-zip", on_click="ignore", icon=":material/folder_zip:",
        help=", ".join(f"{table}.csv" for table, frame in tables.items() if len(frame)),
    )


def archive(tables: Mapping[str, pd.DataFrame], signature: Mapping[str, Any]) -> bytes:
    """The zip itself; every CSV as `signing.csv_bytes` makes it. The same tables give the same bytes."""
    files = {f"{name}.csv": csv_bytes(frame, signature) for name, frame in tables.items() if len(frame)}
    files["signature.json"] = json.dumps(signature, indent=2, ensure_ascii=False).encode()
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as target:
        for file, content in files.items():
            # A fixed date, so that the bytes do not depend on the time of the download.
            target.writestr(zipfile.ZipInfo(file, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return memory.getvalue()
