"""Uploaded files on the page of minimal pairs: which columns can be chosen, and how their values are shown."""

from __future__ import annotations

import pytest

from dashboard.minimal_pairs.face import FACE
from dashboard.shared import session
from dashboard.shared.exports.command_data import command_data
from engine.datasets.minimal_pairs.files import read_pairs
from tests.dashboard.minimal_pairs.test_page import BERT, CROWS, GPT, finished, finished_result, given_files
from tests.support import page_visits
from tests.support.page_visits import drawn, words

pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]


@pytest.mark.parametrize(
    "content",
    [
        "sentence,label,field\n猫がいる,1,a\n猫をいる,0,b\n",
        "item,condition,region_1,region_2,field\n1,x,猫が,いる,a\n1,y,猫を,いる,b\n",
    ],
)
def test_of_single_sentences_the_category_alone_is_chosen(content: str) -> None:
    app = given_files(("single.csv", content.encode()))
    [category] = [box for box in app.selectbox if "-column-" in str(box.key)]
    assert category.label == "Category (optional)"
    category.set_value("field")
    said = words(drawn(app))
    assert "2 judged sentences" in said or "2 sentences in conditions" in said
    app.multiselect(key="minimal-pairs-models").set_value([GPT])
    drawn(app).button(key="minimal-pairs-submit").click()
    drawn(app)
    assert finished_result(str(app.query_params["run"])).items["category"].tolist() == ["a", "b"]


def test_a_list_shows_categories_as_the_file_has_them() -> None:
    lines = b"good,bad,category\na b,a c,a_b\nd e,d f,*c*\n"
    run_id = finished(read_pairs([("mine.csv", lines)]))
    app = page_visits.visit("minimal_pairs", run=run_id)
    assert app.multiselect(key=f"minimal-pairs-categories-{run_id}").options == ["a_b", "*c*"]


def test_where_the_own_measure_of_a_benchmark_is_switched_on_is_told_by_the_name_of_the_control() -> None:
    app = page_visits.visit("minimal_pairs", run=finished(read_pairs([("crows.csv", CROWS)]), BERT))
    assert "switch it on in a new evaluation, under **Advanced options** (masked models)." in words(app)


def test_what_a_row_is_and_its_columns_are_chosen() -> None:
    """Two sentences and a column that says which is right: nothing is recognised, until it is said."""
    app = given_files(("own.csv", "one,other,which\n猫がいる,猫をいる,a\n雨をだ,雨だ,b\n".encode()))
    assert "Choose a column for: acceptable, unacceptable" in words(app)
    [form] = [box for box in app.selectbox if str(box.key).startswith("minimal-pairs-form-")]
    form.set_value("answered")
    drawn(app)
    for role, column in (("first", "one"), ("second", "other"), ("answer", "which")):
        [box] = [box for box in app.selectbox if str(box.key).startswith(f"minimal-pairs-column-{role}-")]
        box.set_value(column)
        drawn(app)
    said = words(app)
    assert "'which' says which sentence of a pair is acceptable: that of 'one' in 1 rows" in said
    assert "Columns as chosen: --column first=one --column second=other --column answer=which" in said
    assert not app.exception


def test_of_many_columns_the_first_are_named() -> None:
    """Of 500 columns all were, on several screens of a phone."""
    app = given_files(("own.csv", "\n".join(",".join(f"{row}{n}" for n in range(500)) for row in "cdef").encode()))
    assert "The file has: c0, c1, c2, c3, " in words(app) and "c19, … (500 in all)." in words(app)
    assert "c20" not in words(app)


def test_the_first_row_is_said_to_be_data() -> None:
    app = given_files(("own.tsv", "猫がいる\t1\n猫をいる\t0\n".encode()))
    assert "Choose a column for: acceptable, unacceptable" in words(app)
    [header] = [box for box in app.selectbox if str(box.key).startswith("minimal-pairs-header-")]
    header.set_value("data")
    drawn(app)
    [form] = [box for box in app.selectbox if str(box.key).startswith("minimal-pairs-form-")]
    form.set_value("judged")
    drawn(app)
    for role, column in (("sentence", "column 1"), ("label", "column 2")):
        [box] = [box for box in app.selectbox if str(box.key).startswith(f"minimal-pairs-column-{role}-")]
        box.set_value(column)
        drawn(app)
    said = words(app)
    assert "2 judged sentences" in said and "First row as chosen: --header data" in said and not app.exception


def test_what_is_recognised_asks_for_the_category_alone() -> None:
    app = given_files(("dev.csv", b"id,sentence,acceptable,error_type,detailed_source\n0,a b,1,0,x\n1,b a,0,S,x\n"))
    [category] = [box for box in app.selectbox if "-column-" in str(box.key)]
    assert category.label == "Category (optional)"
    assert "Read as **RuCoLA** (1 file): 2 judged sentences." in words(app)


def test_of_reading_times_all_columns_can_be_chosen_though_the_file_tells_them() -> None:
    content = b"item,word,RT,ms,freq2\n1,the,300,310,5\n1,cat,320,330,3\n2,a,280,290,6\n2,dog,310,300,3\n"
    app = given_files(("own.csv", content))
    assert "2 texts with reading times" in words(app) and "There is no column of frequencies" in words(app)
    boxes = {
        str(box.key).split("-column-")[1].split("-")[0]: box for box in app.selectbox if "-column-" in str(box.key)
    }
    assert [boxes[role].value for role in ("word", "time", "item")] == ["word", "RT", "item"]
    assert [box.label for box in boxes.values()][:3] == ["Word", "Reading time", "Item (optional)"]
    boxes["frequency"].set_value("freq2")
    drawn(app)
    [time] = [box for box in app.selectbox if "-column-time-" in str(box.key)]
    time.set_value("ms")
    said = words(drawn(app))
    assert "4 words with ms in 2 texts" in said and "no column of frequencies" not in said
    app.multiselect(key="minimal-pairs-models").set_value([GPT])
    drawn(app).button(key="minimal-pairs-submit").click()
    drawn(app)
    result = finished_result(str(app.query_params["run"]))
    assert result.data_kind.name == "reading" and len(result.items) == 2


def test_words_in_contexts_and_norms_are_given_together() -> None:
    months = ",".join(map(str, range(16, 31)))
    norms = f"word,{months}\ndog,{','.join(str(round(month / 40, 2)) for month in range(15))}\n".encode()
    lists = b'{"dog": [{"context": "the old"}], "cat": [{"context": "a"}, {"context": "my"}]}'
    app = given_files(("cdi_childes.json", lists), ("cdi_human.csv", norms))
    said = words(app)
    assert not app.error and "3 words in contexts" in said and "from cdi_human.csv: 1 of 2 words" in said
    app.multiselect(key="minimal-pairs-models").set_value([GPT])
    drawn(app).button(key="minimal-pairs-submit").click()
    drawn(app)
    finished_result(str(app.query_params["run"]))
    view = session.access().get(str(app.query_params["run"]))
    assert view is not None and command_data(FACE, view).files == ("cdi_childes.json", "cdi_human.csv")
