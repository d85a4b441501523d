"""Benchmarks beside the runs: the layouts of mteb and JMTEB, tables, matching of names, what is refused."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from engine.datasets import reader_process
from engine.errors import InputError
from engine.evaluations.agreement.benchmark import held_against
from engine.evaluations.agreement.benchmark_files import read_benchmark

# Figures of the published results of JMTEB (docs/results of its repository, 2024).
JMTEB = {
    "cl-nagoya/ruri-base": {"STS": {"jsts": {"spearman": 0.8296}}, "Clustering": {"mewsc16": {"v_measure_score": 0.5}}},
    "colorfulscoop/sbert-base-ja": {"STS": {"jsts": {"spearman": 0.7408}}, "Clustering": {"mewsc16": {"v": 0.25}}},
}


def mteb_task(task: str, **splits: list[float]) -> dict[str, Any]:
    """A result file as mteb 2.26 writes it."""
    scores = {
        split: [
            {"main_score": value, "accuracy": value, "hf_subset": str(at), "languages": ["jpn-Jpan"]}
            for at, value in enumerate(values)
        ]
        for split, values in splits.items()
    }
    return {
        "task_name": task,
        "dataset_revision": "1",
        "mteb_version": "2.26.24",
        "evaluation_time": 1.0,
        "scores": scores,
    }


def written(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def jmteb(folder: Path) -> Path:
    return written(folder, {f"{model}/summary.json": content for model, content in JMTEB.items()})


def test_the_folder_of_jmteb(tmp_path: Path) -> None:
    found = held_against(read_benchmark([jmteb(tmp_path)]), list(JMTEB))
    assert found.models["model"].tolist() == list(JMTEB) and found.models["n_tasks"].tolist() == [2, 2]
    assert found.models["score"].tolist() == pytest.approx([(0.8296 + 0.5) / 2, (0.7408 + 0.25) / 2])
    assert not found.notices


def test_the_folder_of_mteb_and_its_zip(tmp_path: Path) -> None:
    files = {
        "owner__name/abc/model_meta.json": {"name": "owner/name", "revision": "abc"},
        "owner__name/abc/JSTS.json": mteb_task("JSTS", test=[0.8]),
        # of several splits and languages the mean: (0.1 + 0.2 + 0.6) / 3
        "owner__name/abc/Many.json": mteb_task("Many", test=[0.1, 0.2], validation=[0.6]),
        "other__with__more/xyz/JSTS.json": mteb_task("JSTS", test=[0.7]),
        "other__with__more/xyz/Many.json": mteb_task("Many", test=[0.5]),
        "other__with__more/xyz/Alone.json": mteb_task("Alone", test=[0.5]),
    }
    folder = written(tmp_path / "results", files)
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        for name, content in files.items():
            archive.writestr(f"results/{name}", json.dumps(content))
    for source in (folder, ("results.zip", packed.getvalue())):
        read = read_benchmark([source])
        assert set(read.models) == {"owner/name", "other/with/more"}
        found = held_against(read, ["Mine=owner/name", "other/with/more", "not/there"])
        assert dict(zip(found.models["model"], found.models["score"], strict=True)) == pytest.approx(
            {"owner/name": (0.8 + 0.3) / 2, "other/with/more": (0.7 + 0.5) / 2}
        )
        assert found.notices == ("benchmark: the mean of 2 tasks that every model has; left out: Alone.",)
        alone = held_against(read, ["other/with/more"])
        assert alone.models["n_tasks"].tolist() == [3] and not alone.notices


def test_an_upload_is_read_in_a_process_of_its_own(tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "jmteb"), "zip", jmteb(tmp_path / "results")))
    read = reader_process.read(
        read_benchmark, (("jmteb.zip", archive.read_bytes()), ("bare.json", b'{"a": {"b": {"c": 1}}}'))
    )
    assert set(read.models) == {*JMTEB, "bare"}


def test_files_that_name_their_models() -> None:
    results = {"model_name": "a/b", "model_revision": "1", "task_results": [mteb_task("JSTS", test=[0.5])]}
    for content in (results, {"model_results": [results]}):
        read = read_benchmark([("any.json", json.dumps(content).encode())])
        assert [(score.model, score.task, score.value) for score in read.scores] == [("a/b", "JSTS", 0.5)]
    read = read_benchmark([("cl-nagoya__ruri-base.json", json.dumps(JMTEB["cl-nagoya/ruri-base"]).encode())])
    assert read.models == ["cl-nagoya/ruri-base"]


def test_a_leaderboard_as_a_table() -> None:
    table = b"Rank,Model,Type,JSTS,JSICK\n1,a/b,base,0.8,0.7\n2,c/d,base,0.6,\n"
    read = read_benchmark([("board.csv", table)])
    assert [(score.model, score.task, score.value) for score in read.scores] == [
        ("a/b", "JSTS", 0.8),
        ("c/d", "JSTS", 0.6),
        ("a/b", "JSICK", 0.7),
    ]
    assert held_against(read, ["a/b"]).notices == ("benchmark: columns that are no tasks: Rank, Type.",)


def test_models_are_known_by_the_last_part_of_their_names_where_that_is_one_models(tmp_path: Path) -> None:
    read = read_benchmark([jmteb(tmp_path)])
    found = held_against(read, ["/srv/models/ruri-base", "Base=colorfulscoop/sbert-base-ja@main"])
    assert found.models["model"].tolist() == ["/srv/models/ruri-base", "colorfulscoop/sbert-base-ja@main"]
    twice = written(tmp_path / "twice", {"x/ruri-base/summary.json": JMTEB["cl-nagoya/ruri-base"]})
    with pytest.raises(InputError, match=r"None of the benchmark's models .* is in the other evaluations"):
        held_against(read_benchmark([tmp_path, twice]), ["/srv/models/ruri-base"])


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.json", b"{", "x.json is no JSON"),
        ("x.json", b"[1]", "holds no scores of a benchmark"),
        ("x.json", b'{"a": 1}', "holds no scores of a benchmark"),
        ("x.json", b'{"STS": {"jsts": {"spearman": 1, "pearson": 1}}}', "holds no scores of a benchmark"),
        ("x.json", b'{"STS": {"jsts": {"spearman": "high"}}}', "no finite number: 'high'"),
        ("x.json", b'{"STS": {"jsts": {"spearman": NaN}}}', "no finite number: nan"),
        ("summary.json", json.dumps(JMTEB["cl-nagoya/ruri-base"]).encode(), "does not say which model"),
        ("JSTS.json", json.dumps(mteb_task("JSTS", test=[0.5])).encode(), "does not say which model"),
        ("x.json", json.dumps(mteb_task("JSTS", test=[]) | {"model_name": "a"}).encode(), "holds no scores"),
        ("x.json", b'{"model_results": [{}]}', "holds no scores of a benchmark"),
        ("x.json", b'{"model_results": 5}', "holds no scores of a benchmark"),
        ("x.json", b'{"task_results": [1], "model_name": "a"}', "holds no scores of a benchmark"),
        (
            "x.json",
            b'{"task_name": "t", "model_name": "m", "scores": {"test": "abc"}}',
            "holds no scores of a benchmark",
        ),
        ("x.json", b'{"STS": {"jsts": {"spearman": 1' + b"0" * 400 + b"}}}", "no finite number: 10000"),
        ("x.json", b"[" * 100_000, "x.json is no JSON"),
        ("x.csv", b"model,JSTS\na,1e999\n", "no finite number: inf"),
        ("x.csv", b"name,JSTS\na,0.5\n", "holds no scores of a benchmark"),
        ("x.csv", b"model,kind\na,b\n", "No score of a benchmark was found"),
    ],
)
def test_what_is_refused_says_what_is_needed(name: str, content: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_benchmark([(name, content)])


def test_two_scores_of_one_task_are_refused_and_equal_ones_are_one() -> None:
    one, other = (json.dumps({"STS": {"jsts": {"spearman": value}}}).encode() for value in (0.5, 0.6))
    assert len(read_benchmark([("m.json", one), ("m.json", one)]).scores) == 1
    with pytest.raises(InputError, match=r"m has two scores in jsts: 0\.5000 in m\.json, 0\.6000 in m\.json"):
        read_benchmark([("m.json", one), ("m.json", other)])


def test_models_without_a_common_task_have_no_mean() -> None:
    table = pd.DataFrame({"model": ["a", "b"], "x": ["1", ""], "y": ["", "2"]}).to_csv(index=False).encode()
    with pytest.raises(InputError, match="The models a, b have no task of the benchmark in common"):
        held_against(read_benchmark([("t.csv", table)]), ["a", "b"])


@pytest.mark.parametrize("missing", ["-", "NA", "nan", "#N/A"])
def test_a_cell_that_says_that_it_is_missing_leaves_its_column_a_task(missing: str) -> None:
    read = read_benchmark([("board.csv", f"model,JSTS,JSICK\na/b,0.8,0.7\nc/d,0.6,{missing}\n".encode())])
    assert [(score.model, score.task) for score in read.scores] == [("a/b", "JSTS"), ("c/d", "JSTS"), ("a/b", "JSICK")]
    assert not read.passed_over


def test_shares_and_per_cent_have_no_common_mean() -> None:
    """Files of mteb hold shares, published leaderboards often per cent."""
    files = [("a.json", json.dumps({"STS": {"JSTS": {"s": 0.81}}}).encode()), ("t.csv", b"model,JSTS\nb,79.5\n")]
    with pytest.raises(InputError, match="The scores of a lie between 0 and 1, and those of b do not"):
        held_against(read_benchmark(files), ["a", "b"])
    assert held_against(read_benchmark(files), ["b"]).models["score"].tolist() == [79.5]
