"""Uploads on a page: read by a process of their own, with progress and a cancel, in an encoding that can be chosen."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.inputs import uploads
from engine.datasets import reader_process
from engine.datasets.formats.encodings import ENCODINGS
from engine.messages import languages
from tests.dashboard.shared.test_inputs import uploaded
from tests.datasets.test_reader_process import workbook
from tests.support.page_visits import words
from tests.waiting import SECONDS

SHORT_BIG5 = "text,label\n我喜歡貓,a\n昨天下雨,b\n"


FORM = """
if __name__ == "__main__":
    import streamlit as st

    from dashboard.clusters.face import FORM
    from dashboard.shared.inputs.inputs import dataset_input

    st.session_state["dataset"] = dataset_input(FORM)
"""


def uploaded_workbook(content: bytes) -> AppTest:
    app = AppTest.from_string(FORM, default_timeout=SECONDS).run()
    app.get_by_key("clusters-source").set_value("upload").run()
    app.file_uploader[0].upload("mine.xlsx", content)
    app.run()
    assert not app.exception
    return app


def test_of_several_sheets_one_is_chosen() -> None:
    book = openpyxl.Workbook()
    for title, text in (("春", "花が咲く。"), ("冬", "雪が降る。")):
        sheet = book.create_sheet(title)
        for row in (["本文", "分類"], [text, title], [text + "か", "他"]):
            sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    app = uploaded_workbook(content.getvalue())
    assert app.session_state["dataset"].labels == ("春", "他")
    (sheets,) = [box for box in app.selectbox if box.label == "Sheet"]
    assert sheets.options == ["The first whose columns are recognised", "春", "冬"]
    sheets.select("冬").run()
    assert app.session_state["dataset"].texts == ("雪が降る。", "雪が降る。か")


def test_a_workbook_is_read_by_another_process_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []

    class Counted(reader_process.Reader[Any]):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            started.append(named["name"])
            super().__init__(*arguments, **named)

    monkeypatch.setattr(uploads, "Reader", Counted)
    app = uploaded_workbook(workbook([["text", "label"], ["秤", "x"], ["猫", "y"]]))
    assert app.session_state["dataset"].texts == ("秤", "猫") and started == ["mine.xlsx"]
    app.run()
    assert app.session_state["dataset"].labels == ("x", "y") and started == ["mine.xlsx"]


def test_a_file_that_holds_too_much_is_refused_on_the_page_and_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_MAX_CELLS", "1000")
    app = uploaded_workbook(workbook([["text", "label"], *[["秤", "x"]] * 600]))
    assert "mine.xlsx holds more than 1,000 cells" in words(app)
    monkeypatch.setattr(uploads, "Reader", lambda *_, **__: pytest.fail("it was read again"))
    app.run()
    assert not app.exception and "mine.xlsx holds more than 1,000 cells" in words(app)


def test_an_encoding_that_is_not_certain_is_told_and_can_be_chosen() -> None:
    app = uploaded("clusters", "mine.csv", "text,label\n貓,a\n我,b\n".encode("big5"))
    assert "The encoding of mine.csv is not certain: it was read as CP932" in words(app)
    assert app.session_state["dataset"].texts != ("貓", "我")
    (choice,) = [box for box in app.selectbox if "-encoding-" in (box.key or "")]
    choice.select("big5hkscs").run()
    assert not app.exception and app.session_state["dataset"].texts == ("貓", "我")
    assert "not certain" not in words(app)
    (choice,) = [box for box in app.selectbox if "-encoding-" in (box.key or "")]
    choice.select("detect").run()
    assert "not certain" in words(app)


@pytest.mark.parametrize(
    ("language", "label", "options"),
    [
        ("en", "Encoding: UTF-16 with byte order mark", ["Detect it", "UTF-8", "UTF-16 with byte order mark"]),
        ("ja", "文字コード: UTF-16（バイト順マーク付き）", ["自動判定", "UTF-8", "UTF-16（バイト順マーク付き）"]),
    ],
)
def test_encodings_have_the_names_that_readers_know(
    language: str, label: str, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(languages, "_chosen", lambda: language)
    app = uploaded("clusters", "mine.csv", "text,label\n貓,a\n我,b\n".encode("big5"))
    (choice,) = [box for box in app.selectbox if "-encoding-" in (box.key or "")]
    further = [option for box in app.selectbox if box.value == "detect" for option in box.options]
    assert not {"detect", *uploads.FIRST_ROW, *uploads.QUOTING, *ENCODINGS} & set(further)
    assert choice.options[:3] == options
    choice.select("utf-16").run()
    assert label in [str(block.proto.popover.label) for block in app.get("popover")]  # type: ignore[union-attr]


# In Windows-1253, which is not one of the encodings that are read.
GREEK = "text,label\nΓάτα στο παράθυρο του σπιτιού μου,a\nΟ σκύλος τρέχει στον κήπο με τα παιδιά,b\n".encode("cp1253")


def test_a_file_that_no_guess_fits_can_be_read_by_hand() -> None:
    app = uploaded("clusters", "mine.csv", GREEK)
    assert app.session_state["dataset"] is None and "mine.csv seems to be Windows-1253" in words(app)
    (choice,) = [box for box in app.selectbox if "-encoding-" in (box.key or "")]
    choice.select("cp1252").run()
    assert app.session_state["dataset"].texts == (
        "ÃÜôá óôï ðáñÜèõñï ôïõ óðéôéïý ìïõ",
        "Ï óêýëïò ôñÝ÷åé óôïí êÞðï ìå ôá ðáéäéÜ",
    )


def test_minimal_pairs_in_an_encoding_of_ones_own() -> None:
    app = uploaded("minimal-pairs", "mine.csv", "good,bad\n貓,我\n".encode("big5"))
    (choice,) = [box for box in app.selectbox if "-encoding-" in (box.key or "")]
    choice.select("big5hkscs").run()
    assert not app.exception and app.session_state["dataset"].acceptable == ("貓",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_beyond_doubt_there_is_nothing_to_choose(encoding: str) -> None:
    app = uploaded("clusters", "mine.csv", SHORT_BIG5.encode(encoding))
    assert app.session_state["dataset"].n == 2
    assert not [box for box in app.selectbox if "-encoding-" in (box.key or "")]


@pytest.mark.parametrize("kind", ["clusters", "minimal-pairs"])
@pytest.mark.parametrize("content", [b"", b"text,label\n", 'text,label\n"猫,a\nさる,b\n'.encode()])
def test_a_file_that_is_refused_for_another_reason_has_no_unknown_encoding(kind: str, content: bytes) -> None:
    app = uploaded(kind, "mine.csv", content)
    assert app.error and not [box for box in app.selectbox if "-encoding-" in (box.key or "")]


def encoding_labels(app: AppTest) -> list[str]:
    labels = [str(block.proto.popover.label) for block in app.get("popover")]  # type: ignore[union-attr]
    return [label for label in labels if label.startswith("Encoding")]


def test_an_unread_file_is_named_by_the_encoding_that_was_chosen() -> None:
    app = uploaded("clusters", "mine.csv", GREEK)
    assert encoding_labels(app) == ["Encoding: not recognised"]
    app.selectbox[0].select("utf-16").run()
    assert encoding_labels(app) == ["Encoding: UTF-16 with byte order mark"]


# A process that is started by a script imports it again, under another name.
SCRIPT = """
if __name__ == "__main__":
    import streamlit as st

    from dashboard.shared.inputs.uploads import read_upload
    from engine.errors import EngineError

    try:
        st.write(f"Read: {read_upload(st.session_state['function'], 'id', lambda: b'', name='a.zip')}")
    except EngineError as error:
        st.error(str(error))
"""


def reading(function: Callable[..., Any]) -> AppTest:
    """A page that reads an upload by a function, and then says what came of it."""
    app = AppTest.from_string(SCRIPT, default_timeout=SECONDS)
    app.session_state["function"] = function
    return app


def half_a_second(_: Any, name: str) -> str:
    time.sleep(0.5)
    return name


def an_hour(_: Any, name: str) -> str:
    time.sleep(3600)
    return name


def test_when_it_is_read_no_progress_stays() -> None:
    app = reading(half_a_second).run()
    assert not app.exception and [text.value for text in app.markdown] == ["Read: a.zip"] and not app.button


def test_cancelling_says_so_and_keeps_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[str] = []
    readers: list[reader_process.Reader[Any]] = []

    class Cancelled(reader_process.Reader[Any]):
        """As when the button is pressed while it reads."""

        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            readers.append(self)
            threading.Timer(1.0, self.cancel).start()

    monkeypatch.setattr(uploads, "Reader", Cancelled)
    progress = uploads.st.progress

    def recorded(*arguments: Any, **named: Any) -> Any:
        bars.append("drawn")
        return progress(*arguments, **named)

    monkeypatch.setattr(uploads.st, "progress", recorded)
    app = reading(an_hour).run()
    assert bars == ["drawn"] and len(readers) == 1
    for _ in range(2):
        assert [error.value for error in app.error] == ["Reading a.zip was cancelled."] and not app.exception
        app.run()
    assert len(readers) == 1


def test_a_file_that_waits_for_its_turn_says_so_and_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_READERS", "1")
    labels: list[str] = []

    class Recorded(reader_process.Reader[Any]):
        """As when the button is pressed while it waits."""

        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            threading.Timer(1.0, self.cancel).start()

    class Bar:
        def progress(self, _: float, label: str) -> None:
            labels.append(label)

    monkeypatch.setattr(uploads, "Reader", Recorded)
    monkeypatch.setattr(uploads.st, "progress", lambda *_: Bar())
    other = reader_process.Reader(an_hour, b"", name="b.zip")
    app = reading(half_a_second).run()
    other.cancel()
    assert set(labels) == {"a.zip waits until other files have been read …"}
    assert [error.value for error in app.error] == ["Reading a.zip was cancelled."] and not app.exception


def test_a_click_elsewhere_leaves_the_reader_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script begins anew at each click; the process that it started is found again."""
    reader = reader_process.Reader(half_a_second, b"", name="a.zip")
    monkeypatch.setattr(uploads, "Reader", lambda *_, **__: pytest.fail("it was started again"))
    app = reading(half_a_second)
    app.session_state[uploads.READERS] = {("half_a_second", "id", "[]"): reader}
    app.run()
    assert [text.value for text in app.markdown] == ["Read: a.zip"] and app.session_state[uploads.READERS] == {}


def test_the_oldest_of_several_readers_is_ended() -> None:
    readers = [reader_process.Reader(an_hour, b"", name=f"{number}.zip") for number in range(2)]
    app = reading(half_a_second)
    app.session_state[uploads.READERS] = {("an_hour", number, "[]"): reader for number, reader in enumerate(readers)}
    app.run()
    assert readers[0].wait(0) and not readers[1].wait(0)
    readers[1].cancel()
