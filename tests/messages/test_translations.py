"""Japanese and English are complete: every text of the code stands in its catalogue, with a translation that fits."""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from docs.catalogues import Text, all_texts, bare_texts, catalogue, folder_of, pages_files, written
from engine.messages.catalogues import JAPANESE, PACKAGES, ROOT, catalogue_files, places, read_catalogue

FOLDERS = [path.parent for path in catalogue_files()]
PAGES = sorted({folder_of(path) for path in pages_files()})


def named(folder: Path) -> str:
    return str(folder.relative_to(ROOT))


@functools.cache
def texts() -> dict[Path, list[Text]]:
    """The code is read by the first test that asks: collected, it would be in every process."""
    return all_texts()


@pytest.mark.parametrize("folder", FOLDERS, ids=named)
def test_every_text_stands_in_the_catalogue_of_its_folder(folder: Path) -> None:
    """The file is what `python -m docs.catalogues` would write."""
    path = folder / f"{JAPANESE}.po"
    assert written(catalogue(texts()[folder], read_catalogue(path))) == path.read_text(encoding="utf-8"), (
        f"python -m docs.catalogues {named(folder)}"
    )


def test_every_folder_with_texts_has_a_catalogue_and_no_other() -> None:
    assert set(FOLDERS) == set(texts()), "python -m docs.catalogues"


@pytest.mark.parametrize("path", catalogue_files(), ids=lambda path: named(path.parent))
def test_every_text_has_a_translation(path: Path) -> None:
    assert [message.id for message in read_catalogue(path) if message.id and not any(message.string)] == []


@pytest.mark.parametrize("path", catalogue_files(), ids=lambda path: named(path.parent))
def test_every_translation_has_the_places_of_its_text(path: Path) -> None:
    """A value that the Japanese leaves out is lost to its reader, one that the English lacks is an error."""
    differing = []
    for message in read_catalogue(path):
        if message.id and any(message.string):
            english = message.id if isinstance(message.id, str) else message.id[-1]  # of a number: that for many
            own = message.string if isinstance(message.string, str) else message.string[0]
            if set(places(english)) != set(places(own)):
                differing.append((english, own))
    assert differing == []


@pytest.mark.parametrize("folder", PAGES, ids=named)
def test_every_text_of_the_pages_is_translated(folder: Path) -> None:
    """Words that are none for a reader stand in a line that ends with `# untranslated`."""
    assert [
        f"{text.path.relative_to(ROOT)}:{text.line}: {text.text}"
        for path in pages_files()
        if folder_of(path) == folder
        for text in bare_texts(path)
    ] == []


def test_no_two_heads_of_a_table_are_alike_in_japanese() -> None:
    """A column under the head of another replaces it: `{tr("Other model"): ..., tr("Other"): ...}`."""
    japanese = {message.id: message.string for path in catalogue_files() for message in read_catalogue(path)}
    alike = []
    for path in pages_files():
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for table in (node for node in nodes if isinstance(node, ast.Dict)):
            for texts in (table.keys, table.values):
                heads = {
                    call.args[0].value
                    for call in texts
                    if isinstance(call, ast.Call)
                    and call.args
                    and getattr(call.func, "id", "") == "tr"
                    and isinstance(call.args[0], ast.Constant)
                }
                shown = [japanese.get(head, head) for head in heads]
                if len(set(shown)) < len(shown):
                    alike.append(f"{path.relative_to(ROOT)}:{table.lineno}: {sorted(shown)}")
    assert alike == []


def test_a_text_is_translated_alike_in_all_folders() -> None:
    """gettext knows one translation of a text, wherever it stands."""
    translations: defaultdict[str | tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for path in catalogue_files():
        for message in read_catalogue(path):
            if message.id and any(message.string):
                own = message.string if isinstance(message.string, str) else message.string[0]
                translations[message.id].setdefault(own, named(path.parent))
    assert {text: folders for text, folders in translations.items() if len(folders) > 1} == {}


def test_no_words_are_put_between_texts_that_stay_as_they_are() -> None:
    """`" and ".join` makes an English text of names and of messages; `together` is read in every language."""
    assert _calls(lambda node: _separator(node) and re.search(r"[A-Za-z]{2}", _separator(node)) is not None) == []


def test_a_list_that_is_empty_is_named_by_a_message() -> None:
    """`", ".join(names) or "none"` is an English word in a sentence of any language."""
    assert (
        _calls(
            lambda node: (
                isinstance(node, ast.BoolOp)
                and isinstance(node.values[-1], ast.Constant)
                and node.values[-1].value in ("none", "nothing")
            )
        )
        == []
    )


ENGLISH_FILES = ("dashboard/shared/exports/bundle/english.py", "engine/evaluations/model_card/files.py")


def _calls(is_wrong: Callable[[ast.AST], object]) -> list[str]:
    """Where an expression of the code is wrong: in the engine, and of pages where it is no HTML and no English file."""
    wrong = []
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        name, lines = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8").splitlines()
        if name in ENGLISH_FILES or "/print/" in name:  # what matplotlib calls no line is no word
            continue
        for node in ast.walk(ast.parse("\n".join(lines))):
            if is_wrong(node):
                wrong.append(f"{name}:{node.lineno}: {ast.unparse(node)}")  # type: ignore[attr-defined]
    return wrong


def _separator(node: ast.AST) -> str:
    """What `str.join` puts between texts, without tags and entities of HTML and the colours of Streamlit."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join"):
        return ""
    given = node.func.value.value if isinstance(node.func.value, ast.Constant) else ""
    return re.sub(r"<[^>]*>|&\w+;|:\w+\[.*\]", "", given) if isinstance(given, str) else ""
