"""The command that a page prints, carried out over the page's own models, and the tables that the page exports."""

from __future__ import annotations

import io
import random
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pandas as pd
from streamlit.testing.v1 import AppTest

from dashboard.shared.exports.signing import csv_bytes
from engine.__main__ import main
from tests.support import page_visits
from tests.support.page_visits import words


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
    return parse_qs(link.partition("?")[2], keep_blank_values=True)


def numbers(app: AppTest) -> list[Any]:
    """What a reader sees of a result: tables, cards, texts, figures."""
    tables = [frame.value.to_csv(index=False) for frame in app.dataframe]
    texts = [element.value for elements in (app.markdown, app.caption, app.warning) for element in elements]
    return [
        tables,
        [(metric.label, metric.value) for metric in app.metric],
        texts,
        [chart.proto.spec for chart in app.get("plotly_chart")],
    ]


def agrees(app: AppTest, page: str, exported: Exported, command: Callable[[AppTest], dict[str, pd.DataFrame]]) -> None:
    """The printed command writes the tables of the page, and its link opens the same page in another session."""
    shown = {name: exported.csv(name) for name in exported.tables}
    signature, seen = exported.signature, numbers(app)
    written = command(app)
    for name, table in shown.items():
        if name in written or len(table):  # the command leaves out some tables that are empty
            same(written[name][list(table)], table)
    other = page_visits.visit(page, **linked(app))
    assert exported.signature == signature and numbers(other) == seen
    for name, table in shown.items():
        pd.testing.assert_frame_equal(exported.csv(name), table)
    assert linked(other) == linked(app) and printed(other) == printed(app) and "The link asks for" not in words(other)


def drawn_at_random(draws: random.Random, **values: Sequence[Any]) -> dict[str, Any]:
    """One of the values of each setting, half of the time that which comes first."""
    return {name: choices[0] if draws.random() < 0.5 else draws.choice(choices) for name, choices in values.items()}


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
