"""What a bundle says beside its files, and the dictionaries that its commands name."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dashboard.shared.exports.bundle.bundle import RENUMBERED, Bundle, bundle
from dashboard.shared.exports.bundle.data import data_file, is_renumbered
from dashboard.shared.exports.bundle.dictionaries import with_dictionaries
from dashboard.shared.exports.print.style import PrintStyle
from dashboard.shared.exports.tables.offered import OfferedTables
from engine.datasets.formats.files import read_table
from engine.datasets.sentence_pairs import from_table
from engine.evaluations.alignment import records as alignment
from engine.evaluations.metric_study import records as metric_study
from engine.evaluations.minimal_pairs import records as minimal_pairs
from engine.evaluations.shared import dictionaries
from engine.evaluations.shared.idf_files import read_idf, write_idf
from engine.measures.idf import IdfDictionary
from engine.messages.languages import in_language


def text_files(**further: Any) -> dict[str, str]:
    contents = Bundle(
        "t",
        "q",
        further.pop("signature", {}),
        OfferedTables({"t": pd.DataFrame({"a": ["b"]})}),
        {},
        PrintStyle("one", 8),
        **further,
    )
    with zipfile.ZipFile(io.BytesIO(bundle(contents))) as archive:
        return {name: archive.read(name).decode("utf-8", "replace") for name in archive.namelist()}


def test_the_commands_are_written_as_given() -> None:
    command = "python -m engine minimal-pairs --subset A=U"
    files = text_files(signature={"subset": "A=U"}, command=command)
    assert [line for line in files["commands.sh"].splitlines() if not line.startswith("#")] == ["set -e", command]
    assert "`commands.sh`" in files["README.md"]


def test_the_readme_says_where_rows_have_other_numbers_than_in_the_tables() -> None:
    for text, rows in (("雨だ,雪だ\n,猫\n犬,猫\n", (1, 3)), ("雨だ,雪だ\n犬,猫\n", (1, 2))):
        pairs = from_table(read_table(f"reference,candidate\n{text}".encode(), "a.csv"), skip_bad_rows=True)
        assert pairs.rows == rows and is_renumbered(pairs) == (rows == (1, 3))
        readme = text_files(data=data_file(pairs), is_renumbered=is_renumbered(pairs))["README.md"]
        assert (RENUMBERED in readme) == is_renumbered(pairs)


def test_the_readme_is_in_the_language_of_its_reader() -> None:
    pairs = from_table(read_table("reference,candidate\n雨だ,雪だ\n,猫\n".encode(), "a.csv"), skip_bad_rows=True)
    everything = {
        "data": data_file(pairs),
        "is_renumbered": True,
        "dictionaries": {"data/own.json.gz": b""},
        "missing": ("saved/gone",),
        "scores": {"data/scores.csv": b""},
        "command": "python -m engine alignment",
    }
    with in_language("ja"):
        readme = text_files(**everything)["README.md"]
        without_data = text_files()["README.md"]
    for text in (readme, without_data):
        assert not re.search("[A-Za-z]{2,} [a-z]{2,}", re.sub("`[^`]*`", "", text))
    assert "## 図\n\nなし。" in readme and "## その他" in readme
    assert "- `data/data.csv`: データ（入力のすべての列を含む）。使えない入力行は含まないため" in readme


def test_dictionaries_of_the_server_become_files_of_the_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionaries, "_folders", [])
    mine, other = (IdfDictionary(name, 5, {"a": 3, "b": n}, "t", "u") for name, n in (("mine", 2), ("other", 1)))
    saved = dictionaries.save(mine, tmp_path / "saved", "abc")
    (tmp_path / "elsewhere").mkdir()
    write_idf(other, tmp_path / "elsewhere" / "abc.json.gz")
    (tmp_path / "secret.txt").write_text("no dictionary", encoding="utf-8")
    path, secret = str(tmp_path / "elsewhere" / "abc.json.gz"), str(tmp_path / "secret.txt")
    settings = [
        metric_study.Settings(("m",), idfs=("none", "novel", saved, path)),
        alignment.Settings(("m",), scoring=alignment.Scoring(idf=saved)),
        alignment.Settings(("m",), scoring=alignment.Scoring(idf="saved/gone")),
        alignment.Settings(("m",), scoring=alignment.Scoring(idf=secret)),
        minimal_pairs.PairScoring(unigrams=path),
    ]
    carried = with_dictionaries(settings)
    grid, aligned, gone, refused, shown = carried.records
    assert grid.idfs == ("none", "novel", "data/abc.json.gz", "data/abc-2.json.gz")
    assert aligned.scoring.idf == "data/abc.json.gz" and shown.unigrams == "data/abc-2.json.gz"
    assert [read_idf(content, name).name for name, content in carried.files.items()] == ["mine", "other"]
    assert gone.scoring.idf == "saved/gone" and carried.missing == ("saved/gone",)
    assert refused.scoring.idf == secret  # a file that is no dictionary stays where it is
    files = text_files(dictionaries=carried.files, missing=carried.missing)
    assert set(carried.files) <= set(files) and "`saved/gone` is no longer" in files["README.md"]
    assert all(f"`{name}`" in files["README.md"] for name in carried.files)
    assert with_dictionaries([metric_study.Settings(("m",))]).files == {}
