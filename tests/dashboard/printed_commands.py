"""The command that a page prints, carried out over the page's own models, and the tables that the page exports."""

from __future__ import annotations

import io
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pandas as pd
from streamlit.testing.v1 import AppTest

from dashboard.shared.exports.signing import csv_bytes
from engine.__main__ import main


@dataclass
class Exported:
    """The tables and the signature of the last drawing."""

    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    signature: Mapping[str, Any] = field(default_factory=dict)

    def csv(self, name: str) -> pd.DataFrame:
        """A table as it is downloaded, without the column of its signature."""
        content = csv_bytes(self.tables[name], self.signature).decode("utf-8-sig")
        return as_texts(io.StringIO(content)).drop(columns="signature")


def as_texts(source: Any) -> pd.DataFrame:
    return pd.read_csv(source, dtype=str, keep_default_na=False)


def printed(app: AppTest) -> list[str]:
    return next(code.value for code in app.code if code.value.startswith("python")).splitlines()


def address(app: AppTest) -> dict[str, list[str]]:
    return {name: value if isinstance(value, list) else [value] for name, value in app.query_params.items()}


def linked(app: AppTest) -> dict[str, list[str]]:
    """The query of the link that the page offers to copy."""
    link = next(code.value for code in app.code if code.value.startswith(("http", "?")))
    return parse_qs(link.partition("?")[2])


def same(left: pd.DataFrame, right: pd.DataFrame) -> None:
    """Equal in every cell, whichever model comes first."""
    order = [name for name in ("model", "row", "side", "position") if name in left]
    first, second = (table.sort_values(order, kind="stable").reset_index(drop=True) for table in (left, right))
    pd.testing.assert_frame_equal(first, second)


def carried_out(app: AppTest, folder: Path) -> dict[str, pd.DataFrame]:
    """The tables that the command of a page writes, by name; of several commands one below the other."""
    written: dict[str, list[pd.DataFrame]] = {}
    for line in printed(app):
        program, option, module, *arguments = shlex.split(line)
        assert (program, option, module) == ("python", "-m", "engine")
        place = arguments.index("--out") + 1
        out = folder / arguments[place]
        arguments[place] = str(out)
        assert main(arguments) == 0
        for path in out.glob("*.csv"):
            written.setdefault(path.stem, []).append(as_texts(path))
    return {name: pd.concat(tables, ignore_index=True) for name, tables in written.items()}
