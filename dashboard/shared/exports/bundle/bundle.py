"""Everything that a paper needs of a run in one zip: figures, tables, data, commands, methods, references. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import plotly.graph_objects as go

from dashboard.shared.comments.exported import CommentLine, comment_table
from dashboard.shared.exports.bundle.data import DataFile
from dashboard.shared.exports.bundle.methods import LANGUAGES, Methods
from dashboard.shared.exports.file_names import file_names
from dashboard.shared.exports.print.files import Drawing, figure_files
from dashboard.shared.exports.print.style import PrintStyle
from dashboard.shared.exports.signing import digest, signature_line
from dashboard.shared.exports.tables.formats import FORMATS, refusal, signature_json, table_file, zipped
from dashboard.shared.exports.tables.offered import OfferedTables
from engine.datasets.formats.delimited import csv_text
from engine.datasets.formats.formulas import escape_formulas
from engine.errors import InputError
from engine.messages.languages import mark, sentences, tr, translated

FIGURE_FORMATS, TABLE_FORMATS = ("pdf", "svg"), ("csv", "latex")
# What is to be completed by hand before a paper is printed.
INCOMPLETE = "novelbertscore"
RENUMBERED = mark(
    "Rows of the input that could not be used are not in it, so that its rows have other numbers than the "
    "column `row` of the tables; they are in the same order."
)


@dataclass(frozen=True)
class Bundle:
    """What goes into the zip. figures: by caption. command: in lines, over the file of `data`; "" for none.

    data and methods are None where the data of the run are no longer on the disk. is_renumbered: of the rows of `data`.
    dictionaries: the files, by path, of idf dictionaries that the command names; missing: those that are gone. scores:
    likewise of scores and vectors that were computed elsewhere. comments: those on the run, where they are asked for.
    """

    title: str
    question: str
    signature: Mapping[str, object]
    tables: OfferedTables
    figures: Mapping[str, go.Figure | Drawing]
    style: PrintStyle
    command: str = ""
    data: DataFile | None = None
    is_renumbered: bool = False
    dictionaries: Mapping[str, bytes] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    scores: Mapping[str, bytes] = field(default_factory=dict)
    methods: Methods | None = None
    comments: Sequence[CommentLine] = ()


def bundle(contents: Bundle) -> bytes:
    """The zip. The same contents give the same bytes: no file has a date.

    A table that cannot be printed and a figure that cannot be drawn are left out, and the README says which and why.
    """
    files: dict[str, bytes] = {}
    drawn: list[str] = []
    tabulated: list[str] = []
    for caption, name in file_names(contents.figures).items():
        path, shown = f"figures/{name}", translated(caption)
        written, reason = _drawn(contents, caption, path)
        files |= written
        drawn.append(
            f"- `{path}.pdf`, `{path}.svg`: {shown}"
            if written
            else f"- {tr('{what}: left out. {reason}', what=shown, reason=reason)}"
        )
    for name in contents.tables:
        written, reasons = _tabulated(contents, name)
        files |= written
        meaning = contents.tables.declaration(name).meaning
        tabulated += [f"- {', '.join(f'`{path}`' for path in written)}: {translated(meaning)}"] if written else []
        tabulated += [f"- {tr('Not as LaTeX: {reason}', reason=reason)}" for reason in reasons]
    if contents.data is not None:
        files[f"data/{contents.data.name}"] = contents.data.content
    files |= {**contents.dictionaries, **contents.scores}
    if contents.command:
        files["commands.sh"] = (
            f"#!/bin/sh\n# Computes the numbers of this bundle anew, from its own folder.\nset -e\n{contents.command}\n"
        ).encode()
    if contents.methods is not None:
        for language in LANGUAGES:
            files[f"methods.{language}.md"] = contents.methods.markdown(language).encode()
            files[f"methods.{language}.tex"] = contents.methods.latex(language).encode()
        files["references.bib"] = contents.methods.bibtex().encode()
    if contents.comments:
        files["comments.csv"] = csv_text(escape_formulas(comment_table(contents.comments))).encode("utf-8-sig")
    files["signature.json"] = signature_json(contents.signature)
    return zipped({"README.md": _readme(contents, {tr("Figures"): drawn, tr("Tables"): tabulated}).encode(), **files})


def data_path(data: DataFile) -> str:
    """Where the data lie in the zip, as the command names them."""
    return f"data/{data.name}"


def _drawn(contents: Bundle, caption: str, path: str) -> tuple[dict[str, bytes], str]:
    """The files of a figure, or none and why."""
    try:
        figure = contents.figures[caption]
        written = figure_files(figure, FIGURE_FORMATS, contents.style, contents.signature, translated(caption))
        return {f"{path}.{kind}": content for kind, content in written.items()}, ""
    except InputError as error:
        return {}, str(error)


def _tabulated(contents: Bundle, name: str) -> tuple[dict[str, bytes], list[str]]:
    """The files of a table, and why it lacks one."""
    files, reasons = {}, []
    for kind in TABLE_FORMATS:
        if reason := refusal(contents.tables, name, kind):
            reasons.append(reason)
        else:
            files[f"tables/{name}.{FORMATS[kind].suffix}"] = table_file(contents.tables, name, kind, contents.signature)
    return files, reasons


def _readme(contents: Bundle, parts: Mapping[str, list[str]]) -> str:
    lines = [
        f"# {contents.title}",
        "",
        contents.question,
        "",
        tr(
            "Signature {digest}: {signature}",
            digest=digest(contents.signature),
            signature=signature_line(contents.signature),
        ),
        "",
    ]
    for title, listed in parts.items():
        lines += [f"## {title}", "", *(listed or [tr("None.")]), ""]
    lines += [
        tr(
            "In LaTeX: {figure}, which has its width already, and {table}, with the packages that its first line names.",
            figure="`\\includegraphics{figures/….pdf}`",
            table="`\\input{tables/….tex}`",
        ),
        "",
        f"## {tr('Everything else')}",
        "",
    ]
    if contents.data is not None:
        lines.append(
            f"- `{data_path(contents.data)}`: "
            + sentences(
                tr("the data, with every column of the input."), tr(RENUMBERED) if contents.is_renumbered else ""
            )
        )
    else:
        lines.append(
            f"- {tr('The data of the run are no longer on the server, so there is no paragraph on methods either.')}"
        )
    lines += [f"- `{path}`: {tr('an idf dictionary that the commands read.')}" for path in contents.dictionaries]
    lines += [
        f"- `{path}`: {tr('scores or vectors that were computed elsewhere, which the commands read.')}"
        for path in contents.scores
    ]
    lines += [
        f"- {tr('The idf dictionary `{choice}` is no longer on the server, and the commands need it.', choice=choice)}"
        for choice in contents.missing
    ]
    if contents.command:
        lines.append(f"- `commands.sh`: {tr('the commands that compute these numbers.')}")
    if contents.methods is not None:
        paragraphs = ", ".join(f"`methods.{language}.{kind}`" for language in LANGUAGES for kind in ("md", "tex"))
        lines += [
            f"- {paragraphs}: "
            + tr(
                "a paragraph on the methods, in English and Japanese, in Markdown (citations as in Pandoc) and LaTeX."
            ),
            "- `references.bib`: "
            + tr(
                "the works that it cites. Check the entries of models: they name the page that a model is from, not a "
                "paper on it. They are written with {command}: load the package {url} or {hyperref}.",
                command="`\\url`",
                url="`url`",
                hyperref="`hyperref`",
            ),
        ]
        if f"{{{INCOMPLETE}," in contents.methods.bibtex():
            lines.append(f"- {tr('The entry `{entry}` describes its paper; complete it by hand.', entry=INCOMPLETE)}")
    if contents.comments:
        lines.append(f"- `comments.csv`: {tr('the comments on the run, with the names of their authors.')}")
    lines += [f"- `signature.json`: {tr('all that determines the numbers.')}", ""]
    return "\n".join(lines)
