"""The downloads of a page: tables, the signature, and a run as a whole."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.shared import session
from dashboard.shared.comments.exported import CommentLine, comment_lines
from dashboard.shared.exports.bundle.bundle import Bundle, bundle, data_path
from dashboard.shared.exports.bundle.data import DATA, data_file, is_renumbered
from dashboard.shared.exports.bundle.dictionaries import with_dictionaries
from dashboard.shared.exports.bundle.methods import methods
from dashboard.shared.exports.command_data import CommandData, command_data
from dashboard.shared.exports.figure_downloads import LazyFigures, print_style
from dashboard.shared.exports.live import LiveView
from dashboard.shared.exports.print.files import Drawing
from dashboard.shared.exports.print.style import PrintStyle
from dashboard.shared.exports.report import Report, report_html
from dashboard.shared.exports.signing import csv_bytes, digest, signature_line
from dashboard.shared.exports.site import collected
from dashboard.shared.exports.tables.downloads import table_downloads
from dashboard.shared.exports.tables.formats import archive
from dashboard.shared.exports.tables.offered import OfferedTables
from dashboard.shared.exports.written_later import in_readers_language
from dashboard.shared.face import AnyFace
from dashboard.shared.headlines import run_title
from dashboard.shared.theme import with_shown_models
from dashboard.shared.wording import verbatim
from engine.commands.equivalent import command_line
from engine.datasets.formats.files import Reading
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.scores.export import score_files, score_options
from engine.datasets.vectors.export import vector_files, vector_options
from engine.errors import EngineError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared.declared_tables import Table
from engine.evaluations.shared.left_out import EXCLUDED, NO_MODEL, SIGNED
from engine.messages.languages import mark, tr, translated
from engine.runs.comments.access import CommentAccess
from engine.runs.computing import SAMPLES_ID
from engine.runs.storage.run_record import RunRecord

BUNDLE = mark(
    "Figures (PDF, SVG), tables (LaTeX, CSV), data, commands, and a paragraph on the methods with its "
    "references, in English and Japanese. Figures look as chosen under Figures."
)
LONGEST_VALUE = 120  # characters of a setting in the signature's line, such as a list of readings


def offered_tables(
    view: RunRecord | None, tables: Mapping[str, pd.DataFrame], declared: Sequence[Table] = ()
) -> OfferedTables:
    """The tables of a page with their declarations, and where they are of a run with the columns of its input."""
    if view is None or view.kind not in EVALUATIONS:
        return OfferedTables(tables, declared)
    return OfferedTables(tables, declared or EVALUATIONS[view.kind].tables, partial(session.access().dataset, view.id))


def downloads(tables: OfferedTables, signature: Mapping[str, Any]) -> None:
    """The tables in the format of the session, in a popover, and beside it the signature that they carry."""
    table_downloads(tables, signature)
    st.download_button(
        "signature.json",  # untranslated
        lambda: json.dumps(dict(signature), indent=2, ensure_ascii=False),
        file_name=f"signature-{digest(signature)}.json",
        mime="application/json",
        key="download-signature",
        on_click="ignore",
        icon=":material/download:",
    )


def signature_in_full(signature: Mapping[str, Any]) -> None:
    """Draw the signature in a line, and in a popover all of it."""
    st.caption(f":small[{verbatim(signature_line(signature, LONGEST_VALUE))}]")  # untranslated
    with st.popover(tr("Signature in full"), type="tertiary", icon=":material/fingerprint:", key="signature"):
        about = tr("All that determines these numbers. The same signature gives the same numbers again.")
        st.markdown(f":small[{about}]")  # untranslated
        st.code(json.dumps(signature, indent=2, ensure_ascii=False), language="json")


def csv_download(frame: pd.DataFrame, name: str, signature: Mapping[str, Any]) -> None:
    """A button that downloads `frame` as CSV for Excel (UTF-8 with BOM), written when it is pressed.

    A last column and the file's name carry the signature's digest; the companion file holds it in full.
    """
    st.download_button(
        f"{name}.csv",  # untranslated
        lambda: csv_bytes(frame, signature),
        file_name=f"{name}-{digest(signature)}.csv",
        mime="text/csv",
        key=f"download-{name}",
        on_click="ignore",
        icon=":material/download:",
    )


def export_popover(
    face: AnyFace,
    view: RunRecord,
    signature: Mapping[str, Any],
    tables: OfferedTables,
    figures: Mapping[str, go.Figure],
    settings: Sequence[Any] | None = None,
    further: Sequence[Any] = (),
    drawings: Mapping[str, Drawing] = MappingProxyType({}),
    result: Any = None,
    found: str = "",
    live: Callable[[], Sequence[LiveView]] = tuple,
) -> None:
    """A popover: the run as one HTML file, all that a paper needs as a zip, and the command that does the same.

    settings: those that give what is shown, a command for each; None for the settings of the run. further: records of
    the options that every command has beside its settings. drawings: figures for print alone. result: that of the run.
    found: the finding of what is shown. live: makes the components of the page that work in a file.
    """
    options = [*_reading(signature), *further]
    command = _command(face, view, settings, options)
    question = face.question(result)
    report = partial(_report, face, view, signature, tables, figures, command, found, live, question=question)
    if collected.is_collecting():
        csv = partial(archive, tables, "csv", signature)
        collected.collect(collected.Collected(view, report(), csv))
    with st.popover(tr("Export"), icon=":material/ios_share:", key="export"):
        talk = _talk(view)
        st.caption(
            tr(
                "A standalone page with the interactive figures, the tables, the signature and the papers; it "
                "needs no network."
            )
        )
        st.download_button(
            tr("Report (HTML)"),
            in_readers_language(lambda: report_html(report(talk()))),
            file_name=f"{view.kind}-{digest(signature)}.html",
            mime="text/html",
            key="download-report",
            on_click="ignore",
            icon=":material/description:",
        )
        if face.paragraph is not None:
            makers = {**_lazily(figures), **_lazily(drawings)}
            st.download_button(
                tr("Paper bundle (zip)"),
                in_readers_language(
                    partial(
                        paper_bundle,
                        face,
                        view,
                        signature,
                        tables,
                        makers,
                        print_style(),
                        _shown(view, settings),
                        options,
                        talk,
                        question,
                    )
                ),
                file_name=f"{view.kind}-paper-{digest(signature)}.zip",
                mime="application/zip",
                key="download-bundle",
                on_click="ignore",
                icon=":material/folder_zip:",
                help=tr(BUNDLE),
            )
        for name, content in (face.as_others(result) if result is not None else {}).items():
            st.download_button(
                f"{name} (zip)",  # untranslated
                content,
                file_name=f"{view.kind}-{name}-{digest(signature)}.zip",
                mime="application/zip",
                key=f"download-{name}",
                on_click="ignore",
                icon=":material/output:",
                help=tr("The files that this software writes itself, of every model of the run."),
            )
        if command:
            st.caption(tr("The same from a terminal:"))
            st.code(command, language="bash", wrap_lines=True)
            data_download(face, view)


def _talk(run: RunRecord) -> Callable[[], Sequence[CommentLine]]:
    """What gives the comments that report and bundle have: none unless they are asked for, as they name their authors."""
    if run.owner == SAMPLES_ID or not st.checkbox(
        tr("With comments"),
        key="export-comments",
        help=tr("In the report and in the paper bundle, with the names of their authors."),
    ):
        return tuple
    return partial(comment_lines, CommentAccess(session.access()), run.id)


def paper_bundle(
    face: AnyFace,
    view: RunRecord,
    signature: Mapping[str, Any],
    tables: OfferedTables,
    makers: Mapping[str, Callable[[], Any]],
    style: PrintStyle,
    settings: Sequence[Any],
    options: Sequence[Any],
    talk: Callable[[], Sequence[CommentLine]] = tuple,
    question: str = "",
) -> bytes:
    """The zip for a paper, of what is shown; without data and methods where the data are gone.

    makers: of the figures by caption. settings, options: of the commands. talk: gives the comments on the run.
    question: of the data, where it is not that of the page.
    """
    dataset = tables.dataset
    data = data_file(dataset) if dataset is not None else None
    carried = with_dictionaries([*settings, *options])
    scores = score_files(dataset) if isinstance(dataset, MinimalPairs) else {}
    vectors = vector_files(dataset) if isinstance(dataset, LabelledSentences) else {}
    n_excluded = int((tables[EXCLUDED]["model"] != NO_MODEL).sum()) if EXCLUDED in tables else 0
    return bundle(
        Bundle(
            title=run_title(view),
            question=tr(question or face.page.question),
            signature=signature,
            tables=tables,
            style=style,
            figures=LazyFigures(makers),
            data=data,
            is_renumbered=dataset is not None and is_renumbered(dataset),
            command=_command(
                face,
                view,
                carried.records[: len(settings)],
                carried.records[len(settings) :],
                data=CommandData(
                    (data_path(data),),
                    (*data.columns, *score_options(scores, "data/"), *vector_options(vectors, "data/")),
                )
                if data
                else None,
            ),
            dictionaries=carried.files,
            scores={f"data/{path}": content for path, (_, content) in (scores | vectors).items()},
            missing=carried.missing,
            comments=talk(),
            methods=None
            if dataset is None or face.paragraph is None
            else methods(
                face.paragraph,
                signature,
                view.dataset_name,
                len(dataset),
                n_excluded,
                items=face.paragraph.items_of(dataset) if face.paragraph.items_of else "",
                several_references=bool(getattr(dataset, "more_references", ())),
            ),
        )
    )


def _lazily(figures: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
    return {caption: partial(figures.__getitem__, caption) for caption in figures}


def _shown(view: RunRecord, settings: Sequence[Any] | None) -> Sequence[Any]:
    """The settings that give what is shown, by default those of the run; none where they are of another version."""
    try:
        return settings or [session.access().settings(view.id)]
    except EngineError:
        return []


def printed_command(face: AnyFace, view: RunRecord, signature: Mapping[str, Any], out: str, data: str) -> str:
    """The command that gives a run with its own settings; data: the name of its data where they have none."""
    return _command(face, view, None, _reading(signature), [out], command_data(face, view, data))


def _reading(signature: Mapping[str, Any]) -> list[Reading]:
    """How the command reads the data, where that is not as by default."""
    return [Reading(skip_bad_rows=True)] if signature.get(SIGNED) else []


def _report(
    face: AnyFace,
    view: RunRecord,
    signature: Mapping[str, Any],
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, go.Figure],
    command: str,
    found: str,
    live: Callable[[], Sequence[LiveView]],
    talk: Sequence[CommentLine] = (),
    question: str = "",
) -> Report:
    return Report(
        title=run_title(view),
        papers=face.papers,
        question=tr(question or face.page.question),
        made=datetime.now(UTC),
        found=translated(found),
        signature=signature,
        figures=figures,
        tables={name: with_shown_models(table) for name, table in tables.items()},
        notices=[translated(notice) for notice in view.dataset_notices],
        note=view.note,
        comments=talk,
        command=command,
        live=live(),
    )


def _command(
    face: AnyFace,
    view: RunRecord,
    settings: Sequence[Any] | None,
    further: Sequence[Any],
    folders: Sequence[str] = (),
    data: CommandData | None = None,
) -> str:
    """A command for each of the settings, by default for those of the run, in lines; "" where there is none.

    data: what they have for --data, by default what the run's data are for a terminal.
    """
    shown = _shown(view, settings)
    folders = folders or (["out"] if len(shown) == 1 else [f"out/{number}" for number in range(1, len(shown) + 1)])
    if face.corpus is not None:
        return "\n".join(filter(None, (face.corpus.command(view, of_command) for of_command in shown)))
    data = data or command_data(face, view)
    lines = [
        command_line(view.kind, of_command, data.files, folder, further, data.options)
        for of_command, folder in zip(shown, folders, strict=True)
    ]
    return "\n".join(line for line in lines if line)


def data_download(face: AnyFace, view: RunRecord, name: str = DATA) -> None:
    """A button for the data of the command, called `name`, where they were neither a sample nor a file."""
    if face.corpus is not None:
        face.corpus.download(view)
    elif (data := command_data(face, view, name)).is_download:
        (file_name,) = data.files
        mime = mimetypes.guess_type(file_name)[0] or "application/octet-stream"
        st.download_button(
            file_name,
            lambda: data_file(session.access().dataset(view.id)).content,
            file_name=file_name,
            mime=mime,
            key=f"download-{name}",
            on_click="ignore",
            icon=":material/download:",
            help=tr("The data that the command reads."),
        )
