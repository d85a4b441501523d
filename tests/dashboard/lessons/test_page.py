"""The lessons in Streamlit's harness: right and wrong answers of every step, deeds, links, print, without samples."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import pages
from dashboard.faces import FACES
from dashboard.lessons import names
from dashboard.lessons.catalog import LESSONS
from dashboard.lessons.printed import lesson_file, right_answer
from dashboard.lessons.records import Choice, Deed, Lesson, Number, OwnRun, Step
from dashboard.lessons.short_sentences import SIDES
from dashboard.shared import samples, session
from dashboard.shared.inputs.sample_language import VARIABLE
from engine.datasets import sample_data
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment.records import Settings as Alignment
from engine.evaluations.clusters.records import Settings as Clusters
from engine.evaluations.minimal_pairs.records import Settings as Pairs
from engine.evaluations.shared import dictionaries
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.idf import count_documents
from engine.messages.languages import in_language, tr
from tests.dashboard.lessons.right_answers import RIGHT, swapped_row
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, at, drawn, until, visit, words

LANGUAGES = tuple(sample_data.LANGUAGES)
EACH = pytest.mark.parametrize("language", LANGUAGES)
OF_LESSONS = pytest.mark.parametrize("name", list(LESSONS))


@pytest.fixture(autouse=True)
def follows_the_reader(
    backend: FakeBackend, no_cache_outlives_a_test: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Samples in the reader's language, and the dictionaries that they ask for, of the tokenizer without models."""
    monkeypatch.delenv(VARIABLE, raising=False)
    (folder := tmp_path / "idf").mkdir()
    monkeypatch.setattr(dictionaries, "FOLDER", folder)
    common = sorted(set("".join(sample_data.sentence_pairs().references)) - set("斉藤尾崎"))
    fingerprint = backend._facts("builtin/bert-mini-ja", None).tokenizer_fingerprint
    for corpus in ("novel", "wiki"):
        write_idf(
            count_documents([*[common] * 9, list("斉藤")], corpus, fingerprint, "file"),
            folder / f"{corpus}.fake.json.gz",
        )


def sample_result(kind: str, language: str) -> tuple[str, Any]:
    runs, face = session.engine().runs, FACES[kind]
    assert face.sample is not None
    run_id = samples.submit(runs, face, face.sample, language)
    assert runs.wait(run_id, SECONDS).state == "done"
    return run_id, runs.result(run_id)


def of_step(step: Step, language: str) -> tuple[dict[str, str], dict[str, Any]]:
    found = {kind: sample_result(kind, step.language or language) for kind in step.kinds}
    return {kind: run_id for kind, (run_id, _) in found.items()}, {kind: result for kind, (_, result) in found.items()}


def opened(lesson: Lesson, number: int, language: str) -> AppTest:
    app = at("lessons")
    app.session_state["language"] = language
    app.query_params["lesson"], app.query_params["step"] = lesson.name, str(number)
    return drawn(app)


def answered(app: AppTest, lesson: Lesson, step: Step, given: str | float) -> AppTest:
    key = f"lessons-answer-{lesson.name}-{step.name}"
    (app.radio(key=key) if isinstance(given, str) else app.number_input(key=key)).set_value(given)
    app.button(key=f"lessons-check-{lesson.name}-{step.name}").click()
    return drawn(app)


def test_every_question_has_a_right_answer_of_its_own_here() -> None:
    every = {(lesson.name, step.name) for lesson in LESSONS.values() for step in lesson.steps}
    assert set(RIGHT) <= every and len(every - set(RIGHT)) == 4  # deeds
    assert all(6 <= len(lesson.steps) <= 8 for lesson in LESSONS.values())


@EACH
@OF_LESSONS
def test_the_right_answer_is_taken_and_a_wrong_one_is_not(name: str, language: str) -> None:
    lesson = LESSONS[name]
    visit("lessons")  # which opens the engine
    for number, step in enumerate(lesson.steps, 1):
        if (lesson.name, step.name) not in RIGHT:
            continue
        _, results = of_step(step, language)
        right = RIGHT[lesson.name, step.name](results)
        app = opened(lesson, number, language)
        with in_language(language):
            posed = step.pose(results)
            wrong_said, right_said = tr("Not right yet."), tr("Right.")
            none, one = (tr("{done} of {n} steps done", done=done, n=len(lesson.steps)) for done in (0, 1))
        assert app.get("progress")[0].proto.text == none
        assert not app.success and not app.warning
        if isinstance(right, set):
            assert isinstance(posed.answer, Choice) and right <= set(posed.answer.options), (step.name, right)
            good, bad = sorted(right)[0], next(key for key in posed.answer.options if key not in right)
        else:
            good, bad = round(right, 3), right + 1.5
        app = answered(app, lesson, step, bad)
        assert not app.success and wrong_said in app.warning[0].value, step.name
        app = answered(app, lesson, step, good)
        assert app.success and not app.warning, (step.name, good, posed.answer)
        assert app.success[0].value.startswith(f"**{right_said}** ")
        assert posed.explanation in app.success[0].value.replace("\\", "").replace("\u2060", "").replace("  \n", "\n")
        assert app.get("progress")[0].proto.text == one
        assert not re.search(r"\bnan\b|\{|\}", f"{posed.text} {posed.explanation}"), step.name


@EACH
@OF_LESSONS
def test_links_lead_to_pages_that_take_every_choice(name: str, language: str) -> None:
    visit("lessons")
    for step in LESSONS[name].steps:
        run_ids, results = of_step(step, language)
        with in_language(language):
            look = step.pose(results).look
        if look is None:
            continue
        app = at(pages.name_of(look.kind))
        app.session_state["language"] = language
        app.query_params["run"] = run_ids[look.kind]
        for choice, value in look.query.items():
            app.query_params[choice] = value
        app = drawn(app)
        assert not app.error and "ignored" not in words(app) and "無視" not in words(app), (step.name, words(app)[:600])


@EACH
@OF_LESSONS
def test_the_printed_lesson_has_every_step_and_answers_only_where_they_are_wanted(name: str, language: str) -> None:
    lesson = LESSONS[name]
    visit("lessons")
    results = [(step, of_step(step, language)[1]) for step in lesson.steps]
    app = opened(lesson, 1, language)
    assert [button.key for button in app.download_button] == ["lessons-print"]
    with in_language(language):
        plain, solved = (
            lesson_file(lesson, results, datetime(2026, 3, 4, tzinfo=UTC), with_answers=wanted)
            for wanted in (False, True)
        )
        assert f'<html lang="{language}">' in plain
        assert plain.count('<section class="step">') == len(lesson.steps) == solved.count('<section class="step">')
        for step, of_it in results:
            assert tr(step.title) in plain
            posed = step.pose(of_it)
            if isinstance(posed.answer, Number):
                told = f"<strong>{right_answer(posed.answer)}</strong>"
                assert told in solved and told not in plain
        for result in {id(result): result for _, of_it in results for result in of_it.values()}.values():
            assert result.signature["models"][0]["name"] in plain
    assert 'class="answers"' in solved and 'class="answers"' not in plain


@OF_LESSONS
def test_without_results_of_the_samples_each_step_offers_to_evaluate_them(name: str) -> None:
    lesson = LESSONS[name]
    for number, step in enumerate(lesson.steps, 1):
        app = opened(lesson, number, "en")
        assert bool(step.kinds) == any(button.key == "lessons-evaluate" for button in app.button)
        assert not app.download_button and not app.error
    number, step = next((number, step) for number, step in enumerate(lesson.steps, 1) if len(step.kinds) == 1)
    app = opened(lesson, number, "en")
    app.button(key="lessons-evaluate").click()
    app = until(drawn(app), lambda app: any(str(button.key).startswith("lessons-check") for button in app.button))
    assert not app.info


def test_a_run_of_ones_own_with_cls_vectors_is_found() -> None:
    visit("lessons")
    lesson = LESSONS["cls-vectors"]
    of = {kind: sample_result(kind, "en")[1] for kind in ("clusters", "classification", "fill-mask")}
    app = opened(lesson, 4, "en")
    app.button(key="lessons-check-cls-vectors-cls").click()
    assert "None of your finished runs" in drawn(app).warning[0].value
    model = of["clusters"].settings.models[0]
    other = sample_data.labelled_sentences("ja")
    for dataset, pooling in ((other, "cls"), (sample_data.labelled_sentences("en"), "mean")):
        own(session, "clusters", Clusters((model,), pooling=pooling, projection="pca"), dataset)
    assert not drawn(app).success
    run_id = own(
        session, "clusters", Clusters((model,), pooling="cls", projection="pca"), sample_data.labelled_sentences("en")
    )
    score = session.access().result(run_id).models["score"].iloc[0]
    app = drawn(app)
    assert f"{score:,.1f}" in app.success[0].value and "1 of 8 steps done" in app.get("progress")[0].proto.text


def own(session: Any, kind: str, settings: Any, dataset: Any) -> str:
    run_id = str(session.access().submit(kind, settings, dataset, "Mine").run_id)
    assert session.engine().runs.wait(run_id, SECONDS).state == "done"
    return run_id


def own_run(run_id: str, settings: Any = None) -> OwnRun:
    access = session.access()
    run = access.get(run_id)
    assert run is not None
    return OwnRun(run, settings or access.settings(run_id), access.dataset(run_id), lambda: access.result(run_id))


def test_another_seed_of_the_map_is_held_against_the_same_vectors() -> None:
    visit("lessons")
    step = LESSONS["cls-vectors"].steps[4]
    _, result = sample_result("clusters", "en")
    deed = step.pose({"clusters": result}).answer
    assert isinstance(deed, Deed)
    dataset = sample_data.labelled_sentences("en")
    model = result.settings.models[0]
    same = own(session, "clusters", replace(result.settings, models=(model,), resamples=100), dataset)
    others = own(session, "clusters", Clusters((model,), pooling="cls", projection="pca", resamples=100), dataset)
    as_umap = {"projection": "umap", "seed": 7}
    mine = own_run(same, replace(session.access().settings(same), **as_umap))
    told = deed.done([mine])
    score = result.models.set_index("model").loc[model, "score"]
    assert told.count(f"{score:,.3f}") == 2 and "the score is the same" in told and "seed 7" in told
    assert deed.done([own_run(same)]) == "" == deed.done([])  # the sample's own seed
    alone = deed.done([own_run(others, replace(session.access().settings(others), **as_umap))])
    assert "yet another seed" in alone


@pytest.mark.parametrize(("power", "told"), [(0.5, "the longer sentence is favoured"), (2.0, "does not do enough")])
def test_what_is_said_of_meanlp_follows_its_slope(power: float, told: str) -> None:
    """LP = -|S|^power makes MeanLP = -|S|^(power - 1), which rises with |S| below 1 and falls above it; with some noise."""
    visit("lessons")
    (step,) = (step for step in LESSONS["short-sentences"].steps if step.name == "scores")
    _, result = sample_result("minimal-pairs", "en")
    noise = np.exp(np.random.default_rng(0).normal(scale=0.1, size=(2, len(result.pairs))))
    made = {
        f"{side}_log_likelihood": -(result.pairs[f"{side}_tokens"] ** power) * factor
        for side, factor in zip(SIDES, noise, strict=True)
    }
    with in_language("en"):
        assert told in step.pose({"minimal-pairs": replace(result, pairs=result.pairs.assign(**made))}).explanation


@EACH
def test_a_name_of_ones_own_is_found(language: str) -> None:
    visit("lessons")
    lesson, step = LESSONS["names"], LESSONS["names"].steps[3]
    for each in lesson.steps:
        of_step(each, language)
    _, result = sample_result("alignment", language)
    assert step.name == "own"
    pair = result.pairs.set_index("row").loc[swapped_row(result)]
    for candidate in (pair["candidate"], pair["reference"]):
        own(session, "alignment", Alignment(result.settings.models), typed(pair["reference"], candidate))
    app = opened(lesson, 4, language)
    assert not app.success
    run_id = own(
        session, "alignment", Alignment(result.settings.models), typed(pair["reference"], "Z" + pair["candidate"])
    )
    f1 = session.access().result(run_id)
    app = drawn(app)
    assert f"{names.plain(f1).pairs['f1'].iloc[0]:.3f}" in app.success[0].value


def typed(reference: str, candidate: str) -> SentencePairs:
    return SentencePairs.from_frame(pd.DataFrame({"reference": [reference], "candidate": [candidate]}), "typed pair")


def test_a_pair_of_ones_own_counts_where_its_acceptable_sentence_is_longer() -> None:
    visit("lessons")
    lesson, step = LESSONS["short-sentences"], LESSONS["short-sentences"].steps[6]
    _, result = sample_result("minimal-pairs", "en")
    assert step.name == "own"
    settings = Pairs(result.settings.models)
    own(session, "minimal-pairs", settings, sample_data.minimal_pairs("en"))
    own(session, "minimal-pairs", settings, minimal("A dog.", "Many a dog."))
    app = opened(lesson, 7, "en")
    assert not app.success
    own(session, "minimal-pairs", settings, minimal("Many a dog barks.", "Many dog."))
    app = drawn(app)
    assert "Many a dog barks" in app.success[0].value and "under MeanLP" in app.success[0].value


def minimal(acceptable: str, unacceptable: str) -> MinimalPairs:
    return MinimalPairs.from_frame(
        pd.DataFrame({"acceptable": [acceptable], "unacceptable": [unacceptable]}), "typed pair"
    )


def test_an_empty_answer_is_asked_for_and_others_results_are_another_question() -> None:
    visit("lessons")
    lesson, step = LESSONS["cls-vectors"], LESSONS["cls-vectors"].steps[0]
    app = opened(lesson, 1, "en")
    app.button(key="lessons-check-cls-vectors-by-hand").click()
    app = drawn(app)
    assert "Give an answer first" in words(app) and not app.warning and not app.success
    app = answered(app, lesson, step, 0.56)
    assert app.success
    app.button(key="lessons-next").click()
    app = drawn(app)
    assert app.header[0].value.startswith("2. ") and list(app.query_params["step"]) == ["2"]
    app.button(key="lessons-back").click()
    assert drawn(app).success  # kept while the session lasts


def test_addresses_that_cannot_be_are_told_and_home_leads_here(backend: FakeBackend) -> None:
    app = visit("lessons", lesson="none", step="99")
    assert words(app).count("ignored") == 2 and app.header[0].value == "1. Dispersion by hand"
    links = [link for link in visit("home").get("page_link") if link.label == "Lessons"]
    assert len(links) == 1


def test_glosses_are_of_sentences_of_the_sample() -> None:
    pairs = sample_data.sentence_pairs("ja")
    assert set(names.GLOSSES) <= {*pairs.references, *pairs.candidates}
