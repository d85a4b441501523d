"""The command line as DESIGN promises it: tables, columns, exit codes, every bad row on stderr."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from engine.__main__ import main
from engine.commands.shared.common import write_tables
from engine.datasets.sample_data import path as sample_path
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared.declared_tables import Column, Table
from engine.evaluations.shared.idf_files import read_idf

BERT, GPT2 = "builtin/bert-mini-ja", "builtin/gpt2-mini-ja"
pytestmark = pytest.mark.usefixtures("commands_share_workers")
# The contract of the command line: these columns, in this order; more may follow.
PROMISED = {
    ("clusters", "models"): "model n_sentences n_classes in_class_dispersion out_of_class_dispersion score",
    ("clusters", "classes"): "model class n dispersion centroid_distance",
    ("classification", "models"): "model n_train n_test accuracy_min accuracy_max accuracy_mean",
    ("fill-mask", "models"): "model domain n mean_probability",
    ("fill-mask", "items"): "model row domain label probability rank",
    ("alignment", "pairs"): "model row precision recall f1 precision_penalty recall_penalty penalized_precision "
    "penalized_recall penalized_f1",
    ("alignment", "tokens"): "model row side position token reading idf low_frequency match_position match_token "
    "similarity reading_distance agreement",
    ("metric-study", "settings"): "model idf penalty n pearson ci_low ci_high spearman kendall",
    ("minimal-pairs", "pairs"): "model row category acceptable_tokens unacceptable_tokens acceptable_log_likelihood "
    "unacceptable_log_likelihood",
    ("minimal-pairs", "summary"): "model normalization stratum n n_correct n_tied accuracy ci_low ci_high",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def out(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every evaluation once, on the samples."""
    folder = tmp_path_factory.mktemp("out")
    runs = {
        "clusters": [
            sample_path("labelled_sentences"),
            "--model",
            BERT,
            "--model",
            GPT2,
            "--normalize",
            "nfkc,lower",
            "--pooling",
            "mean",
            "--prompt",
            "query: ",
            "--truncate-dim",
            "7",
            "--precision",
            "bf16",
            "--projection",
            "pca",
            "--dimensions",
            "3",
            "--layer-curve",
            "--centre",
            "--correction",
            "all-but-the-top",
            "--removed-components",
            "2",
            "--clusterings",
            "3",
            "--resamples",
            "200",
            "--lone-classes",
            "exclude",
            "--metric",
            "euclidean",
            "--seed",
            "5",
        ],
        "alignment": [sample_path("sentence_pairs"), "--model", BERT, "--idf", "novel", "--penalty", "reading"],
        "minimal-pairs": [sample_path("minimal_pairs"), "--model", BERT, "--model", GPT2],
    }
    for command, (data, *rest) in runs.items():
        places = ["--data", str(data), "--out", str(folder / command), "--cache", str(cache)]
        assert main([command, *places, *map(str, rest)]) == 0
    return folder


def table(path: Path) -> list[dict[str, str]]:
    raw = path.read_bytes()
    assert not raw.startswith(b"\xef\xbb\xbf")  # plain UTF-8
    return list(csv.DictReader(raw.decode("utf-8").splitlines()))


def test_the_declared_tables_keep_the_contract() -> None:
    declared = {(kind, table.name): table for kind, evaluation in EVALUATIONS.items() for table in evaluation.tables}
    assert {
        key: " ".join(table.headers[: table.promised]) for key, table in declared.items() if table.promised
    } == PROMISED


@pytest.mark.parametrize("command", ["clusters", "alignment", "minimal-pairs"])
def test_the_files_have_the_declared_columns_in_order(out: Path, command: str) -> None:
    tables = {table.name: table for table in EVALUATIONS[command].tables}
    written = {
        path.stem: path.read_text(encoding="utf-8").splitlines()[0].split(",") for path in (out / command).glob("*.csv")
    }
    for name, columns in written.items():
        declared = tables[name].headers
        assert columns[: len(declared)] == declared
        # After them whatever else the input has, in tables of its rows.
        assert columns[len(declared) :] in ([], ["phenomenon"] if tables[name].of_input else [])
    assert {name for name, table in tables.items() if not table.only_with_rows} <= set(written)


def test_tables_are_written_as_declared_or_not_at_all(tmp_path: Path) -> None:
    score = Column("score", "number", "a score")
    table = Table("scores", "A row for each model.", (Column("model", "text", "the model"), score))
    optional = Table("optional", "A row for each model.", (score,), only_with_rows=True)
    frame = pd.DataFrame({"score": [0.5], "model": ["a"]})
    write_tables(
        tmp_path / "out", {"seed": 0}, (table, optional), {"scores": frame, "optional": optional.frame()}, None
    )
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["scores.csv", "settings.json"]
    assert (tmp_path / "out" / "scores.csv").read_text(encoding="utf-8") == "model,score\na,0.5\n"
    with pytest.raises(TypeError, match="'scores' lacks the columns: model"):
        write_tables(tmp_path / "out", {}, (table,), {"scores": frame[["score"]]}, None)


def test_the_samples_are_weighed_whole(out: Path) -> None:
    clusters, _ = table(out / "clusters" / "models.csv")
    assert (clusters["n_sentences"], clusters["n_classes"]) == ("180", "9")
    assert float(clusters["score"]) == pytest.approx(
        float(clusters["in_class_dispersion"]) / float(clusters["out_of_class_dispersion"])
    )
    assert len(table(out / "alignment" / "pairs.csv")) == 60
    assert len(table(out / "minimal-pairs" / "pairs.csv")) == 400


def test_clusters_takes_every_option(out: Path) -> None:
    settings = json.loads((out / "clusters" / "settings.json").read_text(encoding="utf-8"))["settings"]
    assert settings == {
        "layer": None,
        "pooling": "mean",
        "prompt": "query: ",
        "prompt_name": None,
        "truncate_dim": 7,
        "precision": "bf16",
        "normalize": ["nfkc", "lower"],
        "centre": True,
        "layer_curve": True,
        "projection": "pca",
        "dimensions": 3,
        "n_neighbors": 15,
        "min_dist": 0.1,
        "metric": "euclidean",
        "seed": 5,
        "resamples": 200,
        "lone_classes": "exclude",
        "correction": "all-but-the-top",
        "whitened_dims": None,
        "removed_components": 2,
        "clusterings": 3,
        "class_columns": [],
    }
    points, neighbours = table(out / "clusters" / "points.csv"), table(out / "clusters" / "neighbours.csv")
    assert len(points) == 2 * 180 and len(neighbours) == 2 * 180 * 10 and points[0]["z"]
    assert {row["n_seeds"] for row in table(out / "clusters" / "clusterings.csv")} == {"3"}
    layers = table(out / "clusters" / "layers.csv")
    assert [row["layer"] for row in layers] == ["0", "1", "2", "3", "4"] * 2
    scores = {row["model"]: row["score"] for row in table(out / "clusters" / "models.csv")}
    assert {row["model"]: row["score"] for row in layers if row["layer"] == "4"} == scores


def test_swapped_names_cost_more_than_other_spellings(cache: Path, tmp_path: Path) -> None:
    """What names by reading, the default, is for: the same name otherwise written gains, another name loses."""
    assert (
        main(
            [
                "alignment",
                "--data",
                str(sample_path("sentence_pairs")),
                "--model",
                BERT,
                "--out",
                str(tmp_path),
                "--cache",
                str(cache),
            ]
        )
        == 0
    )
    changes = {str(i): row["change"] for i, row in enumerate(table_of_sample("sentence_pairs"), start=1)}
    cost: dict[str, list[float]] = {}
    for row in table(tmp_path / "pairs.csv"):
        cost.setdefault(changes[row["row"]], []).append(float(row["f1"]) - float(row["penalized_f1"]))
    means = {change: sum(values) / len(values) for change, values in cost.items()}
    assert means["名前の入れ替え"] > 0.01 > 0 > means["表記ゆれ"]


def table_of_sample(kind: str) -> list[dict[str, str]]:
    with sample_path(kind).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_settings_hold_the_signature(out: Path) -> None:
    settings = json.loads((out / "alignment" / "settings.json").read_text(encoding="utf-8"))
    assert settings["models"][0]["name"] == BERT and settings["settings"]["scoring"]["idf"] == "novel"
    assert settings["layers"] == {BERT: 4} and settings["thresholds"][BERT] > 0


def test_a_second_run_gives_the_same_files_from_the_cache(out: Path, cache: Path, tmp_path: Path) -> None:
    arguments = ["minimal-pairs", "--data", str(sample_path("minimal_pairs")), "--model", BERT, "--model", GPT2]
    assert main([*arguments, "--out", str(tmp_path), "--cache", str(cache)]) == 0
    for name in ("pairs.csv", "summary.csv", "tokens.csv", "settings.json"):
        assert (tmp_path / name).read_bytes() == (out / "minimal-pairs" / name).read_bytes()


def test_an_idf_dictionary_of_ones_own(cache: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("猫が魚を食べた。\n犬が走った。\n\n猫が眠った。\n", encoding="utf-8")
    path = tmp_path / "own.json.gz"
    counted = ["--corpus", str(corpus), "--unit", "line", "--out", str(path)]
    assert main(["dictionary", "--model", BERT, *counted, "--cache", str(cache)]) == 0
    arguments = ["alignment", "--data", str(sample_path("sentence_pairs")), "--model", BERT, "--idf", str(path)]
    assert main([*arguments, "--out", str(tmp_path / "out"), "--cache", str(cache)]) == 0


def test_what_a_page_says_of_a_dictionary_the_command_says(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text, said in (
        ("猫が魚を食べた。\n", ("every token's idf is 0",)),
        (" \n", ("The corpus has no token",)),
    ):
        corpus = tmp_path / "corpus.txt"
        corpus.write_text(text, encoding="utf-8")
        counted = ["--corpus", str(corpus), "--out", str(tmp_path / "one.json"), "--cache", str(cache)]
        assert main(["dictionary", "--model", BERT, *counted]) == 0
        notes = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note: ")]
        assert len(notes) == len(said) and all(part in note for part, note in zip(said, notes, strict=True))


def test_an_idf_dictionary_of_words(cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("斉藤が魚を食べた。\n犬が走った。\n\n猫が眠った。\n", encoding="utf-8")
    path = tmp_path / "words.json.gz"
    counted = ["dictionary", "--corpus", str(corpus), "--unit", "line", "--out", str(path), "--cache", str(cache)]
    assert main([*counted, "--words"]) == 0
    dictionary = read_idf(path)
    assert dictionary.of_words and dictionary.n_documents == 3 and dictionary.document_counts["斉藤"] == 1
    alignment = ["alignment", "--data", str(sample_path("sentence_pairs")), "--model", GPT2, "--cache", str(cache)]
    assert main([*alignment, "--idf", str(path), "--penalty", "reading", "--out", str(tmp_path / "out")]) == 0
    settings = json.loads((tmp_path / "out" / "settings.json").read_text(encoding="utf-8"))
    assert settings["dictionaries"][GPT2].startswith("words (words: unidic-lite ")
    capsys.readouterr()
    for further, said in (([], "not said what to count"), (["--words", "--model", BERT], "a model or words, not both")):
        assert main([*counted, *further]) == 2 and said in capsys.readouterr().err
    minimal_pairs = ["minimal-pairs", "--data", str(sample_path("minimal_pairs")), "--model", BERT]
    assert main([*minimal_pairs, "--unigrams", str(path), "--out", str(tmp_path / "slor"), "--cache", str(cache)]) == 2
    assert "pieces of a tokenizer are looked up" in capsys.readouterr().err


def run_badly(
    capsys: pytest.CaptureFixture[str],
    cache: Path,
    folder: Path,
    content: bytes | None,
    *options: str,
    command: str = "clusters",
    name: str = "data.csv",
    model: str = BERT,
) -> tuple[int, str]:
    data = folder / name
    if content is not None:
        data.write_bytes(content)
    places = ["--data", str(data), "--out", str(folder / "out"), "--cache", str(cache)]
    code = main([command, *places, "--model", model, *options])
    return code, capsys.readouterr().err


LONG = "長い文が続く。" * 800


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty"),
        ("文章,分類\n".encode(), "no row"),
        ("a,b\n猫,犬\n".encode(), "text"),
        ("text,label\n猫がいる,動物\n犬がいる,動物\n".encode(), "at least 2"),
        ("text,label\n猫がいる,動物\n".encode(), "2"),
        ("text,label\n,動物\n犬,動物\n ,植物\n".encode(), "row 3"),
        ("text,label\n猫,動物\n".encode() + "花,植物\n".encode("cp932"), "line 3"),
        (f"text,label\n{LONG},甲\n猫がいる,乙\n犬がいる,乙\n".encode(), "1 classes"),
        (None, "data.csv"),
    ],
)
def test_bad_input_ends_with_2_and_says_what_where_and_what_would_do(
    capsys: pytest.CaptureFixture[str], cache: Path, tmp_path: Path, content: bytes | None, expected: str
) -> None:
    code, said = run_badly(capsys, cache, tmp_path, content)
    assert code == 2 and expected in said and "Traceback" not in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("model", "command", "expected"),
    [
        ("no-such-owner/no-such-model", "clusters", "no-such-owner/no-such-model"),
        ("./no/such/directory", "clusters", "no/such/directory"),
        ("builtin/no-such", "clusters", "builtin/bert-mini-ja"),
        (GPT2, "clusters", "mean"),
    ],
)
def test_a_model_that_cannot_be_used_ends_with_2(
    capsys: pytest.CaptureFixture[str],
    cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    command: str,
    expected: str,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    rows = "text,label\n猫がいる,動物\n花がさく,植物\n".encode()
    code, said = run_badly(capsys, cache, tmp_path, rows, command=command, model=model)
    assert code == 2 and expected in said and "Traceback" not in said


def test_emoji_and_half_width_kana_are_weighed(capsys: pytest.CaptureFixture[str], cache: Path, tmp_path: Path) -> None:
    rows = "text,label\n😀ﾈｺがいる,動物\n🐶ｲﾇがいる,動物\n🌸が咲く,植物\n樹が立つ,植物\n"
    assert run_badly(capsys, cache, tmp_path, rows.encode(), "--projection", "pca")[0] == 0


def test_a_sentence_beyond_the_model_is_marked_and_counted(
    capsys: pytest.CaptureFixture[str], cache: Path, tmp_path: Path
) -> None:
    rows = f"text,label\n{LONG},甲\n猫がいる,甲\n犬がいる,甲\n花が咲く,乙\n木が立つ,乙\n"
    code, said = run_badly(capsys, cache, tmp_path, rows.encode(), "--projection", "pca")
    assert code == 0 and "1 of 5 sentences" in said
    (excluded,) = table(tmp_path / "out" / "excluded.csv")
    assert excluded["row"] == "1" and "256" in excluded["reason"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device that is always full")
def test_a_full_disk_ends_with_1_and_says_what_would_do(capsys: pytest.CaptureFixture[str]) -> None:
    def add(commands: Any) -> None:
        writing = commands.add_parser("write")
        writing.set_defaults(run=lambda _: Path("/dev/full").write_text("x", encoding="utf-8"))

    assert main(["write"], add_commands=add) == 1
    assert "error: A file cannot be written: No space left on device. Make room" in capsys.readouterr().err
