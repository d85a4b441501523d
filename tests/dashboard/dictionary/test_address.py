"""What the dictionaries page shows, its address and the printed command are one state."""

from __future__ import annotations

import io
import random
import shlex
from contextlib import nullcontext
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.dictionary.face import FACE
from dashboard.shared import session
from engine.__main__ import main
from engine.commands.shared import common
from engine.evaluations.dictionary.records import Settings
from engine.evaluations.shared import dictionaries as stored
from engine.evaluations.shared.idf_files import read_idf, write_idf
from engine.measures.idf import count_documents
from tests.dashboard.draws import seeds
from tests.dashboard.printed_commands import Exported, address, linked, numbers, printed
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, at, drawn, visit, words

MODEL = "somebody/bert"
FILES = {"one.txt": "猫がいる。\n猫。\n", "two.txt": "犬がいる。\n鳥がいる。\n雨が降る。\n", "three.txt": "ABC と猫\n"}
N_DRAWN = 20
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


@pytest.fixture(autouse=True)
def built_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: FakeBackend) -> None:
    """Two built-in dictionaries for the fake's tokenizer, and the files of a corpus where commands are carried out."""
    folder = tmp_path / "idf"
    folder.mkdir()
    tokenizer = backend._facts(MODEL, None).tokenizer_fingerprint
    write_idf(
        count_documents([["は", "猫"], ["は", "犬"], ["は", "斉"], ["の"]], "novel", tokenizer, "file"),
        folder / "novel.bert-mini-ja.json.gz",
    )
    write_idf(count_documents([["は", "の"], ["の"]], "wiki", tokenizer, "file"), folder / "wiki.bert-mini-ja.json.gz")
    monkeypatch.setattr(stored, "FOLDER", folder)
    monkeypatch.setattr(common, "open_computing", lambda *_, **__: nullcontext(session.engine()))
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")


def finished(names: list[str], unit: str) -> str:
    uploads = [(name, io.BytesIO(FILES[name].encode())) for name in names]
    run_id = session.access().submit_corpus(FACE.kind, Settings(MODEL, "my 'novels'", unit), uploads, names[0]).run_id
    assert session.engine().runs.wait(run_id, SECONDS).state == "done", session.engine().runs.get(run_id)
    return run_id


def set_at_random(app: AppTest, place: str, draws: random.Random) -> None:
    """Set every choice of the page at random, whichever of its two views is shown."""
    view = draws.choice(["browse", "compare"])
    app.get_by_key(f"corpora-view-{place}").set_value(view)
    drawn(app)
    if view == "browse":
        by = draws.choice(["share", "value"])
        app.get_by_key(f"corpora-by-{place}").set_value(by)
        app.text_input(key=f"corpora-query-{place}").set_value(draws.choice(["", "猫", "が"]))
        app.toggle(key=f"corpora-low-{place}").set_value(draws.random() < 0.5)
        drawn(app).slider(key=f"corpora-{by}-{place}").set_value(draws.choice([0.1, 0.35, 0.6]))
    else:
        app.selectbox(key=f"corpora-first-{place}").select_index(draws.randrange(3))
        app.toggle(key=f"corpora-relative-{place}").set_value(draws.random() < 0.5)
        drawn(app).get_by_key(f"corpora-way-{place}").set_value(draws.choice(["either", "first", "second"]))
        app.toggle(key=f"corpora-both-{place}").set_value(draws.random() < 0.5)
    drawn(app)


@pytest.mark.parametrize("seed", seeds(N_DRAWN, in_a_check=4))
def test_the_printed_command_and_the_link_give_what_is_on_the_page(seed: int, exported: Exported) -> None:
    draws = random.Random(seed)
    run_id = finished(draws.sample(list(FILES), draws.randint(1, 3)), draws.choice(["file", "line"]))
    app = visit("dictionary", run=run_id)
    set_at_random(app, run_id, draws)
    (line,) = printed(app)
    program, option, module, *arguments = shlex.split(line)
    assert (program, option, module) == ("python", "-m", "engine") and main(arguments) == 0
    written = read_idf(Path("out.json.gz").read_bytes(), "out.json.gz")
    counts = exported.csv("counts")
    assert written.name == "my 'novels'" and written.document_counts == dict(
        zip(counts["token"], counts["documents"].astype(int), strict=True)
    )
    assert written.token_counts == dict(zip(counts["token"], counts["occurrences"].astype(int), strict=True))
    other = visit("dictionary", **linked(app))
    assert numbers(other) == numbers(app) and linked(other) == linked(app) and printed(other) == printed(app)


@pytest.mark.parametrize("seed", range(4))
def test_the_link_without_a_run_opens_the_same(seed: int) -> None:
    app, draws = visit("dictionary"), random.Random(seed)
    app.selectbox(key="corpora-dictionary-").select_index(draws.randrange(2))
    app.slider(key="corpora-share-").set_value(draws.choice([0.1, 0.35]))
    drawn(app)
    assert address(app) == linked(app)
    assert numbers(visit("dictionary", **linked(app))) == numbers(app)


def test_what_the_link_cannot_ask_for_is_ignored_with_words() -> None:
    app = visit("dictionary", dictionary="novel@nobody", share="7", find="猫", **{"threshold-by": "luck"})
    for name in ("dictionary", "share", "threshold-by"):
        assert f"The link asks for {name} " in words(app)
    assert (
        linked(app) == {"find": ["猫"], "dictionary": ["novel@bert-mini-ja"]}
        and app.text_input(key="corpora-query-").value == "猫"
    )


def test_what_is_ignored_is_said_in_one_language_and_ends_once() -> None:
    for language, said in (
        ("en", "which cannot be: threshold_by is one of share, value; got 'luck': ignored."),
        ("ja", "（使えない値です: threshold_byは次のいずれかです: share、value。指定された値: 'luck'）。"),
    ):
        app = at("dictionary")
        app.session_state["language"] = language
        app.query_params["threshold-by"] = "luck"
        assert said in words(drawn(app)).replace("\\", "").replace("\u2060", ""), words(app)
