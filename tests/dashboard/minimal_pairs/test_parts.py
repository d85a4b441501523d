"""Parts of the minimal-pairs page: uploaded files and their mapping, and how precision is told."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.minimal_pairs.scoring import precision_table
from dashboard.shared.inputs.minimal_pairs import layout_notes, tables_of
from engine.datasets.minimal_pairs.files import read_pairs
from engine.errors import InputError
from tests.support.minimal_results import synthetic

BLIMP = "".join(
    json.dumps({"sentence_good": f"Cats sleep {i}.", "sentence_bad": f"Cats sleeps {i}.", "UID": "u"}) + "\n"
    for i in range(3)
).encode()
CROWS = b",sent_more,sent_less,stereo_antistereo,bias_type\n0,They lie.,We lie.,stereo,age\n"
HEBREW = "good,bad\nהחתול ישן,החתול ישנה\n".encode()


def packed(**members: bytes) -> bytes:
    with zipfile.ZipFile(sink := io.BytesIO(), "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return sink.getvalue()


def test_the_tables_of_a_zip_are_those_with_sentences() -> None:
    tables = tables_of(
        [("blimp.zip", packed(a_jsonl=BLIMP, readme_csv=b"x,y\n1,2\n", b_jsonl=BLIMP)), ("crows.csv", CROWS)]
    )
    assert [table.name for table in tables] == ["a.jsonl", "b.jsonl", "crows.csv"]


def test_a_zip_without_known_columns_offers_its_tables_to_be_mapped() -> None:
    (table,) = tables_of([("mine.zip", packed(mine_csv=b"x,y\n1,2\n"))])
    assert list(table.frame.columns) == ["x", "y"]
    with pytest.raises(InputError, match="holds no table"):
        tables_of([("empty.zip", packed())])


def test_the_recognised_layout_is_shown() -> None:
    (blimp,) = layout_notes(read_pairs([("a.jsonl", BLIMP), ("b.jsonl", BLIMP)]))
    assert "**BLiMP** (2 files): 6 pairs" in blimp
    crows = layout_notes(read_pairs([("c.csv", CROWS)]))
    assert "CrowS" in crows[0] and "`sent_more`" in crows[1]
    assert "right to left" in layout_notes(read_pairs([("h.csv", HEBREW)]))[-1]


def test_the_precision_of_every_pair_is_counted() -> None:
    result = synthetic(10)
    scored_in = np.where(result.pairs["row"] <= 3, "fp32", "bf16")
    report = pd.DataFrame(
        [
            {
                "model": "m",
                "n": 10,
                "n_sampled": 2,
                "n_fp32": 3,
                "rounds": 1,
                "largest_error": 0.01,
                "safety": 4.0,
                "seed": 0,
            }
        ]
    )
    table = precision_table(replace(result, pairs=result.pairs.assign(scored_in=scored_in), precision=report))
    assert table["fp32"].tolist() == [3, 3] and table["bf16"].tolist() == [7, 7]
    assert table["sampled"].tolist()[0] == 2 and np.isnan(table["sampled"].tolist()[1])


def test_all_files_that_cannot_be_read_are_told_of() -> None:
    cut = b"good,bad\na,b\nc,d,e\n"
    with pytest.raises(InputError) as caught:
        tables_of([("a.csv", cut), ("b.csv", CROWS), ("c.csv", cut)])
    assert [(bad.row, bad.reason.partition(":")[0]) for bad in caught.value.rows] == [(2, "a.csv"), (2, "c.csv")]
    with pytest.raises(InputError, match=r"mine\.csv: 1 line of 2 cannot be cut"):
        tables_of([("mine.zip", packed(mine_csv=cut))])
