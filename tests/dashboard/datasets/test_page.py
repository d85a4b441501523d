"""Data sets from the upload to the next page: kept, opened, extended, used, downloaded, renamed, deleted."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.datasets import details
from dashboard.shared import session
from dashboard.shared.exports.bundle.data import data_file
from engine.datasets import sample_data
from engine.datasets.formats.files import Table, read_table
from engine.datasets.labelled.labelled_sentences import LabelledSentences, from_table
from engine.datasets.minimal_pairs.pairs import from_table as pairs_from_table
from engine.runs.access.datasets import DatasetAccess
from engine.runs.access.viewers import Viewer
from tests.dashboard.printed_commands import printed
from tests.support import page_visits
from tests.support.page_visits import drawn, evaluated, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test", "backend")

CONTENT = "text,label\n雨が降る,天気\n雪が積もる,天気\n試合に負けた,試合\n試合に勝った,試合\n"


def visit(page: str = "datasets", **query: str) -> AppTest:
    return page_visits.visit(page, **query)


def access() -> DatasetAccess:
    return session.datasets()


def kept(name: str = "titles") -> str:
    visit()
    return access().keep(from_table(read_table(CONTENT.encode(), "mine.csv")), name)


def test_an_upload_is_kept_from_the_page_that_reads_it() -> None:
    app = visit("clusters")
    app.get_by_key("clusters-source").set_value("upload")
    drawn(app)
    app.file_uploader[0].upload("mine.csv", CONTENT.encode())
    drawn(app)
    name = next(box for box in app.text_input if str(box.key).startswith("clusters-keep-name-"))
    assert name.value == "mine.csv"
    name.set_value("titles")
    app.button(key="clusters-keep-submit").click()
    drawn(app)
    assert [each.value for each in app.success] == ["Kept as titles."]
    (known,) = access().readable()
    assert (known.name, known.newest.n_rows) == ("titles", 4)
    app.button(key="clusters-keep-submit").click()
    assert "'titles' already" in words(drawn(app))


def test_the_samples_are_listed_by_themselves_in_both_languages() -> None:
    (table,) = [frame.value for frame in visit().dataframe if "language" in frame.value and "content" in frame.value]
    for language, name in (("ja", "Japanese"), ("en", "English")):
        pairs = sample_data.minimal_pairs(language)
        row = table[table["content"] == pairs.content_hash[:12]].iloc[0]
        assert (row["fits"], row["rows"], row["language"]) == ("Minimal pairs", pairs.n, name)
    labelled = table[table["content"] == sample_data.labelled_sentences("ja").content_hash[:12]]
    assert labelled["fits"].tolist() == ["Clusters, Classification"]
    texts = table[table["content"] == sample_data.running_text("en").content_hash[:12]]
    assert texts["fits"].tolist() == ["Minimal pairs"] and texts["rows"].tolist() == [6]


def test_samples_are_not_offered_to_be_kept() -> None:
    app = visit("clusters")
    assert not [button for button in app.button if button.key == "clusters-keep-submit"]


@pytest.mark.parametrize("page", ["clusters", "classification"])
def test_it_is_used_on_every_page_that_its_format_fits(page: str) -> None:
    set_id = kept()
    app = visit(page)
    app.get_by_key(f"{page}-source").set_value("kept")
    drawn(app)
    assert (
        app.selectbox(key=f"{page}-kept").value == set_id
        and "titles · 4 rows" in app.selectbox(key=f"{page}-kept").options[0]
    )
    if page == "clusters":
        evaluated(app, page)
        (run,) = session.access().mine()
        assert run.dataset_name == "titles" and "On version" not in words(visit(dataset=set_id))
        assert [each.id for each, _ in access().used_by(set_id)] == [run.id]


def test_another_format_is_not_offered() -> None:
    kept()
    app = visit("fill_mask")
    app.get_by_key("fill-mask-source").set_value("kept")
    assert "None of this format is kept yet" in words(drawn(app)) and app.button(key="fill-mask-submit").disabled


def test_the_page_shows_rows_versions_and_runs() -> None:
    set_id = kept()
    app = visit(dataset=set_id)
    assert app.dataframe[0].value["text"].tolist()[0] == "雨が降る"
    hash_digits = access().dataset(set_id).content_hash[:12]
    assert f"4 rows, kept just now, content hash {hash_digits}" in words(app)
    assert [part.label for part in app.expander][-2:] == ["Runs on these data: 0", "Benchmarks of the field"]
    other = access().keep(sample_data.minimal_pairs(), "pairs")
    app = visit(dataset=other)
    assert app.dataframe[0].value["name"].tolist() == ["pairs", "titles"]
    unknown = visit(dataset="no-such-id")
    assert "There is no data set at this link" in words(unknown)
    assert unknown.query_params["dataset"] == "no-such-id"  # not another one's, which a reload would open
    shown = unknown.selectbox(key="datasets-dataset-kept").value
    ids = {set_id, other}
    (second,) = ids - {shown}
    unknown.selectbox(key="datasets-dataset-kept").set_value(second)
    assert "There is no data set" not in words(drawn(drawn(unknown))) and unknown.query_params["dataset"] == second
    unknown.query_params["dataset"] = shown  # the browser's back button
    assert drawn(unknown).selectbox(key="datasets-dataset-kept-2").value == shown


def test_rows_are_added_as_a_new_version() -> None:
    set_id = kept()
    app = visit(dataset=set_id)
    app.text_area(key=f"datasets-{set_id}-1-text").set_value("雪だ\t天気\nx\n")
    app.button(key=f"datasets-{set_id}-1-use").click()
    assert "line 2 has 1 field" in words(drawn(app))
    app.checkbox(key=f"datasets-{set_id}-1-skip-bad-rows").check()
    assert "1 row is added to the 4 of version 1" in words(drawn(app))
    app.button(key=f"datasets-{set_id}-1-keep").click()
    drawn(app)
    dataset: LabelledSentences = access().dataset(set_id)
    assert dataset.texts[-1] == "雪だ" and dataset.rows == (1, 2, 3, 4, 5) and dataset.left_out[0].row == 6
    version = app.selectbox(key=f"datasets-version-{set_id}-2")
    assert version.options == ["Version 2: 5 rows", "Version 1: 4 rows"] and len(app.dataframe[0].value) == 5
    version.set_value(1)
    assert len(drawn(app).dataframe[0].value) == 4


def test_the_version_that_is_shown_is_used_on_the_other_page() -> None:
    set_id = kept()
    access().extend(set_id, from_table(read_table(f"{CONTENT}雪だ,天気\n".encode(), "mine.csv")))
    app = visit(dataset=set_id)
    app.selectbox(key=f"datasets-version-{set_id}-2").set_value(1)
    drawn(app).button(key="datasets-use-clusters").click()
    drawn(app)
    assert app.selectbox(key="clusters-kept").value == set_id
    assert app.selectbox(key=f"clusters-kept-version-{set_id}-2").value == 1


def test_the_download_is_read_as_the_same_sentences() -> None:
    set_id = kept("mine.csv")
    (button,) = (button for button in visit(dataset=set_id).download_button if button.key == "datasets-download")
    dataset = access().dataset(set_id)
    again = from_table(read_table(data_file(dataset).content, "mine.csv"))
    assert (again.texts, again.labels) == (dataset.texts, dataset.labels) and button.label == "Download"
    assert [details._file_name(name) for name in ("mine.csv", "a/b (version 2)")] == ["mine", "a_b (version 2)"]


def test_it_is_renamed_and_deleted_by_who_may() -> None:
    set_id = kept()
    app = visit(dataset=set_id)
    app.text_input(key=f"datasets-name-{set_id}").set_value("news")
    app.button(key=f"datasets-save-{set_id}").click()
    drawn(app)
    assert [known.name for known in access().readable()] == ["news"]
    app.button(key=f"datasets-delete-sure-{set_id}").click()
    assert "No data set is kept yet" in words(drawn(app)) and access().readable() == []


def test_somebody_elses_is_read_only() -> None:
    visit()
    other = DatasetAccess(session.engine().access(Viewer("ben@lab.example")))
    set_id = other.keep(from_table(read_table(CONTENT.encode(), "mine.csv")), "titles")
    app = visit(dataset=set_id)
    assert "No data set is kept yet" in words(app) and "There is no data set at this link" in words(app)
    other.share(set_id, True)
    app = visit(dataset=set_id)
    assert "of ben@lab.example" in app.selectbox(key="datasets-dataset-kept").options[0]
    assert not [box for box in (*app.text_input, *app.text_area) if set_id in str(box.key)]
    assert not [button for button in app.button if "delete" in str(button.key)]


def test_judged_sentences_are_extended_by_a_file_under_other_names() -> None:
    visit()
    judged = pairs_from_table(read_table("sentence,label\n雨が降る,1\n雨を降る,0\n".encode(), "mine.csv"))
    set_id = access().keep(judged, "judged")
    app = visit(dataset=set_id)
    place = f"datasets-{set_id}-1"
    app.file_uploader(key=f"{place}-file").set_value(("more.csv", "x,y\n雪が降る,1\n雪を降る,0\n".encode(), "text/csv"))
    drawn(app)
    [form] = [box for box in app.selectbox if str(box.key).startswith(f"{place}-form-")]
    form.set_value("judged")
    drawn(app)
    for role, column in (("sentence", "x"), ("label", "y")):
        [box] = [box for box in app.selectbox if str(box.key).startswith(f"{place}-column-{role}-")]
        box.set_value(column)
        drawn(app)
    app.button(key=f"{place}-keep").click()
    drawn(app)
    assert access().dataset(set_id).labels == (True, False, True, False)


def test_a_benchmark_of_the_catalogue_becomes_the_data_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub's reader is not asked here: what a name yields is tested beside it."""
    asked: list[str] = []

    def read(source: object, name: str, **reading: object) -> Table:
        asked.append(name)
        table = read_table(
            "sentence_good,sentence_bad,UID\n雨が降る,雨を降る,a\n雪が降る,雪を降る,a\n".encode(), "x.csv"
        )
        return replace(table, name=f"{name}@{'0' * 40}")

    monkeypatch.setattr("engine.datasets.formats.files.table_of_hub", read)
    monkeypatch.setattr("dashboard.shared.inputs.uploads.is_small", lambda *_: True)
    app = visit()
    app.selectbox(key="datasets-benchmark").set_value("JBLiMP")
    drawn(app)
    app.button(key="datasets-benchmark-use-minimal-pairs").click()
    drawn(app)
    app = page_visits.visit("minimal_pairs")
    app.segmented_control(key="minimal-pairs-source").set_value("hub")
    drawn(app)
    app.selectbox(key="minimal-pairs-hub").set_value("hub:polm-stability/jblimp")
    said = words(drawn(app))
    assert set(asked) == {"hub:polm-stability/jblimp"} and not app.exception
    assert "Read as **BLiMP** (1 file): 2 pairs." in said
    evaluated(app, "minimal-pairs")
    assert f"hub:polm-stability/jblimp@{'0' * 40}" in shlex.split(printed(app)[0])
