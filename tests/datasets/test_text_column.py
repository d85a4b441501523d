"""Columns of texts in Arrow: the same texts as a tuple's, in a tenth of the memory, and what is read into them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.datasets import reader_process, rows, text_column
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.text_column import (
    JsonRows,
    Rows,
    TextColumn,
    any_match,
    at,
    concatenated,
    series_of_texts,
    texts_of_series,
)

N = 40_000
# The share of the 512 MiB of a million rows, and of JSON, of which the text itself is kept meanwhile, half as much again.
MIB = {"csv": 512 * N / 1e6, "tsv": 512 * N / 1e6, "jsonl": 768 * N / 1e6}
TEXTS = st.lists(st.text(st.characters(codec="utf-8")), max_size=9)


@pytest.fixture(params=[2, text_column.BLOCK])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_column, "BLOCK", request.param)


@pytest.mark.usefixtures("block")
@given(TEXTS, st.integers(-9, 9), st.integers(-9, 9))
def test_a_column_is_as_a_tuple_of_its_texts(texts: list[str], start: int, end: int) -> None:
    column, expected = TextColumn.of(texts), tuple(texts)
    assert len(column) == len(expected) and list(column) == texts
    assert column == expected and expected == column and column == TextColumn.of(texts)
    assert column != (*expected, "") and column != [*texts] and hash(column) == hash(expected)
    assert column[start:end] == expected[start:end] and repr(column) == repr(expected)
    assert [column[i] for i in range(-len(texts), len(texts))] == [*texts, *texts]
    assert column + column == expected + expected == expected + column == column + expected
    assert pickle.loads(pickle.dumps(column)) == expected
    assert texts_of_series(series_of_texts(column)) == expected
    places = [i for i in range(len(texts)) if i % 2]
    assert at(column, places) == at(expected, places) == expected[1::2]
    assert at(column, range(len(texts))) is column  # all of them are not copied
    assert at(column, places[::-1]) == expected[1::2][::-1]
    assert list(Rows(column, expected)) == list(zip(texts, texts, strict=True))


@pytest.mark.parametrize("texts", [[], ["", "a Prefix"], ["a", "Pre fix"], ["\nREGION\n"], ["critiCal words"], ["猫"]])
def test_a_pattern_is_found_in_a_column_as_in_its_texts(texts: list[str]) -> None:
    pattern = "(?i)prefix|region|critical"
    expected = any(name in text.casefold() for text in texts for name in ("prefix", "region", "critical"))
    assert any_match(TextColumn.of(texts), pattern) is any_match(tuple(texts), pattern) is expected


def test_an_index_beyond_the_end_is_an_error() -> None:
    with pytest.raises(IndexError):
        _ = TextColumn.of(["a"])[1]


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), TEXTS, min_size=1))
def test_rows_are_written_as_json_writes_them(columns: dict[str, list[str]]) -> None:
    n = min(map(len, columns.values()))
    columns = {name: texts[:n] for name, texts in columns.items()}
    given_rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    expected = tuple(json.dumps(row, ensure_ascii=False) for row in given_rows)
    made = JsonRows(list(columns), [TextColumn.of(texts) for texts in columns.values()])
    assert made == expected and [made[i] for i in range(n)] == list(expected) and made[1:] == expected[1:]
    assert pickle.loads(pickle.dumps(made)) == expected and at(made, range(n)[::-1]) == expected[::-1]


def test_a_column_of_no_texts_of_arrow_is_a_tuple() -> None:
    assert isinstance(texts_of_series(pd.Series(["a", 1], dtype=object)), tuple)
    assert concatenated([TextColumn.of(["a"]), ("b",)]) == ("a", "b")


class _Alike(str):
    """A text whose hash is that of many others."""

    def __hash__(self) -> int:
        return len(self)


@given(st.lists(st.sampled_from(["a", "b", "aa", "ab", "c", ""]), max_size=12))
def test_repeated_rows_are_those_with_an_earlier_equal_also_where_hashes_collide(texts: list[str]) -> None:
    numbers = range(1, len(texts) + 1)
    expected = [number for number, text in zip(numbers, texts, strict=True) if text in texts[: number - 1]]
    assert rows.repeated_rows(numbers, texts) == expected
    assert rows.repeated_rows(numbers, [_Alike(text) for text in texts]) == expected
    assert rows.repeated_rows(numbers, Rows(texts, texts)) == expected


def _file(folder: Path, suffix: str) -> tuple[Path, Sequence[dict[str, str]]]:
    """Pairs of short sentences, none of which occurs twice."""
    written = [
        {
            "acceptable": f"the old man sees trees {i:x}.",
            "unacceptable": f"the old man see trees {i:x}.",
            "id": f"c{i % 67}",
        }
        for i in range(N)
    ]
    separator = {"csv": ",", "tsv": "\t"}.get(suffix)
    lines = (
        [
            separator.join(row)
            for row in ({name: name for name in written[0]}.keys(), *(row.values() for row in written))
        ]
        if separator
        else [json.dumps(row) for row in written]
    )
    path = folder / f"pairs.{suffix}"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path, written


@pytest.mark.parametrize("suffix", MIB)
def test_short_rows_are_read_in_memory_of_which_a_million_have_512_mib(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of it was too little while texts were Python's: 36 MiB of CSV, 44 of JSON."""
    path, written = _file(tmp_path, suffix)
    monkeypatch.setenv("HAKARI_READER_MB", str(MIB[suffix]))
    dataset = reader_process.read(read_pairs, [(path.name, path)])
    assert dataset.n == N and list(dataset.originals[::9999]) == [json.dumps(row) for row in written[::9999]]
    assert dataset.acceptable == tuple(row["acceptable"] for row in written)
    again = MinimalPairs.from_frame(dataset.to_frame(), dataset.name)
    assert again == dataset and again.content_hash == dataset.content_hash and again.further == dataset.further
