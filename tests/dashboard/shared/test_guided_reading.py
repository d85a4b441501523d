"""The guided reading: on the sample's result until it is closed, made of the numbers shown, true on any result."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.clusters.guide import guide as of_clusters
from dashboard.faces import FACES
from dashboard.minimal_pairs.guide import guide as of_accuracies
from dashboard.shared import guided_reading, samples, session
from tests.support.cluster_results import result_of
from tests.support.fakes import FakeBackend
from tests.support.page_visits import at, drawn, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
# Not the metric study: the built-in dictionaries, which its sample is set to, do not fit the fake model.
KINDS = [kind for kind, face in FACES.items() if face.sample is not None and kind != "metric-study"]


def evaluated_sample(kind: str) -> str:
    runs = session.engine().runs
    run_id = samples.submit(runs, FACES[kind], FACES[kind].sample)
    assert runs.wait(run_id).state == "done"
    return run_id


def marks(app: AppTest) -> list[str]:
    """The marks of a page, without those in its explanations at the end."""
    in_expanders = [markdown.value for expander in app.expander for markdown in expander.markdown]
    every = [markdown.value for markdown in app.markdown if markdown.value[:3] in ("**①", "**②", "**③")]
    for value in in_expanders:
        if value in every:
            every.remove(value)
    return every


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_has_three_marks_that_are_closed_by_one_press_and_come_back(backend: FakeBackend, kind: str) -> None:
    run_id = evaluated_sample(kind)
    app = visit(FACES[kind].page.name)
    assert [mark[2] for mark in marks(app)] == ["①", "②", "③"]
    app.button(key=f"guide-{kind}-close").click()
    assert marks(drawn(app)) == []
    cookies = [component.proto for component in app.get("bidi_component") if "hakari_cookie" in str(component.proto)]
    assert any(guided_reading.COOKIE in cookie.json and f'"{kind}"' in cookie.json for cookie in cookies)
    app.button(key=f"guide-{kind}-open").click()
    shown = marks(drawn(app))
    assert len(shown) == 3
    # On a run that is shown by its link the same lines stand in the explanations alone, until they are asked for.
    linked = visit(FACES[kind].page.name, run=run_id)
    (explanations,) = [expander for expander in linked.expander if expander.label == "How to read this"]
    assert marks(linked) == [] and [markdown.value for markdown in explanations.markdown][:3] == shown
    # One press shows them there, too: with the numbers of that run.
    linked.button(key=f"guide-{kind}-open").click()
    assert marks(drawn(linked)) == shown


def test_a_browser_that_closed_it_does_not_see_it_again(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated_sample("clusters")
    evaluated_sample("classification")
    cookies = SimpleNamespace(get={guided_reading.COOKIE: "clusters.minimal-pairs"}.get)
    monkeypatch.setattr(guided_reading, "_cookies", lambda: cookies)
    app = visit("clusters")
    assert marks(app) == [] and app.button(key="guide-clusters-open")
    assert len(marks(visit("classification"))) == 3


def test_the_marks_speak_japanese(backend: FakeBackend) -> None:
    evaluated_sample("minimal-pairs")
    app = at("minimal_pairs")
    app.session_state["language"] = "ja"
    assert marks(drawn(app))[0].startswith("**① 図の見方**") and "容認可能な文を選びます" in words(app)


def test_the_sentences_on_clusters_are_those_of_the_numbers() -> None:
    models = pd.DataFrame(
        {
            "model": ["owner/a", "owner/b"],
            "score": [2.5, 7.25],
            "rank": [1, 2],
            "rank_group": [1, 2],
            "n_sentences": [24, 24],
        }
    )
    result = replace(result_of(models=("owner/a", "owner/b")), models=models)
    see, meaning, _ = of_clusters(result)
    assert "owner/a has the smallest, 2.500; owner/b the largest, 7.250" in see
    assert "owner/a differs significantly from owner/b" in meaning
    not_apart = result.comparisons.assign(separable=False)
    _, meaning, _ = of_clusters(replace(result, models=models, comparisons=not_apart))
    assert "owner/b does not differ significantly from owner/a" in meaning
    (alone, meaning, _) = of_clusters(replace(result, models=models.iloc[:1]))
    assert "owner/a: M_m = 2.500" in alone and "differ" not in meaning
    assert of_clusters(replace(result, models=models.assign(score=np.nan))) == ()


def test_only_the_comparison_of_the_first_two_models_is_told() -> None:
    names = ("owner/a", "owner/b", "owner/c")
    three = result_of(models=names)
    models = three.models.assign(model=names, score=[2.5, 7.25, 9.0], rank=[1, 2, 3], n_sentences=24)
    of_third = three.comparisons[["model", "other"]].eq("owner/c").any(axis=1)
    compared = three.comparisons.assign(separable=of_third)
    _, meaning, _ = of_clusters(replace(three, models=models, comparisons=compared))
    assert "owner/b does not differ significantly from owner/a" in meaning
    untested = compared.assign(ci_low=compared["ci_low"].where(of_third))
    _, meaning, _ = of_clusters(replace(three, models=models, comparisons=untested))
    assert "differ" not in meaning


def strata(**accuracies: Any) -> pd.DataFrame:
    """`views.summary` of one model: (accuracy, lower and upper bound, n) by stratum."""
    names = {"all": "all", "equal": "A=U", "shorter": "A<U", "longer": "A>U"}
    rows = [(names[name], *numbers) for name, numbers in accuracies.items()]
    return pd.DataFrame(rows, columns=["stratum", "accuracy", "ci_low", "ci_high", "n"]).assign(model="owner/m")


def of_lp(summary: pd.DataFrame) -> tuple[str, ...]:
    return of_accuracies(summary, "LP", ("LP", "MeanLP", "PenLP"))


def test_the_sentences_on_minimal_pairs_say_whether_length_misleads() -> None:
    known = {"all": (0.7, 0.6, 0.8, 100), "equal": (0.7, 0.5, 0.8, 20)}
    see, misled, _ = of_lp(strata(**known, shorter=(0.9, 0.8, 0.95, 40), longer=(0.5, 0.4, 0.6, 40)))
    assert "owner/m prefers the acceptable sentence in 70.0% of 100 pairs" in see
    assert "Length misleads it" in misled and "90.0%" in misled and "50.0%" in misled
    _, not_misled, _ = of_lp(strata(**known, shorter=(0.7, 0.5, 0.9, 40), longer=(0.6, 0.4, 0.8, 40)))
    assert "does not clearly mislead" in not_misled
    # a score that overdoes it prefers the longer sentence
    _, overdone, _ = of_lp(strata(**known, shorter=(0.5, 0.4, 0.6, 40), longer=(0.9, 0.8, 0.95, 40)))
    assert "Length misleads it" in overdone
    _, no_interval, _ = of_lp(strata(**known, shorter=(1.0, np.nan, np.nan, 40), longer=(0.3, 0.2, 0.4, 40)))
    assert "it is not known whether length misleads it" in no_interval and "100.0%" in no_interval
    _, unknown, _ = of_lp(strata(**known, shorter=(np.nan, np.nan, np.nan, 0), longer=(0.6, 0.4, 0.8, 40)))
    assert "cannot be seen" in unknown
    assert of_lp(strata(**{**known, "all": (np.nan, np.nan, np.nan, 0)})) == ()
