"""`python -m docs.generate`: write the sections of the documents that the code declares.

A section stands between two markers; its name, with what it is about, in the first:

    <!-- generated: options clusters -->
    <!-- end -->

`make docs` writes them all; a test compares them with what is written here.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from dashboard.pages import SECTIONS as PAGES
from docs.licences import copyleft, licences
from engine.__main__ import ALIASES, COMMANDS
from engine.commands.shared.options import OptionRow, option_rows
from engine.datasets import sentence_pairs
from engine.datasets.formats.columns import NAMES, Role
from engine.datasets.labelled import domain_sentences, labelled_sentences
from engine.datasets.masked import masked_sentences
from engine.datasets.minimal_pairs import forms, layouts, pairs
from engine.datasets.scores import files as score_files
from engine.datasets.vectors import files as vector_files
from engine.evaluations.agreement.directories import FILES as AGREEMENT
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.comparison.records import FILES as COMPARISON
from engine.evaluations.minimal_pairs.prompts.templates import BUILT_IN
from engine.evaluations.model_card.card import FILES as CARD
from engine.evaluations.model_map.evaluate import FILES as MODEL_MAP
from engine.evaluations.shared.declared_tables import Table
from engine.measures.cards.catalog import CARDS
from engine.models.sources.hub.families import FAMILIES, GROUPS
from engine.models.sources.paper_cards import PAPER_CARDS
from engine.models.sources.recipes import description
from engine.runs.operation.contents import CONTENTS
from engine.version import FIRST_VERSION

ROOT = Path(__file__).parents[1]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
SECTION = re.compile(r"(<!-- generated: (?P<name>[^>]+?) -->\n).*?(<!-- end -->\n)", re.DOTALL)
CHOICES = re.compile(r" \{.*?\}")
# The tables of each command that writes some.
TABLES: Mapping[str, Sequence[Table]] = {
    **{kind: evaluation.tables for kind, evaluation in EVALUATIONS.items()},
    "agreement": AGREEMENT,
    "compare": COMPARISON,
    "card": CARD,
    "model-map": MODEL_MAP,
}
DATASETS: Mapping[str, Sequence[Role]] = {
    module.KIND: module.ROLES
    for module in (labelled_sentences, masked_sentences, domain_sentences, sentence_pairs, pairs)
}


def rendered(document: str) -> str:
    """A document with its sections as the code declares them. Raises KeyError for a section that there is not."""
    return SECTION.sub(lambda match: f"{match[1]}{section(match['name'])}\n{match[3]}", document)


def section(name: str) -> str:
    """The Markdown of one section, such as "options clusters"."""
    kind, _, subject = name.partition(" ")
    return SUBJECTS[kind](subject)


def option_groups(command: str) -> Iterator[tuple[str, list[OptionRow]]]:
    """The options of a command in their order: those of no group, then each group with what its heading says."""
    parser = argparse.ArgumentParser(add_help=False)
    COMMANDS[command].add_arguments(parser)
    shown = [id(action) for action in parser._actions if action.help != argparse.SUPPRESS]
    rows = dict(zip(shown, option_rows(COMMANDS[command].add_arguments), strict=True))
    groups = parser._action_groups[2:]  # after argparse's own two
    grouped = {id(action) for group in groups for action in group._group_actions}
    yield "", [row for action, row in rows.items() if action not in grouped]
    for group in groups:
        heading = f"{(group.title or '')[:1].upper()}{(group.title or '')[1:]}"
        yield (
            f"**{heading}.** {group.description or ''}".strip(),
            [rows[id(action)] for action in group._group_actions if id(action) in rows],
        )


def main() -> None:
    """Write the documents."""
    for path in DOCUMENTS:
        before = path.read_text(encoding="utf-8")
        after = rendered(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(path.relative_to(ROOT))


def _options(command: str) -> str:
    return "\n\n".join(
        part for heading, rows in option_groups(command) for part in (heading, _option_table(rows)) if part
    )


def _option_table(rows: Iterable[OptionRow]) -> str:
    # The choices that argparse shows after a flag are the allowed values.
    return _table(
        ("Option", "Allowed values", "Default", "Meaning"),
        (
            (
                f"`{CHOICES.sub('', row.flag)}`",
                f"{row.allowed} {f'({row.unit})' if row.unit else ''}".strip(),
                row.default,
                _meaning(row),
            )
            for row in rows
        ),
    )


def _meaning(row: OptionRow) -> str:
    """The help of an option, or of the setting that it switches off."""
    return f"Switches off: {row.help}" if row.flag.startswith("--no-") and row.default == "on" else row.help


def _commands(_: str) -> str:
    return _table(
        ("Command", "Other name", "What it does"),
        (
            (
                f"[`{name}`](#{_anchor(name)})",
                f"`{ALIASES[name]}`" if name in ALIASES else "",
                (module.__doc__ or "").strip().splitlines()[0].partition(": ")[2],
            )
            for name, module in COMMANDS.items()
        ),
    )


def _anchor(command: str) -> str:
    return f"{command}-{ALIASES[command]}" if command in ALIASES else command


def _tables(kind: str) -> str:
    return "\n\n".join(
        f"### {kind}: {table.name}.csv\n\n{_about(table)}\n\n{_columns_of(table)}" for table in TABLES[kind]
    )


def _about(table: Table) -> str:
    notes = ["Written only where it has rows."] if table.only_with_rows else []
    notes += (
        [f"The first {table.promised} columns are the command line's contract and stay in this order."]
        if table.promised
        else []
    )
    return " ".join([table.meaning, *notes])


def _columns_of(table: Table) -> str:
    header = ("Column", "Type", "Unit", "Better", "Meaning", "Since")
    shown = len(header) - all(column.since == FIRST_VERSION for column in table.columns)
    return _table(header[:shown], ((f"`{name}`", *facts)[:shown] for name, *facts in table.rows()))


def _measure(key: str) -> str:
    card = CARDS[key]
    better = {"lower": "lower is better", "higher": "higher is better", "neither": "neither end is better"}[card.better]
    return "\n".join(
        (
            f"### {card.name}",
            "",
            card.question,
            "",
            f"- Symbol: {card.symbol}",
            f"- Formula: `{card.formula}`",
            f"- Range: {card.range}" + (f"; unit: {card.unit}" if card.unit else "") + f"; {better}",
            f"- Source: {card.source}",
        )
    )


def _columns(kind: str) -> str:
    return _table(
        ("Role", "Required", "What it holds", "Recognised names"),
        (
            (
                f"`{role.name}`",
                "yes" if role.required else "",
                role.description,
                ", ".join(f"`{name}`" for name in NAMES[role.name]),
            )
            for role in DATASETS[kind]
        ),
    )


def _layouts(_: str) -> str:
    return _table(
        ("Benchmark", "Acceptable", "Unacceptable", "Sorted by", "Must have too", "Published at"),
        (
            (
                form.name,
                f"`{form.acceptable}`",
                f"`{form.unacceptable}`",
                ", ".join(f"`{name}`" for name in form.fields),
                ", ".join(f"`{name}`" for name in form.marks),
                form.source,
            )
            for form in layouts.FORMATS.values()
        ),
    )


def _forms(_: str) -> str:
    return _table(
        ("A row is", "Role", "What it holds", "Names that are offered"),
        (
            (
                form.title if role is form.roles[0] else "",
                f"`{role.name}`",
                role.description,
                ", ".join(f"`{name}`" for name in form.names[role.name]),
            )
            for form in forms.FORMS.values()
            for role in form.roles
        ),
    )


def _judged_layouts(_: str) -> str:
    return _table(
        ("Layout", "Sentence", "Judgement", "Must have too", "Published at"),
        (
            (
                form.name,
                f"`{form.sentence}`",
                f"`{form.label}`",
                ", ".join(f"`{name}`" for name in form.marks),
                form.source,
            )
            for form in layouts.JUDGED.values()
        ),
    )


def _reading_layouts(_: str) -> str:
    return _table(
        ("Layout", "Columns", "Recognised by", "Published at"),
        (
            (
                form.name,
                ", ".join(f"`{name}` ({role})" for role, name in form.columns.items()),
                ", ".join(f"`{name}`" for name in form.marks),
                form.source,
            )
            for form in layouts.READING.values()
            if form.source
        ),
    )


def _options_layouts(_: str) -> str:
    return _table(
        ("Layout", "Sentences", "What it holds", "Must have too", "Published at"),
        (
            (
                form.name,
                f"`{form.sentences}`",
                form.holds,
                ", ".join(f"`{name}`" for name in form.marks),
                form.source,
            )
            for form in layouts.OPTIONS.values()
        ),
    )


def _score_forms(_: str) -> str:
    return _table(("Layout", "What it has"), score_files.FORMS.items())


def _vector_forms(_: str) -> str:
    return _table(("Layout", "What it has"), vector_files.FORMS.items())


def _prompts(_: str) -> str:
    return _table(
        ("Prompts", "Template", "Score", "Text, ⏎ a new line"),
        (
            (f"`{language}`", str(number), template.score, f"{template.text}{template.cue}".replace("\n", " ⏎ "))
            for language, templates in BUILT_IN.items()
            for number, template in enumerate(templates, 1)
        ),
    )


def _paper_models(_: str) -> str:
    return _table(
        ("Card", "In the papers", "Tokens", "What it takes"),
        (
            (
                f"`{card.model_name}`",
                "; ".join(f"{label} ({paper})" for paper, label in card.labels),
                description(card.recipe) if card.recipe else "as its files say",
                card.needs or f"nothing: `{card.hub}` is downloaded",
            )
            for card in PAPER_CARDS.values()
        ),
    )


def _families(_: str) -> str:
    return _table(
        ("Family", "Models", "For example", "Read as"),
        (
            (family.name, GROUPS[family.group], f"`{family.example}`" if family.example else "", family.outcome)
            for family in FAMILIES
        ),
    )


def _data_directory(_: str) -> str:
    return _table(
        ("In the data directory", "What it holds", "Kept", "Seen by", "In a backup"),
        ((f"`{part.name}`", part.holds, part.kept, part.seen_by, part.backup) for part in CONTENTS),
    )


def _licences(use: str) -> str:
    return _table(
        ("Package", "Version", "Licence"), ((f"`{row.name}`", row.version, row.licence) for row in licences(use))
    )


def _copyleft(_: str) -> str:
    # Not all of these are pinned: no versions.
    return _table(("Package", "Licence"), ((f"`{row.name}`", row.licence) for row in copyleft()))


def _pages(_: str) -> str:
    return _table(
        ("Page", "Question"), ((f"**{page.title}**", page.question) for pages in PAGES.values() for page in pages)
    )


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


SUBJECTS: Mapping[str, Callable[[str], str]] = {
    "options": _options,
    "tables": _tables,
    "commands": _commands,
    "measure": _measure,
    "columns": _columns,
    "layouts": _layouts,
    "judged-layouts": _judged_layouts,
    "options-layouts": _options_layouts,
    "reading-layouts": _reading_layouts,
    "score-forms": _score_forms,
    "vector-forms": _vector_forms,
    "forms": _forms,
    "prompts": _prompts,
    "paper-models": _paper_models,
    "families": _families,
    "pages": _pages,
    "data-directory": _data_directory,
    "licences": _licences,
    "copyleft": _copyleft,
}

if __name__ == "__main__":
    main()
