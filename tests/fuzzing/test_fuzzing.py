"""500 damaged files in every check, and any table through every format; `python -m tests.fuzzing` has 10,000."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.datasets.formats.encodings import DETECT
from engine.datasets.formats.files import read_table
from engine.datasets.formats.formulas import begins_as_formula
from engine.errors import InputError
from engine.language.quantities import count
from tests.fuzzing import round_trips, running, targets
from tests.fuzzing.mutations import damaged, damaged_json_bytes
from tests.fuzzing.round_trips import CODECS, TABLES, Cells, expect_same

CASES = 500
SEED = 17
MIB = 2**20
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the bound on memory is Linux's")


@on_linux
def test_every_damaged_file_ends_in_a_result_or_in_words() -> None:
    outcomes = running.run(CASES, SEED)
    assert sum(outcome.n_cases for outcome in outcomes) == CASES
    assert {outcome.target for outcome in outcomes} == set(targets.TARGETS)
    for outcome in outcomes:
        assert not outcome.findings, "\n".join(
            f"python -m tests.fuzzing --target {outcome.target} --seed {SEED} --case {number}: {what}"
            for number, what in outcome.findings
        )
        assert outcome.slowest_seconds < running.SECONDS and outcome.peak_bytes < running.MEMORY_BYTES


def raises(_: Random) -> None:
    raise KeyError("card")


def says_nothing(_: Random) -> None:
    raise InputError("")


def loops(_: Random) -> None:
    while True:
        pass


def fills_the_memory(_: Random) -> None:
    bytearray(600 * MIB)


def dies(_: Random) -> None:
    os._exit(3)


@on_linux
@pytest.mark.parametrize(
    ("target", "what"),
    [
        (raises, "KeyError: 'card' (raises, test_fuzzing.py:"),
        (says_nothing, "InputError without a word"),
        (loops, "longer than 0 seconds"),
        (fills_the_memory, "MemoryError"),
        (dies, "ended with exit code 3"),
    ],
)
def test_what_should_not_happen_is_found(
    target: Callable[[Random], None], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "TARGETS", {"mine": target})
    monkeypatch.setattr(running, "SECONDS", 0.4)
    (outcome,) = running.run(1, 0, ["mine"])
    ((number, found),) = outcome.findings
    assert number == 0 and what in found


def test_a_case_is_the_same_again() -> None:
    def drawn(number: int) -> list[bytes]:
        random = Random(f"{SEED}/excel/{number}")
        return [damaged(b"0123456789" * 5, random), damaged_json_bytes(b'{"a": [1, {"b": 2}], "c": null}', random)]

    assert drawn(1) == drawn(1) != drawn(2)


def test_altered_text_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a reader would alter it that takes off an apostrophe in silence."""
    table = read_table(b"text,label\n'-ness,x\n", "a.csv")
    table.frame.loc[1, "text"] = "-ness!"
    with pytest.raises(targets.Finding, match="'-ness!' is not in the file"):
        targets._expect_cells_of(table, "text,label\n'-ness,x\n")


@settings(max_examples=120, deadline=None)
@given(TABLES, CODECS, st.sampled_from(",\t;"), st.booleans())
def test_delimited_text_comes_back(cells: Cells, codec: str, separator: str, chosen: bool) -> None:
    """In an encoding that is chosen, the same; in one that is detected, the same or with a notice."""
    cells = cells.of_encoding(codec)
    raw = round_trips.as_delimited(cells, separator, codec)
    if chosen or codec == "utf-8-sig":
        table = read_table(raw, "a.csv", encoding=DETECT if codec == "utf-8-sig" else codec)
        expect_same(cells, table, blank_rows=False)
        return
    try:
        table = read_table(raw, "a.csv", skip_bad_rows=True)
    except InputError:
        return
    # What is valid UTF-8 is read as such: no bytes tell 猫 of EUC-JP from ǭ.
    if not table.notices and (table.encoding != "utf-8" or codec == "utf-8"):
        expect_same(cells, table, blank_rows=False)


@settings(max_examples=80, deadline=None)
@given(TABLES, CODECS, st.booleans())
def test_json_lines_come_back(cells: Cells, codec: str, ascii_only: bool) -> None:
    cells = cells.of_encoding(codec)
    raw = round_trips.as_json_lines(cells, codec, ascii_only=ascii_only)
    expect_same(cells, read_table(raw, "a.jsonl", encoding=DETECT if codec == "utf-8-sig" else codec))


@settings(max_examples=60, deadline=None)
@given(TABLES)
def test_a_workbook_comes_back(cells: Cells) -> None:
    cells = cells.of_xml()
    expect_same(cells, read_table(round_trips.as_workbook(cells), "a.xlsx"), blank_rows=False)


@settings(max_examples=80, deadline=None)
@given(TABLES)
def test_an_export_comes_back_without_its_apostrophes(cells: Cells) -> None:
    table = read_table(round_trips.as_export(cells), "a.csv")
    expect_same(cells, table)
    begins = [text for row in cells.rows for text in row if begins_as_formula(text)]
    assert table.notices == (
        (f"{count(len(begins), 'apostrophe')} that the export put before formulas taken off.",) if begins else ()
    )
