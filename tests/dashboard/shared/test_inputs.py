"""The widgets for a dataset and for models: what they return, and what they say of bad input."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.shared.inputs import pasted as pasted_text
from dashboard.shared.inputs import uploads
from engine.datasets.pasted import read_pasted
from engine.models.sources.cards import BUILT_IN
from tests.waiting import SECONDS

CSV = "本文,分類\n雨が降る。,天気\n負けた。,試合\n"


@pytest.fixture(autouse=True)
def no_cache_outlives_a_test() -> Iterator[None]:
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


def page(kind: str) -> AppTest:
    def script(kind: str) -> None:
        import streamlit as st

        from dashboard.faces import FACES
        from dashboard.shared.inputs.inputs import dataset_input

        dataset = dataset_input(FACES[kind].form)
        st.session_state["dataset"] = dataset

    return AppTest.from_function(script, args=(kind,), default_timeout=SECONDS).run()


def uploaded(kind: str, name: str, content: bytes) -> AppTest:
    app = page(kind)
    app.get_by_key(f"{kind}-source").set_value("upload").run()
    app.file_uploader[0].upload(name, content)
    app.run()
    assert not app.exception
    return app


def pasted(kind: str, text: str) -> AppTest:
    app = page(kind)
    app.get_by_key(f"{kind}-source").set_value("paste").run()
    app.text_area[0].set_value(text)
    app.button[0].click().run()
    assert not app.exception
    return app


@pytest.mark.parametrize(("kind", "rows"), [("clusters", 180), ("alignment", 60), ("minimal-pairs", 200)])
def test_the_sample_needs_no_input(kind: str, rows: int) -> None:
    app = page(kind)
    assert not app.exception
    assert app.session_state["dataset"].n == rows


def test_a_file_is_read_with_the_columns_its_names_suggest() -> None:
    app = uploaded("clusters", "mine.csv", CSV.encode("cp932"))
    dataset = app.session_state["dataset"]
    assert dataset.texts == ("雨が降る。", "負けた。") and dataset.labels == ("天気", "試合")
    assert dataset.name == "mine.csv"
    assert [box.value for box in app.selectbox] == [
        "本文",
        "分類",
        *["detect"] * 3,
    ]  # encoding, first row, quotation marks


def test_the_guessed_columns_can_be_changed() -> None:
    app = uploaded("clusters", "mine.csv", b"text,label,topic\nrain,x,weather\nlost,x,sport\n")
    assert app.session_state["dataset"] is None  # one label only
    assert "at least 2 labels" in app.error[0].value
    app.selectbox[1].select("topic").run()
    assert app.session_state["dataset"].labels == ("weather", "sport")
    assert not app.error


def test_columns_without_a_known_name_must_be_chosen() -> None:
    app = uploaded("clusters", "mine.csv", b"a,b\nrain,weather\nlost,sport\n")
    assert app.session_state["dataset"] is None
    assert "text" in app.warning[0].value and "label" in app.warning[0].value
    app.selectbox[0].select("a")
    app.selectbox[1].select("b").run()
    assert app.session_state["dataset"].texts == ("rain", "lost")


def test_optional_columns_may_be_left_out() -> None:
    app = uploaded("alignment", "pairs.csv", b"sentence1,sentence2,score\na,b,1\nc,d,2\n")
    assert app.session_state["dataset"].human == {"score": (1.0, 2.0)}
    app.multiselect[0].unselect("score").run()
    assert app.session_state["dataset"].human == {}


def test_every_annotator_s_column_is_taken_and_may_be_changed() -> None:
    app = uploaded("alignment", "pairs.csv", b"ref,ref2,hyp,rater1,rater2,quality\na,b,c,1,2,3\nd,,f,2,3,4\n")
    dataset = app.session_state["dataset"]
    assert dataset.human == {"rater1": (1.0, 2.0), "rater2": (2.0, 3.0)} and dataset.more_references == (("b",), ())
    app.multiselect[0].set_value(["rater2", "quality"]).run()
    assert list(app.session_state["dataset"].human) == ["rater2", "quality"]
    app.multiselect[1].set_value([]).run()
    assert app.session_state["dataset"].more_references == ()


def test_pasted_lines_may_name_annotators_in_their_first_line() -> None:
    app = pasted("alignment", "reference\tcandidate\trater1\trater2\n雨だ。\t雨だ！\t3\t4\n")
    assert app.session_state["dataset"].human == {"rater1": (3.0,), "rater2": (4.0,)}
    assert pasted("alignment", "雨だ。\t雨だ！\t天気\t3\n").session_state["dataset"].human == {"human": (3.0,)}


def test_two_columns_that_make_one_sentence_are_offered_joined() -> None:
    rows = [{"prefix_acceptable": "A cat", "prefix_unacceptable": "A car", "property_phrase": "can purr."}] * 2
    app = uploaded("minimal-pairs", "comps.jsonl", "\n".join(map(json.dumps, rows)).encode())
    assert app.session_state["dataset"].acceptable[0] == "A cat can purr."


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", ("empty",)),
        ("gaps.csv", "text,label\n雨,天気\n,試合\n晴れ,\n".encode(), ("row 2", "row 3")),
        ("ragged.csv", b"text,label\nrain,weather\nlost,sport,extra\n", ("row 2",)),
        ("one.csv", b"text,label\nrain,weather\n", ("2 sentences",)),
        (
            "mixed.csv",
            "text,label\n雨,天気\n".encode() + "晴れ,天気\n".encode("cp932") + b"\xff\xff,x\n",
            ("mixes encodings", "line 3"),
        ),
    ],
)
def test_the_error_of_a_bad_file_is_shown_and_the_page_still_works(
    name: str, content: bytes, words: tuple[str, ...]
) -> None:
    app = uploaded("clusters", name, content)
    assert app.session_state["dataset"] is None
    assert all(word in app.error[0].value.replace("\\", "") for word in words)
    app.get_by_key("clusters-source").set_value("sample").run()
    assert app.session_state["dataset"].n == 180 and not app.error


def test_every_bad_row_of_a_file_is_listed() -> None:
    app = uploaded("clusters", "gaps.csv", b"text,label\n" + b",x\n" * 40)
    assert list(app.dataframe[0].value["row"]) == list(range(1, 41))


def test_the_same_name_with_new_content_is_new() -> None:
    app = uploaded("clusters", "mine.csv", CSV.encode())
    before = app.session_state["dataset"].content_hash
    again = uploaded("clusters", "mine.csv", CSV.replace("雨が降る", "雪が降る").encode())
    assert again.session_state["dataset"].content_hash != before


def test_pasted_lines_become_a_dataset() -> None:
    app = pasted("clusters", "雨が降る。\t天気\n負けた。\t試合")
    assert app.session_state["dataset"].texts == ("雨が降る。", "負けた。")


def test_a_long_pasted_text_is_read_in_a_process_of_its_own_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []

    class Here:
        """A reader without a process: that of a test cannot be forked from a script that is drawn."""

        def __init__(self, function: Callable[..., object], source: bytes, *, owner: str, **how: Any) -> None:
            read.append(function)
            self.result = lambda: function(source, **how)

        def wait(self, seconds: float) -> bool:
            return True

    monkeypatch.setattr(pasted_text, "SMALL_TEXT_BYTES", 8)
    monkeypatch.setattr(uploads, "Reader", Here)
    app = pasted("clusters", "雨が降る。\t天気\n負けた。\t試合")
    assert app.session_state["dataset"].texts == ("雨が降る。", "負けた。") and read == [read_pasted]
    app.run()
    assert app.session_state["dataset"].n == 2 and len(read) == 1
    app = pasted("clusters", "雨が降る。\t天気\n負けた。\n晴れ")
    assert "2" in app.error[0].value and "3" in app.error[0].value and len(read) == 2


def test_a_pasted_line_may_leave_out_what_is_optional() -> None:
    assert pasted("minimal-pairs", "good one\tbad one\nfine\tfoul").session_state["dataset"].categories == ("", "")
    assert pasted("minimal-pairs", "good\tbad\tagreement\nfine\tfoul\tcase").session_state["dataset"].categories == (
        "agreement",
        "case",
    )


def test_pasted_lines_with_too_few_fields_are_listed() -> None:
    app = pasted("clusters", "雨が降る。\t天気\n負けた。\n晴れ")
    assert app.session_state["dataset"] is None
    assert "2" in app.error[0].value and "3" in app.error[0].value


def test_nothing_pasted_is_no_error() -> None:
    app = pasted("clusters", "  \n")
    assert app.session_state["dataset"] is None and not app.error


def models(*kinds: str, ranks: bool = True) -> AppTest:
    def script(kinds: tuple[str, ...], ranks: bool) -> None:
        import streamlit as st

        from dashboard.shared.inputs.inputs import models_input

        st.session_state["models"] = models_input("clusters", *kinds, ranks=ranks)

    return AppTest.from_function(script, args=(kinds, ranks)).run()


def test_the_built_in_models_are_chosen_at_first() -> None:
    japanese = {name: card for name, card in BUILT_IN.items() if card.language == "ja"}
    assert models().session_state["models"] == tuple(japanese)
    masked = tuple(name for name, card in japanese.items() if card.kind == "masked")
    assert models("masked").session_state["models"] == masked and masked
    one_each = models("masked", "causal", ranks=False)
    assert one_each.session_state["models"] == ("builtin/bert-mini-ja", "builtin/gpt2-mini-ja")
    assert set(one_each.multiselect[0].options) == set(BUILT_IN)


def test_a_typed_model_is_taken_without_its_outer_spaces_and_once() -> None:
    app = models("masked")
    app.session_state["clusters-models"] = ["builtin/bert-mini-ja", " owner/name@v2 ", "owner/name@v2"]
    app.run()
    assert app.session_state["models"] == ("builtin/bert-mini-ja", "owner/name@v2")


def test_references_of_xc_translate_wait_for_the_file_of_their_predictions() -> None:
    targets = [{"translation": "星の道はいつ出ましたか。", "mention": "星の道"}]
    references = json.dumps({"id": "Q1_0", "source": "?", "targets": targets})
    app = uploaded("metric-study", "ja_JP.jsonl", references.encode())
    assert app.session_state["dataset"] is None and len(app.file_uploader) == 2
    app.file_uploader[1].upload("ja_JP.mine.json", json.dumps({"id": "Q1_0", "prediction": "星の道は？"}).encode())
    app.run()
    assert not app.exception
    dataset = app.session_state["dataset"]
    assert dataset.candidates == ("星の道は？",) and dataset.further["accepted_mentions"] == ('["星の道"]',)
