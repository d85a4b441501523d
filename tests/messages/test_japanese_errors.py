"""Errors and notices as real faults raise them, in Japanese: no English sentence is left, and the values are there."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.datasets import human_scores, sample_data, sentence_pairs
from engine.datasets.corpora.corpus import read_documents
from engine.datasets.formats.archives import read_members
from engine.datasets.formats.files import paste_table, read_table
from engine.datasets.labelled import domain_sentences, labelled_sentences, livedoor
from engine.datasets.labelled.livedoor import read_livedoor
from engine.datasets.labelled.webis import read_reviews
from engine.datasets.masked import masked_building, masked_sentences
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.rows import EMPTY
from engine.errors import BadRow, EngineError, InputError
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.classification.records import Settings as ClassificationSettings
from engine.evaluations.clusters.records import Settings as ClusterSettings
from engine.inference.endpoint.settings import endpoints
from engine.inference.ray.dispatch import _version_difference
from engine.language import mecab, segmenters
from engine.language.normalize import normalize
from engine.language.readings.own import own_readings
from engine.layer_numbers import resolve_layer
from engine.measures.clusters.classes import labelled_vectors
from engine.measures.clusters.label_permutation import label_permutation
from engine.measures.clusters.neighbours import nearest_neighbours
from engine.measures.clusters.projection import umap_projection
from engine.measures.idf import from_counts
from engine.measures.minimal_pairs.length_slope import length_slope
from engine.measures.statistics.correlations.correlation import pearson
from engine.messages import languages
from engine.messages.message import Message, together
from engine.models.sources import names
from engine.models.sources.adapters import read_adapter, require_hub_id
from engine.models.sources.allowed_models import AllowedModels
from engine.models.sources.model_files import weight_files
from engine.models.sources.model_location import locate
from engine.models.sources.recipes import recipe_from
from engine.notebook import evaluate
from engine.options import check
from engine.precision import resolved
from engine.processes.deaths import BY_ITSELF, how_it_ended
from engine.runs.access.configuration import configuration
from engine.runs.access.member_list import parsed_members
from engine.runs.naming import run_name, unknown_run
from engine.runs.storage.database import checked_url
from engine.runs.storage.json_codec import record_from_json
from tests.measures.minimal_pairs.normalized import normalized

CSV = "text,label\n猫,a\n犬,b\n"
# Two English words side by side that are no command, path or value.
ENGLISH = re.compile(r"(?<![\w/.-])[A-Za-z]{2,} [a-z]{2,}(?![\w/.=])")
COMMANDS = re.compile(r"python -m engine [\w-]+|make pretrain|hf cache rm|pip install \S+ \S+")


@pytest.fixture(autouse=True)
def japanese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_chosen", lambda: "ja")


def csv(text: str, read: Callable[[Any], object] = lambda table: None, name: str = "a.csv") -> Callable[[Path], object]:
    return lambda folder: read(read_table(text.encode(), name))


def labelled(columns: dict[str, str]) -> Callable[[Any], object]:
    return lambda table: labelled_sentences.from_table(table, columns)


def zipped(members: dict[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def model(
    files: dict[str, object], read: Callable[[Path], object] = lambda folder: locate(str(folder))
) -> Callable[[Path], object]:
    """Read a model whose directory holds these files: texts as they are, anything else as JSON."""

    def read_it(folder: Path) -> object:
        for name, content in files.items():
            (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return read(folder)

    return read_it


def adapter(folder: Path) -> None:
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "../no such base", "peft_type": "LORA"}')
    require_hub_id(folder, read_adapter(folder), is_local=True)


def nothing_found(folder: Path) -> object:
    return masked_building.build(
        masked_building.find_nouns(
            domain_sentences.from_table(read_table("text,domain\n駅で本を読む。,旅\n".encode(), "d.csv"))
        ),
        nouns=["象"],
    )


# A fault, and what of it must stand in the message.
FAULTS: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "empty file": (csv(""), ("a.csv",)),
    "ending": (csv("x", name="a.docx"), ("a.docx", ".docx", ".csv, .tsv")),
    "open quotation mark": (csv('text,label\n"猫,a\n'), ("a.csv", "2行目", "引用符")),
    "fields": (csv("text,label\n猫\n犬,b,c\n鳥,c\n"), ("2行", "3行のうち", "1欄", "3欄", "コンマ", "2列")),
    "NUL": (csv("text,label\n猫\0,a\n"), ("a.csv", "2行目")),
    "undecodable": (lambda folder: read_table(b"text,label\n\xff\xff\xff\x81,a\n", "a.csv"), ("a.csv",)),
    "same column twice": (csv("text,text\na,b\n"), ("'text'",)),
    "header alone": (csv("text,label\n"), ("'text', 'label'",)),
    "JSON lines": (
        csv('{"a": 1}\n[1]\nnull\n{"a": 1, "a": 2}\nx\n', name="a.jsonl"),
        ("4行", "2行目", "3行目", "4行目", "'a'", "リスト", "値がありません"),
    ),
    "JSON list": (csv('[{"a": 1},\n {"a" 2}]', name="a.json"), ("a.json", "2行目")),
    "no workbook": (csv("text", name="a.xlsx"), ("a.xlsx", "CSV UTF-8")),
    "damaged workbook": (lambda folder: read_table(zipped({"a.txt": "x"}), "a.xlsx"), ("a.xlsx",)),
    "nothing pasted": (lambda folder: paste_table(" ", ["text", "label"]), ("'text', 'label'",)),
    "no file": (lambda folder: read_table(folder / "none.csv"), ("none.csv", ".csv, .tsv")),
    "no archive": (lambda folder: list(read_members(b"x", "a.zip")), ("a.zip", ".zip")),
    "cut archive": (
        lambda folder: list(read_members(zipped({"a.txt": "x" * 99})[:40], "a.zip")),
        ("a.zip", "File is not a zip file"),
    ),  # in the words of the library
    "member outside": (lambda folder: list(read_members(zipped({"../a.txt": "x"}), "a.zip")), ("a.zip", "../a.txt")),
    "missing column": (
        csv("a,b\nx,y\n", labelled_sentences.from_table),
        ("a.csv", "「text」", "「label」", "'sentence', '文'", "'class'", "'a', 'b'"),
    ),
    "wrong column": (csv(CSV, labelled({"label": "classes"})), ("'classes'",)),
    "unknown role": (csv(CSV, labelled({"group": "label"})), ("'group'",)),
    "one column twice": (csv(CSV, labelled({"label": "text"})), ("'text'",)),
    "empty cells": (
        csv("text,label\n猫,\n 　,b\n,\u3000\n鳥,c\n", labelled_sentences.from_table),
        ("4行のうち3行", "1行目: 「label」が空", "2行目: 「text」が空白だけ", "3行目: 「text」が空です、「label」が空"),
    ),
    "one label": (csv("text,label\n猫,a\n犬,a\n", labelled_sentences.from_table), ("'a'", "2文")),
    "one sentence": (csv("text,label\n猫,a\n", labelled_sentences.from_table), ("a.csv", "1文")),
    "too many labels": (
        csv("text,label,kind\n" + "".join(f"猫{n},{n},{n % 3}\n" for n in range(1001)), labelled_sentences.from_table),
        ("1,001種類", "1,000種類", "「kind」（3種類）"),
    ),
    "human scores": (
        csv(
            "reference,candidate,score\na,b,x\nc,d,1\n",
            lambda table: sentence_pairs.from_table(table, {"human": ("score",)}),
        ),
        ("2行のうち1行", "「score」の値は'x'です"),
    ),
    "two references": (
        csv(
            "reference,candidate\na,b\n",
            lambda table: sentence_pairs.from_table(table, {"reference": ("reference", "candidate")}),
        ),
        ("'reference', 'candidate'",),
    ),
    "no mask": (
        csv("text,label\n駅で本を読む。,犬\n[MASK]と[MASK],犬\n", masked_sentences.from_table),
        ("2行のうち2行", "「text」にマスクもラベル「犬」もありません", "マスクが2個", "＿＿"),
    ),
    "typed sentence": (lambda folder: masked_sentences.single_sentence("", "犬", "", "typed"), ("＿＿",)),
    "noun that never occurs": (nothing_found, ("d.csv", "象")),
    "archive without pairs": (lambda folder: read_pairs([("p.zip", zipped({"a.csv": "x,y\n1,2\n"}))]), ("a.csv",)),
    "files of two kinds": (
        lambda folder: read_pairs(
            [
                ("a.csv", "good,bad\n猫がいる,猫をいる\n".encode()),
                ("b.csv", "sentence,label\n猫がいる,1\n犬,0\n".encode()),
            ]
        ),
        ("'a.csv'", "'b.csv'"),
    ),
    "versions of a cluster": (
        lambda folder: (_ for _ in ()).throw(
            InputError(_version_difference({"torch": "2.13", "code": "a"}, {"torch": "2.12", "code": "b"}))
        ),
        ("torch", "2.12", "2.13"),
    ),
    "livedoor": (
        lambda folder: read_livedoor(zipped({"it/it-1.txt": "a\n"}), "l.zip"),
        ("it/it-1.txt", "1行", "3行目"),
    ),
    "reviews": (
        lambda folder: read_reviews(b"<items><item>", "books.review"),
        ("books.review", "1行目", "no element found"),
    ),
    "no corpus": (lambda folder: list(read_documents([folder])), (".txt",)),
    "sample": (lambda folder: sample_data.file_of("sample/pairs"), ("'sample/pairs'",)),
    "label permutations": (lambda folder: label_permutation([[0.0], [1.0]], ["a", "b"], n_permutations=0), ("0",)),
    "labels": (lambda folder: labelled_vectors([[0.0], [1.0]], ["news", "news"]), ("1種類（'news'）", "2文")),
    "not finite": (lambda folder: labelled_vectors([[np.nan], [1.0]], ["a", "b"]), ("2個", "1個")),
    "zero vector": (lambda folder: nearest_neighbours([[0.0, 0.0], [1.0, 0.0]], n_neighbours=1), ("コサイン",)),
    "map": (lambda folder: umap_projection([[0.0], [1.0], [2.0]]), ("2次元", "4文", "3です")),
    "normalisation": (
        lambda folder: normalized([-1.0], [1], "MeanLL"),
        ("「MeanLL」", "MeanLP", "per character", "bits per byte", "prompt vote"),
    ),
    "columns of a correlation": (lambda folder: pearson([1.0, 2.0], [1.0]), ("(2,)", "(1,)")),
    "dictionary": (
        lambda folder: from_counts({"猫": 3}, {"猫": 3}, 2, "wiki", "m", "file"),
        ("「wiki」", "「猫」", "3", "1～2"),
    ),
    "resamples": (lambda folder: check(ClusterSettings(("m",), resamples=99)), ("resamples", "100～10,000", "99")),
    "strict bounds": (lambda folder: check(ClassificationSettings(("m",), test_share=1.0)), ("test_share", "1.0")),
    "choice": (lambda folder: check(Scoring(penalty="sometimes")), ("penalty", "'sometimes'")),
    "notebook": (
        lambda folder: evaluate("clusters", [("猫", "a"), ("犬", "b")], "m", data_dir=folder, laver=1),
        ("'laver'", "pooling"),
    ),
    "kind": (lambda folder: evaluate("cluster", [], "m"), ("'cluster'",)),
    "layer": (lambda folder: resolve_layer(13, 12, "bert"), ("bert", "12", "-13", "13")),
    "precision": (lambda folder: resolved("fp8", "float32", "cpu"), ("'fp8'", "bf16")),
    "normalisation step": (lambda folder: normalize("a", ["upper"]), ("'upper'", "nfkc, lower")),
    "segmenter": (lambda folder: segmenters.word_spans("猫", "mecab"), ("'mecab'",)),
    "dictionary directory": (lambda folder: mecab.directory(str(folder)), ("sys.dic",)),
    "own readings": (lambda folder: own_readings("斉藤"), ("斉藤", "斉藤=さいとう")),
    "label of a model": (lambda folder: names.split_label(f"{'x' * 99}=owner/name"), ("99", "owner/name")),
    "model twice": (lambda folder: names.require_distinct(["a", "a"]), ("a",)),
    "card": (lambda folder: names.split_card("paper/none=models/x"), ("paper/none",)),
    "built-in model": (lambda folder: locate("builtin/bert"), ("builtin/bert", "builtin/bert-mini-ja")),
    "no model": (model({}), ("config.json",)),
    "no weights": (
        model({"config.json": {"model_type": "bert"}, "notes.txt": "x"}, weight_files),
        ("model.safetensors", "save_pretrained"),
    ),
    "configuration": (
        model({"config.json": "{"}),
        ("config.json", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ),
    "configuration list": (model({"config.json": []}), ("config.json",)),
    "modules": (model({"config.json": {}, "modules.json": [{"path": "../x", "type": "a.Pooling"}]}), ("'../x'",)),
    "adapter": (adapter, ("'../no such base'", "base_model_name_or_path")),
    "recipe": (
        lambda folder: recipe_from({"normalize": ["upper"], "max_tokens": 0, "x": 1, "segmenter": "y"}, "recipe.json"),
        ("recipe.json", "x", "'y'", "mecab-jumandic", "max_tokens", "['upper']", "nfkc, full-width, lower"),
    ),
    "model that is not allowed": (
        lambda folder: AllowedModels(patterns=("cl-tohoku/*",)).require("gpt2"),
        ("'gpt2'", "cl-tohoku/*"),
    ),
    "endpoint": (lambda folder: endpoints({"HAKARI_ENDPOINTS": "llama=https://gpu1:8000/v1"}), ("llama", "model=")),
    "endpoint number": (
        lambda folder: endpoints({"HAKARI_ENDPOINTS": "a=http://b/v1 model=c requests=1.5"}),
        ("requests=", "'1.5'"),
    ),
    "days": (lambda folder: configuration({"HAKARI_BIN_DAYS": "many"}), ("HAKARI_BIN_DAYS", "'many'")),
    "cache sharing": (
        lambda folder: configuration({"HAKARI_CACHE_SHARING": "some"}),
        ("HAKARI_CACHE_SHARING", "'some'"),
    ),
    "members": (lambda folder: parsed_members({"HAKARI_ALLOWED_EMAILS": "ann"}), ("ann",)),
    "name of a run": (lambda folder: run_name("x" * 999), ("999",)),
    "unknown run": (lambda folder: (_ for _ in ()).throw(unknown_run("r1")), ("r1",)),
    "database": (lambda folder: checked_url("mysql://h/d", "HAKARI_DATABASE_URL"), ("HAKARI_DATABASE_URL", "mysql")),
    "stored settings": (
        lambda folder: record_from_json(ClusterSettings, {"models": ["m"], "colour": 1}),
        ("'colour'",),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_is_wholly_japanese_and_names_what_it_is_about(fault: str, tmp_path: Path) -> None:
    raise_it, values = FAULTS[fault]
    with pytest.raises(EngineError) as caught:
        raise_it(tmp_path)
    _require_japanese(str(caught.value), values)


NOTICES: dict[str, tuple[Callable[[], tuple[str, ...]], tuple[str, ...]]] = {
    "human scores": (
        lambda: human_scores.notices({"a b": [1.0, 4.0, np.nan], "c": [-2.0, 7.5, 1.0]}, (1, 2, 3)),
        ("人手評価「a b」: 1～4", "1-5", "1行に「a b」のスコア", "-2～7.5"),
    ),
    "articles that cannot be read": (
        lambda: (
            livedoor.labelled(
                read_livedoor(
                    zipped(
                        {f"it/it-{n}.txt": "a\n" for n in range(9)}
                        | {f"{name}/{name}-1.txt": "https://a\n2026\n題\n文\n" for name in ("go", "it-x")}
                    ),
                    "l.zip",
                )
            ).notices
        ),
        ("9", "it/it-0.txt", "…"),
    ),
    "repeated rows": (
        lambda: (
            labelled_sentences.from_table(read_table("text,label\n猫,a\n猫,a\n猫,b\n猫,b\n".encode(), "a.csv")).notices
        ),
        ("2, 4", "1行", "2行"),
    ),
    "the end of a model's own code": (
        lambda: (
            Message("The process of the own code of {name} {ended}.", name="m", ended=how_it_ended(3, BY_ITSELF)),
            Message(
                "The process of the own code of {name} {ended}.", name="m", ended=Message("was ended with its run")
            ),
        ),
        (
            "mの独自コードのプロセスは終了コード3で終了しました。",
            "mの独自コードのプロセスは実行とともに終了させられました。",
        ),
    ),
}


@pytest.mark.parametrize("notice", NOTICES)
def test_a_notice_is_wholly_japanese(notice: str) -> None:
    notices, values = NOTICES[notice]
    _require_japanese(together("\n", notices()), values)


def test_rows_left_out_are_told_with_their_reasons() -> None:
    table = read_table("text,label\n猫,a\n犬\n,b\n鳥,c\n".encode(), "a.csv", skip_bad_rows=True)
    notices = labelled_sentences.from_table(table, skip_bad_rows=True).notices
    _require_japanese(
        together("\n", notices),
        ("2行を除きました", "欄の数が2ではありません（1欄）（2行目）", "「text」が空です（3行目）"),
    )


def test_a_correlation_that_is_undefined_says_why() -> None:
    _require_japanese(
        pearson([1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0], names=("F1", "the human score")).reason,
        ("F1が4対すべてで1です",),
    )
    _require_japanese(length_slope([1, 1], [1, 2]).reason, ("2",))


def test_what_is_not_ours_stays_as_it_is() -> None:
    for text in ("a model and its card", "Someone's note; and more of it. See above.", "rows", "3 of 4 rows"):
        assert languages.translated(text) == text


def test_further_rows_are_counted() -> None:
    error = InputError("a.csv is empty.", [BadRow(number, EMPTY.format(column="a")) for number in range(1, 31)])
    assert languages.translated(str(error)).splitlines()[-1] == "  … ほか10行"


def _require_japanese(english: str, values: tuple[str, ...]) -> None:
    shown = languages.translated(english)
    shown_without = shown
    values = tuple(value.replace(", ", "、") for value in values)  # a list of names
    missing = [value for value in values if value not in shown]
    for value in values:
        shown_without = shown_without.replace(value, "")
    left = COMMANDS.sub("", re.sub(r"'[^']*'|\"[^\"]*\"|\(/?[\w/.-]*\)", "", shown_without))
    assert not missing and not ENGLISH.search(left), f"{missing or ENGLISH.findall(left)}\n{english}\n{shown}"


@pytest.mark.parametrize(
    "text",
    [
        "Ab. " * 3000,
        "a" * 100_000 + " rows have no label.",
        "Row: " * 2000,
        "{n} rows {0!r:>{1}} " * 1000,
    ],
)
def test_a_long_text_that_is_not_ours_stays_as_it_is(text: str) -> None:
    assert languages.translated(text) == text
