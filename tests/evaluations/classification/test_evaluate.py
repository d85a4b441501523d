"""The classification evaluation, on vectors that are noise and a classifier that looks at one coordinate."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.errors import InputError
from engine.evaluations.classification.evaluate import evaluate
from engine.evaluations.classification.records import MOST_CLASSES, Result, Settings
from engine.evaluations.classification.tables import model_table
from engine.evaluations.shared.rank_ranges import ranges_of
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.measures.statistics.intervals import wilson_interval
from engine.runs.storage.packing import pack, unpack
from tests.support.fakes import FakeBackend, classified
from tests.support.session_fake import TOO_LONG, SessionFake, vector


def dataset(texts: list[str], labels: list[str]) -> LabelledSentences:
    return LabelledSentences("made up", tuple(texts), tuple(labels), tuple(range(1, len(texts) + 1)))


MADE_UP = dataset([f"文{i}" for i in range(30)], ["甲", "乙", "丙"] * 10)


def evaluated(settings: Settings, sentences: LabelledSentences = MADE_UP, session: Any = None) -> Result:
    return evaluate(settings, sentences, session or SessionFake())


def test_the_numbers_are_those_of_the_classifier_on_the_models_vectors() -> None:
    result = evaluated(Settings(("m",), seed=4))
    vectors = np.array([vector("m", text, 4) for text in MADE_UP.texts])
    codes = [("甲", "乙", "丙").index(label) for label in MADE_UP.labels]
    # the last 20% of 10 of each class: 2, and the classes take turns, so the last six
    is_test = [i >= 24 for i in range(30)]
    accuracies = []
    for seed in range(4, 9):
        said = classified(vectors, labels=codes, is_test=is_test, seed=seed, hidden=[200, 200], epochs=20)["predicted"]
        accuracies.append(float(np.mean(said == codes[24:])))
    assert result.runs["accuracy"].tolist() == accuracies and result.runs["seed"].tolist() == [4, 5, 6, 7, 8]
    (line,) = result.models.to_dict("records")
    assert (line["n_train"], line["n_test"], line["n_classes"]) == (24, 6, 3)
    assert line["accuracy_min"] == min(accuracies) and line["accuracy_max"] == max(accuracies)
    assert line["accuracy_mean"] == pytest.approx(np.mean(accuracies))
    assert (line["ci_low"], line["ci_high"]) == pytest.approx(wilson_interval(float(np.mean(accuracies)) * 6, 6))
    assert line["baseline"] == pytest.approx(1 / 3)
    assert len(set(accuracies)) > 1  # the fake is told another seed each time


def test_the_defaults_are_the_papers() -> None:
    settings = Settings(("m",))
    assert (settings.split, settings.seeds, settings.epochs, settings.pooling) == ("tail", 5, 20, "published")
    assert set(settings.hidden) == {200} and settings.test_share == 0.2 and not settings.standardize


def test_every_table_adds_up() -> None:
    result = evaluated(Settings(("a", "b"), split="stratified"))
    for model in "ab":
        confusion, classes, sentences, runs = (
            table[table["model"] == model]
            for table in (result.confusion, result.classes, result.sentences, result.runs)
        )
        n_asked, n_right = 5 * 6, round(float(runs["accuracy"].sum() * 6))
        assert confusion["n"].sum() == classes["n_asked"].sum() == sentences["n_asked"].sum() == n_asked
        right = confusion[confusion["class"] == confusion["predicted"]]["n"].sum()
        assert right == classes["n_correct"].sum() == sentences["n_correct"].sum() == n_right
        assert (confusion["n"] > 0).all() and classes["n_test"].tolist() == [2, 2, 2]
        assert classes["accuracy"].tolist() == (classes["n_correct"] / classes["n_asked"]).tolist()
        assert sentences["row"].is_unique and sentences["row"].is_monotonic_increasing


def test_each_sentence_keeps_its_own_text_class_and_answer() -> None:
    sentences = evaluated(Settings(("m",))).sentences
    assert sentences["row"].tolist() == [25, 26, 27, 28, 29, 30]
    assert sentences["text"].tolist() == [f"文{i}" for i in range(24, 30)]
    assert sentences["class"].tolist() == ["甲", "乙", "丙"] * 2 and (sentences["n_asked"] == 5).all()
    # said most: of the classes said most often the one that comes first among the classes
    vectors = np.array([vector("m", text, 4) for text in MADE_UP.texts])
    codes = [("甲", "乙", "丙").index(label) for label in MADE_UP.labels]
    said = np.stack(
        [
            classified(
                vectors, labels=codes, is_test=[i >= 24 for i in range(30)], seed=seed, hidden=[1, 1], epochs=20
            )["predicted"]
            for seed in range(5)
        ]
    )  # (n_runs, n_test)
    most = [min(range(3), key=lambda code: (-Counter(column)[code], code)) for column in said.T]
    assert sentences["predicted"].tolist() == [("甲", "乙", "丙")[code] for code in most]


def test_all_models_are_asked_the_same_and_a_stratified_split_changes_with_the_run() -> None:
    tail, random = (evaluated(Settings(("a", "b"), split=split)).sentences for split in ("tail", "stratified"))
    for sentences in (tail, random):
        first, second = (sentences[sentences["model"] == model][["row", "n_asked"]].to_numpy() for model in "ab")
        assert np.array_equal(first, second)
    assert set(tail["n_asked"]) == {5} and len(random) > len(tail)
    again = evaluated(Settings(("a", "b"), split="stratified")).sentences
    pd.testing.assert_frame_equal(again, random)
    other = evaluated(Settings(("a", "b"), split="stratified", seed=50)).sentences
    assert set(other["row"]) != set(random["row"]) or not other.equals(random)


def test_the_order_of_the_file_decides_the_tail() -> None:
    turned = dataset(list(reversed(MADE_UP.texts)), list(reversed(MADE_UP.labels)))
    assert set(evaluated(Settings(("m",)), turned).sentences["text"]) == {f"文{i}" for i in range(6)}


def test_models_are_ranked_the_most_accurate_first_and_compared_sentence_by_sentence() -> None:
    result = evaluated(Settings(("a", "b", "c")))
    ranked = result.models.sort_values("rank")
    assert ranked["accuracy_mean"].is_monotonic_decreasing and ranked["rank"].iloc[0] == 1
    mean = result.models.set_index("model")["accuracy_mean"]
    assert list(zip(result.comparisons["model"], result.comparisons["other"], strict=True)) == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    for line in result.comparisons.itertuples():
        assert line.difference == pytest.approx(mean[line.model] - mean[line.other])
        assert line.separable == (line.ci_low > 0 or line.ci_high < 0)
    assert ranked["rank_group"].iloc[0] == 1 and ranked["rank_first"].iloc[0] == 1
    unsaid = result.models.drop(columns=["rank_first", "rank_last"])
    assert ranges_of(result.models) == ranges_of(unsaid, result.comparisons)


def test_models_of_one_mind_share_rank_and_group() -> None:
    class Alike(SessionFake):
        def sentence_vectors(self, model: str, texts, **given):  # type: ignore[no-untyped-def]
            return super().sentence_vectors("one", texts, **given)

    models = evaluated(Settings(("a", "b")), session=Alike()).models
    assert models["rank"].tolist() == [1, 1] and models["rank_group"].tolist() == [1, 1]
    assert models["rank_first"].tolist() == [1, 1] and models["rank_last"].tolist() == [2, 2]


def test_equal_numbers_of_right_answers_are_equal_accuracies() -> None:
    # 11 of 35 answers are right under each: the means of their shares of 7 differ in the last digit.
    shares = [[1, 1, 2, 3, 4], [0, 0, 0, 4, 7], [2, 2, 2, 2, 3], [0, 1, 2, 3, 5]]
    runs = pd.DataFrame(
        [(f"m{i}", n_right / 7) for i, of_model in enumerate(shares) for n_right in of_model],
        columns=["model", "accuracy"],
    )
    labels = ["a", "b"] * 7
    models = model_table(runs, labels, [np.arange(14) >= 7] * 5)
    assert set(models["accuracy_mean"]) == {11 / 35} and models["rank"].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(("given", "asked"), [(None, 4), (-1, 4), (0, 0), (-5, 0)])
def test_settings_reach_the_model_and_the_classifier(given: int | None, asked: int) -> None:
    session = SessionFake()
    result = evaluated(
        Settings(("m",), layer=given, pooling="mean", seeds=1, hidden=(7,), epochs=3, batch_size=5, standardize=True),
        session=session,
    )
    assert session.calls[0] == ("sentence_vectors", "m", (asked,), "mean")
    assert session.calls[1] == (
        "classify",
        "Classifier 1 of 1: m",
        {"seed": 0, "hidden": [7], "epochs": 3, "batch_size": 5, "standardize": True},
    )
    assert result.signature["layers"] == {"m": asked} and result.signature["run_seeds"] == [0]
    assert result.signature["vectors"] == {"m": "mean"} and "scikit-learn" in result.signature["versions"]


def test_texts_are_normalised_before_the_model_and_shown_as_given() -> None:
    sentences = dataset(["ＣＤ", "cd"] * 3, ["甲", "乙"] * 3)
    result = evaluated(Settings(("m",), normalize=("nfkc", "lower"), seeds=1), sentences)
    assert result.sentences["text"].tolist() == ["ＣＤ", "cd"]
    # all are one text to the model, so both test sentences are known word for word
    assert any("Of 2 test sentences 2 are also among the training" in notice for notice in result.notices)


def test_a_test_sentence_that_was_trained_on_is_said() -> None:
    texts = [f"文{i}" for i in range(10)] + ["同じ文"] * 2
    tail = evaluated(Settings(("m",)), dataset(texts, ["甲", "乙"] * 6))
    assert not [notice for notice in tail.notices if "training sentences" in notice]  # both are the test
    texts[0] = "同じ文"
    tail = evaluated(Settings(("m",)), dataset(texts, ["甲", "乙"] * 6))
    assert "Of 2 test sentences 2 are also among the training sentences: they" in tail.notices[-1]
    # 3 of 12 are alike, of a random test of 2 there are fewer in the mean
    random = evaluated(Settings(("m",), split="stratified", seeds=20), dataset(texts, ["甲", "乙"] * 6))
    assert ", in the mean of the runs: they are easier" in random.notices[-1]


def test_a_sentence_beyond_one_model_is_left_out_for_all() -> None:
    class Short(SessionFake):
        def sentence_vectors(self, model: str, texts, **given):  # type: ignore[no-untyped-def]
            pieces = super().sentence_vectors(model, texts, **given)
            return [
                {"excluded": "3 tokens", "n_tokens": 3} if model == "short" and text == "文29" else piece
                for text, piece in zip(texts, pieces, strict=True)
            ]

    texts = ["長" * (TOO_LONG + 1), *MADE_UP.texts]
    result = evaluated(Settings(("long", "short")), dataset(texts, ["甲", *MADE_UP.labels]), Short())
    assert result.excluded[["model", "row"]].to_numpy().tolist() == [["long", 1], ["short", 1], ["short", 31]]
    assert any("2 of 31 sentences are beyond the length of a chosen model" in notice for notice in result.notices)
    # 丙 has 9 left, of which 2 (1.8) are the test
    assert result.models[["n_train", "n_test"]].to_numpy().tolist() == [[23, 6]] * 2
    assert 31 not in set(result.sentences["row"])


def test_a_class_of_one_sentence_is_left_out_and_said() -> None:
    sentences = dataset([*MADE_UP.texts, "孤独"], [*MADE_UP.labels, "丁"])
    result = evaluated(Settings(("a", "b")), sentences)
    assert result.excluded[["model", "row"]].to_numpy().tolist() == [["a", 31], ["b", 31]]
    assert "the only sentence of its class '丁'" in result.excluded["reason"].iloc[0]
    assert any("left out: '丁'" in notice for notice in result.notices)
    assert "丁" not in set(result.classes["class"])


def test_two_sentences_of_a_class_are_one_to_train_on_and_one_to_test() -> None:
    result = evaluated(Settings(("m",)), dataset(["一", "二", "三", "四"], ["甲", "甲", "乙", "乙"]))
    assert result.classes[["n_train", "n_test"]].to_numpy().tolist() == [[1, 1], [1, 1]]
    assert result.sentences["text"].tolist() == ["二", "四"]


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["甲", "乙", "丙", "丁"], "there are 4 such sentences of 4, by class: '甲' 1, '乙' 1"),
        (["甲", "甲", "甲", "乙"], "by class: '甲' 3, '乙' 1"),
    ],
)
def test_classes_too_small_to_be_tested_are_listed(labels: list[str], told: str) -> None:
    with pytest.raises(InputError, match="2 classes of at least 2 sentences") as caught:
        evaluated(Settings(("m",)), dataset(["一", "二", "三", "四"], labels))
    assert told in str(caught.value)


def test_a_column_of_thousands_of_values_is_no_label() -> None:
    n = MOST_CLASSES + 1
    many = dataset([f"文{i}" for i in range(2 * n)], [str(i // 2) for i in range(2 * n)])
    with pytest.raises(InputError, match="1,001 classes of at least 2 sentences; at most 1,000"):
        evaluated(Settings(("m",)), many)
    with pytest.raises(InputError, match=r"by class: '0' 1, .*, …"):
        evaluated(Settings(("m",)), dataset([f"文{i}" for i in range(50)], [str(i) for i in range(50)]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(()), "No model is chosen"),
        (Settings(("m", "m")), "more than once: m"),
        (Settings(("m",), pooling="max"), "pooling is one of published, cls, mean, .*; got 'max'"),
        (Settings(("m",), split="head"), "split is one of tail, stratified; got 'head'"),
        (Settings(("m",), layer=9), "layers 0 .embeddings. to 4, or -1 to -5 from the end; got layer 9"),
        (Settings(("m",), seeds=0), "seeds must be between 1 and 100; got 0"),
        (Settings(("m",), epochs=5000), "epochs must be between 1 and 1,000; got 5000"),
        (Settings(("m",), batch_size=0), "batch_size is at least 1; got 0"),
        (Settings(("m",), hidden=()), "hidden holds at least 1 value"),
        (Settings(("m",), hidden=(5, 0)), "hidden is at least 1; got 0"),
        (Settings(("m",), test_share=1.0), "strictly between 0 and 1; got 1.0"),
        (Settings(("m",), seed=-1), "seed must be between 0 and"),
        (Settings(("m",), seed=2**32), "seed must be between 0 and"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: Settings, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluated(settings)


def test_a_result_comes_back_from_the_disk_as_it_was() -> None:
    result = evaluated(Settings(("a", "b"), split="stratified", hidden=(3, 4)))
    files = pack(result)
    back = unpack(Result, files.__getitem__, "it")
    assert back.settings == result.settings and json.dumps(back.signature) == json.dumps(result.signature)
    for table in ("models", "runs", "comparisons", "confusion", "classes", "sentences", "excluded"):
        pd.testing.assert_frame_equal(getattr(back, table), getattr(result, table))


def test_a_second_time_nothing_is_trained_again(tmp_path) -> None:  # type: ignore[no-untyped-def]
    backend, cache = FakeBackend(), Cache(tmp_path / "cache.sqlite", 2**24)
    gateway = Gateway(backend, cache)
    first = evaluate(Settings(("m",)), MADE_UP, gateway.session("1"))
    assert backend.n_items("classify") == 5
    second = evaluate(Settings(("m",)), MADE_UP, gateway.session("2"))
    assert backend.n_items("classify") == 5
    pd.testing.assert_frame_equal(first.runs, second.runs)
    # another seed is another run of one seed more: four of the five are there already
    evaluate(Settings(("m",), seed=1), MADE_UP, gateway.session("3"))
    assert backend.n_items("classify") == 6
    for changed in (
        Settings(("m",), epochs=21, seeds=1),
        Settings(("m",), standardize=True, seeds=1),
        Settings(("m",), split="stratified", seeds=1),
        Settings(("other",), seeds=1),
    ):
        before = backend.n_items("classify")
        evaluate(changed, MADE_UP, gateway.session("4"))
        assert backend.n_items("classify") == before + 1
    backend.close()
    cache.close()
