"""How sure the clusters evaluation says it is: intervals, paired comparisons, rank groups, the null, overlap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.errors import InputError
from engine.evaluations.clusters.evaluate import evaluate
from engine.evaluations.clusters.records import Result, Settings
from engine.evaluations.shared.rank_ranges import ranges_of
from engine.measures.clusters.dispersion import dispersion
from engine.measures.clusters.label_permutation import label_permutation
from engine.measures.clusters.resampling import bootstrap, percentile_interval
from tests.support.session_fake import SessionFake, noise

TEXTS = tuple(f"文{i}" for i in range(30))
LABELS = ("甲", "乙", "丙") * 10
DATA = LabelledSentences("made up", TEXTS, LABELS, tuple(range(1, 31)))
APART = {"good": 6.0, "fine": 6.0, "poor": 1.0}


class Apart(SessionFake):
    """Classes lie as far apart as the model's name says; a model cannot read what it is told not to."""

    def __init__(self, unread: dict[str, set[str]] | None = None) -> None:
        super().__init__()
        self.unread = unread or {}

    def sentence_vectors(self, model: str, texts: list[str], **_: object) -> list[dict]:  # type: ignore[override]
        return [
            {"excluded": "too long"}
            if text in self.unread.get(model, set())
            else {"vectors": vector(model, text)[None], "n_tokens": 3}
            for text in texts
        ]


def vector(model: str, text: str) -> np.ndarray:
    """Models share most of the noise of a sentence, as models of the same sentences do."""
    centre = np.zeros(8)
    centre[int(text[1:]) % 3] = APART[model]
    return (centre + noise(text).normal(size=8) + noise(model, text).normal(size=8) / 10).astype(np.float32)


def weigh(*models: str, unread: dict[str, set[str]] | None = None, resamples: int = 400) -> Result:
    return evaluate(Settings(models, resamples=resamples, seed=3, projection="pca"), DATA, Apart(unread))  # type: ignore[arg-type]


def test_intervals_are_those_of_the_bootstrap_and_hold_the_values() -> None:
    result = weigh("good")
    vectors = np.stack([vector("good", text) for text in TEXTS])
    drawn = bootstrap(vectors, LABELS, n_resamples=400, seed=3)
    table = result.intervals.set_index("measure")
    for measure, resampled in (
        ("in_class_dispersion", drawn.in_class),
        ("dispersion_score", drawn.score),
        ("out_of_class_dispersion", drawn.out_of_class),
    ):
        assert tuple(table.loc[measure, ["ci_low", "ci_high"]]) == percentile_interval(resampled)
        assert table.loc[measure, "ci_low"] < table.loc[measure, "value"] < table.loc[measure, "ci_high"]


def test_models_that_cannot_be_told_apart_share_a_group() -> None:
    result = weigh("poor", "good", "fine")
    groups = result.models.set_index("model")["rank_group"].to_dict()
    assert groups == {"good": 1, "fine": 1, "poor": 2}
    assert dict(zip(result.models["model"], ranges_of(result.models), strict=True)) == {
        "good": (1, 2),
        "fine": (1, 2),
        "poor": (3, 3),
    }
    compared = result.comparisons.set_index(["model", "other"])
    assert list(compared.index) == [("poor", "good"), ("poor", "fine"), ("good", "fine")]
    assert compared["separable"].tolist() == [True, True, False]
    score = result.models.set_index("model")["score"]
    for (model, other), row in compared.iterrows():
        assert row["difference"] == pytest.approx(score[model] - score[other])
        assert row["ci_low"] <= row["difference"] <= row["ci_high"]
        assert row["separable"] == (row["ci_low"] > 0 or row["ci_high"] < 0)


def test_a_comparison_is_paired() -> None:
    # The models share most of what makes a sentence near or far: paired, the difference is surer than either score.
    result = weigh("good", "fine")
    row = result.comparisons.iloc[0]
    widths = result.intervals[result.intervals["measure"] == "dispersion_score"].eval("ci_high - ci_low")
    assert row["ci_high"] - row["ci_low"] < 0.3 * widths.min()


def test_models_are_scored_ranked_and_compared_over_the_sentences_that_all_read() -> None:
    result = weigh("good", "poor", unread={"good": {"文0", "文4"}, "poor": {"文4", "文7"}})
    assert result.models["n_sentences"].tolist() == [27, 27]
    assert any("Every model is scored over the same 27 sentences" in notice for notice in result.notices)
    assert result.excluded[["model", "text"]].to_numpy().tolist() == [
        ["good", "文0"],
        ["good", "文4"],
        ["poor", "文4"],
        ["poor", "文7"],
    ]
    both = [i for i in range(30) if i not in (0, 4, 7)]
    labels = [LABELS[i] for i in both]
    vectors = {model: np.stack([vector(model, TEXTS[i]) for i in both]) for model in ("good", "poor")}
    for model, score in result.models.set_index("model")["score"].items():
        assert score == pytest.approx(dispersion(vectors[str(model)], labels).score)
    drawn = [bootstrap(vectors[model], labels, n_resamples=400, seed=3) for model in ("good", "poor")]
    row = result.comparisons.iloc[0]
    assert (row["ci_low"], row["ci_high"]) == percentile_interval(drawn[0].score - drawn[1].score)
    assert result.overlap.loc[0, "expected"] == pytest.approx(10 / 26)


def test_fewer_sentences_per_class_do_not_make_a_model_the_best() -> None:
    # M_m grows with n per class: over the third that it reads "poor" had the smallest score, rank 1, although over
    # these sentences "good" has the smaller one.
    class Near(Apart):
        def sentence_vectors(self, model: str, texts: list[str], **_: object) -> list[dict]:  # type: ignore[override]
            rate = {"good": 1.0, "poor": 1.6}[model]
            return [
                {"excluded": "too long"}
                if text in self.unread.get(model, set())
                else {
                    "vectors": (vector("good", text) + rate * noise(text, "more").normal(size=8)).astype(np.float32)[
                        None
                    ],
                    "n_tokens": 3,
                }
                for text in texts
            ]

    unread = {"poor": {f"文{i}" for i in range(12, 30)}}
    asked = Settings(("poor", "good"), resamples=400, seed=3, projection="pca")
    own = [
        evaluate(Settings((model,), resamples=400, seed=3, projection="pca"), DATA, Near(unread)).models
        for model in asked.models
    ]  # type: ignore[arg-type]
    assert own[0].loc[0, "score"] < own[1].loc[0, "score"]  # alone, over 12 and over 30 sentences
    result = evaluate(asked, DATA, Near(unread))  # type: ignore[arg-type]
    assert result.models["n_sentences"].tolist() == [12, 12]
    assert result.models.set_index("model")["rank"].to_dict() == {"good": 1, "poor": 2}
    assert result.comparisons.loc[0, "difference"] > 0


def test_models_with_no_two_classes_in_common_are_refused_by_name() -> None:
    first, second = {f"文{i}" for i in range(30) if i % 3 == 0}, {f"文{i}" for i in range(30) if i % 3 == 1}
    with pytest.raises(InputError, match=r"10 of 30 sentences can be read by every model \(good 20, poor 20\), of 1 "):
        weigh("good", "poor", unread={"good": first, "poor": second})


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10**6),
    st.lists(st.sets(st.integers(0, 23), max_size=8), min_size=2, max_size=4),
    st.floats(0.0, 3.0),
)
def test_ranks_never_contradict_a_separable_difference(seed: int, unread: list[set[int]], apart: float) -> None:
    data = LabelledSentences("made up", TEXTS[:24], LABELS[:24], tuple(range(1, 25)))
    models = [f"m{i}" for i in range(len(unread))]

    class Random(SessionFake):
        def sentence_vectors(self, model: str, texts: list[str], **_: object) -> list[dict]:  # type: ignore[override]
            left_out = {TEXTS[i] for i in unread[int(model[1:])]}
            scale = noise(seed, model).uniform(0.5, 2)
            return [
                {"excluded": "too long"}
                if text in left_out
                else {
                    "vectors": (
                        apart * np.eye(8)[int(text[1:]) % 3] + scale * noise(seed, model, text).standard_t(2, size=8)
                    ).astype(np.float32)[None],
                    "n_tokens": 3,
                }
                for text in texts
            ]

    try:
        result = evaluate(Settings(tuple(models), resamples=100, projection="pca"), data, Random())  # type: ignore[arg-type]
    except InputError:  # fewer than two classes of two sentences are left
        assume(False)
    of_model = result.models.set_index("model")
    assert of_model["n_sentences"].nunique() == 1
    for row in result.comparisons.to_dict("records"):
        rank, other_rank = (of_model.loc[row[name], "rank"] for name in ("model", "other"))
        assert row["difference"] == of_model.loc[row["model"], "score"] - of_model.loc[row["other"], "score"]
        if row["separable"]:
            assert (rank < other_rank) == (row["difference"] < 0) == (row["ci_high"] < 0)
            assert rank != other_rank
    # The ranges are those of the comparisons beside them.
    unsaid = result.models.drop(columns=["rank_first", "rank_last"])
    if len(result.comparisons):
        assert ranges_of(result.models) == ranges_of(unsaid, result.comparisons)
    best = of_model[of_model["rank"] == 1].index[0]
    for model in of_model.index[of_model["rank_group"] > 1]:
        # whoever begins a later group differs from the best of the first
        pair = result.comparisons[
            (result.comparisons["model"].isin([best, model]) & result.comparisons["other"].isin([best, model]))
        ]
        assert of_model.loc[model, "score"] >= of_model.loc[best, "score"] and len(pair) == 1


def test_the_null_is_that_of_permuted_labels() -> None:
    result = weigh("good", "poor", resamples=200).null.set_index("model")
    for model in ("good", "poor"):
        null = label_permutation(np.stack([vector(model, text) for text in TEXTS]), LABELS, n_permutations=200, seed=3)
        assert result.loc[model, "score"] == pytest.approx(null.score)
        assert result.loc[model, "p_value"] == null.p_value
        assert result.loc[model, "null_mean"] == pytest.approx(null.scores.mean())
        assert tuple(result.loc[model, ["null_low", "null_high"]]) == percentile_interval(null.scores)
    assert result.loc["good", "p_value"] == 1 / 201


def test_overlap_of_models_that_see_alike_is_above_chance() -> None:
    result = weigh("good", "fine", "poor")
    assert result.overlap[["model", "other"]].to_numpy().tolist() == [
        ["good", "fine"],
        ["good", "poor"],
        ["fine", "poor"],
    ]
    assert result.overlap["expected"].tolist() == pytest.approx([10 / 29] * 3)
    assert result.overlap.loc[0, "mean_overlap"] > 0.85 > result.overlap.loc[1, "mean_overlap"]
    one = result.neighbours.groupby(["model", "row"])["neighbour"].agg(set).unstack("model")
    expected = np.mean([len(a & b) / 10 for a, b in zip(one["good"], one["fine"], strict=True)])
    assert result.overlap.loc[0, "mean_overlap"] == pytest.approx(expected)


class Twins(Apart):
    """One model under two names."""

    def sentence_vectors(self, model: str, texts: list[str], **options: object) -> list[dict]:  # type: ignore[override]
        return super().sentence_vectors("good" if model == "twin" else model, texts, **options)


def test_equal_scores_share_the_better_rank() -> None:
    chosen = Settings(("poor", "twin", "good"), resamples=100, seed=3, projection="pca")
    models = evaluate(chosen, DATA, Twins()).models.set_index("model")  # type: ignore[arg-type]
    assert models["rank"].to_dict() == {"twin": 1, "good": 1, "poor": 3}
    assert models["score"].nunique() == 2
