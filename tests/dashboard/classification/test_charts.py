"""Figures and words of the classification page: the numbers in them are the evaluation's."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.classification import charts
from dashboard.classification.scores import never_right, size_line, what_to_mind
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.evaluations.classification.evaluate import evaluate
from engine.evaluations.classification.records import Result, Settings
from tests.support.session_fake import SessionFake

MODELS = ("builtin/a", "<b>%{x}")
LABELS = ("料理", "技術", "スポーツ")


@pytest.fixture(scope="module")
def result() -> Result:
    texts = tuple(f"文{i}" for i in range(60))
    data = LabelledSentences("made up", texts, LABELS * 20, tuple(range(1, 61)))
    return evaluate(Settings(MODELS), data, SessionFake())  # type: ignore[arg-type]


def test_every_run_is_a_dot_at_its_accuracy_beside_its_models_mean(result: Result) -> None:
    figure = charts.run_dots(result.models, result.runs)
    ranked = result.models.sort_values("rank", kind="stable")
    assert [trace.name for trace in figure.data] == [charts.plain(model) for model in ranked["model"]]
    for place, (trace, line) in enumerate(zip(figure.data, ranked.to_dict("records"), strict=True)):
        own = result.runs[result.runs["model"] == line["model"]]
        assert list(trace.x) == own["accuracy"].tolist()
        assert [seed for seed, _ in trace.customdata] == own["seed"].tolist()
        assert np.abs(np.array(trace.y) - place).max() < 0.5  # a dot does not stray into another model's row
        means = [shape for shape in figure.layout.shapes if shape.type == "line" and shape.line.width == 3]
        assert means[place].x0 == line["accuracy_mean"] and means[place].y0 < place < means[place].y1
        bands = [shape for shape in figure.layout.shapes if shape.type == "rect"]
        assert (bands[place].x0, bands[place].x1) == (line["ci_low"], line["ci_high"])
    texts = [note.text for note in figure.layout.annotations]
    assert f"<b>{ranked['accuracy_mean'].iloc[0]:.1%}</b>" in texts
    assert f"largest class {ranked['baseline'].iloc[0]:.1%}" in texts


def test_equal_runs_stand_above_each_other_and_all_are_seen() -> None:
    runs = pd.DataFrame({"model": "m", "seed": range(4), "accuracy": [0.5, 0.5, 0.5, 0.7], "train_accuracy": 1.0})
    models = pd.DataFrame({"model": ["m"], "rank": [1], "accuracy_mean": 0.55, "accuracy_max": 0.7, "ci_low": 0.3,
                           "ci_high": 0.75, "baseline": 0.25})
    trace = charts.run_dots(models, runs).data[0]
    assert len({(x, round(y, 6)) for x, y in zip(trace.x, trace.y, strict=True)}) == 4
    assert np.mean(trace.y[:3]) == pytest.approx(0) and trace.y[3] == 0


def test_the_axis_holds_everything_that_is_drawn(result: Result) -> None:
    low, high = charts.run_dots(result.models, result.runs).layout.xaxis.range
    assert 0 <= low <= min(result.models["ci_low"].min(), result.models["baseline"].min())
    assert 1 >= high >= max(result.models["ci_high"].max(), result.runs["accuracy"].max())


def test_a_confusion_map_holds_the_counts_and_its_rows_are_shares(result: Result) -> None:
    for model in MODELS:
        heat = charts.confusion_map(result.confusion, model, LABELS).data[0]
        cells = {(line["class"], line["predicted"]): line["n"]
                 for line in result.confusion[result.confusion["model"] == model].to_dict("records")}
        shares = np.array(heat.z)
        assert shares.sum(axis=1) == pytest.approx([1, 1, 1])
        for i, true in enumerate(LABELS):
            for j, said in enumerate(LABELS):
                n = cells.get((true, said), 0)
                assert heat.text[i][j] == (str(n) if n else "")
                assert list(heat.customdata[i][j]) == [true, said, n]
                assert shares[i, j] == pytest.approx(n / 20)  # 4 of each class in 5 runs
        assert (heat.zmin, heat.zmax) == (0, 1)  # one shade means one share on every map


def test_a_class_that_was_never_asked_or_said_has_its_place() -> None:
    confusion = pd.DataFrame({"model": "m", "class": ["a", "b"], "predicted": ["a", "a"], "n": [3, 2]})
    heat = charts.confusion_map(confusion, "m", ["a", "b", "c"]).data[0]
    assert np.array(heat.z).tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]


def test_many_classes_keep_their_names_for_the_hover() -> None:
    names = [f"class {i} with quite a long name" for i in range(80)]
    confusion = pd.DataFrame({"model": "m", "class": names, "predicted": names[::-1], "n": 1})
    figure = charts.confusion_map(confusion, "m", names)
    assert figure.data[0].texttemplate is None and not figure.layout.xaxis.showticklabels
    assert figure.layout.height < 1300 and figure.data[0].customdata[0][79][0].startswith("class 0")


def test_names_are_shown_letter_by_letter(result: Result) -> None:
    dots = charts.run_dots(result.models, result.runs)
    hostile = next(trace for trace in dots.data if "b" in trace.name and "&lt;" in trace.name)
    assert "%{x}" not in hostile.hovertemplate.partition("<extra>")[2]
    assert charts.confusion_map(result.confusion, MODELS[1], LABELS).layout.title.text == "&lt;b&gt;%{x}"


def changed(result: Result, **columns: Any) -> Result:
    return dataclasses.replace(result, models=result.models.assign(**columns))


def test_what_cannot_be_told_apart_is_said(result: Result) -> None:
    tied = changed(result, rank_group=[1, 1], ci_low=0.9, baseline=0.3)
    best, other = result.models.sort_values("rank", kind="stable")["model"]
    assert what_to_mind(tied) == [f"These 12 test sentences do not tell {other} apart from {best}: the 95 % interval "
                                  "of the difference holds 0."]
    assert what_to_mind(changed(result, rank_group=[1, 2], ci_low=0.9, baseline=0.3)) == []


def test_a_model_no_better_than_the_largest_class_is_said(result: Result) -> None:
    idle = changed(result, rank_group=[1, 2], ci_low=[0.2, 0.5], baseline=1 / 3)
    assert what_to_mind(idle) == ["builtin/a: not surely better than always saying the largest class, which is right "
                                  "in 33.3%."]


def test_the_size_of_the_test_is_told_and_training_that_did_not_go_far(result: Result) -> None:
    said = size_line(result)
    assert said == "48 sentences to train on, 12 to be asked for, of 3 classes; 5 runs of 20 epochs."
    unlearnt = dataclasses.replace(result, runs=result.runs.assign(
        train_accuracy=np.where(result.runs["model"] == "builtin/a", 0.5, 0.95)))
    assert "not all of the training sentences were learnt under builtin/a;" in size_line(unlearnt)
    nowhere = dataclasses.replace(result, runs=result.runs.assign(train_accuracy=0.5))
    assert "not all of the training sentences were learnt;" in size_line(nowhere)
    standardized = dataclasses.replace(unlearnt, settings=Settings(MODELS, standardize=True))
    assert "not all" not in size_line(standardized)


def test_sentences_that_were_never_right_are_those_of_the_model(result: Result) -> None:
    for model in MODELS:
        missed = never_right(result.sentences, model)
        own = result.sentences[result.sentences["model"] == model]
        assert set(missed["row"]) == set(own.loc[own["n_correct"] == 0, "row"])
        assert (missed["class"] != missed["predicted"]).all()
