"""Uploaded files on the page of minimal pairs: which columns can be chosen, and how their values are shown."""

from __future__ import annotations

import pytest

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
