"""What is fuzzed: each target makes one case from a seeded Random, and raises Finding where a case went wrong.

Errors of the engine are what a damaged file should end in; any other exception is a finding.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import openpyxl

from dashboard.shared.address.texts import from_texts, to_texts
from engine.datasets import sample_data
from engine.datasets.corpora import corpus
from engine.datasets.formats import encodings
from engine.datasets.formats.files import Table, paste_table, read_table
from engine.datasets.formats.json_rows import raw_rows
from engine.datasets.labelled import labelled_sentences
from engine.datasets.labelled.livedoor import labelled, read_livedoor
from engine.datasets.labelled.webis import read_reviews
from engine.datasets.masked import masked_sentences
from engine.datasets.minimal_pairs import pairs as minimal_pairs
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.sentence_pairs import from_table as sentence_pairs
from engine.errors import EngineError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared.idf_files import idf_bytes, read_idf
from engine.models.sources.adapters import read_adapter
from engine.models.sources.cards import BUILT_IN
from engine.models.sources.layouts import require_model
from engine.models.sources.model_files import fingerprint, weight_files
from engine.models.sources.recipe_files import recipe_for
from engine.options import options_of, records_in
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.migrations.versions.v0003_kinds import KINDS as KINDS_BEFORE
from engine.runs.storage.packing import RECORD, _checksum
from engine.runs.storage.run_entry import ENTRY, from_bytes
from tests.fuzzing import material
from tests.fuzzing.mutations import damaged, damaged_json_bytes, damaged_zip
from tests.stored_runs import directories

KINDS = sample_data.KINDS
FROM_TABLE: Mapping[str, Callable[..., Any]] = {
    "labelled_sentences": labelled_sentences.from_table,
    "sentence_pairs": sentence_pairs,
    "scored_pairs": sentence_pairs,
    "minimal_pairs": minimal_pairs.from_table,
    "masked_sentences": masked_sentences.from_table,
    "running_text": minimal_pairs.from_table,
}


class Finding(AssertionError):
    """A case that ended otherwise than it should."""


def delimited_text(random: Random) -> None:
    """CSV, TSV and semicolons in every encoding: the cells are those of the text, or something is said."""
    kind, separator = random.choice(KINDS), random.choice(",,\t;")
    raw = material.delimited(kind, separator, random.choice(material.ENCODINGS))
    raw = damaged(raw, random) if random.random() < 0.9 else raw
    skips = random.random() < 0.5
    name = random.choice(["a.csv", "a.tsv", "a.txt"])
    encoding = random.choice(list(encodings.ENCODINGS)) if random.random() < 0.3 else encodings.DETECT
    table = read_table(raw, name, skip_bad_rows=skips, encoding=encoding)
    text = raw.decode({"utf-8": "utf-8-sig"}.get(str(table.encoding), str(table.encoding)))
    _expect_cells_of(table, text)
    _expect_dataset(kind, table, skips)


def json_text(random: Random) -> None:
    """JSON lines and lists: each cell is the text of the value, and rows are exported as they were."""
    kind = random.choice(KINDS)
    raw = damaged((material.json_lines if random.random() < 0.6 else material.json_list)(kind), random)
    skips = random.random() < 0.5
    table = read_table(raw, random.choice(["a.json", "a.jsonl"]), skip_bad_rows=skips)
    again = raw_rows(table.json_text, {bad.row for bad in table.left_out})
    for number, cells in zip(table.frame.index, table.frame.to_dict("records"), strict=True):
        row = json.loads(again[number], parse_int=str, parse_float=str, parse_constant=str)
        for key, value in row.items():
            if isinstance(value, str) and value != cells[_column(key, table)] and value != "NaN":
                raise Finding(f"row {number} holds {cells[_column(key, table)]!r} in place of {value!r}")
    _expect_dataset(kind, table, skips)


def excel(random: Random) -> None:
    """Workbooks, their members and their XML."""
    kind = random.choice(KINDS)
    raw = damaged_zip(material.workbook(kind), random)
    skips = random.random() < 0.5
    table = read_table(raw, "a.xlsx", skip_bad_rows=skips)
    texts = _texts_of_workbook(raw)
    for value in set(table.frame.to_numpy().ravel().tolist()) if texts else ():
        if len(value) > 20 and value not in texts:
            raise Finding(f"{value!r} is in no cell")
    _expect_dataset(kind, table, skips)


def pasted_text(random: Random) -> None:
    """Pasted lines."""
    kind = random.choice(KINDS)
    raw = damaged(material.delimited(kind, random.choice(",\t"), "utf-8"), random)
    text = raw.decode("utf-8", random.choice(["replace", "surrogateescape"]))
    columns = random.choice([["text", "label"], ["reference", "candidate"], ["acceptable", "unacceptable", "category"]])
    table = paste_table(text, columns, skip_bad_rows=random.random() < 0.5)
    _expect_cells_of(table, text)


def archives(random: Random) -> None:
    """Archives of articles and of tables."""
    if random.random() < 0.3:
        read_pairs([("a.zip", damaged_zip(material.pairs_archive(), random))], skip_bad_rows=random.random() < 0.5)
        return
    packing = random.choice(["zip", "tar", "tar.gz"])
    raw = material.livedoor(packing)
    if packing == "tar.gz" and random.random() < 0.7:  # the tar inside is damaged, and packed well
        raw = gzip.compress(damaged(gzip.decompress(raw), random), mtime=0)
    else:
        raw = damaged_zip(raw, random) if packing == "zip" else damaged(raw, random)
    labelled(read_livedoor(raw, f"a.{packing}"), part=random.choice(["title", "body"]))


def reviews(random: Random) -> None:
    """Reviews in XML."""
    read_reviews(damaged(material.reviews(), random), "books.test.review")


def corpora(random: Random) -> None:
    """Texts of dictionaries."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, random.choice(["a.txt", "a.zip", "a.tsv"]))
        if path.suffix == ".zip":
            path.write_bytes(damaged_zip(material.livedoor("zip"), random))
        else:
            path.write_bytes(
                damaged(material.delimited(random.choice(KINDS), "\t", random.choice(material.ENCODINGS)), random)
            )
        for _ in corpus.read_documents([path], unit=random.choice(corpus.UNITS)):
            pass


def dictionaries(random: Random) -> None:
    """idf dictionaries: what is read, written back, is what was there."""
    raw = damaged_json_bytes(material.dictionary(), random)
    packed = gzip.compress(raw, mtime=0) if random.random() < 0.5 else raw
    packed = damaged(packed, random) if random.random() < 0.1 else packed
    read = read_idf(packed, "a.json.gz")
    again = json.loads(idf_bytes(read, compressed=False))
    stored = json.loads(raw) if packed in (raw, gzip.compress(raw, mtime=0)) else None
    if stored is not None and any(again[key] != stored[key] for key in again if key in stored and key != "format"):
        raise Finding("the dictionary that was read is another one than that of the file")


def recipes(random: Random) -> None:
    """hakari.json of a model's directory."""
    examples = [
        {"card": "paper/kyoto-univ"},
        {"card": "paper/mecab", "segmenter": "mecab-ipadic"},
        {"segmenter": "mecab-jumandic", "normalize": ["full-width"], "vocabulary": "wordpiece", "max_tokens": 128},
    ]
    with tempfile.TemporaryDirectory() as folder:
        raw = damaged_json_bytes(json.dumps(random.choice(examples)).encode(), random)
        Path(folder, "hakari.json").write_bytes(raw)
        recipe_for(Path(folder), None, is_local=random.random() < 0.5)
        keys = [key for key, _ in json.loads(raw, object_pairs_hook=list)]
        if len(set(keys)) < len(keys):
            raise Finding(f"a key that stands there twice is read in silence: {keys}")


def addresses(random: Random) -> None:
    """Settings in addresses: a value that is taken comes back the same."""
    option = random.choice(_options())
    base = to_texts(option.default) or ["1"]
    texts = [
        damaged(random.choice(base).encode(), random).decode("utf-8", "replace")
        for _ in range(random.choice([1, 1, 1, 2, 5]))
    ]
    value = from_texts(option, texts if random.random() < 0.8 else base)
    if from_texts(option, to_texts(value)) != value:
        raise Finding(f"{option.name}: {value!r} comes back as {from_texts(option, to_texts(value))!r}")


def stored_runs(random: Random) -> None:
    """Results and datasets of earlier versions: each opens as it was, or is said to be damaged."""
    version, run, kind = random.choice(_stored())
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "results", run)
        shutil.copytree(directories.FOLDER / version / "results" / run, copy)
        path = random.choice(sorted(copy.iterdir()))
        raw = path.read_bytes()
        content = damaged_json_bytes(raw, random) if path.suffix == ".json" else damaged(raw, random)
        path.write_bytes(_sealed(content) if path.name == RECORD and random.random() < 0.5 else content)
        artifacts = Artifacts(Path(folder))
        if path.name == ENTRY:
            from_bytes(artifacts.entry(run) or b"", "The entry")
        else:
            artifacts.load_result(run, EVALUATIONS[kind].result_type)


def model_directories(random: Random) -> None:
    """The files of a model's directory that are read before any weights."""
    source = BUILT_IN[random.choice(sorted(BUILT_IN))].directory
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for path in source.iterdir():
            if path.suffix == ".json" and path.stat().st_size < 100_000:
                shutil.copy(path, copy)
        (copy / "model.safetensors").write_bytes(b"")
        (copy / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model.safetensors"}}')
        (copy / "adapter_config.json").write_text('{"peft_type": "LORA", "base_model_name_or_path": "owner/name"}')
        path = random.choice(sorted(copy.glob("*.json")))
        path.write_bytes(damaged_json_bytes(path.read_bytes(), random))
        for read in (require_model, weight_files, fingerprint, read_adapter):
            try:
                read(copy)
            except EngineError:
                continue


TARGETS: Mapping[str, Callable[[Random], None]] = {
    target.__name__.replace("_", "-"): target
    for target in (
        delimited_text,
        json_text,
        excel,
        pasted_text,
        archives,
        reviews,
        corpora,
        dictionaries,
        recipes,
        addresses,
        stored_runs,
        model_directories,
    )
}


def prepare() -> None:
    """Make what all cases share, which counts to the time of none."""
    _options()
    _stored()


def _expect_cells_of(table: Table, text: str) -> None:
    """Every cell is a part of the text, as csv writes it, unless a notice says otherwise."""
    if table.notices and any("apostrophe" in notice for notice in table.notices):
        return
    for value in set(table.frame.to_numpy().ravel().tolist()):
        if value not in text and value.replace('"', '""') not in text:
            raise Finding(f"{value!r} is not in the file")
    if any(len(value) > csv.field_size_limit() for value in (*table.frame.columns, *table.frame.to_numpy().ravel())):
        return  # read without quoting, which has no longest field; csv has one, and says so
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([list(table.frame.columns), *table.frame.to_numpy().tolist()])
    again = read_table(file.getvalue().encode(), "again.csv", skip_bad_rows=True, encoding="utf-8")
    rows = [row for row in table.frame.to_numpy().tolist() if any(row)]
    if [row for row in again.frame.to_numpy().tolist() if any(row)] != rows:
        raise Finding("what was read, written back, is another table")


def _expect_dataset(kind: str, table: Table, skip_bad_rows: bool) -> None:
    """The dataset of the table, stored, is the same one."""
    dataset = FROM_TABLE[kind.removesuffix("_en")](table, skip_bad_rows=skip_bad_rows)
    again = type(dataset).from_frame(dataset.to_frame(), dataset.name)
    if again.content_hash != dataset.content_hash:
        raise Finding("the stored dataset is another one")


def _texts_of_workbook(raw: bytes) -> set[str]:
    """The texts of all cells, by the reader of openpyxl that holds the whole workbook; it refuses more than ours."""
    try:
        sheets = openpyxl.load_workbook(io.BytesIO(raw)).worksheets
    except Exception:
        return set()
    return {
        str(value)
        for sheet in sheets
        for row in sheet.iter_rows(values_only=True)
        for value in row
        if value is not None
    }


def _column(key: str, table: Table) -> str:
    title = key.strip().strip("\ufeff")
    return (
        title
        if title in table.frame.columns
        else next(name for name in table.frame.columns if name.startswith("column "))
    )


@cache
def _options() -> list[Any]:
    records = {evaluation.settings_type for evaluation in EVALUATIONS.values()}
    records |= {inner for record in records for inner in records_in(record).values()}
    return [option for record in sorted(records, key=str) for option in options_of(record).values()]


@cache
def _stored() -> list[tuple[str, str, str]]:
    """Version, run and kind of every stored run that has a result."""
    found = []
    for version in directories.VERSIONS:
        path = directories.FOLDER / version / "hakari.sqlite"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as runs:
            found += [
                (version, run, KINDS_BEFORE.get(kind, kind))
                for run, kind in runs.execute("select id, kind from runs order by id")
                if (directories.FOLDER / version / "results" / run).is_dir()
            ]
    return found


def _sealed(raw: bytes) -> bytes:
    """A damaged record with the checksum that it would have been written with; other bytes as they are."""
    try:
        description = json.loads(raw)
        description["checksum"] = _checksum({key: value for key, value in description.items() if key != "checksum"})
        return json.dumps(description).encode("utf-8", "surrogatepass")
    except (ValueError, TypeError, AttributeError):
        return raw
