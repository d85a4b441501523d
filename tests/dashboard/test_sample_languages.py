"""Samples and built-in models follow the reader's language; the other is a press away."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.faces import FACES
from dashboard.shared import samples, session
from dashboard.shared.headlines import NAMES_OF_OURS, run_title
from dashboard.shared.inputs.sample_language import VARIABLE
from engine.datasets import sample_data
from engine.messages.languages import in_language
from engine.models.sources.cards import built_in_models, first_built_in, language_of
from tests.support.fakes import FakeBackend
from tests.support.page_visits import at, drawn, until, visit, words

KIND = "minimal-pairs"
GREEK = dict(zip("abcdefghiklmnoprstuwyATW", "αβγδεζηθικλμνξοπρστυφΑΤΩ", strict=True))
ENGLISH = list(first_built_in("masked", "causal", language="en"))


@pytest.fixture(autouse=True)
def follows_the_reader(backend: FakeBackend, no_cache_outlives_a_test: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)


def evaluate(language: str, kind: str = KIND) -> str:
    runs, face = session.engine().runs, FACES[kind]
    assert face.sample is not None
    run_id = samples.submit(runs, face, face.sample, language)
    assert runs.wait(run_id).state == "done"
    return run_id


def in_japanese() -> AppTest:
    app = at("minimal_pairs")
    app.session_state["language"] = "ja"
    return drawn(app)


def test_the_title_of_a_run_names_every_sample_in_the_readers_language() -> None:
    further = [sample.sample for face in FACES.values() if face.form for sample in face.form.further_samples.values()]
    samples_of_pages = [face.form.sample for face in FACES.values() if face.form] + further
    assert {sample("ja").name for sample in samples_of_pages} <= set(NAMES_OF_OURS)


def test_a_page_in_english_opens_on_the_english_sample_under_the_english_models() -> None:
    of_language = {language: evaluate(language) for language in sample_data.LANGUAGES}
    english = visit("minimal_pairs")
    assert english.multiselect(key=f"{KIND}-models").value == ENGLISH
    assert "gpt2-mini-en" in words(english) and "gpt2-mini-ja" not in words(english)
    japanese = in_japanese()
    assert japanese.multiselect(key=f"{KIND}-models").value == list(first_built_in("masked", "causal"))
    assert "gpt2-mini-ja" in words(japanese) and "gpt2-mini-en" not in words(japanese)
    # One press shows the sample of the other language, its models and its data; one more brings the first back.
    english.button(key=f"{KIND}-sample-ja").click()
    assert "gpt2-mini-ja" in words(drawn(english))
    assert english.multiselect(key=f"{KIND}-models").value == list(first_built_in("masked", "causal"))
    assert english.session_state["sample-on-show"] == of_language["ja"]
    english.button(key=f"{KIND}-sample-en").click()
    assert "gpt2-mini-en" in words(drawn(english)) and english.session_state["sample-on-show"] == of_language["en"]


def test_a_sample_that_is_not_evaluated_yet_is_when_it_is_asked_for() -> None:
    japanese = evaluate("ja")
    app = visit("minimal_pairs")
    assert app.session_state["sample-on-show"] == japanese  # the only one that there is
    app.button(key=f"{KIND}-sample-en").click()
    until(drawn(app), lambda app: "gpt2-mini-en" in words(app) and app.download_button)
    assert app.query_params["run"] not in ([japanese], japanese)


def test_a_link_to_a_sample_opens_the_one_that_was_on_show_in_a_browser_of_the_other_language() -> None:
    of_language = {language: evaluate(language) for language in sample_data.LANGUAGES}
    english = visit("minimal_pairs")
    english.segmented_control(key=f"{KIND}-sample").set_value("running-text")
    link = drawn(english).query_params["data"]
    assert link in ("sample:running-text:en", ["sample:running-text:en"])
    japanese = at("minimal_pairs")
    japanese.session_state["language"] = "ja"
    japanese.query_params["data"] = "sample:running-text:en"
    drawn(japanese)
    assert japanese.multiselect(key=f"{KIND}-models").value == ENGLISH
    assert japanese.segmented_control(key=f"{KIND}-sample-language-buttons").value == "en"
    assert japanese.segmented_control(key=f"{KIND}-sample").value == "running-text"
    assert japanese.query_params["data"] in ("sample:running-text:en", ["sample:running-text:en"])
    # The page's own sample stands in the address where its language was chosen.
    english = visit("minimal_pairs")
    english.button(key=f"{KIND}-sample-ja").click()
    assert drawn(english).query_params["data"] in ("sample:ja", ["sample:ja"])
    again = visit("minimal_pairs", data="sample:ja")
    assert again.session_state["sample-on-show"] == of_language["ja"]
    again.button(key=f"{KIND}-sample-en").click()
    assert drawn(again).session_state["sample-on-show"] == of_language["en"]
    assert again.query_params["data"] in ("sample:en", ["sample:en"])


def test_a_link_of_before_and_one_in_no_language_of_the_samples() -> None:
    assert visit("minimal_pairs", data="sample:running-text").multiselect(key=f"{KIND}-models").value == ENGLISH
    unknown = visit("minimal_pairs", data="sample:running-text:fr")
    assert not unknown.exception and "is not offered here" in words(unknown)
    assert unknown.multiselect(key=f"{KIND}-models").value == ENGLISH


def test_models_that_somebody_chose_stay_with_the_other_sample() -> None:
    evaluate("en")
    evaluate("ja")
    app = visit("minimal_pairs")
    app.multiselect(key=f"{KIND}-models").set_value(["owner/own"])
    drawn(app).button(key=f"{KIND}-sample-ja").click()
    assert drawn(app).multiselect(key=f"{KIND}-models").value == ["owner/own"]


def test_the_operator_decides_for_all_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "en")
    assert in_japanese().multiselect(key=f"{KIND}-models").value == ENGLISH
    monkeypatch.setenv(VARIABLE, "fr")  # none of the languages of the samples: as without
    assert in_japanese().multiselect(key=f"{KIND}-models").value == list(first_built_in("masked", "causal"))


@pytest.mark.parametrize("kind", [kind for kind, face in FACES.items() if face.sample is not None])
def test_every_sample_has_an_english_run_under_english_models(kind: str) -> None:
    face = FACES[kind]
    assert face.sample is not None and face.form is not None
    settings = face.sample.settings("en")
    assert set(settings.models) <= set(built_in_models(language="en"))
    english, japanese = face.evaluation.sample("en"), face.evaluation.sample()
    assert english.n == japanese.n and english.content_hash != japanese.content_hash
    assert face.form.sample("en").n == english.n
    name = sample_data.name_of_content(english.content_hash)
    assert name is not None and name.endswith("-en") and sample_data.file_of(name).is_file()


def test_the_sample_of_earlier_code_is_shown_and_says_so_until_it_is_evaluated_again() -> None:
    earlier = evaluate("en")
    session.engine().store.change(earlier, key="of other code")
    app = visit("minimal_pairs")
    assert app.session_state["sample-on-show"] == earlier and "gpt2-mini-en" in words(app)
    assert "evaluated by an earlier version of the code" in words(app)
    app.button(key=f"{KIND}-sample-again").click()
    until(drawn(app), lambda app: app.query_params.get("run") and app.download_button)
    again = app.query_params["run"]
    assert again not in ([earlier], earlier)
    # From now on the page opens on that one, without the note.
    present = visit("minimal_pairs")
    assert present.session_state["sample-on-show"] in again and "earlier version of the code" not in words(present)


def test_a_sample_of_other_models_is_not_taken_for_it() -> None:
    other = evaluate("en")
    session.engine().store.change(other, key="of other code", models="owner/other")
    assert samples.finished(FACES[KIND]) is None


def test_the_run_of_a_sample_is_named_in_the_readers_language() -> None:
    run = session.engine().runs.get(evaluate("ja"))
    assert run is not None
    with in_language("ja"):
        assert run_title(run) == "サンプル: 最小対"


PASTED = {
    "ja": {
        "clusters": "雨が降る。\t天気\n雪が降る。\t天気\n試合に負けた。\tスポーツ\n試合に勝った。\tスポーツ",
        "classification": "雨が降る。\t天気\n雪が降る。\t天気\n試合に負けた。\tスポーツ\n試合に勝った。\tスポーツ",
        "fill-mask": "猫が[MASK]を食べる。\t魚",
        "alignment": "猫がいる。\t犬がいる。",
        "metric-study": "reference\tcandidate\thuman\n猫がいる。\t犬がいる。\t3\n猫がいる。\t猫だ。\t4",
        "minimal-pairs": "猫がいる。\t猫をいる。",
    },
    "en": {
        "clusters": "It rains.\tweather\nIt snows.\tweather\nWe lost.\tsports\nWe won.\tsports",
        "classification": "It rains.\tweather\nIt snows.\tweather\nWe lost.\tsports\nWe won.\tsports",
        "fill-mask": "The cat eats [MASK].\tfish",
        "alignment": "A cat sits.\tA dog sits.",
        "metric-study": "reference\tcandidate\thuman\nA cat sits.\tA dog sits.\t3\nA cat sits.\tCats sit.\t4",
        "minimal-pairs": "The cat sits.\tThe cat sit.",
    },
}


@pytest.mark.parametrize("kind", PASTED["ja"])
def test_the_models_that_are_offered_are_of_the_language_of_the_data(kind: str) -> None:
    """Japanese sentences on an English page were evaluated by English models, to which every token is unknown."""
    app = visit(FACES[kind].page.name)
    if kind == "alignment":
        app.segmented_control(key="alignment-extent").set_value("dataset")
        drawn(app)
    app.segmented_control(key=f"{kind}-source").set_value("paste")
    drawn(app)
    for language in ("ja", "en"):
        app.text_area(key=f"{kind}-text").set_value(PASTED[language][kind])
        app.button(key=f"{kind}-use").click()
        offered = drawn(app).multiselect(key=f"{kind}-models").value
        assert offered and {language_of(model) for model in offered} == {language}
    # In another script the page's own, and what somebody chose stays.
    app.text_area(key=f"{kind}-text").set_value(PASTED["en"][kind].translate(str.maketrans(GREEK)))
    app.button(key=f"{kind}-use").click()
    assert {language_of(model) for model in drawn(app).multiselect(key=f"{kind}-models").value} == {"en"}
    app.multiselect(key=f"{kind}-models").set_value(["owner/own"])
    drawn(app).text_area(key=f"{kind}-text").set_value(PASTED["ja"][kind])
    app.button(key=f"{kind}-use").click()
    assert drawn(app).multiselect(key=f"{kind}-models").value == ["owner/own"]


def test_a_typed_pair_is_aligned_by_the_model_of_its_language(backend: FakeBackend) -> None:
    app = visit("alignment")
    assert app.multiselect(key="alignment-models").value == ["builtin/bert-mini-en"]
    for area, text in zip(app.text_area, ("猫がいる。", "犬がいる。"), strict=False):
        area.set_value(text)
    app.button(key="alignment-submit").click()
    assert "builtin/bert-mini-ja" in drawn(app).toast[0].value
    until(app, lambda app: app.query_params.get("run") and app.download_button)
    run_id = app.query_params["run"]
    assert session.engine().runs.result(run_id if isinstance(run_id, str) else run_id[0]).settings.models == (
        "builtin/bert-mini-ja",
    )


def test_the_pair_of_the_home_page_is_aligned_by_the_model_of_its_language(backend: FakeBackend) -> None:
    app = visit("home")
    app.get_by_key("home-reference-en").set_value("猫がいる。")
    app.get_by_key("home-candidate-en").set_value("犬がいる。")
    app.button(key="home-align").click()
    drawn(app)
    [call] = [
        call
        for call in backend.calls
        if call.operation == "token_similarities" and call.request["items"] == [["猫がいる。", "犬がいる。"]]
    ]
    assert call.request["model"] == "builtin/bert-mini-ja"
