from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import RunError
from engine.runs.storage.run_entry import RunEntry, from_bytes, to_bytes

ENTRY = RunEntry(
    id="abc",
    owner="ann@lab.example",
    kind="clusters",
    name="秤 \ud800",
    settings={"models": ["a"], "x": {"float": "nan"}},
    dataset_type="Words",
    dataset_name="words.csv",
    dataset_hash="f" * 64,
    created="2026-01-02T03:04:05+00:00",
    finished="2026-01-02T03:05:00+00:00",
    started=None,
    dataset_notices=("2 rows repeat.",),
    models=("a",),
    key="k",
    shared=True,
    note="a\nb",
    deleted="2026-02-03T04:05:06+00:00",
    tags=("a b", "秤"),
    n_rows=7,
)


def test_an_entry_comes_back_in_every_field() -> None:
    assert from_bytes(to_bytes(ENTRY), "The result") == ENTRY


@given(st.text(), st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text())))
def test_whatever_texts_and_settings_come_back(text: str, settings: dict[str, object]) -> None:
    entry = replace(ENTRY, name=text, note=text, settings=settings, dataset_notices=(text,))
    assert from_bytes(to_bytes(entry), "The result") == entry


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b"[" * 100_000,
        b'{"checksum": 1}',
        to_bytes(ENTRY)[:-30],
        to_bytes(ENTRY).replace(b"ann@lab", b"bob@lab"),
        to_bytes(ENTRY).replace(b'"id": "abc"', b'"id": 3'),
        to_bytes(replace(ENTRY, created="yesterday")),
        to_bytes(replace(ENTRY, finished="2026-01-02T03:05:00")),
    ],
)
def test_a_damaged_entry_is_refused_in_words(raw: bytes) -> None:
    with pytest.raises(RunError, match=r"^The result is damaged: run\.json"):
        from_bytes(raw, "The result")


def test_fields_of_a_later_version_are_left_out_and_missing_ones_take_defaults() -> None:
    values = json.loads(to_bytes(ENTRY))
    for name in ("checksum", "note", "shared"):
        del values[name]
    values["colour"] = "blue"
    from engine.runs.storage.run_entry import _checksum

    raw = json.dumps(values | {"checksum": _checksum(values)}).encode()
    assert from_bytes(raw, "The result") == replace(ENTRY, note="", shared=False)
