"""Vectors that were computed elsewhere on the page: uploaded beside the data, in place of models or beside them."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.clusters.face import FACE
from dashboard.shared import session
from dashboard.shared.exports.print.style import PrintStyle
from dashboard.shared.exports.run_exports import offered_tables, paper_bundle
from dashboard.shared.inputs import uploads
from engine.datasets import sample_data
from engine.datasets.labelled.outside_vectors import ABOUT
from engine.datasets.vectors.files import read_vectors
from engine.datasets.vectors.matching import attached
from engine.evaluations.clusters.records import Settings
from tests.dashboard.clusters.test_page import finished, visit
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
SAMPLE = sample_data.labelled_sentences()


def npy(n: int = SAMPLE.n) -> bytes:
    np.save(file := io.BytesIO(), np.random.default_rng(0).normal(size=(n, 6)).astype(np.float32))
    return file.getvalue()


def given(content: bytes) -> AppTest:
    app = visit()
    [upload] = [each for each in app.get("file_uploader") if "vectors" in str(each.key)]
    upload.set_value([("mine.npy", content, "application/octet-stream")])
    return drawn(app)


def popovers(app: AppTest) -> list[str]:
    return [str(block.proto.popover.label) for block in app.get("popover")]  # type: ignore[union-attr]


def test_a_file_of_vectors_is_a_model_without_any_other(backend: FakeBackend) -> None:
    app = given(npy())
    assert "mine: mine.npy, 6 dimensions (array)" in words(app)
    app.multiselect(key="clusters-models").set_value([])
    drawn(app).button(key="clusters-submit").click()
    run_id = str(drawn(app).query_params["run"])
    runs = session.engine().runs
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    app = visit(run_id)
    assert not app.exception
    assert "mine" in words(app)
    printed = "\n".join(code.value for code in app.code)
    assert "--vectors mine.npy" in printed and "--model" not in printed
    assert ABOUT not in "".join(str(list(frame.value.columns)) for frame in app.dataframe)


def test_several_files_are_read_once_and_each_is_a_model(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit()
    [upload] = [each for each in app.get("file_uploader") if "vectors" in str(each.key)]
    assert "Vectors from a file" in popovers(app)
    upload.set_value([(f"{name}.npy", npy(), "application/octet-stream") for name in ("one", "two", "three")])
    assert "Vectors of 3 files" in popovers(drawn(app))

    def again(*_: object, **__: object) -> None:
        raise AssertionError("It is read again.")

    monkeypatch.setattr(uploads, "_outcome", again)
    said = words(drawn(app))
    assert all(f"{name}: {name}.npy, 6 dimensions" in said for name in ("one", "two", "three"))


def test_two_files_of_one_name_are_two_models(backend: FakeBackend) -> None:
    app = visit()
    [upload] = [each for each in app.get("file_uploader") if "vectors" in str(each.key)]
    upload.set_value([("mine.npy", npy(), "application/octet-stream")] * 2)
    said = words(drawn(app))
    assert "mine: mine.npy, 6 dimensions" in said and "mine-2: mine.npy, 6 dimensions" in said
    app.multiselect(key="clusters-models").set_value([])
    drawn(app).button(key="clusters-submit").click()
    run_id = str(drawn(app).query_params["run"])
    runs = session.engine().runs
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    printed = "\n".join(code.value for code in visit(run_id).code)
    assert "--vectors mine.npy" in printed and "--vectors mine-2=mine.npy" in printed


def test_rows_of_vectors_that_cannot_be_used_are_left_out_where_that_is_chosen(backend: FakeBackend) -> None:
    vectors = np.random.default_rng(0).normal(size=(SAMPLE.n, 6)).astype(np.float32)
    vectors[1, 2] = np.inf
    np.save(file := io.BytesIO(), vectors)
    app = given(file.getvalue())
    assert app.button(key="clusters-submit").disabled and "Leave out rows that cannot be used" in [
        box.label for box in app.checkbox
    ]
    app.checkbox(key="clusters-vectors-skip-bad-rows").check()
    assert "mine: mine.npy, 6 dimensions" in words(drawn(app)) and not app.button(key="clusters-submit").disabled
    app.checkbox(key="clusters-vectors-skip-bad-rows").uncheck()
    assert drawn(app).button(key="clusters-submit").disabled


def test_a_file_that_does_not_fit_says_why_and_nothing_is_submitted(backend: FakeBackend) -> None:
    app = given(npy(3))
    assert "mine.npy has 3 vectors" in words(app)
    assert not any("Leave out rows" in box.label for box in app.checkbox)  # no row is at fault
    assert app.button(key="clusters-submit").disabled


def test_the_zip_for_a_paper_has_the_vectors_and_says_where_they_are_from(backend: FakeBackend) -> None:
    dataset = attached(SAMPLE, [read_vectors(npy(), "mine.npy")], ["Mine"])
    run_id = finished(dataset, models=("Mine=vectors/Mine",))
    view = session.access().get(run_id)
    assert view is not None
    signature = session.engine().runs.result(run_id).signature
    content = paper_bundle(
        FACE, view, signature, offered_tables(view, {}), {}, PrintStyle(), [Settings(("Mine=vectors/Mine",))], []
    )
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        commands, data = archive.read("commands.sh").decode(), archive.read("data/data.csv").decode("utf-8-sig")
        methods, again = archive.read("methods.en.md").decode(), read_vectors(archive.read("data/Mine.npy"), "Mine.npy")
    assert "--vectors Mine=data/Mine.npy" in commands and "--model" not in commands
    assert (
        "The sentence vectors of Mine were not computed here; they were read from the file mine.npy (array)" in methods
    )
    assert "vectors" not in data.partition("\n")[0]
    np.testing.assert_array_equal(again.models[0].vectors, dataset.vectors[0].vectors)
