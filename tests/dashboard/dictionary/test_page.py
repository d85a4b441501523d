"""The dictionary page in Streamlit's own test harness: the real engine and queue, over a backend without models."""

from __future__ import annotations

import gzip
import threading
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared import dictionaries, session
from dashboard.shared.inputs import sample_language
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment import records as alignment
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.dictionary.records import Settings
from engine.evaluations.shared import dictionaries as stored
from engine.evaluations.shared.idf_files import idf_bytes, write_idf
from engine.measures.idf import count_documents
from tests.dashboard.faults import faults
from tests.dashboard.printed_commands import linked
from tests.support import page_visits
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, until, words

MODEL = "builtin/bert-mini-ja"
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test", "built_in")


def visit(run_id: str | None = None) -> AppTest:
    return page_visits.visit("dictionary", run=run_id)


@pytest.fixture
def built_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two built-in dictionaries of one tokenizer, and one of another."""
    folder = tmp_path / "idf"
    folder.mkdir()
    documents = [["は", "猫"], ["は", "犬"], ["は", "斉", "##藤"], ["の"]]
    write_idf(count_documents(documents, "novel", "abc", "file"), folder / "novel.bert-mini-ja.json.gz")
    write_idf(count_documents([["は", "の"], ["の"]], "wiki", "abc", "file"), folder / "wiki.bert-mini-ja.json.gz")
    write_idf(count_documents([["は"]], "novel", "xyz", "file"), folder / "novel.gpt2-mini-ja.json.gz")
    monkeypatch.setattr(stored, "FOLDER", folder)


def run_of(app: AppTest) -> str:
    """The run in the address, "" where there is none."""
    run_id = app.query_params.get("run", "")
    return run_id if isinstance(run_id, str) else run_id[0]


def shown(app: AppTest, view: str) -> AppTest:
    app.get_by_key(f"corpora-view-{run_of(app)}").set_value(view)
    return drawn(app)


def building(source: str, name: str) -> AppTest:
    app = shown(visit(), "build")
    app.get_by_key("corpora-source").set_value(source)
    drawn(app)
    app.text_input(key="corpora-name").set_value(name)
    return app


def counted(app: AppTest) -> AppTest:
    """The page once the run has ended, or was refused."""
    app.button(key="corpora-submit").click()
    drawn(app)
    if not run_of(app):
        assert app.error, words(app)
        return app
    assert session.engine().runs.wait(run_of(app), SECONDS) is not None
    return drawn(app)


def test_a_dictionary_of_english_names_the_english_corpus() -> None:
    documents = [["the", "cat"], ["the", "dog"]]
    write_idf(count_documents(documents, "novel", "def", "blank-line"), stored.FOLDER / "novel.bert-mini-en.json.gz")
    for model, corpus, tokens in (
        ("bert-mini-en", "33 English novels", "London"),
        ("bert-mini-ja", "229 Japanese novels", "東京"),
    ):
        app = page_visits.visit("dictionary", dictionary=f"novel@{model}")
        about = [caption.value for caption in app.caption if "novels" in caption.value]
        assert len(about) == 1 and corpus in about[0]
        assert tokens in next(box for box in app.text_input if box.label == "Find a token").placeholder


def test_the_page_opens_on_a_dictionary_of_the_readers_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """In either language it opened on bert-mini-en, the first by its name."""
    monkeypatch.delenv(sample_language.VARIABLE)
    write_idf(count_documents([["the"]], "novel", "def", "blank-line"), stored.FOLDER / "novel.bert-mini-en.json.gz")
    for wanted, model in (("ja", "bert-mini-ja"), ("en", "bert-mini-en")):
        app = page_visits.at("dictionary")
        app.session_state["language"] = wanted
        drawn(app)
        assert app.selectbox[0].value.model == model
        # A link names it, as who opens it may read another language.
        assert linked(app)["dictionary"] == [f"novel@{model}"]


def test_a_dictionary_is_searched_and_split_at_a_threshold() -> None:
    app = visit()
    # は is in three of four documents, the five others in one, log(5 / 2): the lower 70% are four, so none is above
    assert [metric.value for metric in app.metric] == ["4", "6", "8", "0.92", "0"]
    app.slider(key="corpora-share-").set_value(0.2)
    assert [metric.value for metric in drawn(app).metric][3:] == ["0.22", "5"]
    app.get_by_key("corpora-by-").set_value("value")
    drawn(app).slider(key="corpora-value-").set_value(0.9)
    assert [metric.value for metric in drawn(app).metric][3:] == ["0.90", "5"]
    assert "All 3 dictionaries" in [expander.label for expander in app.expander]


def test_the_page_speaks_japanese() -> None:
    app = page_visits.at("dictionary")
    app.session_state["language"] = "ja"
    drawn(app)
    assert [metric.label for metric in app.metric] == ["文書数", "見出し語数", "トークン数", "しきい値", "低頻度"]
    assert "1文書の単位: ファイル。" in words(app) and "全6件中、条件に合う6件を" in words(app)
    app = page_visits.at("dictionary")
    app.query_params["view"] = "compare"
    app.session_state["language"] = "ja"
    drawn(app)
    assert "少なくとも一方に現れる6トークンのうち、**2**トークンが両方に現れます" in words(app)
    assert app.dataframe[0].value["low"].isin(["双方", "どちらでもない", "novelのみ", "wikiのみ"]).all()


def test_two_dictionaries_of_a_tokenizer_are_compared() -> None:
    app = shown(visit(), "compare")
    assert app.selectbox(key="corpora-first-").value.label == "novel · bert-mini-ja"
    # the one of the other tokenizer is not offered
    assert app.selectbox[1].options == ["wiki · bert-mini-ja"]
    assert "**2** tokens occur in both, of 6 in either" in words(app)
    assert set(app.dataframe[0].value["piece"]) == {"は", "の"}
    assert faults(app) == []
    app.toggle(key="corpora-both-").set_value(False)
    assert len(drawn(app).dataframe[0].value) == 6
    app.selectbox(key="corpora-first-").select_index(1)
    assert "No other dictionary" in words(drawn(app))


def test_a_corpus_of_files_and_a_zip_is_counted_and_listed(backend: FakeBackend) -> None:
    app = building("files", "my <b>novels</b>")
    app.selectbox(key="corpora-model").set_value(MODEL)
    with zipfile.ZipFile(packed := BytesIO(), "w") as archive:
        archive.writestr("two.txt", "犬がいる。")
        archive.writestr("three.txt", "鳥がいる。".encode("cp932"))
    app.file_uploader(key="corpora-files").upload("one.txt", "猫がいる。\n猫。".encode())
    app.file_uploader(key="corpora-files").upload("more.zip", packed.getvalue())
    app = counted(app)
    assert not app.error and [metric.value for metric in app.metric][:3] == ["3", "7", "17"]
    run_id = run_of(app)
    assert app.selectbox(key=f"corpora-dictionary-{run_id}").value.name == "my <b>novels</b>"
    assert app.dataframe[0].value["piece"].tolist()[:4] == ["。", "い", "が", "る"]

    # It may be chosen wherever a dictionary of its tokenizer may, and scores as it should.
    tokenizer = backend._facts(MODEL, None).tokenizer_fingerprint
    (choice,) = dictionaries.choices([tokenizer])
    assert choice == f"saved/{run_id}" and dictionaries.label(choice) == "my <b>novels</b>"
    assert choice not in dictionaries.choices(["another"]) and choice in dictionaries.choices(with_occurrences=True)
    pairs = SentencePairs("pairs", ("猫がいる。",), ("犬がいる。",), ("",), {}, (1,))
    run = session.access().submit("alignment", alignment.Settings((MODEL,)), pairs)
    assert session.engine().runs.wait(run.run_id, SECONDS).state == "done"
    scores = rescore(session.access().result(run.run_id), alignment.Scoring(choice, penalty="reading"))
    assert scores.dictionaries[MODEL].startswith("my <b>novels</b> (3 documents, ")
    assert scores.pairs["f1"].notna().all()

    # Another visitor of the link sees it, and whoever built it may delete it.
    again = visit(run_id)
    assert [metric.value for metric in again.metric][:3] == ["3", "7", "17"]
    again.button(key="corpora-delete-yes").click()
    drawn(again)
    assert dictionaries.choices([tokenizer]) == {} and dictionaries.label(choice) == "a deleted dictionary"
    assert not list((session.engine().data_dir / "dictionaries").iterdir())


def test_pasted_lines_are_documents(backend: FakeBackend) -> None:
    app = building("paste", "lines")
    app.selectbox(key="corpora-model").set_value(MODEL)
    app.text_area(key="corpora-text").set_value("猫がいる。\n\n犬がいる。\n")
    app = counted(app)
    assert [metric.value for metric in app.metric][:3] == ["2", "6", "10"]
    assert "A document is a line." in words(app)


def test_words_are_counted_and_fit_every_model(backend: FakeBackend) -> None:
    app = building("paste", "my words")
    app.segmented_control(key="corpora-counted").set_value("words")
    drawn(app)
    assert not [box for box in app.selectbox if box.key == "corpora-model"]
    app.text_input(key="corpora-name").set_value("my words")
    app.text_area(key="corpora-text").set_value("斉藤がいる。\n犬がいる。")
    app = counted(app)
    assert not app.error, app.error[0].value
    assert [metric.value for metric in app.metric][:3] == ["2", "5", "8"]
    assert app.dataframe[0].value["piece"].tolist() == ["。", "いる", "が", "斉藤", "犬"]
    (entry,) = [entry for entry in dictionaries.available_dictionaries() if entry.run_id]
    assert entry.of_words and entry.label.startswith("my words · words (MeCab, unidic-lite ")
    assert "--words" in words(app) and "--model" not in words(app).partition("python -m engine dictionary")[2]
    # Offered to every model, but not where pieces are needed.
    assert entry.choice in dictionaries.choices(["any"], words=True)
    assert entry.choice not in dictionaries.choices(["any"])
    assert entry.choice not in dictionaries.choices(["any"], with_occurrences=True)
    assert entry.choice not in dictionaries.choices([], with_occurrences=True)
    assert entry.choice in dictionaries.choices()
    # Other sources have no such choice.
    app = building("dictionary", "x")
    assert not [control for control in app.segmented_control if control.key == "corpora-counted"]


def test_a_dictionary_is_downloaded_and_uploaded_again(backend: FakeBackend) -> None:
    mine = count_documents([["猫", "が"], ["が"]], "theirs", "abc", "article")
    app = building("dictionary", "came back")
    app.file_uploader(key="corpora-dictionary-file").upload("mine.json.gz", idf_bytes(mine))
    app = counted(app)
    assert not app.error and [metric.value for metric in app.metric][:3] == ["2", "2", "3"]
    (entry,) = [entry for entry in dictionaries.available_dictionaries() if entry.run_id]
    assert (entry.name, entry.model, entry.tokenizer) == ("came back", "", "abc")
    assert (entry.unit, entry.own) == ("article", True)
    assert dictionaries.dictionary(entry).document_counts == mine.document_counts
    assert entry.label == "came back · tokenizer abc"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("bad.json", b"{}", "is not an idf dictionary"),
        ("bad.gz", gzip.compress(b"x", mtime=0), "one file ending in"),
    ],
)
def test_a_file_that_is_no_dictionary_fails_with_a_reason(
    backend: FakeBackend, name: str, content: bytes, message: str
) -> None:
    app = building("dictionary", "bad")
    app.file_uploader(key="corpora-dictionary-file").upload(name, content)
    app = counted(app)
    assert message in words(app) and "This run failed" in words(app)


def test_missing_input_is_an_error_message(backend: FakeBackend) -> None:
    app = counted(building("files", "x"))
    assert "There is no text yet" in app.error[0].value
    app = building("paste", " ")
    app.text_area(key="corpora-text").set_value("猫")
    assert "needs a name" in counted(app).error[0].value
    app = building("files", "empty")
    app.file_uploader(key="corpora-files").upload("empty.txt", b"")
    assert "Empty: empty.txt" in words(counted(app))
    assert session.access().mine() == []


def test_progress_is_shown_and_a_run_can_be_cancelled(backend: FakeBackend) -> None:
    backend._gate = threading.Event()
    app = building("paste", "slow")
    app.selectbox(key="corpora-model").set_value(MODEL)
    app.text_area(key="corpora-text").set_value("猫がいる。")
    app.button(key="corpora-submit").click()
    app = until(drawn(app), lambda app: app.progress)
    app.button(key="run-cancel").click()
    until(drawn(app), lambda app: "was cancelled" in words(app))
    backend._gate.set()
    assert dictionaries.choices([backend._facts(MODEL, None).tokenizer_fingerprint]) == {}


def test_a_damaged_file_is_made_again_from_its_run(backend: FakeBackend) -> None:
    app = building("paste", "kept")
    app.selectbox(key="corpora-model").set_value(MODEL)
    app.text_area(key="corpora-text").set_value("猫がいる。\n犬がいる。")
    run_id = run_of(counted(app))
    path = stored.saved_path(f"saved/{run_id}")
    assert path is not None
    path.unlink()
    assert stored.saved_path(f"saved/{run_id}") is None
    assert f"saved/{run_id}" in dictionaries.choices() and path.is_file()
    assert session.access().settings(run_id) == Settings(MODEL, "kept", "line")
