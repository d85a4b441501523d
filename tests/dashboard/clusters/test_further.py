"""Corrections, seeds and other columns on the clusters page, and what it says where indices disagree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.clusters.scores import disagreement_of_indices
from dashboard.shared import session
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.evaluations.clusters.records import Settings
from tests.dashboard.clusters.test_page import MODEL, visit
from tests.support.cluster_results import result_of
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, evaluated, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


@pytest.mark.parametrize(
    ("correction", "key", "name"),
    [
        ("whitening", "clusters-whitened_dims", "whitened_dims"),
        ("all-but-the-top", "clusters-removed_components", "removed_components"),
    ],
)
def test_a_correction_shows_the_number_that_it_reads(
    backend: FakeBackend, correction: str, key: str, name: str
) -> None:
    app = visit()
    assert not [field for field in app.number_input if field.key == key]
    app.multiselect(key="clusters-models").set_value([MODEL])
    app.get_by_key("clusters-correction").set_value(correction)
    drawn(app)
    app.number_input(key=key).set_value(2)
    app.number_input(key="clusters-clusterings").set_value(3)
    evaluated(app, "clusters")
    settings = session.engine().runs.settings(app.query_params["run"])
    assert settings == Settings((MODEL,), correction=correction, clusterings=3, **{name: 2})
    assert f"Vectors were corrected by {correction}" in words(app)


def test_the_sections_show_seeds_columns_and_models_against_each_other(backend: FakeBackend) -> None:
    n = 12
    dataset = LabelledSentences(
        "few.csv",
        tuple(f"文{i}" for i in range(n)),
        ("甲", "乙") * 6,
        tuple(range(1, n + 1)),
        further={"作者": ("春", "夏", "秋") * 4},
    )
    runs = session.engine().runs
    run_id = runs.submit(
        "clusters",
        Settings(("owner/a", "owner/b"), projection="pca", resamples=100, clusterings=2, class_columns=("作者",)),
        dataset,
    ).run_id
    assert runs.wait(run_id, SECONDS).state == "done"
    app = visit(run_id)
    for section in ("uncertainty", "indices"):
        app.session_state[f"clusters-open-{section}-{run_id}"] = True
    drawn(app)
    tables = [element.value for element in app.dataframe]
    similar = next(table for table in tables if "cka" in table.columns)
    result = runs.result(run_id)
    assert similar.loc[0, "cka"] == result.overlap.loc[0, "cka"] and similar.loc[0, "n_rsa"] == n
    seeds = next(table for table in tables if "deviation" in table.columns)
    assert "V-measure of mini-batch k-means" in seeds["measure"].tolist() and len(seeds) == 8
    columns = next(table for table in tables if "column" in table.columns)
    assert columns["column"].tolist() == ["label", "作者"] * 2
    assert "Isotropy and clusters pull apart" in words(app)


def test_disagreement_is_one_sentence() -> None:
    result = result_of(models=("owner/first", "owner/second"))
    assert result.models["score"].is_monotonic_increasing  # the first is the best
    validity = result.validity.assign(silhouette=[0.5, 0.2], davies_bouldin=[1.0, 2.0], isoscore=[0.1, 0.9])
    agreed = replace(result, validity=validity)
    assert disagreement_of_indices(agreed) == []  # ties and isotropy rank nothing differently
    other = replace(result, validity=validity.assign(silhouette=[0.2, 0.5], davies_bouldin=[2.0, 1.0]))
    assert disagreement_of_indices(other) == [
        "These 2 indices do not rank the models as M_m does: Silhouette (best: owner/second), Davies-Bouldin index "
        "(best: owner/second)."
    ]
    one = replace(result, validity=validity.assign(silhouette=[0.2, 0.5]))
    assert disagreement_of_indices(one) == ["Silhouette (best: owner/second) does not rank the models as M_m does."]
    unknown = replace(result, validity=validity.assign(silhouette=[float("nan"), 0.5]))
    assert disagreement_of_indices(unknown) == []
