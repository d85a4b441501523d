"""The catalogues of Japanese texts, brought up to date with the code: python -m docs.catalogues [folder …]

Every text that a reader may see is an entry of the `ja.po` of its folder: what `tr`, `tr_n`, `mark` and `Message` are
called with, in the engine what is declared of options, columns and measures, and what a command's docstring says of it.
New texts get an empty translation, texts that are gone leave the
file, what is translated stays. Without a folder all are brought up to date; the entries without a translation are
counted, and the texts of the dashboard that are in no catalogue are listed.
"""

from __future__ import annotations

import ast
import io
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from engine.language import quantities
from engine.messages.catalogues import JAPANESE, PACKAGES, ROOT, catalogue_files, places, read_catalogue

MESSAGE = "Message"
CALLS = {"tr": 1, "mark": 1, "tr_n": 2, MESSAGE: 1, "named": 1}  # how many of their first arguments are texts
# In the engine: declarations, with those of their arguments, by position and by name, that a reader sees.
DECLARATIONS: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "option": ((1,), ("help", "choices", "unit", "unset")),
    "Choice": ((2,), ("meaning",)),
    "Option": ((0,), ("help", "choices", "unit", "unset")),
    "Column": ((2, 3), ("meaning", "unit")),
    "measured": ((2,), ("meaning",)),
    "replace": ((), ("meaning", "unit", "help", "choices", "unset")),
    "PaperTable": ((1, 7), ("title", "note")),
    "MeasureCard": ((1, 5, 7, 8, 9), ("name", "unit", "question", "source", "undefined")),
}
# Declarations of the engine whose other texts are words of the pages, where their catalogue holds them.
OF_PAGES = ROOT / "dashboard" / "shared"
LABELS = {"Choice": ((1, 3), ("label", "phrase"))}
NAMES = {"Column", "measured"}  # of columns: those that a page has another word for
FORMULAS = {"MeasureCard": (3, 4)}  # arguments that are texts where there are words in them
NAMED = "Statement"  # a sentence of a paper bundle by its name, which each language has words for
COMMANDS = ROOT / "engine" / "commands"
# Arguments that a reader sees, even if they are a single word.
SHOWN_KEYWORDS = {
    "label",
    "help",
    "placeholder",
    "title",
    "caption",
    "text",
    "name",
    "subtitle",
    "alt",
    "ylabel",
    "xlabel",
}
SHOWN_CALLS = {
    "button",
    "caption",
    "checkbox",
    "dataframe",
    "download_button",
    "error",
    "expander",
    "header",
    "info",
    "link_button",
    "markdown",
    "metric",
    "multiselect",
    "number_input",
    "page_link",
    "pills",
    "popover",
    "radio",
    "segmented_control",
    "selectbox",
    "slider",
    "spinner",
    "status",
    "subheader",
    "success",
    "tabs",
    "text_area",
    "text_input",
    "title",
    "toast",
    "toggle",
    "warning",
    "write",
    "dialog",
    "file_uploader",
    "TextColumn",
    "NumberColumn",
    "Column",
    "CheckboxColumn",
    "ProgressColumn",
    "ListColumn",
}
WORD = re.compile(r"[A-Za-z]{3,}")
LETTER = re.compile(r"[A-Za-z]")
_PLACE = re.compile(r"\{[^{}]*\}")
UNTRANSLATED = "# untranslated"  # at the end of a line: its texts are no words for a reader
SENTENCE = re.compile(r"[A-Za-z]{2,}[,;:.)]* +[(“A-Za-z{]")  # two words


@dataclass(frozen=True)
class Text:
    """A text of the code: where it stands, itself, and its form for many (of `tr_n`)."""

    path: Path
    line: int
    text: str
    many: str = ""
    optional: bool = False  # no text that must be translated


def folder_of(path: Path) -> Path:
    """The folder whose catalogue holds the texts of a file: a package's folder, or the package itself."""
    parts = path.relative_to(ROOT).parts
    return ROOT.joinpath(*parts[: 2 if len(parts) > 2 else 1])


def texts_of(path: Path) -> list[Text]:
    """The texts of a file that a reader may see."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = list(_called(path, tree))
    if path.relative_to(ROOT).parts[0] == "dashboard":
        return called
    counted = (
        [Text(path, 1, text) for noun in quantities.NOUNS for text in quantities.templates(noun)]
        if path == Path(quantities.__file__)
        else []
    )
    return [*_summary(path, tree), *called, *_declared(path, tree), *counted]


def words_of_pages(path: Path) -> Iterator[Text]:
    """What pages call the choices and the columns that a file of the engine declares."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        positions, names = LABELS.get(_name(node.func), ((), ()))
        for argument in (
            *(node.args[at] for at in positions if at < len(node.args)),
            *(keyword.value for keyword in node.keywords if keyword.arg in names),
        ):
            if WORD.search(text := _literal(argument) or ""):
                yield Text(path, node.lineno, text)
        if _name(node.func) in NAMES:
            yield from (
                Text(path, node.lineno, name.replace("_", " "), optional=True)
                for argument in node.args[:2]
                if (name := _literal(argument))
            )


def _summary(path: Path, tree: ast.Module) -> Iterator[Text]:
    """What a command does, as its help says: the first line of its docstring, after the colon."""
    first = (ast.get_docstring(tree) or "").partition("\n")[0]
    if path.parent == COMMANDS and first.startswith("`python -m engine "):
        yield Text(path, 1, first.partition(": ")[2])


def _called(path: Path, tree: ast.AST) -> Iterator[Text]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (n := CALLS.get(_name(node.func))):
            literals = [text for argument in node.args[:1] if (text := _literal(argument)) is not None]
            if _name(node.func) == MESSAGE:  # "{model}: {notice}" is the same in every language
                literals = [text for text in literals if not places(text) or LETTER.search(_PLACE.sub("", text))]
            if n == 2 and len(literals) == 1 and (many := _literal(node.args[1])) is not None:
                yield Text(path, node.lineno, literals[0], many)
            elif n == 1:
                yield from (Text(path, node.lineno, text) for text in literals)
                yield from (
                    Text(path, node.lineno, text) for argument in node.args[:1] for text in _alternatives(argument)
                )


def _alternatives(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        for branch in (node.body, node.orelse):
            text = _literal(branch)
            yield from _alternatives(branch) if text is None else (text,)


def _declared(path: Path, tree: ast.AST) -> Iterator[Text]:
    """The texts of declarations that are no messages; a single word is one as well."""
    seen = _arguments_of_calls(tree)
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and (declared := DECLARATIONS.get(_name(node.func)))):
            continue
        positions, names = declared
        formulas = FORMULAS.get(_name(node.func), ())
        arguments = [
            (node.args[at], SENTENCE if at in formulas else WORD)
            for at in sorted({*positions, *formulas})
            if at < len(node.args)
        ]
        arguments += [(keyword.value, WORD) for keyword in node.keywords if keyword.arg in names]
        for argument, words in arguments:
            if not isinstance(argument, ast.Tuple | ast.List | ast.Set):  # values to choose from, without words
                yield from (
                    Text(path, part.lineno, text)
                    for part in _within(argument, seen)
                    if (text := _literal(part)) is not None and words.search(text)
                )


def _within(node: ast.AST, seen: Collection[int]) -> Iterator[ast.expr]:
    """The literals in a part of the code that are in no other declaration or call of texts."""
    if (
        id(node) in seen
        or isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Call) and _name(node.func) in DECLARATIONS)
    ):
        return
    if isinstance(node, ast.Constant):
        yield node
    for child in _children(node):
        yield from _within(child, seen)


def _arguments_of_calls(tree: ast.AST) -> set[int]:
    return {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _name(node.func) in CALLS
        for argument in node.args
    }


def _sentences(path: Path, tree: ast.AST, held: Collection[int]) -> Iterator[Text]:
    """What reads like a sentence and is neither a docstring nor held."""

    def walk(node: ast.AST) -> Iterator[Text]:
        if id(node) in held:
            return
        if isinstance(node, ast.expr) and (text := template(node)) is not None:
            if SENTENCE.search(text):
                yield Text(path, node.lineno, text)
            for part in ast.walk(node):  # a sentence may hold another
                if isinstance(part, ast.FormattedValue):
                    yield from walk(part.value)
            return
        for child in _children(node):
            yield from walk(child)

    yield from walk(tree)


def _children(node: ast.AST) -> list[ast.AST]:
    """The parts of the code in which texts may stand: no docstrings, no keys of dictionaries."""
    if isinstance(node, ast.Dict):
        return list(node.values)
    if isinstance(node, ast.DictComp):
        return [node.value, *node.generators]
    if isinstance(node, ast.Subscript):
        return [node.value]
    body = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [child for child in body if not (isinstance(child, ast.Expr) and _literal(child.value) is not None)]
    return body


def bare_texts(path: Path) -> list[Text]:
    """The texts of a file of the dashboard that a reader may see and no catalogue holds."""
    source = path.read_text(encoding="utf-8")
    tree, lines = ast.parse(source), source.splitlines()
    held = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _name(node.func) in {*CALLS, NAMED}
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]
        for part in ast.walk(argument)
    }
    shown = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for argument in [
            *(node.args[:1] if _name(node.func) in SHOWN_CALLS else ()),
            *(keyword.value for keyword in node.keywords if keyword.arg in SHOWN_KEYWORDS),
        ]
    }
    bare = list(_sentences(path, tree, held))
    bare += [
        Text(path, node.lineno, text)
        for node in ast.walk(tree)
        if isinstance(node, ast.expr)
        and id(node) in shown - held
        and (text := template(node)) is not None
        and WORD.search(re.sub(r":material/\w+:|\{\w+\}|`[^`]*`", "", text))
    ]
    return sorted(
        {text for text in bare if not lines[text.line - 1].rstrip().endswith(UNTRANSLATED) and "<" not in text.text},
        key=lambda text: (text.line, text.text),
    )


def template(node: ast.expr) -> str | None:
    """A text or an f-string as a text with named places; None for anything else.

    >>> template(ast.parse('f"{len(rows):,} of {table.n_rows} rows in {name!r}"', mode="eval").body)
    '{rows} of {n_rows} rows in {name}'
    """
    if isinstance(node, ast.Constant):
        return node.value.replace("{", "{{").replace("}", "}}") if isinstance(node.value, str) else None
    if not isinstance(node, ast.JoinedStr):
        return None
    text, by_name = "", dict[str, str]()
    for part in node.values:
        if isinstance(part, ast.Constant):
            text += str(part.value).replace("{", "{{").replace("}", "}}")
        elif isinstance(part, ast.FormattedValue):
            source = ast.unparse(part.value)
            names = [
                each
                for each in re.findall(r"[A-Za-z_]\w*", re.sub(r"(['\"]).*?\1", "", source))
                if each not in ("self", "len", "count", "str", "join", "for", "in", "if", "else")
            ]
            name = names[-1] if names else "value"
            while by_name.get(name, source) != source:
                name += "_"
            by_name[name] = source
            text += "{" + name + "}"
    return text


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def all_texts(packages: Iterable[str] = PACKAGES) -> dict[Path, list[Text]]:
    """The texts of the code by the folder whose catalogue holds them."""
    by_folder: dict[Path, list[Text]] = {}
    for path in (path for package in packages for path in sorted((ROOT / package).rglob("*.py"))):
        if "migrations" not in path.parts:
            by_folder.setdefault(folder_of(path), []).extend(texts_of(path))
            if path.relative_to(ROOT).parts[0] == "engine":
                by_folder.setdefault(OF_PAGES, []).extend(words_of_pages(path))
    return {folder: texts for folder, texts in sorted(by_folder.items()) if texts}


def pages_files() -> list[Path]:
    """The files of the dashboard whose texts are translated; a bundle's paragraphs are written in each language."""
    return [path for path in sorted((ROOT / "dashboard").rglob("*.py")) if "bundle" not in path.parts]


def catalogue(texts: Iterable[Text], present: Catalog | None) -> Catalog:
    """The catalogue of some texts, with the translations of the present one."""
    catalogue = Catalog(locale=JAPANESE, fuzzy=False)
    for text in texts:
        identifier = (text.text, text.many) if text.many else text.text
        former = present.get(text.text) if present is not None else None
        empty: str | tuple[str, ...] = ("",) if text.many else ""
        translation = former.string if former is not None and bool(former.pluralizable) == bool(text.many) else empty
        if text.optional and not translation:
            continue
        catalogue.add(identifier, translation, user_comments=former.user_comments if former is not None else ())
    return catalogue


def written(catalogue: Catalog) -> str:
    """The file of a catalogue: its entries in the order of the code, nothing that changes by itself."""
    file = io.BytesIO()
    write_po(file, catalogue, width=116, omit_header=True, sort_by_file=False)
    return (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n"Language: ja\\n"\n'
        '"Plural-Forms: nplurals=1; plural=0;\\n"\n\n' + file.getvalue().decode("utf-8")
    )


def main(arguments: list[str]) -> int:
    """Bring the catalogues of some folders, or of all, up to date; say what has no translation yet."""
    chosen = {Path(argument).resolve() for argument in arguments}
    texts_by_folder, n_missing = all_texts(), 0
    for folder, texts in texts_by_folder.items():
        if chosen and folder not in chosen:
            continue
        path = folder / f"{JAPANESE}.po"
        current = catalogue(texts, read_catalogue(path) if path.exists() else None)
        path.write_text(written(current), encoding="utf-8")
        missing = [message for message in current if message.id and not any(message.string or ())]
        n_missing += len(missing)
        print(f"{path.relative_to(ROOT)}: {len(current)} texts, {len(missing)} without a translation")
    for path in catalogue_files():
        if path.parent not in texts_by_folder:
            path.unlink()
    bare = [text for path in pages_files() if not chosen or folder_of(path) in chosen for text in bare_texts(path)]
    for text in bare:
        print(f"{text.path.relative_to(ROOT)}:{text.line}: in no catalogue: {text.text!r}")
    return 1 if n_missing or bare else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
