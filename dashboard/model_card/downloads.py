"""What leaves the page of a card: the report, the JSON, the README for the Hugging Face Hub, the commands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import pages
from dashboard.faces import FACES
from dashboard.model_card.choice import evaluation_title
from dashboard.model_card.sections import checks_table
from dashboard.model_card.tables import (
    length_heads,
    length_table,
    numbers_heads,
    numbers_table,
    others_heads,
    others_table,
)
from dashboard.shared.column_heads import heads
from dashboard.shared.exports.report import CITATIONS, Report, report_html
from dashboard.shared.exports.run_exports import data_download, printed_command
from dashboard.shared.exports.signing import digest
from dashboard.shared.exports.written_later import in_readers_language
from dashboard.shared.theme import shortened
from engine.commands.equivalent import card_line
from engine.evaluations.model_card.card import FILES, CardOfModel, CardRun
from engine.evaluations.model_card.files import readme, to_json_value
from engine.messages.languages import tr, translated
from engine.runs.storage.run_record import RunRecord


def tables(card: CardOfModel) -> dict[str, pd.DataFrame]:
    """The tables of a card that have rows, by name."""
    return {table.name: frame for table in FILES if len(frame := getattr(card, table.name))}


def card_downloads(card: CardOfModel, figures: Mapping[str, Any], commands: str) -> None:
    """Draw the buttons of the report, the JSON and the model card for the Hub."""
    name = digest(card.signature)
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            tr("Report (HTML)"),
            in_readers_language(lambda: report_html(_report(card, figures, commands))),
            file_name=f"model-card-{name}.html",
            mime="text/html",
            key="download-report",
            on_click="ignore",
            icon=":material/description:",
        )
        st.download_button(
            "card.json",  # untranslated
            lambda: json.dumps(to_json_value(card), indent=2, ensure_ascii=False),
            file_name=f"model-card-{name}.json",
            mime="application/json",
            key="download-card-json",
            on_click="ignore",
            icon=":material/data_object:",
        )
        st.download_button(
            "README.md",  # untranslated
            lambda: readme(card),
            file_name="README.md",
            mime="text/markdown",
            key="download-readme",
            on_click="ignore",
            icon=":material/id_card:",
            help=tr("A model card for the Hugging Face Hub: its metadata holds the numbers as a model-index."),
        )


def command_lines(model: str, runs: Sequence[RunRecord], parts: Sequence[CardRun]) -> str:
    """The command that makes the card of its stored runs, and those that give the numbers of each run anew."""
    lines = [
        printed_command(FACES[run.kind], run, part.result.signature, f"out/{run.kind}", _data(run.kind))
        for run, part in zip(runs, parts, strict=True)
    ]
    return "\n".join([card_line(model, [run.id for run in runs]), *filter(None, lines)])


def same_from_a_terminal(runs: Sequence[RunRecord], commands: str) -> None:
    """Draw, folded, the commands, and downloads of data that is neither a sample nor a file."""
    with st.popover(
        tr("The same from a terminal"), type="tertiary", icon=":material/terminal:", key="model-card-terminal"
    ):
        st.code(commands, language="bash", wrap_lines=True)
        st.caption(
            tr(
                "The first line makes this card of the stored runs, the others evaluate anew. Without `--run` "
                "`card` runs all evaluations of a model on the samples, with their default settings."
            )
        )
        for run in runs:
            data_download(FACES[run.kind], run, _data(run.kind))


def _report(card: CardOfModel, figures: Mapping[str, Any], commands: str) -> Report:
    readings = card.readings.drop(columns="run").assign(
        evaluation=[evaluation_title(kind) for kind in card.readings["evaluation"]]
    )
    shown = {
        tr("All numbers"): numbers_table(card).rename(columns=numbers_heads()),
        tr("Other models"): others_table(card).rename(columns=others_heads()),
        tr("Length bias"): length_table(card).rename(columns=length_heads()),
        tr("Readings"): readings.rename(columns=heads(readings.columns)),
        tr("Checks"): checks_table(card),
    }
    return Report(
        title=tr("Card of {model}", model=shortened(card.model, ())),
        papers=tuple(CITATIONS),
        question=tr(pages.card("model_card").question),
        made=datetime.now(UTC),
        signature=card.signature,
        figures=figures,
        tables={name: table for name, table in shown.items() if len(table)},
        notices=[translated(notice) for notice in card.notices],
        command=commands,
    )


def _data(kind: str) -> str:
    return f"{kind}-data.csv"
