"""The command line as DESIGN promises it: tables, columns, exit codes, every bad row on stderr."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.datasets.sample_data import path as sample_path

BERT, GPT2 = "builtin/bert-mini-ja", "builtin/gpt2-mini-ja"
COLUMNS = {
    ("clusters", "models"): "model n_sentences n_classes in_class_dispersion out_of_class_dispersion score rank "
                            "rank_group in_class_variance out_of_class_variance",
    ("clusters", "classes"): "model class n dispersion centroid_distance",
    ("clusters", "intervals"): "model measure value ci_low ci_high",
    ("clusters", "comparisons"): "model other difference ci_low ci_high separable",
    ("clusters", "null"): "model score null_mean null_low null_high p_value",
    ("clusters", "validity"): "model silhouette calinski_harabasz davies_bouldin v_measure ari nmi sample_size "
                              "n_starts",
    ("clusters", "layers"): "model layer in_class_dispersion out_of_class_dispersion score",
    ("clusters", "points"): "model row text label x y z own_distance nearest_class nearest_distance",
    ("clusters", "centroids"): "model class x y z",
    ("clusters", "centroid_distances"): "model class other distance",
    ("clusters", "neighbours"): "model row rank neighbour distance",
    ("clusters", "overlap"): "model other mean_overlap expected",
    ("alignment", "pairs"): "model row precision recall f1 precision_penalty recall_penalty penalized_precision "
                            "penalized_recall penalized_f1",
    ("alignment", "tokens"): "model row side position token reading idf low_frequency match_position match_token "
                             "similarity reading_distance agreement",
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
        "clusters": [sample_path("labelled_sentences"), "--model", BERT, "--model", GPT2, "--normalize", "nfkc,lower",
                     "--pooling", "mean", "--projection", "pca", "--dimensions", "3", "--layer-curve", "--centre",
                     "--resamples", "200", "--lone-classes", "exclude", "--metric", "euclidean", "--seed", "5"],
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


@pytest.mark.parametrize(("command", "name"), COLUMNS)
def test_tables_have_the_promised_columns_in_order(out: Path, command: str, name: str) -> None:
    promised = COLUMNS[command, name].split()
    assert list(table(out / command / f"{name}.csv")[0])[:len(promised)] == promised


def test_the_samples_are_weighed_whole(out: Path) -> None:
    clusters, _ = table(out / "clusters" / "models.csv")
    assert (clusters["n_sentences"], clusters["n_classes"]) == ("180", "9")
    assert float(clusters["score"]) == pytest.approx(
        float(clusters["in_class_dispersion"]) / float(clusters["out_of_class_dispersion"]))
    assert len(table(out / "alignment" / "pairs.csv")) == 60
    assert len(table(out / "minimal-pairs" / "pairs.csv")) == 400


def test_clusters_takes_every_option(out: Path) -> None:
    settings = json.loads((out / "clusters" / "settings.json").read_text(encoding="utf-8"))["settings"]
    assert settings == {
        "layer": None, "pooling": "mean", "normalize": ["nfkc", "lower"], "centre": True, "layer_curve": True,
        "projection": "pca", "dimensions": 3, "n_neighbors": 15, "min_dist": 0.1, "metric": "euclidean", "seed": 5,
        "resamples": 200, "lone_classes": "exclude",
    }
    points, neighbours = table(out / "clusters" / "points.csv"), table(out / "clusters" / "neighbours.csv")
    assert len(points) == 2 * 180 and len(neighbours) == 2 * 180 * 10 and points[0]["z"]
    layers = table(out / "clusters" / "layers.csv")
    assert [row["layer"] for row in layers] == ["0", "1", "2", "3", "4"] * 2
    scores = {row["model"]: row["score"] for row in table(out / "clusters" / "models.csv")}
    assert {row["model"]: row["score"] for row in layers if row["layer"] == "4"} == scores


def test_swapped_names_cost_more_than_other_spellings(out: Path) -> None:
    """What the penalty is for: the same name otherwise written is forgiven, another name is not."""
    changes = {str(i): row["change"] for i, row in enumerate(table_of_sample("sentence_pairs"), start=1)}
    cost: dict[str, list[float]] = {}
    for row in table(out / "alignment" / "pairs.csv"):
        cost.setdefault(changes[row["row"]], []).append(float(row["f1"]) - float(row["penalized_f1"]))
    means = {change: sum(values) / len(values) for change, values in cost.items()}
    assert means["swapped name"] > means["spelling variant"]


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


def run_badly(capsys: pytest.CaptureFixture[str], cache: Path, folder: Path, content: bytes | None, *options: str,
              command: str = "clusters", name: str = "data.csv", model: str = BERT) -> tuple[int, str]:
    data = folder / name
    if content is not None:
        data.write_bytes(content)
    places = ["--data", str(data), "--out", str(folder / "out"), "--cache", str(cache)]
    code = main([command, *places, "--model", model, *options])
    return code, capsys.readouterr().err


LONG = "長い文が続く。" * 800


@pytest.mark.parametrize(("content", "expected"), [
    (b"", "empty"),
    ("文章,分類\n".encode(), "no row"),
    ("a,b\n猫,犬\n".encode(), "text"),
    ("text,label\n猫がいる,動物\n犬がいる,動物\n".encode(), "at least 2"),
    ("text,label\n猫がいる,動物\n".encode(), "2"),
    ("text,label\n,動物\n犬,動物\n ,植物\n".encode(), "row 3"),
    ("text,label\n猫,動物\n".encode() + "花,植物\n".encode("cp932"), "line 3"),
    (f"text,label\n{LONG},甲\n猫がいる,乙\n犬がいる,乙\n".encode(), "1 classes"),
    (None, "data.csv"),
])
def test_bad_input_ends_with_2_and_says_what_where_and_what_would_do(
    capsys: pytest.CaptureFixture[str], cache: Path, tmp_path: Path, content: bytes | None, expected: str
) -> None:
    code, said = run_badly(capsys, cache, tmp_path, content)
    assert code == 2 and expected in said and "Traceback" not in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("model", "command", "expected"), [
    ("no-such-owner/no-such-model", "clusters", "no-such-owner/no-such-model"),
    ("./no/such/directory", "clusters", "no/such/directory"),
    ("builtin/no-such", "clusters", "builtin/bert-mini-ja"),
    (GPT2, "clusters", "mean"),
])
def test_a_model_that_cannot_be_used_ends_with_2(
    capsys: pytest.CaptureFixture[str], cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str,
    command: str, expected: str,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    rows = "text,label\n猫がいる,動物\n花がさく,植物\n".encode()
    code, said = run_badly(capsys, cache, tmp_path, rows, command=command, model=model)
    assert code == 2 and expected in said and "Traceback" not in said


def test_emoji_and_half_width_kana_are_weighed(capsys: pytest.CaptureFixture[str], cache: Path, tmp_path: Path) -> None:
    rows = "text,label\n😀ﾈｺがいる,動物\n🐶ｲﾇがいる,動物\n🌸が咲く,植物\n樹が立つ,植物\n"
    assert run_badly(capsys, cache, tmp_path, rows.encode())[0] == 0


def test_a_sentence_beyond_the_model_is_marked_and_counted(
    capsys: pytest.CaptureFixture[str], cache: Path, tmp_path: Path
) -> None:
    rows = f"text,label\n{LONG},甲\n猫がいる,甲\n犬がいる,甲\n花が咲く,乙\n木が立つ,乙\n"
    code, said = run_badly(capsys, cache, tmp_path, rows.encode(), "--projection", "pca")
    assert code == 0 and "1 of 5 sentences" in said
    (excluded,) = table(tmp_path / "out" / "excluded.csv")
    assert excluded["row"] == "1" and "256" in excluded["reason"]
