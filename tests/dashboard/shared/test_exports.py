from __future__ import annotations

import io
import json
import zipfile

import pandas as pd

from dashboard.shared.exports.run_exports import parquet_zip

SIGNATURE = {"models": [{"name": "斉藤"}], "settings": {"layer": None}}


def test_parquet_holds_every_table_unchanged_and_the_signature() -> None:
    tables = {"models": pd.DataFrame({"model": ["=1+1", "b"], "score": [1.5, float("nan")]}),
              "points": pd.DataFrame({"row": [1, 2, 3], "text": ["<b>", "猫", ""]})}
    with zipfile.ZipFile(io.BytesIO(parquet_zip(tables, SIGNATURE))) as archive:
        assert set(archive.namelist()) == {"models.parquet", "points.parquet", "signature.json"}
        for name, table in tables.items():
            pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(archive.read(f"{name}.parquet"))), table)
        assert json.loads(archive.read("signature.json")) == SIGNATURE
