"""Figures and words of the classification page: the numbers in them are the evaluation's."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.classification import charts
from dashboard.classification.face import FACE
from dashboard.classification.scores import accuracy_by_class, never_correct, size_summary
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
    for index, (trace, row) in enumerate(zip(figure.data, ranked.to_dict("records"), strict=True)):
        model_runs = result.runs[result.runs["model"] == row["model"]]
        assert list(trace.x) == model_runs["accuracy"].tolist()
        assert [seed for seed, _ in trace.customdata] == model_runs["seed"].tolist()
        assert np.abs(np.array(trace.y) - index).max() < 0.5  # a dot stays within the row of its model
        means = [shape for shape in figure.layout.shapes if shape.type == "line" and shape.line.width == 3]
        assert means[index].x0 == row["accuracy_mean"] and means[index].y0 < index < means[index].y1
        bands = [shape for shape in figure.layout.shapes if shape.type == "rect"]
        assert (bands[index].x0, bands[index].x1) == (row["ci_low"], row["ci_high"])
    texts = [note.text for note in figure.layout.annotations]
    assert f"<b>{ranked['accuracy_mean'].iloc[0]:.1%}</b>" in texts
    baseline = figure.layout.annotations[texts.index(f"largest class {ranked['baseline'].iloc[0]:.1%}")]
    # right of its line and above the axis, which is below the last model
    assert (baseline.x, baseline.y) == (ranked["baseline"].iloc[0], len(ranked) - 0.5)
    assert (baseline.xanchor, baseline.yanchor, baseline.showarrow) == ("left", "bottom", False)


def test_runs_of_equal_accuracy_are_stacked_and_all_visible() -> None:
    runs = pd.DataFrame({"model": "m", "seed": range(4), "accuracy": [0.5, 0.5, 0.5, 0.7], "train_accuracy": 1.0})
    models = pd.DataFrame(
        {
            "model": ["m"],
            "rank": [1],
            "accuracy_mean": 0.55,
            "accuracy_max": 0.7,
            "ci_low": 0.3,
            "ci_high": 0.75,
            "baseline": 0.25,
        }
    )
    trace = charts.run_dots(models, runs).data[0]
    assert len({(x, round(y, 6)) for x, y in zip(trace.x, trace.y, strict=True)}) == 4
    assert np.mean(trace.y[:3]) == pytest.approx(0) and trace.y[3] == 0


def test_the_axis_includes_everything_that_is_drawn(result: Result) -> None:
    low, high = charts.run_dots(result.models, result.runs).layout.xaxis.range
    assert 0 <= low <= min(result.models["ci_low"].min(), result.models["baseline"].min())
    assert 1 >= high >= max(result.models["ci_high"].max(), result.runs["accuracy"].max())


def test_a_confusion_matrix_has_the_counts_and_its_rows_are_shares(result: Result) -> None:
    for model in MODELS:
        heat = charts.confusion_matrix(result.confusion, model, LABELS).data[0]
        cells = {
            (line["class"], line["predicted"]): line["n"]
            for line in result.confusion[result.confusion["model"] == model].to_dict("records")
        }
        shares = np.array(heat.z)
        assert shares.sum(axis=1) == pytest.approx([1, 1, 1])
        for i, true in enumerate(LABELS):
            for j, predicted in enumerate(LABELS):
                n = cells.get((true, predicted), 0)
                assert heat.text[i][j] == (str(n) if n else "")
                assert list(heat.customdata[i][j]) == [true, predicted, "1 time" if n == 1 else f"{n} times"]
                assert shares[i, j] == pytest.approx(n / 20)  # 4 of each class in 5 runs
        assert (heat.zmin, heat.zmax) == (0, 1)  # the same shade is the same share in every matrix


def test_a_class_never_tested_or_predicted_keeps_its_row() -> None:
    confusion = pd.DataFrame({"model": "m", "class": ["a", "b"], "predicted": ["a", "a"], "n": [3, 2]})
    heat = charts.confusion_matrix(confusion, "m", ["a", "b", "c"]).data[0]
    assert np.array(heat.z).tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]


def test_many_classes_keep_their_names_for_the_hover() -> None:
    names = [f"class {i} with quite a long name" for i in range(80)]
    confusion = pd.DataFrame({"model": "m", "class": names, "predicted": names[::-1], "n": 1})
    figure = charts.confusion_matrix(confusion, "m", names)
    assert figure.data[0].texttemplate is None and not figure.layout.xaxis.showticklabels
    assert figure.layout.height < 1300 and figure.data[0].customdata[0][79][0].startswith("class 0")


@pytest.mark.parametrize(("n", "is_numbered", "is_named"), [(12, True, True), (13, False, True), (60, False, True)])
def test_cells_have_numbers_up_to_12_classes_and_classes_have_names_up_to_60(
    n: int, is_numbered: bool, is_named: bool
) -> None:
    names = [f"class {i}" for i in range(n)]
    figure = charts.confusion_matrix(
        pd.DataFrame({"model": "m", "class": names, "predicted": names, "n": 1}), "m", names
    )
    assert bool(figure.data[0].texttemplate) == is_numbered
    assert figure.layout.xaxis.showticklabels == figure.layout.yaxis.showticklabels == is_named
    more = [*names, "another"]
    wider = charts.confusion_matrix(pd.DataFrame({"model": "m", "class": more, "predicted": more, "n": 1}), "m", more)
    assert wider.layout.xaxis.showticklabels == (len(more) <= 60)


def test_names_are_escaped(result: Result) -> None:
    dots = charts.run_dots(result.models, result.runs)
    hostile = next(trace for trace in dots.data if "b" in trace.name and "&lt;" in trace.name)
    assert "%{x}" not in hostile.hovertemplate.partition("<extra>")[2]
    assert charts.confusion_matrix(result.confusion, MODELS[1], LABELS).layout.title.text == "&lt;b&gt;%{x}"


def changed(result: Result, **columns: Any) -> Result:
    return dataclasses.replace(result, models=result.models.assign(**columns))


def test_models_that_do_not_differ_significantly_are_said_not_to(result: Result) -> None:
    tied = dataclasses.replace(
        changed(result, ci_low=0.9, baseline=0.3), comparisons=result.comparisons.assign(separable=False)
    )
    assert "not distinguishable" in FACE.found(tied) and "baseline" not in FACE.found(tied)
    apart = dataclasses.replace(tied, comparisons=result.comparisons.assign(separable=True))
    assert "is better than" in FACE.found(apart) and "not distinguishable" not in FACE.found(apart)


def test_a_model_no_better_than_the_baseline_is_said_to_be(result: Result) -> None:
    no_better = changed(result, ci_low=[0.2, 0.5], baseline=1 / 3)
    assert "Not significantly better than always predicting the largest class (33.3%): a." in FACE.found(no_better)


def test_the_size_summary_has_the_counts_and_low_training_accuracies(result: Result) -> None:
    summary = size_summary(result)
    assert summary == "48 training sentences and 12 test sentences of 3 classes; 5 runs of 20 epochs."
    underfitted = dataclasses.replace(
        result, runs=result.runs.assign(train_accuracy=np.where(result.runs["model"] == "builtin/a", 0.5, 0.95))
    )
    assert "The training accuracy of builtin/a is below 90%:" in size_summary(underfitted)
    all_underfitted = dataclasses.replace(result, runs=result.runs.assign(train_accuracy=0.5))
    assert "The training accuracy is below 90%:" in size_summary(all_underfitted)
    standardized = dataclasses.replace(underfitted, settings=Settings(MODELS, standardize=True))
    assert "training accuracy" not in size_summary(standardized)


def test_labels_of_models_may_be_names_of_columns() -> None:
    names = ("class=a", "n_train=b", "n_test=c", "index=d")
    texts = tuple(f"文{i}" for i in range(60))
    data = LabelledSentences("made up", texts, LABELS * 20, tuple(range(1, 61)))
    result = evaluate(Settings(names, seeds=1), data, SessionFake())  # type: ignore[arg-type]
    table = accuracy_by_class(result, names)
    assert table["class"].tolist() == list(dict.fromkeys(result.classes["class"])) and len(table.columns) == 3 + 4
    for name in names:
        own = result.classes[result.classes["model"] == name]
        assert table[f"accuracy:{name.partition('=')[0]}"].tolist() == own["accuracy"].tolist()
        assert table["n_train"].tolist() == own["n_train"].tolist()


def test_misclassified_sentences_are_those_of_the_model(result: Result) -> None:
    for model in MODELS:
        missed = never_correct(result.sentences, model)
        own = result.sentences[result.sentences["model"] == model]
        assert set(missed["row"]) == set(own.loc[own["n_correct"] == 0, "row"])
        assert (missed["class"] != missed["predicted"]).all()
